"""Held asks: the agent gets a person's answer once, and nothing else ever lets the call pass."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
import sys
import time

import jsonschema
import pytest
from harness import ANY, HOSTS, PATIENCE, PRE, honours, reason_of, tool_payload

from onehook.desk import answers, pin
from onehook.desk.answers import Answer
from onehook.desk.requests import ANSWER
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.log.reader import entries
from tests.desk.person import PIN, desk_folder
from tests.test_hot_path import INTERPRETERS
from tests.test_pause import SCHEMA

SHORT = ("--ask-wait", "0.2")


def given(asked, key, decision="allow", **more):
    return answers.give(asked, Answer(decision, **more), key, by="ana", via="page")


def read(result, host=ANY):
    return load(host, "reverse").answer(sample("PreToolUse", "Bash"), result.stdout, result.stderr, result.exit_code)


def passes(result, host=ANY):
    return read(result, host).decision != "deny"


@pytest.mark.parametrize("host", HOSTS)
def test_an_approved_call_continues_and_a_denied_one_does_not(hook, key, host):
    first = hook(host=host)
    asked = first.asked()
    assert (asked.state, asked.content["command"], asked.content["reason"]) == ("waiting", "git push", "is this right?")
    assert given(asked, key) == "approved: the agent continues"
    assert passes(first.result(), host)
    second = hook(host=host)
    given(second.asked(), key, "deny", words="use the other branch")
    assert reason_of(second.result(), host) == "A person denied this: use the other branch"
    assert answers.listed() == []


@pytest.mark.parametrize("host", HOSTS)
def test_a_rewritten_command_runs_or_is_asked_for(hook, key, host):
    waiting = hook(host=host)
    asked = waiting.asked()
    given(asked, key, input={"command": "git push --dry-run"})
    result = waiting.result()
    if asked.content["rewritable"]:
        assert "git push --dry-run" in json.dumps(read(result, host).modified_input) and passes(result, host)
    else:
        assert "git push --dry-run" in reason_of(result, host)


@pytest.mark.parametrize("version", INTERPRETERS)
def test_every_interpreter_holds_and_checks_the_signature(hook, key, version):
    first, second = hook("git pull", python=INTERPRETERS[version]), hook("git push", python=INTERPRETERS[version])
    while len(answers.listed()) < 2:
        time.sleep(0.02)
    for asked in answers.listed():
        given(asked, key, "deny" if asked.content["command"] == "git push" else "allow")
    assert passes(first.result()) and reason_of(second.result(), ANY) == "A person denied this."


def test_the_log_has_who_answered_and_how(hook, key):
    waiting = hook()
    given(waiting.asked(), key, "deny", words="no")
    waiting.result()
    (line,) = entries()
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(line)
    assert (line["decision"], line["approver"]) == ("deny", "ana")
    assert [(one["kind"], one["name"], one["said"]) for one in line["by"]] == [("handler", "guard", "ask"), ("person", "ana", "deny")]
    assert line["by"][1]["reason"] == "page: no"


def test_nobody_answers_and_the_next_try_is_approved_once(hook, key):
    result = hook("git push", *SHORT).result()
    (asked,) = answers.listed()
    assert asked.state == "unanswered" and f"`onehook approve {asked.id}`" in reason_of(result, ANY)
    assert "applies to its next attempt" in given(asked, key)
    assert not passes(hook("git push --force", *SHORT).result())  # another command
    assert passes(hook("git push", *SHORT).result())
    assert not passes(hook("git push", *SHORT).result())


def test_an_answer_that_is_copied_counts_nowhere(hook, key):
    hook("git push", *SHORT).result()
    (asked,) = answers.listed()
    given(asked, key)
    shutil.copytree(f"{desk_folder()}/{asked.id}", f"{desk_folder()}/{asked.id[:-1]}{'0' if asked.id[-1] != '0' else '1'}")
    assert passes(hook("git push", *SHORT).result())
    assert not passes(hook("git push", *SHORT).result())


@pytest.mark.parametrize(
    "changed",
    [{"time": 1e300}, {"until": "now"}, {"by": [{}]}, {"by": [{"kind": "rule", "name": [], "said": "ask"}]}, {"changes": [1]}, {"mcp": 1},
     {"paths": [{}]}, {"input": []}, {"host": None}, {"id": "0-0"}],
)  # fmt: skip
def test_a_file_that_is_not_a_request_does_not_break_the_list(hook, changed):
    asked = hook().asked()
    os.mkdir(f"{desk_folder()}/0-a")
    with open(os.open(f"{desk_folder()}/0-a/request.json", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump({**asked.content, "id": "0-a", "until": time.time() - 1, **changed}, file)
    assert [one.id for one in answers.listed()] == [asked.id]


def test_an_answer_for_the_session_counts_there_and_nowhere_else(hook, key):
    waiting = hook()
    given(waiting.asked(), key, scope="session")
    assert passes(waiting.result())
    assert passes(hook("git pull", *SHORT).result()) and passes(hook("git fetch", *SHORT).result())
    assert not passes(hook("git pull", *SHORT, session="s-2").result())


def test_an_agent_that_shows_progress_is_told_that_a_person_is_asked(hook, key):
    progress = {}
    for host in HOSTS:
        waiting = hook(host=host)
        asked = waiting.asked()
        given(asked, key)
        waiting.result()
        progress[host] = [json.loads(line)["message"] for line in waiting.progress]
        wanted = [f"onehook: a person is asked (onehook approve {asked.id})"]
        event = load(host).parse(tool_payload(host, "git push"), PRE[host])
        assert progress[host] == (wanted if load(host).caps(event).progress else [])
    assert any(progress.values())


def test_a_request_is_answered_once(hook, key):
    waiting = hook()
    asked = waiting.asked()
    given(asked, key, "deny")
    with pytest.raises(answers.AlreadyAnswered):
        given(asked, key)
    assert not passes(waiting.result())
    with pytest.raises(answers.AlreadyAnswered):
        given(answers.one(asked.id), key)


def forged(asked, **changed):
    """An answer signed with a key that the agent made itself."""
    from onehook.desk.answers import _statement
    from onehook.desk.statements import sealed

    other = pin.Key(bytes(32))
    return sealed({**_statement(asked, Answer("allow"), "ana", "page"), **changed}, other)


@pytest.mark.parametrize("forgery", ["another key", "no signature", "empty", "a copied answer", "a changed request"])
def test_a_forged_answer_is_refused_and_the_person_can_still_answer(hook, key, forgery):
    copied = hook("git status")
    given(copied.asked(), key)
    assert passes(copied.result())
    (done,) = (f"{desk_folder()}/{name}" for name in os.listdir(desk_folder()) if "-" in name)
    waiting = hook()
    asked = waiting.asked()
    path = f"{desk_folder()}/{asked.id}/{ANSWER}"
    if forgery == "a changed request":  # the person is shown something harmless, and approves it
        request = f"{desk_folder()}/{asked.id}/request.json"
        with open(request, "r+", encoding="utf-8") as file:
            text = file.read().replace("git push", "git diff")
            file.seek(0)
            file.write(text)
        given(answers.one(asked.id), key)
    else:
        with open(f"{done}/{ANSWER}", "rb") as file:
            copy = file.read()
        unsigned = json.dumps({**json.loads(forged(asked)), "signature": ""}).encode()
        data = {"another key": forged(asked), "no signature": unsigned, "empty": b"", "a copied answer": copy}[forgery]
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(data)
    end = time.monotonic() + PATIENCE
    while os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.02)
    assert waiting.process.poll() is None
    if forgery != "a changed request":
        given(answers.one(asked.id), key, "deny", words="mine")
        assert reason_of(waiting.result(), ANY) == "A person denied this: mine"
        assert [line["event"] for line in entries()].count("Refused") == 1


def test_what_a_hook_that_was_killed_asked_is_gone(hook, key):
    waiting = hook(python=sys.executable)  # a separate process, because the test waits for its end
    asked = waiting.asked()
    waiting.process.kill()
    waiting.process.wait()
    assert answers.listed() == [] and answers.one(asked.id).state == "gone"
    with pytest.raises(answers.NoSuchRequest):
        given(answers.one(asked.id), key)


def test_a_hook_whose_agent_has_gone_does_not_wait_on(hook):
    waiting = hook()
    asked = waiting.asked()
    waiting.stdout.close()
    waiting.process.wait()
    assert answers.one(asked.id).state == "gone"


def test_without_a_pin_a_process_without_a_terminal_cannot_answer(hook):
    waiting = hook()
    with pytest.raises(answers.DeskError, match="terminal"):
        given(waiting.asked(), None)
    assert waiting.process.poll() is None


def test_who_connects_and_says_nothing_does_not_keep_the_hook_from_answering(hook):
    waiting = hook("git push", "--ask-wait", "3")
    folder = f"{desk_folder()}/{waiting.asked().id}"
    back = os.getcwd()
    while not os.path.exists(f"{folder}/socket"):
        time.sleep(0.02)
    with contextlib.ExitStack() as silent:
        os.chdir(folder)  # because the path of a socket must be short
        try:
            for _ in range(4):
                one = silent.enter_context(socket.socket(socket.AF_UNIX))
                while one.connect_ex("socket") == errno.ECONNREFUSED:  # the socket exists a moment before anything listens on it
                    time.sleep(0.02)
                assert one.getpeername()
        finally:
            os.chdir(back)
        assert "nobody answered" in reason_of(waiting.result(), ANY)


def test_with_a_pin_a_terminal_needs_it_too(hook, key):
    waiting = hook()
    with pytest.raises(answers.PinNeeded):
        given(waiting.asked(), None)
    with pytest.raises(pin.WrongPin):
        given(waiting.asked(), pin.Key(bytes(32)))
    assert pin.unlock(PIN).public == key.public


def test_a_desk_that_cannot_be_written_is_a_denial(hook, monkeypatch):
    os.makedirs(os.environ["ONEHOOK_STATE_DIR"])
    open(desk_folder(), "w").close()
    assert "no person could be asked" in reason_of(hook().result(), ANY)


def test_a_changed_command_is_for_one_call(hook, key):
    asked = hook().asked()
    for answer in (Answer("allow", "session", input={"command": "x"}), Answer("deny", input={"command": "x"})):
        with pytest.raises(answers.DeskError, match="once"):
            answers.give(asked, answer, key, by="ana", via="page")
    assert answers.one(asked.id).state == "waiting"


@pytest.mark.parametrize("host", HOSTS)
def test_where_the_agent_can_ask_it_does_unless_the_desk_is_always_to(hook, host):
    result = hook("git push", *SHORT, "--ask-via", "desk", host=host).result()
    if honours(host, "PreToolUse", "ask"):
        assert read(result, host).decision == "ask" and answers.listed() == []
    else:
        assert "nobody answered in time" in reason_of(result, host)
        assert [asked.state for asked in answers.listed()] == ["unanswered"]


def test_a_rule_can_say_for_itself_who_asks(hook, tmp_path):
    policy = tmp_path / "onehook.toml"
    rules = {"held": 'ask_via = "desk-always"\n', "other": ""}
    text = "".join(f'[[rule]]\nid = "{name}"\nreason = "r"\nlevel = "ask"\ncommand = "{name}"\n{via}' for name, via in rules.items())
    policy.write_text(text, encoding="utf-8")
    asking = next(host for host in HOSTS if honours(host, "PreToolUse", "ask"))
    assert read(hook("other", *SHORT, host=asking, policy=policy).result(), asking).decision == "ask"
    assert "nobody answered" in reason_of(hook("held", *SHORT, host=asking, policy=policy).result(), asking)
    for line in entries():
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(line)


@pytest.mark.parametrize("more", [("--mode", "observe"), ("--ask-via", "agent")], ids=["observe", "agent"])
def test_what_is_only_observed_or_left_to_the_agent_is_not_held(hook, more):
    hook("git push", *more).result()
    assert answers.listed() == []


def test_the_agent_is_never_waited_out(hook):
    """Unless install sets a longer timeout, the hook answers before the agent gives up."""
    result = hook("git push", "--timeout", "1", "--host-timeout", "6").result()
    (asked,) = answers.listed()
    assert asked.content["until"] - asked.content["time"] <= 1 and "nobody answered" in reason_of(result, ANY)
