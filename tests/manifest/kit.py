"""Shared by the tests of manifests: helpers that write manifests, and every host's own payloads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from onehook.core import Options, PayloadError, Response
from onehook.hostkit.effects import compile_response
from onehook.hosts import HOSTS, wire_of
from tests.host_folders import payloads

PROGRAMS = Path(__file__).parent / "programs"
NATIVE = {  # each guard in the dialect that it was written in
    "contract": ('events = ["PreToolUse"]\ntools = ["Bash"]', '["./contract_guard.sh"]', "rm -rf is blocked by the sh guard"),
    "claude": ('events = ["PreToolUse"]\ntools = ["Bash"]', '["./claude_guard.py"]', "rm -rf is blocked by the Claude hook"),
    "cursor": ('events = ["beforeShellExecution"]', '["node", "./cursor_guard.mjs"]', "rm -rf is blocked by the Cursor hook"),
    "onehook": ('events = ["PreToolUse"]', '["./unified_guard.sh"]', "rm -rf is blocked by the unified guard"),
}


def manifest_of(folder, *hooks, top=""):
    """Write a manifest, with the guards in the same folder; a hook is the text of its table."""
    folder.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS.iterdir():
        shutil.copy(program, folder)
    path = folder / "onehook.toml"
    path.write_text(top + "".join(f"\n[[hook]]\n{hook}\n" for hook in hooks), encoding="utf-8")
    return path


def guard(dialect, more=""):
    events, run, _ = NATIVE[dialect]
    return f'{events}\nrun = {run}\nspeaks = "{dialect}"\n{more}'


def sh(script, speaks="onehook", events='["PreToolUse"]', more=""):
    """A hook that is a single line of shell."""
    return f"events = {events}\nshell = true\nrun = {json.dumps(script)}\nspeaks = {json.dumps(speaks)}\n{more}"


def shell_calls():
    """(host, native event, payload) for every payload before a shell command, on every host."""
    for host in HOSTS:
        for name, payload in payloads(host).items():
            try:
                event = wire_of(host).parse(payload, name)
            except PayloadError:  # here the name is a description
                continue
            if event.event == "PreToolUse" and event.tool == "Bash" and event.command:
                yield host, name, payload


def denied_with(host, event, reason):
    """What the host is sent for a denial: stdout as data, and the exit code."""
    wire = wire_of(host)
    answer, _ = compile_response(wire, event, Response("deny", reason), Options())
    output = wire.render(event, answer, False)
    return (json.loads(output.stdout) if output.stdout else None), output.exit_code
