"""The effect of an answer, in words: what a person would see happen."""

from __future__ import annotations

from onehook.core import STOPS, Event, Output, Response

_AFTER = ("PostToolUse", "PostToolUseFailure")


def effect(event: Event, output: Output, gates: bool) -> str:
    """What the agent will do. `gates`: whether a deny of this event prevents something."""
    if output.answer is None:
        return "blocked" if output.exit_code == 2 else "error, continues"
    lost = [field for drop in output.dropped for field in drop.fields]
    return ", ".join(effects_of(event, output.answer, gates, ignored(output.answer, lost)))


def ignored(answer: Response, dropped: list[str]) -> bool:
    """Whether the host ignores a decision that was written anyway: it is both in the answer and among the losses."""
    return answer.decision is not None and "decision" in dropped


def effects_of(event: Event, answer: Response, gates: bool, decision_ignored: bool = False) -> tuple[str, ...]:
    """The effects of an answer as the host understands it: the main one first."""
    heard = answer.copy(decision=None) if decision_ignored else answer
    return (_main_effect(event, heard, gates), *_side_effects(heard))


def _main_effect(event: Event, answer: Response, gates: bool) -> str:
    if event.event in STOPS:
        sent_back = answer.decision == "deny" or (answer.decision is None and answer.reason is not None)
        return "keeps working" if sent_back else "stops"
    if answer.decision == "deny":
        if gates:
            return "blocked"
        return "turn ends" if answer.halt else "feedback to the model" if event.event in _AFTER else "refused"
    if answer.decision == "ask":
        return "asked"
    if event.event in _AFTER or not event.tool:
        return "continues"
    rewritten = answer.modified_input is not None and answer.modified_input != event.tool_input
    return "runs rewritten" if rewritten else "runs"


def _side_effects(answer: Response) -> list[str]:
    side = ["result replaced"] if answer.modified_output is not None else []
    if answer.additional_context is not None:
        side.append("context added")
    if (answer.user_message is not None and answer.decision != "deny") or answer.message is not None:
        side.append("user told")
    return side
