"""No module of onehook imports itself through others: not when it is loaded, and not later inside a function."""

from __future__ import annotations

import ast

from tests.test_layers import SOURCES, TREES, imports_of, statements


def at_run_time(node):
    """A module and all statements in it, except what only type checkers read."""
    return statements(node, lambda node: node.orelse if is_for_checkers(node) else [node])


def is_for_checkers(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def graph():
    """Each onehook module with the onehook modules that it imports by name. That a package is loaded before its modules is not counted."""
    named = {name: set(imports_of(name, at_run_time(TREES[name]))) for name in SOURCES}
    return {name: sorted((targets & set(SOURCES)) - {name}) for name, targets in named.items()}


def cycles(edges):
    """For each module that is on a cycle, the shortest path from it back to itself; each cycle is listed once."""
    found = {}
    for start in sorted(edges):
        ways = [[start]]
        seen = set()
        while ways:
            way = ways.pop(0)
            if start in edges[way[-1]]:
                found.setdefault(frozenset(way), " -> ".join([*way, start]))
                break
            for target in edges[way[-1]]:
                if target not in seen:
                    seen.add(target)
                    ways.append([*way, target])
    return sorted(found.values())


def test_there_is_no_cycle():
    found = cycles(graph())
    assert not found, "\n".join(found)


def test_a_cycle_would_be_found_and_named():
    edges = {"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": [], "e": ["d"]}
    assert cycles(edges) == ["a -> b -> c -> a"]


def test_an_import_inside_a_function_counts_and_one_for_type_checkers_does_not():
    source = "if TYPE_CHECKING:\n    import onehook.core\nelse:\n    import onehook.codec\ndef f():\n    from onehook import runner"
    assert set(imports_of("onehook", at_run_time(ast.parse(source)))) == {"onehook.codec", "onehook.runner"}
