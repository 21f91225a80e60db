"""Reading untrusted JSON of any shape, and the forms that several dialects share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from onehook.prove.model.script import Call, Turn

Json = dict[str, Any]

MODEL_ROLES = ("assistant", "model")


@dataclass(frozen=True)
class Ask:
    """One request as a dialect sees it: a number that is unique per server, the path, the body."""

    number: int
    path: str
    body: Json


@dataclass(frozen=True)
class Reply:
    """The bytes of an answer."""

    content: bytes
    content_type: str = "application/json"
    status: int = 200


class Dialect(Protocol):
    """One model API. A module of this package is the implementation."""

    @property
    def NAME(self) -> str: ...
    @property
    def PATHS(self) -> tuple[str, ...]: ...  # the endings of the paths that belong to it, without their query
    @property
    def REQUIRED(self) -> tuple[str, tuple[type, ...], str]: ...  # a key that a body must have, its types, and the error otherwise

    def offered(self, body: Json) -> list[str]: ...  # names of the tools that the request offers
    def told(self, body: Json) -> list[str]: ...  # all text given to the model: system, developer, user, tool results; not its own words
    def reply(self, turn: Turn, ask: Ask) -> Reply: ...  # the turn in its wire form, streamed if the request asks for it


def obj(value: object) -> Json:
    """The value if it is an object, else an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Json]:
    """The objects in a list, without anything else."""
    return [cast("Json", entry) for entry in items(value) if isinstance(entry, dict)]


def declared(value: object, tool: str) -> set[str]:
    """The arguments that a request declares for a tool, wherever its dialect puts them."""
    if isinstance(value, dict):
        table = cast("Json", value)
        schemas = (
            [obj(table.get(key)) for key in ("parameters", "input_schema", "parametersJsonSchema")] if table.get("name") == tool else []
        )
        own = {name for schema in schemas for name in obj(schema.get("properties"))}
        return own.union(*(declared(entry, tool) for entry in table.values()))
    return set().union(*(declared(entry, tool) for entry in items(value)))


def name_of(value: object) -> str:
    """A usable name, or an empty string."""
    return value if isinstance(value, str) else ""


def leaves(value: object) -> list[str]:
    """Every string inside a value, in order."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return [text for entry in cast("Json", value).values() for text in leaves(entry)]
    return [text for entry in items(value) for text in leaves(entry)]


def content_text(content: object) -> list[str]:
    """The strings of a message content: a string, or a list of parts with a "text"."""
    if isinstance(content, str):
        return [content] if content else []
    return [part["text"] for part in objects(content) if isinstance(part.get("text"), str)]


def arguments(call: Call) -> Json:
    """Arguments as an object; raw text is wrapped for dialects that have no freeform tools."""
    return {"input": call.input} if isinstance(call.input, str) else call.input


def arguments_text(call: Call) -> str:
    """Arguments as a JSON string; raw text is passed unchanged, so it may be malformed."""
    return call.input if isinstance(call.input, str) else json.dumps(call.input)


def call_id(ask: Ask, index: int) -> str:
    """An id made of the number of the request and of the call in its turn."""
    return f"call_{ask.number}_{index}"


def json_reply(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status=status)


def error_reply(status: int, message: str) -> Reply:
    """An error that the clients of every dialect can read."""
    kind = "not_found_error" if status == 404 else "invalid_request_error"
    return json_reply({"type": "error", "error": {"type": kind, "code": status, "message": message}}, status)


def sse_reply(events: Iterable[Json], *, named: bool = False, end: str = "") -> Reply:
    """Server-sent events, with event names and an end line if the dialect has them."""
    lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return Reply("".join([*lines, end]).encode(), "text/event-stream; charset=utf-8")
