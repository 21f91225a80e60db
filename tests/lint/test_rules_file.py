"""onehook lint on a rules file: each finding at its line, in the file that it is about; doctor reports expired exceptions too."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from onehook.cli import main
from onehook.lint.check import Limits, check

GOOD = 'fail = "closed"\npacks = ["git"]\n'
RULE = '[[rule]]\nid = "x"\nreason = "r"\ncommand = "psql --host prod*"\nmatches = ["psql --host prod-1"]\n'
EXCEPTION = '[[exception]]\nrule = "git.reset-hard"\ncommand = "git reset --hard origin/main"\nuntil = {until}\nreason = "OPS-1"\n'


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def run(text: str, run_handlers: bool = False):
        path = tmp_path / "onehook.toml"
        path.write_text(text, encoding="utf-8")
        return check(str(path), ("claude",), Limits(10_000, 10_000, run_handlers))

    return run


def found(report) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in report.findings]


def test_a_good_file_has_no_findings(lint):
    assert found(lint(GOOD + RULE + EXCEPTION.format(until="2999-12-31"))) == []


def test_an_exception_that_has_ended(lint):
    report = lint(GOOD + EXCEPTION.format(until="2020-12-31"))
    assert found(report) == [("OH501", 3)] and "git.reset-hard ended on 2020-12-31: OPS-1" in report.findings[0].text


def test_an_exception_in_an_extended_file_is_reported_there(lint, tmp_path):
    (tmp_path / "base.toml").write_text(EXCEPTION.format(until='"2020-12-31"'))
    (finding,) = lint(GOOD + 'extends = "base.toml"\n').findings
    assert (finding.code, finding.line) == ("OH501", 1) and finding.file.endswith("base.toml")


def test_examples_that_do_not_hold_or_are_missing(lint):
    assert found(lint(GOOD + RULE + 'passes = ["sudo psql --host=prod-2"]\n')) == [("OH502", 3)]
    assert found(lint(GOOD + RULE.replace('matches = ["psql --host prod-1"]\n', ""))) == [("OH503", 3)]


def test_a_bad_pattern_is_shown_with_a_caret_at_its_line(lint):
    report = lint(GOOD + RULE.replace("prod*", "(prod"))
    assert not report.loads and found(report) == [("OH001", 6)]
    assert report.findings[0].text.endswith("psql --host (prod\n                ^")


def test_a_rules_file_that_fails_open_is_reported_in_its_own_words(lint):
    (finding,) = lint('packs = ["git"]\n' + RULE, run_handlers=True).findings
    assert finding.code == "OH401" and finding.fix == 'set fail = "closed"'


def test_doctor_reports_exceptions_that_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "ONEHOOK_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    monkeypatch.chdir(project)
    (project / "onehook.toml").write_text(GOOD + EXCEPTION.format(until="2020-12-31"))
    assert CliRunner().invoke(main, ["install", "onehook.toml", "--hosts", "claude", "--yes"]).exit_code == 0
    told = " ".join(CliRunner().invoke(main, ["doctor", "--hosts", "claude", "--no-fire"]).output.split())
    assert "onehook.toml:3: the exception to git.reset-hard ended on 2020-12-31" in told
    (project / "onehook.toml").write_text(GOOD + EXCEPTION.format(until="2999-12-31"))
    assert "the exception to" not in CliRunner().invoke(main, ["doctor", "--hosts", "claude", "--no-fire"]).output
