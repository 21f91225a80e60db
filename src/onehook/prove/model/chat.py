"""OpenAI Chat Completions, as many compatible providers implement it."""

from __future__ import annotations

from collections.abc import Iterator

from onehook.prove.model.script import NOMINAL_TOKENS, Call, Turn
from onehook.prove.model.shape import (
    MODEL_ROLES,
    Ask,
    Json,
    Reply,
    arguments_text,
    call_id,
    content_text,
    json_reply,
    name_of,
    obj,
    objects,
    sse_reply,
)

NAME = "chat"
PATHS = ("/chat/completions",)
REQUIRED = ("messages", (list,), "a list is required")


def offered(body: Json) -> list[str]:
    """The tools that the model may choose from. A request that forces a certain tool is for a title, not a turn."""
    if isinstance(body.get("tool_choice"), dict):
        return []
    names = [name_of(_definition(tool).get("name")) for tool in objects(body.get("tools"))]
    return [name for name in names if name]


def told(body: Json) -> list[str]:
    return [
        text
        for message in objects(body.get("messages"))
        if message.get("role") not in MODEL_ROLES
        for text in content_text(message.get("content"))
    ]


def reply(turn: Turn, ask: Ask) -> Reply:
    if ask.body.get("stream") is True:
        return sse_reply(_chunks(turn, ask), end="data: [DONE]\n\n")
    message: Json = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = _tool_calls(turn, ask)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
    return json_reply({**_head(ask, "chat.completion"), "choices": [choice], "usage": _usage(turn)})


def _definition(tool: Json) -> Json:
    return obj(tool.get("custom")) if tool.get("type") == "custom" else obj(tool.get("function"))


def _tool_call(call: Call, index: int, ask: Ask) -> Json:
    customs = [_definition(tool).get("name") for tool in objects(ask.body.get("tools")) if tool.get("type") == "custom"]
    if call.tool in customs:
        body: Json = {"type": "custom", "custom": {"name": call.tool, "input": arguments_text(call)}}
    else:
        body = {"type": "function", "function": {"name": call.tool, "arguments": arguments_text(call)}}
    return {"id": call_id(ask, index), **body}


def _tool_calls(turn: Turn, ask: Ask) -> list[Json]:
    return [_tool_call(call, index, ask) for index, call in enumerate(turn.calls)]


def _chunks(turn: Turn, ask: Ask) -> Iterator[Json]:
    head = _head(ask, "chat.completion.chunk")
    deltas: list[Json] = [{"role": "assistant", "content": turn.text or None}]
    for index, call in enumerate(_tool_calls(turn, ask)):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(turn)}]}
    if obj(ask.body.get("stream_options")).get("include_usage") is True:
        yield {**head, "choices": [], "usage": _usage(turn)}


def _finish(turn: Turn) -> str:
    return "tool_calls" if turn.calls else "stop"


def _head(ask: Ask, kind: str) -> Json:
    model = name_of(ask.body.get("model")) or "scripted"
    return {"id": f"chatcmpl-{ask.number}", "object": kind, "created": 1, "model": model}


def _usage(turn: Turn) -> Json:
    counts = {"prompt_tokens": turn.usage, "completion_tokens": NOMINAL_TOKENS}
    return {**counts, "total_tokens": turn.usage + NOMINAL_TOKENS}
