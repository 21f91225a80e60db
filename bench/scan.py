"""What a content scanner costs per event: a new hook process each time, and a scanner on loopback that answers after 20 ms.

    python bench/scan.py [ROUNDS]

Prints the median time, and the median processor time, of an event with a rules file and no scanner, with a scan, with a verdict from the
cache, and with an open circuit breaker; and compares the first event that meets a scanner that never answers with the next one.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import onehook

LAUNCH = Path(onehook.__file__).parent / "launch.py"
ANSWER = json.dumps({"flagged": False, "payload": [], "breakdown": [], "metadata": {"request_uuid": "1"}}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(60 if self.path.startswith("/dead") else 0.02)
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_: object) -> None:
        pass


def rules(folder: Path, name: str, more: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f'packs = ["recommended"]\n{more}', encoding="utf-8")
    return path


def event(policy: Path, command: str, state: str) -> tuple[float, float]:
    """Milliseconds, and milliseconds of processor time, which hardly depend on other load on the machine."""
    payload = {
        "session_id": "s", "transcript_path": "", "cwd": "/", "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t",
    }  # fmt: skip
    begun, before = time.perf_counter(), _processor()
    words = [sys.executable, "-I", "-S", str(LAUNCH), str(policy), "--host", "claude"]
    env = {**os.environ, "ONEHOOK_STATE_DIR": state, "LAKERA_GUARD_API_KEY": "k"}
    subprocess.run(words, input=json.dumps(payload).encode(), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return (time.perf_counter() - begun) * 1000, _processor() - before


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    scanner = f'[policies.scanner]\nbackend = "lakera"\nurl = "{url}/%s"\nseconds = 3\nfailures = 1\npause = 600\n'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, asked, dead = rules(folder, "plain", ""), rules(folder, "asked", scanner % "v"), rules(folder, "dead", scanner % "dead")
        for policy in (plain, asked):
            event(policy, "ls", name)
        first, _ = event(dead, "ls", name)
        taken: dict[str, list[tuple[float, float]]] = {"no scanner": [], "scan, 20 ms": [], "from the cache": [], "open breaker": []}
        for number in range(rounds):  # interleaved, so that a busy moment affects all
            taken["no scanner"].append(event(plain, f"ls {number}", name))
            taken["scan, 20 ms"].append(event(asked, f"ls {number}", name))
            taken["from the cache"].append(event(asked, f"ls {number}", name))
            taken["open breaker"].append(event(dead, f"ls {number}", name))
    medians = {name: [statistics.median(column) for column in zip(*times)] for name, times in taken.items()}
    for name, (wall, processor) in medians.items():
        print(f"{name:16} {wall:8.1f} ms, {processor:6.1f} ms of processor time")
    second = medians["open breaker"][0]
    print(f"a scanner that never answers: the first event {first:.0f} ms, the next {second:.0f} ms: {first / second:.0f} times faster")


if __name__ == "__main__":
    main()
