"""Imports point only downwards, and what belongs to one host stays in its folder."""

from __future__ import annotations

import ast
import functools
import gc
import re
import sys
from pathlib import Path

import pytest
from harness import PACKAGE

from onehook.hosts import GUESTS, HOSTS, wire_of
from tests.naming import named_in, texts_in
from tests.rows import check_each

# From the top down. A module may import from its own layer and from those below it.
LAYERS = (
    ("onehook.__main__", "onehook.launch"),
    ("onehook.docgen",),
    ("onehook.cli",),
    (
        "onehook.prove",
        "onehook.setup",
        "onehook.record",
        "onehook.testing",
        "onehook.lint",
        "onehook.adapters",
        "onehook.report",
        "onehook.page",
    ),
    ("onehook.fleet",),
    ("onehook.runner",),
    ("onehook.desk",),
    ("onehook.recorder", "onehook.logger", "onehook.masks", "onehook.screens", "onehook.log"),
    ("onehook.resident",),
    ("onehook.words", "onehook.isolate", "onehook.threads", "onehook.stopguard", "onehook.pause"),
    ("onehook.policy",),
    ("onehook.pins",),
    ("onehook.rules",),
    ("onehook.packs",),
    ("onehook.manifest",),
    ("onehook.hosts",),
    ("onehook.hostkit",),
    ("onehook.policies",),
    ("onehook.scan",),
    ("onehook.textedit",),
    ("onehook.codec", "onehook.jsonc", "onehook.state", "onehook.sweep", "onehook.lock"),
    ("onehook.core", "onehook.system", "onehook.stdlib39", "onehook.cache", "onehook.places", "onehook.version", "onehook"),
)
MANIFEST = (
    "manifest",
    "manifest.active",
    "manifest.commands",
    "manifest.mentions",
    "manifest.load",
    "manifest.dialects",
    "manifest.programs",
    "manifest.toml_reader",
)
RULES = ("rules", "rules.load", "rules.judge", "rules.match", "policies.quick", "rules.levels", "rules.held", "rules.trust")
DESK = ("desk", "desk.hold", "desk.requests", "desk.statements", "desk.signature", "desk.pin", "desk.peer", "desk.people", "log.wake")
# The path to a decision, apart from the host's own modules.
WAY = ("launch", "runner", "words", "isolate", "threads", "policy", "stopguard", "system", "cache", "codec", "core", "logger")
HOT = (*WAY, "pause", "pins", "places", "state", "sweep", "lock", "__init__", "__main__", "version", *MANIFEST, *RULES, *DESK)


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


class Trees(dict):
    """Syntax trees by module name, parsed on demand: every process that runs tests collects all of them."""

    def __missing__(self, name):
        gc.disable()  # otherwise it scans the existing trees again and again, which takes twice as long as parsing
        try:
            tree = self[name] = ast.parse(SOURCES[name].read_text(encoding="utf-8"))
        finally:
            gc.enable()
        return tree


TREES = Trees()
BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")  # where a statement contains others


def layer_of(name):
    """The number of a module's layer, 0 at the top; by the longest prefix, since onehook itself is at the bottom."""
    matches = [(len(prefix), number) for number, row in enumerate(LAYERS) for prefix in row if f"{name}.".startswith(f"{prefix}.")]
    length, number = max(matches)
    assert length > len("onehook") or name == "onehook", f"{name} is in no layer; name it in LAYERS"
    return number


def statements(tree, below=lambda node: [node]):
    """All statements of a module. Most nodes are in expressions, which contain no imports. `below`: which nodes to look into."""
    left = [tree]
    while left:
        for node in below(left.pop()):
            yield node
            left += [inner for block in BLOCKS for inner in getattr(node, block, ())]


def imports_of(name, nodes=None):
    """What a module imports, anywhere in it and including types: absolute names, down to the module if one is meant."""
    package = name if SOURCES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes or statements(TREES[name]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package.split(".")[: len(package.split(".")) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in SOURCES else base


@functools.cache
def own_imports(name):
    return sorted({target for target in imports_of(name) if target.split(".")[0] == "onehook"})


def test_imports_point_down():
    def check(name):
        upward = [target for target in own_imports(name) if layer_of(target) < layer_of(name)]
        assert not upward, f"{name} imports {upward} from above"

    check_each(check, [name for name in SOURCES if name != "onehook"])


def test_core_imports_nothing():
    at_run_time = [node for node in ast.walk(TREES["onehook.core"]) if isinstance(node, (ast.Import, ast.ImportFrom))]
    named = {alias.name if isinstance(node, ast.Import) else node.module for node in at_run_time for alias in node.names}
    # asyncio and a thread for an async handler, difflib for a misspelled event; the rest is for type checkers.
    assert named == {"__future__", "abc", "collections.abc", "typing", "asyncio", "concurrent.futures", "difflib"}


def test_the_package_itself_loads_only_core_until_it_is_asked_for_more():
    at_once = [node.module for node in TREES["onehook"].body if isinstance(node, ast.ImportFrom)]
    assert at_once == ["onehook.core"]


def on_the_way_to_a_decision():
    """The hosts' modules that an event loads: the wires, and what they import."""
    found = {"onehook.hosts"}
    waiting = [f"onehook.hosts.{host}.wire" for host in (*HOSTS, *GUESTS)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [target for target in own_imports(name) if target.startswith(("onehook.hosts.", "onehook.hostkit."))]
    return sorted(found)


WIRES = on_the_way_to_a_decision()
IN_HOST_FOLDERS = [name for name in SOURCES if name.startswith("onehook.hosts.") and name.split(".")[2] in (*HOSTS, *GUESTS)]


def test_a_host_imports_no_other_host():
    def check(name):
        folder = ".".join(name.split(".")[:3])
        id = folder.rpartition(".")[2]
        own = (folder, f"onehook.hosts.{wire_of(id).TRAITS.built_on if id in HOSTS else ''}")
        others = tuple(f"onehook.hosts.{host}." for host in (*HOSTS, *GUESTS) if f"onehook.hosts.{host}" not in own)
        assert not [target for target in own_imports(name) if f"{target}.".startswith(others)]

    check_each(check, IN_HOST_FOLDERS)


def test_a_wire_is_pure():
    def check(name):
        outside = {target for target in imports_of(name) if target.split(".")[0] != "onehook"} - {"__future__", "typing", "collections.abc"}
        allowed = {"sys", "os.path"} if name == "onehook.hostkit.tools" else set()  # whether a path is absolute depends on the system
        assert outside <= allowed, f"{name} imports {outside - allowed}"
        calls = {node.func.id for node in ast.walk(TREES[name]) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        assert calls.isdisjoint({"open", "print", "input", "exec", "eval"})

    check_each(check, WIRES)


def native_names():
    """Words that only hosts use: their own names, and event names that are not unified ones."""
    from onehook.core import EVENTS, EXTENDED_EVENTS

    events = {event for host in (*HOSTS, *GUESTS) for event in wire_of(host).EVENTS}
    return (events | {*HOSTS, *GUESTS}) - {*EVENTS, *EXTENDED_EVENTS, "contract", "stop", "input"}


NEUTRAL = [f"onehook.{name}" for name in (*WAY, "hostkit.effects", "hostkit.tools", "hostkit.unified", *MANIFEST)]


@pytest.mark.parametrize("name", NEUTRAL)
def test_neutral_code_names_no_host_and_no_native_event(name):
    texts = texts_in(SOURCES[name])
    assert not native_names().intersection(word for text in texts for word in re.findall(r"\w+", text))
    assert not named_in(texts)


# The modules outside the hosts' folders that name an agent, and why. In any other module, what is true of only one agent is misplaced.
NAMING = {
    "onehook.hosts": "the registry",
    "onehook.policies.agent_files": "generated from the hosts' tables",
    "onehook.adapters.claude_agent_sdk": "the adapter for the SDK of one agent",
    "onehook.cli.install": "an example in a help text",
    "onehook.cli.model": "the name of an API",
    "onehook.cli.record": "an example in a message",
    "onehook.cli.run": "examples in a help text",
    "onehook.testing.plugin": "an example in a help text",
    "onehook.prove.model.gemini": "the name of an API",
    "onehook.prove.model.server": "the name of an API",
    "onehook.prove.compactions": "a hook of one agent, for all agents to run",
    "onehook.prove.guests": "hooks of some agents, for all agents to run",
    "onehook.prove.imports": "hooks of one agent, for all agents to run",
    "onehook.prove.scenarios": "titles of scenarios with such hooks",
    "onehook.prove.stage": "imports the hooks of a scenario",
}


def test_what_is_true_of_one_agent_is_in_its_folder():
    shared = [name for name in SOURCES if name not in IN_HOST_FOLDERS]
    assert {name for name in shared if named_in(texts_in(SOURCES[name]))} == set(NAMING)
    scripts = [path for path in PACKAGE.rglob("*.*js") if not {"hosts", "vendor"} & {*path.relative_to(PACKAGE).parts}]
    assert scripts and not [path for path in scripts if named_in(texts_in(path))]


CONFIRMS = [f"onehook.hosts.{host}.confirm" for host in HOSTS if any(row.confirmed for row in wire_of(host).EVENTS.values())]


def hot_sources():
    names = [f"onehook.{name}".replace(".__init__", "") for name in HOT]
    return sorted({*names, *WIRES, *CONFIRMS})


def test_what_is_looked_up_outside_a_payload_is_for_events_that_the_host_has():
    assert sorted(CONFIRMS) == sorted(name for name in SOURCES if name.endswith(".confirm"))


def test_the_hot_path_is_written_for_python_3_9():
    def check(name):
        text = SOURCES[name].read_text(encoding="utf-8")
        ast.parse(text, feature_version=(3, 9))
        unions = [node for node in ast.walk(TREES[name]) if isinstance(node, ast.FunctionDef) and node.returns is not None]
        if unions and name != "onehook.launch":
            assert "from __future__ import annotations" in text or name == "onehook"

    check_each(check, hot_sources())


def test_a_match_statement_would_be_found():
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n    case 1: pass", feature_version=(3, 9))


def test_the_hot_path_imports_only_what_every_supported_interpreter_has():
    outside = {target.split(".")[0] for name in hot_sources() for target in imports_of(name) if target.split(".")[0] != "onehook"}
    assert outside <= {*sys.stdlib_module_names, "_imp", "_json", "_signal", "_thread", "posix"}


def test_every_module_is_in_a_layer():
    for name in SOURCES:
        layer_of(name)
    assert Path(PACKAGE, "core.py").exists()


def test_the_architecture_page_has_every_layer_in_this_order():
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.partition("## ")[0].splitlines() if line.startswith("| `")]
    names = [{f"onehook.{word.strip('` /').removesuffix('.py')}".removesuffix(".__init__") for word in row.split(",")} for row in rows]
    assert names == [set(layer) for layer in LAYERS]
