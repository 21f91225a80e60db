"""How onehook's plugin, in an agent without command hooks, reads an answer: plugin.js, as reverse modules need it.

Both sides of that wire are onehook's. In: {"<host>": 1, "hook_event_name", "session_id", "cwd", ...}, with the names of the agent's own
events. Out: what onehook.hostkit.effects.for_plugin returns, or nothing. Exit code 2 denies, with stderr as the reason.
"""

from __future__ import annotations

from onehook.core import HandlerError, Response
from onehook.hostkit import reverse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from onehook.core import Event
    from onehook.hostkit.reverse import Host, Spec

ANSWERS = ("decision", "reason", "args", "context", "message")
NO_REASON = "denied by policy"


_FIELDS: Spec = {"decision": ("allow", "deny", "ask"), "reason": str, "args": dict, "context": str, "message": str}


def heard(
    host: Host,
    event: Event,
    said: tuple[str, str, int],
    name: str,
    decisions: Mapping[str, tuple[str, ...]],
    context: tuple[str, ...],
) -> Response:
    """How the plugin reads an answer. Raises HandlerError for what it warns about: the event proceeds there, unless it fails closed.

    `said`: stdout, stderr and exit code. `decisions`: shape -> the decisions that take effect. `context`: the shapes that accept context;
    a denied stop does too.
    """
    stdout, stderr, exit_code = said
    shape = host.events[name].shape
    if exit_code == 2:
        denied = "deny" in decisions.get(shape, ())
        return Response("deny", stderr.strip() or NO_REASON) if denied else Response()
    if exit_code != 0:
        raise reverse.exit_problem(host.label, exit_code, stderr)
    text = stdout.strip()
    body = reverse.json_object(text) if text else {}
    problem = "the answer is not a JSON object" if body is None else reverse.problem_in(body, _FIELDS, nullable=True)
    if body is None or problem:
        raise HandlerError(f"{host.label} hook: {problem}")
    answer = Response(user_message=body.get("message"))
    answer.decision = body.get("decision") if body.get("decision") in decisions.get(shape, ()) else None
    if answer.decision in ("deny", "ask"):
        answer.reason = body.get("reason") or (NO_REASON if answer.decision == "deny" else None)
    if shape in context or (shape == "stop" and answer.decision == "deny"):
        answer.additional_context = body.get("context")
    if shape == "tool" and answer.decision != "deny" and body.get("args") is not None:
        answer.modified_input = host.rewrite(event, name, body["args"])
    return answer
