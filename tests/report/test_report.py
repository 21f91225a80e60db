"""onehook report without a browser: the content of the page, its limited size, and that nothing in it can run or be loaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import ANY, HOSTS, fire, tool_payload
from report.hostile import HOSTILE, hostile_entry
from test_logger import entry_of, logged

from onehook.cli import main
from onehook.core import Options
from onehook.log.reader import log_folder, quiet_events
from onehook.logger import append, stamp
from onehook.report import page as pages

CHARTS = Path(__file__).parents[2] / "charts"
VENDOR = Path(pages.__file__).parent / "vendor"
RULE = {"kind": "rule", "name": "git.push-force", "pack": "git", "file": "/p/onehook.toml", "line": 3, "said": "deny", "reason": "no force"}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def run(*words, code=0):
    result = CliRunner().invoke(main, ["report", *words])
    assert result.exit_code == code, result.output
    return result.output


def data_of(text):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def report(*words):
    return data_of(run("-o", "-", *words))


def test_real_events_of_two_agents_are_counted_and_told(tmp_path):
    rules = tmp_path / "onehook.toml"
    rules.write_text('packs = ["git"]\n')
    for host in HOSTS[:2]:
        fire(rules, tool_payload(host, "sudo git push --force"), "--host", host)
        fire(rules, tool_payload(host, "ls"), "--host", host)
    logged(2)
    while len(list(quiet_events())) < 2:  # these are written after the answer, too
        time.sleep(0.02)
    data = report()
    stats = json.loads(CliRunner().invoke(main, ["stats", "--since", "30d", "--json"]).output)
    assert data["total"] == stats["total"] and data["total"]["denied"] == 2 and data["total"]["events"] == 4
    assert {agent["name"]: agent["denied"] for agent in data["by_agent"]} == dict.fromkeys(HOSTS[:2], 1)
    assert [(rule["name"], rule["kind"], rule["severity"]) for rule in data["rules"]] == [("git.push-force", "rule", "high")]
    assert data["rules"][0]["reason"] and data["never_fired"] == stats["never_fired"] != []
    assert sum(number for _, _, number in data["times"]) == 4 and len(data["days"]) == 1 and data["projects"][0]["denied"] == 2
    (*_, context) = data["events"][0]
    story = data["contexts"][context]["story"]
    assert story["parts"][1] == {"command": "git push --force", "via": ["sudo"]} and story["findings"][0]["rule"] == "git.push-force"
    assert set(HOSTS[:2]) <= set(story["agents"]["deny"]) and story["policy_now"] == "unchanged since then"


def test_single_events_are_bounded_and_the_figures_are_not():
    now = time.time()
    for number in range(8):
        append(entry_of(time=stamp(now - 3 * 86400 + number), subject=f"git push -f {number}", by=[RULE]), Options())
    append(entry_of(time=stamp(now), by=[RULE]), Options())
    data = report("--events", "3")
    assert len(data["events"]) == 3 and data["older"] and data["total"]["events"] == 9
    assert [data["contexts"][row[-1]]["subject"] for row in data["events"][1:]] == ["git push -f 7", "git push -f 6"]
    assert [day["denied"] for day in data["days"]] == [8, 0, 0, 1]  # days without an event are included
    assert not report("--events", "9")["older"]
    assert report("--events", "0")["events"] == []


def test_what_events_have_in_common_is_there_once():
    for number in range(200):
        append(entry_of(subject="git push -f", by=[RULE], session=f"s-{number}", agent=ANY), Options())
    text = run("-o", "-")
    assert len(data_of(text)["contexts"]) == 1 and text.count("git push -f") == 1


def test_a_part_of_the_log():
    for agent, project, days in ((ANY, "/work/a", 0), (HOSTS[1], "/work/b", 0), (ANY, "/work/b", 40)):
        append(entry_of(agent=agent, project=project, time=stamp(time.time() - days * 86400), by=[RULE]), Options())
    assert report()["total"]["events"] == 2 and report("--since", "60d")["total"]["events"] == 3
    for words in (("--project", "/work/a"), ("--hosts", ANY)):
        data = report(*words)
        assert data["total"]["events"] == len(data["events"]) == 1 and [one["name"] for one in data["projects"]] == ["/work/a"]


def test_an_empty_log_gives_a_page():
    data = report()
    assert data["total"]["events"] == 0 and data["days"] == data["events"] == data["times"] == []


def test_the_file_is_for_this_user_and_replaces_only_a_report(tmp_path):
    assert "report.html: 0 events" in run().replace("\n", "")
    path = tmp_path / "report.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.stat().st_ino, path.read_text()
    run()
    assert path.read_text()[:200] == before[1][:200]
    (tmp_path / "mine.html").write_text("<p>mine</p>")
    assert "is not a report" in run("-o", "mine.html", code=2)
    assert (tmp_path / "mine.html").read_text() == "<p>mine</p>"
    assert "cannot write" in run("-o", "no-such-folder/x.html", code=1)


def test_open_shows_it_in_the_browser(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    run("--open")
    assert opened == [(tmp_path / "report.html").as_uri()]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_cannot_leave_its_place(text):
    entry = hostile_entry(text)
    append(entry, Options())
    page = run("-o", "-")
    clean = re.sub(r"(?s)<script>.*?</script>|<style>.*?</style>", "", page)  # our own code
    (block,) = re.findall(r'(?s)id="data">(.*?)</script>', clean)
    assert not re.search("[<>&\u2028\u2029\x00-\x1f]", block) and block.isascii()
    assert re.findall(r"<(?:script|img|svg|iframe)\b", clean) == ["<script"]  # the data
    data = data_of(page)
    assert data["contexts"][0]["subject"] == text and data["contexts"][0]["by"][0]["reason"] == text


def test_nothing_runs_or_loads_but_what_the_security_policy_names():
    page = run("-o", "-")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = {words[0]: words[1:] for words in map(str.split, policy.split(";"))}
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == ["'none'"]
    inline = {"script-src": re.findall(r"(?s)<script>(.*?)</script>", page), "style-src": re.findall(r"(?s)<style>(.*?)</style>", page)}
    for name, texts in inline.items():
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert rules[name] == [f"'sha256-{one}'" for one in hashes], name
    assert page.index("Content-Security-Policy") < page.index("<style") and not re.search(r"<(link|base|iframe|object|embed|img)\b", page)
    assert not re.search(r"""\b(src|srcset|href)=["'](?!#)""", page)
    script = pages.asset("kit.js") + pages.asset("page.js")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.html\(|fetch\(|XMLHttp", script)


def test_the_charts_library_is_the_one_of_the_lock_file():
    """After changing charts/package.json, run `make charts`."""
    lock = json.loads((CHARTS / "package-lock.json").read_text())["packages"]
    head = (VENDOR / "d3.min.js").read_text().partition("\n")[0]
    named = re.findall(r"(d3-[\w-]+) ([\d.]+)", head)
    assert len(named) > 5 and all(lock[f"node_modules/{name}"]["version"] == version for name, version in named)
    licence = (VENDOR / "LICENSE").read_text()
    assert all(re.search(rf"(?m)^{name}$", licence) for name, _ in named) and licence.count("Permission to use, copy") >= len(named) - 1
    exported = re.findall(r"export \{ (.*?) \}", (CHARTS / "d3.js").read_text())
    used = set(re.findall(r"\bd3\.(\w+)", pages.asset("page.js")))
    assert used == {name for names in exported for name in names.split(", ")}


def test_the_page_stays_small():
    assert len(run("-o", "-")) < 150_000


def test_lines_about_the_log_itself_are_not_events():
    append(entry_of(agent="onehook", event="LogSwept", decision="none", by=[]), Options())
    assert report()["events"] == [] and Path(log_folder()).is_dir()
