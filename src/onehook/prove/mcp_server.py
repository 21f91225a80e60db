"""A tiny MCP server over stdio for proofs: one tool, `note`, that appends its text to a file.

Run as `python -I mcp_server.py FILE`. It needs only the standard library, so it can be copied.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "note",
    "description": "Append text to the notes.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
DEFAULT_PROTOCOL = "2025-06-18"


def answer(method: str, params: dict[str, Any], notes: Path) -> dict[str, Any] | None:
    """The result for a request, or None for an unknown method."""
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", DEFAULT_PROTOCOL),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "onehook-proof", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return _call(params, notes)
    return {} if method == "ping" else None


def _call(params: dict[str, Any], notes: Path) -> dict[str, Any]:
    arguments = params.get("arguments")
    text = arguments.get("text") if isinstance(arguments, dict) else None
    if params.get("name") != TOOL["name"] or not isinstance(text, str):
        return {"content": [{"type": "text", "text": "call note with a string"}], "isError": True}
    with notes.open("a", encoding="utf-8") as file:
        file.write(text + "\n")
    return {"content": [{"type": "text", "text": f"noted: {text}"}], "isError": False}


def reply(line: str, notes: Path) -> dict[str, Any] | None:
    """The reply to one line, or None if there is none (a notification, or a line that is not a request)."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return None
    params = message.get("params")
    result = answer(str(message["method"]), params if isinstance(params, dict) else {}, notes)
    head = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        return {**head, "error": {"code": -32601, "message": "method not found"}}
    return {**head, "result": result}


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print("usage: mcp_server.py FILE", file=sys.stderr)
        return 2
    for line in sys.stdin:
        message = reply(line, Path(argv[0]))
        if message is not None:
            print(json.dumps(message), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
