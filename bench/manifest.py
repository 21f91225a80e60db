"""What a manifest costs: a whole event through one program, compared with a cold event of a Python policy and with the program alone.

    python bench/manifest.py --rounds 60

The last line compares it with the sum of a cold event and the program's own start. All run in turn in every round.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from startup import BARE, CONTENDERS, Contender, compare

PROGRAM = """#!/bin/sh
input=$(cat)
case $input in
*'rm -rf'*) echo '{"decision": "deny", "reason": "rm -rf is blocked by policy"}'; exit 2 ;;
esac
"""
MANIFEST = '[[hook]]\nevents = ["PreToolUse"]\ntools = ["Bash"]\nrun = ["./guard.sh"]\nspeaks = "contract"\n'


def contenders(folder: Path) -> list[Contender]:
    import onehook

    (folder / "guard.sh").write_text(PROGRAM, encoding="utf-8")
    (folder / "guard.sh").chmod(0o755)
    (folder / "onehook.toml").write_text(MANIFEST, encoding="utf-8")
    launch = [sys.executable, "-I", "-S", str(Path(onehook.__file__).parent / "launch.py")]
    return [
        Contender(BARE, [sys.executable, "-I", "-c", "pass"], None),
        Contender("onehook, a policy in Python", [*launch, str(CONTENDERS / "policy.py"), "--host", "claude"]),
        Contender("the program alone", [str(folder / "guard.sh")]),
        Contender("onehook, a manifest with the program", [*launch, str(folder / "onehook.toml"), "--host", "claude"]),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = contenders(Path(folder))
        if not compare(found, options.rounds, options.markdown):
            return 1
    _, policy, program, manifest = (statistics.median(contender.times) for contender in found)
    least = [min(contender.times) for contender in found]
    print(f"\nmanifest / (policy + program): median {manifest / (policy + program):.2f}, min {least[3] / (least[1] + least[2]):.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
