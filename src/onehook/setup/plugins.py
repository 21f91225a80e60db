"""Hooks that come with a plugin (or an extension): a folder with a manifest of its own, from which an agent takes them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from onehook.codec import read_jsonc
from onehook.hostkit.config import Machine, Place
from onehook.hostkit.imports import Borrowed, Plugins
from onehook.hosts import HOSTS, having, load
from onehook.places import state_folder
from onehook.textedit.document import ConfigError


def agent_of(root: Path) -> str:
    """The agent that a plugin is written for. One without a manifest that tells is taken for the first agent whose plugins look like it."""
    known = [(host, load(host, "imports").PLUGINS) for host in having("imports")]
    marked = [host for host, plugins in known if any((root / mark).is_file() for mark in plugins.marks)]
    shaped = [host for host, plugins in known if any((root / name).is_file() for name in plugins.files)]
    if not marked and not shaped:
        raise ConfigError(f"{root} is not a plugin with hooks: it has no {known[0][1].files[0]}")
    return (marked or shaped)[0]


def installed(host: str, scope: str, machine: Machine) -> list[Path]:
    """The plugins that an agent runs hooks of."""
    if host not in having("imports"):
        return []
    return [root for root in load(host, "imports").PLUGINS.installed(machine, scope) if root.is_dir()]


def hooks_of(host: str, root: Path, machine: Machine, runs_already: bool) -> Iterator[tuple[Place, Borrowed]]:
    """The hooks of a plugin. `runs_already`: its own agent has it installed, so that a manifest is for the other agents."""
    module = load(host, "imports")
    for path, data in _files(module.PLUGINS, root):
        place = Place("plugin", path, "json", root)
        for hook in module.handlers(data, place):
            if not hook.refused:
                hook.run = _rooted(hook.run, module.PLUGINS, root, machine)
                hook.hosts = [other for other in HOSTS if other != host and other in having("config")] if runs_already else []
            yield place, hook


def pages_with_hooks(host: str, scope: str, machine: Machine) -> list[Path]:
    """Skills, agents and commands that have hooks in their front matter. Those are active only while it is, which no manifest says."""
    base = {"project": machine.project, "user": machine.home}.get(scope)
    if base is None or host not in having("imports"):
        return []
    pages = [page for pattern in load(host, "imports").PLUGINS.pages for page in sorted(base.glob(pattern))]
    return [page for page in pages if _has_hooks(page)]


def _has_hooks(page: Path) -> bool:
    lines = page.read_text(encoding="utf-8", errors="replace").splitlines()
    if lines[:1] != ["---"] or "---" not in lines[1:]:
        return False
    return any(line.startswith("hooks:") for line in lines[1 : lines.index("---", 1)])


def _files(plugins: Plugins, root: Path) -> Iterator[tuple[Path, Any]]:
    """The files with hooks, each with its data: those that the plugin's manifest names, or the usual one."""
    mark = next((root / mark for mark in plugins.marks if (root / mark).is_file()), None)
    named = read_jsonc(mark).get("hooks") if mark else None
    if mark and isinstance(named, dict):
        yield mark, named if "hooks" in named else {"hooks": named}
        return
    names: Sequence[object] = named if isinstance(named, list) else [named] if named else plugins.files
    found = [root / name for name in names if isinstance(name, str) and (root / name).is_file()]
    for path in found if named else found[:1]:
        yield path, read_jsonc(path)


def _rooted(run: str | list[str], plugins: Plugins, root: Path, machine: Machine) -> str | list[str]:
    """A command with the variables that name the plugin's folder, and its folder for data."""
    place = str(root.resolve())
    data = str(Path(state_folder()) / "plugins" / root.resolve().name)
    values = {**dict.fromkeys(plugins.roots, place), **dict.fromkeys(plugins.data, data)}
    if isinstance(run, list):
        named = ["env", *(f"{name}={value}" for name, value in values.items())] if values else []
        return [*named, *(_replaced(word, plugins, place, values) for word in run)]
    inside = root.resolve().is_relative_to(machine.project.resolve())
    # In the project, so that a clone of it finds it too.
    shown = f'"$ONEHOOK_PROJECT_DIR"/{shlex.quote(str(root.resolve().relative_to(machine.project.resolve())))}' if inside else ""
    words = [f"{name}={shown if shown and value == place else shlex.quote(value)}" for name, value in values.items()]
    return f"export {' '.join(words)}; {_replaced(run, plugins, place, {})}" if values else _replaced(run, plugins, place, {})


def _replaced(word: str, plugins: Plugins, place: str, values: dict[str, str]) -> str:
    for name in plugins.replaced:  # by the agent itself, before a shell sees the command
        word = word.replace(f"${{{name}}}", place)
    for name, value in values.items():
        word = word.replace(f"${{{name}}}", value)
    return word.replace("${/}", "/")
