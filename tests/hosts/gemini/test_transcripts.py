"""The chats that older versions of Gemini CLI left."""

from __future__ import annotations

import json

from onehook.hostkit.transcripts import Counts
from onehook.hosts import load
from onehook.record.sources import Source, read


def test_the_older_gemini_chat_that_is_one_document_is_read(tmp_path):
    call = {
        "id": "c1",
        "name": "run_shell_command",
        "args": {"command": "ls"},
        "result": [{"functionResponse": {"response": {"output": "a"}}}],
    }
    messages = [{"id": "1", "type": "user", "content": "go"}, {"id": "2", "type": "gemini", "content": "", "toolCalls": [call]}]
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps({"sessionId": "s", "startTime": "2026-01-01T00:00:00Z", "messages": messages}), encoding="utf-8")
    assert [
        event.event
        for event in (load("gemini").parse(one.payload, one.native_event) for one in read(Source(str(path), "gemini"), Counts()))
    ] == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
    ]
