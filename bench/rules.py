"""What an event costs with a rules file, compared with a bare interpreter: python bench/rules.py [--rounds 40]

Every contender runs in turn in every round, so that other load on the machine affects all equally; compare the ratios, on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import onehook

PACKAGE = Path(onehook.__file__).parent
BARE = "python -I -c pass"


def payload(event: str, tool: str, given: dict[str, str]) -> bytes:
    return json.dumps({"session_id": "x", "cwd": "/tmp", "hook_event_name": event, "tool_name": tool, "tool_input": given}).encode()


def rule(number: int) -> str:
    return f'[[rule]]\nid = "own-{number}"\ncommand = "tool{number} delete --force"\nreason = "no"\n'


def contenders(folder: Path) -> dict[str, tuple[list[str], bytes]]:
    files = {
        "recommended": 'packs = ["recommended"]\n',
        "every pack": 'packs = ["all"]\n[permissions]\ndeny = ["Read(./.env*)", "Bash(npm publish:*)"]\n',
        "every pack and 10 rules": 'packs = ["all"]\n' + "".join(map(rule, range(10))),
        "every pack and 1,000 rules": 'packs = ["all"]\n' + "".join(map(rule, range(1000))),
    }
    events = {
        "npm test": payload("PreToolUse", "Bash", {"command": "npm test"}),
        "git commit && make | tail": payload("PreToolUse", "Bash", {"command": "git commit -m 'a b' && make 2>&1 | tail -5"}),
        "a loop with $(...)": payload("PreToolUse", "Bash", {"command": "for f in $(git ls-files '*.py'); do wc -l \"$f\"; done"}),
        "an event that no rule wants": payload("PostToolUse", "Bash", {"command": "npm test"}),
    }
    out: dict[str, tuple[list[str], bytes]] = {BARE: ([sys.executable, "-I", "-c", "pass"], b"")}
    for name, text in files.items():
        place = folder / name.replace(" ", "_").replace(",", "")
        place.mkdir()
        (place / "onehook.toml").write_text(text)
        argv = [sys.executable, "-I", "-S", str(PACKAGE / "launch.py"), str(place / "onehook.toml"), "--host", "claude"]
        for event, data in events.items():
            if name == "every pack" or event == "npm test":
                out[f"{name}: {event}"] = (argv, data)
    return out


def spent(argv: list[str], data: bytes) -> tuple[float, float]:
    """Wall time and processor time, in seconds."""
    began = time.perf_counter()
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert child.stdin is not None
    child.stdin.write(data)
    child.stdin.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{argv} ended with {child.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        named = contenders(Path(folder))
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in named}
        for argv, data in named.values():
            spent(argv, data)  # compiles the rules
        for _ in range(rounds):
            for name, (argv, data) in named.items():
                times[name].append(spent(argv, data))
    bare = [statistics.median(column) for column in zip(*times[BARE])]
    for name, rows in times.items():
        clock, processor = (statistics.median(column) for column in zip(*rows))
        print(f"{name:55} {clock * 1e3:7.1f} ms {clock / bare[0]:5.2f}x   cpu {processor * 1e3:6.1f} ms {processor / bare[1]:5.2f}x")


if __name__ == "__main__":
    main()
