"""One hook, every coding agent, proven.

from onehook import Hooks, allow, ask, deny, run
"""

from onehook.core import Change, Event, Hooks, Mcp, Response, Result, allow, ask, define_hook, deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Memory
    from onehook.runner import run as run

    __version__: str

__all__ = ["Change", "Event", "Hooks", "Mcp", "Response", "Result", "__version__", "allow", "ask", "define_hook", "deny", "run"]


def __getattr__(name: str) -> object:
    # Imported late, because every hook event is a new process: the CLI and a policy test need no runner, a hook needs no version.
    if name == "run":
        from onehook.runner import run

        globals()["run"] = run
        return run
    if name == "__version__":
        from onehook.version import VERSION

        return VERSION
    raise AttributeError(f"module 'onehook' has no attribute {name!r}")


def _open_memory(kind: str, event: Event) -> "Memory":
    from onehook.state import project_of, session_of

    return session_of(event) if kind == "session" else project_of(event)


def _count_tokens(event: Event, known: "dict[str, Any] | None") -> "dict[str, Any] | None":
    from onehook.hosts import HOSTS, having, load

    if event.host not in HOSTS or event.host not in having("transcripts") or not event.transcript_path:
        return known
    where = load(event.host, "transcripts").TOKENS
    try:
        return where.count(event.transcript_path, known) if where is not None else known
    except (OSError, ValueError):
        return known


def _read_result(event: Event) -> Result:
    from onehook.hostkit.effects import Results
    from onehook.hostkit.results import result_of
    from onehook.hosts import HOSTS, wire_of

    return result_of(event, wire_of(event.host).RESULTS if event.host in HOSTS else Results())


Event.open_memory = staticmethod(_open_memory)
Event.count_tokens = staticmethod(_count_tokens)
Event.read_result = staticmethod(_read_result)
