"""What real agents sent (tests/hosts/<id>/captures): which host it is from, judging only by the payload, and what it is about.

Next to each capture, `.events.json` has what every line must be read as: a row has the fields of the event that are not empty, and its
result without the agent's own value, which is tool_response. A host's `detect.json` has payloads that must be recognized as that host's,
whatever is missing or moved.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from onehook.core import Event, PayloadError
from onehook.hostkit.effects import Mark
from onehook.hosts import HOSTS, detect, readers_of, resolve, wire_of
from tests.host_folders import captures, folder, lines_of
from tests.rows import check_each

FACTS = ("tool", "command", "paths", "changes", "source", "prompt", "error", "last_assistant_message", "host_version", "model")


def named_event(line: dict[str, Any]) -> str:
    """The event that the agent's config named for this call, as for --event."""
    name: str = line["event"] if "event" in line else line["argv"][0]
    return name


@functools.cache
def named_lines(host: str) -> dict[str, dict[str, Any]]:
    """Every line of the host's captures, by its location."""
    lines = [(path.stem, number, line) for path in captures(host) for number, line in enumerate(lines_of(path), 1)]
    return {f"{stem}-{number}-{named_event(line)}": line for stem, number, line in lines}


CAPTURED = [host for host in HOSTS if captures(host)]


@pytest.mark.parametrize("host", CAPTURED)
def test_a_payload_is_told_apart_without_being_named(host: str) -> None:
    def check(line: dict[str, Any]) -> None:
        assert host == detect(line["stdin"]).ID

    check_each(check, named_lines(host))


@pytest.mark.parametrize("host", CAPTURED)
def test_a_payload_gives_the_session_the_folder_and_the_native_event(host: str) -> None:
    def check(line: dict[str, Any]) -> None:
        payload = line["stdin"]
        event = parse(payload, named_event(line))
        assert event.host == host
        assert event.native is payload
        assert event.session_id in (payload.get("session_id"), payload.get("sessionId"), payload.get("conversation_id"))
        assert event.session_id
        assert event.cwd == (payload.get("cwd") or payload.get("working_dir") or payload.get("workspace_roots", [""])[0]) != ""
        assert event.transcript_path == (payload.get("transcript_path") or payload.get("transcriptPath") or "")

    check_each(check, named_lines(host))


def parse(payload: dict[str, Any], event_name: str = "") -> Event:
    return detect(payload).parse(payload, event_name)


@pytest.mark.parametrize(("host", "path"), [pytest.param(host, path, id=path.stem) for host in HOSTS for path in captures(host)])
def test_a_session_of_the_real_agent_is_read_as_what_it_did(host: str, path: Path) -> None:
    wanted = json.loads(path.with_suffix(".events.json").read_text(encoding="utf-8"))
    read = [parse(line["stdin"], named_event(line)) for line in lines_of(path)]
    assert [event.host for event in read] == [host] * len(wanted)
    for event, row in zip(map(Event.to_dict, read), wanted, strict=True):
        assert {name: event[name] for name in ("event", *FACTS) if event[name]} == {
            name: value for name, value in row.items() if name not in ("tool_response", "result")
        }
        if "result" in row:  # for every tool in the captures of results
            assert event["result"] == {**row["result"], "structured": event["tool_response"]}
        assert "tool_response" not in row or event["tool_response"] == row["tool_response"]


@pytest.mark.parametrize(
    ("host", "payload"),
    [
        pytest.param(host, payload, id=f"{host}-{number}")
        for host in HOSTS
        if (folder(host) / "detect.json").exists()
        for number, payload in enumerate(json.loads((folder(host) / "detect.json").read_text(encoding="utf-8")))
    ],
)
def test_detection_survives_relocated_homes_and_missing_transcripts(host: str, payload: dict[str, Any]) -> None:
    assert host == detect({"session_id": "s", "cwd": "/p", **payload}).ID


@pytest.mark.parametrize("name", [None, [], {}, 3, True])
def test_an_event_name_of_a_wrong_type_is_nobodys(name: object) -> None:
    with pytest.raises(PayloadError):
        detect({"session_id": "s", "cwd": "/p", "hook_event_name": name, "conversation_id": "c"})


def test_a_payload_that_fits_two_hosts_equally_well_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = HOSTS[0], HOSTS[2]
    for host in (first, second):
        monkeypatch.setattr(wire_of(host), "MARKS", (Mark(5, {}),))
    with pytest.raises(PayloadError, match=f"cannot tell whether {first} or {second} sent this payload; name it with --host ID"):
        detect({})


@pytest.mark.parametrize("named", HOSTS)
def test_a_named_host_is_overruled_by_a_host_that_runs_its_config_and_by_no_other(named: str) -> None:
    borrowers = set(readers_of(named))
    for host, line in [(sender, line) for sender in CAPTURED for line in named_lines(sender).values()]:
        wire = resolve([named], line["stdin"])
        assert wire.ID in {named, *borrowers}
        if host in {named, *borrowers}:
            assert wire.parse(line["stdin"], named_event(line)).host == host
