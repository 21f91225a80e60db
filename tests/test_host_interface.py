"""Every host is declared: its parts are handed to the checkers, and a member that is missing or mistyped is reported."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields

import pytest
from harness import PACKAGE

from onehook import hosts
from onehook.hostkit import config, live
from onehook.hosts import GUESTS, HOSTS, having, interface, load, optional

PARTS = list(inspect.signature(interface.conforms).parameters)
REQUIRED = [name for name, given in inspect.signature(interface.conforms).parameters.items() if given.default is given.empty]


def modules_of(host):
    return {path.stem for path in (PACKAGE / "hosts" / host).glob("*.py")} - {"__init__"}


def under_type_checking(tree):
    """The statements that only type checkers see."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from (inner for statement in node.body for inner in ast.walk(statement))


@pytest.mark.parametrize("host", HOSTS)
def test_every_part_of_a_host_is_handed_to_the_checkers(host):
    tree = ast.parse((PACKAGE / "hosts" / host / "__init__.py").read_text(encoding="utf-8"))
    (call,) = [node for node in under_type_checking(tree) if isinstance(node, ast.Call)]
    assert call.func.id == "conforms"
    handed = {keyword.arg: keyword.value.id for keyword in call.keywords}
    assert handed == {part: part for part in PARTS if part in modules_of(host)}
    assert set(REQUIRED) <= set(handed)


@pytest.mark.parametrize("name", GUESTS)
def test_every_part_of_a_guest_is_handed_to_the_checkers(name):
    tree = ast.parse((PACKAGE / "hosts" / name / "__init__.py").read_text(encoding="utf-8"))
    (call,) = [node for node in under_type_checking(tree) if isinstance(node, ast.Call)]
    assert call.func.id == "conforms_as_guest"
    assert {keyword.arg for keyword in call.keywords} == modules_of(name) == {"wire", "reverse", "imports"}


def test_every_folder_is_a_host_or_a_guest():
    folders = {path.name for path in (PACKAGE / "hosts").iterdir() if (path / "__init__.py").exists()}
    assert folders == {*HOSTS, *GUESTS} and not set(HOSTS) & set(GUESTS)


@pytest.mark.parametrize("host", HOSTS)
def test_a_module_that_is_not_a_part_belongs_to_one(host):
    texts = [(PACKAGE / "hosts" / host / f"{part}.py").read_text(encoding="utf-8") for part in modules_of(host) if part in PARTS]
    imported = {
        name for text in texts for names in re.findall(rf"from onehook\.hosts\.{host} import (.*)", text) for name in names.split(", ")
    }
    assert modules_of(host) - set(PARTS) <= imported


def trees_with(word):
    """The modules of the package in which a word occurs: few, and reading all takes seconds."""
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    return [(path, ast.parse(text)) for path, text in texts.items() if word in text]


def test_the_interface_is_for_type_checkers_only():
    for path, tree in trees_with("onehook.hosts.interface"):
        guarded = set(map(id, under_type_checking(tree)))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "onehook.hosts.interface"]
        assert all(id(node) in guarded for node in imports), path


def members():
    """The names of all members of all parts."""
    protocols = [value for value in vars(interface).values() if getattr(value, "_is_protocol", False)]
    named = {name for protocol in protocols for name in vars(protocol) if not name.startswith("_")}
    return named | {field.name for kit in (config, live) for field in fields(kit.Traits)}


def test_no_member_is_looked_up_by_name():
    known = members()
    for path, tree in [*trees_with("getattr"), *trees_with("hasattr")]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
                name = node.args[1]
                assert not (isinstance(name, ast.Constant) and name.value in known), f"{path}:{node.lineno}"


# ---- a part that is missing, and one that is broken


@pytest.fixture
def probe(monkeypatch, tmp_path):
    """A host in a folder of its own, for which a test writes the modules."""
    (tmp_path / "probe").mkdir()
    monkeypatch.setattr(hosts, "HOSTS", (*HOSTS, "probe"))
    monkeypatch.setattr(hosts, "_LOADED", dict(hosts._LOADED))
    monkeypatch.setattr(hosts, "__path__", [*hosts.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    yield tmp_path / "probe"
    for name in [name for name in sys.modules if name.startswith("onehook.hosts.probe")]:
        del sys.modules[name]


def test_a_part_that_is_not_there_is_none(probe):
    (probe / "wire.py").write_text("ID = 'probe'\n")
    assert optional("probe", "own_entries") is None
    assert load("probe").ID == "probe"
    assert "probe" in having("wire") and "probe" not in having("config")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import no_such_module_anywhere\n", ModuleNotFoundError),
        ("from onehook.core import no_such_name\n", ImportError),
        ("from onehook.hosts.probe import other\n", ImportError),
        ("def answers(:\n", SyntaxError),
    ],
)
def test_a_part_that_cannot_be_imported_is_an_error(probe, text, error):
    (probe / "own_entries.py").write_text(text)
    with pytest.raises(error):
        optional("probe", "own_entries")


# ---- the checkers


CHECKERS = {
    "mypy": ["-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir=cache"],
    "pyright": ["-m", "pyright", "--pythonpath", sys.executable],
}


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_reports_a_member_that_is_missing_or_mistyped(checker, tmp_path):
    host = having("live")[0]
    shutil.copytree(PACKAGE, tmp_path / "onehook", ignore=shutil.ignore_patterns("__pycache__"))
    breaks = (
        ("reverse", r"^payload, parts = .*$", "parts = _HOST.parts"),
        ("live", r"^MODES = .*$", "MODES = 3"),
        ("live", r"^subagent = .*$", "subagent = 3"),
    )
    for part, found, broken in breaks:
        path = tmp_path / "onehook" / "hosts" / host / f"{part}.py"
        text, count = re.subn(found, broken, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert count == 1
        path.write_text(text, encoding="utf-8")
    argv = [sys.executable, *CHECKERS[checker], f"onehook/hosts/{host}/__init__.py"]
    done = subprocess.run(argv, cwd=tmp_path, env={**os.environ, "MYPYPATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "Reverse" in done.stdout and "payload" in done.stdout
    assert "Live" in done.stdout and "MODES" in done.stdout and "subagent" in done.stdout
    assert "Wire" not in done.stdout
