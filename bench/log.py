"""What the decision log costs per event: the same hook with the log on and off, in turn.

    python bench/log.py [ROUNDS [PART OF A NAME]]

Prints the median of the differences between neighbours, which a busy machine affects equally, and the difference of the minima.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from startup import CONTENDERS, PRE_TOOL_USE, Contender, measure, where_and_when

from onehook.setup.command import client
from onehook.setup.resident import servers, stop

LAUNCH = str(Path(__file__).resolve().parent.parent / "src" / "onehook" / "launch.py")
RULES = 'packs = ["recommended"]\n'


def command(text: str) -> dict[str, object]:
    return {**PRE_TOOL_USE, "tool_input": {"command": text}}


def pairs(folder: Path) -> dict[str, tuple[Contender, Contender]]:
    # Each has its own resident process, which prepares its rules for the options of the last event.
    for state in ("on", "off"):
        (folder / state).mkdir()
        (folder / state / "onehook.toml").write_text(RULES, encoding="utf-8")
        shutil.copy(CONTENDERS / "policy.py", folder / state)
    cases = {
        "Python, a deny": ("policy.py", "rm -rf /tmp/foo"),
        "Python, nothing answered": ("policy.py", "ls"),
        "Python, a deny, perhaps with a credential": ("policy.py", "rm -rf /tmp/foo --password=x"),
        "rules, a warning": ("onehook.toml", "git reset --hard"),
        "rules, nothing answered": ("onehook.toml", "ls"),
        "rules, a warning, perhaps with a credential": ("onehook.toml", "git reset --hard --password=x"),
    }
    cold = [sys.executable, "-I", "-S", LAUNCH]
    ways = {"": cold, "resident: ": [*client(), *cold]}
    return {
        f"{way}{name}": (
            Contender("off", [*words, f"{folder}/off/{policy}", "--host", "claude", "--log", "off"], command(text)),
            Contender("on", [*words, f"{folder}/on/{policy}", "--host", "claude", "--log", "on"], command(text)),
        )
        for way, words in ways.items()
        for name, (policy, text) in cases.items()
    }


def started(found: dict[str, tuple[Contender, Contender]]) -> None:
    """Start the resident processes and let them learn: measure() would wait for any that it starts itself."""
    resident = [one for name, pair in found.items() for one in pair if name.startswith("resident")]
    for _ in range(4 if resident else 0):
        for contender in resident:
            subprocess.run(contender.argv, input=contender.payload, capture_output=True, check=False, timeout=60)
        time.sleep(1.5)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ONEHOOK_STATE_DIR"] = folder
        found = pairs(Path(folder))
        if len(sys.argv) > 2:
            found = {name: pair for name, pair in found.items() if sys.argv[2] in name}
        try:
            started(found)
            for resident in (False, True):
                # Between events in resident mode, the processes for the next one are forked.
                some = [one for name, pair in found.items() if name.startswith("resident") is resident for one in pair]
                measure(some, rounds, pause=0.03 if resident else 0)
        finally:
            for server in servers():
                stop(server)
        print(where_and_when(rounds))
        print(f"{'':<54}{'median':>9}{'of minima':>11}{'processor':>11}   (ms, log on - log off)")
        for name, (off, on) in found.items():
            median = statistics.median(b - a for a, b in zip(off.times, on.times, strict=True))
            processor = statistics.median(b - a for a, b in zip(off.processor, on.processor, strict=True))
            print(f"{name:<54}{median:>+9.2f}{min(on.times) - min(off.times):>+11.2f}{processor:>+11.2f}")


if __name__ == "__main__":
    main()
