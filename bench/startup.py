"""What one hook event costs: a whole process from start to exit, stdin JSON in, a deny out.

    make bench            sets up the contenders in .bench/ and runs this
    python bench/startup.py --rounds 100 [--markdown]

All contenders run in turn in every round, so that what else the machine does hits them alike; look at the ratios, not the milliseconds.
Before anything is timed, each contender's answer is checked to be a deny.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONTENDERS = HERE / "contenders"
BENCH = HERE.parent / ".bench"
BARE = "bare interpreter: python -I -c pass"

PRE_TOOL_USE = {
    "session_id": "0dc8e589-516d-434b-9018-85ebb12efaa6",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-project/0dc8e589-516d-434b-9018-85ebb12efaa6.jsonl",
    "cwd": "/home/dev/project",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf /tmp/foo", "description": "x"},
    "tool_use_id": "toolu_18e84ef552bb37ce",
}
PERMISSION_REQUEST = {**PRE_TOOL_USE, "hook_event_name": "PermissionRequest"}


class Contender:
    def __init__(self, name: str, argv: list[str], payload: dict[str, object] | None = PRE_TOOL_USE) -> None:
        self.name = name
        self.argv = argv
        self.payload = b"" if payload is None else json.dumps(payload).encode()
        self.times: list[float] = []

    def answer(self) -> str:
        """Run once and say how it denied; "" if it did not."""
        done = subprocess.run(self.argv, input=self.payload, capture_output=True, timeout=60, check=False)
        if done.returncode == 2:
            return "exit 2"
        words = [word for word in ('"deny"', '"block"') if word in done.stdout.decode()]
        return f"exit {done.returncode}, {words[0]}" if words else ""


def contenders() -> list[Contender]:
    import onehook

    python = sys.executable

    package = Path(onehook.__file__).parent
    policy = str(CONTENDERS / "policy.py")
    found = [
        Contender(BARE, [python, "-I", "-c", "pass"], None),
        Contender("onehook, as install writes it", [python, "-I", "-S", str(package / "launch.py"), policy, "--host", "claude"]),
        Contender("onehook, python -I -m onehook run", [python, "-I", "-m", "onehook", "run", policy, "--host", "claude"]),
        Contender("python, json by hand", [python, "-I", "-c", _BY_HAND]),
    ]
    bun = next(iter(sorted(BENCH.glob("node_modules/@oven/bun-*/bin/bun"))), None) or shutil.which("bun")
    node = shutil.which("node")
    if bun:
        found.append(Contender("bun, the same logic by hand", [str(bun), str(CONTENDERS / "hook.mjs")]))
    if node:
        found.append(Contender("node, the same logic by hand", [node, str(CONTENDERS / "hook.mjs")]))
    peers = BENCH / "peers" / "bin" / "python"
    if peers.exists():
        found += [
            Contender("cchooks 0.1.5", [str(peers), "-I", str(CONTENDERS / "cchooks_hook.py")]),
            Contender("polyhook 0.2.0", [str(peers), "-I", str(CONTENDERS / "polyhook_hook.py")]),
            Contender(
                "agent-hooks 0.2.0",
                [str(peers), "-I", "-m", "agent_hooks", "run", str(CONTENDERS / "agent_hooks_app.py"), "--provider", "claude-code"],
                PERMISSION_REQUEST,
            ),
        ]
    return found


_BY_HAND = """
import json, sys
event = json.load(sys.stdin)
if event["tool_name"] == "Bash" and "rm -rf" in event["tool_input"]["command"]:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "rm -rf is blocked by policy"}
    print(json.dumps({"hookSpecificOutput": answer}))
    sys.exit(2)
"""


def time_once(contender: Contender, stdin: int, sink: int) -> float:
    os.lseek(stdin, 0, os.SEEK_SET)
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, sink, 1), (os.POSIX_SPAWN_DUP2, sink, 2)]
    begun = time.perf_counter()
    child = os.posix_spawn(contender.argv[0], contender.argv, os.environ, file_actions=actions)
    os.waitpid(child, 0)
    return (time.perf_counter() - begun) * 1000


def measure(found: list[Contender], rounds: int) -> None:
    sink = os.open(os.devnull, os.O_WRONLY)
    stdins: list[int] = []
    for contender in found:
        with tempfile.TemporaryFile() as file:
            file.write(contender.payload)
            file.flush()
            stdins.append(os.dup(file.fileno()))
    for round_number in range(-3, rounds):  # three rounds to warm the caches
        for contender, stdin in zip(found, stdins, strict=True):
            taken = time_once(contender, stdin, sink)
            if round_number >= 0:
                contender.times.append(taken)
        if sys.stderr.isatty():
            print(f"\rround {round_number + 1} of {rounds}", end="", file=sys.stderr, flush=True)


def table(found: list[Contender], markdown: bool) -> str:
    base = next(contender for contender in found if contender.name == BARE)
    rows = [("contender", "median ms", "min ms", "median / bare", "min / bare")]
    for contender in found:
        median, least = statistics.median(contender.times), min(contender.times)
        ratio, least_ratio = median / statistics.median(base.times), least / min(base.times)
        rows.append((contender.name, f"{median:.1f}", f"{least:.1f}", f"{ratio:.2f}", f"{least_ratio:.2f}"))
    if markdown:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([lines[0], "|---|---|---|---|---|", *lines[1:]])
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    found = contenders()
    for contender in found[1:]:
        denied = contender.answer()
        if not denied:
            print(f"{contender.name} did not deny; it would not be the same work", file=sys.stderr)
            return 1
    measure(found, options.rounds)
    print(file=sys.stderr)
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores,"
    )
    print(f"load {os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d')}, {options.rounds} interleaved rounds\n")
    print(table(found, options.markdown))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
