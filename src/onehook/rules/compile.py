"""From rules files to compiled rules: reads, checks, merges layers and packs, and indexes the active rules by program."""

from __future__ import annotations

import marshal
import os
import re

from onehook.core import TOOLS, Options, UsageError, covers_rule
from onehook.packs import PACKS, pack_files, pack_path, read_pack, read_toml
from onehook.policies.own_files import own_name, programs_of
from onehook.policies.rule_names import RULES as CHECKS
from onehook.rules import BLOCK, MAGIC, SELF
from onehook.rules.keys import DESK, EXCEPTION, LOG, PERMISSIONS, REQUIRED, RULE, TELEMETRY, TOP, complain, line_of, problem_with
from onehook.rules.levels import LAYERS, LEVELS, rank
from onehook.rules.patterns import PatternError, parse_pattern, parse_vocabulary
from onehook.rules.permissions import LISTS, parse_permission, suggestion
from onehook.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from onehook.rules.load import Layer

# The programs whose arguments are addresses; a rule about addresses is asked with them.
NETWORK = ("curl", "wget", "http", "https", "xh", "aria2c", "ssh", "nc", "ncat", "netcat", "telnet", "ftp", "sftp", "ping", "git")
OPTIONS = [key for key in TOP if key in Options.DEFAULTS and key != "mode"]  # each layer has its own mode
# Options that only the machine's file sets, if there is one.
_MACHINES = ("ask_fallback", "ask_via", "ask_wait", "isolation", "log", "stop_limit")
_LEAST = Options.DEFAULTS["timeout"]  # seconds for an event that other files cannot shorten there
_SCRIPT_CHECKS = ("fork-bomb", "too-complex")


class File:
    """The content of a rules file. `folder`: what its paths start from."""

    def __init__(self, path: str, layer: str) -> None:
        self.path, self.layer = os.path.abspath(path), layer
        self.folder = os.path.dirname(self.path)
        try:
            with open(self.path, "rb") as file:
                self.source = file.read()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        self.text = self.source.decode("utf-8-sig", "replace")
        self.data = read_toml(self.path, self.source)

    def wrong(self, table: str, number: int, key: str, why: str) -> UsageError:
        return complain(self.path, self.text, table, number, key, why)

    def line(self, table: str, number: int, key: str = "") -> int:
        return line_of(self.text, table, number, key)

    def tables(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        yield from enumerate(self.data.get(name, []))


class Stack:
    """The files of one layer, those that are extended first."""

    def __init__(self, layer: str, path: str) -> None:
        self.layer = layer
        self.files: list[File] = []
        self._take(path, ())
        self.mode: str = next((file.data["mode"] for file in reversed(self.files) if "mode" in file.data), "enforce")
        said = [file.data["pausable"] for file in self.files if "pausable" in file.data]
        self.fixed = not all(said) if said else layer == "managed"  # `onehook pause` does not affect it

    def _take(self, path: str, above: tuple[str, ...]) -> None:
        file = File(path, self.layer)
        if file.path in above:
            raise UsageError(f"{above[-1]} extends {path}, which extends it: " + " -> ".join([*above, file.path]))
        _check_top(file)
        if self.layer == "untrusted":
            _restrict(file)
        extended = file.data.get("extends", [])
        for other in [extended] if isinstance(extended, str) else extended:
            place = os.path.join(file.folder, other)
            if not os.path.isfile(place):
                raise file.wrong("", 0, "extends", f"extends {other!r}, which does not exist")
            self._take(place, (*above, file.path))
        if all(file.path != known.path for known in self.files):
            self.files.append(file)

    def level_of(self, rule: str) -> tuple[str, File, int] | None:
        """What [levels] sets for a rule: the most specific name, in the last file."""
        best: tuple[int, str, File, int] | None = None
        for file in self.files:
            for name, level in file.data.get("levels", {}).items():
                if covers_rule(name, rule) and (best is None or len(name) >= best[0]):
                    best = (len(name), level, file, file.line("levels", 0, name))
        return best[1:] if best else None


def compile_layers(layers: Sequence[Layer]) -> tuple[dict[str, Any], bytes]:
    """The header and the chunks of all active rules."""
    present = [(layer, path) for layer, path in layers if layer == "project" or os.path.exists(path)]
    stacks = sorted((Stack(layer, path) for layer, path in present), key=lambda stack: LAYERS.index(stack.layer))
    packs = {name: read_pack(name) for name in PACKS}
    compiler = Compiler(stacks, packs)
    compiler.compile()
    return compiler.packed([file for stack in stacks for file in stack.files])


_KEPT = 100  # compiled files, each of 100 to 200 KB; one project has one or two


def store(path: str, header: dict[str, Any], raw: bytes, public: bool = False) -> None:
    """Store compiled rules. If they cannot be stored, they are compiled again next time. public: readable by every user."""
    data = marshal.dumps(header)
    temporary, folder = f"{path}.{os.getpid()}", os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o755 if public else 0o700, exist_ok=True)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644 if public else 0o600), "wb") as file:
            file.write(MAGIC + len(data).to_bytes(8, "little") + data + raw)
        os.replace(temporary, path)
        old = sorted((os.stat(os.path.join(folder, name)).st_mtime_ns, name) for name in os.listdir(folder))
        for _, name in old[:-_KEPT]:
            os.unlink(os.path.join(folder, name))
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass


# What an untrusted file may set: it can only stop something, and starts no program.
RESTRICTING = ("$schema", "mode", "packs", "domains", "extends", "levels", "rule", "exception")


def _restrict(file: File) -> None:
    lists = {level: entries for level, entries in file.data.get("permissions", {}).items() if level != "allow"}
    file.data = {**{key: value for key, value in file.data.items() if key in RESTRICTING}, "permissions": lists}
    # A level for a policy that is left out names nothing.
    file.data["levels"] = {name: level for name, level in file.data.get("levels", {}).items() if not name.startswith("policies.")}


# --- checks ----------------------------------------------------------------------------------------------------------------------


def _check_top(file: File) -> None:
    if found := problem_with(file.data, TOP):
        raise file.wrong("", 0, *found)
    from onehook.manifest.load import model_problem

    if "model" in file.data and (why := model_problem(file.data["model"])):
        raise file.wrong("model", 0, "", why)
    if found := problem_with(file.data.get("permissions", {}), PERMISSIONS):
        raise file.wrong("permissions", 0, *found)
    log = file.data.get("log")
    if isinstance(log, dict) and (found := problem_with(log, LOG)):
        raise file.wrong("log", 0, *found)
    for table, keys in (("telemetry", TELEMETRY), ("desk", DESK)):
        if found := problem_with(file.data.get(table, {}), keys):
            raise file.wrong(table, 0, *found)
    for table, keys in (("rule", RULE), ("exception", EXCEPTION)):
        for number, entry in file.tables(table):
            if found := problem_with(entry, keys, REQUIRED[table]):
                raise file.wrong(table, number, *found)
    for name, level in file.data.get("levels", {}).items():
        if level not in LEVELS:
            raise file.wrong("levels", 0, name, f"{name} must be one of {', '.join(LEVELS)}, not {level!r}{suggestion(str(level), LEVELS)}")
    given = {key: file.data[key] for key in OPTIONS if key in file.data}
    try:
        Options.checked(given)
    except (UsageError, TypeError) as error:
        raise file.wrong("", 0, next(iter(given)), str(error)) from None
    _check_policies(file)


def _check_policies(file: File) -> None:
    import inspect

    from onehook import policies

    for name, options in file.data.get("policies", {}).items():
        if name not in policies.POLICIES:
            raise file.wrong("policies." + name, 0, "", f"unknown policy {name!r}{suggestion(name, policies.POLICIES)}")
        known = list(inspect.signature(getattr(policies, name)).parameters)
        for key in options:
            if key not in known:
                raise file.wrong(
                    "policies." + name, 0, key, f"unknown option {key!r}{suggestion(key, known)}; the options are {', '.join(known)}"
                )


def known_tools() -> list[str]:
    """The unified names, and what the agents call their own tools."""
    from onehook.hosts import HOSTS, wire_of

    native = [name for host in HOSTS for name in wire_of(host).TOOLS]
    return sorted({*TOOLS, *native})


# --- compiling -------------------------------------------------------------------------------------------------------------------


class Compiler:
    def __init__(self, stacks: list[Stack], packs: dict[str, dict[str, Any]]) -> None:
        self.stacks, self.packs = stacks, packs
        self.tools = known_tools()
        self.lists = {name: names for pack in packs.values() for name, names in pack.get("lists", {}).items()}
        self.vocabulary: dict[str, dict[str, Any]] = {}
        self.chunks: dict[str, dict[str, Any]] = {}
        self.rules: list[dict[str, Any]] = []  # every rule that is on, for `onehook rules` and explain
        self.policies: list[Any] = []
        for pack in packs.values():
            for command, text in pack.get("vocabulary", {}).items():
                programs, _, rest = command.partition(" ")
                for program in programs.split("|"):
                    self.vocabulary.setdefault(program, {})[rest] = parse_vocabulary(text)

    def compile(self) -> None:
        self._check_names()
        for name, pack in self.packs.items():
            for entry in pack["rule"]:
                self._pack_rule(name, entry)
        for stack in self.stacks:
            for file in stack.files:
                for number, entry in file.tables("rule"):
                    self._own_rule(stack, file, number, entry)
                for level in LISTS:
                    for text in file.data.get("permissions", {}).get(level, []):
                        self._permission(stack, file, level, text)
                for name, options in file.data.get("policies", {}).items():
                    self._policy(stack, file, name, options)
        self._self_protect()

    def _check_names(self) -> None:
        own = [entry["id"] for stack in self.stacks for file in stack.files for _, entry in file.tables("rule")]
        known = [f"{name}.{entry['id']}" for name, pack in self.packs.items() for entry in pack["rule"]] + own
        policies = [f"policies.{name}" for stack in self.stacks for file in stack.files for name in file.data.get("policies", {})]
        policies.append(f"policies.{SELF}")
        groups = sorted({*PACKS, *(name.rpartition(".")[0] for name in PACKS if "." in name)})
        choices = ["recommended", "all", *groups]
        for stack in self.stacks:
            for file in stack.files:
                for name in file.data.get("packs", []):
                    if name not in choices:
                        raise file.wrong("", 0, "packs", f"unknown pack {name!r}{suggestion(name, choices)}")
                for name in file.data.get("levels", {}):
                    if not any(covers_rule(name, rule) for rule in [*known, *policies]):
                        raise file.wrong("levels", 0, name, f"there is no rule or pack {name!r}{suggestion(name, [*known, *groups])}")
                for number, entry in file.tables("exception"):
                    if not any(covers_rule(entry["rule"], rule) for rule in known):
                        why = f"there is no rule {entry['rule']!r}{suggestion(entry['rule'], known)}"
                        raise file.wrong("exception", number, "rule", why)
                    if "command" not in entry and "path" not in entry:
                        raise file.wrong("exception", number, "", "name the command or the path that the exception is for")

    def _pack_rule(self, pack: str, entry: dict[str, Any]) -> None:
        name = f"{pack}.{entry['id']}"
        says = []
        for stack in self.stacks:
            chosen = self._chosen(stack, pack, entry)
            given = stack.level_of(name)
            if given is not None:
                level, file, line = given
                says.append(self._says(stack, file, line, level, name))
            elif chosen is not None:
                says.append(self._says(stack, chosen[1], chosen[1].line("", 0, "packs"), chosen[0], name))
        self._add({**entry, "id": name, "pack": pack}, says, "", lambda key, why: UsageError(f"{pack_path(pack)}: {entry['id']}: {why}"))

    def _chosen(self, stack: Stack, pack: str, entry: dict[str, Any]) -> tuple[str, File] | None:
        """The level that the chosen packs give a rule; the strictest if several do."""
        levels: list[tuple[str, File]] = []
        for file in stack.files:
            for name in file.data.get("packs", []):
                if name == "recommended" and "recommended" in entry:
                    levels.append((entry["recommended"], file))
                elif name == "all" or covers_rule(name, pack):
                    levels.append((entry.get("level", "deny"), file))
        return max(levels, key=lambda item: rank(item[0])) if levels else None

    def _own_rule(self, stack: Stack, file: File, number: int, entry: dict[str, Any]) -> None:
        given = stack.level_of(entry["id"])
        level = given[0] if given else entry.get("level", "deny")
        says = self._says(stack, file, file.line("rule", number), level, entry["id"])
        says["mode"] = entry.get("mode", says["mode"])
        if "ask_via" in entry:
            says["ask_via"] = entry["ask_via"]
        self._add({**entry, "pack": ""}, [says], file.folder, lambda key, why: file.wrong("rule", number, key, why))

    def _says(self, stack: Stack, file: File, line: int, level: str, rule: str) -> dict[str, Any]:
        """What one layer sets for a rule, with the exceptions that count there: those of the same layer and of the layers above."""
        above = [other for other in self.stacks if LAYERS.index(other.layer) <= LAYERS.index(stack.layer)]
        exceptions = [
            self._exception(holder, number, entry)
            for other in above
            for holder in other.files
            for number, entry in holder.tables("exception")
            if covers_rule(entry["rule"], rule)
        ]
        place = {"file": file.path, "line": line, "layer": stack.layer, "fixed": stack.fixed}
        return {"level": level, "mode": stack.mode, "reason": "", "exceptions": exceptions, **place}

    def _exception(self, file: File, number: int, entry: dict[str, Any]) -> dict[str, Any]:
        until = entry.get("until", "")
        return {
            "command": [
                self._pattern(text, lambda key, why: file.wrong("exception", number, key, why)) for text in _several(entry, "command")
            ],
            "path": entry.get("path", ""),
            "until": until if isinstance(until, str) else until.isoformat()[:10],
            "reason": entry["reason"],
            "folder": file.folder,
            "file": file.path,
            "line": file.line("exception", number),
        }

    def _pattern(self, text: str, wrong: Any) -> dict[str, Any]:
        try:
            return parse_pattern(text, self.lists)
        except PatternError as error:
            raise wrong("command", str(error)) from None

    def _add(self, entry: dict[str, Any], says: list[dict[str, Any]], folder: str, wrong: Any) -> None:
        patterns = [self._pattern(text, wrong) for text in _several(entry, "command")]
        for tool in entry.get("tools", []):
            if tool not in self.tools and not tool.startswith("mcp__") and tool != "*":
                raise wrong("tools", f"unknown tool {tool!r}{suggestion(tool, self.tools)}")
        if entry.get("check", "fork-bomb") not in CHECKS:
            raise wrong("check", f"unknown check {entry['check']!r}")
        criteria = ("command", "text", "paths", "urls", "mcp", "content", "bytes", "check", "tools")
        if not any(key in entry for key in criteria):
            raise wrong("", f"the rule has nothing to match; give one of {', '.join(criteria[:-2])}")
        says = [one for one in says if one["level"] != "off"]
        if not says:
            return
        number = len(self.rules)
        self.rules.append(
            {"id": entry["id"], "pack": entry["pack"], "reason": entry["reason"], "severity": entry.get("severity", "medium"), "says": says}
        )
        criteria_given: dict[str, Any] = {key: _several(entry, key) for key in ("tools", "text", "unless_via", "paths", "mcp", "content")}
        criteria_given |= {"urls": self._urls(entry, says), "check": entry.get("check"), "bytes": entry.get("bytes")}
        if "paths" in entry:
            criteria_given |= {"access": entry.get("access", "any"), "folder": folder}
        given = {key: value for key, value in criteria_given.items() if value or key == "folder"}
        for name, some in self._places(entry, patterns).items():
            stored = [{key: value for key, value in pattern.items() if value and (key != "programs" or name == "*")} for pattern in some]
            self._chunk(name)["rules"].append({"rule": number, **given, **({"command": stored} if stored else {})})

    def _urls(self, entry: dict[str, Any], says: list[dict[str, Any]]) -> list[str]:
        """The addresses of a rule. Domains count from the layer that enables the rule and from those above; no layer below may add any."""
        given = _several(entry, "urls")
        if "!<domains>" not in given:
            return given
        strongest = min(LAYERS.index(one["layer"]) for one in says)
        above = [file for stack in self.stacks if LAYERS.index(stack.layer) <= strongest for file in stack.files]
        domains = [d for data in (*self.packs.values(), *(file.data for file in above)) for d in data.get("domains", [])]
        return [glob for glob in given if glob != "!<domains>"] + [f"!{domain}" for domain in domains]

    def _places(self, entry: dict[str, Any], patterns: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """Under which names a rule is kept, each with the patterns that can match there."""
        places: dict[str, list[dict[str, Any]]] = {}
        for pattern in patterns:
            for program in pattern["programs"]:
                name = "*" if set(program) & set("*?<") else program.lower()
                places.setdefault(name, []).append(pattern)
        if entry.get("check") in _SCRIPT_CHECKS:
            return {"!": []}
        if "check" in entry or "programs" in entry:
            return {program: [] for program in _several(entry, "programs")}
        if places:
            return places
        if "urls" in entry:
            return {name: [] for name in ("", *NETWORK)}
        return {"*": []} if "text" in entry else {"": []}

    def _chunk(self, name: str) -> dict[str, Any]:
        fresh: dict[str, Any] = {"vocabulary": self.vocabulary.get(name, {}), "rules": [], "permissions": []}
        return self.chunks.setdefault(name, fresh)

    def _permission(self, stack: Stack, file: File, level: str, text: str) -> None:
        try:
            entry = parse_permission(text, self.tools)
        except UsageError as error:
            raise file.wrong("permissions", 0, level, str(error)) from None
        place = {"file": file.path, "line": _entry_line(file, level, text), "layer": stack.layer, "fixed": stack.fixed}
        entry["says"] = {"level": level, "mode": stack.mode, "reason": "", "exceptions": [], "permission": True, **place}
        entry["folder"] = file.folder
        if level == "allow" and stack.mode == "observe":
            return  # nothing is changed in this mode, for the better either
        self._chunk(entry["program"] if entry["kind"] == "command" else "")["permissions"].append(entry)

    def _policy(self, stack: Stack, file: File, name: str, options: dict[str, Any]) -> None:
        import inspect

        from onehook import policies

        named = dict(options)
        parameters = inspect.signature(getattr(policies, name)).parameters.values()
        varied = [p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL and p.name in named]
        positional = [item for key in varied for item in named.pop(key)]
        given = stack.level_of(f"policies.{name}")
        says = self._says(stack, file, file.line("policies." + name, 0), given[0] if given else "deny", f"policies.{name}")
        try:
            getattr(policies, name)(*positional, **named)
        except (ValueError, TypeError, UsageError) as error:
            raise file.wrong("policies." + name, 0, "", str(error)) from None
        if says["level"] != "off":
            self.policies.append((name, positional, named | ({"policy": self._own_files()} if name == SELF else {}), says))

    def _self_protect(self) -> None:
        """One for all layers, as strict as the strictest: what one layer enables, no other can disable."""
        wanted: list[dict[str, Any]] = []
        for stack in self.stacks:
            given = [file for file in stack.files if SELF in file.data]
            if (given and not given[-1].data[SELF]) or any(SELF in file.data.get("policies", {}) for file in stack.files):
                continue
            named = stack.level_of(f"policies.{SELF}")
            file = given[-1] if given else stack.files[-1]
            wanted.append(self._says(stack, file, file.line("", 0, SELF), named[0] if named else "deny", f"policies.{SELF}"))
        strictest = max(wanted, key=lambda says: (says["mode"] == "enforce", rank(says["level"])), default=None)
        if strictest is not None and strictest["level"] != "off":
            self.policies.append((SELF, [], {"policy": self._own_files()}, strictest))

    def _own_files(self) -> list[str]:
        """The rules files of all layers, and the programs of their hooks."""
        files = [file for stack in self.stacks for file in stack.files]
        return [file.path for file in files] + [
            path for file in files for _, hook in file.tables("hook") for path in programs_of(hook.get("run", ()), file.folder)
        ]

    # --- the compiled form -------------------------------------------------------------------------------------------------------

    def packed(self, files: list[File]) -> tuple[dict[str, Any], bytes]:
        raw = b""
        index: dict[str, tuple[int, int]] = {}
        blocks = {f"#{at // BLOCK}": self.rules[at : at + BLOCK] for at in range(0, len(self.rules), BLOCK)}
        chunks: dict[str, Any] = {**self.chunks, **blocks, "#lists": self.lists}
        for name, chunk in chunks.items():
            data = marshal.dumps(chunk)
            index[name] = (len(raw), len(data))
            raw += data
        sources: list[tuple[str, int, int, int]] = []
        for file in files:
            sources.append((file.path, 0, len(raw), len(file.source)))
            raw += file.source
        for path in pack_files():
            status = os.stat(path)
            sources.append((path, status.st_mtime_ns, 0, status.st_size))
        entries = [entry for chunk in self.chunks.values() for entry in chunk["permissions"]]
        header = {
            "index": index, "sources": sources, "rules": len(self.rules), "policies": self.policies,
            "wants": [_wants(*entry) for entry in self.policies], "own": sorted({own_name(path) for path in self._own_files()}),
            "options": {**self._options(files), **({"mode": "observe"} if self._only_observes() else {})},
            "hash": _hashed(files), "desk": any("ask_via" in says for rule in self.rules for says in rule["says"]),
            "allows": any(entry["says"]["level"] == "allow" for entry in entries), "judges": bool(self.chunks), "watch": self._watch(),
            "hooks": [
                (file.path, number, {"mode": stack.mode, **hook})
                for stack in self.stacks for file in stack.files for number, hook in enumerate(file.data.get("hook", []))
            ],
            "model": next((file.data["model"] for file in files if "model" in file.data), None),
        }  # fmt: skip
        return header, raw

    def _only_observes(self) -> bool:
        """Whether no layer may stop anything, not even on an error."""
        entries = [entry for stack in self.stacks for file in stack.files for name in ("rule", "hook") for _, entry in file.tables(name)]
        return all(stack.mode == "observe" for stack in self.stacks) and all(entry.get("mode") != "enforce" for entry in entries)

    def _options(self, files: list[File]) -> dict[str, Any]:
        """The strongest layer that sets an option wins; closed wins in any layer. Only the machine's layer sets its asks and its log."""
        out: dict[str, Any] = {}
        managed = any(stack.layer == "managed" for stack in self.stacks)
        for file in files:
            for key in OPTIONS:
                if managed and file.layer != "managed" and (key in _MACHINES or (key == "timeout" and file.data.get(key, 0) < _LEAST)):
                    continue
                if key in file.data and (key not in out or (key == "fail" and file.data[key] == "closed")):
                    out[key] = file.data[key]
        return {**out, "pausable": False} if any(stack.fixed for stack in self.stacks) else out

    def _watch(self) -> dict[str, Any] | None:
        """What makes an event load the rules about files, addresses and tools; see Table.watches."""
        chunk = self.chunks.get("")
        if chunk is None:
            return None
        rules = [rule for rule in chunk["rules"] if not {"Bash", "*"}.isdisjoint(rule.get("tools", ("*",)))]
        globs = [glob for rule in rules for glob in rule.get("paths", ()) if glob[0] != "!"]
        globs += [entry["glob"] for entry in chunk["permissions"] if entry["kind"] == "path"]
        about_bash = [rule for rule in rules if {"paths", "urls", "mcp", "content", "bytes"}.isdisjoint(rule)]
        about_bash += [entry for entry in chunk["permissions"] if entry["kind"] == "tool" and entry["tool"] in ("Bash", "*")]
        return {"commands": bool(about_bash), "keys": sorted({_key(glob) for glob in globs})}


def _hashed(files: list[File]) -> str:
    """The hash of the rules in force: of the files, and of the release of onehook, whose packs they choose from."""
    from hashlib import sha256

    return sha256(b"\0".join([VERSION.encode(), *(file.source for file in files)])).hexdigest()


def _several(entry: dict[str, Any], key: str) -> list[str]:
    value = entry.get(key, [])
    return [value] if isinstance(value, str) else list(value)


def _key(glob: str) -> str:
    """The longest part of a glob that every path it covers must contain."""
    return max(re.split(r"[*?/]+", glob.lower().lstrip("~.").strip("/")), key=len)


def _entry_line(file: File, level: str, text: str) -> int:
    first = file.line("permissions", 0, level)
    for number, line in enumerate(file.text.splitlines()[first - 1 :], first):
        if f'"{text}"' in line or f"'{text}'" in line:
            return number
    return first


def _wants(name: str, positional: list[Any], named: dict[str, Any], says: dict[str, Any]) -> dict[str, Any]:
    """What a ready-made policy is for, so that no other event has to load it."""
    from onehook import policies

    made = getattr(policies, name)(*positional, **named)
    return {
        "timeout": made.options.get("timeout"),
        "handlers": [(one.event, one.tools, one.hosts, one.observed) for one in made.registrations],
    }
