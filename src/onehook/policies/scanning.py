"""scanner: sends prompts, answers, written files, commands and results to a content scanner."""

from __future__ import annotations

from onehook.core import RESULTS, Hooks, Options, Registration, Response
from onehook.scan.content import GATES, KINDS
from onehook.scan.settings import ACTIONS, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from onehook.core import Event
    from onehook.scan.engine import Outcome
    from onehook.scan.model import Found, Sample

_MARGIN = 0.3  # seconds of the event's time that are reserved for its answer
_LEAST_QUOTE = 4  # characters; a shorter passage occurs everywhere, so it is not replaced


def scanner(
    backend: str,
    *,
    mode: str = "enforce",
    gates: Iterable[str] = tuple(GATES),
    kinds: Iterable[str] = KINDS,
    actions: Mapping[str, str] | None = None,
    url: str = "",
    key_env: str = "",
    key_file: str = "",
    ca_file: str = "",
    options: Mapping[str, Any] | None = None,
    max_chars: int | None = None,
    too_long: str = "chunk",
    seconds: float = 5.0,
    retries: int = 2,
    cache: float = 3600.0,
    failures: int = 3,
    pause: float = 30.0,
    fail: str | None = None,
) -> Hooks:
    """Send what an agent is told and what it does to a content scanner: a service, a model, or a local program.

    backend    airs, lakera, moderation, judge, http, program, gitleaks, semgrep, ggshield, detect-secrets or yara (docs/scanner.md)
    mode       "enforce", "observe" (scan and log, and change nothing) or "bypass" (do not scan)
    gates      what is scanned: prompts, responses, writes, commands, urls, mcp, results
    kinds      "text", "code", or both
    actions    what a category leads to: {"pii/*": "mask", "*": "block"}; block, ask, mask or allow, and block for the rest
    url        where the service is, if not at its usual place
    key_env    the variable with the key; key_file: a file of mode 0600 with the key instead
    ca_file    certificates to trust instead of the system's
    options    the backend's own options
    max_chars  what is sent at once; too_long: "skip" what is longer, "cut" it, or send it in "chunk"s
    seconds    for all scans of one event; retries: attempts after the first, if there is time
    cache      seconds that a verdict is kept for the same content (0: not at all)
    failures   in a row after which the scanner is not asked for `pause` seconds
    fail       "open" or "closed", if it should differ from the policy's: what happens if a scan was not possible
    """
    settings = Settings(
        backend, mode, gates, kinds, actions, url, key_env, key_file, ca_file, options, max_chars, too_long, seconds, retries, cache,
        failures, pause, fail,
    )  # fmt: skip
    hooks = Hooks(timeout=seconds + 5 if seconds > 15 else None)
    if settings.mode == "bypass":
        return hooks

    for event in dict.fromkeys(event for gate in settings.gates for event in GATES[gate]):
        hooks.registrations.append(Scanned(event, Scan(settings), (), (), settings.mode == "observe"))
    return hooks


class Scan:
    """The handler. Its settings are for `onehook scan`."""

    __name__ = "scanner"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __call__(self, event: Event) -> Response | None:
        return _scanned(event, self.settings)


class Scanned(Registration):
    """A registration whose records describe the scan."""

    __slots__ = ()

    def said(self, what: Response | str) -> list[dict[str, Any]]:
        records = super().said(what)
        return records if isinstance(what, str) or not what.by else [{**records[0], **what.by[0]}]


def _scanned(event: Event, settings: Settings) -> Response | None:
    from onehook.scan.content import samples_of

    samples = samples_of(event, settings.gates)
    if not samples:
        return None
    from onehook.scan.engine import Engine

    outcome = Engine(settings).scan(samples, min(settings.seconds, _seconds_left(event) - _MARGIN))
    response = _answered(event, settings, outcome)
    action = response.by[0].pop("action") if response.by else ""
    response.by = [{**(response.by or [{}])[0], "scan": {"backend": settings.backend, "action": action, **outcome.to_dict()}}]
    return response


def _options(event: Event) -> Options:
    return Options({**event._policy, **{name: value for name, value in event._given.items() if value is not None}})


def _seconds_left(event: Event) -> float:
    """Seconds until the deadline of the event."""
    import time

    timeout = _options(event).timeout
    return timeout if event._begun is None else event._begun + timeout - time.monotonic()


def _answered(event: Event, settings: Settings, outcome: Outcome) -> Response:
    """The answer to the findings; without any, an answer without a decision, so that the scan is logged."""
    actions = [(settings.action_of(one.category), sample, one) for sample, one in outcome.found]
    masks = {quote: one.category for action, sample, one in actions if action == "mask" for quote in [_quote(sample, one)] if quote}
    unmaskable = any(action == "mask" and not _quote(sample, one) for action, sample, one in actions)
    strongest = max((action for action, _, _ in actions), key=ACTIONS.index, default="allow")
    masked = _masked(event, masks) if masks else None
    unaskable = strongest == "ask" and event.event in RESULTS  # it makes no sense to ask about what has already happened
    if strongest == "block" or unmaskable or unaskable or (masks and masked is None):
        return _withheld(event, _refused("deny", settings, [entry for entry in actions if entry[0] != "allow"], "block"))
    if outcome.error and (settings.fail or _options(event).fail) == "closed":
        reason = f"this was not scanned: {outcome.error} (blocked: fail=closed)"
        return _withheld(event, Response("deny", reason, reason, by=[{"said": "deny", "action": "error"}]))
    if strongest == "ask":
        asked = _refused("ask", settings, [entry for entry in actions if entry[0] == "ask"], "ask")
        return asked.copy(**masked) if masked else asked
    if masked is not None:
        said = "mask" if "modified_output" in masked else "rewrite"
        return Response(**masked, by=[{"said": said, "action": "mask", "reason": _reason(settings, actions, "masked")}])
    if outcome.error:
        return Response(by=[{"said": "error", "action": "error", "reason": f"this was not scanned: {outcome.error}"}])
    action = "allow" if actions else "skip" if outcome.skipped and not outcome.requests and not outcome.cached else "pass"
    return Response(by=[{"said": "scan", "action": action}])


def _withheld(event: Event, denial: Response) -> Response:
    """Replace the result with the reason: a denial alone would come after the model has read the result."""
    return denial.copy(modified_output=f"[{denial.reason}]") if event.event in RESULTS else denial


def _refused(decision: str, settings: Settings, actions: list[tuple[str, Sample, Found]], action: str) -> Response:
    reason = _reason(settings, actions, "blocked" if decision == "deny" else "stopped for a person to decide")
    return Response(decision, reason, reason, by=[{"said": decision, "action": action}])


def _reason(settings: Settings, actions: list[tuple[str, Sample, Found]], done: str) -> str:
    """The reason, which does not quote the content."""
    about = " and ".join(dict.fromkeys(sample.about for _, sample, _ in actions))
    found = ", ".join(dict.fromkeys(one.category for _, _, one in actions))
    return f"{about} was {done} by the scanner {settings.backend}: {found}"


def _quote(sample: Sample, one: Found) -> str:
    quote = one.quote(sample.text)
    return quote if len(quote.strip()) >= _LEAST_QUOTE else ""


def _masked(event: Event, masks: dict[str, str]) -> dict[str, Any] | None:
    """The fields of an answer that removes the passages; None where that is not possible, as in a prompt."""
    if event.event == "PreToolUse":
        changed = {name: new for name, old in event.tool_input.items() if (new := _replaced(old, masks)) != old}
        return {"modified_input": changed} if changed else None
    return {"modified_output": _replaced(event.result.text, masks)} if event.event in RESULTS else None


def _replaced(value: Any, masks: dict[str, str]) -> Any:
    if isinstance(value, str):
        for quote in sorted(masks, key=len, reverse=True):
            value = value.replace(quote, f"[{masks[quote]}]")
        return value
    if isinstance(value, dict):
        return {name: _replaced(inner, masks) for name, inner in value.items()}
    return [_replaced(inner, masks) for inner in value] if isinstance(value, list) else value
