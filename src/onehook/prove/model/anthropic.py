"""Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

from onehook.prove.model.script import NOMINAL_TOKENS, Turn
from onehook.prove.model.shape import (
    MODEL_ROLES,
    Ask,
    Json,
    Reply,
    arguments,
    call_id,
    content_text,
    json_reply,
    leaves,
    name_of,
    objects,
    sse_reply,
)

NAME = "anthropic"
PATHS = ("/messages",)
REQUIRED = ("messages", (list,), "a list is required")


def offered(body: Json) -> list[str]:
    return [name for tool in objects(body.get("tools")) if (name := name_of(tool.get("name")))]


def told(body: Json) -> list[str]:
    texts = content_text(body.get("system"))
    for message in objects(body.get("messages")):
        if message.get("role") in MODEL_ROLES:
            continue
        content = message.get("content")
        if isinstance(content, str):
            texts += leaves(content)
        for block in objects(content):
            result = block.get("type") == "tool_result"
            texts += leaves("\n".join(content_text(block.get("content")))) if result else content_text([block])
    return texts


def reply(turn: Turn, ask: Ask) -> Reply:
    message = _message(turn, ask)
    return sse_reply(_events(message), named=True) if ask.body.get("stream") is True else json_reply(message)


def _message(turn: Turn, ask: Ask) -> Json:
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    for index, call in enumerate(turn.calls):
        use = {"id": f"toolu_{call_id(ask, index)}", "name": call.tool, "input": arguments(call)}
        content.append({"type": "tool_use", **use})
    return {
        "id": f"msg_{ask.number}",
        "type": "message",
        "role": "assistant",
        "model": name_of(ask.body.get("model")) or "scripted",
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": turn.usage, "output_tokens": NOMINAL_TOKENS},
    }


def _events(message: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": NOMINAL_TOKENS}}
    yield {"type": "message_stop"}
