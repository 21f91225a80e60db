"""Whether paths, URLs, MCP tools and permissions match an event. On the hot path."""

from __future__ import annotations

from onehook.core import tool_matches, wildcard
from onehook.system import variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from onehook.core import Event
    from onehook.policies.shell import Command

    Touch = tuple[str, bool]  # a path, and whether it is changed
    Forms = dict[str, list[str]]  # a path -> the path itself, and with its links followed

# Options of curl, wget and their like whose value may look like an address and is not one.
VALUED = frozenset([
    "-o", "--output", "-O", "--output-document", "-d", "--data", "--data-binary", "--data-raw", "--json", "-H", "--header", "-u",
    "--user", "-T", "--upload-file", "-F", "--form", "-A", "--user-agent", "-b", "--cookie", "-c", "--cookie-jar", "-K", "--config",
    "--cacert", "--cert", "--key", "-w", "--write-out", "-P", "--directory-prefix", "--post-file", "--post-data", "-a", "-e",
    "--referer",
])  # fmt: skip


def path_covered(globs: Sequence[str], path: str, folder: str, cwd: str, strict: bool, known: Forms | None = None) -> bool:
    """Whether one of a rule's globs covers a path, by the rules of .gitignore.

    //x is absolute, ~/x below the home folder, /x below the folder of the rules file, x and ./x below the agent's. A name without a slash
    is found at any depth, and a folder covers what is in it. `strict` is for rules that stop something: case does not count, a link is
    followed, and /x covers the absolute path too, since that is what people mean by Edit(/etc/**). `known`: what was found out about paths
    for other rules on the same event.
    """
    if not globs:
        return False
    if strict and hasattr(path, "files") and first_in(path, globs, [], folder, cwd):
        return True
    known = {} if known is None else known
    if path not in known:
        known[path] = _forms(path, cwd)
    forms = [_parts(form, strict) for form in known[path]]
    if strict:
        prepared = _prepared(globs, folder, cwd)
        return any([prepared.cover(form) for form in forms])
    for glob in globs:
        wholes = [_parts(whole, False) for whole in _absolute(glob, folder, cwd, False)]
        if all([any([_segments(whole, form) for whole in wholes]) for form in forms]):
            return True
    return False


def first_in(path: Any, globs: Sequence[str], out: Sequence[str], folder: str, cwd: str) -> str:
    """The first file in a folder that is read as a whole (policies.folders.Folder) that a rule covers, or ""."""
    import os  # a command that no rule about paths is for ends without it

    wanted, excepted = _prepared(globs, folder, cwd), _prepared(out, folder, cwd)
    for file in path.files(cwd):
        parts = os.path.normpath(os.path.join(cwd, file)).replace("\\", "/").lower().strip("/").split("/")
        if wanted.cover(parts) and not excepted.cover(parts):
            return str(file)
    return ""


class _Globs:
    """The globs of a rule that stops something. Most paths are covered by none of them, which is determined without checking each."""

    __slots__ = ("anywhere", "below", "rest", "suffixes")

    def __init__(self, globs: Iterable[list[str]]) -> None:
        self.anywhere: dict[str, list[list[str]]] = {}  # those of any depth, by the name that they begin with
        self.suffixes: tuple[str, ...] = ()  # of a name at any depth
        self.below: dict[int, dict[tuple[str, ...], list[list[str]]]] = {}  # by the folders that they begin with, and how many these are
        self.rest: list[list[str]] = []
        for glob in globs:
            if _is_literal(glob[0]):
                count = 1
                while count < len(glob) and _is_literal(glob[count]):
                    count += 1
                self.below.setdefault(count, {}).setdefault(tuple(glob[:count]), []).append(glob)
            elif glob[0] == "**" and len(glob) > 1 and _is_literal(glob[1]):
                self.anywhere.setdefault(glob[1], []).append(glob)
            elif glob[0] == "**" and len(glob) == 2 and glob[1][0] == "*" and _is_literal(glob[1][1:]):
                self.suffixes += (glob[1][1:],)
            else:
                self.rest.append(glob)

    def cover(self, parts: list[str]) -> bool:
        return (
            any([part.endswith(self.suffixes) for part in parts])
            or (not self.anywhere.keys().isdisjoint(parts) and self._one_of([self.anywhere.get(part) for part in parts], parts))
            or self._one_of([found.get(tuple(parts[:count])) for count, found in self.below.items()], parts)
            or self._one_of([self.rest], parts)
        )

    def _one_of(self, found: Sequence[list[list[str]] | None], parts: list[str]) -> bool:
        return any([_segments(glob, parts) for globs in found if globs for glob in globs])


def _is_literal(part: str) -> bool:
    return "*" not in part and "?" not in part


_known: dict[tuple[str, ...], _Globs] = {}
_MAX_KNOWN = 1024


def _prepared(globs: Sequence[str], folder: str, cwd: str) -> _Globs:
    """In resident mode, the rehearsal has prepared those of the rules for the event."""
    key = (folder, cwd, variable("HOME"), variable("USERPROFILE"), *globs)
    if key not in _known:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        _known[key] = _Globs(_parts(whole, True) for glob in globs for whole in _absolute(glob, folder, cwd, True))
    return _known[key]


def _forms(path: str, cwd: str) -> list[str]:
    import os  # a command that no rule about paths is for ends without it

    whole = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    real = os.path.realpath(whole)
    return [whole.replace("\\", "/")] + ([real.replace("\\", "/")] if real != whole else [])


def _absolute(glob: str, folder: str, cwd: str, strict: bool) -> list[str]:
    if glob.startswith("//"):
        return [glob[1:]]
    if glob.startswith("~/") or glob == "~":
        import os

        return [os.path.expanduser("~").replace("\\", "/") + glob[1:]]
    if glob.startswith("/"):
        return [folder.rstrip("/") + glob, *([glob] if strict else [])]
    base = cwd.replace("\\", "/").rstrip("/")
    plain = glob[2:] if glob.startswith("./") else glob
    if glob.startswith("./") or "/" in plain.rstrip("/"):
        return [f"{base}/{plain}"]
    # A bare name: at any depth of the project; to stop something, anywhere at all.
    return [f"/**/{plain}"] if strict else [f"{base}/**/{plain}"]


def _parts(path: str, strict: bool) -> list[str]:
    return (path.lower() if strict else path).strip("/").split("/")


def _segments(globs: list[str], parts: list[str]) -> bool:
    """** matches any number of folders; the rest of the path may be inside a folder that the glob covers."""
    places = {0}
    for part in parts:
        reached = set()
        for place in places:
            if place == len(globs):
                return True
            if globs[place] == "**":
                reached.add(place)
                if place + 1 < len(globs) and wildcard(globs[place + 1], part):
                    reached.add(place + 2)
            elif wildcard(globs[place], part):
                reached.add(place + 1)
        places = reached
    # secrets/** covers the folder itself too: `cp -r secrets x` takes all of it.
    return any(all(glob == "**" for glob in globs[place:]) for place in places)


def touched(event: Event, commands: Sequence[Command]) -> list[Touch]:
    """The files that a call reads or changes, by its tool or by the commands in it."""
    written = [(path, True) for change in event.changes for path in (change.path, change.to) if path]
    if not commands and event.tool != "Grep":
        return written + [(path, False) for path in event.paths if (path, True) not in written]
    from onehook.policies.file_words import files_of, files_of_tool

    # That a folder is moved or deleted with a file in it is not a change of that file, for a rule: every checkout has a .git/config.
    found = [(str(name) if writes else name, writes) for name, _, writes in files_of(commands, event.cwd)]
    return written + [(path, False) for path in files_of_tool(event) if (path, True) not in written] + found


def urls_of(event: Event, commands: Sequence[Command]) -> list[str]:
    """The addresses that a call fetches from or sends to."""
    found = [event.url] if event.url else []
    for command in commands:
        found += [str(word) for word in command.argv[1:] if "://" in word]
        if command.name in ("curl", "wget", "http", "https", "xh", "aria2c"):
            pairs = zip(command.argv, command.argv[1:])
            found += [f"//{word}" for before, word in pairs if before not in VALUED and _looks_like_host(word)]
        elif command.name in ("ssh", "nc", "ncat", "netcat", "telnet", "ftp", "sftp", "ping"):
            found += [f"//{word.rpartition('@')[2]}" for word in command.argv[1:2] if word[:1] != "-"]
    return found


def _looks_like_host(word: str) -> bool:
    host = word.split("/", 1)[0].split(":", 1)[0]
    return (
        word[:1] not in ("-", "@", ".", "/")
        and "." in host
        and "://" not in word
        and (host.rpartition(".")[2].isalpha() or (host.count(".") == 3 and host.replace(".", "").isdigit()))
        and "=" not in host
    )


def host_of(url: str) -> str:
    after = url.partition("://")[2] if "://" in url else url.lstrip("/")
    place = after.replace("\\", "/").split("/", 1)[0].split("?", 1)[0].split("#", 1)[0].rpartition("@")[2]
    return place.split(":", 1)[0].rstrip(".").lower()


def domain_covers(domain: str, url: str) -> bool:
    return wildcard(domain, host_of(url))


def url_covered(globs: Sequence[str], url: str) -> bool:
    """Globs for the host name, or for the whole URL if they have a slash; those with ! exclude something."""
    host = host_of(url)
    found = False
    for glob in globs:
        plain = glob.lstrip("!")
        hit = wildcard(plain, url if "/" in plain else host)
        if hit and glob[0] == "!":
            return False
        found = found or hit
    return found


def tool_covered(tools: Sequence[str], event: Event) -> bool:
    return any(tool_matches(tool, event) for tool in tools)


def permission_holds(entry: Mapping[str, Any], event: Event, strict: bool) -> bool:
    """For the entries that are not about commands or files."""
    kind = entry["kind"]
    if kind in ("tool", "mcp"):
        return tool_matches(entry["name"] if kind == "mcp" else entry["tool"], event)
    if kind == "url":
        return event.tool == "WebFetch" and domain_covers(entry["domain"], event.url)
    if kind != "input" or not tool_matches(entry["tool"], event):
        return False
    given = event.tool_input
    values = [given.get(entry["parameter"])] if entry["parameter"] else list(given.values())
    return any(isinstance(value, str) and wildcard(entry["value"], value) for value in values)


def command_text(command: Command) -> str:
    """A command in one spelling: its words, joined by single blanks."""
    return " ".join(str(word) for word in command.argv)


def command_covered(globs: Sequence[str], command: Command, strict: bool) -> bool:
    spellings = [command_text(command)]
    if strict:  # /usr/bin/npm is npm for a rule that stops it, and not for one that lets it run
        spellings += [" ".join([command.name, *map(str, command.argv[1:])]), command.source.strip()]
    return any(wildcard(glob, spelling) for glob in globs for spelling in spellings)
