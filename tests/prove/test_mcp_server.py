from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from onehook.prove import mcp_server

SERVER = Path(mcp_server.__file__)


def talk(notes: Path, *lines: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-I", str(SERVER), str(notes)]
    done = subprocess.run(command, input="".join(f"{line}\n" for line in lines), capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def test_a_client_can_connect_list_and_call(tmp_path: Path) -> None:
    answers = talk(
        tmp_path / "notes",
        ask(1, "initialize", protocolVersion="2024-11-05"),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ask(2, "tools/list"),
        ask(3, "tools/call", name="note", arguments={"text": "hello"}),
    )
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[0]["result"]["protocolVersion"] == "2024-11-05"
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == ["note"]
    assert answers[2]["result"]["content"][0]["text"] == "noted: hello"
    assert (tmp_path / "notes").read_text() == "hello\n"


def test_a_wrong_call_is_an_error_and_leaves_no_note(tmp_path: Path) -> None:
    wrong = [
        {"name": "other", "arguments": {"text": "x"}},
        {"name": "note"},
        {"name": "note", "arguments": []},
    ]
    answers = talk(tmp_path / "notes", *(ask(1, "tools/call", **params) for params in wrong))
    assert [answer["result"]["isError"] for answer in answers] == [True, True, True]
    assert not (tmp_path / "notes").exists()


def test_what_is_not_a_request_gets_no_reply_and_an_unknown_method_an_error(tmp_path: Path) -> None:
    answers = talk(tmp_path / "notes", "nonsense", "[]", '{"id": 1}', ask(7, "resources/list"))
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(7, -32601)]


def test_without_a_file_the_usage_is_reported() -> None:
    done = subprocess.run([sys.executable, "-I", str(SERVER)], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage" in done.stderr
