"""Gemini generateContent and streamGenerateContent."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

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
    obj,
    objects,
    sse_reply,
)

NAME = "gemini"
PATHS = (":generateContent", ":streamGenerateContent")
REQUIRED = ("contents", (list,), "a list is required")


def offered(body: Json) -> list[str]:
    return [
        name
        for tool in objects(body.get("tools"))
        for declaration in objects(_either(tool, "functionDeclarations", "function_declarations"))
        if (name := name_of(declaration.get("name")))
    ]


def told(body: Json) -> list[str]:
    instruction = _either(body, "systemInstruction", "system_instruction")
    parts = instruction if isinstance(instruction, str) else obj(instruction).get("parts")
    texts = content_text(parts)
    for content in objects(body.get("contents")):
        if content.get("role") in MODEL_ROLES:
            continue
        for part in objects(content.get("parts")):
            response = obj(_either(part, "functionResponse", "function_response")).get("response")
            texts += leaves(response) or content_text([part])
    return texts


def reply(turn: Turn, ask: Ask) -> Reply:
    answer = _answer(turn, ask)
    address = urlsplit(ask.path)
    if not address.path.endswith(":streamGenerateContent"):
        return json_reply(answer)
    # Without alt=sse the API streams one JSON array.
    return sse_reply([answer]) if parse_qs(address.query).get("alt") == ["sse"] else json_reply([answer])


def _either(value: Json, camel: str, snake: str) -> Any:
    return value[camel] if camel in value else value.get(snake)


def _answer(turn: Turn, ask: Ask) -> Json:
    parts: list[Json] = [{"text": _text(turn, ask)}] if turn.text else []
    for index, call in enumerate(turn.calls):
        use = {"id": call_id(ask, index), "name": call.tool, "args": arguments(call)}
        parts.append({"functionCall": use})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": turn.usage, "candidatesTokenCount": NOMINAL_TOKENS}
    return {
        "candidates": [candidate],
        "usageMetadata": {**counts, "totalTokenCount": turn.usage + NOMINAL_TOKENS},
        "modelVersion": "scripted",
        "responseId": f"response_{ask.number}",
    }


def _text(turn: Turn, ask: Ask) -> str:
    """A request for JSON (for example from a classifier) gets JSON, since clients repeat it otherwise."""
    config = obj(_either(ask.body, "generationConfig", "generation_config"))
    wants_json = _either(config, "responseMimeType", "response_mime_type") == "application/json"
    return json.dumps({"text": turn.text}) if wants_json else turn.text
