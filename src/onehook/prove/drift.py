"""Which fields an agent sends, compared with those that it sent before.

A host's `fields.json` holds the top-level fields of captured payloads, for each event and tool. `python -m onehook.prove.drift CAPTURES`
writes these files. `onehook prove --diff` records the fields that the agents send now, with a policy that only records.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook import hosts
from onehook.core import PayloadError
from onehook.hostkit.live import Step
from onehook.hosts import HOSTS, detect
from onehook.prove.scenarios import Scenario
from onehook.prove.stage import Agent, play

if TYPE_CHECKING:
    from onehook.hosts.interface import Live

Table = dict[str, dict[str, list[str]]]  # host -> "Event tool" -> fields

RECORDER = """
import json, os
from onehook import Hooks
hooks = Hooks()
def keep(event):
    line = json.dumps({"host": event.host, "payload": event.native})
    with open(os.path.join(event.cwd or ".", "payloads.jsonl"), "a") as file:
        file.write(line + "\\n")
for name in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"):
    hooks.on(name)(keep)
"""


def _script(live: Live, mode: str, project: str) -> list[Step | None]:
    steps = [
        live.shell("ls no-such-file", mode),
        live.shell("echo hi > made.txt", mode),
        live.write(f"{project}/b.txt", "hi", mode),
        live.read(f"{project}/a.txt", mode),
    ]
    return [*(step for step in steps if step), {"say": "all done"}]


def fields_of(payloads: Iterable[tuple[str, dict[str, Any]]]) -> Table:
    table: dict[str, dict[str, set[str]]] = {}
    for host, payload in payloads:
        event = load_event(payload)
        if event:
            table.setdefault(host, {}).setdefault(event, set()).update(payload)
    return {host: {event: sorted(names) for event, names in sorted(events.items())} for host, events in sorted(table.items())}


def load_event(payload: dict[str, Any]) -> str:
    try:
        event = detect(payload).parse(payload, "")
    except PayloadError:
        return ""
    return f"{event.native_event} {event.native_tool}".strip()


def recorded(agents: Iterable[Agent]) -> Table:
    """The fields that these agents send now."""
    scenario = Scenario("fields", "what it sends", "PreToolUse", "", None, RECORDER, _script, lambda _: True, files={"a.txt": "hello\n"})
    found: list[tuple[str, dict[str, Any]]] = []
    for agent in agents:
        folder = Path(tempfile.mkdtemp(prefix="onehook-prove-"))
        evidence = play(agent, scenario, folder, with_policy=True)
        for line in (evidence.text("payloads.jsonl") or "").splitlines():
            kept = json.loads(line)
            found.append((kept["host"], kept["payload"]))
    return fields_of(found)


def changes(before: Table, now: Table) -> list[str]:
    """New and missing fields, event by event; only events in both tables are compared."""
    lines: list[str] = []
    for host, events in now.items():
        for event, names in events.items():
            known = before.get(host, {}).get(event)
            if known is None:
                continue
            new, gone = sorted(set(names) - set(known)), sorted(set(known) - set(names))
            lines += [f"{host} {event}: new field {name}" for name in new] + [f"{host} {event}: field {name} is gone" for name in gone]
    return lines


def _captured(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            payload = json.loads(line)["stdin"]
            try:
                yield detect(payload).ID, payload
            except PayloadError:
                continue


def _fields_file(host: str) -> Path:
    return Path(hosts.__file__).with_name(host) / "fields.json"


def known_fields() -> Table:
    return {host: json.loads(_fields_file(host).read_text(encoding="utf-8")) for host in HOSTS if _fields_file(host).is_file()}


if __name__ == "__main__":
    for host, fields in fields_of(_captured(Path(sys.argv[1]))).items():
        _fields_file(host).write_text(json.dumps(fields, indent=1) + "\n", encoding="utf-8")
