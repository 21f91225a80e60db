"""A minimal client per dialect: builds requests, and reads answers back into (text, calls)."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onehook.prove.model import ScriptedModel

Read = tuple[str, list[tuple[str, Any]]]
TOOL_RESULT = "blocked by policy: no touching"


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str
    raw: bytes

    def json(self) -> Any:
        return json.loads(self.raw)

    def events(self) -> list[dict[str, Any]]:
        found = []
        for block in self.raw.decode().strip().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            if fields["data"] == "[DONE]":
                continue
            event = json.loads(fields["data"])
            assert fields.get("event", event.get("type")) == event.get("type")
            found.append(event)
        return found


def send(
    model: ScriptedModel,
    path: str,
    body: Any = None,
    *,
    method: str = "POST",
    raw: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=10)
    try:
        connection.request(method, path, raw if raw is not None else json.dumps(body).encode(), headers or {})
        response = connection.getresponse()
        return Answer(response.status, response.getheader("Content-Type", ""), response.read())
    finally:
        connection.close()


@dataclass(frozen=True)
class Client:
    name: str
    path: Callable[[bool], str]
    body: Callable[[list[str], bool], dict[str, Any]]
    read: Callable[[Answer, bool], Read]

    def ask(self, model: ScriptedModel, tools: list[str], stream: bool = False) -> Read:
        answer = send(model, self.path(stream), self.body(tools, stream))
        assert answer.status == 200, answer.raw
        assert answer.content_type.startswith("text/event-stream" if stream else "application/json")
        return self.read(answer, stream)


def _anthropic_body(tools: list[str], stream: bool) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": TOOL_RESULT}]}
    return {
        "model": "m",
        "stream": stream,
        "system": [{"type": "text", "text": "the system text"}],
        "messages": [
            {"role": "user", "content": "the user text"},
            {"role": "assistant", "content": [{"type": "text", "text": "own words"}]},
            {"role": "user", "content": [result]},
        ],
        "tools": [{"name": name, "input_schema": {}} for name in tools],
    }


def _anthropic_read(answer: Answer, stream: bool) -> Read:
    if not stream:
        blocks = answer.json()["content"]
    else:
        blocks = []
        for event in answer.events():
            if event["type"] == "content_block_start":
                blocks.append({**event["content_block"], "partial": ""})
            elif event["type"] == "content_block_delta":
                delta = event["delta"]
                blocks[event["index"]]["partial"] += delta.get("text", delta.get("partial_json"))
        for block in blocks:
            key, value = ("text", block["partial"]) if block["type"] == "text" else ("input", None)
            block[key] = value if key == "text" else json.loads(block["partial"])
        assert [event["type"] for event in answer.events()][-2:] == ["message_delta", "message_stop"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    return text, [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]


def _responses_body(tools: list[str], stream: bool) -> dict[str, Any]:
    return {
        "model": "m",
        "stream": stream,
        "instructions": "the system text",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the user text"}]},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "own words"}],
            },
            {"type": "function_call", "name": "t", "call_id": "x", "arguments": '{"secret": "own words"}'},
            {"type": "function_call_output", "call_id": "x", "output": TOOL_RESULT},
        ],
        "tools": [{"type": "function", "name": name, "parameters": {}} for name in tools],
    }


def _responses_read(answer: Answer, stream: bool) -> Read:
    if stream:
        events = answer.events()
        assert events[0]["type"] == "response.created"
        assert events[-1]["type"] == "response.completed"
        output = [event["item"] for event in events if event["type"] == "response.output_item.done"]
        assert output == events[-1]["response"]["output"]
    else:
        output = answer.json()["output"]
    calls: list[tuple[str, Any]] = []
    text = ""
    for item in output:
        if item["type"] == "message":
            text += item["content"][0]["text"]
        elif item["type"] == "custom_tool_call":
            calls.append((item["name"], item["input"]))
        else:
            calls.append((item.get("namespace", "") + item["name"], json.loads(item["arguments"])))
    return text, calls


def _chat_body(tools: list[str], stream: bool) -> dict[str, Any]:
    return {
        "model": "m",
        "stream": stream,
        "messages": [
            {"role": "system", "content": "the system text"},
            {"role": "user", "content": [{"type": "text", "text": "the user text"}]},
            {"role": "assistant", "content": "own words"},
            {"role": "tool", "tool_call_id": "x", "content": TOOL_RESULT},
        ],
        "tools": [{"type": "function", "function": {"name": name}} for name in tools],
    }


def _chat_read(answer: Answer, stream: bool) -> Read:
    if stream:
        assert answer.raw.endswith(b"data: [DONE]\n\n")
        choices = [choice for event in answer.events() for choice in event["choices"]]
        messages = [choice["delta"] for choice in choices]
    else:
        choices = answer.json()["choices"]
        messages = [choices[0]["message"]]
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    assert choices[-1]["finish_reason"] == ("tool_calls" if calls else "stop")
    text = "".join(message.get("content") or "" for message in messages)
    return text, [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]


def _gemini_body(tools: list[str], stream: bool) -> dict[str, Any]:
    return {
        "systemInstruction": {"parts": [{"text": "the system text"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "the user text"}]},
            {"role": "model", "parts": [{"text": "own words"}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "t", "response": {"error": TOOL_RESULT}}}],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": name} for name in tools]}] if tools else [],
    }


def _gemini_read(answer: Answer, stream: bool) -> Read:
    answers = answer.events() if stream else [answer.json()]
    parts = [part for one in answers for part in one["candidates"][0]["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return "".join(part.get("text", "") for part in parts), [(call["name"], call["args"]) for call in calls]


def _gemini_path(stream: bool) -> str:
    verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"/v1beta/models/gemini-2.5-flash:{verb}"


CLIENTS = [
    Client("anthropic", lambda _: "/v1/messages?beta=true", _anthropic_body, _anthropic_read),
    Client("responses", lambda _: "/v1/responses", _responses_body, _responses_read),
    Client("chat", lambda _: "/some/prefix/v1/chat/completions", _chat_body, _chat_read),
    Client("gemini", _gemini_path, _gemini_body, _gemini_read),
]
