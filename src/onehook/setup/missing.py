"""What an installed policy needs that may be missing: packages that it imports, and paths on this machine in a file that others get."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from onehook.core import UsageError
from onehook.hostkit.config import Diagnosis, Found, Machine
from onehook.hostkit.trust import root_of
from onehook.policy import is_manifest
from onehook.setup.command import PORTABLE_FOLDER, Written, read
from onehook.setup.installed import ConfigFile
from onehook.setup.sharing import ignored, shared, tracked

_FIND = """
import importlib.util, sys
for name in sys.argv[1:]:
    if importlib.util.find_spec(name) is None:
        print(name)
"""


def committed(file: ConfigFile, written: Written, machine: Machine) -> Iterator[Diagnosis]:
    """What does not work in a clone: paths of this machine in a file that git does not ignore, or a portable policy that it ignores."""
    project = machine.project
    if file.place.scope not in ("project", "local") or not root_of(project):
        return
    again = f"onehook install {shlex.quote(str(written.policy_path(project)))} --hosts {file.host}"
    if written.portable:
        folder = project / PORTABLE_FOLDER
        for path in ignored([written.policy_path(project), folder / "launch", file.place.path], project):
            yield Diagnosis("warn", f"git ignores {path}, so a clone does not have it", f"git add -f {shlex.quote(str(path))}")
        if tracked(folder / "__pycache__", project):
            text = f"git tracks {folder / '__pycache__'}: a clone runs the compiled code there, which doctor cannot check"
            yield Diagnosis("fail", text, f"git rm -r {shlex.quote(str(folder / '__pycache__'))}")
        return
    paths = [path for path in (written.interpreter, written.policy) if os.path.isabs(path)]
    if paths and shared([file.place.path], project):
        does = "tracks" if tracked(file.place.path, project) else "does not ignore"
        text = f"git {does} this file, and it names {paths[0]}, which is on this machine only: a clone cannot run the hooks"
        yield Diagnosis("warn", text, f"{again} --for me, or --for team")


def missing_imports(policy: Path, found: Found, machine: Machine) -> Iterator[Diagnosis]:
    """Modules that the policy imports, possibly inside a handler, and that its interpreter does not have."""
    written = read(found.command)
    python = machine.which(written.interpreter) if written else None
    if written is None or python is None or is_manifest(str(policy)):
        return
    lines = _third_party(policy)
    lacking = missing_in(python, lines)
    for name, line in lines.items():
        where = f"line {line} of {policy} imports {name}"
        if name in lacking:
            fix = f"{python} -m pip install {name}, or declare it in the policy (docs/install.md) and install again"
            yield Diagnosis("fail", f"{where}, which {python} does not have", fix)
        elif written.portable:
            text = f"{where}, which is not part of Python: in a clone without it, the policy fails"
            yield Diagnosis("warn", text, "import only the standard library in a policy that is installed with --portable")


def missing_in(python: str, names: Iterable[str]) -> list[str]:
    """Those of the named modules that an interpreter does not have."""
    argv = [python, "-I", "-c", _FIND, *names]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split() if len(argv) > 4 else []


def check_imports(python: str, policy: Path) -> None:
    """For install: check that the chosen interpreter has what the policy imports, including inside handlers."""
    lacking = missing_in(python, _third_party(policy)) if not is_manifest(str(policy)) else []
    if lacking:
        declare = "declare it in the policy (# /// script, dependencies = [...])"
        raise UsageError(f"{policy} imports {', '.join(lacking)}, which {python} does not have; install it there, or {declare}")


def _third_party(policy: Path) -> dict[str, int]:
    """Top-level modules that are neither Python's, nor onehook, nor next to the policy -> the line of the import.

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
