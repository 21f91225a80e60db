"""The script of a scripted model: a list of steps, each of which is one turn of the model."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

NOMINAL_TOKENS = 7
STEP_FORMS = '{"call": TOOL, "input": {...} or "text"}, {"calls": [...]}, {"say": "text"} or {"aside": "text"}'


class ScriptError(ValueError):
    """An invalid script; the message names the step and what to write instead."""


@dataclass(frozen=True)
class Call:
    """One tool call: arguments as an object, or raw text for a custom (freeform) tool.

    `spare`: arguments that not every release of the agent knows; each is sent only if the offered tool declares it.
    """

    tool: str
    input: dict[str, Any] | str
    spare: tuple[str, ...] = ()

    def sent_to(self, declared: Collection[str]) -> Call:
        """The call of a tool that declares these arguments."""
        if not self.spare or not isinstance(self.input, dict):
            return self
        kept = {key: value for key, value in self.input.items() if key not in self.spare or key in declared}
        return Call(self.tool, kept)


@dataclass(frozen=True)
class Turn:
    """What the model answers to one request: tool calls, or text that ends the turn.

    `when` and `wait` are for agents that work concurrently: a step with `when` is reserved for a request
    that contains that text, a step with `wait` is answered only when all steps before it are taken.
    `deferred` is for tools that the agent accepts although it lists them only after a search. `usage` is the
    reported number of tokens of the request: agents use it to compact a session whose context is nearly full.
    `aside` marks an answer to a request that offers no tools: a title, a summary, or a hook that asks a model.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""
    when: str = ""
    wait: bool = False
    deferred: bool = False
    usage: int = NOMINAL_TOKENS
    aside: bool = False

    def fits(self, told: str) -> bool:
        """Whether a request with this text may take the step."""
        return self.when in told


DONE = Turn(text="done")
ASIDE = Turn(text="ok")


def load_script(path: str | Path) -> list[Turn]:
    """Read a script from a JSON file: a list of steps, or an object with the list under "steps"."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ScriptError(f"cannot read the script {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ScriptError(f"{path} is not JSON: {error}. A script is a list of steps: {STEP_FORMS}.") from error
    if isinstance(data, dict) and "steps" in data:
        data = cast("dict[str, Any]", data)["steps"]
    return parse_script(data)


def parse_script(steps: object) -> list[Turn]:
    """Check the steps and return their turns. The list may also contain Turn objects."""
    if not isinstance(steps, Sequence) or isinstance(steps, (str, bytes)):
        raise ScriptError(f"a script is a list of steps ({STEP_FORMS}), not {type(steps).__name__}.")
    return [
        step if isinstance(step, Turn) else _turn(step, f"step {number}")
        for number, step in enumerate(cast("Sequence[object]", steps), start=1)
    ]


def _turn(step: object, where: str) -> Turn:
    if not isinstance(step, Mapping):
        raise ScriptError(f"{where} is {type(step).__name__}, not an object. Write {STEP_FORMS}.")
    fields = cast("Mapping[str, object]", step)
    kinds = [kind for kind in ("call", "calls", "say", "aside") if kind in fields]
    if len(kinds) != 1:
        raise ScriptError(f"{where} needs exactly one of call, calls, say, aside. Write {STEP_FORMS}.")
    extra = {"call": {"input", "deferred", "spare"}, "calls": {"deferred"}}.get(kinds[0], set[str]())
    _reject_unknown(fields, {kinds[0], "when", "wait", "usage", *extra}, where)
    when = fields.get("when", "")
    if not isinstance(when, str):
        raise ScriptError(f'{where}: "when" must be a string that the request must contain.')
    wait, deferred = _flag(fields, "wait", where), _flag(fields, "deferred", where)
    usage = _count(fields, "usage", NOMINAL_TOKENS, where)
    if kinds[0] in ("say", "aside"):
        said = _text(fields[kinds[0]], where, kinds[0])
        return Turn(text=said, when=when, wait=wait, usage=usage, aside=kinds == ["aside"])
    return Turn(calls=_calls(fields, where), when=when, wait=wait, deferred=deferred, usage=usage)


def _calls(fields: Mapping[str, object], where: str) -> tuple[Call, ...]:
    if "call" in fields:
        return (_call(fields, where),)
    listed = fields["calls"]
    if not isinstance(listed, list) or not listed:
        raise ScriptError(f'{where}: "calls" must be a list of at least one {{"call": TOOL, "input": {{...}}}}.')
    calls: list[Call] = []
    for number, entry in enumerate(cast("list[object]", listed), start=1):
        place = f"{where}, call {number}"
        if not isinstance(entry, Mapping) or "call" not in entry:
            raise ScriptError(f'{place} needs the form {{"call": TOOL, "input": {{...}}}}.')
        inner = cast("Mapping[str, object]", entry)
        _reject_unknown(inner, {"call", "input", "spare"}, place)
        calls.append(_call(inner, place))
    return tuple(calls)


def _call(fields: Mapping[str, object], where: str) -> Call:
    tool = _text(fields["call"], where, "call")
    given = fields.get("input", {})
    spare = fields.get("spare", [])
    if not isinstance(spare, (list, tuple)) or not all(isinstance(name, str) for name in spare):
        raise ScriptError(f'{where}: "spare" must be a list of arguments of {tool}.')
    if isinstance(given, Mapping):
        return Call(tool, dict(cast("Mapping[str, Any]", given)), tuple(cast("Sequence[str]", spare)))
    if isinstance(given, str):
        return Call(tool, given)
    raise ScriptError(f'{where}: "input" of {tool} must be an object, or a string for a custom tool.')


def _flag(fields: Mapping[str, object], key: str, where: str) -> bool:
    value = fields.get(key, False)
    if not isinstance(value, bool):
        raise ScriptError(f'{where}: "{key}" must be true or false.')
    return value


def _count(fields: Mapping[str, object], key: str, otherwise: int, where: str) -> int:
    value = fields.get(key, otherwise)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ScriptError(f'{where}: "{key}" must be a number of tokens.')
    return value


def _text(value: object, where: str, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise ScriptError(f'{where}: "{key}" must be a non-empty string.')
    return value


def _reject_unknown(fields: Mapping[str, object], known: set[str], where: str) -> None:
    unknown = sorted(set(fields) - known)
    if unknown:
        raise ScriptError(f"{where} has an unknown key {unknown[0]!r}; known keys: {', '.join(sorted(known))}.")
