"""Writes decision logs of any size for measurements: seeded, as a stream, with the lines that real events leave.

    python bench/loglines.py --lines 1000000 --output FOLDER                    the log of one machine: files with a valid chain
    python bench/loglines.py --lines 1000000 --machines 1000 --output FOLDER    a folder for each machine
    python bench/loglines.py --lines 10000000 --quiet 1 --machines 10000 --rows    as rows, for a database
    python bench/loglines.py --learn                                            update bench/loglines.json

The samples are in loglines.json: the lines that captured events of every agent leave when they pass through the launcher, each with how
often it occurred, the events that nothing answered, and the milliseconds of both. The events are the captured payloads of tests/hosts
and commands of tests/data, which replace the command in such a payload: those that the packs should stop, and ordinary ones.
The policies are `POLICIES`.

So these are measured: which lines there are, their fields and sizes, which agents drop what, and the milliseconds. `CHOSEN` is chosen,
because there was no fleet to measure: the times of day, the lengths of sessions, and the share of each policy.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LEARNED = Path(__file__).with_suffix(".json")
DATA = ROOT / "tests" / "data"
LAUNCHER = ROOT / "src" / "onehook" / "launch.py"
PROGRAM = """#!/bin/sh
if grep -q '"command": "git '; then echo '{"decision": "deny", "reason": "git is for people"}'; fi
"""
FAILING = """from onehook import Hooks
hooks = Hooks(fail="closed")
@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    return {"sudo": 1}[event.command.split()[0]]
"""
POLICIES = {  # each with the suffix of its file, and its text
    "rules": ("toml", 'packs = ["recommended"]\n'),
    "observed": ("toml", 'mode = "observe"\npacks = ["recommended"]\n'),
    "paused": ("toml", 'packs = ["recommended"]\n'),
    "program": ("toml", '[[hook]]\nevents = ["PreToolUse"]\ntools = ["Bash"]\nrun = ["{folder}/program.sh"]\nspeaks = "onehook"\n'),
    "handler": ("py", (ROOT / "examples" / "policy.py").read_text(encoding="utf-8")),
    "failing": ("py", FAILING),
}
CHOSEN: dict[str, Any] = {
    "days": 30,
    "lines": {"rules": 50, "observed": 25, "paused": 1, "program": 8, "handler": 15, "failing": 1},  # percent, by policy
    "hours": [1, 1, 1, 1, 1, 1, 2, 5, 20, 40, 45, 40, 25, 40, 45, 45, 40, 30, 15, 8, 6, 5, 3, 2],  # how many events in each hour (UTC)
    "session": 40,  # events, on average
    "projects": 6,  # on a machine, at most
    "quiet": 5.0,  # events that nothing answered, for each line
}
PROJECT, POLICY, FOLDER = "@PROJECT@", "@POLICY@", "@FOLDER@"
SCHEMA = ROOT / "docs" / "schema" / "log.json"
N, MS = 987654321987, 0.987654321987  # marks where a number is filled in


# --- learning --------------------------------------------------------------------------------------------------------------------


class Sent(NamedTuple):
    """An event to send: the agent, the name on its command line, and the payload."""

    host: str
    event: str
    payload: dict[str, Any]


def captured(host: str) -> Iterator[Sent]:
    """The captured payloads of an agent; if it has no captures, those of its tests."""
    folder = ROOT / "tests" / "hosts" / host
    if not (folder / "captures").is_dir():
        for event, payload in json.loads((folder / "payloads.json").read_text(encoding="utf-8")).items():
            yield Sent(host, event, payload)
    for path in sorted(folder.glob("captures/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            kept = json.loads(line)
            yield Sent(host, kept["event"] if "event" in kept else kept["argv"][0], kept["stdin"])


def commands(count: int) -> list[str]:
    """Commands that packs stop, and as many ordinary ones, selected by their hash."""
    from onehook.packs import read_toml

    dangerous = [line for lines in read_toml("", (DATA / "dangerous_commands.toml").read_bytes()).values() for line in lines]
    ordinary = [line for line in (DATA / "ordinary_commands.txt").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return [
        line for lines in (dangerous, ordinary) for line in sorted(lines, key=lambda line: hashlib.sha256(line.encode()).digest())[:count]
    ]


def with_command(sent: Sent, old: str, new: str) -> Sent:
    return Sent(sent.host, sent.event, json.loads(json.dumps(sent.payload).replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])))


def events(count: int) -> Iterator[Sent]:
    from onehook.core import PayloadError
    from onehook.hosts import HOSTS, wire_of

    for host in HOSTS:
        shell: tuple[Sent, str] | None = None
        for sent in captured(host):
            yield sent
            try:
                event = wire_of(host).parse(sent.payload, sent.event)
            except PayloadError:
                continue
            if event.event == "PreToolUse" and event.command and shell is None:
                shell = (sent, event.command)
        if shell is not None:
            for command in commands(count):
                yield with_command(*shell, command)


def learn(count: int) -> dict[str, Any]:
    """Send every event through the launcher, once for each policy; returns the content of loglines.json."""
    from onehook import pause

    lines: Counter[str] = Counter()
    quiet: Counter[str] = Counter()
    times: dict[str, list[float]] = {}
    sent = list(events(count))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.sh").write_text(PROGRAM)
        (folder / "program.sh").chmod(0o755)
        for kind, (ending, text) in POLICIES.items():
            policy, state = folder / f"{kind}.{ending}", folder / kind
            policy.write_text(text.replace("{folder}", name), encoding="utf-8")
            os.environ["ONEHOOK_STATE_DIR"] = str(state)
            if kind == "paused":
                pause.add("", 3600, "a release")
            for one in sent[:: 8 if kind == "failing" else 1]:
                argv = [
                    sys.executable,
                    "-I",
                    "-S",
                    str(LAUNCHER),
                    str(policy),
                    "--host",
                    one.host,
                    *(["--event", one.event] if one.event else []),
                ]
                subprocess.run(argv, input=json.dumps(one.payload).encode(), capture_output=True, timeout=60, check=False)
            for path in (state / "log").glob("*.jsonl"):
                for line in path.read_text(encoding="ascii").splitlines():
                    entry = json.loads(line)
                    times.setdefault(kind, []).append(entry["ms"])
                    for field in ("n", "prev", "time", "id", "session", "ms"):
                        del entry[field]
                    project = entry["project"]
                    text = json.dumps({**entry, "kind": kind}).replace(str(policy), POLICY).replace(str(folder), FOLDER)
                    lines[text.replace(json.dumps(project)[:-1], f'"{PROJECT}') if project else text] += 1
            for path in (state / "log").glob("*.quiet"):
                for line in path.read_text(encoding="utf-8").splitlines():
                    _, agent, event, tool, ms, _ = line.split(" ", 5)
                    quiet[f"{agent} {event} {tool}"] += 1
                    times.setdefault("quiet", []).append(float(ms))
    return {
        "events": len(sent), "policies": list(POLICIES), "python": sys.version.split()[0],
        "lines": [[number, json.loads(text)] for text, number in sorted(lines.items())],
        "quiet": [[number, text] for text, number in sorted(quiet.items())],
        "ms": {kind: hundredths(found) for kind, found in times.items()},
    }  # fmt: skip


def hundredths(values: list[float]) -> list[float]:
    """The quantiles 0, 0.01, ... 1."""
    values.sort()
    return [values[round(index / 100 * (len(values) - 1))] for index in range(101)]


def dump(learned: dict[str, Any]) -> str:
    """JSON with a line for each line and kind of event."""
    parts = []
    for name, value in learned.items():
        rows = value if name in ("lines", "quiet") else None
        text = json.dumps(value) if rows is None else "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]"
        parts.append(f"{json.dumps(name)}: {text}")
    return "{" + ",\n".join(parts) + "}\n"


# --- generating ------------------------------------------------------------------------------------------------------------------


class Fleet:
    """The events of a fleet, machine by machine and in order of time. The same seed gives the same events.

    `template` turns an entry whose values are placeholders (@TIME@) into a string; `machine` fills them in.
    """

    def __init__(
        self, lines: int, machines: int, template: Callable[[dict[str, Any]], str], seed: int = 0, days: int = CHOSEN["days"],
        quiet: float = CHOSEN["quiet"], first: int = 0,
    ) -> None:  # fmt: skip
        learned = json.loads(LEARNED.read_text(encoding="utf-8"))
        self.random = random.Random(seed)
        self.count, self.machines, self.days, self.quiet = lines, range(first, first + machines), days, quiet
        self.end = time.time() // 86400 * 86400
        self.ms = learned["ms"]
        self.hours = list(accumulate(CHOSEN["hours"]))
        order = json.loads(SCHEMA.read_text(encoding="utf-8"))["required"]
        self.templates: list[tuple[str, str]] = []  # the policy's kind, and the string
        whole, weights = Counter[str](), []
        for number, entry in learned["lines"]:
            kind = entry.pop("kind")
            whole[kind] += number
            weights.append((kind, number))
            entry |= {"time": "@TIME@", "id": "@ID@", "session": "@SESSION@", "ms": MS, "n": N, "prev": "@PREV@"}
            self.templates.append((kind, template({name: entry[name] for name in order})))
        self.weights = list(accumulate(CHOSEN["lines"][kind] * number / whole[kind] for kind, number in weights))
        self.quiet_events = [text.split(" ") for _, text in learned["quiet"]]
        self.quiet_weights = list(accumulate(number for number, _ in learned["quiet"]))

    def machine(self, number: int) -> Iterator[tuple[float, str, str]]:
        """The events of one machine: (time, line, ""), or (time, "", quiet line) for an event that nothing answered."""
        draw = self.random
        whole, rest = divmod(self.count, len(self.machines))
        mine = whole + (number - self.machines[0] < rest)
        home = f"/home/dev{number}"
        projects = [f"{home}/app-{index}" for index in range(draw.randint(1, CHOSEN["projects"]))]
        session, project = "", projects[0]
        for at, left in self._times(mine + int(mine * self.quiet)):
            if not session or draw.random() * CHOSEN["session"] < 1:
                bits = f"{draw.getrandbits(128):032x}"
                session = f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-8{bits[17:20]}-{bits[20:]}"
                project = projects[int(draw.random() ** 2 * len(projects))]
            if draw.random() * left < mine:  # exactly as many lines as asked for
                mine -= 1
                yield at, self._line(at, home, project, session), ""
            else:
                agent, event, tool = self.quiet_events[self._drawn(self.quiet_weights)]
                yield at, "", f"{at:.3f} {agent} {event} {tool} {self._ms('quiet')} {project}"

    def _times(self, total: int) -> Iterator[tuple[float, int]]:
        """The times of this many events, in order, and how many are left."""
        draw, left = self.random, total
        for day in range(self.days):
            today = left if day == self.days - 1 else round(total / self.days * (day + 1)) - (total - left)
            seconds = sorted((bisect(self.hours, draw.random() * self.hours[-1]) + draw.random()) * 3600 for _ in range(today))
            for second in seconds:
                yield self.end - (self.days - day) * 86400 + second, left
                left -= 1

    def _line(self, at: float, home: str, project: str, session: str) -> str:
        kind, text = self.templates[self._drawn(self.weights)]
        file = f"{home}/policy.py" if kind in ("handler", "failing") else f"{project}/onehook.toml"
        text = text.replace("@TIME@", stamp(at)).replace("@ID@", f"{int(at * 1000):011x}{self.random.getrandbits(24):06x}")
        text = text.replace("@SESSION@", session).replace(PROJECT, project).replace(POLICY, file).replace(FOLDER, home)
        return text.replace(str(MS), str(self._ms(kind)))

    def _drawn(self, weights: list[Any]) -> int:
        return min(bisect(weights, self.random.random() * weights[-1]), len(weights) - 1)

    def _ms(self, kind: str) -> float:
        """Drawn from the learned quantiles, with linear interpolation."""
        place = self.random.random() * 100
        below, values = int(place), self.ms[kind]
        return round(values[below] + (values[below + 1] - values[below]) * (place - below), 2)


def stamp(at: float) -> str:
    day, second = divmod(int(at), 86400)
    return f"{_day(day)}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{int(at * 1000) % 1000:03d}Z"


@functools.cache
def _day(number: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(number * 86400))


# --- as files --------------------------------------------------------------------------------------------------------------------


class Folder:
    """Writes the log of one machine as the launcher does: files by day and part, quiet events beside them, and `head`."""

    MAX_FILE = 64 << 20

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.number, self.last, self.name, self.size, self.part = 0, "0" * 64, "", 0, 1
        self.files: dict[str, Any] = {}

    def add(self, at: float, text: str, quiet: str) -> None:
        day = _day(int(at) // 86400)
        if quiet:
            self._file(f"{day}.quiet").write(f"{quiet}\n".encode())
            return
        if self.name[:10] != day:
            self.name, self.size, self.part = f"{day}.jsonl", 0, 1
        elif self.size > self.MAX_FILE:
            self.part += 1
            self.name, self.size = f"{day}.{self.part}.jsonl", 0
        self.number += 1
        line = text.replace(str(N), str(self.number), 1).replace("@PREV@", self.last, 1).encode("ascii")
        self.last = hashlib.sha256(line).hexdigest()
        self._file(self.name).write(line + b"\n")
        self.size += len(line) + 1

    def _file(self, name: str) -> Any:
        ending = name.rpartition(".")[2]
        found = self.files.get(ending)
        if found is None or not found.name.endswith(f"/{name}"):
            if found is not None:
                found.close()
            found = self.files[ending] = (self.folder / name).open("wb")
        return found

    def close(self) -> None:
        for file in self.files.values():
            file.close()
        if self.number:
            (self.folder / "head").write_text(f"{self.name:<24} {self.size:12d} {self.number:12d} {self.last}\n", encoding="ascii")


# --- as rows ---------------------------------------------------------------------------------------------------------------------


def row(entry: dict[str, Any]) -> str:
    """A row of the table of decisions (onehook/log/columns.py), tab-separated."""
    from onehook.log.columns import rows

    return "\t".join(map(_cell, next(rows([entry], "@MACHINE@"))))


def _cell(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, list):
        return f"[{','.join(_quoted(one) if isinstance(one, str) else str(int(one)) for one in value)}]"
    return _escaped(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    inner = _escaped(text).replace("'", "\\'")
    return f"'{inner}'"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def table(fleet: Fleet) -> Iterator[str]:
    """The events of all machines as rows. Hashes are random."""
    from onehook.log.columns import quiet_entry
    from onehook.log.reader import Quiet

    marks = {"time": "@TIME@", "id": "@ID@"}
    blank = row({**quiet_entry(Quiet(stamp(0), "@AGENT@", "@EVENT@", "@TOOL@", MS, PROJECT, 1)), **marks})
    for number in fleet.machines:
        machine = f"machine-{number:05d}"
        for place, (at, text, quiet) in enumerate(fleet.machine(number), 1):
            if quiet:
                _, agent, event, tool, ms, project = quiet.split(" ", 5)
                text = blank.replace("@TIME@", stamp(at)).replace("@ID@", f"{int(at * 1000):011x}{place:06x}").replace("@AGENT@", agent)
                text = text.replace("@EVENT@", event).replace("@TOOL@", tool.strip("-")).replace(PROJECT, project).replace(str(MS), ms)
            else:
                text = text.replace("@PREV@", f"{fleet.random.getrandbits(256):064x}").replace(str(N), str(place), 1)
            yield text.replace("@MACHINE@", machine, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--learn", action="store_true", help="send the captured events through the launcher and write loglines.json")
    parser.add_argument("--commands", type=int, default=12, help="with --learn: how many dangerous and ordinary commands for each agent")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--machines", type=int, default=1)
    parser.add_argument("--days", type=int, default=CHOSEN["days"])
    parser.add_argument("--quiet", type=float, default=CHOSEN["quiet"], help="events that nothing answered, for each line")
    parser.add_argument("--first", type=int, default=0, help="the number of the first machine, for several runs side by side")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="the folder for the log; with several machines, it gets one for each")
    parser.add_argument("--rows", action="store_true", help="instead, rows of the table of decisions on stdout, tab-separated")
    given = parser.parse_args()
    if given.learn:
        LEARNED.write_text(dump(learn(given.commands)), encoding="utf-8")
        return
    if given.output is None and not given.rows:
        parser.error("--output or --rows is missing")
    fleet = Fleet(given.lines, given.machines, row if given.rows else json.dumps, given.seed, given.days, given.quiet, given.first)
    if given.rows:
        sys.stdout.writelines(f"{text}\n" for text in table(fleet))
        return
    for number in fleet.machines:
        writer = Folder(given.output / f"machine-{number:05d}" if given.machines > 1 else given.output)
        for happened in fleet.machine(number):
            writer.add(*happened)
        writer.close()


if __name__ == "__main__":
    main()
