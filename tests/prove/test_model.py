from __future__ import annotations

import gzip
import http.client
import io
import json
import socket
import threading
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.prove.model import ScriptedModel, ScriptError, parse_script, serve
from onehook.prove.model.http import BadBody, decompress
from onehook.prove.model.shape import declared
from tests.prove.model_clients import CLIENTS, TOOL_RESULT, Client, send

each_dialect = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
streamed_or_not = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])

TOUCH = {"call": "Shell", "input": {"command": "touch x", "deep": {"list": [1, "é", None]}}}
RESPONSES = CLIENTS[1]


@each_dialect
@streamed_or_not
def test_each_request_with_tools_takes_the_next_step(client: Client, stream: bool) -> None:
    both = {"calls": [TOUCH, {"call": "Read", "input": {"path": "a"}}]}
    with ScriptedModel([TOUCH, both, {"say": "all done"}]) as model:
        answers = [client.ask(model, ["Shell", "Read"], stream) for _ in range(3)]
    assert answers == [
        ("", [("Shell", TOUCH["input"])]),
        ("", [("Shell", TOUCH["input"]), ("Read", {"path": "a"})]),
        ("all done", []),
    ]
    assert [request.step for request in model.requests] == [1, 2, 3]
    assert {request.kind for request in model.requests} == {client.name}
    assert (model.problems, overrun(model)) == ([], 0)


def overrun(model: ScriptedModel) -> int:
    return sum(request.overrun for request in model.requests)


@each_dialect
@streamed_or_not
def test_a_request_without_tools_is_answered_on_the_side(client: Client, stream: bool) -> None:
    with ScriptedModel([TOUCH]) as model:
        text, calls = client.ask(model, [], stream)
        assert (bool(text), calls) == (True, [])
        assert client.ask(model, ["Shell"], stream)[1]
    assert [request.side for request in model.requests] == [True, False]
    assert [request.step for request in model.turns] == [1]


@each_dialect
@streamed_or_not
def test_an_aside_of_the_script_answers_a_request_without_tools(client: Client, stream: bool) -> None:
    with ScriptedModel([TOUCH, {"aside": "a title", "when": "not there"}, {"aside": "yes"}]) as model:
        answers = [client.ask(model, [], stream)[0] for _ in range(2)]
        assert client.ask(model, ["Shell"], stream)[1] == [("Shell", TOUCH["input"])]
    assert answers == ["yes", "ok"] and len(model.turns) == 1 and not overrun(model)


@each_dialect
@streamed_or_not
def test_the_tokens_that_a_step_names_are_reported_and_again_beside_it(client: Client, stream: bool) -> None:
    """An agent that is told of a full context asks for a summary; it also relies on the usage reported for that request."""
    steps = [{"say": "before"}, {**TOUCH, "usage": 123_456}, {"say": "after"}]
    told = []
    with ScriptedModel(steps) as model:
        for tools in (["Shell"], ["Shell"], [], ["Shell"], []):
            body = {**client.body(tools, stream), "stream_options": {"include_usage": True}}
            told.append(b"123456" in send(model, client.path(stream), body).raw)
    assert told == [False, True, True, False, False]


@each_dialect
@streamed_or_not
def test_requests_after_the_last_step_get_a_text_and_count_as_overrun(client: Client, stream: bool) -> None:
    with ScriptedModel([{"say": "end"}]) as model:
        answers = [client.ask(model, ["Shell"], stream) for _ in range(3)]
    assert answers == [("end", []), ("done", []), ("done", [])]
    assert overrun(model) == 2


@each_dialect
def test_what_the_model_was_told_holds_everything_but_its_own_words(client: Client) -> None:
    with ScriptedModel([{"say": "end"}]) as model:
        client.ask(model, ["Shell"])
    request = model.requests[0]
    assert request.told() == ["the system text", "the user text", TOOL_RESULT]
    assert model.told() == request.text()


@each_dialect
def test_texts_of_side_requests_do_not_count_as_told(client: Client) -> None:
    with ScriptedModel([TOUCH]) as model:
        client.ask(model, [])
    assert TOOL_RESULT in model.requests[0].text()
    assert model.told() == ""


@each_dialect
def test_a_tool_that_is_not_offered_is_called_but_shown_as_a_problem(client: Client) -> None:
    with ScriptedModel([TOUCH]) as model:
        assert client.ask(model, ["Other"])[1] == [("Shell", TOUCH["input"])]
    assert model.problems == ["step 1: Shell is not among the offered tools (Other)"]
    assert model.requests[0].tools == ("Other",)


@each_dialect
@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"x"', b"{}", b"\xff\xfe", b"[" * 100_000])
def test_a_malformed_body_gets_a_400_and_is_kept(client: Client, raw: bytes) -> None:
    with ScriptedModel([TOUCH]) as model:
        answer = send(model, client.path(False), raw=raw)
        assert answer.status == 400
        assert answer.json()["error"]["message"]
        assert client.ask(model, ["Shell"])[1], "the step was used up by a malformed request"
    assert (model.requests[0].status, model.requests[0].step) == (400, None)
    assert model.requests[0].error


@pytest.mark.parametrize("depth", [100, 400, 800, 20_000])
def test_a_deeply_nested_body_gets_an_answer(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    part = f'{{"functionResponse": {{"name": "t", "response": {{"output": {deep}}}}}}}'
    tools = '[{"functionDeclarations": [{"name": "Shell"}]}]'
    raw = f'{{"tools": {tools}, "contents": [{{"role": "user", "parts": [{part}]}}]}}'.encode()
    with ScriptedModel([TOUCH]) as model:
        assert send(model, CLIENTS[3].path(False), raw=raw).status in (200, 400)
    assert isinstance(model.told(), str)
    assert model.problems == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["messages", "input", "contents", "tools", "stream", "system", "instructions", "systemInstruction"]
INNER = [
    "role",
    "content",
    "parts",
    "type",
    "text",
    "output",
    "name",
    "functionResponse",
    "functionDeclarations",
]
NEARLY = st.dictionaries(st.sampled_from(KEYS), JSON | st.lists(st.dictionaries(st.sampled_from(INNER), JSON)), max_size=5)


@pytest.fixture(scope="module")
def endless() -> Any:
    with ScriptedModel([{"call": "Shell", "deferred": True}]) as model:
        yield model


@settings(max_examples=120, deadline=None)
@given(body=NEARLY, client=st.sampled_from(CLIENTS))
def test_a_body_of_any_shape_gets_an_answer(endless: ScriptedModel, body: Any, client: Client) -> None:
    answer = send(endless, client.path(False), body)
    assert answer.status in (200, 400)
    assert isinstance(endless.requests[-1].text(), str)
    assert not [problem for problem in endless.problems if "connection failed" in problem]


def test_an_unknown_path_gets_a_404_and_is_kept() -> None:
    with ScriptedModel([]) as model:
        assert send(model, "/v1/nothing", {}).json()["error"]["code"] == 404
        assert send(model, "/v1/messages", method="GET").status == 404
        assert send(model, "/", method="HEAD").raw == b""
    assert [(request.path, request.status) for request in model.requests] == [
        ("/v1/nothing", 404),
        ("/v1/messages", 404),
        ("/", 404),
    ]


@pytest.mark.parametrize("encoding", ["zstd", "gzip", "deflate"])
def test_a_compressed_body_is_read(encoding: str) -> None:
    import zlib

    plain = json.dumps(RESPONSES.body(["Shell"], False)).encode()
    packers: dict[str, Any] = {"gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstandard.compress}
    with ScriptedModel([TOUCH]) as model:
        answer = send(model, "/v1/responses", raw=packers[encoding](plain), headers={"Content-Encoding": encoding})
    assert RESPONSES.read(answer, False)[1] == [("Shell", TOUCH["input"])]


def test_a_zstd_body_streamed_without_its_size_is_read() -> None:
    out = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        writer.write(b'{"input": ')
        writer.write(b'"hello"}')
    assert decompress(out.getvalue(), "zstd", 1000) == b'{"input": "hello"}'


@pytest.mark.parametrize("encoding", ["zstd", "gzip", "deflate", "br"])
def test_a_body_that_does_not_decompress_is_refused_and_kept(encoding: str) -> None:
    with ScriptedModel([TOUCH]) as model:
        answer = send(model, "/v1/responses", raw=b"garbage", headers={"Content-Encoding": encoding})
    assert answer.status == (415 if encoding == "br" else 400)
    assert encoding in model.requests[0].error


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_small_body_that_unpacks_to_a_huge_one_is_refused(pack: Any) -> None:
    encoding = "gzip" if pack is gzip.compress else "zstd"
    with pytest.raises(BadBody, match="limit of 1000"):
        decompress(pack(b" " * 1_000_000), encoding, 1000)


def test_a_body_over_the_limit_is_refused_without_reading_it() -> None:
    with ScriptedModel([TOUCH]) as model:
        answer = send(model, "/v1/messages", raw=b"", headers={"Content-Length": "100000000"})
    assert answer.status == 413
    assert model.requests[0].status == 413


def test_a_chunked_body_is_read() -> None:
    plain = json.dumps(RESPONSES.body(["Shell"], False)).encode()
    with ScriptedModel([TOUCH]) as model:
        connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=10)
        connection.request("POST", "/v1/responses", iter([plain[:10], plain[10:]]), encode_chunked=True)
        assert connection.getresponse().status == 200
        connection.close()
    assert model.requests[0].step == 1


def test_several_requests_share_one_connection() -> None:
    with ScriptedModel([TOUCH, TOUCH]) as model:
        connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=10)
        for _ in range(2):
            connection.request("POST", "/v1/responses", json.dumps(RESPONSES.body(["Shell"], True)).encode())
            assert connection.getresponse().read()
        connection.close()
    assert [request.step for request in model.requests] == [1, 2]


def test_a_request_that_forces_a_tool_is_not_a_step() -> None:
    """Some agents ask for a title this way, before the first turn."""
    chat = next(client for client in CLIENTS if client.name == "chat")
    title = {**chat.body(["title"], False), "tool_choice": {"type": "function", "function": {"name": "title"}}}
    with ScriptedModel([TOUCH]) as model:
        send(model, "/v1/chat/completions", title)
        assert chat.ask(model, ["Shell"], False) == ("", [("Shell", TOUCH["input"])])
    assert len(model.turns) == 1


def test_tools_offered_as_an_input_item_are_tools_and_raw_text_calls_a_custom_tool() -> None:
    code = "text(await tools.exec_command({cmd: 'ls'}))"
    item = {"type": "additional_tools", "role": "developer", "tools": [{"type": "custom", "name": "exec"}]}
    for stream in (False, True):
        with ScriptedModel([{"call": "exec", "input": code}]) as model:
            answer = send(model, "/v1/responses", {"stream": stream, "input": [item]})
        assert RESPONSES.read(answer, stream) == ("", [("exec", code)])
        assert (model.requests[0].tools, model.problems) == (("exec",), [])


def test_a_tool_of_a_namespace_is_called_with_its_namespace() -> None:
    space = {"type": "namespace", "name": "mcp__srv", "tools": [{"type": "function", "name": "add"}]}
    with ScriptedModel([{"call": "mcp__srv.add", "input": {"a": 1}}]) as model:
        answer = send(model, "/v1/responses", {"input": "hi", "tools": [space]})
    item = answer.json()["output"][0]
    assert (item["namespace"], item["name"], model.problems) == ("mcp__srv", "add", [])


def test_tools_of_the_namespace_functions_go_by_their_bare_name() -> None:
    space = {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}
    with ScriptedModel([{"call": "exec", "input": "1"}]) as model:
        answer = send(model, "/v1/responses", {"input": [{"type": "additional_tools", "tools": [space]}]})
    assert "namespace" not in answer.json()["output"][0]
    assert (model.requests[0].tools, model.problems) == (("exec",), [])


def test_a_task_handed_to_a_subagent_counts_as_told() -> None:
    parts = [
        {"type": "input_text", "text": "NEW_TASK"},
        {"type": "encrypted_content", "encrypted_content": "go"},
    ]
    with ScriptedModel([]) as model:
        send(model, "/v1/responses", {"input": [{"type": "agent_message", "content": parts}]})
    assert model.requests[0].told() == ["NEW_TASK", "go"]


def test_a_step_with_wait_is_answered_when_the_steps_before_it_were_taken() -> None:
    steps = [{"say": "child", "when": "child"}, {"say": "last", "wait": True}]
    with ScriptedModel(steps) as model:
        parent, child = ({"input": text, "tools": [{"name": "A"}]} for text in ("parent", "the child"))
        answers: list[Any] = []
        ask = lambda: answers.append(send(model, "/v1/responses", parent).json())  # noqa: E731
        thread = threading.Thread(target=ask)
        thread.start()
        while not model.requests:
            thread.join(0.01)
        assert answers == []
        send(model, "/v1/responses", child)
        thread.join(10)
    assert answers[0]["output"][0]["content"][0]["text"] == "last"
    assert model.problems == []


def test_a_step_with_wait_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onehook.prove.model.server.HOLD_SECONDS", 0.05)
    with ScriptedModel([{"say": "x", "when": "never"}, {"say": "last", "wait": True}]) as model:
        assert RESPONSES.ask(model, ["Shell"]) == ("last", [])
    assert "step 2 waited" in model.problems[0]


def test_a_step_with_when_waits_for_a_request_that_was_told_that_text() -> None:
    steps = [{"call": "A"}, {"call": "B", "when": "child"}, {"call": "C"}]
    with ScriptedModel(steps) as model:
        parent, child = ({"input": text, "tools": [{"name": "A"}]} for text in ("parent", "the child"))
        for body in (parent, parent, child, child):
            send(model, "/v1/responses", body)
    assert [request.step for request in model.requests] == [1, 3, 2, None]
    assert overrun(model) == 1


def test_parallel_requests_each_take_a_step_of_their_own() -> None:
    with ScriptedModel([{"say": f"{number}"} for number in range(8)]) as model:
        bodies = [RESPONSES.body(["Shell"], False)] * 8
        threads = [threading.Thread(target=send, args=(model, "/v1/responses", body)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert sorted(request.step or 0 for request in model.requests) == list(range(1, 9))


@pytest.mark.parametrize("path", ["/v1/models", "/models?client_version=1", "/v1beta/models"])
def test_the_list_of_models_is_served(path: str) -> None:
    with ScriptedModel([]) as model:
        listing = send(model, path, method="GET").json()
    assert listing["data"][0]["id"] == "scripted"
    assert bool(listing["models"]) is ("v1beta" in path)
    assert model.requests[0].kind == "models"


def test_token_counts_are_served_and_use_up_no_step() -> None:
    with ScriptedModel([TOUCH]) as model:
        assert send(model, "/v1/messages/count_tokens?beta=true", {"tools": []}).json()["input_tokens"] > 0
        assert send(model, "/v1beta/models/g:countTokens", {}).json()["totalTokens"] > 0
        assert model.turns == []
        assert RESPONSES.ask(model, ["Shell"], False) == ("", [("Shell", TOUCH["input"])])


def test_keys_and_tokens_are_not_kept() -> None:
    headers = {
        "Authorization": "Bearer s3cret",
        "X-Api-Key": "s3cret",
        "X-Goog-Api-Key": "s3cret",
        "X-Ok": "yes",
    }
    with ScriptedModel([]) as model:
        send(model, "/v1beta/models/g:generateContent?key=s3cret&alt=sse", {"contents": []}, headers=headers)
    request = model.requests[0]
    assert "s3cret" not in repr(request)
    assert request.headers["x-ok"] == "yes"
    assert request.path.endswith("?key=hidden&alt=sse")


def test_close_ends_open_connections_and_frees_the_port() -> None:
    model = ScriptedModel([]).start()
    with socket.create_connection(("127.0.0.1", model.port), timeout=10) as idle:
        send(model, "/v1/models", method="GET")
        model.close()
        model.close()
        assert idle.recv(1) == b""
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", model.port), timeout=10)


def test_a_model_that_was_never_started_closes_cleanly() -> None:
    ScriptedModel([]).close()


def test_a_client_that_goes_away_is_no_problem() -> None:
    with ScriptedModel([TOUCH]) as model:
        with socket.create_connection(("127.0.0.1", model.port), timeout=10) as gone:
            gone.sendall(b"POST /v1/messages HTTP/1.1\r\nContent-Length: 50\r\n\r\n{")
        with socket.create_connection(("127.0.0.1", model.port), timeout=10) as broken:
            broken.sendall(b"nonsense\r\n\r\n")
            assert b"400" in broken.recv(1000)
        send(model, "/v1/models", method="GET")
    assert model.problems == []


def test_serve_prints_one_line_per_request(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted:
        def wait(self) -> None:
            port = int(capsys.readouterr().err.strip().rsplit(":", 1)[1])
            for body in (RESPONSES.body(["Shell"], False), RESPONSES.body([], False)):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("POST", "/v1/responses", json.dumps(body).encode())
                connection.getresponse().read()
                connection.close()
            raise KeyboardInterrupt

    monkeypatch.setattr("onehook.prove.model.server.wait_for_ever", Interrupted().wait)
    assert serve([TOUCH], 0) == 0
    assert capsys.readouterr().err.splitlines() == [
        "1 POST /v1/responses responses 200 tools=1 step 1",
        "2 POST /v1/responses responses 200 tools=0 side",
    ]


CHAT_TOOL = {"type": "function", "function": {"name": "write", "parameters": {"type": "object", "properties": {"path": {}, "text": {}}}}}
CLAUDE_TOOL = {"name": "write", "input_schema": {"type": "object", "properties": {"path": {}, "text": {}}}}
GEMINI_TOOL = {"functionDeclarations": [{"name": "write", "parametersJsonSchema": {"properties": {"path": {}, "text": {}}}}]}


@pytest.mark.parametrize("tool", [CHAT_TOOL, CLAUDE_TOOL, GEMINI_TOOL])
def test_a_spare_argument_is_sent_only_to_a_tool_that_declares_it(tool: dict[str, Any]) -> None:
    step = {"call": "write", "input": {"path": "a", "file_path": "a", "text": "x", "odd": 1}, "spare": ["path", "file_path"]}
    (turn,) = parse_script([step])
    assert declared([tool, {"name": "other"}], "write") == {"path", "text"}
    assert turn.calls[0].sent_to(declared([tool], "write")).input == {"path": "a", "text": "x", "odd": 1}
    with ScriptedModel([step]) as model:
        answer = send(model, "/v1/chat/completions", {"messages": [], "tools": [CHAT_TOOL]}).json()
    call = answer["choices"][0]["message"]["tool_calls"][0]["function"]
    assert json.loads(call["arguments"]) == {"path": "a", "text": "x", "odd": 1}


def test_spare_must_be_a_list_of_names() -> None:
    with pytest.raises(ScriptError, match="spare"):
        parse_script([{"call": "write", "input": {}, "spare": "path"}])
