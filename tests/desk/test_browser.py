"""The desk in a real browser: every answer, by mouse and by keyboard, to hooks that really wait; hostile text in every field; a phone."""

from __future__ import annotations

import json
import os
import re
import time

import pytest
from harness import ANY, reason_of
from playwright.sync_api import expect
from report.browser import launched, violations
from report.hostile import HOSTILE, hostile_entry

from onehook.core import Options
from onehook.desk import answers, pin
from onehook.logger import append
from tests.desk.open_desk import opened
from tests.desk.person import CHEAP, PIN, desk_folder
from tests.desk.test_hold import SHORT, passes, read
from tests.desk.test_server import RULES


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture
def desk(tmp_path):
    pin.set_pin(PIN, cost=CHEAP)
    with opened(tmp_path) as desk:
        yield desk


@pytest.fixture
def visit(browser, desk):
    """visit(width, scheme): the page, opened by its link. `page.said` has the console messages, except for expected refusals."""
    contexts = []

    def go(width=1280, scheme="light", link=""):
        contexts.append(browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text) if "status of 4" not in message.text else None)
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.goto(link or desk.link)
        return page

    yield go
    for context in contexts:
        context.close()


def press(page, name):
    page.get_by_role("button", name=name).click()


def look_at(page, text):
    """Wait until the request with this text is shown and can be answered: one that has just appeared by itself cannot."""
    expect(page.locator("#request")).to_contain_text(text)
    page.wait_for_timeout(900)


def unlock(page, word=PIN):
    expect(page.locator("#pin")).to_be_visible()
    page.locator("#pin-text").fill(word)
    page.locator("#pin button.go").click()


def said(page, text):
    expect(page.locator("#said")).to_contain_text(text)


# --- the answers --------------------------------------------------------------------------------------------------------------------


def test_approve_once_and_the_page_is_open_for_the_next(visit, hook):
    page = visit()
    assert "token" not in page.url
    expect(page.locator("#headline")).to_have_text("Nothing waits for you")
    first = hook("git push origin main")
    look_at(page, "git push origin main")
    expect(page.locator("#headline")).to_have_text("1 request waits for you")
    expect(page.locator("#request h2")).to_have_text("Claude Code wants to run a command")
    expect(page.locator("#request .reason")).to_have_text("is this right?")
    press(page, "Approve once")
    unlock(page)
    said(page, "Approved: the agent continues.")
    assert passes(first.result())
    expect(page.locator("#lock")).to_contain_text("Lock (15 min)")
    second = hook("git push two")
    look_at(page, "git push two")
    press(page, "Approve once")
    said(page, "Approved")
    assert passes(second.result())
    expect(page.locator("#latest")).to_contain_text("allow by ana")
    page.locator("#lock").click()
    expect(page.locator("#lock")).to_have_text("Unlock")
    hook("git push three").asked()
    look_at(page, "git push three")
    press(page, "Approve once")
    expect(page.locator("#pin")).to_be_visible()
    assert page.said == []


def test_deny_with_words(visit, hook):
    page = visit()
    waiting = hook()
    look_at(page, "git push")
    press(page, "Deny…")
    page.get_by_label("Message for the model").fill("use <b>a branch</b> of your own")
    page.get_by_role("button", name="Deny", exact=True).click()
    unlock(page)
    said(page, "Denied: the agent continues.")
    assert reason_of(waiting.result(), ANY) == "A person denied this: use <b>a branch</b> of your own"


def test_for_this_session(visit, hook):
    page = visit()
    waiting = hook()
    look_at(page, "git push")
    press(page, "This session")
    unlock(page)
    said(page, "for the rest of this session")
    assert passes(waiting.result()) and passes(hook("git fetch", *SHORT).result())
    assert not passes(hook("git fetch", *SHORT, session="s-2").result())


def test_an_exception_is_shown_then_written_and_the_rule_asks_no_more(visit, hook, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    rules, file = tmp_path / "onehook.toml", tmp_path / "config" / "onehook" / "onehook.toml"
    rules.write_text('packs = ["git"]\n' + RULES, encoding="utf-8")
    page = visit()
    waiting = hook("git reset --hard", policy=rules)
    look_at(page, "git.reset-hard")
    press(page, "Always…")
    assert page.get_by_label("Command", exact=True).input_value() == "git reset --hard"
    page.get_by_label("Why").fill("my own branch")
    press(page, "Show the preview")
    expect(page.locator(".preview")).to_contain_text('command = "git reset --hard"')
    expect(page.locator(".preview")).to_contain_text(str(file).removeprefix(os.path.expanduser("~")))
    assert not file.exists()
    page.get_by_label("Why").fill("another reason")  # what was shown is no longer what would be written
    expect(page.locator(".preview pre")).to_have_count(0)
    press(page, "Show the preview")
    expect(page.locator(".preview")).to_contain_text('reason = "another reason"')
    press(page, "Write it, and approve")
    unlock(page)
    said(page, "contains the exception")
    assert passes(waiting.result()) and 'rule = "git.reset-hard"' in file.read_text(encoding="utf-8")
    assert passes(hook("git reset --hard", *SHORT, policy=rules).result())
    assert not passes(hook("git reset --hard HEAD~2", *SHORT, policy=rules).result())


def test_an_exception_is_not_offered_where_no_rule_asks(visit, hook):
    page = visit()
    hook().asked()
    look_at(page, "git push")
    expect(page.get_by_role("button", name="Always…")).to_be_disabled()


def test_rewrite_and_run_that(visit, hook):
    page = visit()
    waiting = hook()
    look_at(page, "git push")
    press(page, "Rewrite…")
    field = page.get_by_label("Run this instead")
    assert field.input_value() == "git push"
    press(page, "Run this")
    said(page, "That is the same command.")
    field.fill("git push --dry-run")
    press(page, "Run this")
    unlock(page)
    said(page, "Approved")
    result = waiting.result()
    assert passes(result) and "git push --dry-run" in json.dumps(read(result).modified_input)


def test_a_wrong_pin_answers_nothing_and_too_many_have_to_wait(visit, hook):
    page = visit()
    waiting = hook()
    look_at(page, "git push")
    press(page, "Approve once")
    for _ in range(3):
        unlock(page, "wrong horse")
        expect(page.locator("#pin-problem")).to_have_text("wrong PIN")
        expect(page.locator("#pin button.go")).to_be_enabled()
    unlock(page)
    expect(page.locator("#pin-problem")).to_contain_text("try again in")
    page.keyboard.press("Escape")
    expect(page.locator("#pin")).to_be_hidden()
    assert waiting.process.poll() is None and answers.listed()[0].state == "waiting"


def test_without_a_pin_the_page_says_how_to_set_one(browser, visit, hook, desk):
    os.unlink(pin.places()[1])
    page = visit()
    hook().asked()
    look_at(page, "git push")
    expect(page.locator("#notice")).to_contain_text("onehook approve --set-pin")


# --- what the page is to a person ---------------------------------------------------------------------------------------------------


def test_everything_can_be_done_with_the_keyboard(visit, hook):
    page = visit()
    first = hook("git push one", session="s-1")
    look_at(page, "git push one")
    second = hook("git push two", session="s-2")
    third = hook("git push three", session="s-3")
    expect(page.locator("#waiting button")).to_have_count(3)
    shown = page.locator("#request .block").first
    page.keyboard.press("j")
    expect(shown).not_to_have_text("git push one")
    page.keyboard.press("k")
    expect(shown).to_have_text("git push one")
    page.keyboard.press("d")
    page.keyboard.type("not a, nor s")  # in a field, keys type letters
    page.keyboard.press("Control+Enter")
    expect(page.locator("#pin-text")).to_be_focused()
    page.keyboard.type(PIN)
    page.keyboard.press("Enter")
    said(page, "Denied")
    assert reason_of(first.result(), ANY).endswith("not a, nor s")
    assert page.evaluate("document.activeElement.tagName") == "H2"
    page.wait_for_timeout(900)
    next_one = shown.inner_text()
    page.keyboard.press("a")
    said(page, "Approved")
    expect(page.locator("#waiting button")).to_have_count(1)
    page.wait_for_timeout(900)
    page.keyboard.press("r")
    page.keyboard.press("Control+A")
    page.keyboard.type("git status")
    page.keyboard.press("Control+Enter")
    said(page, "Approved")
    one, other = (second, third) if next_one == "git push two" else (third, second)
    assert passes(one.result()) and "git status" in json.dumps(read(other.result()).modified_input)
    page.keyboard.press("l")
    expect(page.locator("#lock")).to_have_text("Unlock")
    page.keyboard.press("2")
    expect(page.locator("#view-decisions")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("approve once")
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("#view-decisions")).to_be_visible()  # single-key shortcuts are off
    assert page.said == []


def test_a_request_that_has_just_come_up_is_not_answered_by_a_key_meant_for_another(visit, hook):
    page = visit()
    look = hook("git push one", session="s-1")
    look_at(page, "git push one")
    hook("git push two", session="s-2")
    expect(page.locator("#waiting button")).to_have_count(2)
    page.keyboard.press("a")
    unlock(page)
    expect(page.locator("#request .block").first).to_have_text("git push two")
    page.evaluate("document.querySelector('[data-act=a]').click()")
    said(page, "read it first")
    assert passes(look.result()) and [one.state for one in answers.listed()] == ["waiting"]


def test_a_notification_s_link_shows_its_request(visit, hook, desk):
    page = visit()
    first = hook("git push one", session="s-1").asked()
    look_at(page, "git push one")
    hook("git push two", session="s-2")
    expect(page.locator("#waiting button")).to_have_count(2)
    other = next(one for one in answers.listed() if one.id != first.id)
    page.goto(f"{desk.url}#{other.id}")
    expect(page.locator("#request .block").first).to_have_text("git push two")


def test_a_desk_that_ends_says_so_and_nothing_more_can_be_sent(visit, hook, desk):
    page = visit()
    hook().asked()
    look_at(page, "git push")
    desk.board.stop()
    expect(page.locator("#notice")).to_contain_text("connection to the desk was lost")
    expect(page.get_by_role("button", name="Approve once")).to_be_disabled()


def test_something_else_in_the_desks_place_is_noticed(visit, hook, desk):
    page = visit()
    hook().asked()
    look_at(page, "git push")
    for one in desk.gate._visits.values():
        one.welcome = "whatever an impostor says"
    desk.board.stop()
    expect(page.locator("#notice")).to_contain_text("connection to the desk was lost")
    desk.board.stopped = False
    expect(page.locator("#notice")).to_contain_text("Do not enter your PIN", timeout=15_000)
    expect(page.get_by_role("button", name="Approve once")).to_be_disabled()


def test_the_link_of_another_desk_opens_nothing(visit, desk):
    page = visit(link=desk.url)
    expect(page.locator("#notice")).to_contain_text("the link that onehook desk prints")
    page = visit(link=f"{desk.url}#token=guessed")
    expect(page.locator("#headline")).to_have_text("The desk is closed")


# --- hostile text -------------------------------------------------------------------------------------------------------------------


def forged(good, number, text):
    """A request with this text in every field that somebody else can write."""
    id = f"{good.id[:8]}-{number:010x}"
    by = [{"kind": text, "name": text, "said": "ask", "reason": text, "severity": text, "file": text, "line": text}]
    names = ("session", "project", "cwd", "event", "tool", "native_tool", "reason", "agent", "model", "host", "host_version", "policy")
    change = {"path": text, "kind": text, "old": text, "new": f"{text}\n{text}", "to": text}
    content = {**good.content, **dict.fromkeys(names, text), "id": id, "by": by, "input": {text: text}, "until": time.time() - 5}
    content |= {"command": "", "changes": [change]} if number % 2 else {"command": text}
    os.mkdir(f"{desk_folder()}/{id}", 0o700)
    with open(os.open(f"{desk_folder()}/{id}/request.json", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file)


def test_hostile_text_is_shown_and_does_nothing(visit, hook):
    good = hook().asked()
    for number, text in enumerate(HOSTILE * 2):
        forged(good, number + (number >= len(HOSTILE)), text)
        append(hostile_entry(text), Options())
    page = visit()
    page.evaluate("window.addEventListener('securitypolicyviolation', (event) => console.log(`blocked ${event.blockedURI}`))")
    expect(page.locator("#waiting button")).to_have_count(2 * len(HOSTILE) + 1)
    for at in range(2 * len(HOSTILE) + 1):
        page.locator("#waiting button").nth(at).click()
        page.locator("#request summary").click()
    page.locator("#waiting button").nth(1).click()
    assert HOSTILE[0] in page.locator("#request").inner_text()
    page.keyboard.press("2")
    expect(page.locator("#list .toggle")).to_have_count(2 * len(HOSTILE))
    for at in range(2 * len(HOSTILE)):
        page.locator("#list .toggle").nth(at).click()
    assert page.locator("#list").inner_text().count(HOSTILE[0]) > 3
    page.keyboard.press("3")
    expect(page.locator("#figures")).to_be_visible()
    assert page.evaluate("[window.ran ?? null, document.images.length, document.scripts.length]") == [None, 0, 1]
    assert page.said == []


def test_characters_that_hide_or_reorder_a_command_are_seen(visit, hook):
    page = visit()
    hook("echo safe \u202e# fr- mr\u200b\u00a0\x07").asked()
    look_at(page, "echo safe")
    assert page.locator("#request .block").first.inner_text() == "echo safe U+202E# fr- mrU+200BU+00A0U+0007"
    assert page.locator("#waiting .what").inner_text().startswith("echo safe \\u{202e}# fr- mr\\u{200b}")


def test_the_security_policy_holds(visit):
    page = visit()
    expect(page.locator("#headline")).to_have_text("Nothing waits for you")
    page.evaluate("""() => {
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/x.png";
        document.body.append(image);
    }""")
    problem = page.evaluate("(() => { try { document.body.innerHTML = '<b>x</b>'; return ''; } catch (error) { return error.name; } })()")
    assert problem == "TypeError" and page.evaluate("document.querySelector('b')") is None
    assert any("Content Security Policy" in line for line in page.said), page.said


# --- everyone -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width, scheme", [(1280, "light"), (380, "dark")])
def test_it_fits_every_width_and_is_accessible(visit, hook, tmp_path, width, scheme):
    rules = tmp_path / "onehook.toml"
    rules.write_text('packs = ["git"]\n' + RULES, encoding="utf-8")
    hook("cd api && sudo git reset --hard --" + "x" * 300, policy=rules).asked()
    append(hostile_entry("a decision"), Options())
    page = visit(width, scheme)
    look_at(page, "git reset")
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")

    def checked():
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert violations(page) == []

    checked()
    for name in ("Deny…", "Always…", "Rewrite…"):
        press(page, name)
    page.locator("#request summary").click()
    checked()
    press(page, "Approve once")
    expect(page.locator("#pin")).to_be_visible()
    checked()
    page.keyboard.press("Escape")
    for name, text in (("Decisions", "a decision"), ("Figures", "By rule"), ("Policies", "In force"), ("Health", "Check again")):
        page.get_by_role("button", name=re.compile(f"^{name}")).first.click()
        expect(page.locator(f"#view-{name.lower()}")).to_contain_text(text, timeout=60_000)
        if name == "Decisions":
            page.locator("#list .toggle").first.click()
        checked()
    assert page.said == []
