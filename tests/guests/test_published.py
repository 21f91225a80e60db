"""The comparison of published hooks detects what is the same, what differs, and what cannot be compared; and contains what it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.guests import published
from tests.guests.published import Report, examine

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _contained() -> None:
    if not published.contained():
        pytest.skip("needs Linux with user namespaces and overlayfs")


DENIES = "grep -q 'rm -rf' && { echo 'no rm' >&2; exit 2; }; exit 0"
LOGS = """cat >> "$CLAUDE_PROJECT_DIR"/log; echo mine > ~/mine; echo there > /tmp/there; date +%s%N > now"""


def repository(folder: Path, *commands: str, event: str = "PreToolUse", **more: Any) -> Path:
    hooks = [{"type": "command", "command": command, **more} for command in commands]
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude/settings.json").write_text(json.dumps({"hooks": {event: [{"matcher": "Bash", "hooks": hooks}]}}))
    return folder


def compared(folder: Path) -> Report:
    report = Report()
    examine(folder, ["claude"], report, 20)
    return report


def test_hooks_that_do_the_same_are_counted(tmp_path: Path) -> None:
    report = compared(repository(tmp_path / "r", DENIES, LOGS, "sleep 0.3 && touch late & exit 0"))
    tally = report.tallies["claude"]
    assert (tally.hooks, tally.cases, tally.same, tally.timed) == (3, 9, 9, 3)
    assert tally.acted == 1 + 3 + 3  # one denial in three events, and the files that the others leave
    assert report.differences == report.unsteady == report.left_out == []


def test_a_hook_that_does_something_else_through_onehook_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = published.manifest_string
    monkeypatch.setattr(published, "manifest_string", lambda *given: whole(*given).replace("no rm", "never"))
    report = compared(repository(tmp_path / "r", DENIES))
    assert [difference["answer"][0]["reason"] for difference in report.differences] == ["no rm"]
    assert [difference["answer"][1]["reason"] for difference in report.differences] == ["never"]


def test_a_difference_beside_a_time_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = published.manifest_string
    monkeypatch.setattr(published, "manifest_string", lambda *given: whole(*given).replace("echo mine", "echo yours"))
    report = compared(repository(tmp_path / "r", LOGS))
    assert len(report.differences) == 3 and not report.unsteady


def test_what_differs_each_time_is_no_difference(tmp_path: Path) -> None:
    report = compared(repository(tmp_path / "r", "mktemp -p . > /dev/null"))
    assert report.tallies["claude"].unsteady == 3 and not report.differences


def test_a_matcher_that_import_reads_otherwise_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = published.manifest_string
    monkeypatch.setattr(published, "manifest_string", lambda *given: whole(*given).replace('tools = ["Bash"]', 'tools = ["Read"]'))
    report = compared(repository(tmp_path / "r", DENIES))
    assert {difference["event"] for difference in report.differences} == {"PreToolUse Bash", "PreToolUse Read"}


def test_what_cannot_be_compared_is_left_out_with_the_reason(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", "no-such-program-here")
    (folder / "other").mkdir()
    repository(folder / "other", "true", event="NoSuchEvent")
    reasons = [left["why"] for left in compared(folder).left_out]
    assert reasons == ["a program that it needs is not installed here", "Claude Code has no event 'NoSuchEvent'"]


def test_a_hook_reaches_neither_the_machines_files_nor_the_network(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    reach = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    report = compared(repository(tmp_path / "r", f'touch {outside}; python3 -c "{reach}" 2>&1 | grep -q unreachable || exit 1'))
    assert report.tallies["claude"].failed == 0 and not outside.exists()
