"""The server of the desk's page: who is let in, what each answer requires, and how hostile requests are shown."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import ANY, PATIENCE, clean_environment, reason_of
from report.hostile import HOSTILE, hostile_entry

from onehook.cli import main
from onehook.core import Options
from onehook.desk import answers, pin
from onehook.log.reader import entries
from onehook.logger import append
from onehook.page import views
from onehook.page.server import HEADERS, LARGEST
from onehook.setup import person
from tests.desk.open_desk import Client, opened
from tests.desk.person import CHEAP, PIN, desk_folder
from tests.desk.test_hold import SHORT, passes

RULES = """ask_via = "desk-always"
[levels]
"git.push-force" = "ask"
"git.reset-hard" = "ask"
"""


@pytest.fixture
def desk(tmp_path):
    with opened(tmp_path) as desk:
        yield desk


@pytest.fixture
def client(desk):
    """A browser that has opened the link and loaded the page."""
    return Client(desk).enter().page()


@pytest.fixture
def unlocked(client, key):
    """The same, after the person has entered the PIN."""
    assert client.post("unlock", {"pin": PIN, "minutes": 15})[0] == 200
    return client


# --- who is let in ------------------------------------------------------------------------------------------------------------------


def test_every_answer_has_strict_headers(client):
    kinds = {
        "/": "text/html",
        "/desk.css": "text/css",
        "/desk.js": "text/javascript",
        "/icon.svg": "image/svg+xml",
        "/nothing": "application/json",
    }
    for path, kind in kinds.items():
        response = client.send("GET", path)
        assert {name: response.headers[name] for name in HEADERS} == HEADERS and response.headers.get_content_type() == kind, path
        assert "Access-Control-Allow-Origin" not in response.headers and response.headers["Server"].strip() == "onehook"
    for method in ("HEAD", "PUT", "OPTIONS", "TRACE"):
        response = client.send(method, "/")
        assert response.status == 501 and {name: response.headers[name] for name in HEADERS} == HEADERS
    policy = dict(rule.strip().partition(" ")[::2] for rule in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"


def test_the_page_itself_holds_no_data_and_nothing_inline(client, hook, key):
    hook("git push --secret-word").asked()
    page = client.get("/")[1]
    assert "secret-word" not in page and client.desk.gate.token not in page
    assert re.findall(r"<script[^>]*>", page) == ['<script src="/desk.js" defer>'] and not re.search(r"<style|\sstyle=|\son\w+=", page)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "", "localhost.evil.example", "[::2]:{port}"]
)
@pytest.mark.parametrize("path", ["/", "/api/policies"])
def test_another_name_is_not_ours(client, host, path):
    """With DNS rebinding, a web page's own name resolves to 127.0.0.1, but its requests still send that name."""
    assert client.get(path, Host=host.format(port=client.desk.port) or None)[0] == 421


def test_the_end_of_a_tunnel_and_a_named_proxy_are_ours(tmp_path):
    with opened(tmp_path, names=("desk.example",)) as desk:
        for host in ("localhost:9000", "127.0.0.1:1", "[::1]:9000", "localhost", "desk.example"):
            client = Client(desk)
            client.host = host
            assert client.enter().page().get("/api/policies")[0] == 200


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "http://localhost:{port}", "http://127.0.0.1:{port}.evil.example"]
)
def test_only_the_pages_own_origin_changes_anything(client, origin):
    given = origin and origin.format(port=client.desk.port)
    assert client.post("lock", Origin=given)[0] == 403
    assert client.post("enter", {"token": client.desk.gate.token}, Origin=given)[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_cannot_even_look(client, site):
    """Another port of 127.0.0.1 is the same site: its pages' requests come with our cookie."""
    assert client.get("/api/policies", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")[0] == 403
    assert client.get("/api/policies", Origin="http://127.0.0.1:1")[0] == 403
    assert client.get("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate")[0] == 200  # a link in a message


def test_without_the_link_nothing_is_seen(desk):
    stranger = Client(desk)
    for path in ("events", "figures?since=7d", "policies", "health"):
        assert stranger.get(f"/api/{path}")[0] == 401
        assert stranger.get(f"/api/{path}", Cookie=f"onehook-desk-{desk.port}=guessed; other=1")[0] == 401
    for path in ("visit", "unlock", "lock", "exception", "answer"):
        assert stranger.post(path)[0] == 401
    for token in ("", "guessed", desk.gate.token[:-1], desk.gate.token + "x"):
        assert stranger.post("enter", {"token": token})[0] == 401


def test_the_cookie_is_for_this_page_alone(desk):
    response = Client(desk).send("POST", "/api/enter", json.dumps({"token": desk.gate.token}).encode())
    assert response.headers["Set-Cookie"].partition(";")[2].split("; ") == [" Path=/api", "HttpOnly", "SameSite=Strict"]
    assert desk.gate.token not in response.headers["Set-Cookie"]


# --- what is sent -------------------------------------------------------------------------------------------------------------------


def test_what_is_too_large_or_no_json_object_is_refused(client):
    large = json.dumps({"pin": "x" * LARGEST}).encode()
    assert client.post("unlock", large)[0] == 413
    assert client.post("unlock", b"{}", Content_Length="999999999999")[0] == 413
    for length in ("-1", "x", "1e3", "\u0663".encode().decode("latin-1")):
        assert client.post("unlock", b"{}", Content_Length=length)[0] == 411
    assert client.post("unlock", b"0\r\n\r\n", Transfer_Encoding="chunked")[0] == 411
    assert client.post("unlock", b"{}", Content_Type="text/plain")[0] == 415
    for body in (b"", b"{", b"[]", b"1", b"\xff", b"[" * 100_000, b'{"pin": 1}', b'{"pin": "x", "more": 1}', b'{"minutes": true}'):
        assert client.post("unlock", body)[0] == 400, body[:20]
    assert client.get("/api/figures?since=9d")[0] == 400


def test_more_connections_than_a_person_needs_are_refused(desk):
    statuses = [Client(desk).send("GET", "/").status for _ in range(40)]  # none of the connections is closed
    assert statuses[0] == 200 and statuses[-1] == 503


# --- answers ------------------------------------------------------------------------------------------------------------------------


def test_the_link_is_not_enough(client, hook, key):
    """What an agent may have: the link, therefore the cookie, and a token of a page of its own. It does not have the PIN."""
    waiting = hook()
    asked = waiting.asked()
    assert client.answer(asked) == (423, {"error": "the PIN is needed"})
    assert client.answer(asked, decision="deny")[0] == 423
    for guess in ("", "000000", PIN + " "):
        assert client.post("unlock", {"pin": guess, "minutes": 15})[0] in (403, 429)
        assert client.answer(asked)[0] == 423
    assert answers.one(asked.id).state == "waiting" and waiting.process.poll() is None


def test_the_pin_opens_one_page_and_no_other(unlocked, hook, desk):
    """Whoever has the link and the cookie can load the page, but the PIN that the person entered is not there."""
    waiting = hook()
    asked = waiting.asked()
    assert Client(desk).enter().page().answer(asked)[0] == 423
    other = Client(desk)
    other.headers = {"Cookie": unlocked.headers["Cookie"]}
    assert other.page().answer(asked)[0] == 423
    for token in (None, "", "guessed", unlocked.visit["id"], unlocked.visit["welcome"], desk.gate.token):
        for change in ("answer", "lock", "unlock", "exception"):
            assert unlocked.post(change, {}, X_Onehook_Page=token)[0] == 403
    assert unlocked.answer(asked)[0] == 200 and passes(waiting.result())


def test_without_a_pin_nothing_can_be_answered_here(client, hook):
    """In a terminal it can be answered, because the hook sees who answers; here it would see this server, whoever sends the request."""
    waiting = hook()
    asked = waiting.asked()
    assert client.answer(asked)[0] == 423
    status, said = client.post("unlock", {"pin": "", "minutes": 15})
    assert status == 409 and "onehook approve --set-pin" in said["error"]
    assert answers.one(asked.id).state == "waiting"


def test_wrong_pins_are_counted_and_one_has_to_wait(client, hook, key):
    asked = hook().asked()
    for _ in range(3):
        assert client.post("unlock", {"pin": "wrong horse", "minutes": 15}) == (403, {"error": "wrong PIN"})
    status, said = client.post("unlock", {"pin": PIN, "minutes": 15})
    assert status == 429 and "try again in" in said["error"]
    assert client.answer(asked)[0] == 423


def test_a_wrong_pin_closes_what_was_open(unlocked, hook):
    assert unlocked.post("unlock", {"pin": "wrong horse", "minutes": 15})[0] == 403
    assert unlocked.answer(hook().asked())[0] == 423


def test_the_pin_is_kept_for_the_time_that_was_chosen(client, hook, key, monkeypatch):
    assert client.post("unlock", {"pin": PIN, "minutes": 7})[0] == 400
    assert client.post("unlock", {"pin": PIN, "minutes": 5})[1]["seconds"] in (299, 300)
    asked = hook().asked()
    visit = client.desk.gate.visit_of(client.headers["X-Onehook-Page"])
    visit.until = time.time() - 1
    assert client.answer(asked)[0] == 423 and visit.key is None
    client.post("unlock", {"pin": PIN, "minutes": 60})
    visit.until = time.time() - 1
    client.desk.gate.forget()
    assert visit.key is None


def test_the_pin_can_be_for_one_answer_and_the_page_can_be_locked(client, hook, key):
    client.post("unlock", {"pin": PIN, "minutes": 0})
    first = hook()
    assert client.answer(first.asked()) == (200, {"said": "approved: the agent continues", "seconds": 0})
    assert passes(first.result())
    second = hook().asked()
    assert client.answer(second)[0] == 423
    client.post("unlock", {"pin": PIN, "minutes": 15})
    assert client.post("lock")[0] == 200
    assert client.answer(second)[0] == 423


def test_answers_reach_the_agent_and_stand_in_the_log(unlocked, hook):
    waiting = hook()
    assert unlocked.answer(waiting.asked(), decision="deny", words="use a branch")[0] == 200
    assert reason_of(waiting.result(), ANY) == "A person denied this: use a branch"
    (line,) = entries()
    assert (line["approver"], line["by"][-1]["reason"]) == ("ana", "page: use a branch")
    session = hook()
    assert unlocked.answer(session.asked(), scope="session")[0] == 200
    assert passes(session.result()) and passes(hook("git fetch", *SHORT).result())


def test_what_is_answered_is_what_was_seen(unlocked, hook):
    waiting = hook()
    asked = waiting.asked()
    assert unlocked.post("answer", {"id": asked.id, "digest": "other", "decision": "allow", "scope": "once"})[0] == 409
    assert unlocked.post("answer", {"id": asked.id[:5], "digest": asked.digest, "decision": "allow", "scope": "once"})[0] == 409
    assert unlocked.post("answer", {"id": "../x", "digest": "", "decision": "allow", "scope": "once"})[0] == 409
    for wrong in ({"decision": "maybe"}, {"scope": "always"}, {"decision": ""}):
        assert unlocked.answer(asked, **wrong)[0] == 400
    assert unlocked.answer(asked, decision="deny")[0] == 200
    assert unlocked.answer(asked)[0] == 409
    assert not passes(waiting.result())


def test_an_exception_is_shown_and_then_written(unlocked, hook, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    rules = tmp_path / "onehook.toml"
    rules.write_text('packs = ["git"]\n' + RULES, encoding="utf-8")
    asked = hook("git reset --hard", policy=rules).asked()
    given = {"rule": "git.reset-hard", "command": "git reset --hard", "until": "2099-01-01", "reason": "mine"}
    seen = {"id": asked.id, "digest": asked.digest}
    status, said = unlocked.post("exception", {**seen, **given})
    assert status == 409 and "2099" in said["error"]
    given["until"] = time.strftime("%Y-%m-%d")
    status, draft = unlocked.post("exception", {**seen, **given})
    file = tmp_path / "config" / "onehook" / "onehook.toml"
    assert (status, draft["file"]) == (200, str(file)) and 'rule = "git.reset-hard"' in draft["added"] and not file.exists()
    assert unlocked.answer(asked, exception={**given, "added": draft["added"], "reason": "other"})[0] == 409
    assert unlocked.answer(asked, exception=given)[0] == 409
    assert unlocked.answer(asked, decision="deny", exception={**given, "added": draft["added"]})[0] == 409
    assert not file.exists() and answers.one(asked.id).state == "waiting"
    assert unlocked.answer(asked, exception={**given, "added": draft["added"]})[0] == 200
    assert draft["added"] in file.read_text(encoding="utf-8")


# --- what is shown ------------------------------------------------------------------------------------------------------------------


def stream(client):
    """The events of the stream, as they arrive."""
    response = client.send("GET", f"/api/events?visit={client.visit['id']}")
    assert response.status == 200 and response.headers.get_content_type() == "text/event-stream"
    name = ""
    while line := response.readline().decode():
        if line.startswith("event: "):
            name = line[7:].strip()
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])


def next_of(events, wanted, fits=lambda value: True):
    return next(value for name, value in events if name == wanted and fits(value))


def test_the_stream_says_who_it_is_and_then_what_happens(client, hook, key):
    events = stream(client)
    assert next(events) == ("welcome", {"welcome": client.visit["welcome"]})
    waiting = hook("sudo git push origin main && ls")
    (one,) = next_of(events, "requests", lambda value: value["requests"])["requests"]
    assert (one["command"], one["reason"], one["state"], one["title"]) == (
        "sudo git push origin main && ls",
        "is this right?",
        "waiting",
        "Claude Code",
    )
    assert [(part["command"], part["via"]) for part in one["parts"]] == [
        ("sudo git push origin main", []), ("git push origin main", ["sudo"]), ("ls", []),
    ]  # fmt: skip
    answers.give(waiting.asked(), answers.Answer("allow"), key, by="ana", via="terminal")
    waiting.result()
    told = {}
    while told.get("requests", {}).get("requests") != [] or "decisions" not in told:  # in either order
        name, value = next(events)
        told[name] = value
    (decision,) = told["decisions"]["decisions"]
    assert (decision["subject"], decision["outcome"], decision["approver"]) == ("sudo git push origin main && ls", "allow", "ana")
    assert client.get("/api/events?visit=other")[0] == 403


def test_the_parts_of_a_command_have_what_the_rules_say_of_them(tmp_path):
    rules = tmp_path / "onehook.toml"
    rules.write_text('packs = ["git"]\n' + RULES, encoding="utf-8")
    found = views.parts("cd x && sudo git push --force", str(tmp_path), str(rules))
    assert [[said["rule"] for said in part["said"]] for part in found] == [[], [], ["git.push-force"]]
    read = views.parts("sudo rm $X/a \"$(b c)\" 'd e'", "/", "")
    assert [(part["command"], part["via"]) for part in read] == [
        ("b c", []), ("sudo rm $X/a … 'd e'", []), ("rm $X/a … 'd e'", ["sudo"]),
    ]  # fmt: skip
    assert views.parts("git push", "/", "/nowhere.toml")[0]["said"] == [] and views.parts("", "/", "") == []


def test_a_change_is_a_diff_and_a_new_text_is_compared_with_the_file(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("one\ntwo\n", encoding="utf-8")
    written = views.difference({"path": str(file), "kind": "write", "old": None, "new": "one\n2\n"})
    assert written["lines"] == [("@", "@@ -1,2 +1,2 @@"), (" ", "one"), ("-", "two"), ("+", "2")] and written["note"] == ""
    fresh = views.difference({"path": str(tmp_path / "b.py"), "kind": "write", "new": "x\n"})
    assert fresh["lines"][1:] == [("+", "x")] and fresh["note"] == "the file is new"
    long = views.difference({"path": "b", "kind": "edit", "old": "", "new": "x\n" * 9000})
    assert len(long["lines"]) == 400 and long["note"] == "8,600 more lines are not shown"
    os.mkfifo(tmp_path / "pipe")
    assert views.difference({"path": str(tmp_path / "pipe"), "kind": "write", "new": "x"})["lines"]
    assert views.difference({"path": None, "kind": 3, "old": [], "new": {}, "to": 1})["lines"] == []


@pytest.mark.parametrize("times", [{}, {"until": 1e400}, {"until": 10**400}, {"time": -1}, {"time": 10**400}])
def test_whatever_lies_in_the_folder_the_stream_continues(client, hook, key, times):
    """Forged requests in which values have the wrong type, and files that are not requests."""
    good = hook().asked()
    kinds = {"changes": [1, {"path": 1}], "paths": 3, "rewritable": "x", "mcp": 7, "url": [], "model": {}, "prompt": 1, "agent": [2]}
    for number, forged in enumerate([kinds, {"by": [{"kind": 1, "name": [], "said": "ask"}]}, {"input": {"a": {"b": []}}}, {"host": "x"}]):
        id = f"{good.id[:8]}-{number:010x}"
        os.mkdir(f"{desk_folder()}/{id}", 0o700)
        content = {**good.content, **forged, **times, "id": id}
        with open(os.open(f"{desk_folder()}/{id}/request.json", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            json.dump(content, file)
    events = stream(client)
    assert next_of(events, "requests", lambda value: good.id in [one["id"] for one in value["requests"]])


def test_hostile_lines_of_the_log_are_text(client):
    for text in HOSTILE:
        append(hostile_entry(text), Options())
    events, found = stream(client), []
    while len(found) < len(HOSTILE):  # in as many parts as the board needed to read the log
        found += next_of(events, "decisions")["decisions"]
    assert [one["subject"] for one in found] == list(HOSTILE)


def test_figures_policies_and_findings_come_when_they_are_asked_for(client):
    append(hostile_entry("x"), Options())
    assert client.get("/api/figures?since=30d")[1]["total"]["events"] >= 0
    policies = client.get("/api/policies")[1]
    assert policies["installed"] == [] and policies["paused"] == []
    findings = client.get("/api/health")[1]["findings"]
    assert any(one["level"] == "fail" and "no policy is installed" in one["what"] for one in findings)


# --- the verb -----------------------------------------------------------------------------------------------------------------------


def test_an_agent_cannot_open_it(monkeypatch):
    monkeypatch.setattr(person, "agent_above", lambda *_: "Claude Code runs this command (CLAUDECODE is set)")
    result = CliRunner().invoke(main, ["desk", "--port", "0"])
    assert result.exit_code == 1 and "only a person can run onehook desk" in result.output
    assert [line["event"] for line in entries()] == ["Refused"]


def test_a_port_that_is_taken_is_reported(desk):
    result = CliRunner().invoke(main, ["desk", "--port", str(desk.port)])
    assert result.exit_code == 1 and f"port {desk.port} cannot be used" in result.output and "--port 0" in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal")
@pytest.mark.parametrize("as_json", [True, False])
def test_it_prints_the_link_and_ends_with_control_c(tmp_path, as_json):
    pin.set_pin(PIN, cost=CHEAP)
    # A shell without job control starts background processes with Ctrl-C ignored.
    listens = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{listens}; import onehook.setup.person as p; p.processes_above = lambda: iter(()); from onehook.cli import main; main()"
    words = [sys.executable, "-c", code, "desk", "--no-open", "--port", "0", *(["--json"] if as_json else [])]
    process = subprocess.Popen(words, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True)
    with process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        link = json.loads(next(lines))["link"] if as_json else next(line.strip() for line in lines if "#token=" in line)
        port = int(link.partition("127.0.0.1:")[2].partition("/")[0])
        assert b"desk.js" in _get(port)
        process.send_signal(signal.SIGINT)
        try:
            rest, problems = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0 and "Traceback" not in problems and ("closed" in rest) is not as_json


def _get(port):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/")
    data = connection.getresponse().read()
    connection.close()
    return data


def test_the_pages_script_never_makes_html_of_text():
    script = Path(views.__file__).with_name("assets").joinpath("desk.js").read_text(encoding="utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
        assert word not in script
