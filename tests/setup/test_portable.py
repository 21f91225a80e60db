"""The runtime that --portable puts into a repository: all that a decision needs, and nothing else."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from onehook.hosts import HOSTS
from onehook.setup.installed import rows
from onehook.setup.portable import PACKAGE, installed_version, runtime_files
from onehook.version import VERSION
from tests.setup.installing import Place


def imported_at_run_time(path: Path) -> set[str]:
    """The modules of onehook that a file imports, those for type checkers apart."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for branch in node.body
        for inner in ast.walk(branch)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in typing_only and (node.module or "").split(".")[0] == "onehook":
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import) and id(node) not in typing_only:
            names |= {alias.name for alias in node.names if alias.name.split(".")[0] == "onehook"}
    return names


def file_of(module: str) -> Path | None:
    path = PACKAGE.parent.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def reachable() -> set[Path]:
    """Everything that an event may load: from the launcher on, and what is loaded by name, hosts and policies to start from."""
    seen: set[Path] = set()
    by_name = [PACKAGE / "hosts" / host / part for host in HOSTS for part in ("wire.py", "reverse.py", "own_entries.py", "confirm.py")]
    waiting = [PACKAGE / "launch.py", *(path for path in by_name if path.is_file()), *(PACKAGE / "policies").glob("*.py")]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        parents = [folder / "__init__.py" for folder in path.parents if folder == PACKAGE or PACKAGE in folder.parents]
        # Rules files are not portable: install refuses them.
        modules = [module for module in imported_at_run_time(path) if not module.startswith("onehook.rules")]
        waiting += [*parents, *(file for module in modules if (file := file_of(module)))]
    return seen


def test_the_runtime_is_complete_and_minimal() -> None:
    shipped = {PACKAGE / name.removeprefix("runtime/onehook/") for name in runtime_files() if name.startswith("runtime/")}
    assert shipped == reachable()


def test_the_runtime_knows_its_version(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert installed_version(place.project) == ""
    place.install(["claude"], portable=True)
    assert installed_version(place.project) == VERSION


def test_status_says_when_the_runtime_is_old_and_an_install_renews_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude"], portable=True)
    version = place.project / ".onehook" / "runtime" / "onehook" / "version.py"
    version.write_text('VERSION = "0.0.1"\n')
    (row,) = rows(place.machine)
    assert f"is 0.0.1, the installed onehook is {VERSION}" in row.note
    assert place.install(["claude"], portable=True).edits
    (row,) = rows(place.machine)
    assert row.note == "" and row.portable


def test_the_runtime_stays_while_another_host_starts_it_and_then_goes_with_what_python_wrote(tmp_path: Path) -> None:
    place = Place(tmp_path)
    before = place.snapshot()
    place.install(["claude", "codex"], portable=True)
    cache = place.project / ".onehook" / "runtime" / "onehook" / "__pycache__"
    cache.mkdir()
    (cache / "core.cpython-311.pyc").write_bytes(b"x")
    place.uninstall(["claude"])
    assert (place.project / ".onehook" / "runtime" / "onehook" / "launch.py").is_file()
    place.uninstall(["codex"])
    assert place.snapshot() == before


@pytest.mark.parametrize("kept", ["notes.txt", "runtime/mine/README.md"])
def test_what_somebody_else_put_into_the_folder_stays(tmp_path: Path, kept: str) -> None:
    place = Place(tmp_path)
    place.install(["claude"], portable=True)
    mine = place.project / ".onehook" / kept
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    place.uninstall(["claude"])
    left = [path for path in (place.project / ".onehook").rglob("*") if path.is_file()]
    assert left == [mine]


def test_the_files_name_no_machine(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude", "cursor", "codex"], portable=True)
    for path in (".claude/settings.json", ".cursor/hooks.json", ".codex/hooks.json"):
        text = (place.project / path).read_text()
        assert str(tmp_path) not in text and json.loads(text)
