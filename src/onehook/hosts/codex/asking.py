"""Ask Codex which hooks it trusts: the method hooks/list of `codex app-server` (0.166.0)."""

from __future__ import annotations

import json
import os
import subprocess
from typing import IO, Any

from onehook.hostkit.config import Machine

SECONDS = 20


def trusted(machine: Machine) -> dict[str, bool] | None:
    """Key of a hook -> whether Codex runs it (it skips untrusted and modified ones); None if Codex is not installed or does not answer."""
    hooks = listed(machine)
    try:
        return None if hooks is None else {key: hook["trustStatus"] in ("trusted", "managed") for key, hook in hooks.items()}
    except KeyError:
        return None


def listed(machine: Machine) -> dict[str, dict[str, Any]] | None:
    """Key of a hook -> everything that Codex reports about it."""
    codex = machine.which("codex")
    if codex is None or not machine.folder("CODEX_HOME", ".codex").is_dir():
        return None
    environment = {**machine.variables, "HOME": str(machine.home)}
    try:
        server = subprocess.Popen(
            [codex, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=machine.project,
        )
    except OSError:
        return None
    try:
        return _asked(server, os.path.realpath(machine.project))
    finally:
        server.kill()
        server.communicate()


def _asked(server: subprocess.Popen[bytes], project: str) -> dict[str, dict[str, Any]] | None:
    import threading

    assert server.stdin is not None and server.stdout is not None
    alarm = threading.Timer(SECONDS, server.kill)
    alarm.start()
    try:
        _send(server.stdin, {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "onehook", "version": "1"}}})
        if _answer(server.stdout, 0) is None:
            return None
        _send(server.stdin, {"method": "initialized"})
        _send(server.stdin, {"id": 1, "method": "hooks/list", "params": {"cwds": [project]}})
        return _by_key(_answer(server.stdout, 1))
    except (OSError, ValueError):
        return None
    finally:
        alarm.cancel()


def _send(stream: IO[bytes], message: dict[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _answer(stream: IO[bytes], number: int) -> Any:
    """The result of a request; None if it is refused or Codex ends first."""
    for line in stream:
        message = json.loads(line)
        if isinstance(message, dict) and message.get("id") == number and "method" not in message:
            return message.get("result")
    return None


def _by_key(answer: Any) -> dict[str, dict[str, Any]] | None:
    try:
        return {str(hook["key"]): hook for folder in answer["data"] for hook in folder["hooks"]}
    except (KeyError, TypeError):
        return None
