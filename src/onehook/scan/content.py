"""The parts of an event that are scanned, as samples of a size that the scanner accepts.

Text and code are distinguished: what is written to a file that is not prose is code, and so are a command and, elsewhere, what is
between fences (``` or ~~~).
"""

from __future__ import annotations

from onehook.scan.model import Piece, Sample

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from onehook.core import Event
    from onehook.scan.settings import Settings

# What may be scanned, and on which event.
GATES = {
    "prompts": ("UserPromptSubmit",),
    "responses": ("AgentResponse",),
    "writes": ("PreToolUse",),
    "commands": ("PreToolUse",),
    "urls": ("PreToolUse",),
    "mcp": ("PreToolUse",),
    "results": ("PostToolUse", "PostToolUseFailure"),
}
KINDS = ("text", "code")
TOO_LONG = ("skip", "cut", "chunk")
OVERLAP = 200  # characters that two chunks share, so that nothing is missed because it was cut in two
_FENCES = ("```", "~~~")
_PROSE = ("md", "markdown", "rst", "txt", "adoc", "org", "tex", "html", "htm", "csv", "log", "")


def samples_of(event: Event, gates: Collection[str]) -> list[Sample]:
    """The parts of this event that the gates cover."""
    return [sample for sample in _all_of(event) if sample.gate in gates and sample.text.strip()]


def _all_of(event: Event) -> Iterator[Sample]:
    session = event.session_id
    if event.event == "UserPromptSubmit":
        yield Sample("prompts", "the prompt", pieces_of(event.prompt), session=session)
    elif event.event == "AgentResponse":
        yield Sample("responses", "the answer", pieces_of(event.last_assistant_message), session=session)
    elif event.event == "PreToolUse":
        yield from _call(event)
    else:
        called = (event.mcp.server, event.mcp.tool) if event.mcp is not None else None
        yield Sample("results", f"the result of {event.tool or 'a tool'}", pieces_of(event.result.text), called, session)


def _call(event: Event) -> Iterator[Sample]:
    session = event.session_id
    for change in event.changes:
        yield Sample("writes", f"the new content of {change.path}", written(change.path, change.new or ""), session=session)
    yield Sample("commands", "the command", [Piece("code", event.command, "sh")], session=session)
    yield Sample("urls", "the URL", [Piece("text", event.url)], session=session)
    if event.mcp is not None:
        called = (event.mcp.server, event.mcp.tool)
        yield Sample("mcp", f"the call to {event.mcp.name}", pieces_of("\n".join(strings_of(event.tool_input))), called, session)


def strings_of(value: Any) -> Iterator[str]:
    """Every string in a JSON value, in order, with its key, since the key describes the value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str):
                yield f"{key}: {inner}"
            else:
                yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


# --- text and code ---------------------------------------------------------------------------------------------------------------


def written(path: str, text: str) -> list[Piece]:
    """The content of a file."""
    name = path.replace("\\", "/").rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name[1:] else ""
    return pieces_of(text) if ending in _PROSE else [Piece("code", text, ending)]


def pieces_of(text: str) -> list[Piece]:
    """The pieces of text that may contain code; joined, they are the whole text."""
    if not any(fence in text for fence in _FENCES):
        return [Piece("text", text)] if text else []
    pieces = [Piece("text", "")]
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = line.strip()
        if not fence and mark.startswith(_FENCES):
            fence = mark[: len(mark) - len(mark.lstrip(mark[0]))]
            pieces[-1].text += line  # the fence itself is not code
            pieces.append(Piece("code", "", mark[len(fence) :].strip().partition(" ")[0].lower()))
        elif fence and mark.startswith(fence) and not mark.strip(fence[0]):
            fence = ""
            pieces.append(Piece("text", line))
        else:
            pieces[-1].text += line
    return [piece for piece in pieces if piece.text]


# --- size ------------------------------------------------------------------------------------------------------------------------


def fitted(sample: Sample, settings: Settings) -> list[Sample]:
    """A sample as the scanner accepts it: only the wanted kinds, and not too long. [] if it is to be skipped."""
    if set(settings.kinds) != set(KINDS):
        kept = [piece for piece in sample.pieces if piece.kind in settings.kinds and piece.text.strip()]
        sample = Sample(sample.gate, sample.about, kept, sample.mcp, sample.session, "\n".join(piece.text for piece in kept))
    limit = settings.max_chars
    if len(sample.text) <= limit:
        return [sample] if sample.text.strip() else []
    if settings.too_long == "skip":
        return []
    parts = [sample.text[:limit]] if settings.too_long == "cut" else list(_chunks(sample.text, limit))
    return [Sample(sample.gate, sample.about, _as_before(sample, part), sample.mcp, sample.session, part) for part in parts]


def _as_before(sample: Sample, part: str) -> list[Piece]:
    """The pieces of a part: all of the sample's kind if it has only one, otherwise determined again."""
    return [Piece(sample.kind, part, sample.language)] if sample.kind in KINDS else pieces_of(part)


def _chunks(text: str, limit: int) -> Iterator[str]:
    overlap = min(OVERLAP, limit // 4)
    start = 0
    while True:
        yield text[start : start + limit]
        start += limit - overlap
        if start + overlap >= len(text):
            return
