"""What a tool returned (event.result), read from any host's own shape through the host's RESULTS; and the reverse, with another text.

Imported when a handler asks for a result, and by answers that replace one: no other event pays for it.
"""

from __future__ import annotations

from onehook.codec import compact
from onehook.core import RESULTS, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from onehook.core import Event
    from onehook.hostkit.effects import Results

DIGITS = "0123456789"
_OUTPUTS = ("stdout", "output", "stderr")
_SHOWN = ("returnDisplay", "llmContent", "textResultForLlm", "text_result_for_llm")


def result_of(event: Event, form: Results) -> Result:
    if event.event not in RESULTS:
        return Result()
    response = event.tool_response
    head, text, tail = _framed(event, form, _native_text(event, form))
    exit_code = _exit_code(event, form, head + tail, bool(head or tail))
    failed = event.event == "PostToolUseFailure" or bool(event.error) or exit_code not in (0, None) or _says_failed(response)
    return Result("" if text == form.empty else text, exit_code, failed, response, _duration(event))


def framed(event: Event, form: Results, text: object) -> str:
    """A new text with what the agent adds around an output: for hosts that accept a replaced result as one string."""
    head, _, tail = _framed(event, form, _native_text(event, form))
    return f"{head}{text}{tail}"


def replaced(event: Event, form: Results, text: object) -> Any:
    """The native result with a new text as its output, in the same shape; None if it has no place for text."""
    return _put(event.tool_response, _paths(event, form), framed(event, form, text), form.unkept)


# ---- the text ----


def _native_text(event: Event, form: Results) -> str:
    if event.tool_response is None:
        return event.error
    return text_in(form, event.native_tool, event.tool_response)


def text_in(form: Results, tool: str, response: object) -> str:
    """The text of a result in the host's own shape, with what the agent adds around it."""
    found = [_at(response, path) for path in _keys(form, tool, response)]
    texts = [output_text(value) for value in found if value is not None]
    return "\n".join(filter(None, texts)) if texts else result_text(response)


def _paths(event: Event, form: Results) -> list[str]:
    return _keys(form, event.native_tool, event.tool_response)


def _keys(form: Results, tool: str, response: object) -> list[str]:
    paths = form.texts.get(tool) or form.texts.get("*")
    return paths.split("|") if paths and isinstance(response, dict) else []


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def output_text(response: object) -> str:
    """What a command printed, whatever shape the host gives it."""
    if isinstance(response, list):  # the content of an MCP result
        parts = [part.get("text") if isinstance(part, dict) else part for part in response]
        return "\n".join(part for part in parts if isinstance(part, str))
    if isinstance(response, dict):
        if isinstance(response.get("content"), list):
            return output_text(response["content"])
        texts = [response[key] for key in _OUTPUTS if isinstance(response.get(key), str)]
        shown = [response[key] for key in _SHOWN if isinstance(response.get(key), str) and response[key]]
        return "".join(texts or shown[:1])
    return response if isinstance(response, str) else ""


def result_text(response: object) -> str:
    """A result as one string: what was printed, or else its JSON."""
    text = output_text(response)
    try:
        return text if text or response is None or isinstance(response, (str, list)) else compact(response)
    except (TypeError, ValueError):
        return str(response)


# ---- what the agent puts around the output ----


def _framed(event: Event, form: Results, text: str) -> tuple[str, str, str]:
    """What comes before the output, the output, and what comes after it."""
    if event.tool not in form.framed:
        return "", text, ""
    start = next((end for pattern in form.heads if (end := _begins(text, pattern))), 0)
    stop = len(text)
    while stop > start:
        lines = [line for pattern in form.tails if _matches(text[(line := _last_lines(text, start, stop, pattern)) : stop], pattern)]
        if not lines:
            break
        stop = max(lines[0] - 1, start)
    return text[:start], text[start:stop], text[stop:]


def _last_lines(text: str, start: int, stop: int, pattern: str) -> int:
    """Where the last lines begin, as many as the tail's pattern has."""
    at = stop
    for _ in range(pattern.count("\n") + 1):
        at = text.rfind("\n", start, at)
        if at < 0:
            return start
    return at + 1


def _begins(text: str, pattern: str) -> int:
    """Where a string continues after a head ("*" for anything, "#" for a number); 0 if it does not begin with it."""
    first, _, last = pattern.partition("*" if "*" in pattern else "#")
    if not text.startswith(first):
        return 0
    at = f"{text}\n".find(last, len(first)) if last else len(first)
    between = text[len(first) : at]
    return min(at + len(last), len(text)) if at >= 0 and ("#" not in pattern or _is_number(between)) else 0


def _matches(line: str, pattern: str) -> bool:
    """Whether a whole line matches that of a tail, with a number or "(none)" for each "#"."""
    parts = pattern.split("#")
    if not line.startswith(parts[0]):
        return False
    at = len(parts[0])
    for part in parts[1:]:
        end = line.find(part, at) if part else len(line)
        if end < 0 or not _is_number(line[at:end]):
            return False
        at = end + len(part)
    return at == len(line)


def _is_number(text: str) -> bool:
    return text == "(none)" or (text != "" and not text.strip(DIGITS))


def _exit_code(event: Event, form: Results, around: str, framed: bool) -> int | None:
    if event.tool not in ("Bash", *form.framed):
        return None
    response = event.tool_response
    for given in (_at(response, form.code), event.native.get(form.code)) if form.code else ():
        if isinstance(given, int) and not isinstance(given, bool):
            return given
    _, marker, rest = around.rpartition(form.marker) if form.marker else ("", "", "")
    digits = rest[: len(rest) - len(rest.lstrip(DIGITS))]
    if marker and digits:
        return int(digits[:9])
    if event.tool != "Bash" or not _paths(event, form) or (form.tails and not framed):
        return None
    return None if any(_at(response, key) for key in form.unless) else form.code_if_none


def _says_failed(response: object) -> bool:
    if not isinstance(response, dict):
        return False
    return bool(response.get("error")) or response.get("isError") is True or response.get("success") is False


def _duration(event: Event) -> float | None:
    milliseconds = event.native.get("duration_ms", event.native.get("duration"))
    return round(milliseconds / 1000, 6) if isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool) else None


# ---- another text in the same shape ----


def _put(response: Any, paths: Sequence[str], text: str, unkept: Sequence[str]) -> Any:
    if isinstance(response, str):
        return text
    if isinstance(response, list):
        if response and all(isinstance(one, str) for one in response):
            return text.split("\n")
        part = next((one for one in response if isinstance(one, dict) and isinstance(one.get("text"), str)), {"type": "text"})
        return [{**part, "text": text}]
    if not isinstance(response, dict):
        return None
    kept = {key: value for key, value in response.items() if key not in unkept}
    if not paths and isinstance(kept.get("content"), list):
        return {**kept, "content": _put(kept["content"], (), text, ())}
    found = [path for path in paths if _at(kept, path) is not None]
    for path in found:
        kept = _with(kept, path.split("."), text if path == found[0] else "")
    return kept if found else None


def _with(value: dict[str, Any], keys: list[str], text: str) -> dict[str, Any]:
    inner = value[keys[0]]
    return {**value, keys[0]: _with(inner, keys[1:], text) if len(keys) > 1 else _put(inner, (), text, ())}
