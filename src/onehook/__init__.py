"""One hook, every coding agent, proven.

from onehook import Hooks, allow, ask, deny, run
"""

from onehook.core import Change, Event, Hooks, Mcp, Response, allow, ask, define_hook, deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.core import Memory
    from onehook.runner import run as run

    __version__: str

__all__ = ["Change", "Event", "Hooks", "Mcp", "Response", "__version__", "allow", "ask", "define_hook", "deny", "run"]


def __getattr__(name: str) -> object:
    # Late, because every hook event is a new process: the CLI and a policy test need no runner, a hook needs no version.
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


Event.open_memory = staticmethod(_open_memory)
