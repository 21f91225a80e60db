"""Hooks that come with a plugin (or an extension): a folder with a manifest of its own, from which an agent takes them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Machine, Place
from onehook.hostkit.imports import Borrowed, Plugins
from onehook.hosts import HOSTS, having, load
from onehook.jsonc import read_jsonc
from onehook.places import state_folder
from onehook.textedit.document import ConfigError
from onehook.textedit.front_matter import Page


def agent_of(root: Path) -> str:
    """The agent that a plugin is written for. Without a manifest that names it, the first agent whose plugins look like it."""
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
                hook.hosts = others_than(host) if runs_already else []
            yield place, hook
    for place, hooks in _pages_in(root, module.PLUGINS, "plugin", root, machine, name_of(host, root)):
        for hook in hooks:
            hook.hosts = others_than(host) if runs_already else []
            yield place, hook


def others_than(host: str) -> list[str]:
    """The agents that need a hook which its own agent already runs."""
    return [other for other in HOSTS if other != host and other in having("config")]


def hooks_of_pages(host: str, scope: str, machine: Machine) -> Iterator[tuple[Place, list[Borrowed]]]:
    """The hooks in the front matter of skills, agents and commands, page by page."""
    known = load(host, "imports").PLUGINS if host in having("imports") else None
    folder = known.pages_below(machine, scope) if known else None
    if known and folder:
        yield from _pages_in(folder, known, scope, machine.project if scope == "project" else machine.home, machine)


def _pages_in(
    folder: Path, known: Plugins, scope: str, root: Path, machine: Machine, named: str = ""
) -> Iterator[tuple[Place, list[Borrowed]]]:
    for kind in known.pages:
        for path in sorted(folder.glob(kind.files)):
            place = Place(scope, path, "md", root)
            try:
                page = Page(path.read_text(encoding="utf-8"))
                hooks = list(kind.hooks(page, place))
                own_name = page.get("name") if kind.key == "agent_types" else None
            except (ConfigError, UnicodeDecodeError) as error:
                yield place, [Borrowed("hooks", ("hooks",), path.name, refused=str(error))]
                continue
            name = own_name if isinstance(own_name, str) and own_name else _name_of(path.relative_to(folder))
            for hook in hooks:
                setattr(hook, kind.key, [f"{named}:{name}" if named else name])
                if kind.rooted and not hook.refused:
                    hook.run = _rooted(hook.run, replace(known, data=()), folder if named else path.parent, machine)
            if hooks:
                yield place, hooks


def _name_of(path: Path) -> str:
    """What a skill (skills/NAME/SKILL.md) or a command (commands/FOLDER/NAME.md) is started as."""
    parts = path.parent.parts[1:] if path.stem == "SKILL" else (*path.parent.parts[1:], path.stem)
    return ":".join(parts)


def name_of(host: str, root: Path) -> str:
    """What a plugin calls itself."""
    marks = load(host, "imports").PLUGINS.marks
    name = next((read_jsonc(root / mark).get("name") for mark in marks if (root / mark).is_file()), None)
    return name if isinstance(name, str) else root.name


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


# As the plugin's own agent does before a hook starts (Claude Code 2.1.325): hooks write there without making it.
_MAKE_DATA = '[ -d "{0}" ] || mkdir -p "{0}" 2>/dev/null; '


def _rooted(run: str | list[str], plugins: Plugins, root: Path, machine: Machine) -> str | list[str]:
    """A command with the variables that name the plugin's folder, and its folder for data."""
    place = str(root.resolve())
    data = str(Path(state_folder()) / "plugins" / root.resolve().name)
    values = {**dict.fromkeys(plugins.roots, place), **dict.fromkeys(plugins.data, data)}
    if isinstance(run, list):
        maker = ["sh", "-c", _MAKE_DATA.format("$0") + 'exec "$@"', data] if plugins.data else []
        named = ["env", *(f"{name}={value}" for name, value in values.items())] if values else []
        return [*maker, *named, *(_replaced(word, plugins, place, values) for word in run)]
    shown = {value: _in_clones(value, machine) for value in values.values()}
    words = [f"{name}={shown[value]}" for name, value in values.items()]
    made = _MAKE_DATA.format(f"${plugins.data[0]}") if plugins.data else ""
    return f"export {' '.join(words)}; {made}{_replaced(run, plugins, place, {})}" if values else _replaced(run, plugins, place, {})


def _in_clones(path: str, machine: Machine) -> str:
    """A folder as a shell finds it in every clone of the project, and in the home of whoever has one."""
    for variable, folder in (("ONEHOOK_PROJECT_DIR", machine.project.resolve()), ("HOME", machine.home.resolve())):
        if Path(path).is_relative_to(folder):
            return f'"${variable}"/{shlex.quote(str(Path(path).relative_to(folder)))}'
    return shlex.quote(path)


def _replaced(word: str, plugins: Plugins, place: str, values: dict[str, str]) -> str:
    for name in plugins.replaced:  # by the agent itself, before a shell sees the command
        word = word.replace(f"${{{name}}}", place)
    for name, value in values.items():
        word = word.replace(f"${{{name}}}", value)
    return word.replace("${/}", "/")
