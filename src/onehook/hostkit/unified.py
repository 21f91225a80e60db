"""The unified form itself as a dialect, for hook programs in any language that are written for onehook.

The event goes in as JSON (docs/schema/event.json), the answer comes back as JSON (docs/schema/response.json).
"""

from __future__ import annotations

from onehook.core import CONTRACT_FIELDS, EVENTS, EXTENDED_EVENTS, RESPONSE_FIELDS, Event, HandlerError, Response, as_response
from onehook.hostkit import reverse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "onehook"
ENV_FILE = ""
ANSWERS = (*RESPONSE_FIELDS, *CONTRACT_FIELDS)
losses = reverse.no_losses
variables = reverse.no_variables


def parts(event: Event) -> list[Event]:
    """One event: `changes` names every file."""
    return [event]


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    return event.to_dict()


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """The fields of a Response as one JSON object, or nothing. Exit 0, or 2 for a deny, with stderr as its reason if JSON gives none."""
    if exit_code not in (0, 2):
        raise reverse.exit_problem("onehook", exit_code, stderr)
    text = stdout.strip()
    body = reverse.json_object(text) if text else {}
    problem = "" if body is not None else "the answer is not a JSON object"
    heard = Response()
    if body is not None:
        try:
            heard = as_response({key: value for key, value in body.items() if value is not None}) or heard
        except HandlerError as error:
            problem = str(error)
    if exit_code == 2:
        reason = heard.reason or stderr.strip() or (text if problem else "") or "blocked by a hook"
        return heard.copy(decision="deny", reason=reason)
    if problem:
        raise HandlerError(f"the answer was ignored: {problem}")
    return heard


# ---- a model's verdict ----

JUDGED = (*EVENTS, *EXTENDED_EVENTS)


def verdict(event: Event, said: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    return {} if said["ok"] else {"decision": "deny", "reason": said["reason"]}
