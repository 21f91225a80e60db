"""What is scanned, the outcome, and the interface of a backend."""

from __future__ import annotations

from onehook.core import OnehookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Protocol

    from onehook.scan.settings import Settings

    class Backend(Protocol):
        """A module of onehook.scan.backends. Names in capitals are read when the policy is made, so nothing else is imported before."""

        @property
        def OPTIONS(self) -> Mapping[str, str]: ...  # the keys of [policies.scanner.options], with one line about each
        @property
        def REQUIRED(self) -> tuple[str, ...]: ...  # those without which it cannot work; `url` may be among them
        @property
        def URL(self) -> str: ...  # the default address of the service; "" if there is none
        @property
        def KEY_ENV(self) -> str: ...  # the default variable for the key; "" if no key is needed
        @property
        def MAX_CHARS(self) -> int: ...  # how much it accepts at once
        @property
        def BAD_SAMPLE(self) -> str: ...  # what it should object to, for `onehook scan verify`; "" if that depends on its settings
        def scan(self, settings: Settings, sample: Sample, deadline: float) -> Verdict: ...  # ScanError if there is no verdict


class ScanError(OnehookError):
    """There is no verdict. The message explains why, and never quotes what was scanned, or the key.

    retry    whether the same request may succeed a moment later
    after    seconds to wait before the next request
    counts   whether it says something about the scanner, so that the breaker counts it
    """

    def __init__(self, text: str, retry: bool = False, after: float = 0.0, counts: bool = True) -> None:
        super().__init__(text)
        self.retry = retry
        self.after = after
        self.counts = counts


class Piece:
    """A part of some text: "text" or "code", with the language of the code if it is named."""

    __slots__ = ("kind", "language", "text")

    def __init__(self, kind: str, text: str, language: str = "") -> None:
        self.kind = kind
        self.text = text
        self.language = language

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Piece) and (self.kind, self.text, self.language) == (other.kind, other.text, other.language)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Piece({self.kind!r}, {self.text!r}, {self.language!r})"


class Sample:
    """What is sent to a scanner at once.

    gate      the gate that covers it: prompts, responses, writes, commands, urls, mcp or results
    about     what it is, for a person: "the prompt", "the new content of a.py"
    pieces    its text and code, in order
    mcp       (server, tool) of an MCP call
    session   the agent's session, for services that group what belongs together
    """

    __slots__ = ("about", "gate", "mcp", "pieces", "session", "text")

    def __init__(
        self, gate: str, about: str, pieces: Iterable[Piece], mcp: tuple[str, str] | None = None, session: str = "", text: str | None = None
    ) -> None:
        self.gate = gate
        self.about = about
        self.pieces = list(pieces)
        self.mcp = mcp
        self.session = session
        self.text = "".join(piece.text for piece in self.pieces) if text is None else text

    @property
    def by_model(self) -> bool:
        """Whether a model wrote it; otherwise a model is going to read it."""
        return self.gate not in ("prompts", "results")

    @property
    def code(self) -> str:
        return "\n".join(piece.text for piece in self.pieces if piece.kind == "code")

    @property
    def kind(self) -> str:
        kinds = {piece.kind for piece in self.pieces if piece.text.strip()}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def language(self) -> str:
        return next((piece.language for piece in self.pieces if piece.language), "")


class Found:
    """Something that a scanner objects to. Without a place, start and end are 0."""

    __slots__ = ("category", "end", "start")

    def __init__(self, category: str, start: int = 0, end: int = 0) -> None:
        self.category = category[:80]
        self.start = start
        self.end = end

    def quote(self, text: str) -> str:
        return text[self.start : self.end] if 0 <= self.start < self.end <= len(text) else ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Found) and (self.category, self.start, self.end) == (other.category, other.start, other.end)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Found({self.category!r}, {self.start}, {self.end})"


class Verdict:
    """A scanner's answer: what it found, and the id under which it has stored the scan, if any."""

    __slots__ = ("found", "id")

    def __init__(self, found: Iterable[Found] = (), id: str = "") -> None:
        self.found = list(found)
        self.id = id[:100]


def quoted(category: str, quote: str, text: str) -> list[Found]:
    """A finding for each place where the text contains the quote; one without a place if there is none."""
    found = []
    start = text.find(quote) if quote else -1
    while start >= 0:
        found.append(Found(category, start, start + len(quote)))
        start = text.find(quote, start + len(quote))
    return found or [Found(category)]


def field(value: Any, *names: str) -> Any:
    """A field of nested JSON objects; None if there is none."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """The JSON objects of a JSON array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
