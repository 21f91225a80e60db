"""What the decision log costs an event: the same hook with the log on and off, in turn.

    python bench/log.py [ROUNDS [PART OF A NAME]]

Prints the median of the differences between neighbours, which a busy machine hits alike, and of the minima.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from startup import CONTENDERS, PRE_TOOL_USE, Contender, measure, where_and_when

LAUNCH = str(Path(__file__).resolve().parent.parent / "src" / "onehook" / "launch.py")
RULES = 'packs = ["recommended"]\n'


def command(text: str) -> dict[str, object]:
    return {**PRE_TOOL_USE, "tool_input": {"command": text}}


def pairs(folder: Path) -> dict[str, tuple[Contender, Contender]]:
    rules = folder / "onehook.toml"
    rules.write_text(RULES, encoding="utf-8")
    python = str(CONTENDERS / "policy.py")
    cases = {
        "Python, a deny": (python, "rm -rf /tmp/foo"),
        "Python, nobody has a say": (python, "ls"),
        "Python, a deny, perhaps with a credential": (python, "rm -rf /tmp/foo --password=x"),
        "rules, a deny": (str(rules), "git push --force"),
        "rules, nobody has a say": (str(rules), "ls"),
    }
    words = [sys.executable, "-I", "-S", LAUNCH]
    return {
        name: (
            Contender("off", [*words, policy, "--host", "claude", "--log", "off"], command(text)),
            Contender("on", [*words, policy, "--host", "claude", "--log", "on"], command(text)),
        )
        for name, (policy, text) in cases.items()
    }


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ONEHOOK_STATE_DIR"] = folder
        found = pairs(Path(folder))
        if len(sys.argv) > 2:
            found = {name: pair for name, pair in found.items() if sys.argv[2] in name}
        measure([one for pair in found.values() for one in pair], rounds)
        print(where_and_when(rounds))
        print(f"{'':<44}{'median':>9}{'of minima':>11}{'processor':>11}   (ms, log on - log off)")
        for name, (off, on) in found.items():
            median = statistics.median(b - a for a, b in zip(off.times, on.times, strict=True))
            processor = statistics.median(b - a for a, b in zip(off.processor, on.processor, strict=True))
            print(f"{name:<44}{median:>+9.2f}{min(on.times) - min(off.times):>+11.2f}{processor:>+11.2f}")


if __name__ == "__main__":
    main()
