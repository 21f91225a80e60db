"""What the tests of all generated plugins share: variants of a plugin in a folder, run by node against a fake agent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onehook.setup import resident
from onehook.setup.command import LAUNCHER

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

# What a launcher may do wrong, as a command.
_BARE = (sys.executable, "-I", "-S", "-c")
FAULTS = {
    "missing": ("/no/such/python",),
    "crash": (*_BARE, "import sys; sys.exit(3)"),
    "signal": (*_BARE, "import os; os.kill(os.getpid(), 9)"),
    "slow": (
        *_BARE,
        "import os, time; open(os.environ['ONEHOOK_TEST_PLUGINS'] + '/pid', 'w').write(str(os.getpid())); time.sleep(60)",
    ),
    "garbage": (*_BARE, "print('hello')"),
    "null": (*_BARE, "print('null')"),
    "list": (*_BARE, "print('[]')"),
    "unknown": (*_BARE, "import json; print(json.dumps({'decision': 'block'}))"),
}


def launcher(host: str, folder: Path, *more: str) -> tuple[str, ...]:
    """The command for the policy in a host's test folder."""
    return (sys.executable, "-I", "-S", str(LAUNCHER), str(folder / "policy.py"), "--host", host, "--event", "PreToolUse", *more)


def run_in_node(script: Path, variants: Path, **variables: str) -> None:
    """Run the tests of a plugin, which find its variants in a folder; all must pass, and there must be at least one."""
    assert NODE
    environment = {**os.environ, "ONEHOOK_TEST_PLUGINS": str(variants), "ONEHOOK_STATE_DIR": str(variants / "state"), **variables}
    command = [NODE, "--test-reporter=tap", str(script)]  # with --test, node would start another process for the file
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "# fail 0" in done.stdout
    assert "# pass 0" not in done.stdout


def answered_by_servers() -> int:
    """How many events servers have answered; stops the servers."""
    servers = resident.servers()
    for server in servers:
        resident.stop(server)
    assert resident.gone(60)
    return sum(server.events for server in servers)
