"""make demo: real captured payloads of each host, through the real launcher, and what each host is told and will do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

import onehook
from onehook.hosts import HOSTS
from onehook.hosts.effects import gates
from onehook.runner import Job, answer, load_policy
from onehook.testing.effect import effect

ROOT = Path(__file__).resolve().parent.parent
POLICY = ROOT / "examples" / "policy.py"
CAPTURES = ROOT / "tests" / "data" / "captures"
LAUNCHER = Path(onehook.__file__).parent / "launch.py"
CONTRACT = [  # the open contract has no agent of its own to capture from; these are its documented shapes
    {"tool_name": "Shell", "tool_input": {"command": "rm -rf /tmp/foo"}},
    {"tool_name": "Write", "tool_input": {"path": "b.txt", "contents": "hi"}},
    {"tool_name": "Stop", "tool_input": {"transcript_path": "/tmp/t.jsonl", "stop_hook_active": False}},
]


def payloads(host: str) -> list[tuple[str, dict[str, object]]]:
    """(where it comes from, payload) for one host: one capture per kind of event."""
    if host == "contract":
        return [("documented", payload) for payload in CONTRACT]
    seen: dict[tuple[object, object, str], tuple[str, dict[str, object]]] = {}
    for path in sorted(CAPTURES.glob(f"{host}*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            payload = json.loads(line)["stdin"]
            key = (payload.get("hook_event_name"), payload.get("tool_name"), json.dumps(payload.get("tool_input"), sort_keys=True))
            seen.setdefault(key, (path.stem.removeprefix(host + "-"), payload))
    return list(seen.values())


def told(payload: dict[str, object], environment: dict[str, str]) -> tuple[str, int]:
    """What the real launcher says, in a process of its own."""
    argv = [sys.executable, "-I", "-S", str(LAUNCHER), str(POLICY)]
    done = subprocess.run(argv, input=json.dumps(payload).encode(), capture_output=True, env=environment, timeout=60, check=False)
    return done.stdout.decode().strip(), done.returncode


def main() -> int:
    console = Console(width=None if sys.stdout.isatty() else 150)
    policy = load_policy(str(POLICY))
    wrong = 0
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "ONEHOOK_STATE_DIR": state}
        os.environ["ONEHOOK_STATE_DIR"] = state
        for host in HOSTS:
            table = Table(title=f"{host}", title_justify="left", title_style="bold", expand=True)
            for heading, ratio in (("event", 3), ("about", 4), ("the host is told (stdout, exit code)", 9), ("it will", 4), ("lost", 4)):
                table.add_column(heading, ratio=ratio, overflow="fold")
            for source, payload in payloads(host):
                stdout, code = told(payload, environment)
                job = Job()
                output = answer(job, json.dumps(payload).encode(), lambda: policy)
                wrong += output.exit_code != code or output.stdout != stdout
                event = job.event
                if event is None or job.wire is None:
                    wrong += 1
                    continue
                about = event.command or ", ".join(event.paths) or event.prompt or source
                lost = "; ".join(f"{drop.field}: {drop.why}" for drop in output.dropped)
                table.add_row(
                    event.native_event, about, f"{stdout or '(nothing)'}  [{code}]", effect(event, output, gates(job.wire, event)), lost
                )
            console.print(table)
    console.print(f"policy: {POLICY.relative_to(ROOT)}; payloads: {CAPTURES.relative_to(ROOT)} (recorded from the real agents)")
    if wrong:
        console.print(f"[red]{wrong} answers of the launcher differ from the ones worked out in process[/red]")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
