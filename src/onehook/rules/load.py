"""Compiled rules, and the handlers that they are for an event. On the hot path.

The rules of a file, of what it extends, of the other layers and of their packs are compiled together into one file: a header, and for
every program a chunk that is loaded only if a command names the program. The file holds a copy of every source that it was made from and
is used only if each is still the same to the byte, so that nobody has to remember to compile. Packs are part of onehook: of them size and
time are compared.

That the chunks are what the sources say, nothing in the file can prove. So it is beside onehook's own compiled code (see cache.py), where
a forged file is no more than a forged onehook; in the user's cache it would be a way to switch rules off that nobody looks at.
"""

from __future__ import annotations

import marshal
import sys
from _imp import source_hash
from time import time as now

from onehook.cache import FOLDER as CACHE
from onehook.cache import exists, is_outdated, state_of
from onehook.core import RESULTS, HandlerError, Hooks, Options, Registration, UsageError, merge
from onehook.hostkit.tools import absolute
from onehook.places import config_folder, managed_folder
from onehook.rules import BLOCK, MAGIC, SELF
from onehook.system import is_file, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from onehook.core import Event, Pause, Response
    from onehook.manifest.load import Manifest
    from onehook.rules.levels import Ruling

    Layer = tuple[str, str]  # "managed", "user" or "project", and the path of its file

MAX_LAYER = 1 << 20  # bytes of a user's rules file, in addition to the machine's
HEAD = 1 << 15  # bytes that are read at once; a header is rarely longer


class Table:
    """Compiled rules. `read` gives the bytes of a chunk, as marshal wrote them."""

    __slots__ = ("_chunks", "_index", "_read", "allows", "header", "pause")

    def __init__(self, header: dict[str, Any], raw: bytes = b"", read: Callable[[int, int], bytes] | None = None) -> None:
        self.header = header
        self._index: dict[str, tuple[int, int]] = header["index"]
        self._read = read or (lambda begin, size: raw[begin : begin + size])
        self._chunks: dict[str, Any] = {}
        self.allows: bool = header["allows"]
        self.pause: Pause | None = None

    def hold(self, pause: Pause | None) -> None:
        """Set what a person has paused, before the rules are evaluated."""
        if self.pause is not None or pause is not None:
            self._chunks.clear()  # they were read for another pause, or for none
        self.pause = pause

    def chunk(self, name: str) -> Any:
        """The rules and permissions for a program; for "" those for files, addresses and tools. None if there are none."""
        if name not in self._index:
            return None
        if name not in self._chunks:
            self._chunks[name] = marshal.loads(self._read(*self._index[name]))
            if self.pause is not None:
                _observe(self._chunks[name], self.pause)
        return self._chunks[name]

    def rule(self, number: int) -> dict[str, Any]:
        """A rule's name and reason, and what each layer sets for it."""
        described: dict[str, Any] = self.chunk(f"#{number // BLOCK}")[number % BLOCK]
        return described

    def rules(self) -> list[dict[str, Any]]:
        return [self.rule(number) for number in range(self.header["rules"])]

    def permissions(self) -> list[dict[str, Any]]:
        """For each entry of [permissions]: its level, its mode and its place."""
        return [entry["says"] for name in self._index if name[:1] != "#" for entry in self.chunk(name)["permissions"]]

    def __getitem__(self, name: str) -> list[str]:
        """The names of a list, for <near:NAME>."""
        names: list[str] = self.chunk("#lists")[name]
        return names

    def watches(self, event: Event, plain: bool) -> bool:
        """Whether a rule that is not about one program may match."""
        watch = self.header["watch"]
        if watch is None:
            return False
        if not event.command:
            return True
        if watch["commands"] or (watch["keys"] and not plain):
            return True
        # A plain line names its files in full, so a path that a rule is about has the rule's own words in it.
        text = f"{event.command}\0{event.cwd}".lower()
        return any(key in text for key in watch["keys"])


def _observe(chunk: Any, pause: Pause) -> None:
    """What is paused is only observed: here rules (a list), permissions (of a program), or neither."""
    rules = chunk if isinstance(chunk, list) else ()
    said = [(rule["id"], says) for rule in rules for says in rule["says"]]
    said += [(entry["text"], entry["says"]) for entry in chunk.get("permissions", ())] if isinstance(chunk, dict) else []
    for name, says in said:
        if not says["fixed"] and pause.holds(name):
            says["mode"] = "observe"


class Ruled(Registration):
    """A registration whose answers name the rules that they come from."""

    __slots__ = ()

    def said(self, what: Response | str) -> list[dict[str, Any]]:
        return super().said(what) if isinstance(what, str) or not what.by else what.by


class Rules(Hooks):
    """The policy of a rules file. `noted` contains the rulings of the last event, including those without effect."""

    __slots__ = ("noted", "programs", "table")
    grows = False

    @property
    def sources(self) -> str:
        """A hash of every file that the rules were compiled from."""
        return str(self.table.header["hash"])

    def __init__(self, table: Table, given: Mapping[str, Any] | None = None) -> None:
        super().__init__(**table.header["options"])
        self.table = table
        self.noted: list[Ruling] = []
        for last in (False, True):  # what protects the policy itself comes last: a rule's own reason is more specific
            for entry, wants in zip(table.header["policies"], table.header["wants"]):
                if (entry[0] == SELF) is last:
                    self._take_policy(wants, *entry)
            if table.header["judges"] and not last:
                self.registrations.append(Ruled("PreToolUse", self.judged, (), ()))
        self.programs: Manifest | None = None
        if table.header["hooks"]:
            from onehook.manifest.load import programs_of

            self.programs = programs_of(table.header["hooks"], table.header["options"], given or {}, table.header["model"])
            self.programs.alone = False
            self.registrations += self.programs.registrations
            self.options = self.programs.options  # they need time, and may fail closed

    def wanting(self, event: Event) -> Iterator[Registration]:
        """Without the programs, which run concurrently."""
        programs = self.programs.registrations if self.programs else ()
        return (registration for registration in super().wanting(event) if registration not in programs)

    def paused(self, registration: Registration, pause: Pause) -> bool:
        return False  # that depends on which file sets it: see _observe and levels.leveled

    def dispatch(self, event: Event) -> Response:
        """Rules first; programs are started only for what the rules let through."""
        self.table.hold(event._pause)
        response = super().dispatch(event)
        if self.programs is None or (response.decision == "deny" and event.event not in RESULTS):
            return response
        return merge(response, self.programs.dispatch(event.after(response)))

    def judged(self, event: Event) -> Response | None:
        from onehook.rules.judge import Line, rulings
        from onehook.rules.levels import answered

        line = Line(event.command)
        found = rulings(self.table, event, line)
        self.noted += found
        answer = answered(found)
        if line.cut and (answer is None or answer.decision != "deny") and self.table.header["options"].get("mode") != "observe":
            # An error, and not "no objection": `fail` decides what happens then.
            raise HandlerError("the command is too long, too deeply nested or incomplete, so the rules cannot check it")
        return answer

    def _take_policy(
        self, wants: dict[str, Any], name: str, positional: Sequence[Any], named: Mapping[str, Any], says: dict[str, Any]
    ) -> None:
        made: list[Hooks] = []

        def load(number: int) -> Callable[[Event], Any]:
            from onehook import policies
            from onehook.rules.levels import leveled

            if not made:
                made.append(getattr(policies, name)(*positional, **named))
            return leveled(made[0].registrations[number].handler, f"policies.{name}", says, self.noted.append)

        needs = wants["timeout"]
        if needs and not self.table.header["options"].get("timeout"):  # one that runs something knows how long it takes
            self.options["timeout"] = max(needs, self.options.get("timeout") or Options().timeout)
        own = self.table.header["own"] if name == SELF else None
        for number, (event, tools, hosts, observed) in enumerate(wants["handlers"]):
            handler = Later(f"policies.{name}", load, number, own)
            self.registrations.append(Ruled(event, handler, tools, hosts, observed or says["mode"] == "observe"))


class Later:
    """A handler of a ready-made policy, loaded by the first event that it is for. `own`: names without which it never objects."""

    def __init__(self, name: str, load: Callable[[int], Callable[[Event], Any]], number: int, own: Sequence[str] | None) -> None:
        self.__name__ = name
        self.load, self.number, self.own = load, number, own

    @property
    def __wrapped__(self) -> Callable[[Event], Any]:
        return self.load(self.number)

    def __call__(self, event: Event) -> Any:
        if self.own is not None and event.command:
            from onehook.policies.self_words import may_matter

            if not may_matter(event.command, event.cwd, self.own):
                return None
        return self.__wrapped__(event)


class Wide(Rules):
    """The policy of an install for all of a user's projects: the rules file of the project that an event is from applies as well."""

    __slots__ = ("given", "layers")
    grows = True  # nobody knows what the files of the projects need

    def __init__(self, layers: Sequence[Layer], table: Table, given: Mapping[str, Any] | None = None) -> None:
        super().__init__(table, given)
        self.layers, self.given = layers, given

    def dispatch(self, event: Event) -> Response:
        from onehook.rules.trust import is_trusted, project_file

        project = project_file(event.cwd)
        if not project or _whole(project) in [path for _, path in self.layers]:
            return super().dispatch(event)
        try:
            layer = "project" if is_trusted(project) else "untrusted"
            both = Rules(table_of([*self.layers, (layer, project)]), self.given)
        except UsageError as error:  # a file that anybody may have written must not switch off the user's own
            print(f"[onehook] {project} is ignored: {error}", file=sys.stderr)
            return super().dispatch(event)
        self.options.update(both.options)
        response = both.dispatch(event)
        self.noted += both.noted
        self.table = both.table  # the rules that decided, for the log
        return response


def load_rules(path: str, given: Mapping[str, Any] | None = None) -> Rules:
    """The policy of a rules file, together with the user's and the machine's own rules. `given`: options of the command line."""
    layers, own, managed = every_layer(), _whole(path), (given or {}).get("layer") == "managed"
    if any(file == own for _, file in layers):
        found = [(layer, file) for layer, file in layers if file == own or exists(file)]
        return Wide(*_sound(found, managed), given)
    return Rules(_sound([*layers, ("managed" if managed else "project", path)], managed)[1], given)


class Ready:
    """The policy of a rules file, loaded in advance (resident/), for one event that finds its files unchanged.

    The caller checks the packs itself, which are part of onehook.
    """

    SETTLED = 0.05  # seconds after which a change of a file changes its time

    kept: list[Ready] = []  # noqa: RUF012

    def __init__(self, path: str, given: Mapping[str, Any]) -> None:
        self.path, self.given = path, dict(given)
        self.layers = every_layer()
        self.rules = load_rules(path, given)
        sources = [source for source, time, *_ in self.rules.table.header["sources"] if not time]
        self.states = {file: state_of(file) for file in (*sources, *(file for _, file in self.layers))}
        latest = max(time for time, *_ in self.states.values()) / 1e9
        if path[:1] == "/" and self.rules.programs is None and latest < now() - self.SETTLED:
            self.kept[:] = [self]

    def rehearse(self, event: Event) -> None:
        """Apply the rules, and what protects them, to an event like the next one: their answer depends only on the event and on
        files that they read again, and there is no other effect."""
        try:
            for registration in self.rules.wanting(event):
                handler: Any = registration.handler
                if handler == self.rules.judged or getattr(handler, "own", None) is not None:
                    handler(event)
        finally:
            self.rules.noted.clear()  # also if the command could not be judged: the rules are kept for the event

    @classmethod
    def fit(cls, path: str, given: Mapping[str, Any] | None) -> bool:
        """Whether the stored ones are for events like this."""
        return any(ready.path == path and ready.given == given for ready in cls.kept)

    @classmethod
    def taken(cls, path: str, given: Mapping[str, Any] | None) -> Rules | None:
        fit = cls.fit(path, given)
        ready = cls.kept.pop() if cls.kept else None
        if ready is None or not fit or ready.layers != every_layer() or is_outdated(ready.states):
            return None
        return ready.rules


def _sound(layers: Sequence[Layer], managed: bool) -> tuple[Sequence[Layer], Table]:
    """The layers that apply. In an install for the whole machine, a broken user's file is skipped: it must not disable everything."""
    try:
        for layer, path in layers if managed else ():
            if layer != "managed" and exists(path) and not (is_file(path) and os.stat(path).st_size < MAX_LAYER):
                raise UsageError(f"{path} is not a rules file")
        return layers, table_of(layers)
    except Exception as error:
        rest = [(layer, path) for layer, path in layers if layer == "managed"]
        if not managed or len(rest) == len(layers):
            raise
        table = table_of(rest)  # which may be what is wrong
        print(f"[onehook] only the machine's rules apply: {error}", file=sys.stderr)
        return rest, table


def _whole(path: str) -> str:
    return absolute(path, "" if path[:1] == "/" else os.getcwd())


def every_layer() -> list[Layer]:
    """The files that apply to every project, whether they exist or not: the machine's and the user's own."""
    folders = (("managed", managed_folder()), ("user", config_folder()))
    return [(layer, _whole(f"{folder}/onehook.toml")) for layer, folder in folders if folder]


def layers_beside(path: str) -> list[Layer]:
    """The layers that apply in addition to a file."""
    return [(layer, file) for layer, file in every_layer() if file != _whole(path)]


def load(path: str, layers: Sequence[Layer] = (), cache: str | None = None) -> Rules:
    """The policy of a rules file. `layers`: files that apply in addition to it; `cache`: the folder of compiled rules ("" for none)."""
    return Rules(table_of([*layers, ("project", path)], cache))


def table_of(layers: Sequence[Layer], cache: str | None = None) -> Table:
    layers = [(layer, path) for layer, path in layers if layer == "project" or exists(path)]
    folder = cache_folder() if cache is None else cache
    stored = f"{folder}/{cache_name(layers)}" if folder else ""
    table = _stored(stored) if stored else None
    if table is None:
        from onehook.rules.compile import compile_layers, store

        header, raw = compile_layers(layers)
        if stored:
            store(stored, header, raw, public=all(layer == "managed" for layer, _ in layers))
        table = Table(header, raw)
    return table


def cache_folder() -> str:
    """Where compiled rules are kept. If onehook's folder is read-only, they are compiled for each event."""
    return "" if sys.dont_write_bytecode else f"{CACHE}/rules"


def cache_name(layers: Sequence[Layer]) -> str:
    """A file name for a set of files: readable at its end, and distinct by a checksum of all the paths."""
    whole = "\0".join(f"{layer}={_whole(path)}" for layer, path in layers).encode("utf-8", "surrogateescape")
    checksum = (source_hash(0, whole) + source_hash(1, whole)).hex()  # hashlib would be an import
    folder = _whole(layers[-1][1]).replace("\\", "/").rpartition("/")[0].rpartition("/")[2]
    return f"{checksum}-{''.join(c if c.isalnum() else '_' for c in folder[:40])}.bin"


def _stored(path: str) -> Table | None:
    """The compiled rules of a file in the cache, if they were made from the sources as they are now."""
    found = _opened(path)
    if found is None:
        return None
    header, chunks = found
    try:
        if all(_is_same(source, chunks.read) for source in header["sources"]):
            return Table(header, read=chunks.read)
    except (OSError, ValueError, TypeError, KeyError, UsageError):
        pass
    chunks.close()
    return None


def _opened(path: str) -> tuple[dict[str, Any], _Chunks] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    try:
        start = len(MAGIC) + 8
        data = os.read(descriptor, HEAD)
        if data.startswith(MAGIC) and (sys.platform == "win32" or _is_ours(os.fstat(descriptor))):
            end = start + int.from_bytes(data[len(MAGIC) : start], "little")
            while len(data) < end and (more := os.read(descriptor, end - len(data))):
                data += more
            return marshal.loads(memoryview(data)[start:end]), _Chunks(path, descriptor, end)
    except (OSError, ValueError, EOFError, TypeError):
        pass
    os.close(descriptor)
    return None


class _Chunks:
    """What follows the header of a compiled file."""

    __slots__ = ("_descriptor", "_end", "_path")

    def __init__(self, path: str, descriptor: int, end: int) -> None:
        self._path, self._descriptor, self._end = path, descriptor, end

    def read(self, begin: int, size: int) -> bytes:
        os.lseek(self._descriptor, self._end + begin, 0)
        found = os.read(self._descriptor, size)
        if len(found) != size:
            raise UsageError(f"the compiled rules in {self._path} are damaged; delete the file")
        return found

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = close


def _is_ours(status: os.stat_result) -> bool:
    """Whether it is owned by this user, or by root, who installed it for the whole machine."""
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o022


def _is_same(source: tuple[str, int, int, int], read: Callable[[int, int], bytes]) -> bool:
    """(path, time, offset, size): with a time for a pack, else with the place of the copy."""
    path, modified, offset, size = source
    if modified:
        status = os.stat(path)
        return status.st_size == size and status.st_mtime_ns == modified
    with open(path, "rb", buffering=0) as file:
        return file.readall() == read(offset, size)
