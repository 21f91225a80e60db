"""The tables of every host's wire: complete, of the declared types, and only about that host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness import PACKAGE

import onehook.hosts
from onehook.core import EVENTS, EXTENDED_EVENTS, TOOLS, Event, PayloadError
from onehook.docgen.registry import AGENT_FILES, agent_files, read_by, with_index
from onehook.hostkit.effects import ABSENT, CERTAIN, EFFECTS, NO_CHANNEL, Cap, Caps, Mark, Row, StandIn, weight
from onehook.hostkit.tools import Tool
from onehook.hosts import GUESTS, HOSTS, detect, entry_hosts, optional, readers_of, resolve, wire_of
from tests.host_folders import captures, lines_of
from tests.naming import AGENTS, named_in, said, texts_in

KINDS = {"honoured", "dropped", "unheeded", "moved", "limited"}
VERSIONS = ("", "0.46.0", "2.4.21", "3.2.16", "3.3.0", "1.0.0")  # some hosts' caps depend on the version that they report


def every_caps(host: str) -> list[tuple[str, Caps]]:
    found = []
    for native, row in wire_of(host).EVENTS.items():
        for version in VERSIONS:
            event = Event(row.event, host)
            event.native_event, event.host_version = native, version
            found.append((native, wire_of(host).caps(event)))
    return found


@pytest.mark.parametrize("host", HOSTS)
def test_a_wire_names_itself_and_its_events(host: str) -> None:
    wire = wire_of(host)
    assert host == wire.ID
    assert wire.EVENTS
    for row in wire.EVENTS.values():
        assert isinstance(row, Row)
        assert row.event in EVENTS + EXTENDED_EVENTS and row.shape and (not row.tool or row.tool in TOOLS)
    stdout, exit_code = wire.TRAITS.unreadable
    assert isinstance(stdout, str) and exit_code in (0, 1) and wire.TRAITS.error_exit in (0, 1)  # 2 blocks


@pytest.mark.parametrize("host", HOSTS)
def test_every_event_has_caps_of_the_declared_kind(host: str) -> None:
    for native, caps in every_caps(host):
        assert isinstance(caps, Caps)
        assert set(caps.base) | set(caps.own) <= set(EFFECTS), native
        for effect in EFFECTS:
            cap = caps[effect]
            assert isinstance(cap, Cap) and cap.kind in KINDS, (native, effect)
            assert bool(cap.becomes) == (cap.kind == "moved"), (native, effect)
            # A result is limited by its own value, everything else by the decision that accompanies it.
            assert bool(cap.beside) == (cap.kind == "limited" and effect != "modified_output"), (native, effect)
            assert (cap.kind in ("dropped", "unheeded", "limited")) <= bool(cap.why), (native, effect)
            assert (cap.kind == "honoured") <= (not cap.why), (native, effect)


@pytest.mark.parametrize("host", HOSTS)
def test_a_field_moves_only_to_one_that_is_written(host: str) -> None:
    for native, caps in every_caps(host):
        for effect in EFFECTS:
            if caps[effect].kind == "moved":
                assert caps[caps[effect].becomes].kind in ("honoured", "unheeded"), (native, effect)


@pytest.mark.parametrize("host", HOSTS)
def test_a_gating_event_can_be_denied_and_a_silent_one_honours_nothing(host: str) -> None:
    for native, caps in every_caps(host):
        if wire_of(host).EVENTS[native].gates and not caps.silent:
            assert caps["deny"].kind in ("honoured", "unheeded"), native
        if caps.silent:
            assert all(caps[effect] is NO_CHANNEL for effect in EFFECTS if effect != "allow"), native


@pytest.mark.parametrize("host", HOSTS)
def test_a_base_row_is_not_repeated_in_the_deviations(host: str) -> None:
    for native, caps in every_caps(host):
        assert not [effect for effect, cap in caps.own.items() if caps.base.get(effect, NO_CHANNEL) is cap], native


@pytest.mark.parametrize("host", HOSTS)
def test_tools_and_stand_ins_are_about_unified_tools_and_events(host: str) -> None:
    wire = wire_of(host)
    for tool in wire.TOOLS.values():
        assert isinstance(tool, Tool) and set(tool.names) <= {*TOOLS, "Task"}
    for native, row in wire.TRAITS.stand_ins.items():
        assert isinstance(row, StandIn) and native in wire.EVENTS
        assert row.event in EVENTS and (not row.tool or row.tool in TOOLS)
        assert row.event not in {entry.event for entry in wire.EVENTS.values()} or row.source


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_has_marks_that_weigh_something(host: str) -> None:
    wire = wire_of(host)
    assert wire.MARKS and all(isinstance(mark, Mark) and 0 < mark.weight <= CERTAIN and mark.fields for mark in wire.MARKS)
    assert len(set(wire.SENDS)) == len(wire.SENDS)


# --- detection -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "payload", "holds"),
    [
        ({"a": str}, {"a": "x"}, True),
        ({"a": str}, {"a": 1}, False),
        ({"a": str}, {}, False),
        ({"a": int}, {"a": True}, False),
        ({"a": object}, {"a": None}, True),
        ({"a": object}, {}, False),
        ({"a": None}, {"a": None}, True),
        ({"a": None}, {}, False),
        ({"a": ABSENT}, {}, True),
        ({"a": ABSENT}, {"a": ""}, False),
        ({"a": ("x", ABSENT)}, {}, True),
        ({"a": ("x", ABSENT)}, {"a": "x"}, True),
        ({"a": ("x", ABSENT)}, {"a": "y"}, False),
        ({"a": {"x": 1}}, {"a": ["x"]}, False),
    ],
)
def test_what_a_mark_asks_of_a_key(fields: dict[str, object], payload: dict[str, object], holds: bool) -> None:
    assert Mark(1, fields).holds(payload) is holds


def test_a_mark_in_the_transcripts_path_needs_a_path() -> None:
    folder, file = Mark(1, {}, folder="/.x/"), Mark(1, {}, file="run-")
    assert folder.holds({"transcript_path": "C:\\home\\.x\\1.json"}) and not folder.holds({"transcript_path": None})
    assert file.holds({"transcript_path": "/a/run-1"}) and not file.holds({"transcript_path": "/run-1/a"}) and not file.holds({})


def test_a_key_that_another_host_sends_speaks_against_all_but_a_certain_mark() -> None:
    class Some:
        ID, SENDS = "some", ("own",)
        MARKS = (Mark(4, {"a": str}), Mark(CERTAIN, {"name": str}))

    assert weight(Some, {"a": "x"}) == 4
    assert weight(Some, {"a": "x", "own": 1}, frozenset({"own"})) == 4
    assert weight(Some, {"a": "x", "other": 1}, frozenset({"other"})) == 0
    assert weight(Some, {"name": "x", "other": 1}, frozenset({"other"})) == CERTAIN


def test_a_payload_of_no_host_is_an_error_that_names_the_hosts() -> None:
    with pytest.raises(PayloadError) as raised:
        detect({"hello": 1})
    known = ", ".join(HOSTS)
    assert str(raised.value) == f"cannot tell which agent sent this payload; name it with --host ID (known: {known})"


# --- relations between hosts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_a_relation_names_a_host(host: str) -> None:
    wire = wire_of(host)
    assert set(wire.TRAITS.reads_config_of) <= set(HOSTS) - {host}
    assert wire.TRAITS.built_on in {"", *HOSTS} - {host}


def test_the_registrys_index_is_the_one_that_the_tables_give() -> None:
    source = Path(onehook.hosts.__file__).read_text(encoding="utf-8")
    assert source == with_index(source), "run python -m onehook.docgen.registry"


def test_what_switches_hooks_off_is_up_to_date():
    assert AGENT_FILES.read_text(encoding="utf-8") == agent_files(), "run python -m onehook.docgen.registry"
    assert read_by() == onehook.hosts.READ_BY
    assert {(lender, reader) for lender in HOSTS for reader in readers_of(lender)} == {
        (lender, reader) for reader in HOSTS for lender in wire_of(reader).TRAITS.reads_config_of
    }


@pytest.mark.parametrize(("lender", "key", "reader"), [(a, key, b) for a, keys in read_by().items() for key, b in keys.items()])
def test_a_reader_of_another_hosts_configuration_is_recognised_there(lender: str, key: str, reader: str) -> None:
    sent = [line["stdin"] for path in captures(reader) for line in lines_of(path) if key in line["stdin"]]
    assert sent
    assert {resolve([lender], payload).ID for payload in sent} == {reader}
    assert lender == resolve([lender], {}).ID


@pytest.mark.parametrize("host", HOSTS)
def test_an_entry_names_the_hosts_that_may_start_it(host: str) -> None:
    shared = [
        one for one in HOSTS for lender in wire_of(one).TRAITS.reads_config_of if not optional(one, "own_entries") and host in (one, lender)
    ]
    lenders = [lender for one in shared for lender in wire_of(one).TRAITS.reads_config_of]
    assert set(entry_hosts(host)) == {host, *shared, *lenders}
    assert entry_hosts("claude") == entry_hosts("cursor") == ("claude", "cursor") and entry_hosts("codex") == ("codex",)


FILES = [
    path
    for host in (*HOSTS, *GUESTS)
    for path in sorted((PACKAGE / "hosts" / host).rglob("*"))
    if path.is_file() and path.suffix in (".py", ".js", ".mjs", ".json")
]


def host_of(path: Path) -> str:
    return path.relative_to(PACKAGE / "hosts").parts[0]


def related(host: str) -> set[str]:
    if host not in HOSTS:
        return {host}
    traits = wire_of(host).TRAITS
    return {host, traits.built_on, *traits.reads_config_of}


def id_of(path: Path) -> str:
    return path.relative_to(PACKAGE / "hosts").as_posix()


@pytest.mark.parametrize("path", FILES, ids=id_of)
def test_no_host_names_another_without_a_declared_relation(path: Path) -> None:
    others = [other for other in AGENTS if other not in related(host_of(path))]
    titles = [config.TITLE for other in others if (config := optional(other, "config") if other in HOSTS else None)]
    assert not named_in(texts_in(path)).intersection(others)
    assert not [text for text in texts_in(path) for title in titles if re.search(rf"\b{re.escape(title)}\b", text)]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ('x = "cursor"', {"cursor"}),
        ('x = payload["cursor_version"]', {"cursor"}),
        ('x = "cur" + "sor"', {"cursor"}),
        ('x = "/home/.cursor/hooks.json"', {"cursor"}),
        ("def of_cursor(): ...", {"cursor"}),
        ("class PiCall: ...", {"pi"}),
        ("from onehook.hosts.cursor import wire", {"cursor"}),
        ("from onehook.hosts import cursor as other", {"cursor"}),
        ('x = f"{y}cursor{z}"', {"cursor"}),
        ('x = "as Cursor does"', {"cursor"}),
        ('"""As Cursor does."""  # of Cursor', set()),
        ('x = os.environ["CURSOR_VERSION"]', set()),
        ('x = "android, PIDs, vibes, decline"', set()),
    ],
)
def test_the_name_of_an_agent_is_found(code: str, names: set[str]) -> None:
    assert named_in(said(code)) == names


@pytest.mark.parametrize("path", FILES, ids=id_of)
def test_no_host_names_the_marks_of_another(path: Path) -> None:
    host = host_of(path)
    for other in set(HOSTS) - related(host):
        marks = wire_of(other).MARKS
        assert not [text for text in texts_in(path) for mark in marks if mark.folder and mark.folder in text], other
        assert not texts_in(path) & {mark.file for mark in marks if mark.file}, other
        if path.name == "wire.py" and host in HOSTS:
            assert not (texts_in(path) & set(wire_of(other).SENDS)) - set(wire_of(host).SENDS), other
