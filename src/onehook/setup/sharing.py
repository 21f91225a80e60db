"""Who gets what install writes into a git repository: a file that git ignores is only for you, any other for everyone who clones it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from onehook.hostkit.trust import root_of
from onehook.setup.files import FileEdit

if TYPE_CHECKING:
    from onehook.setup.plan import Plan

_MARK = "# onehook install --for me"  # precedes each of onehook's lines in .git/info/exclude


def _git(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str] | None:
    """None if git is not installed, or does not answer."""
    # A repository may come from anywhere, and fsmonitor is a program that its config names.
    argv = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *words]
    # In a hook of git, variables name another repository.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            argv, input=given, capture_output=True, encoding="utf-8", errors="surrogateescape", timeout=10, check=False, env=env
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def ignored(paths: Iterable[Path], project: Path) -> set[Path]:
    """Those that git ignores and does not already track."""
    names = {str(path): path for path in paths}
    done = _git(project, "check-ignore", "-z", "--stdin", given="\0".join(names)) if names else None
    return {names[name] for name in done.stdout.split("\0") if name in names} if done else set()


def tracked(path: Path, project: Path) -> bool:
    done = _git(project, "ls-files", "--error-unmatch", "--", str(path))
    return done is not None and done.returncode == 0


def shared(paths: Iterable[Path], project: Path) -> list[Path]:
    """Those that others get, or would get with the next commit."""
    wanted = [path for path in paths if path.is_relative_to(project)]
    kept_out = ignored(wanted, project) if root_of(project) else set(wanted)
    return [path for path in wanted if path not in kept_out]


# ---- .git/info/exclude


def _exclude_file(project: Path) -> Path | None:
    done = _git(project, "rev-parse", "--git-path", "info/exclude")
    return project / done.stdout.rstrip("\n") if done and done.returncode == 0 else None


def _line(path: Path, project: Path) -> str:
    """How a path is excluded. Git treats some characters as a pattern."""
    root = root_of(project) or project
    name = path.relative_to(root).as_posix()
    return "/" + "".join(f"\\{char}" if char in "\\*?[ " else char for char in name)


def _found(lines: list[str], path: Path, project: Path) -> int | None:
    if f"{_MARK}\n" not in lines:
        return None
    pair = [f"{_MARK}\n", f"{_line(path, project)}\n"]
    return next((at for at in range(len(lines)) if lines[at : at + 2] == pair), None)


def plan_exclude(plan: Plan, add: Iterable[Path], remove: Iterable[Path], project: Path) -> set[Path]:
    """Plan to hide files from git, or to show those again that onehook has hidden; these are returned."""
    again: set[Path] = set()
    file = _exclude_file(project) if root_of(project) else None
    before = file.read_bytes() if file and file.is_file() else None
    lines = (before or b"").decode("utf-8", "surrogateescape").splitlines(keepends=True)
    for path in remove:
        at = _found(lines, path, project)
        if at is not None:
            del lines[at : at + 2]
            again.add(path)
    for path in add:
        if file is None:
            plan.notes.append(f"git does not ignore {path}: add it to .git/info/exclude, so that it is not committed")
        elif _found(lines, path, project) is None:  # git does not answer for what is behind a link
            lines = [*lines[:-1], lines[-1].rstrip("\n") + "\n"] if lines else []
            lines += [f"{_MARK}\n", f"{_line(path, project)}\n"]
    after = "".join(lines).encode("utf-8", "surrogateescape") or None
    if file is not None:
        plan.add(FileEdit(file, before, after, kind="exclude"), file.parent)
    return again
