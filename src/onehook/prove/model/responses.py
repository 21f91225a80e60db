"""OpenAI Responses, with freeform (custom) tools, tool namespaces and tools offered as an input item."""

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
    leaves,
    name_of,
    objects,
    sse_reply,
)

NAME = "responses"
PATHS = ("/responses",)
REQUIRED = ("input", (list, str), "a string or a list is required")


def offered(body: Json) -> list[str]:
    """The names that scripts use. Tools of `functions` are called by their bare name (Codex 0.166.0)."""
    return [name if namespace in ("", "functions") else f"{namespace}.{name}" for namespace, name in _tools(body)]


def told(body: Json) -> list[str]:
    texts = leaves(body.get("instructions"))
    if isinstance(body.get("input"), str):
        texts += leaves(body["input"])
    for item in objects(body.get("input")):
        if name_of(item.get("type")).endswith("_call_output"):
            texts += leaves(_result_text(item))
        elif item.get("role") not in MODEL_ROLES:
            texts += content_text(item.get("content")) + _sealed(item)
    return texts


def reply(turn: Turn, ask: Ask) -> Reply:
    output = _output(turn, ask)
    response = {
        "id": f"resp_{ask.number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": name_of(ask.body.get("model")) or "scripted",
        "output": output,
        "usage": _usage(turn),
    }
    return sse_reply(_events(response), named=True) if ask.body.get("stream") is True else json_reply(response)


def _tools(body: Json) -> list[tuple[str, str]]:
    """(namespace, name) of each tool. Codex in code mode has no `tools`: they are in an input item."""
    lists = [body.get("tools")]
    lists += [item.get("tools") for item in objects(body.get("input")) if item.get("type") == "additional_tools"]
    found: list[tuple[str, str]] = []
    for tool in (tool for tools in lists for tool in objects(tools)):
        name = name_of(tool.get("name")) or name_of(tool.get("type"))
        if tool.get("type") == "namespace":
            found += [(name, name_of(inner.get("name"))) for inner in objects(tool.get("tools"))]
        elif name:
            found.append(("", name))
    return found


def _sealed(item: Json) -> list[str]:
    """A subagent's task comes in parts meant for encrypted text; the words of a scripted parent are unencrypted there."""
    texts = [part.get("encrypted_content") for part in objects(item.get("content"))]
    return [text for text in texts if isinstance(text, str)]


def _result_text(item: Json) -> str:
    output = item.get("output")
    return "\n".join(content_text(output) or leaves(output))


def _output(turn: Turn, ask: Ask) -> list[Json]:
    output = [_call_item(call, ask, index) for index, call in enumerate(turn.calls)]
    if turn.text:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        message = {"id": f"item_{ask.number}_text", "status": "completed", "role": "assistant"}
        output.insert(0, {"type": "message", **message, "content": [part]})
    return output


def _call_item(call: Call, ask: Ask, index: int) -> Json:
    head: Json = {"id": f"item_{ask.number}_{index}", "call_id": call_id(ask, index), "status": "completed"}
    if isinstance(call.input, str):
        return {"type": "custom_tool_call", **head, "name": call.tool, "input": call.input}
    namespace, _, name = call.tool.rpartition(".")
    where = {"namespace": namespace, "name": name} if namespace else {"name": call.tool}
    return {"type": "function_call", **head, **where, "arguments": arguments_text(call)}


def _events(response: Json) -> Iterator[Json]:
    bare = {**response, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [{"type": "response.created", "response": bare}]
    for index, item in enumerate(response["output"]):
        events += _item_events(item, index)
    events.append({"type": "response.completed", "response": response})
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def _item_events(item: Json, index: int) -> Iterator[Json]:
    place = {"output_index": index, "item_id": item["id"]}
    if item["type"] == "message":
        part = item["content"][0]
        spot = {**place, "content_index": 0}
        yield {"type": "response.output_item.added", **place, "item": {**item, "content": []}}
        yield {"type": "response.content_part.added", **spot, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **spot, "delta": part["text"]}
        yield {"type": "response.output_text.done", **spot, "text": part["text"]}
        yield {"type": "response.content_part.done", **spot, "part": part}
    else:
        kind, key = ("function_call_arguments", "arguments") if item["type"] == "function_call" else ("custom_tool_call_input", "input")
        yield {"type": "response.output_item.added", **place, "item": {**item, key: ""}}
        yield {"type": f"response.{kind}.delta", **place, "delta": item[key]}
        yield {"type": f"response.{kind}.done", **place, key: item[key]}
    yield {"type": "response.output_item.done", **place, "item": item}


def _usage(turn: Turn) -> Json:
    return {
        "input_tokens": turn.usage,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": NOMINAL_TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": turn.usage + NOMINAL_TOKENS,
    }
