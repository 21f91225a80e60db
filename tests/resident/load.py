"""Many clients at once, policies that misbehave, and processes that are killed: python tests/resident/load.py --seconds 60 --clients 64.

Every answer is checked, and at the end that nothing is left: no process, no descriptor, no memory. Only processes that are answering an
event are spared: a hook that is killed while it answers is also lost without resident mode.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from onehook.cache import LAUNCHER
from onehook.setup import resident

POLICIES = {
    "denies": ("return deny(str(len(event.command)))", "deny"),
    "raises": ("raise ValueError('x')", "closed"),
    "prints": ("print('x' * 100_000)\n    return deny(str(len(event.command)))", "deny"),
    "forks": ("os.fork() or (time.sleep(0.2), os._exit(0))\n    return deny(str(len(event.command)))", "deny"),
    "leaks": ("kept.append(bytearray(5 << 20))\n    open('/dev/null')\n    return deny(str(len(event.command)))", "deny"),
    "hangs": ("time.sleep(100)", "closed"),
    "allows": ("return None", "none"),
}
TEXT = """import os, time, json, subprocess
from onehook import Hooks, deny
hooks = Hooks(timeout={timeout})
kept = []

@hooks.on('PreToolUse')
def guard(event):
    {body}
"""


class Load:
    def __init__(self, folder, client, seconds, largest):
        self.folder, self.client, self.largest = Path(folder), client, largest
        self.until = time.monotonic() + seconds
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}, "ONEHOOK_STATE_DIR": str(self.folder / "state")}
        os.environ["ONEHOOK_STATE_DIR"] = self.env["ONEHOOK_STATE_DIR"]
        (self.folder / "state").mkdir()
        for name, (body, _) in POLICIES.items():
            (self.folder / f"{name}.py").write_text(TEXT.format(body=body, timeout=1 if name == "hangs" else 30))
        self.wrong, self.answers, self.late, self.lost_clients, self.killed = [], 0, 0, 0, 0
        self.lock = threading.Lock()

    def command(self, name):
        words = (sys.executable, "-I", "-S", LAUNCHER, str(self.folder / f"{name}.py"), "--host", "claude", "--event", "PreToolUse")
        return [*self.client, *words, "--fail", "closed", "--log", "off"]

    def clients(self, seed):
        chance = random.Random(seed)
        while time.monotonic() < self.until:
            name = chance.choice([*POLICIES, "denies", "allows", "prints"])
            size = int(10 ** chance.uniform(0, self.largest))
            tool = {"tool_name": "Bash", "tool_input": {"command": "x" * size}}
            payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", **tool}
            process = subprocess.Popen(self.command(name), stdin=-1, stdout=-1, stderr=-1, env=self.env)
            if chance.random() < 0.05:
                time.sleep(chance.random() * 0.05)
                process.kill()
                process.communicate()
                self.lost_clients += 1
                continue
            stdout, stderr = process.communicate(json.dumps(payload).encode(), timeout=120)
            self.check(name, size, process.returncode, stdout, stderr)

    def check(self, name, size, code, stdout, stderr):
        expected = POLICIES[name][1]
        decided = json.loads(stdout)["hookSpecificOutput"] if stdout.strip() else {}
        reason = decided.get("permissionDecisionReason", "")
        right = {
            "deny": decided.get("permissionDecision") == "deny" and reason == str(size),
            "closed": decided.get("permissionDecision") == "deny" and "fail=closed" in reason,
            "none": code == 0 and not stdout.strip(),
        }[expected]
        with self.lock:
            self.answers += 1
            late = "fail=closed" in reason and (" longer than " in reason or " within " in reason)
            self.late += late and not right
            if not right and not late:
                self.wrong.append((name, size, code, stdout[-300:], stderr[-300:]))

    def killer(self):
        """Kills warm processes, and lets clients start them again."""
        chance = random.Random(0)
        while time.monotonic() < self.until:
            time.sleep(chance.uniform(0.3, 1.5))
            for server in resident.servers():
                if chance.random() < 0.3:
                    os.kill(server.pid, chance.choice([signal.SIGKILL, signal.SIGTERM]))
                    self.killed += 1
            for path in resident.folder().glob("*.wait"):
                path.unlink(missing_ok=True)

    def run(self, clients):
        threads = [threading.Thread(target=self.clients, args=(seed,)) for seed in range(clients)] + [threading.Thread(target=self.killer)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.servers = resident.servers()
        for server in self.servers:
            resident.stop(server)
        ended = resident.gone(30)
        return {
            "answers": self.answers, "wrong": self.wrong, "blocked_by_the_deadline": self.late,
            "clients_killed": self.lost_clients, "servers_killed": self.killed,
            "answered_by_those_at_the_end": sum(server.events for server in self.servers), "ended": ended, "left": self.left(),
            "memory_at_the_end": [server.memory for server in self.servers],
        }  # fmt: skip

    def left(self):
        """Processes of this state folder that are still running after 15 s; the spares of a killed server check for it every 10 s."""
        mine = f"ONEHOOK_STATE_DIR={self.env['ONEHOOK_STATE_DIR']}".encode()
        until = time.monotonic() + 15
        while True:
            found = []
            for path in Path("/proc").glob("[0-9]*"):
                try:
                    if path.name != str(os.getpid()) and mine in (path / "environ").read_bytes().split(b"\0"):
                        found.append(path.name)
                except OSError:
                    continue
            if not found or time.monotonic() > until:
                return found
            time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--largest", type=float, default=7, help="payloads up to 10 to this power")
    parser.add_argument("--client", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = Load(folder, [options.client], options.seconds, options.largest).run(options.clients)
    print(json.dumps(found, indent=1, default=repr))
    return bool(found["wrong"] or found["left"] or not found["ended"])


if __name__ == "__main__":
    sys.exit(main())
