"""Hooks that wait for a person, and a person with a PIN."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from harness import ANY, PATIENCE, Result, clean_environment, launcher, policy_text, tool_payload, traced_launcher

from onehook.desk import answers, pin
from tests.desk.person import CHEAP, PIN

ASKS = 'return ask("is this right?") if event.command else None'


class Hook:
    """A hook's process, started as an agent starts it, that is not waited for."""

    def __init__(self, policy, payload, *arguments, python=sys.executable, traced=False):
        self.process = subprocess.Popen(
            traced_launcher(policy, *arguments) if traced else launcher(policy, *arguments, python=python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(payload).encode())
        self.process.stdin.close()

    def asked(self) -> answers.Asked:
        """Its request, once it has put one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for asked in answers.listed():
                if asked.state == "waiting":
                    return asked
            assert self.process.poll() is None, self.result()
            time.sleep(0.02)
        raise AssertionError("nothing was asked")

    def result(self) -> Result:
        self.process.stdin = None
        stdout, stderr = self.process.communicate(timeout=PATIENCE)
        self.progress = [line for line in stdout.splitlines() if line.startswith(b'{"type": "progress"')]
        return Result(self.process.returncode, b"\n".join(line for line in stdout.splitlines() if line not in self.progress), stderr)


@pytest.fixture
def hook(tmp_path):
    """hook(command, option=...): a hook that holds an ask."""
    asking = tmp_path / "policy.py"
    asking.write_text(policy_text(ASKS, options='ask_via="desk-always"'), encoding="utf-8")
    started = []

    def start(command="git push", *arguments, host=ANY, session="s-1", policy=asking, python=sys.executable, traced=False):
        payload = tool_payload(host, command)
        payload = {key: session if value == "s-1" else value for key, value in payload.items()}
        started.append(Hook(policy, payload, "--host", host, *arguments, python=python, traced=traced))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
        for stream in (one.process.stdout, one.process.stderr):
            stream.close()


@pytest.fixture
def key():
    """The key of a person who has set a PIN."""
    pin.set_pin(PIN, cost=CHEAP)
    return pin.unlock(PIN)
