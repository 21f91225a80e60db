"""Every host is declared: its parts are passed to the type checkers, and a missing or mistyped member is reported."""

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
from pathlib import Path

import pytest
from harness import PACKAGE

from onehook import hosts
from onehook.hostkit import config, live
from onehook.hosts import GUESTS, HOSTS, having, interface, load, optional

TESTS = Path(__file__).parent
PARTS = list(inspect.signature(interface.conforms).parameters)
REQUIRED = [name for name, given in inspect.signature(interface.conforms).parameters.items() if given.default is given.empty]


def modules_of(host):
    return {path.stem for path in (PACKAGE / "hosts" / host).glob("*.py")} - {"__init__", "conforms"}


def call_in(host):
    """The call in conforms.py."""
    tree = ast.parse((PACKAGE / "hosts" / host / "conforms.py").read_text(encoding="utf-8"))
    (call,) = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    importlib.import_module(f"onehook.hosts.{host}.conforms")
    return call


def under_type_checking(tree):
    """The statements that only type checkers see."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from (inner for statement in node.body for inner in ast.walk(statement))


@pytest.mark.parametrize("host", HOSTS)
def test_every_part_of_a_host_is_handed_to_the_checkers(host):
    call = call_in(host)
    assert call.func.id == "conforms"
    handed = {keyword.arg: keyword.value.id for keyword in call.keywords}
    assert handed == {part: part for part in PARTS if part in modules_of(host)}
    assert set(REQUIRED) <= set(handed)


@pytest.mark.parametrize("name", GUESTS)
def test_every_part_of_a_guest_is_handed_to_the_checkers(name):
    call = call_in(name)
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


def trees_with(*words, folders=(PACKAGE,)):
    """The modules in which one of these words occurs: there are few, and parsing all modules takes seconds."""
    texts = {path: path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")}
    return [(path, ast.parse(text)) for path, text in texts.items() if any(word in text for word in words)]


def test_the_interface_is_for_type_checkers_only():
    for path, tree in trees_with("onehook.hosts.interface"):
        if path.name == "conforms.py":  # nothing imports it: see the next test
            continue
        guarded = set(map(id, under_type_checking(tree)))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "onehook.hosts.interface"]
        assert all(id(node) in guarded for node in imports), path


def test_nothing_imports_the_files_for_the_checkers():
    for path, tree in trees_with("conforms"):
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        modules = {alias.name for node in imports for alias in node.names} | {getattr(node, "module", "") for node in imports}
        own = path.name == "conforms.py"
        assert not [name for name in modules if name and name.rpartition(".")[2].startswith("conforms") and not own], path


def names_in(protocol):
    """The members that a Protocol declares."""
    return {name for name in vars(vars(interface)[protocol]) if not name.startswith("_")}


def members():
    """The names of all members of all parts."""
    protocols = [name for name, value in vars(interface).items() if getattr(value, "_is_protocol", False)]
    return {name for protocol in protocols for name in names_in(protocol)} | {
        field.name for kit in (config, live) for field in fields(kit.Traits)
    }


def looked_up(tree):
    """The names that are looked up as strings: getattr(x, "NAME"), attrgetter("NAME"), "NAME" in dir(x), vars(x)["NAME"], ..."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = {"getattr": node.args[1:2], "hasattr": node.args[1:2], "attrgetter": node.args}.get(called, [])
            given += node.args[:1] if called == "get" and of_a_module(node.func.value) else []
        elif isinstance(node, ast.Compare) and any(map(of_a_module, node.comparators)):
            given = [node.left]
        elif isinstance(node, ast.Subscript) and of_a_module(node.value):
            given = [node.slice]
        else:
            continue
        yield from ((word.value, node.lineno) for word in given if isinstance(word, ast.Constant))


def of_a_module(node):
    """Whether this is the names of an object: dir(x), vars(x), x.__dict__."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("dir", "vars")
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


LOOK_UPS = ("getattr", "hasattr", "attrgetter", "dir(", "vars(", "__dict__")


def test_no_member_is_looked_up_by_name():
    known, modules = members(), trees_with(*LOOK_UPS, folders=(PACKAGE, TESTS))
    assert [(path, line) for path, tree in modules for name, line in looked_up(tree) if name in known] == []


@pytest.mark.parametrize(
    "code",
    [
        "getattr(x, 'losses', None)",
        "hasattr(x, 'losses')",
        "operator.attrgetter('losses')(x)",
        "'losses' in dir(x)",
        "'losses' not in vars(x)",
        "vars(x)['losses']",
        "x.__dict__.get('losses')",
    ],
)
def test_such_a_look_up_would_be_found(code):
    assert [name for name, _ in looked_up(ast.parse(code))] == ["losses"]


def is_protocol(node):
    return isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)


def test_what_the_shared_code_asks_of_a_part_is_declared_there():
    """The shared code is below the hosts and cannot name their Protocols: it declares its own, with the few members that it needs."""
    for path, tree in trees_with("Protocol", folders=(PACKAGE / "hostkit",)):
        for node in ast.walk(tree):
            if is_protocol(node) and "wire" in (ast.get_docstring(node) or ""):
                assert {one.name for one in node.body if isinstance(one, ast.FunctionDef)} <= names_in("Wire"), (path, node.name)


# ---- a part that is missing, and one that is broken


@pytest.fixture
def probe(monkeypatch, tmp_path):
    """A host in a temporary folder, for which a test writes the modules."""
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


CACHE = PACKAGE.parents[1] / ".mypy_cache" / "broken-host"  # next to that of `make types`; a run with a cache takes an eighth of the time
CHECKERS = {
    "mypy": ["-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={CACHE}"],
    "pyright": ["-m", "pyright", "--pythonpath", sys.executable],
}


def broken(source, names, how):
    """A part in which the last member that it defines itself is missing or mistyped; and the name of that member."""
    lines, tree = source.splitlines(), ast.parse(source)
    defined = [(node.name, node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            defined.append((node.targets[0].id, node))
    name, node = max(((name, node) for name, node in defined if name in names), key=lambda found: found[1].lineno)
    lines[node.lineno - 1 : node.end_lineno] = [f"{name} = object()"] if how == "mistyped" else []
    return "\n".join(lines) + "\n", name


def broken_copy(root, host, how):
    """A copy of a host in which each part has a member that is missing or has another type: part -> the member."""
    copy = root / "onehook" / "hosts" / f"{how}_{host}"
    shutil.copytree(PACKAGE / "hosts" / host, copy, ignore=shutil.ignore_patterns("__pycache__"))
    protocols = inspect.get_annotations(interface.conforms_as_guest if host in GUESTS else interface.conforms)
    spoilt = {}
    for path in sorted(copy.glob("*.py")):
        text = path.read_text(encoding="utf-8").replace(f"onehook.hosts.{host}", f"onehook.hosts.{how}_{host}")
        if path.stem in protocols:
            protocol = protocols[path.stem].partition(" ")[0]
            text, spoilt[protocol] = broken(text, names_in(protocol), how)
        path.write_text(text, encoding="utf-8")
    return spoilt


def reported(output, path):
    """What a checker reports about one file: the lines that name it, and the lines below each that name no file."""
    blocks = re.split(r"^(?=\S*[/\\]?onehook[/\\]hosts[/\\])", output, flags=re.MULTILINE)
    return "".join(block for block in blocks if path in block.partition("\n")[0].replace("\\", "/"))


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_reports_a_member_of_any_part_that_is_missing_or_mistyped(checker, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "onehook", ignore=shutil.ignore_patterns("__pycache__"))
    hosts = dict.fromkeys([*(having(part)[0] for part in PARTS), *GUESTS])
    copies = {(how, host): broken_copy(tmp_path, host, how) for how in ("missing", "mistyped") for host in hosts}
    files = [f"onehook/hosts/{how}_{host}/conforms.py" for how, host in copies]
    argv = [sys.executable, *CHECKERS[checker], *files, f"onehook/hosts/{next(iter(hosts))}/conforms.py"]
    done = subprocess.run(argv, cwd=tmp_path, env={**os.environ, "MYPYPATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "Wire" not in reported(done.stdout, f"hosts/{next(iter(hosts))}/conforms.py"), "nothing is wrong with it"
    for (how, host), spoilt in copies.items():
        said = reported(done.stdout, f"hosts/{how}_{host}/conforms.py")
        for protocol, name in spoilt.items():
            named = f'"{name}"' if checker == "pyright" else name
            only = not names_in(protocol) - {name}  # if no member is as it should be, mypy lists none
            assert re.search(rf'"{protocol}( \| None)?"', said) and (only or named in said), (how, host, protocol, name, said)
