"""What an event must know about all hosts without loading them, generated from the hosts' own tables.

python -m onehook.docgen.registry

- into the registry, which hosts also run another host's configuration;
- into policies/agent_files.py, what can switch off the hooks of any host: the files of every scope on every system, the verbs and options
  of its command line, and its variables; and which hosts ask before they accept a change to their config.
"""

from __future__ import annotations

import re
from collections import UserDict
from pathlib import Path

import onehook.hosts
from onehook.hostkit.config import Machine
from onehook.hostkit.effects import CERTAIN
from onehook.hosts import HOSTS, having, load, optional, wire_of

_LINE = re.compile(r"^READ_BY.*$", re.MULTILINE)


def read_by() -> dict[str, dict[str, str]]:
    """Lender -> a key that distinguishes a reader's payload from the lender's -> the reader."""
    index: dict[str, dict[str, str]] = {}
    for reader in HOSTS:
        wire = wire_of(reader)
        for lender in wire.TRAITS.reads_config_of:
            certain = {key for mark in wire.MARKS if mark.weight == CERTAIN for key in mark.fields}
            own = [key for key in wire.SENDS if key in certain and key not in wire_of(lender).SENDS]
            index.setdefault(lender, {}).update(dict.fromkeys(own, reader))
    return index


def with_index(source: str) -> str:
    line = f"READ_BY = {read_by()}".replace("'", '"')
    return _LINE.sub(lambda _: line, source)


_WIDTH = 140
AGENT_FILES = Path(onehook.hosts.__file__).parents[1] / "policies" / "agent_files.py"
_HEAD = '''"""What can switch the hooks of an agent off. Generated from the hosts' own tables: python -m onehook.docgen.registry"""

# fmt: off
'''
_PROJECT, _HOME, _NAMED = Path("/project"), Path("/home"), Path("/named")
_SYSTEMS = ("linux", "darwin", "win32")


class _AllSet(UserDict[str, str]):
    """An environment in which every variable is set, to a folder of its own name."""

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: str) -> str:
        return str(_NAMED / key)


def switched_by(host: str, machine: Machine) -> list[Path]:
    """The files and folders that can switch off the hooks of a host."""
    config, trust = load(host, "config"), optional(host, "trust")
    found = [place.path for place in config.places(machine)]
    found += [trust.store(machine).path] if trust else []
    found += [config.TRAITS.held.file(machine).path] if config.TRAITS.held else []
    return [*found, *config.TRAITS.switches.files(machine)]


def agent_files() -> str:
    """The source of policies/agent_files.py."""
    inside: dict[str, set[str]] = {"project": set(), "home": set()}
    named: dict[str, set[str]] = {}
    systems: dict[str, set[str]] = {system: set() for system in _SYSTEMS}
    for system in _SYSTEMS:
        for variables in (UserDict[str, str](), _AllSet()):
            machine = Machine(_HOME, _PROJECT, variables, system)
            for path in [path for host in having("config") for path in switched_by(host, machine)]:
                base = next((base for base in (_PROJECT, _HOME, _NAMED) if path.is_relative_to(base)), None)
                if base is None:
                    systems[system].add(("C:" if system == "win32" else "") + path.as_posix())
                elif base == _NAMED:
                    variable, _, rest = path.relative_to(base).as_posix().partition("/")
                    named.setdefault(variable, set()).add(rest)
                else:
                    inside[base.name].add(path.relative_to(base).as_posix())
    asks = {host for host in HOSTS for row in wire_of(host).EVENTS.values() if row.event == "ConfigChange" and row.gates}
    switches = {variable for host in having("config") for variable in load(host, "config").TRAITS.switches.variables}
    tables = {
        "PROJECT": inside["project"], "HOME": inside["home"], "NAMED": dict(sorted(named.items())), "SYSTEM": systems,
        "WORDS": _words(), "VARIABLES": switches, "ASKS": asks,
    }  # fmt: skip
    return _HEAD + "".join(f"{name} = {_written(value)}\n" for name, value in tables.items())


def _words() -> dict[str, tuple[str, ...]]:
    """Program -> the parts of its command line that disable hooks."""
    configs = [load(host, "config") for host in having("config")]
    return {binary: config.TRAITS.switches.words for config in configs for binary in config.BINARIES}


def _written(value: object) -> str:
    """A value as source."""
    if isinstance(value, dict):
        return "{\n" + "".join(f"    {_quoted(key)}: {_row(value[key], 8)},\n" for key in value) + "}"
    assert isinstance(value, set)
    return _row(value, 4)


def _row(values: set[str] | tuple[str, ...], indent: int) -> str:
    items = _least(values) if isinstance(values, set) else values
    lines: list[str] = []
    for item in items:
        word = f"{_quoted(item)},"
        if lines and indent + len(lines[-1]) + 1 + len(word) <= _WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "(\n" + "".join(f"{' ' * indent}{line}\n" for line in lines) + " " * (indent - 4) + ")" if items else "()"


def _least(paths: set[str]) -> list[str]:
    """The paths without those inside a folder that is also listed."""
    return sorted(path for path in paths if not any(path.startswith(f"{other}/") for other in paths))


def _quoted(text: str) -> str:
    return '"' + text + '"'


if __name__ == "__main__":
    AGENT_FILES.write_text(agent_files(), encoding="utf-8")
    registry = Path(onehook.hosts.__file__)
    registry.write_text(with_index(registry.read_text(encoding="utf-8")), encoding="utf-8")
