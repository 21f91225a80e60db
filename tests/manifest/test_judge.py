"""Hooks that a model judges, with a model on loopback: both APIs, every dialect that has such hooks, and everything that can go wrong."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading

import pytest
from click.testing import CliRunner
from harness import fire, launcher, process, reason_of, stop_payload, tool_payload

from onehook.cli import main
from onehook.core import UsageError
from onehook.hosts import HOSTS, having, load
from onehook.manifest.judge import with_arguments
from onehook.manifest.load import load_manifest
from onehook.manifest.looking import looked
from onehook.prove.model import ScriptedModel
from onehook.prove.model.http import LoopbackServer
from onehook.prove.model.shape import Reply
from onehook.setup.runtime import runtime_files
from tests.host_folders import facts

KEY = "sk-secret-0123456789"
APIS = ("anthropic", "openai")
NO = '{"ok": false, "reason": "rule 7"}'
YES = '{"ok": true, "reason": "fine"}'
ENDS = 'events = ["PreToolUse"]\nprompt = "Is this allowed? $ARGUMENTS"\nspeaks = "claude"\n'
PLAIN = f"{ENDS}continue_on_block = true\n"
STOP = 'events = ["Stop"]\nprompt = "The tests were run."\nspeaks = "claude"\n'


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def manifest(folder, url, hook=PLAIN, api="anthropic", more='key_env = "JUDGE_KEY"\n', fail="closed"):
    path = folder / "onehook.toml"
    head = f'[model]\napi = "{api}"\nmodel = "judge-1"\nurl = "{url}"\n{more}'
    path.write_text(f'{head}\n[[hook]]\nname = "the judge"\n{hook}timeout = 10\nfail = "{fail}"\n')
    return path


def asked(policy, host, payload=None):
    return fire(policy, tool_payload(host) if payload is None else payload, "--host", host)


# ---- verdicts ----


def before_a_command(host, event):
    row = load(host).EVENTS[event]
    return row.event == "PreToolUse" and row.tool in ("", "Bash")


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("host", having("config"))
def test_a_no_denies_on_every_agent_and_the_model_was_asked_once(tmp_path, host, api):
    with ScriptedModel([{"aside": NO}]) as model:
        result = asked(manifest(tmp_path, model.url, api=api), host)
    assert "[Is this allowed? $ARGUMENTS]: rule 7" in reason_of(result, host), result
    (request,) = model.requests
    assert request.kind == ("anthropic" if api == "anthropic" else "chat") and request.body["model"] == "judge-1"
    assert KEY not in result.stdout + result.stderr


@pytest.mark.parametrize("api", APIS)
def test_a_yes_is_no_opinion(tmp_path, api):
    with ScriptedModel([{"aside": YES}]) as model:
        result = asked(manifest(tmp_path, model.url, api=api), "codex")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", ""), result


@pytest.mark.parametrize("answer", [f"```json\n{NO}\n```", f"  {NO}\n"])
def test_a_verdict_may_be_in_a_fence(tmp_path, answer):
    with ScriptedModel([{"aside": answer}]) as model:
        assert "rule 7" in reason_of(asked(manifest(tmp_path, model.url), "codex"), "codex")


def test_the_model_gets_what_the_programs_own_agent_would_send(tmp_path):
    with ScriptedModel([{"aside": YES}]) as model:
        asked(manifest(tmp_path, model.url), "gemini")
    text = model.requests[0].body["messages"][0]["content"]
    sent = json.loads(text[len("Is this allowed? ") :])
    assert sent["tool_name"] == "Bash" and sent["hook_event_name"] == "PreToolUse"


def test_on_claude_code_a_no_also_ends_the_turn_unless_the_hook_continues(tmp_path):
    with ScriptedModel([{"aside": NO}, {"aside": NO}]) as model:
        ends = asked(manifest(tmp_path, model.url, ENDS), "claude")
        goes_on = asked(manifest(tmp_path, model.url), "claude")
    assert json.loads(ends.stdout)["continue"] is False and json.loads(ends.stdout)["stopReason"] == "rule 7"
    assert "continue" not in json.loads(goes_on.stdout) and "rule 7" in reason_of(goes_on, "claude")


@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_a_stop_continues_until_the_condition_holds(tmp_path, host):
    impossible = '{"ok": false, "impossible": true, "reason": "never"}'
    with ScriptedModel([{"aside": NO}, {"aside": YES}, {"aside": impossible}]) as model:
        policy = manifest(tmp_path, model.url, STOP)
        first, second, third = (asked(policy, host, stop_payload(host)) for _ in range(3))
    assert "rule 7" in first.stdout + first.stderr and "rule 7" not in second.stdout + third.stdout
    assert "The tests were run." in json.dumps(model.requests[0].body)


@pytest.mark.parametrize(
    ("speaks", "event"),
    [
        *((host, event) for host in having("judge") for event in load(host, "judge").JUDGED if before_a_command(host, event)),
        ("onehook", "PreToolUse"),
    ],
)
def test_every_dialect_that_has_such_hooks(tmp_path, speaks, event):
    goes_on = facts(speaks).JUDGED_AND_GOES_ON if speaks in HOSTS else ""
    hook = f'events = ["{event}"]\nprompt = "Is this allowed?"\nspeaks = "{speaks}"\n{goes_on}'
    with ScriptedModel([{"aside": NO}]) as model:
        assert "rule 7" in reason_of(asked(manifest(tmp_path, model.url, hook), "codex"), "codex")
    assert "\n\nARGUMENTS: {" in model.requests[0].body["messages"][0]["content"]


def test_the_place_of_the_arguments():
    assert with_arguments("a $ARGUMENTS b $ARGUMENTS", "{}") == "a {} b {}"
    assert with_arguments("a $ARGUMENTS[1] b", "{\\d}") == "a {\\d} b"
    assert with_arguments("a", "{}") == "a\n\nARGUMENTS: {}"


# ---- the session, and files ----


def test_a_stop_is_judged_on_the_session_so_far(tmp_path):
    transcript = tmp_path / "s.jsonl"
    common = {"sessionId": "s", "cwd": str(tmp_path), "timestamp": "2026-01-01T00:00:00Z"}
    said = {"role": "assistant", "content": [{"type": "text", "text": "I am done."}], "stop_reason": "end_turn"}
    lines = [
        {"type": "user", "message": {"role": "user", "content": "paint the shed"}, **common},
        {"type": "assistant", "message": said, **common},
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    payload = {**stop_payload("claude"), "transcript_path": str(transcript)}
    with ScriptedModel([{"aside": YES}]) as model:
        asked(manifest(tmp_path, model.url, STOP), "claude", payload)
    text = model.requests[0].body["messages"][0]["content"]
    assert "USER: paint the shed\nAGENT: I am done." in text


@pytest.mark.parametrize("api", APIS)
def test_an_agent_looks_at_files_of_the_project_and_then_decides(tmp_path, api):
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes.txt").write_text("one\nthe word is violet\n")
    steps = [
        {"call": "Read", "input": {"file_path": "notes.txt"}},
        {"calls": [{"call": "Grep", "input": {"pattern": "vio+let"}}, {"call": "Glob", "input": {"pattern": "*.txt"}}]},
        {"call": "Read", "input": {"file_path": "/etc/passwd"}},
        {"say": NO},
    ]
    with ScriptedModel(steps) as model:
        result = asked(
            manifest(tmp_path, model.url, PLAIN + "agent = true\n", api), "codex", {**tool_payload("codex"), "cwd": str(tmp_path)}
        )
    assert "Agent hook condition was not met: rule 7" in reason_of(result, "codex")
    shown = model.requests[-1].told()[-4:]  # the results of the four calls
    assert "2\tthe word is violet" in shown[0] and "notes.txt:2:the word is violet" in shown[1] and shown[2] == "notes.txt"
    assert "outside the project" in shown[3] and "root:" not in json.dumps(shown)
    assert not model.problems and model.requests[0].tools == ("Read", "Grep", "Glob")


def test_an_agent_that_never_decides_is_a_failed_hook(tmp_path):
    with ScriptedModel([{"call": "Glob", "input": {"pattern": "*"}} for _ in range(60)]) as model:
        policy = manifest(tmp_path, model.url, PLAIN + "agent = true\n")
        policy.write_text(policy.read_text().replace("timeout = 10", "timeout = 100"))
        result = asked(policy, "codex")
    assert "did not decide within 50 turns" in reason_of(result, "codex") and len(model.requests) == 50


def test_links_do_not_lead_out_of_the_project(tmp_path):
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (outside / "secret.txt").write_text("violet")
    (project / "link").symlink_to(outside / "secret.txt")
    (project / "folder").symlink_to(outside)
    for name, given in (
        ("Read", {"file_path": "link"}), ("Read", {"file_path": "../outside/secret.txt"}), ("Grep", {"pattern": "violet"}),
        ("Grep", {"pattern": "v", "path": "folder"}), ("Glob", {"pattern": "secret*"}), ("Write", {"file_path": "x"}), ("Read", {}),
        ("Grep", {"pattern": "("}),
    ):  # fmt: skip
        assert "violet" not in looked(name, given, str(project), "") and "secret.txt\n" not in looked(name, given, str(project), "")


# ---- failures ----


@contextlib.contextmanager
def served(reply):
    """A server that gives this reply to every request, and counts the requests."""
    seen = []

    def answer(method, path, headers, body):
        seen.append(headers)
        return reply

    server = LoopbackServer(0, answer, 1 << 20, seen.append)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.close()


@contextlib.contextmanager
def raw(data):
    """A server that sends these bytes and closes the connection, or sends nothing for None."""
    listening = socket.create_server(("127.0.0.1", 0))
    held = []

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                held.append(connection)
                if data is not None:
                    connection.recv(1 << 16)
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1 << 16):  # closing it with the end of a request unread would be a reset
                        pass
                    connection.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
        for connection in held:
            connection.close()


def message(text):
    return json.dumps({"content": [{"type": "text", "text": text}]}).encode()


WRONG = {
    "no verdict": (Reply(message("I would rather not say")), "is not a verdict"),
    "a cut verdict": (Reply(message('{"ok": false, "rea')), "is not a verdict"),
    "ok is a string": (Reply(message('{"ok": "false"}')), "is not a verdict"),
    "a list": (Reply(message('["ok"]')), "is not a verdict"),
    "cut JSON": (Reply(message(YES)[:-9]), "is not a JSON object"),
    "another API": (Reply(b'{"choices": []}'), "does not have the format of the anthropic API"),
    "HTML": (Reply(b"<html>hello</html>", "text/html"), "is not a JSON object"),
    "401": (Reply(json.dumps({"error": {"message": f"bad key {KEY}"}}).encode(), status=401), "answered 401: bad key ***"),
    "404": (Reply(b"", status=404), "answered 404"),
    "a redirect": (Reply(b"", status=302), "answered 302"),
}


def check(policy, text):
    """Closed denies and open warns; the key is never shown."""
    closed = asked(policy, "codex")
    assert "'the judge'" in reason_of(closed, "codex") and text in reason_of(closed, "codex"), closed
    policy.write_text(policy.read_text().replace("closed", "open"))
    opened = asked(policy, "codex")
    assert (opened.exit_code, opened.stdout) == (0, "") and text in opened.stderr, opened
    assert KEY not in closed.stdout + closed.stderr + opened.stderr


@pytest.mark.parametrize(("reply", "text"), WRONG.values(), ids=WRONG)
def test_an_answer_that_is_none_is_a_failed_hook(tmp_path, reply, text):
    with served(reply) as (url, seen):
        check(manifest(tmp_path, url), text)
    assert len(seen) == 2 and seen[0]["X-Api-Key" if "X-Api-Key" in seen[0] else "X-api-key"] == KEY


@pytest.mark.parametrize("status", [429, 500, 529])
def test_what_may_pass_is_tried_three_times(tmp_path, status):
    with served(Reply(b"{}", status=status)) as (url, seen):
        result = asked(manifest(tmp_path, url), "codex")
    assert f"answered {status}" in reason_of(result, "codex") and len(seen) == 3


def test_a_server_that_recovers_is_asked_again(tmp_path):
    replies = [Reply(b"", status=503), Reply(message(NO))]
    server = LoopbackServer(0, lambda *_: replies.pop(0), 1 << 20, lambda problem: None)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        result = asked(manifest(tmp_path, f"http://127.0.0.1:{server.server_address[1]}"), "codex")
    finally:
        server.close()
    assert "rule 7" in reason_of(result, "codex") and not replies


def test_a_connection_that_breaks(tmp_path):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
    with raw(head + message(YES)) as url:
        check(manifest(tmp_path, url), "is cut off")
    with raw(b"") as url:
        check(manifest(tmp_path, url), "cannot be reached")
    check(manifest(tmp_path, "http://127.0.0.1:1"), "cannot be reached")


def test_a_server_that_says_nothing_is_not_waited_for(tmp_path):
    with raw(None) as url:
        policy = manifest(tmp_path, url)
        policy.write_text(policy.read_text().replace("timeout = 10", "timeout = 2"))
        check(policy, "the judge")  # by its own timeout, or stopped from outside on a busy machine


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ('key_env = "NOT_SET_ANYWHERE"\n', "the variable NOT_SET_ANYWHERE, which [model] names as key_env, is not set"),
        ('key_file = "/nowhere/key"\n', "key_file /nowhere/key cannot be read"),
    ],
)
def test_without_its_key_nothing_is_asked(tmp_path, more, text):
    with served(Reply(message(YES))) as (url, seen):
        check(manifest(tmp_path, url, more=more), text)
    assert not seen


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_key_file_that_others_can_read_is_refused(tmp_path):
    place = tmp_path / "key"
    place.write_text(KEY + "\n")
    place.chmod(0o644)
    with served(Reply(message(NO))) as (url, seen):
        policy = manifest(tmp_path, url, more=f'key_file = "{place}"\n')
        check(policy, "chmod 600")
        assert not seen
        place.chmod(0o600)
        policy = manifest(tmp_path, url, more=f'key_file = "{place}"\n')
        assert "rule 7" in reason_of(asked(policy, "codex"), "codex") and len(seen) == 1


def test_a_key_is_not_sent_without_tls(tmp_path):
    check(manifest(tmp_path, "http://model.example/v1"), "without TLS")


def test_proxies_are_obeyed(tmp_path, monkeypatch):
    with served(Reply(message(NO))) as (proxy, seen):
        monkeypatch.setenv("http_proxy", proxy)
        policy = manifest(tmp_path, "http://model.invalid/v1", more="")
        assert "rule 7" in reason_of(asked(policy, "codex"), "codex")
        monkeypatch.setenv("no_proxy", "model.invalid")
        assert "cannot be reached" in reason_of(asked(policy, "codex"), "codex") and len(seen) == 1


def test_certificates_are_verified(tmp_path):
    """A server with a self-signed certificate, made with openssl, which the tests' machine has."""
    import ssl
    import subprocess

    pair = [str(tmp_path / name) for name in ("cert.pem", "key.pem")]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-out", pair[0], "-keyout", pair[1], "-subj", "/CN=localhost"]
    subprocess.run([*made, "-addext", "subjectAltName=DNS:localhost"], capture_output=True, check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    server = LoopbackServer(0, lambda *_: Reply(message(NO)), 1 << 20, lambda problem: None)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    policy = manifest(tmp_path, f"https://localhost:{server.server_address[1]}")
    try:
        assert "CERTIFICATE_VERIFY_FAILED" in reason_of(asked(policy, "codex"), "codex")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", pair[0])
            assert "rule 7" in reason_of(asked(policy, "codex"), "codex")
    finally:
        server.close()


# ---- the manifest ----

BAD = {
    "no model": ("", PLAIN, "a prompt needs a model"),
    "a key in it": ('[model]\napi = "openai"\nmodel = "m"\nkey = "sk-1"\n', PLAIN, "the key itself does not belong here"),
    "no such API": ('[model]\napi = "telepathy"\nmodel = "m"\n', PLAIN, "api must be one of anthropic, openai"),
    "no name": ('[model]\napi = "openai"\n', PLAIN, "model is missing"),
    "not strings": ('[model]\napi = "openai"\nmodel = 4\n', PLAIN, "a table of strings"),
    "a command too": ('[model]\napi = "openai"\nmodel = "m"\n', PLAIN + 'run = ["true"]\n', "run cannot be combined with prompt"),
    "in the background": ('[model]\napi = "openai"\nmodel = "m"\n', PLAIN + "background = true\n", "background cannot be combined"),
    "an empty prompt": ('[model]\napi = "openai"\nmodel = "m"\n', 'events = ["Stop"]\nprompt = ""\nspeaks = "claude"\n', "prompt must be"),
    "a flag alone": ('[model]\napi = "openai"\nmodel = "m"\n', 'events = ["Stop"]\nagent = true\nspeaks = "claude"\n', "prompt must be"),
    "no such hooks": (
        '[model]\napi = "openai"\nmodel = "m"\n', PLAIN.replace("claude", "codex"),
        f"speaks must be one of {', '.join([*having('judge'), 'onehook'])}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("model", "hook", "text"), BAD.values(), ids=BAD)
def test_a_manifest_that_cannot_be_used(model, hook, text):
    with pytest.raises(UsageError, match=text):
        load_manifest("onehook.toml", f"{model}\n[[hook]]\n{hook}".encode())


def test_in_a_rules_file_too(tmp_path):
    with ScriptedModel([{"aside": NO}]) as model:
        policy = manifest(tmp_path, model.url)
        policy.write_text('packs = ["git"]\n' + policy.read_text())
        assert "rule 7" in reason_of(asked(policy, "codex"), "codex")
    policy.write_text(policy.read_text().replace('model = "judge-1"\n', ""))
    assert "model is missing" in reason_of(asked(policy, "codex"), "codex")


def test_fire_and_import_together(tmp_path):
    """As a new user would: import, then try it."""
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    handler = {"type": "prompt", "prompt": "Is it safe? $ARGUMENTS", "timeout": 9, "model": "haiku"}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}))
    ask = ["import", "--from", "claude", "--project", str(tmp_path)]
    refused = CliRunner().invoke(main, ask)
    assert refused.exit_code == 1 and "--model anthropic:NAME" in refused.output
    with ScriptedModel([{"aside": NO}]) as model:
        named = ["--model", "openai:judge-1", "--model-url", model.url, "--model-key-env", "JUDGE_KEY"]
        assert CliRunner().invoke(main, [*ask, *named]).exit_code == 0
        fired = CliRunner().invoke(main, ["fire", str(tmp_path / "onehook.toml"), "Bash", "command=ls", "--hosts", "gemini", "--json"])
    assert "[Is it safe? $ARGUMENTS]: rule 7" in fired.output and KEY not in fired.output
    text = (tmp_path / "onehook.toml").read_text()
    assert KEY not in text and 'key_env = "JUDGE_KEY"' in text and "timeout = 9" in text and "its model 'haiku'" in text


def test_in_the_runtime_that_install_copies(tmp_path):
    (tmp_path / ".onehook").mkdir()
    for name, content in runtime_files().items():
        (tmp_path / ".onehook" / name).write_bytes(content)
    with ScriptedModel([{"aside": NO}, {"aside": NO}]) as model:
        argv = launcher(manifest(tmp_path, model.url), "--host", "codex", launch=str(tmp_path / ".onehook" / "launch"))
        for _ in range(2):  # without a cache, and with one
            assert "rule 7" in reason_of(process(argv, tool_payload("codex")), "codex")


def test_nothing_of_it_is_loaded_for_other_hooks(tmp_path):
    import subprocess
    import sys

    policy = tmp_path / "onehook.toml"
    policy.write_text('[model]\napi = "openai"\nmodel = "m"\n\n[[hook]]\nevents = ["Stop"]\nrun = ["true"]\nspeaks = "claude"\n')
    code = "import sys; from onehook.policy import load_policy; load_policy(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code, str(policy)], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "onehook.manifest.load" in loaded
    assert not {"onehook.manifest.judge", "onehook.manifest.models", "tomllib", "onehook.rules.load", "json", "urllib"} & set(loaded)
