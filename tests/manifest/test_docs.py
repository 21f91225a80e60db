"""docs/bring-your-own.md and the hosts' tables agree on the events of each dialect."""

from __future__ import annotations

from pathlib import Path

from onehook.hosts import wire_of

PAGE = Path(__file__).parents[2] / "docs" / "bring-your-own.md"


def test_the_number_of_events_of_each_dialect() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    (events,) = [number for number, line in enumerate(lines) if line.startswith("| events |")]
    heading = next(line for line in reversed(lines[:events]) if line.startswith("| |"))
    *hosts, own = heading.strip("| ").split(" | ")
    assert own == "onehook" and hosts
    assert lines[events] == f"| events | {' | '.join(str(len(wire_of(host).EVENTS)) for host in hosts)} | all |"
