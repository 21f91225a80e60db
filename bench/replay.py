"""100,000 recorded events through four of the ready-made policies: how long it takes, and how much memory.

python bench/replay.py [EVENTS [ADDRESS OF A DASK SCHEDULER]]
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from onehook.record.replay import Order, Summary, replay
from onehook.record.sources import Source

POLICY = """
from onehook import Hooks
from onehook.policies import dangerous_commands, git_guard, protected_paths, secrets
hooks = Hooks().use(dangerous_commands()).use(git_guard()).use(protected_paths("*.env")).use(secrets())
"""
COMMANDS = (
    "npm test 2>&1 | tail -40", "git status --short", "cd src && grep -rn 'def main' . | head", "python -m pytest -q tests/test_a.py",
    "for f in *.py; do ruff check \"$f\" || exit 1; done", "cat <<'E' > notes.md\nsome text\nE", "rm -rf build dist",
    "find . -name '*.pyc' -delete", "docker compose up -d && curl -s localhost:8080/health", "rm -rf /", "cat .env", "git push -f",
)  # fmt: skip


def payload(number: int, chance: random.Random) -> dict[str, object]:
    common = {"session_id": f"s-{number // 200}", "transcript_path": "/home/dev/.claude/projects/p/s.jsonl", "cwd": "/home/dev/p"}
    if number % 3 == 2:
        given = {"file_path": f"/home/dev/p/src/file{number % 50}.py", "content": "x = 1\n" * chance.randint(1, 200)}
        return {**common, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": given}
    event = "PreToolUse" if number % 3 == 0 else "PostToolUse"
    command = f"{chance.choice(COMMANDS)} # {number}"
    return {
        **common,
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": "ok\n" * 50},
    }


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    cluster = sys.argv[2] if len(sys.argv) > 2 else ""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        log, policy = Path(folder, "log.jsonl"), Path(folder, "policy.py")
        policy.write_text(POLICY, encoding="utf-8")
        with log.open("w", encoding="utf-8") as file:
            for number in range(count):
                file.write(json.dumps({"stdin": payload(number, chance)}) + "\n")
        summary = Summary()
        begun = time.perf_counter()
        shown = sum(1 for _ in replay(Order([Source(str(log))], str(policy), cluster=cluster), summary))
        seconds = time.perf_counter() - begun
        own, workers = (resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(f"{summary.events:,} events ({log.stat().st_size >> 20} MB) in {seconds:.1f} s, {shown:,} decisions")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{used.ru_utime + used.ru_stime:.1f} s of processor time in the workers")
        print(f"memory at most {own} MB here, {workers} MB in the largest worker; {summary.effects}")


if __name__ == "__main__":
    main()
