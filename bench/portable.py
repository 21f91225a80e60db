"""What the form of the runtime that `install --portable` adds to a repository costs, compared with two others.

    python bench/portable.py --rounds 100 [--markdown]

The same modules as a folder of Python files, as an archive that the launcher reads (which install writes), and as a zip file of
bytecode that Python runs directly. All run in turn; see startup.py.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import zipfile
from pathlib import Path

from startup import BARE, CONTENDERS, Contender, compare

from onehook.cache import PACKAGE
from onehook.setup.runtime import ARCHIVE, LAUNCH, closure, runtime_files

POLICY = CONTENDERS / "policy.py"


def started(name: str, launcher: Path) -> Contender:
    words = ("python3", "-I", "-S", str(launcher), str(POLICY), "--host", "claude", "--event", "PreToolUse", "--timeout", "20")
    return Contender(name, ["/bin/sh", "-c", shlex.join((sys.executable, *words[1:]))])


def contenders(scratch: Path) -> list[Contender]:
    folder, archive, zipped = scratch / "folder" / "onehook", scratch / ".onehook", scratch / "onehook.pyz"
    archive.mkdir()
    for name, content in runtime_files().items():
        (archive / name).write_bytes(content)
    for path in closure():
        copy = folder / path.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    with zipfile.PyZipFile(str(zipped), "w") as made:
        made.writestr("__main__.py", "import sys\nfrom onehook.runner import main\nmain(sys.argv[1:])\n")
        made.writepy(str(folder))
    return [
        Contender(BARE, [sys.executable, "-I", "-c", "pass"], None),
        started("a folder of Python files", folder / "launch.py"),
        started(f"{LAUNCH} and {ARCHIVE}, as install writes them", archive / LAUNCH),
        started("a zip file that Python runs, compiled for this Python", zipped),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return not compare(contenders(Path(folder).resolve()), options.rounds, options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
