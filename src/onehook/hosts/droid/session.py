"""Drive a Droid session for a proof: one prompt over the JSON-RPC that editors use, and a compaction if requested.

python session.py AGENT PROMPT AUTONOMY [--compact]. Started as a separate script; Droid's output goes to stdout as it is. Seen working
with 0.225.2.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

MODEL = "custom:mock-0"
STREAMS = ("--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc")
SECONDS_TO_END = 10


class Session:
    def __init__(self, agent: str) -> None:
        argv = [agent, "exec", "-m", MODEL, *STREAMS]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.asked = 0

    def send(self, kind: str, number: object, **body: Any) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": kind, "id": number, **body}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> str:
        self.asked += 1
        self.send("request", str(self.asked), method=method, params=params)
        return str(self.asked)

    def heard(self) -> Iterator[dict[str, Any]]:
        """What Droid prints. Its own questions are answered with no, since nobody is there."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            sys.stdout.write(line)
            message: dict[str, Any] = json.loads(line)
            if message.get("type") == "request":
                self.send("response", message.get("id"), result={"selectedOption": "cancel"})
            yield message

    def result(self, method: str, **params: Any) -> dict[str, Any]:
        number = self.ask(method, **params)
        for message in self.heard():
            if message.get("type") == "response" and message.get("id") == number:
                found: dict[str, Any] = message.get("result") or {}
                return found
        return {}

    def prompt(self, text: str) -> None:
        """Send a prompt and wait until the turn is over. A blocked prompt gives an error and no turn."""
        self.ask("droid.add_user_message", text=text)
        failed = False
        for message in self.heard():
            told = message.get("params", {}).get("notification", {})
            failed = failed or told.get("type") == "error"
            idle = told.get("type") == "droid_working_state_changed" and told.get("newState") == "idle"
            if told.get("type") == "agent_turn_completed" or (failed and idle):
                return

    def end(self) -> int:
        self.ask("droid.close_session")
        try:
            self.process.communicate(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
        return self.process.wait()


def main(agent: str, prompt: str, autonomy: str, *more: str) -> int:
    session = Session(agent)
    session.result(
        "droid.initialize_session", machineId="onehook", cwd=os.getcwd(), modelId=MODEL, interactionMode="auto", autonomyLevel=autonomy
    )
    session.prompt(prompt)
    if "--compact" in more:
        # The compacted session is a new session, which starts when it is loaded.
        after = session.result("droid.compact_session").get("newSessionId")
        if after:
            session.result("droid.load_session", sessionId=after)
    return session.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
