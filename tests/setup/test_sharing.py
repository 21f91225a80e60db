"""For me or for the team: what install writes into a git repository, and which of it others get."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from onehook.hostkit.config import Machine
from onehook.setup.doctor import examine
from onehook.setup.installed import rows
from onehook.setup.plan import config_of, configurable
from tests.setup.installing import Place, file_of

HOSTS = ["claude", "cursor", "opencode"]  # as examples
FILES = {host: file_of(host) for host in HOSTS}


def git(place: Place, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(place.project), *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    git(place, "init", "-q")
    git(place, "config", "user.email", "a@b.c")
    git(place, "config", "user.name", "a")
    git(place, "add", "policy.py")
    git(place, "commit", "-qm", "policy")
    return place


def changes(place: Place) -> str:
    """What git would commit."""
    return git(place, "status", "--porcelain", "--untracked-files=all")


def snapshot(place: Place) -> dict[str, bytes | None]:
    """Without the files that git itself writes."""
    return {path: content for path, content in place.snapshot().items() if "/.git/" not in path or path.endswith("info/exclude")}


def test_the_tables_say_which_files_teams_commit(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path / "project")
    for host in configurable():
        committed = {place.scope for place in config_of(host).places(machine) if place.committed}
        scopes = {place.scope for place in config_of(host).places(machine)}
        assert committed == scopes & {"project"}, host
        assert all(place.committed for place in config_of(host).places(machine) if place.scope == "project"), host


def test_for_me_nothing_is_there_to_commit_and_uninstall_leaves_no_trace(place: Place) -> None:
    before = snapshot(place)
    place.install(HOSTS, audience="me")
    assert changes(place) == ""
    assert (place.project / ".claude/settings.local.json").is_file() and not (place.project / FILES["claude"]).exists()
    assert (place.project / FILES["cursor"]).is_file()
    assert not place.install(HOSTS, audience="me").edits
    assert {row.audience for row in rows(place.machine)} == {"me"}
    place.uninstall(["cursor"])
    assert changes(place) == "" and ".cursor" not in git(place, "check-ignore", *FILES.values())
    place.uninstall(HOSTS)
    assert snapshot(place) == before


def test_a_name_that_git_takes_for_a_pattern_is_excluded(tmp_path: Path) -> None:
    place = Place(tmp_path, "odd [x] *?\\ project/sub")
    subprocess.run(["git", "init", "-q", str(place.project.parent)], check=True)
    git(place, "add", "policy.py")
    git(place, "-c", "user.email=a@b.c", "-c", "user.name=a", "commit", "-qm", "policy")
    place.install(["claude"], audience="me")
    assert changes(place) == ""
    place.uninstall(["claude"])
    assert "onehook" not in (place.project.parent / ".git/info/exclude").read_text()


def test_what_is_ignored_already_is_left_so(place: Place) -> None:
    (place.project / ".gitignore").write_text(".claude/\n")
    exclude = (place.project / ".git/info/exclude").read_bytes()
    place.install(["claude"], audience="me")
    assert (place.project / ".git/info/exclude").read_bytes() == exclude


def test_a_folder_that_is_a_link_is_excluded_once(place: Place) -> None:
    (place.project / "shared").mkdir()
    (place.project / ".claude").symlink_to("shared")
    place.install(["claude"], audience="me")
    assert not place.install(["claude"], audience="me").edits
    assert (place.project / ".git/info/exclude").read_text().count("settings.local.json") == 1


def test_variables_of_git_do_not_lead_to_another_repository(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    place.install(["claude"], audience="me")
    assert "settings.local.json" in (place.project / ".git/info/exclude").read_text()


def test_a_worktree_has_the_exclude_file_of_its_repository(place: Place) -> None:
    git(place, "worktree", "add", "-q", "../other")
    other = Place(place.root, "other")
    other.install(["claude"], audience="me")
    assert changes(other) == "" and "settings.local.json" in (place.project / ".git/info/exclude").read_text()


def test_where_the_only_file_is_tracked_the_person_is_told_what_to_do(place: Place) -> None:
    path = place.project / FILES["cursor"]
    path.parent.mkdir()
    path.write_text('{"version": 1, "hooks": {}}')
    git(place, "add", ".")
    plan = place.install(["cursor", "claude"], audience="me")
    assert path.read_text() == '{"version": 1, "hooks": {}}'
    (note,) = plan.notes
    assert f"git tracks {path}; skipped" in note and f"onehook install {place.policy} --hosts cursor --scope user" in note
    assert "--for team" in note and (place.project / ".claude/settings.local.json").exists()


def test_install_works_and_warns_if_it_is_not_mentioned(place: Place) -> None:
    (note,) = place.install(HOSTS).notes
    assert all(str(place.project / file) in note for file in FILES.values())
    assert "in a clone, the hooks cannot run" in note and "--for me" in note and "--for team" in note
    assert place.install(HOSTS).notes == [note]  # again, though nothing changes
    assert place.install(HOSTS, portable=True).notes == []


@pytest.mark.parametrize("why", ["no repository", "ignored", "user"])
def test_there_is_nothing_to_warn_of_where_nobody_else_gets_it(tmp_path: Path, why: str) -> None:
    place = Place(tmp_path)
    if why != "no repository":
        git(place, "init", "-q")
        (place.project / ".gitignore").write_text(".claude/\n.cursor/\n.opencode/\n" if why == "ignored" else "")
    assert place.install(HOSTS, "user" if why == "user" else "project").notes == []


def test_for_the_team_a_clone_has_all_of_it(place: Place) -> None:
    place.install(HOSTS, audience="team", portable=True)
    git(place, "add", ".")
    git(place, "commit", "-qm", "for all")
    clone = Place(place.root, "clone", policy_name="other.py")
    subprocess.run(["git", "clone", "-q", str(place.project), str(clone.project / "it")], check=True)
    cloned = Place(clone.project, "it")
    assert {row.audience for row in rows(cloned.machine)} == {"team"} and len(rows(cloned.machine)) == len(HOSTS)
    assert all(str(place.root) not in (cloned.project / file).read_text() for file in FILES.values())


def test_what_a_clone_needs_and_git_ignores_is_reported(place: Place) -> None:
    (place.project / ".gitignore").write_text(".claude/\n.onehook/\n")
    notes = " ".join(place.install(["claude"], audience="team", portable=True).notes)
    assert f"git ignores {place.project / FILES['claude']}" in notes and f"git ignores {place.project / '.onehook/launch'}" in notes
    warned = [report.diagnosis.what for report in examine(place.machine, ["claude"], fire=False) if report.diagnosis.level == "warn"]
    assert f"git ignores {place.project / FILES['claude']}, so a clone does not have it" in warned


def test_it_moves_from_one_to_the_other(place: Place) -> None:
    before = snapshot(place)
    place.install(HOSTS)
    place.install(HOSTS, audience="me")
    assert changes(place) == "" and not (place.project / FILES["claude"]).exists()
    assert place.install(HOSTS, audience="team", portable=True).notes == []
    assert not (place.project / ".claude/settings.local.json").exists()
    assert all(file in changes(place) for file in (*FILES.values(), ".onehook/launch"))
    assert "onehook" not in (place.project / ".git/info/exclude").read_text()
    place.install(["opencode", "cursor"], audience="me")
    place.install(["claude"])  # without an audience, so it stays where it is
    assert (place.project / FILES["claude"]).exists()
    place.uninstall(HOSTS)
    assert snapshot(place) == before


def test_for_me_beside_the_teams_is_reported(place: Place) -> None:
    place.install(["claude"], audience="team", portable=True)
    git(place, "add", ".")
    (note,) = place.install(["claude"], audience="me").notes
    assert "already has the policy for everyone, so Claude Code runs it twice" in note
    assert (place.project / FILES["claude"]).is_file() and (place.project / ".onehook/launch").is_file()


def test_doctor_says_what_a_clone_cannot_run(place: Place) -> None:
    def warned() -> str:
        return " ".join(
            report.diagnosis.what for report in examine(place.machine, ["cursor"], fire=False) if report.diagnosis.level == "warn"
        )

    place.install(["cursor"])
    assert "git does not ignore this file, and it names " in warned()
    place.install(["cursor"], audience="me")
    assert "git" not in warned()


def test_compiled_code_that_came_with_a_clone_fails(place: Place) -> None:
    place.install(["claude"], audience="team", portable=True)
    cache = place.project / ".onehook/__pycache__"
    cache.mkdir()
    (cache / "policy-1.cpython-311.pyc").write_bytes(b"x")
    failed = [report.diagnosis.what for report in examine(place.machine, ["claude"], fire=False) if report.diagnosis.level == "fail"]
    assert failed == []
    git(place, "add", "-f", ".onehook")
    failed = [report.diagnosis.what for report in examine(place.machine, ["claude"], fire=False) if report.diagnosis.level == "fail"]
    assert [f"git tracks {cache}" in what for what in failed] == [True]
