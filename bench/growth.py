"""What an event costs as things grow: the payload, the rules, the handlers, the log. With and without resident mode, as ratios.

    python bench/growth.py [--rounds 20]

Prints the table of docs/benchmarks.md, from which docs/growth.svg is drawn. Each contender denies; startup.py describes the method.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rules import rule
from startup import BARE, CONTENDERS, PRE_TOOL_USE, Contender, by_shell, many_handlers, measure, where_and_when

from onehook.cache import LAUNCHER
from onehook.core import Options
from onehook.logger import append
from onehook.setup.command import NATIVE_CLIENT, PYTHON_CLIENT
from onehook.setup.resident import gone, servers, stop

COUNTS = (10, 100, 1_000)
SIZES = {"1 KB": 1_000, "10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000}
LINES = (0, 1_000, 10_000, 100_000)
OPTIONS = ("--host", "claude", "--event", "PreToolUse", "--fail", "closed")
WARM_UP = 8  # events until the process has learned what they load


def rules(count: int) -> str:
    return "".join(map(rule, range(count))) + '[[rule]]\nid = "last"\ncommand = "rm -rf"\nreason = "no"\n'


def cases() -> Iterator[tuple[str, str, str, str, int, int]]:
    """What grows, and its size in words; the name and text of the policy; bytes of the payload, lines in the log."""
    trivial = (CONTENDERS / "policy.py").read_text(encoding="utf-8")
    for name, size in SIZES.items():
        yield "payload", name, "plain.py", trivial, size, 0
    for count in COUNTS:
        yield "rules", f"{count:,}", f"rules-{count}.toml", rules(count), 0, 0
    for count in COUNTS:
        yield "handlers", f"{count:,}", f"handlers-{count}.py", many_handlers(count), 0, 0
    for count in LINES:
        yield "lines in the log of the day", f"{count:,}", "plain.py", trivial, 0, count


def filled_log(state: Path, lines: int) -> None:
    before = os.environ.get("ONEHOOK_STATE_DIR")
    os.environ["ONEHOOK_STATE_DIR"] = str(state)
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    for number in range(lines):
        append(
            {"time": now, "id": f"{number:016x}", "agent": "claude", "decision": "deny", "subject": "rm -rf /tmp/foo", "by": []}, Options()
        )
    if before is not None:
        os.environ["ONEHOOK_STATE_DIR"] = before


def pair(folder: Path, case: tuple[str, str, str, str, int, int], python: str) -> tuple[Contender, Contender]:
    what, size, file, text, payload, lines = case
    policy = folder / "policies" / file
    policy.parent.mkdir(exist_ok=True)
    policy.write_text(text, encoding="utf-8")
    state = folder / "state" / (f"log-{lines}" if lines else "plain")
    if not state.exists():
        state.mkdir(parents=True)
        filled_log(state, lines)
    client = (str(NATIVE_CLIENT),) if os.access(NATIVE_CLIENT, os.X_OK) else (python, "-I", "-S", str(PYTHON_CLIENT))
    cold = (python, "-I", "-S", LAUNCHER, str(policy), *OPTIONS)
    asked = {**PRE_TOOL_USE, "tool_input": {"command": "rm -rf /tmp/foo", "description": "x" * payload}}
    found = Contender(f"{what} {size}", by_shell(*cold), asked), Contender(f"{what} {size}, resident", by_shell(*client, *cold), asked)
    for contender in found:
        contender.variables["ONEHOOK_STATE_DIR"] = str(state)
    for contender in (found[0], *[found[1]] * WARM_UP):
        if not contender.is_right():
            raise SystemExit(f"{contender.name}: not a deny")
        time.sleep(0.4 if contender is found[1] else 0)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        folder, bare = Path(scratch).resolve(), Contender(BARE, [sys.executable, "-I", "-c", "pass"], None)
        found = {case[:2]: pair(folder, case, sys.executable) for case in cases()}
        try:
            measure([bare, *(one for both in found.values() for one in both)], rounds)
        finally:
            for state in (folder / "state").iterdir():
                os.environ["ONEHOOK_STATE_DIR"] = str(state)
                for server in servers():
                    stop(server)
                gone()
    base = statistics.median(bare.times)
    print(where_and_when(rounds))
    print("| what grows | to | not resident | resident, native client |\n|---|---|---|---|")
    for (what, size), both in found.items():
        cold, warm = (statistics.median(one.times) / base for one in both)
        print(f"| {what} | {size} | {cold:.2f} | {warm:.2f} |")


if __name__ == "__main__":
    main()
