"""The report in a real browser: it draws, filters by mouse and keyboard, loads nothing, runs none of its content, is accessible."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from harness import ANY, HOSTS
from playwright.sync_api import Browser, Page, expect
from report.browser import launched, violations
from report.hostile import HOSTILE, hostile_entry
from test_logger import entry_of

from onehook.cli import main
from onehook.core import Options
from onehook.logger import append, stamp

OTHER = HOSTS[1]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def log(tmp_path, monkeypatch):
    """70 decisions of two agents on three days, of every kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    now = time.time() // 86400 * 86400 - 3600
    rule = {
        "kind": "rule",
        "name": "git.push-force",
        "pack": "git",
        "file": "/p/onehook.toml",
        "line": 3,
        "reason": "no force",
        "severity": "high",
    }
    handler = {"kind": "handler", "name": "guard", "file": "/p/policy.py", "line": 4, "reason": "sure?"}
    kinds: list[dict[str, Any]] = [
        {"decision": "deny", "by": [{**rule, "said": "deny"}], "reason": "no force (rule git.push-force)"},
        {"decision": "ask", "by": [{**handler, "said": "ask"}], "reason": "sure?"},
        {"decision": "none", "would": "deny", "by": [{**rule, "said": "deny", "observed": True}], "mode": "observe"},
        {"decision": "none", "error": "ValueError: x", "by": [{**handler, "said": "error"}]},
        {"decision": "none", "by": [{**rule, "name": "core.curl", "said": "warn"}]},
    ]
    for number in sorted(range(70), key=lambda number: number % 3):
        day = stamp(now + (number % 3 - 2) * 86400 + number)
        about = {
            "tool": "Bash",
            "subject": f"git push -f {number}",
            "project": "/work/a" if number < 60 else "/work/b",
            "session": f"s-{number}",
        }
        append(entry_of(agent=HOSTS[number % 2], time=day, ms=5.0 + number, **about, **kinds[number % 5]), Options())


def opened(browser: Browser, folder: Any, *words: str, width: int = 1440, scheme: Any = "light") -> Any:
    """A report in the browser. `page.said` has the console messages, and every request for anything but the page."""
    result = CliRunner().invoke(main, ["report", "-o", str(folder / "report.html"), *words])
    assert result.exit_code == 0, result.output
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page: Any = context.new_page()
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.said.append(request.url) if not request.is_navigation_request() else None)
    page.goto((folder / "report.html").as_uri())
    return page


def rows(page: Page) -> int:
    return page.locator("#list tbody tr:not(.story)").count()


def shown(page: Page) -> str:
    return page.locator("#shown").inner_text()


@pytest.mark.parametrize("width, scheme", [(1440, "light"), (380, "dark")])
def test_it_draws_at_every_width_and_is_accessible(browser, log, tmp_path, width, scheme):
    page = opened(browser, tmp_path, "--events", "8", width=width, scheme=scheme)
    assert page.locator("#days .bar").count() > 5 and page.locator("#agents .bar").count() > 5 and page.locator("#times .time").count() > 3
    assert [card.split("\n")[:2] for card in page.locator("#figures button").all_inner_texts()] == [
        ["Events", "70"], ["Denied", "14"], ["Asked", "14"], ["Would deny", "14"], ["Overridden", "0"], ["Errors", "14"],
    ]  # fmt: skip
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")
    page.locator(".toggle").first.click()
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.said == []
    assert violations(page) == []


def test_a_click_on_a_bar_shows_its_events(browser, log, tmp_path):
    page = opened(browser, tmp_path)
    bar = page.locator("#agents .bar.k-denied").first
    label = bar.get_attribute("aria-label")
    agent, number = re.fullmatch(r"(\w+): (\d+) denied", label).groups()
    bar.click()
    assert shown(page).startswith(f"{number} of 70 decisions") and rows(page) == int(number)
    assert [page.locator(f"#by-{name}").input_value() for name in ("agent", "decision", "day")] == [agent, "denied", ""]
    assert set(page.locator("#list .pill").all_inner_texts()) == {"deny"}
    page.locator("#days .bar.k-errors").first.click()
    assert page.locator("#by-agent").input_value() == "" and page.locator("#by-day").input_value().startswith("20")
    assert set(page.locator("#list .pill").all_inner_texts()) == {"error"}
    page.locator("#rules button", has_text="guard").click()
    assert shown(page).startswith("28 of 70")
    page.locator("#figures button", has_text="Would deny").click()
    assert shown(page).startswith("14 of 70")
    page.locator("#projects button", has_text="/work/b").click()
    assert shown(page).startswith("10 of 70")
    page.locator("#clear").click()
    assert shown(page).startswith("70 decisions") and rows(page) == 50
    page.get_by_role("button", name="Show 20 more").click()
    assert rows(page) == 70 and page.said == []


def test_the_filters_work_together(browser, log, tmp_path):
    page = opened(browser, tmp_path)
    page.locator("#by-agent").select_option(ANY)
    page.locator("#by-decision").select_option("warn")
    page.locator("#by-project").select_option("/work/a")
    assert shown(page).startswith("6 of 70") and rows(page) == 6
    page.locator("#by-text").fill("F 24")
    assert rows(page) == 1 and "git push -f 24" in page.locator("#list").inner_text()
    page.locator("#by-agent").select_option(OTHER)
    assert "No event matches" in page.locator("#list").inner_text()


def test_everything_can_be_done_with_the_keyboard(browser, log, tmp_path):
    page = opened(browser, tmp_path)

    def focused(script: str) -> Any:
        return page.evaluate(f"(() => {{ const at = document.activeElement; return {script}; }})()")

    page.keyboard.press("Tab")
    assert focused("at.textContent") == "Skip to the events"
    for _ in range(20):
        page.keyboard.press("Tab")
        if focused("at.classList.contains('bar')"):
            break
    first = focused("at.getAttribute('aria-label')")
    page.keyboard.press("ArrowRight")
    second = focused("at.getAttribute('aria-label')")
    assert first != second and expect(page.locator("#tip")).to_have_text(second) is None
    page.keyboard.press("Tab")  # a chart is a single tab stop
    assert focused("at.tagName") == "SUMMARY"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    last = focused("at.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    assert shown(page).startswith(f"{re.findall(r': ([0-9]+) ', last)[0]} of 70") and focused("at.id") == "events"
    for _ in range(20):
        page.keyboard.press("Tab")
        if focused("at.classList.contains('toggle')"):
            break
    page.keyboard.press("Enter")
    assert focused("at.getAttribute('aria-expanded')") == "true"
    story = page.locator("#list .story").inner_text()
    assert all(text in story for text in ("session s-", "by the handler guard", "onehook log show", "/p/policy.py:4"))
    page.keyboard.press("Enter")
    assert page.locator("#list .story").count() == 0 and page.said == []


def test_hostile_text_is_shown_and_does_nothing(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for text in HOSTILE:
        append(hostile_entry(text), Options())
        append(hostile_entry(text, decision="none", would="deny", mode="observe") | {"pause": None, "approver": None}, Options())
    page = opened(browser, tmp_path)
    page.get_by_role("button", name="Show all 8").first.click()
    for at in range(16):
        page.locator(".toggle").nth(at).click()
    page.locator("#by-rule").select_option(HOSTILE[0])
    assert rows(page) == 2 and page.locator("#list code").first.inner_text() == HOSTILE[0]
    page.locator(".toggle").first.click()
    assert page.locator("#list .story").inner_text().count(HOSTILE[0]) > 6
    for bar in page.locator("#rules button, #observe button, #projects button").all():
        bar.click()
    assert page.evaluate("[window.ran, document.images.length, document.scripts.length]") == [None, 0, 3]
    assert page.said == []


def test_the_security_policy_holds(browser, log, tmp_path):
    """Content added to the page is neither run nor loaded."""
    page = opened(browser, tmp_path)
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/x.png";
        document.body.append(script, image);
    }""")
    assert page.evaluate("window.ran ?? null") is None
    assert len([line for line in page.said if "Content Security Policy" in line]) == 2, page.said


def test_older_events_are_in_the_figures_and_the_page_says_so(browser, log, tmp_path):
    page = opened(browser, tmp_path, "--events", "5")
    assert "newest 5 decisions" in shown(page) and rows(page) == 5
    page.locator("#days .bar").first.click()  # a day that none of the five is from
    assert rows(page) == 0 and "Older ones may" in page.locator("#list").inner_text()
    assert page.locator("#by-day").input_value() == page.locator("#days td").first.text_content()


def test_the_theme_is_the_systems_until_it_is_chosen(browser, log, tmp_path):
    page = opened(browser, tmp_path, scheme="dark")

    def background() -> int:
        return sum(map(int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[:3]))

    button = page.locator("#theme")
    assert button.inner_text() == "Theme: auto" and background() < 200
    button.click()
    assert button.inner_text() == "Theme: light" and background() > 600
    page.reload()
    assert button.inner_text() == "Theme: light" and background() > 600
    button.click()
    page.emulate_media(color_scheme="light")
    assert button.inner_text() == "Theme: dark" and background() < 200
    page.emulate_media(media="print")
    assert background() > 600 and not page.locator("#filters").is_visible() and page.said == []


def test_an_empty_log_is_a_page_too(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    page = opened(browser, tmp_path)
    assert "No decisions in this period." in page.locator("#days").inner_text() and page.said == []
    assert json.loads(page.locator("#data").inner_text())["total"]["events"] == 0
