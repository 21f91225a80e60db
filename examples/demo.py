"""make demo: captured payloads of each agent through the real launcher, then an install into a scratch project and an uninstall."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import onehook
from onehook.hostkit.effects import gates
from onehook.hosts import HOSTS, wire_of
from onehook.policy import load_policy
from onehook.runner import answer
from onehook.testing.effect import effect

ROOT = Path(__file__).resolve().parent.parent
POLICY = ROOT / "examples" / "policy.py"
CAPTURES = ROOT / "tests" / "hosts"
LAUNCHER = Path(onehook.__file__).parent / "launch.py"
COLUMNS = (("event", 3), ("about", 4), ("answer (stdout, exit code)", 9), ("effect", 4), ("lost", 4))
CONTRACT: list[dict[str, Any]] = [  # the open contract has no agent to capture payloads from; these are the documented ones
    {"tool_name": "Shell", "tool_input": {"command": "rm -rf /tmp/foo"}},
    {"tool_name": "Write", "tool_input": {"path": "b.txt", "contents": "hi"}},
    {"tool_name": "Stop", "tool_input": {"transcript_path": "/tmp/t.jsonl", "stop_hook_active": False}},
]
Capture = tuple[str, str, dict[str, Any]]  # where it comes from, the event's name, the payload


def captures(host: str) -> list[Capture]:
    """One capture of each kind of event of an agent."""
    if host == "contract":
        return [("documented", "", payload) for payload in CONTRACT]
    seen: dict[str, Capture] = {}
    for path in sorted(CAPTURES.glob(f"{host}/captures/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            kept = json.loads(line)
            name = kept["event"] if "event" in kept else kept["argv"][0]
            about = {key: kept["stdin"].get(key) for key in ("tool_name", "toolName", "tool_input", "toolArgs")}
            seen.setdefault(name + json.dumps(about, sort_keys=True), (path.stem.removeprefix(host + "-"), name, kept["stdin"]))
    return list(seen.values())


def told(host: str, capture: Capture, environment: dict[str, str]) -> tuple[str, int]:
    """What the real launcher answers, in a separate process."""
    _, name, payload = capture
    argv = [sys.executable, "-I", "-S", str(LAUNCHER), str(POLICY), "--host", host, *(["--event", name] if name else [])]
    done = subprocess.run(argv, input=json.dumps(payload).encode(), capture_output=True, env=environment, timeout=60, check=False)
    return done.stdout.decode().strip(), done.returncode


def show_host(host: str, console: Console, environment: dict[str, str]) -> int:
    """Print one agent's table; returns how many answers of the launcher differ from those computed in this process."""
    table = Table(title=host, title_justify="left", title_style="bold", expand=True)
    for heading, ratio in COLUMNS:
        table.add_column(heading, ratio=ratio, overflow="fold")
    policy = load_policy(str(POLICY))
    wrong = 0
    for capture in captures(host):
        stdout, code = told(host, capture, environment)
        output = answer(json.dumps(capture[2]).encode(), lambda: policy, hosts=[host], event_name=capture[1])
        wrong += (output.exit_code, output.stdout) != (code, stdout)
        event = output.event
        if event is None:
            table.add_row(capture[1], "", escape(output.stderr), "", "")
            continue
        about = event.command or ", ".join(event.paths) or event.prompt or capture[0]
        lost = "; ".join(f"{drop.field}: {drop.why}" for drop in output.dropped)
        will = effect(event, output, gates(wire_of(event.host), event))
        table.add_row(event.native_event, escape(about), escape(f"{stdout or '(nothing)'}  [{code}]"), will, escape(lost))
    if table.row_count:
        console.print(table)
    return wrong


def show_install(console: Console, scratch: Path) -> None:
    """Install into a scratch project, show what was written, and uninstall."""
    project, home = scratch / "project", scratch / "home"
    (project / ".claude").mkdir(parents=True)
    home.mkdir()
    (project / ".claude" / "settings.json").write_text('{\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}\n', encoding="utf-8")
    (project / "policy.py").write_text(POLICY.read_text(encoding="utf-8"), encoding="utf-8")
    environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}

    def run(*words: str, quiet: bool = False) -> None:
        console.print(f"[bold]$ onehook {' '.join(words)}[/bold]")
        argv = [sys.executable, "-I", "-m", "onehook", *words]
        done = subprocess.run(argv, cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False)
        text = done.stdout + done.stderr
        console.print(escape("\n".join([*text.splitlines()[:12], "..."]) if quiet else text.strip()), highlight=False)

    def tree() -> None:
        names = sorted(str(path.relative_to(project)) for path in project.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        console.print(f"[dim]files: {', '.join(names)}[/dim]\n", highlight=False)

    console.rule("an install into a scratch project", align="left")
    run("install", "policy.py", "--hosts", "all", "--dry-run", quiet=True)
    run("install", "policy.py", "--hosts", "all", "--yes")
    tree()
    run("uninstall")
    tree()


def main() -> int:
    console = Console(width=None if sys.stdout.isatty() else 150)
    with tempfile.TemporaryDirectory() as folder:
        # A folder for each, because a stop that was refused once is remembered.
        environment = {**os.environ, "ONEHOOK_STATE_DIR": f"{folder}/launcher"}
        os.environ["ONEHOOK_STATE_DIR"] = f"{folder}/here"
        wrong = sum(show_host(host, console, environment) for host in HOSTS)
        console.print(f"policy: {POLICY.relative_to(ROOT)}; payloads: {CAPTURES.relative_to(ROOT)} (recorded from the real agents)\n")
        del os.environ["ONEHOOK_STATE_DIR"]
        show_install(console, Path(folder) / "scratch")
    if wrong:
        console.print(f"[red]{wrong} answers of the launcher differ from those computed in this process[/red]")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
