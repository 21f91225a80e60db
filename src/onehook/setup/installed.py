"""What is installed where: every config file of every agent with the entries in it, and the rows of `onehook status`."""

from __future__ import annotations

import ast
import contextlib
import functools
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.core import OnehookError
from onehook.hostkit.config import Found, Machine, Place
from onehook.hostkit.trust import root_of
from onehook.policy import holds_rules, is_manifest
from onehook.setup.command import PORTABLE_FOLDER, read
from onehook.setup.entries import mentions_ours, ours_in
from onehook.setup.interpreters import packages_in
from onehook.setup.managed import has_changed, source_of
from onehook.setup.pinning import problem as unpinned
from onehook.setup.plan import config_of, configurable, present, starts_copy
from onehook.setup.runtime import LAUNCH, installed_version
from onehook.setup.sharing import shared
from onehook.setup.trust import untrusted
from onehook.textedit.document import ConfigError, Document, content_of
from onehook.version import VERSION

if TYPE_CHECKING:
    from onehook.hosts.interface import Config


@dataclass
class ConfigFile:
    """A file that an agent reads hooks from, and what is in it."""

    host: str
    place: Place
    exists: bool
    data: Any = None
    problem: str = ""  # why the file cannot be read
    hides_ours: bool = False  # it cannot be read, but contains onehook's entries
    ours: list[Found] = field(default_factory=list)
    foreign: list[Found] = field(default_factory=list)

    @property
    def config(self) -> Config:
        return config_of(self.host)


def config_files(machine: Machine, hosts: list[str] | None = None) -> list[ConfigFile]:
    return [_look(host, place) for host in hosts or configurable() for place in config_of(host).places(machine)]


def _look(host: str, place: Place) -> ConfigFile:
    file = ConfigFile(host, place, place.path.exists())
    if not file.exists:
        return file
    config = config_of(host)
    try:
        file.data = Document(place.path, place.format).data() if readable(place) else (content_of(place.path) or b"").decode("utf-8")
    except (ConfigError, OSError, ValueError) as error:
        file.problem = str(error)
        with contextlib.suppress(ConfigError):
            file.hides_ours = mentions_ours(content_of(place.path) or b"")
        return file
    file.ours = ours_in(config, file.data)
    file.foreign = [found for found in config.found(file.data) if found not in file.ours]
    return file


def shown(entry: Found) -> str:
    """The event of an entry, with its matcher unless it is for every tool."""
    return entry.event if entry.matcher in ("", "*") else f"{entry.event} ({entry.matcher})"


def readable(place: Place) -> bool:
    """Whether the file holds data, and not for example a plugin in another language."""
    return place.format != "own"


def policy_of(command: str, machine: Machine) -> Path | None:
    """The policy that a written command runs; None if onehook did not write the command."""
    written = read(command)
    return written.policy_path(machine.project) if written else None


def editing(file: ConfigFile, machine: Machine) -> str:
    """The command that opens a config for a person to edit."""
    return f"{machine.variables.get('EDITOR') or 'vi'} {shlex.quote(str(file.place.path))}"


def install_again(file: ConfigFile, found: Found, machine: Machine) -> str:
    """The command that writes the entries of this file again."""
    policy = policy_of(found.command, machine)
    if policy and file.place.scope == "enterprise":
        policy = source_of(policy, machine) or policy
    options = {PORTABLE_FOLDER: " --portable", "--mode observe": " --observe", "--fail closed": " --fail-closed", "--pin ": " --pin"}
    more = "".join(option for written, option in options.items() if written in found.command)
    written = read(found.command)
    if written and written.option("log"):
        more += f" --log {written.option('log')}"
    more += " --resident" if written and written.client else ""
    # The interpreter of an environment is made from what the policy declares.
    if written and starts_copy(written.program, file.place.scope, machine) and packages_in(written.interpreter) is None:
        more += f" --python {shlex.quote(written.interpreter)}"
    return f"onehook install {shlex.quote(str(policy or 'POLICY'))} --hosts {file.host} --scope {file.place.scope}{more}"


@dataclass(frozen=True)
class Row:
    """One line of `onehook status`."""

    host: str
    scope: str
    file: str
    policy: str
    events: tuple[str, ...]
    fail: str
    portable: bool
    note: str = ""
    matchers: Mapping[str, str] = field(default_factory=dict)  # of the events that are not for every tool
    mode: str = ""  # "enforce", "observe", or "mixed" if only some of the rules are observed
    rules: Mapping[str, int] = field(default_factory=dict)  # of a rules file: how many rules are on, by severity
    audience: str = ""  # of a file in a git repository: "team" if it is portable, "me" if git ignores it
    python: str = ""  # the interpreter that install was given, or that of the environment with the policy's packages
    packages: tuple[str, ...] = ()  # those of the environment
    pinned: bool = False
    source: str = ""  # what the policy is a copy of
    resident: bool = False


def rows(machine: Machine) -> list[Row]:
    return [row for file in config_files(machine) for row in _rows_of(file, machine)]


def _rows_of(file: ConfigFile, machine: Machine) -> Iterator[Row]:
    if file.problem:
        yield Row(file.host, file.place.scope, str(file.place.path), "", (), "", False, file.problem)
    by_policy: dict[str, list[Found]] = {}
    for entry in file.ours:
        by_policy.setdefault(str(policy_of(entry.command, machine) or "?"), []).append(entry)
    for policy, entries in by_policy.items():
        written = [line for entry in entries if (line := read(entry.command))]
        closed = any(line.option("fail") == "closed" for line in written)
        portable = any(line.portable for line in written)
        note = "" if Path(policy).is_file() else "the policy file is missing"
        version = installed_version(machine.project / PORTABLE_FOLDER) if portable else VERSION
        if version != VERSION:
            is_now = f"is {version or 'missing'}, the installed onehook is {VERSION}"
            note = f"the runtime in {PORTABLE_FOLDER}/ {is_now}: install again with --portable"
        events = tuple(dict.fromkeys(entry.event for entry in entries))
        fail = "closed" if closed else "open"
        matchers = {entry.event: entry.matcher for entry in entries if entry.matcher not in ("", "*")}
        mode, severities, problem = ("", {}, "") if note else standing(policy)
        if any(line.option("mode") == "observe" for line in written):
            mode = "observe"
        note = note or problem or next(_skipped(file, entries, machine), "")
        path = file.place.path
        python = next((line.interpreter for line in written if line.launcher.endswith(LAUNCH) and not line.portable), "")
        packages = tuple(packages_in(python) or ()) if python else ()
        if python and not Path(python).exists():
            note = note or f"the interpreter is gone: {python}; install again"
        audience = _audience(path, portable, machine) if file.place.scope in ("project", "local") else ""
        pins = {(line.option("pin"), line.launcher_path(machine.project)) for line in written if line.option("pin")}
        note = note or next((f"{wrong}; `onehook trust` shows the change" for pin in pins if (wrong := unpinned(Path(policy), *pin))), "")
        source = source_of(Path(policy), machine) if file.place.scope == "enterprise" else None
        if source and has_changed(Path(policy), machine):
            note = note or f"{source} has changed since it was copied; install it again"
        more = (mode, severities, audience, python, packages, bool(pins), str(source or ""), any(line.client for line in written))
        yield Row(file.host, file.place.scope, str(path), policy, events, fail, portable, note, matchers, *more)


def _audience(path: Path, portable: bool, machine: Machine) -> str:
    if not root_of(machine.project):
        return ""
    return "team" if portable else "" if shared([path], machine.project) else "me"


def standing(policy: str) -> tuple[str, Mapping[str, int], str]:
    """The mode of a policy file, its rules by severity, and why it cannot be read. No code of the policy is run."""
    try:
        return _standing(policy, Path(policy).read_bytes())
    except OSError as error:
        return "", {}, f"the policy cannot be read: {error.strerror}"


@functools.cache  # a policy is installed on several agents
def _standing(policy: str, source: bytes) -> tuple[str, Mapping[str, int], str]:
    if not is_manifest(policy):
        return static_mode(source), {}, ""
    from onehook.rules.levels import SEVERITIES
    from onehook.rules.load import layers_beside, table_of

    if not holds_rules(source):
        return "enforce", {}, ""
    try:
        table = table_of([*layers_beside(policy), ("project", policy)], cache="")
    except OnehookError as error:
        return "", {}, str(error)
    rules = table.rules()
    severities = {severity: sum(rule["severity"] == severity for rule in rules) for severity in reversed(SEVERITIES)}
    modes = {says["mode"] for rule in rules for says in rule["says"]} | {says["mode"] for *_, says in table.header["policies"]}
    modes |= {says["mode"] for says in table.permissions()} | {hook["mode"] for *_, hook in table.header["hooks"]}
    mode = "mixed" if len(modes) > 1 else next(iter(modes), "enforce")
    return mode, {severity: count for severity, count in severities.items() if count}, ""


@dataclass(frozen=True)
class InForce:
    """A policy that applies here, and the layer that it is of."""

    layer: str
    file: str
    hosts: tuple[str, ...]  # the agents that it is installed on; none for a rules file that applies beside those that are installed
    rules: tuple[str, ...] | None  # what a rules file has on: rules, policies and entries of [permissions]; None for any other policy


def in_force(found: list[Row]) -> list[InForce]:
    """The layers, from the strongest down: the files of those below only add."""
    from onehook.rules.levels import LAYERS
    from onehook.rules.load import every_layer

    files: dict[tuple[str, str], list[str]] = {}
    for row in found:
        if row.policy:
            files.setdefault(({"enterprise": "managed", "user": "user"}.get(row.scope, "project"), row.policy), []).append(row.host)
    files |= {one: [] for one in every_layer() if one not in files and Path(one[1]).is_file()}
    ordered = sorted(files, key=lambda one: LAYERS.index(one[0]))
    return [InForce(*one, tuple(dict.fromkeys(files[one])), _rules_of(*one)) for one in ordered]


def _rules_of(layer: str, file: str) -> tuple[str, ...] | None:
    try:
        return tuple(_rules_in([(layer, file)])) if is_manifest(file) and holds_rules(Path(file).read_bytes()) else None
    except (OSError, OnehookError):
        return None


def rules_above(machine: Machine) -> list[tuple[str, str]]:
    """The rules files of the machine and of the user that apply here, each with its layer."""
    return [(one.layer, one.file) for one in in_force(rows(machine)) if one.layer != "project" and one.rules is not None]


def rule_names(machine: Machine) -> list[str] | None:
    """The rules of all policies that are installed here; None if they cannot be known, as those of a policy in Python."""
    from onehook.rules.load import layers_beside

    names: list[str] = []
    policies = {row.policy for row in rows(machine) if row.policy}
    for policy in policies:
        try:
            if not is_manifest(policy) or not holds_rules(Path(policy).read_bytes()):
                return None
            names += _rules_in([*layers_beside(policy), ("project", policy)])
        except (OSError, OnehookError):
            return None
    return names if policies else None


def _rules_in(layers: list[tuple[str, str]]) -> list[str]:
    from onehook.rules.load import table_of

    table = table_of(layers, cache="")
    entries = [entry["text"] for name in table.header["index"] if name[:1] != "#" for entry in table.chunk(name)["permissions"]]
    return [*(rule["id"] for rule in table.rules()), *(f"policies.{name}" for name, *_ in table.header["policies"]), *entries]


def static_mode(source: bytes) -> str:
    """The mode that a Python policy sets, by its source; "" if it cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Hooks", "define_hook"))]
    given = [word.value.value for call in calls for word in call.keywords if word.arg == "mode" and isinstance(word.value, ast.Constant)]
    modes = {str(mode) for mode in given} | ({"enforce"} if len(given) < max(1, len(calls)) else set())
    return modes.pop() if len(modes) == 1 else "mixed"


def _skipped(file: ConfigFile, entries: list[Found], machine: Machine) -> Iterator[str]:
    """Why the agent will not run these entries, for lack of trust."""
    found = untrusted(file.host, machine, file.place, entries, "run onehook install again with")
    return (f"{diagnosis.what}; {diagnosis.fix}" for diagnosis in found if diagnosis.level == "fail")


def absent_hosts(machine: Machine, found: list[Row]) -> list[str]:
    """Agents on this machine that have no policy installed."""
    installed = {row.host for row in found}
    return [host for host in configurable() if host not in installed and present(host, machine)]
