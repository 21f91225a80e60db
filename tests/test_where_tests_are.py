"""The tests of a module are where its name says, and what a shared test knows about a host is in that host's folder.

The tests of a package's modules are in the folder of the same name: in test_<module>*.py, or in a file named after what several modules do
together. A file named after a module in another package would be misleading.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from harness import PACKAGE

from onehook.hosts import GUESTS, HOSTS

TESTS = Path(__file__).parent
# Folders that test something as a whole: processes, other people's hooks, real agents; and folders of data.
ACROSS = {"process", "guests", "live", "data", "typing"}
ELSEWHERE = {"page": "desk"}  # packages whose tests are with those of what they show
# The top-level modules without a test file named after them, and the tests that cover them.
AT_THE_TOP = {
    "isolate": "process/test_output.py",
    "launch": "process/test_start.py",
    "lock": "test_state.py",
    "pins": "setup/test_pinning.py",
    "places": "rules/test_trust.py",
    "policy": "process/test_imports.py",
    "runner": "process/test_stdin.py",
    "screens": "test_masks.py",
    "stdlib39": "process/test_imports.py",
    "sweep": "test_state.py",
    "system": "test_hot_path.py",
    "threads": "process/test_fail.py",
    "version": "setup/test_runtime.py",
    "words": "process/test_output.py",
}
# Files that share a name with a module elsewhere, and what they are about.
OTHER_MEANINGS = {
    "desk/test_server.py": "the page of the desk",
    "fleet/test_replay.py": "replay from a table and on a cluster",
    "manifest/test_sources.py": "why a session starts",
    "resident/test_load.py": "many events at once",
    "resident/test_plugin.py": "plugins that ask the warm process",
    "rules/test_cache.py": "the compiled rules",
    "scan/test_cli.py": "the verbs of the scanner",
    "scan/test_policy.py": "the policy of the scanner",
}


def folder_of(path):
    """The package of a module, as a path below onehook; for a package itself, its parent package."""
    inside = path.relative_to(PACKAGE)
    return (inside.parent.parent if inside.name == "__init__.py" else inside.parent).as_posix()


def name_of(path):
    return (path.parent.name if path.name == "__init__.py" else path.stem).rstrip("_")


SHARED = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py" and not path.is_relative_to(PACKAGE / "hosts")]
TEST_FILES = [path for path in TESTS.rglob("test_*.py") if not path.is_relative_to(TESTS / "hosts")]


def test_a_package_has_a_folder_of_tests_and_a_folder_of_tests_a_package():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/*.py")}
    assert {ELSEWHERE.get(name, name) for name in packages} == folders - ACROSS


def test_a_module_at_the_top_has_a_file_of_its_own_or_is_in_the_table():
    top = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    without = {name for name in top if not (TESTS / f"test_{name}.py").exists()}
    assert without == set(AT_THE_TOP)
    assert all((TESTS / file).exists() for file in AT_THE_TOP.values())


def test_a_file_has_the_name_of_no_module_of_another_package():
    places = {}
    for path in SHARED:
        places.setdefault(name_of(path), set()).update({folder_of(path), *([path.parent.name] if path.name == "__init__.py" else [])})
    misleading = set()
    for path in TEST_FILES:
        folder, name = path.parent.relative_to(TESTS).as_posix(), path.stem.removeprefix("test_")
        own = any(place == folder or place.startswith(f"{folder}/") for place in places.get(name, {folder}))
        if not own and folder.partition("/")[0] not in ACROSS:
            misleading.add(path.relative_to(TESTS).as_posix())
    assert misleading == set(OTHER_MEANINGS)


# ---- hosts

EXAMPLES = 3  # this many may be named together as examples of differences; what holds for more is derived from the hosts' own tables
# The shared files with longer lists, tables by host, or code for one host, and why.
KNOWING = {
    "guests/corpus.py": "the hooks of other people, each of which is written for one agent",
    "live/test_scanner.py": "four real agents as examples, since each costs seconds",
    "manifest/kit.py": "guards that are programs, in the words of three dialects as examples",
    "manifest/test_as_natively.py": "two answers, each in words that the other agent does not know",
    "prove/test_drift.py": "made-up records of two agents",
    "testing/test_fired.py": "examples of what agents can and cannot do, for messages that name them",
}


def is_host(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in (*HOSTS, *GUESTS)


def hosts_in(node):
    """The hosts in a list, a set or a table: as its elements or keys, or at the start of its rows."""
    given = node.keys if isinstance(node, ast.Dict) else node.elts
    rows = [row.elts[0] if isinstance(row, (ast.Tuple, ast.List)) and row.elts else row for row in given]
    rows += [row.args[0] for row in given if isinstance(row, ast.Call) and row.args]  # pytest.param(host, ...)
    return {row.value for row in rows if is_host(row)}


def expectations(tree):
    """What an assert compares, or each of several comparisons joined by `and`: the outcome of an example may name a host."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            joined = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
            yield from node.test.values if joined else [node.test]


def names_a_host(node):
    """A comparison with a host's name, or with a list of them; a case of a match statement."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        if isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            sides += [element for side in sides if isinstance(side, (ast.Tuple, ast.List)) for element in side.elts]
            return any(map(is_host, sides))
        return any(isinstance(side, (ast.Tuple, ast.List, ast.Set)) and hosts_in(side) for side in sides)
    return isinstance(node, ast.MatchValue) and is_host(node.value)


def knowledge_of_hosts(source):
    """The lines with lists of hosts, tables by host, and code for one host."""
    tree = ast.parse(source)
    expected = {id(node) for node in expectations(tree)}
    outcomes = {id(side) for node in ast.walk(tree) if id(node) in expected and isinstance(node, ast.Compare) for side in node.comparators}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            known = len(hosts_in(node)) > (EXAMPLES if id(node) in outcomes else 1)
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            known = len(hosts_in(node)) > EXAMPLES
        else:
            known = id(node) not in expected and names_a_host(node)
        if known:
            found.append(node.lineno)
    return found


def test_what_a_shared_test_knows_of_a_host_is_in_the_hosts_folder():
    shared = [path for path in TESTS.rglob("*.py") if len(path.relative_to(TESTS).parts) < 3 or path.relative_to(TESTS).parts[0] != "hosts"]
    found = {path.relative_to(TESTS).as_posix(): knowledge_of_hosts(path.read_text(encoding="utf-8")) for path in shared}
    assert {path for path, lines in found.items() if lines} == set(KNOWING), {path: lines for path, lines in found.items() if lines}


def test_a_list_of_hosts_would_be_found():
    names = HOSTS[: EXAMPLES + 1]
    for source in (repr(names), repr(list(names)), repr(set(names)), repr([(name, 1) for name in names])):
        assert knowledge_of_hosts(source)
    assert knowledge_of_hosts("[" + ", ".join(f"pytest.param({name!r}, 1)" for name in names) + "]")
    assert not knowledge_of_hosts(repr(names[:EXAMPLES]))


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("x = 1 if host == {!r} else 2", True),
        ("assert y or host == {!r}", True),
        ("if host != {!r}: ...", True),
        ("x = [h for h in hosts if h in ({!r}, 'onehook')]", True),
        ("if (host, event) == ({!r}, 'Stop'): ...", True),
        ("match host:\n    case {!r}: ...", True),
        ("x = {{{!r}: 1, 'claude': 2}}[host]", True),
        ("x = {{{!r}: 1}}", False),
        ("assert found == {!r} and more", False),
        ("assert found == {{{!r}: 1, 'claude': 2}}", False),
        ("place.install([{!r}])", False),
    ],
)
def test_code_for_one_host_and_tables_would_be_found(source, is_found):
    assert bool(knowledge_of_hosts(source.format(HOSTS[-2]))) is is_found
