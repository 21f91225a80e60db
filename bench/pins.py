"""What a pin costs per event: the same policies with and without --pin, interleaved, by processor time.

python bench/pins.py [rounds]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from onehook.setup.command import LAUNCHER
from onehook.setup.pinning import listed, pin_of

POLICY = """from onehook import Hooks, deny
hooks = Hooks()

@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    return deny("no") if event.command.startswith("rm") else None
"""
PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm x"}, "session_id": "s", "cwd": "/tmp"}


def contenders(folder: Path) -> dict[str, list[str]]:
    for number in range(4):
        (folder / f"part{number}.py").write_text("# a line of a module\n" * 200, encoding="utf-8")
    files = {
        "one file": ("one.py", POLICY + "# a line of a policy\n" * 100),
        "five files": ("five.py", "import part0, part1, part2, part3\n" + POLICY),
        "rules": ("onehook.toml", 'packs = ["recommended"]\n'),
    }
    found = {"bare interpreter": [sys.executable, "-I", "-c", "pass"]}
    (folder / "pins").mkdir()
    for title, (name, text) in files.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        pin = pin_of(path)
        (folder / "pins" / pin).write_bytes(listed(path))
        found[title] = [sys.executable, "-I", "-S", str(LAUNCHER), str(path), "--host", "claude"]
        found[f"{title}, pinned"] = [*found[title], "--pin", pin]
    return found


def processor_ms(argv: list[str], folder: Path) -> float:
    with open(folder / "payload.json", "rb") as payload:
        child = subprocess.Popen(
            argv,
            stdin=payload,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ONEHOOK_STATE_DIR": str(folder)},
        )
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
    return (used.ru_utime + used.ru_stime) * 1000


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "payload.json").write_text(json.dumps(PAYLOAD), encoding="utf-8")
        runs = contenders(folder)
        times: dict[str, list[float]] = {title: [] for title in runs}
        for number in range(rounds + 3):  # the first fill the caches
            for title, argv in runs.items():
                taken = processor_ms(argv, folder)
                times[title] += [taken] if number > 2 else []
    for title, taken in times.items():
        print(f"{title:20} {statistics.median(taken):6.2f} ms median {min(taken):6.2f} ms least")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
