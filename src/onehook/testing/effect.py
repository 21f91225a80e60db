"""The effect of an answer, in words: what a person would see happen."""

from __future__ import annotations

from onehook.core import STOPS, Event, Output, Response

_AFTER = ("PostToolUse", "PostToolUseFailure")


def effect(event: Event, output: Output, gates: bool) -> str:
    """What the host will do. `gates`: a deny of this event prevents something."""
    if output.answer is None:
        return "blocked" if output.exit_code == 2 else "error, goes on"
    return ", ".join([_main_effect(event, output.answer, gates), *_side_effects(output.answer)])


def _main_effect(event: Event, answer: Response, gates: bool) -> str:
    if event.event in STOPS:
        goes_on = answer.decision == "deny" or (answer.decision is None and answer.reason is not None)
        return "goes on working" if goes_on else "stops"
    if answer.decision == "deny":
        return "blocked" if gates else "feedback to the model"
    if answer.decision == "ask":
        return "asked"
    if event.event in _AFTER or not event.tool:
        return "goes on"
    return "runs rewritten" if answer.modified_input is not None else "runs"


def _side_effects(answer: Response) -> list[str]:
    side = []
    if answer.additional_context is not None:
        side.append("context added")
    if answer.user_message is not None and answer.decision != "deny":
        side.append("user told")
    return side
