"""What an installed policy needs that may be missing: packages that it imports, and paths of this machine in a file that others get."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from onehook.hostkit.config import Diagnosis, Found, Machine
from onehook.policy import is_manifest
from onehook.setup.command import Written, read
from onehook.setup.installed import ConfigFile

_FIND = """
import importlib.util, sys
for name in sys.argv[1:]:
    if importlib.util.find_spec(name) is None:
        print(name)
"""


def committed(file: ConfigFile, written: Written, machine: Machine) -> Iterator[Diagnosis]:
    """Paths of this machine in a file that git tracks do not work for anybody else."""
    paths = [path for path in (written.interpreter, written.policy) if os.path.isabs(path)]
    if paths and file.place.scope in ("project", "local") and _is_tracked(file.place.path):
        text = f"git tracks this file, and it names {paths[0]}, which is on this machine only: a clone cannot run the hooks"
        yield Diagnosis("warn", text, "install with --portable, or where git does not look: --scope user")


def _is_tracked(path: Path) -> bool:
    argv = ["git", "-c", "core.fsmonitor=false", "-C", str(path.parent), "ls-files", "--error-unmatch", "--", path.name]
    try:
        return subprocess.run(argv, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def missing_imports(policy: Path, found: Found, machine: Machine) -> Iterator[Diagnosis]:
    """Modules that the policy imports, in a handler perhaps, and that its interpreter does not have."""
    written = read(found.command)
    python = machine.which(written.interpreter) if written else None
    if written is None or python is None or is_manifest(str(policy)):
        return
    lines = _third_party(policy)
    if not lines:
        return
    told = subprocess.run([python, "-I", "-c", _FIND, *lines], capture_output=True, text=True, check=False).stdout.split()
    for name, line in lines.items():
        where = f"line {line} of {policy} imports {name}"
        if name in told:
            yield Diagnosis("fail", f"{where}, which {python} does not have", f"{python} -m pip install {name}")
        elif written.portable:
            text = f"{where}, which is not part of Python: in a clone without it, the policy fails"
            yield Diagnosis("warn", text, "import only the standard library in a policy that is installed with --portable")


def _third_party(policy: Path) -> dict[str, int]:
    """Top-level modules that are neither Python's, nor onehook, nor beside the policy -> the line of the import.

    What is imported inside of `try` is optional.
    """
    try:
        tree = ast.parse(policy.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return {}
    found: dict[str, int] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in (name.partition(".")[0] for name in names):
            beside = (policy.parent / f"{name}.py").exists() or (policy.parent / name).is_dir()
            if name != "onehook" and name not in sys.stdlib_module_names and not beside:
                found.setdefault(name, getattr(node, "lineno", 1))
        skipped = set(node.body) if isinstance(node, ast.Try) else set()
        waiting += [child for child in ast.iter_child_nodes(node) if child not in skipped]
    return found
