"""A policy: how it is loaded, and its message about an event.

message_of is the only way to ask a policy. The caller chooses where that happens (a forked process, a thread, this process).
"""

from __future__ import annotations

import sys

from onehook.cache import SiteOnDemand, compiled, standard_names
from onehook.codec import dumps
from onehook.core import HandlerError, Hooks, OnehookError, Options, PinError, UsageError
from onehook.hostkit.tools import absolute
from onehook.system import is_file, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from importlib.machinery import ModuleSpec
    from typing import Any

    from onehook.core import Event, Response

    # Plain data, so that it can be sent through a pipe. "options": the policy's own; "response", or "error": a string; "by": who answered
    # or raised it; "sources": a hash of the rules that decided; "made": options of a policy that broke while it was being loaded.
    Message = dict[str, Any]

MAX_POLICY = 4 * 1024 * 1024


def message_of(load: Callable[[], Hooks], event: Event, tell: Callable[[dict[str, Any]], None] | None = None) -> Message:
    """The policy's answer to an event, or its error. `tell` is called with the policy's options as soon as they are known."""
    message: Message = {}
    before = len(Hooks.made)
    try:
        policy = load()
        message["options"] = event._policy = policy.options
        if tell is not None:
            tell(policy.options)
        response = _checked(policy.dispatch(event))
        message.update(response=response.to_dict(), by=response.by, sources=getattr(policy, "sources", ""))
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: an exit is not an answer
        message["error"] = explained(error)
        message["unpinned"] = isinstance(error, PinError) or isinstance(error.__cause__, PinError)
        message["by"] = getattr(error, "by", None)
        message["made"] = made_since(before)
    return message


def settled(message: Mapping[str, Any], given: Mapping[str, Any], sources: Iterable[str] = ()) -> Options:
    """The options of an event: those of the command line win over the policy's.

    A policy that could not be loaded has no options; then those that it set before it broke count, and a fail=closed in its source
    (`sources`: what may be its path).
    """
    loaded = message.get("options")
    known = loaded if isinstance(loaded, dict) else message.get("made") or {}
    options = Options({**known, **{name: value for name, value in given.items() if value is not None}})
    if not isinstance(loaded, dict) and not given.get("fail") and any(map(source_says_closed, sources)):
        options.fail = "closed"
    return options


def made_since(count: int) -> dict[str, Any]:
    """How a policy that broke half-way wants to fail: it may already have created its Hooks."""
    made = [hooks.options for hooks in Hooks.made[count:]]
    closed = [options for options in made if options.get("fail") == "closed"]
    return (closed or made or [{}])[-1]


def _checked(response: Response) -> Response:
    """A rewrite must survive JSON before it is promised."""
    if response.modified_input is not None:
        try:
            dumps(response.modified_input)
        except (TypeError, ValueError) as error:
            raise HandlerError(f"modified_input cannot be written as JSON: {error}") from None
    return response


def explained(error: BaseException) -> str:
    """An error of a policy, for a person. The traceback goes to the policy's stderr."""
    cause = error.__cause__ if isinstance(error, OnehookError) else error
    if cause is not None:
        try:
            import traceback

            traceback.print_exception(type(cause), cause, cause.__traceback__)
        except Exception:  # stderr may be closed, __str__ may raise
            pass
    return told(error) if isinstance(error, OnehookError) else f"the policy raised {told(error)}"


def told(error: BaseException) -> str:
    """An error in one line, for a person."""
    try:
        text = str(error)
    except Exception:  # __str__ is the policy's code too
        text = ""
    if isinstance(error, OnehookError):
        return text
    return type(error).__name__ + (f": {text}" if text else "")


# --- loading ---------------------------------------------------------------------------------------------------------------------


def load_policy(path: str, given: dict[str, Any] | None = None, pin: str = "") -> Hooks:
    """The Hooks object of a policy file: the one named `hooks`, or the only one; of a manifest, the one that it describes.

    `given`: the options of the command line, which a manifest's programs use where they set nothing themselves. `pin`: see pins.py.
    """
    if pin:
        from onehook.pins import verify

        verify(_place(path)[0], pin)
    rules: Any = sys.modules.get("onehook.rules.load")
    if rules is not None and (ready := rules.Ready.taken(path, given)) is not None:
        return ready  # type: ignore[no-any-return]
    source = _ahead.pop(path, None)
    try:
        source = _content(path) if source is None else source
    except OSError as error:
        raise UsageError(f"the policy {path} cannot be read: {error.strerror}") from None
    if is_manifest(path):
        if holds_rules(source):
            from onehook.rules.load import load_rules

            return load_rules(path, given)
        from onehook.manifest.load import load_manifest

        try:
            return load_manifest(path, source, given)
        except UsageError:
            if b"[[hook" not in source:
                from onehook.rules.load import load_rules

                load_rules(path, given)  # which names what is misspelt: pack = [...]
            raise
    module = type(sys)("onehook_policy")
    module.__file__, folder = _place(path)
    sys.modules["onehook_policy"] = module
    if folder not in [getattr(finder, "folder", None) for finder in sys.meta_path]:
        sys.meta_path.insert(-1 if sys.meta_path[-1] is SiteOnDemand else len(sys.meta_path), Beside(folder, bool(pin)))
        if pin:
            from onehook.pins import Inside, source_of

            source = source_of(module.__file__)
            sys.meta_path.insert(1, Inside(folder))  # behind the cache of onehook's own modules
    exec(compiled(source, module.__file__), module.__dict__)
    return hooks_in(module.__dict__, path)


_ahead: dict[str, bytes] = {}


def read_ahead(path: str) -> None:
    """Read a policy that is about to be loaded, while this process has nothing else to do. Not a FIFO, for which it would wait."""
    if path[:1] == "/" and is_file(path):
        try:
            _ahead[path] = _content(path)
        except OSError:  # loading raises it again
            pass


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class Beside:
    """Finds the modules next to a policy, after all other finders, except those that the standard library may look for.

    The folder is not put into sys.path: subprocess tries msvcrt everywhere, and would run a msvcrt.py in that folder.
    """

    def __init__(self, folder: str, pinned: bool = False) -> None:
        self.folder = folder
        self.pinned = pinned

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if path is not None or name in standard_names() or name in _LOOKED_FOR:
            return None
        finder: Any = sys.modules["_frozen_importlib_external"]
        spec: ModuleSpec | None = finder.PathFinder.find_spec(name, [self.folder])
        if self.pinned:
            from onehook.pins import held

            return held(spec)
        return spec


# What modules of the standard library try to import although it is not part of it: site, copy, pickle, platform, logging.handlers.
_LOOKED_FOR = (
    "sitecustomize",
    "usercustomize",
    "org",
    "java",
    "vms_lib",
    "_winreg",
    "win32api",
    "win32con",
    "win32evtlog",
    "win32evtlogutil",
)


def _place(path: str) -> tuple[str, str]:
    """The absolute path, and its folder."""
    if sys.platform == "win32":
        whole = os.path.abspath(path)
        return whole, os.path.dirname(whole)
    whole = absolute(path, "" if path.startswith("/") else os.getcwd())
    return whole, whole.rpartition("/")[0] or "/"


def is_manifest(path: str) -> bool:
    return path.endswith(".toml")


_RULES_KEYS = (
    b"mode", b"packs", b"domains", b"extends", b"self_protect", b"permissions", b"levels", b"policies", b"rule", b"exception",
)  # fmt: skip


def holds_rules(source: bytes) -> bool:
    """Whether a .toml file may hold rules (docs/rules.md). One that has only [[hook]] is read without the code for rules.

    A line that only looks like a key of rules, such as one inside a longer string, does no harm: rules files may have [[hook]] too.
    """
    lines = (line.lstrip(b" \t[\"'") for line in source.splitlines())
    return any(line.startswith(_RULES_KEYS) and not line.startswith(b"model") for line in lines)


def hooks_in(namespace: dict[str, Any], path: str) -> Hooks:
    named = namespace.get("hooks")
    if isinstance(named, Hooks):
        return named
    found = [value for value in namespace.values() if isinstance(value, Hooks)]
    distinct = [hooks for index, hooks in enumerate(found) if hooks not in found[:index]]
    if len(distinct) == 1:
        return distinct[0]
    what = "no Hooks object" if not distinct else f"{len(distinct)} Hooks objects and none named `hooks`"
    raise UsageError(f"{path} has {what}; write `hooks = Hooks()` in it")


def source_says_closed(path: str) -> bool:
    """Whether a policy that cannot be loaded was written to fail closed."""
    if not is_file(path):
        return False
    try:
        with open(path, "rb") as file:
            source = file.read(MAX_POLICY)
    except OSError:
        return False
    plain = b"".join(source.replace(b"\0", b"").split()).replace(b"'", b'"')  # without the zeros, UTF-16 reads like ASCII
    return b'fail="closed"' in plain or b'"fail":"closed"' in plain
