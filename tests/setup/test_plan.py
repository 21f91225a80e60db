"""What is true for every install: the documented shapes, one entry per event, stable positions, and no change after a refusal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from counting import SIGNAL

from onehook.setup import command
from onehook.setup.files import ScopeError
from onehook.setup.plan import config_of, configurable, plan_install
from onehook.textedit.document import ConfigError
from tests.host_folders import facts
from tests.setup.installing import Place, file_of

HOSTS = ["claude", "cursor", "codex"]  # as examples
FILES = {host: file_of(host) for host in HOSTS}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def data_of(place: Place, host: str) -> Any:
    return json.loads((place.project / FILES[host]).read_text(encoding="utf-8"))


@pytest.mark.parametrize("host", [host for host in configurable() if facts(host).DOCUMENTED])
def test_the_generated_config_has_the_shape_of_the_documents(place: Place, host: str) -> None:
    beside, events, fixed = facts(host).DOCUMENTED
    place.install([host])
    data = json.loads((place.project / file_of(host)).read_text(encoding="utf-8"))
    hooks = data.pop("hooks")
    assert data == beside
    assert {event: entries[0].get("matcher") for event, entries in hooks.items()} == events
    assert list(hooks) == list(events)
    for entries in hooks.values():
        (entry,) = entries
        handler = entry if facts(host).FLAT_ENTRIES else entry["hooks"][0]
        assert f"--host {host}" in handler["command"]
        assert {key: handler.get(key) for key in fixed} == fixed


def test_a_file_for_claude_and_cursor_has_the_same_command_for_each_event(place: Place) -> None:
    """Cursor runs Claude Code's entries too, and drops one only if its own command is exactly the same."""
    place.install(["claude", "cursor"], fail_closed=True, timeout=7, matchers={"": "Bash"})
    claude, cursor = data_of(place, "claude")["hooks"], data_of(place, "cursor")["hooks"]
    commands = [groups[0]["hooks"][0]["command"] for groups in claude.values()]
    assert commands == [entries[0]["command"] for entries in cursor.values()]
    assert len(set(commands)) == len(commands)


@pytest.mark.parametrize("platform", ["linux", "win32"])
@pytest.mark.parametrize("scope", ["project", "user"])
def test_so_it_is_in_every_scope_and_on_windows(tmp_path: Path, platform: str, scope: str) -> None:
    place = Place(tmp_path, platform=platform)
    place.install(["claude", "cursor"], scope, events=["PreToolUse"])
    base = place.project if scope == "project" else place.home
    claude = json.loads((base / FILES["claude"]).read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert json.loads((base / FILES["cursor"]).read_text())["hooks"]["preToolUse"][0]["command"] == claude


@pytest.mark.parametrize("host", HOSTS)
def test_a_second_install_replaces_the_entry_where_it_stands(place: Place, host: str) -> None:
    place.install([host], events=["PreToolUse"])
    file = place.project / FILES[host]
    data = data_of(place, host)
    event = next(iter(data["hooks"]))
    foreign = facts(host).config_entry("later", False)
    data["hooks"][event].append(foreign)
    file.write_text(json.dumps(data, indent=2))
    place.install([host], events=["PreToolUse"], fail_closed=True, timeout=9)
    entries = data_of(place, host)["hooks"][event]
    assert entries[1] == foreign and len(entries) == 2
    assert "--fail closed --timeout 9" in json.dumps(entries[0])


def _calls(work: Callable[[], object]) -> int:
    """The number of calls to Python and C functions: a measure of time without a clock. Coverage probes are not counted."""
    count = 0

    def counting(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call") and argument is not SIGNAL

    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


NEEDS_TOMLLIB = pytest.mark.skipif(sys.version_info < (3, 11), reason="tomlkit, which reads TOML on Python 3.10, is slower than that")


@pytest.mark.parametrize(("host", "format"), [("claude", "json"), pytest.param("codex", "toml", marks=NEEDS_TOMLLIB), ("qwen", "jsonc")])
def test_the_work_of_an_install_grows_with_the_size_of_the_config_and_no_faster(tmp_path: Path, host: str, format: str) -> None:
    group: dict[str, Any] = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh --option 'a word'"}]}
    hook = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "./check.sh"\n'
    table = f'[mcp_servers.server{{0}}]\nargs = ["-y", "{{0}}"]\n\n{hook}'

    def installed(size: int) -> int:
        place = Place(tmp_path / str(size))
        files = [one.path for one in config_of(host).places(place.machine) if (one.scope, one.format) == ("project", format)]
        path = files[0]
        path.parent.mkdir()
        json_text = json.dumps({"hooks": {"PreToolUse": [group] * size}}, indent=2)
        path.write_text("\n".join(table.format(index) for index in range(size)) if format == "toml" else json_text)
        return _calls(lambda: plan_install([host], place.request(), place.machine, place.journal))

    small, large = installed(40), installed(160)
    assert large < 5 * small, (small, large)
    assert large < 160 * 5000, (small, large)


def test_an_upgrade_of_onehook_changes_no_byte(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.install(HOSTS)
    for module in ("onehook.version", "onehook.setup.installed", "onehook.setup.entry_checks"):
        monkeypatch.setattr(f"{module}.VERSION", "99.0.0")
    assert not place.install(HOSTS).edits


def test_fewer_events_take_the_other_entries_of_this_policy_out(place: Place) -> None:
    place.install(HOSTS)
    place.install(HOSTS, events=["PreToolUse"])
    assert [list(data_of(place, host)["hooks"]) for host in HOSTS] == [[config_of(host).EVENTS["PreToolUse"]] for host in HOSTS]
    place.uninstall(HOSTS)
    assert set(place.snapshot()) == {"home", "project", "project/policy.py"}


def test_an_entry_with_foreign_hooks_behind_it_stays_in_place_and_that_is_reported(place: Place) -> None:
    place.install(["codex"], events=["PreToolUse", "Stop"])
    data = data_of(place, "codex")
    data["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "theirs"}]})
    (place.project / FILES["codex"]).write_text(json.dumps(data))
    notes = place.install(["codex"], events=["PreToolUse"]).notes
    assert data_of(place, "codex")["hooks"]["Stop"][1]["hooks"][0]["command"] == "theirs"
    assert "the Stop entry is kept" in notes[0]


def test_two_policies_stand_side_by_side_and_go_one_by_one(place: Place) -> None:
    file = place.project / FILES["claude"]
    file.parent.mkdir()
    file.write_bytes(b'{"hooks": {}}')
    other = place.project / "hooks" / "policy.py"
    other.parent.mkdir()
    other.write_bytes(place.policy.read_bytes())
    place.install(["claude"], events=["PreToolUse"])
    only_first = file.read_bytes()
    place.install(["claude"], events=["PreToolUse"], policy=other)
    assert len(data_of(place, "claude")["hooks"]["PreToolUse"]) == 2
    place.uninstall(["claude"], policy=other)
    assert file.read_bytes() == only_first
    place.uninstall(["claude"], policy=place.policy)
    assert file.read_bytes() == b'{"hooks": {}}'


def test_a_policy_is_told_from_another_whose_name_ends_alike(place: Place) -> None:
    other = place.project / "other_policy.py"
    other.write_bytes(place.policy.read_bytes())
    place.install(["claude"], events=["Stop"], policy=other)
    place.install(["claude"], events=["Stop"])
    assert len(data_of(place, "claude")["hooks"]["Stop"]) == 2


def test_install_uninstall_install_uninstall_gives_the_first_bytes_back(place: Place) -> None:
    file = place.project / FILES["claude"]
    file.parent.mkdir()
    file.write_bytes(b'{ "model":"opus" }')
    for _ in range(2):
        place.install(["claude"])
        place.uninstall(["claude"])
    assert file.read_bytes() == b'{ "model":"opus" }'


def test_after_an_edit_in_between_a_second_install_does_not_bring_the_first_entries_back(place: Place) -> None:
    file = place.project / FILES["claude"]
    place.install(["claude"], events=["PreToolUse"])
    file.write_text(file.read_text().replace('{\n  "hooks"', '{\n  "model": "opus",\n  "hooks"'))
    place.install(["claude"], events=["PreToolUse"], timeout=5)
    place.uninstall(["claude"])
    assert json.loads(file.read_text()) == {"model": "opus"}


def test_containers_that_the_user_had_stay_after_an_edit(place: Place) -> None:
    file = place.project / FILES["claude"]
    file.parent.mkdir()
    file.write_text('{\n  "hooks": {\n    "Stop": []\n  }\n}\n')
    place.install(["claude"], events=["Stop", "PreToolUse"])
    file.write_text(file.read_text().replace('{\n  "hooks"', '{\n  "model": "opus",\n  "hooks"'))
    place.uninstall(["claude"])
    assert json.loads(file.read_text()) == {"model": "opus", "hooks": {"Stop": []}}


def test_a_file_that_install_made_goes_even_after_an_edit_that_was_taken_back(place: Place) -> None:
    before = place.snapshot()
    place.install(HOSTS)
    for host in HOSTS:
        file = place.project / FILES[host]
        file.write_text(json.dumps(json.loads(file.read_text())))
    place.uninstall(HOSTS)
    assert place.snapshot() == before


def test_our_handler_in_a_group_that_the_user_added_to_is_renewed_and_removed_alone(place: Place) -> None:
    place.install(["claude"], events=["PreToolUse"])
    data = data_of(place, "claude")
    theirs = {"type": "command", "command": "theirs"}
    data["hooks"]["PreToolUse"][0]["matcher"] = "Bash"
    data["hooks"]["PreToolUse"][0]["hooks"].append(theirs)
    (place.project / FILES["claude"]).write_text(json.dumps(data))
    place.install(["claude"], events=["PreToolUse"], timeout=4)
    (group,) = data_of(place, "claude")["hooks"]["PreToolUse"]
    assert group["matcher"] == "Bash" and group["hooks"][1] == theirs and "--timeout 4" in group["hooks"][0]["command"]
    place.uninstall(["claude"])
    assert data_of(place, "claude")["hooks"]["PreToolUse"] == [{"matcher": "Bash", "hooks": [theirs]}]


def test_a_moved_project_takes_its_old_entries_over(tmp_path: Path) -> None:
    old = Place(tmp_path, "old")
    old.install(["codex"], events=["Stop"])
    old.project.rename(tmp_path / "new")
    new = Place(tmp_path, "new")
    new.install(["codex"], events=["Stop"])
    (group,) = data_of(new, "codex")["hooks"]["Stop"]
    assert str(new.policy) in group["hooks"][0]["command"]


def test_codex_entries_in_config_toml_are_found_after_a_hooks_json_appeared(place: Place) -> None:
    toml = place.project / ".codex" / "config.toml"
    toml.parent.mkdir()
    toml.write_text('[[hooks.Stop]]\nhooks = [{ type = "command", command = "x" }]\n')
    before = toml.read_bytes()
    place.install(["codex"])
    (toml.parent / "hooks.json").write_text("{}")
    assert not place.install(["codex"]).edits
    place.uninstall(["codex"])
    assert toml.read_bytes() == before and (toml.parent / "hooks.json").read_text() == "{}"


# ---- refusals


@pytest.mark.parametrize("broken", HOSTS)
def test_one_file_that_does_not_parse_keeps_every_file_as_it_was(place: Place, broken: str) -> None:
    file = place.project / FILES[broken]
    file.parent.mkdir()
    file.write_text('{\n  "hooks": oops\n}\n')
    before = place.snapshot()
    with pytest.raises(ConfigError) as caught:
        place.install(HOSTS, portable=True)
    assert f"{file}: line 2, column 12" in str(caught.value) and "nothing was changed" in str(caught.value)
    assert place.snapshot() == before


def test_a_broken_file_without_entries_of_ours_does_not_stop_an_uninstall(place: Place) -> None:
    place.install(["claude"])
    file = place.project / FILES["cursor"]
    file.parent.mkdir()
    file.write_text("oops")
    place.uninstall(HOSTS)
    assert not (place.project / FILES["claude"]).exists() and file.read_text() == "oops"


def test_a_broken_file_with_entries_of_ours_stops_it_before_the_first_change(place: Place) -> None:
    place.install(HOSTS)
    file = place.project / FILES["codex"]
    file.write_text(file.read_text()[:-3])
    before = place.snapshot()
    with pytest.raises(ConfigError, match=r"codex/hooks\.json: line"):
        place.uninstall(HOSTS)
    assert place.snapshot() == before


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_symlink_out_of_the_project_is_refused(place: Place, tmp_path: Path, host: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (place.project / FILES[host]).parent.symlink_to(outside)
    with pytest.raises(ScopeError, match="leads through a symlink"):
        place.install([host])
    assert not list(outside.iterdir())


def test_a_symlink_that_cursor_would_refuse_is_refused(place: Place) -> None:
    (place.project / "real").mkdir()
    (place.project / ".cursor").symlink_to("real")
    with pytest.raises(ConfigError, match="symlink, which Cursor refuses"):
        place.install(["cursor"])


def test_a_users_file_may_be_a_link_into_the_dotfiles(place: Place) -> None:
    dotfile = place.home / "dotfiles" / "settings.json"
    dotfile.parent.mkdir()
    dotfile.write_bytes(b"{}")
    (place.home / ".claude").mkdir()
    (place.home / ".claude" / "settings.json").symlink_to(dotfile)
    place.install(["claude"], "user")
    assert command.MARK in dotfile.read_text()
    place.uninstall(["claude"])
    assert dotfile.read_bytes() == b"{}" and (place.home / ".claude" / "settings.json").is_symlink()
