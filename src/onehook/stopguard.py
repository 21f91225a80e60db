"""Prevent a Stop handler that always denies from keeping an agent working forever.

Some hosts have no cap at all, others end after 5 or 8 rounds. Here the limit is `stop_limit` (5) on every host. Where the host counts
(event.loop_count) its number is used; elsewhere a small file per session counts the denials in a row, and stop_hook_active false
starts again. A host that forgets stop_hook_active between the rounds, or never sends it, has a stop_chain instead: there a stop that is
allowed starts the count again, and the count shows a handler whether the agent was sent back to work. If the agent has a lower limit of
its own (event._stop_cap), the count ends with it: the next stop belongs to another turn.
"""

from __future__ import annotations

import os

from onehook.core import Drop, Response
from onehook.places import replace_file, state_folder
from onehook.sweep import hashed, sweep_sometimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.core import Event, Options


_UNCOUNTABLE = 1_000_000


def recalled(event: Event) -> None:
    """Set stop_hook_active if the host does not report that the agent was sent back to work."""
    if event.stop_chain and not event.stop_hook_active:
        try:
            event.stop_hook_active = _read(_path(event)) > 0
        except OSError:
            return  # nothing can be counted there: see _count


def guarded(event: Event, response: Response, options: Options) -> tuple[Response, list[Drop]]:
    """The answer, or no answer once the agent was sent back to work too often."""
    if response.decision == "allow" or not (response.decision or response.reason or response.additional_context):
        _end_chain(event)
        return response, []
    before = event.loop_count if event.loop_count is not None else _count(event)
    if before < options.stop_limit and (event._stop_cap is None or before < event._stop_cap):
        return response, []
    _end_chain(event)
    limit = f"stop_limit={options.stop_limit:g}" if before >= options.stop_limit else "the agent's own limit"
    often = "again, and the count cannot be stored in " + state_folder() if before == _UNCOUNTABLE else f"{before} times in a row"
    warning = f"{event.host} {event.native_event}: sent back to work {often}; letting it stop ({limit})"
    drop = Drop(event.host, event.native_event, "decision", f"{limit.partition('=')[0]} reached", "ended", warning=warning)
    return Response(user_message=response.user_message), [drop]


def _count(event: Event) -> int:
    """How often in a row this session's stop was denied before; counts this time too."""
    path = _path(event)
    another = event.stop_hook_active or bool(event.stop_chain)
    try:
        if path.startswith("~"):  # no home is known; a folder called ~ in the user's project helps nobody
            raise OSError
        before = _read(path) if another else 0
        first = not os.path.exists(path)
        replace_file(path, b"%d" % (before + 1))
        if first:
            sweep_sometimes(state_folder())
        return before
    except OSError:
        # Nowhere to count: one round is safe if the host reports whether it is the first.
        return _UNCOUNTABLE if another else 0


def _end_chain(event: Event) -> None:
    if event.stop_chain:
        try:
            os.unlink(_path(event))
        except OSError:
            pass


def _read(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read() or "0")
    except (FileNotFoundError, ValueError):
        return 0


def _path(event: Event) -> str:
    names = (event.host, event.session_id, event.agent_id, event.event, event.stop_chain)
    return os.path.join(state_folder(), "stops", hashed(names))
