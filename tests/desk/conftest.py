"""Hooks that wait for a person, and a person with a PIN."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
import warm
from harness import ANY, PATIENCE, Result, clean_environment, launcher, policy_text, tool_payload, traced_launcher

from onehook.desk import answers, pin
from tests.desk.person import CHEAP, PIN

ASKS = 'return ask("is this right?") if event.command else None'


class Hook:
    """A hook's process, started as an agent starts it, and not waited for: a fork of the warm process unless it is `traced` or needs
    another interpreter."""

    def __init__(self, policy, payload, *arguments, python="", traced=False):
        self.process: subprocess.Popen[bytes] | warm.Started
        data = json.dumps(payload).encode()
        if python or traced or not warm.POSSIBLE:
            command = traced_launcher(policy, *arguments) if traced else launcher(policy, *arguments, python=python or sys.executable)
            self.process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, env=clean_environment())
            stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
            with stdin:
                stdin.write(data)
            return
        for _ in range(10):
            self.process = warm.Started(launcher(policy, *arguments), None, clean_environment(), warm.connected())
            self.stdout, self.stderr = (os.fdopen(descriptor, "rb") for descriptor in self.process.pipes[1:])
            if self.process.takes(data):
                return
            self.end()
        raise AssertionError("the warm process takes no event")

    def asked(self) -> answers.Asked:
        """Its request, as soon as it has made one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for asked in answers.listed():
                if asked.state == "waiting":
                    return asked
            assert self.process.poll() is None, self.result()
            time.sleep(0.02)
        raise AssertionError("nothing was asked")

    def result(self) -> Result:
        stdout, stderr = self.stdout.read(), self.stderr.read()  # neither exceeds the buffer of a pipe
        self.progress = [line for line in stdout.splitlines() if line.startswith(b'{"type": "progress"')]
        answer = b"\n".join(line for line in stdout.splitlines() if line not in self.progress)
        return Result(self.process.wait(), answer, stderr)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.stdout.close()
        self.stderr.close()
        if isinstance(self.process, warm.Started):
            self.process.close()


@pytest.fixture
def hook(tmp_path):
    """hook(command, option=...): a hook that holds an ask."""
    asking = tmp_path / "policy.py"
    asking.write_text(policy_text(ASKS, options='ask_via="desk-always"'), encoding="utf-8")
    started = []

    def start(command="git push", *arguments, host=ANY, session="s-1", policy=asking, python="", traced=False):
        payload = tool_payload(host, command)
        payload = {key: session if value == "s-1" else value for key, value in payload.items()}
        started.append(Hook(policy, payload, "--host", host, *arguments, python=python, traced=traced))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def key():
    """The key of a person who has set a PIN."""
    pin.set_pin(PIN, cost=CHEAP)
    return pin.unlock(PIN)
