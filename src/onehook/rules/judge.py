"""Evaluates an event against compiled rules. On the hot path: a command loads what its programs need and nothing else."""

from __future__ import annotations

from onehook.core import wildcard
from onehook.policies.quick import Simple, read
from onehook.rules.levels import Ruling, decided
from onehook.rules.match import Reading, any_of, matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from onehook.core import Event
    from onehook.policies.danger import Danger
    from onehook.policies.shell import Command
    from onehook.rules.held import Forms, Touch
    from onehook.rules.load import Table

# Their own words do not affect what runs: an allow that covers the inner command is enough.
TRANSPARENT = frozenset(["timeout", "gtimeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob"])
# They change nothing and show nothing that was not in the command.
HARMLESS = frozenset(["true", "false", ":", "echo", "printf", "pwd", "test", "["])
# They may read a folder with everything in it, so that a file can be read without its name in the line (policies/folders.py).
TREES = frozenset([
    "cp", "gcp", "scp", "rsync", "grep", "egrep", "fgrep", "ggrep", "zip", "diff", "tar", "gtar", "bsdtar", "rg", "ag", "ack", "7z", "7za",
    "7zr", "rar",
])  # fmt: skip
WRITE_OPS = frozenset([">", ">>", ">|", "&>", "&>>", "<>"])
INTERPRETED = frozenset([
    "python", "python2", "python3", "pypy3", "perl", "ruby", "node", "nodejs", "bun", "php", "lua", "osascript", "deno", "awk", "gawk",
    "mawk",
])  # fmt: skip


class Line:
    """A command line, read once for all rules."""

    __slots__ = ("_dangers", "_touched", "broken", "commands", "cut", "fork_bomb", "forms", "plain")

    def __init__(self, text: str) -> None:
        found = (read(text) if type(text) is str else None) if text else []  # PowerShell is a kind of str
        self.plain = found is not None and not any(command.name in TREES for command in found)
        self.broken = self.cut = self.fork_bomb = False
        self.commands: list[Command] = found or []
        self.forms: Forms = {}
        self._dangers: dict[int, tuple[Command, list[Danger]]] = {}
        self._touched: dict[tuple[int, ...], tuple[Sequence[Command], list[Touch]]] = {}
        if found is None:
            self._read_whole(text)

    def _read_whole(self, text: str) -> None:
        from onehook.policies.shell import parse

        script = parse(text)
        self.commands = list(script.commands)
        self.broken, self.cut, self.fork_bomb = script.broken, script.cut, script.fork_bomb
        if any(command.name in INTERPRETED for command in self.commands):
            from onehook.policies.scripts import started

            self.commands += [below for command in script.commands for below in started(command)]

    def dangers(self, command: Command) -> list[Danger]:
        """What policies/danger.py finds in a command, which several rules need."""
        if id(command) not in self._dangers:
            from onehook.policies.danger import dangers
            from onehook.policies.shell import Script

            self._dangers[id(command)] = command, list(dangers(Script([command], False, False, False)))
        return self._dangers[id(command)][1]

    def touched(self, event: Event, commands: Sequence[Command]) -> list[Touch]:
        """The files that these commands read or change, computed once since several rules need them."""
        key = tuple(map(id, commands))
        if key not in self._touched:
            from onehook.rules.held import touched

            self._touched[key] = commands, touched(event, commands)
        return self._touched[key][1]

    def entered(self, command: Command) -> bool:
        """Whether a `cd` before the command went into a folder below the project's."""
        inside = False
        for before in self.commands:
            if before is command:
                return inside
            if before.name in ("cd", "pushd", "popd"):
                target = before.argv[1] if len(before.argv) == 2 else None
                inside = (
                    target is not None and target.known and not target.tilde and target[:1] not in ("/", "-", ".") and ".." not in target
                )
        return inside


def rulings(table: Table, event: Event, line: Line | None = None) -> list[Ruling]:
    """Everything that the rules find in an event, in the order of its parts."""
    line = line or Line(event.command)
    return [*_of_commands(table, event, line), *_of_the_rest(table, event, line), *_allowed(table, event, line)]


# --- commands --------------------------------------------------------------------------------------------------------------------


def _of_commands(table: Table, event: Event, line: Line) -> list[Ruling]:
    found: list[Ruling] = []
    for command in (*line.commands, *_modules(line.commands)):
        for name in index_names(command):
            chunk = table.chunk(name)
            if chunk is None:
                continue
            reading = Reading(command, chunk["vocabulary"])
            for rule in chunk["rules"]:
                if rule_holds(rule, reading, event, line, table):
                    found += _found(table.rule(rule["rule"]), reading, event, line, table)
            found += _stopping(chunk["permissions"], event, line, command)
    return found


def _modules(commands: Sequence[Command]) -> list[Command]:
    """`python -m pip install x` is also judged as `pip install x`. A permission has to cover only what is written."""
    out: list[Command] = []
    for command in commands:
        if command.name[:6] in ("python", "pypy3") and "-m" in command.argv[:-1]:
            module: Any = Simple(command.argv[command.argv.index("-m") + 1 :], command.redirects, command.source)  # type: ignore[arg-type]
            module.via = command.via
            out.append(module)
    return out


def index_names(command: Command) -> list[str]:
    """Under which names the rules for a command are kept: its program, "*" for any, ">" for a redirect, "=" for an assignment before it,
    "?" for what cannot be seen."""
    names = [command.name, "*"] if command.name else ["*"]
    if any(redirect.op in WRITE_OPS for redirect in command.redirects):
        names.append(">")
    if assignments(command):
        names.append("=")
    if command.opaque or (command.argv and not command.argv[0].known):
        names.append("?")
    return names


def assignments(command: Command) -> list[str]:
    """The `NAME=value` before a command."""
    found: list[str] = []
    for word in command.source.split() if "=" in command.source else ():
        if "=" not in word or word in command.argv:
            break
        found.append(word)
    return found


def rule_holds(rule: dict[str, Any], reading: Reading, event: Event, line: Line, lists: Table) -> bool:
    """Whether a rule matches one command."""
    if "command" in rule and not any(matches(pattern, reading, lists) for pattern in rule["command"]):
        return False
    if "tools" in rule and not _for_tool(rule, event):
        return False
    if "check" in rule:
        return check_holds(rule["check"], reading.command, line)
    if any(wildcard(via, label) for via in rule.get("unless_via", ()) for label in reading.command.via):
        return False
    if "text" in rule and not any(any_of(rule["text"], text, lists) for text in texts_of(reading.command)):
        return False
    return ("paths" not in rule and "urls" not in rule) or _also_about(rule, event, line, [reading.command])


def _for_tool(rule: dict[str, Any], event: Event) -> bool:
    from onehook.rules.held import tool_covered

    return tool_covered(rule["tools"], event)


def check_holds(name: str, command: Command, line: Line) -> bool:
    """One of the checks of policies/danger.py."""
    found = [danger for danger in line.dangers(command) if danger.rule == name]
    # `cd build && rm -rf *` empties that folder, not the project.
    return any(not danger.here or not line.entered(command) for danger in found)


def texts_of(command: Command) -> list[str]:
    """Where a rule's `text` is searched for: every argument, and what the command reads, in lower case and single blanks."""
    texts = [*command.argv[1:], *assignments(command), *(redirect.target for redirect in command.redirects), command.stdin or ""]
    return [" ".join(text.lower().split()) for text in texts if text]


def _found(rule: dict[str, Any], reading: Reading, event: Event, line: Line, lists: Table) -> list[Ruling]:
    def exempt(exception: dict[str, Any]) -> bool:
        # An exception lifts a rule for a command that is exactly it: the rest of the line is judged separately.
        if exception["command"]:
            return any(matches(pattern, reading, lists, whole=True) for pattern in exception["command"])
        return bool(exception["path"]) and _excepted_path(exception, event, line)

    ruling = decided(rule, reading.command.source.strip(), exempt)
    return [ruling] if ruling else []


# --- files, addresses, tools -----------------------------------------------------------------------------------------------------


def _of_the_rest(table: Table, event: Event, line: Line) -> list[Ruling]:
    """Rules and permissions that are not about one program."""
    found: list[Ruling] = []
    if line.cut or line.fork_bomb:
        script = table.chunk("!")
        rules = script["rules"] if script else []
        held = [rule for rule in rules if (line.fork_bomb if rule["check"] == "fork-bomb" else line.cut)]
        decisions = [decided(table.rule(rule["rule"]), part_of(event), lambda exception: False) for rule in held]
        found += [ruling for ruling in decisions if ruling]
    chunk = table.chunk("") if table.watches(event, line.plain) else None
    if chunk is None:
        return found
    for rule in chunk["rules"]:
        # The addresses in commands are looked at with the programs that use them.
        if ("tools" in rule and not _for_tool(rule, event)) or (event.command and "urls" in rule):
            continue
        if _also_about(rule, event, line, line.commands):
            ruling = decided(
                table.rule(rule["rule"]),
                part_of(event),
                lambda exception: bool(exception["path"]) and _excepted_path(exception, event, line),
            )
            found += [ruling] if ruling else []
    return found + _stopping(chunk["permissions"], event, line, None)


def part_of(event: Event) -> str:
    return event.command or event.url or (event.paths[0] if event.paths else event.native_tool)


def _also_about(rule: dict[str, Any], event: Event, line: Line, commands: Sequence[Command]) -> bool:
    """The criteria of a rule in addition to its command; each given one must match."""
    from onehook.rules import held

    if "mcp" in rule and not held.tool_covered(rule["mcp"], event):
        return False
    if "urls" in rule and not any(held.url_covered(rule["urls"], url) for url in held.urls_of(event, commands)):
        return False
    if "content" in rule and not any(wildcard(f"*{text}*", change.new or "") for text in rule["content"] for change in event.changes):
        return False
    if "bytes" in rule and not any(len(change.new or "") > rule["bytes"] for change in event.changes):
        return False
    if "paths" not in rule:
        return True
    wanted = [path for path, writes in line.touched(event, commands) if rule["access"] in ("any", "write" if writes else "read")]
    return any(_path_listed(rule["paths"], path, rule["folder"], event.cwd, line.forms) for path in wanted)


def _path_listed(globs: Sequence[str], path: str, folder: str, cwd: str, known: Forms) -> bool:
    from onehook.rules.held import first_in, path_covered

    wanted, out = [glob for glob in globs if glob[0] != "!"], [glob[1:] for glob in globs if glob[0] == "!"]
    held = path_covered(wanted, str(path), folder, cwd, True, known)
    if not held and hasattr(path, "files"):
        return bool(first_in(path, wanted, out, folder, cwd))
    return held and not path_covered(out, path, folder, cwd, False, known)


def _excepted_path(exception: dict[str, Any], event: Event, line: Line) -> bool:
    from onehook.rules import held

    paths = [path for path, _ in line.touched(event, line.commands)]
    return bool(paths) and all(
        held.path_covered([exception["path"]], path, exception["folder"], event.cwd, False, line.forms) for path in paths
    )


# --- permissions -----------------------------------------------------------------------------------------------------------------


def _stopping(entries: Sequence[dict[str, Any]], event: Event, line: Line, command: Command | None) -> list[Ruling]:
    """The deny and ask entries that match."""
    found: list[Ruling] = []
    for entry in entries:
        if entry["says"]["level"] == "allow":
            continue
        part = _permission_part(entry, event, line, command)
        if part:
            what = "may not be used" if entry["says"]["level"] == "deny" else "needs a person's consent"
            found.append(Ruling(entry["text"], f"{part} {what}", "medium", entry["says"], part))
    return found


def _permission_part(entry: dict[str, Any], event: Event, line: Line, command: Command | None) -> str:
    """The part of the event that a stopping entry matches; "" if it does not match."""
    from onehook.rules import held

    if entry["kind"] == "command":
        return command.source.strip() if command is not None and held.command_covered(entry["globs"], command, True) else ""
    if entry["kind"] == "path":
        for path, writes in line.touched(event, line.commands):
            if writes == entry["writes"] and held.path_covered([entry["glob"]], path, entry["folder"], event.cwd, True, line.forms):
                inside = held.first_in(path, [entry["glob"]], [], entry["folder"], event.cwd) if hasattr(path, "files") else ""
                return inside or path
        return ""
    return part_of(event) if held.permission_holds(entry, event, True) else ""


def _allowed(table: Table, event: Event, line: Line) -> list[Ruling]:
    """An allow, if the allow entries cover every part of the event."""
    if not table.allows:
        return []
    from onehook.rules import held

    entries = [entry for entry in (table.chunk("") or {"permissions": []})["permissions"] if entry["says"]["level"] == "allow"]
    for entry in entries:
        if entry["kind"] not in ("path", "command") and held.permission_holds(entry, event, False):
            return [_permitted(entry, event)]
    covering: list[dict[str, Any] | None]
    if event.command:
        if line.broken or line.cut or not line.commands:
            return []
        covering = [_covering(table, event, command, entries) for command in line.commands]
    elif event.mcp:
        return []  # Read(./src/**) lets file tools read, and not every server's tool whose input has a path
    else:
        covering = [_covering_path(entries, path, writes, event.cwd) for path, writes in held.touched(event, [])]
    named = [entry for entry in covering if entry]
    return [_permitted(named[0], event)] if named and None not in covering else []


def _permitted(entry: dict[str, Any], event: Event) -> Ruling:
    return Ruling(entry["text"], f"allowed by {entry['text']}", "low", entry["says"], part_of(event))


def _covering(table: Table, event: Event, command: Command, paths: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The entry that lets a command run, redirects included; an empty one for a command that needs none."""
    from onehook.rules import held

    # PATH=/tmp/x before a command can make any program of it.
    if command.opaque or assignments(command) or any(not word.known for word in command.argv[:1]):
        return None
    for redirect in command.redirects:
        if redirect.op in WRITE_OPS and redirect.target != "/dev/null" and not _covering_path(paths, redirect.target, True, event.cwd):
            return None
    for name in (command.name, "*"):
        for entry in (table.chunk(name) or {"permissions": []})["permissions"]:
            if entry["says"]["level"] == "allow" and entry["kind"] == "command" and held.command_covered(entry["globs"], command, False):
                return dict(entry)
    if not command.argv or (command.name in TRANSPARENT | HARMLESS and "/" not in command.argv[0]):
        return {}
    return None


def _covering_path(entries: list[dict[str, Any]], path: str, writes: bool, cwd: str) -> dict[str, Any] | None:
    from onehook.rules.held import path_covered

    for entry in entries:
        if entry["kind"] == "path" and entry["writes"] == writes and path_covered([entry["glob"]], path, entry["folder"], cwd, False):
            return entry
    return None
