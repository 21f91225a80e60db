"""The portable runtime (.onehook/): a copy of the hot path in the repository, for teammates who have python3 but not onehook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onehook.hosts import HOSTS
from onehook.setup.command import PORTABLE_FOLDER
from onehook.setup.files import FileEdit

if TYPE_CHECKING:
    from onehook.setup.plan import Plan

PACKAGE = Path(__file__).resolve().parent.parent
# What the launcher imports on its way to a decision. tests/setup/test_portable.py runs the copy to check that nothing is missing.
MODULES = (
    "__init__.py", "cache.py", "codec.py", "core.py", "isolate.py", "launch.py", "lock.py", "policy.py", "recorder.py", "runner.py",
    "state.py", "stdlib39.py", "stopguard.py", "sweep.py", "system.py", "version.py", "words.py",
    "manifest/__init__.py", "manifest/commands.py", "manifest/dialects.py", "manifest/load.py", "manifest/programs.py",
    "manifest/programs_windows.py", "manifest/toml_reader.py", "hostkit/__init__.py", "hostkit/detect.py", "hostkit/effects.py",
    "hostkit/patch.py", "hostkit/reverse.py", "hostkit/shapes.py", "hostkit/tools.py", "hostkit/unified.py", "hosts/__init__.py",
)  # fmt: skip
README = """This folder was written by `onehook install --portable`. It holds the part of onehook that runs a policy,
so that the hooks of this repository work for everybody who has python3. `onehook status` says when it is
old; `onehook uninstall` removes it.
"""
TEXTS = {"README.md": README.encode(), ".gitignore": b"__pycache__/\n"}


def runtime_files() -> dict[str, bytes]:
    """The files of the runtime: path below .onehook/ -> content."""
    parts = [f"hosts/{host}/{part}" for host in HOSTS for part in ("__init__.py", "wire.py", "reverse.py", "own_entries.py", "confirm.py")]
    names = [*MODULES, *(name for name in parts if (PACKAGE / name).is_file())]
    names += [f"policies/{path.name}" for path in sorted((PACKAGE / "policies").glob("*.py"))]
    files = {f"runtime/onehook/{name}": (PACKAGE / name).read_bytes() for name in names}
    return {**TEXTS, **files}


def plan_runtime(plan: Plan, project: Path) -> None:
    for name, content in runtime_files().items():
        path = project / PORTABLE_FOLDER / name
        before = _read(path)
        if before != content:
            plan.edits.append(FileEdit(path, before, content, kind="runtime"))
            plan.roots[path] = project


def plan_runtime_removal(plan: Plan, project: Path) -> None:
    """Plan to remove what any version of install has written there, and the bytecode beside it."""
    folder = project / PORTABLE_FOLDER
    package = folder / "runtime" / "onehook"
    if not folder.is_dir() or folder.is_symlink():
        return
    written = [path for path in package.rglob("*") if path.suffix in (".py", ".pyc")]
    texts = [folder / name for name, content in TEXTS.items() if package.is_dir() or _read(folder / name) == content]
    for path in sorted([*written, *texts]):
        if path.is_file():
            plan.edits.append(FileEdit(path, path.read_bytes(), None, kind="runtime"))
            plan.roots[path] = project
    plan.own_folders += [folder, folder / "runtime", package, *(path for path in package.rglob("*") if path.is_dir())]


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def installed_version(project: Path) -> str:
    """The version of the runtime in a project; "" if there is none."""
    path = project / PORTABLE_FOLDER / "runtime" / "onehook" / "version.py"
    try:
        return path.read_text(encoding="utf-8").partition('VERSION = "')[2].partition('"')[0]
    except OSError:
        return ""


def edited_files(project: Path) -> list[str]:
    """The files of a project's runtime that differ from this onehook's, in any way that could change what they do."""
    folder = project / PORTABLE_FOLDER
    ours = {name: content for name, content in runtime_files().items() if name.startswith("runtime/")}
    there = {path.relative_to(folder).as_posix(): path for path in (folder / "runtime").rglob("*") if not path.is_dir()}
    added = [name for name, path in there.items() if name not in ours and not _is_checked_bytecode(path)]
    return sorted([*added, *(name for name, content in ours.items() if _read(folder / name) != content)])


def _is_checked_bytecode(path: Path) -> bool:
    """Whether this file is compared with its source before it runs: onehook's cache, or Python's if the flags in its header are 0."""
    if path.suffix != ".pyc" or path.parent.name != "__pycache__":
        return False
    return path.name.startswith(("modules-", "policy-")) or path.read_bytes()[4:8] == bytes(4)
