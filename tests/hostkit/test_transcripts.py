"""The transcripts that real agents left, read back as the events that their hooks would have seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onehook.core import Change, Mcp, UsageError
from onehook.hostkit.transcripts import Counts, Database, Folder, database_rows, is_database
from onehook.hosts import HOSTS as KNOWN
from onehook.hosts import load, wire_of
from onehook.record.sources import Source, as_stamp, hosts_with_transcripts, parse_since, read, transcripts
from tests.host_folders import facts, with_folders
from tests.host_folders import transcripts as home

HOSTS = hosts_with_transcripts()
P = "/home/dev/project"


def events_of(source, counts=None):
    recorded = list(read(source, counts or Counts()))
    return [wire_of(r.host).parse(r.payload, r.native_event) for r in recorded]


def sources(host):
    return sorted(transcripts([host], 0, home(host)), key=lambda source: source.path)


def lines_of(source):
    """The lines of a session as text, also of one in a database; if it is a folder, the lines of the files that belong to the session."""
    path = Path(source.path)
    reader = load(source.host, "transcripts").Transcript(path)
    if isinstance(reader, Database) and is_database(path):
        return [json.dumps(row).encode() for row in database_rows(reader, path, Counts())]
    if isinstance(reader, Folder):
        return [json.dumps(line).encode() for line in reader.lines(Counts(), 0)]
    return path.read_bytes().splitlines()


def files_session(host):
    """The session with file and shell tools; Codex left one in each of its modes."""
    return [source for source in sources(host) if len(events_of(source)) > 8]


def test_every_host_with_a_reader_has_transcripts_here():
    assert set(HOSTS) == set(with_folders("transcripts"))


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_is_read_from_its_start_to_its_stop(host):
    for source in files_session(host):
        events = events_of(source)
        names = [event.event for event in events]
        begins = facts(host).BEGINS
        assert tuple(names[: names.index("PreToolUse")]) == begins
        assert [name for name in names if name not in ("SessionEnd", "AgentResponse")][-1] == "Stop"
        assert "UserPromptSubmit" not in begins or events[1].prompt == "make the files, please"
        stop = next(event for event in events if event.event == "Stop")
        assert stop.last_assistant_message == facts(host).LAST_MESSAGE
        assert {event.cwd for event in events} == {P}
        assert len({event.session_id for event in events}) == 1 and events[0].session_id


@pytest.mark.parametrize("host", HOSTS)
def test_commands_and_changes_are_those_that_the_model_asked_for(host):
    for source in files_session(host):
        before = [event for event in events_of(source) if event.event == "PreToolUse"]
        commands = [event.command for event in before if event.tool == "Bash"]
        unseen = [command for part, commands in facts(host).REFUSED_UNSEEN.items() if part in source.path for command in commands]
        assert commands == [command for command in ("mkdir -p build && ls", "rm -rf build", "false") if command not in unseen]
        written, edited = [change for event in before for change in event.changes]
        assert written == Change(f"{P}/a.txt", "write", None, "hello\n")
        assert (edited.path, edited.kind, edited.old.split()[0], edited.new.split()[0]) == (f"{P}/old.txt", "edit", "one", "three")


@pytest.mark.parametrize("host", HOSTS)
def test_every_call_has_its_result(host):
    for source in sources(host):
        events = events_of(source)
        before = [(event.tool, event.command, event.paths) for event in events if event.event == "PreToolUse"]
        before = [call for call in before if call[1] not in facts(host).FAILED_UNTOLD]
        after = [(event.tool, event.command, event.paths) for event in events if event.event.startswith("PostToolUse")]
        assert before == after and before
        assert all(event.tool_response is not None or event.error for event in events if event.event.startswith("PostToolUse"))


@pytest.mark.parametrize("host", [host for host in HOSTS if facts(host).FAILURES])
def test_a_failed_command_is_a_failure_where_the_host_has_that_event(host):
    (source,) = files_session(host)
    (failed,) = [event for event in events_of(source) if event.event == "PostToolUseFailure"]
    assert failed.command == "false" and "1" in failed.error


@pytest.mark.parametrize("host", [host for host in HOSTS if load(host, "live").mcp("proof", "note", {})])
def test_a_call_of_an_mcp_tool_is_read(host):
    calls = [event for source in sources(host) for event in events_of(source) if event.mcp and event.event == "PreToolUse"]
    assert {event.mcp for event in calls} == {facts(host).mcp_as_told("PreToolUse", Mcp("proof", "note"))}
    assert all(event.tool_input == {"text": "hi"} for event in calls)


@pytest.mark.parametrize("host", HOSTS)
def test_no_line_of_a_real_transcript_is_of_an_unknown_kind(host):
    counts = Counts()
    for source in sources(host):
        events_of(source, counts)
    assert counts.unknown == {} and counts.lines > 15


@pytest.mark.parametrize("host", HOSTS)
def test_strange_lines_are_counted_and_passed_over(host, tmp_path):
    (real, *_) = files_session(host)
    good = lines_of(real)
    strange = [b"{", b"[1]", b'"x"', b"\xff", b'{"type": "brand.new_kind"}', b'{"type": 5}', b"{}", b"[" * 100_000, b""]
    path = tmp_path / "x" / Path(real.path).name
    path.parent.mkdir()
    path.write_bytes(b"\n".join([*strange, *good, *strange]) + b"\n")
    counts = Counts()
    mixed = [(event.event, event.command) for event in events_of(Source(str(path), host), counts)]
    assert mixed == [(event.event, event.command) for event in events_of(real)]
    assert sum(counts.unknown.values()) == 16 and counts.unknown["brand.new_kind"] == 2


@pytest.mark.parametrize("host", HOSTS)
def test_no_field_of_a_line_is_trusted_to_be_what_it_should_be(host, tmp_path):
    (real, *_) = files_session(host)
    path = tmp_path / "session-x.jsonl"
    for wrong in (None, 5, "text", [], [None], {}, {"content": 5}):
        lines = []
        for line in map(json.loads, lines_of(real)):
            lines += [{**line, key: wrong} for key in line]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        for _ in read(Source(str(path), host), Counts()):
            pass


def test_files_and_events_before_the_given_time_are_left_out(tmp_path):
    (real,) = files_session(HOSTS[0])
    assert len(list(read(real, Counts(), "2026-11-15T21:41:10.4"))) < len(list(read(real, Counts())))
    assert list(read(real, Counts(), as_stamp(parse_since("2026-11-16T12:00:00+00:00")))) == []
    assert transcripts([HOSTS[0]], parse_since("0m") + 1000, home(HOSTS[0])) == []


@pytest.mark.parametrize("given", ["", "d", "30", "30y", "yesterday", "-3d", "2026-13-01"])
def test_a_time_span_that_is_none_is_reported(given):
    with pytest.raises(UsageError, match="use 30d, 12h"):
        parse_since(given)


def test_an_agent_without_a_reader_is_reported():
    other = next(host for host in KNOWN if host not in HOSTS)
    with pytest.raises(UsageError, match=f"cannot read transcripts of '{other}', only those of {HOSTS[0]}"):
        transcripts([other], 0, home(other))


@pytest.mark.parametrize("host", HOSTS)
def test_a_module_names_where_its_agent_leaves_them(host):
    module = load(host, "transcripts")
    assert not module.FOLDER.startswith("/") and module.FILES
