"""Copilot CLI: its own hooks file, written, read back and removed again; and what prevents it from running."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onehook.hostkit.config import Commands, Machine, Place, Wish
from onehook.hosts import detect, resolve
from onehook.hosts.copilot import config
from onehook.setup.apply import apply
from onehook.setup.journal import Journal
from onehook.setup.plan import Request, plan_install, plan_uninstall
from onehook.setup.trust import untrusted

LINE = Commands("python3 /lib/onehook/launch.py policy.py", "& 'python3' 'x'", "")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    project = tmp_path / "project"
    project.mkdir()
    (project / "policy.py").write_text("from onehook import Hooks\nhooks = Hooks()\n")
    return Machine(tmp_path / "home", project, {}, "linux", tmp_path / "root")


def place_of(machine: Machine, scope: str = "project") -> Place:
    return next(place for place in config.places(machine) if place.scope == scope)


def install(machine: Machine, journal: Journal, **wish: object) -> dict[str, list[dict[str, object]]]:
    request = Request(machine.project / "policy.py", wish=Wish(**wish))  # type: ignore[arg-type]
    apply(plan_install(["copilot"], request, machine, journal), journal)
    hooks: dict[str, list[dict[str, object]]] = json.loads(place_of(machine).path.read_text())["hooks"]
    return hooks


def test_installing_writes_camel_case_events_with_a_form_for_each_shell(machine: Machine, tmp_path: Path) -> None:
    hooks = install(machine, Journal(tmp_path / "journal"))
    assert list(hooks) == ["sessionStart", "preToolUse", "postToolUse", "userPromptSubmitted", "agentStop"]
    entry = hooks["preToolUse"][0]
    assert str(entry["bash"]).endswith('"${CLAUDE_PROJECT_DIR:-.}"/policy.py --host copilot --event PreToolUse --timeout 20 || true')
    assert str(entry["powershell"]).endswith("--event PreToolUse --timeout 20; exit 0")
    assert entry["timeoutSec"] == 30


def test_under_fail_closed_every_exit_code_counts(machine: Machine, tmp_path: Path) -> None:
    entry = install(machine, Journal(tmp_path / "journal"), fail_closed=True)["preToolUse"][0]
    assert str(entry["bash"]).endswith("--event PreToolUse --fail closed --timeout 20")
    assert str(entry["powershell"]).endswith("--event PreToolUse --fail closed --timeout 20")


def test_installing_twice_changes_nothing_and_uninstalling_leaves_nothing(machine: Machine, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    install(machine, journal)
    again = plan_install(["copilot"], Request(machine.project / "policy.py"), machine, journal)
    assert again.edits == []
    apply(plan_uninstall(["copilot"], ["project"], None, machine, journal), journal)
    assert not (machine.project / ".github").exists()


def test_a_second_policy_stands_beside_the_first(machine: Machine, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    install(machine, journal)
    other = machine.project / "other.py"
    other.write_text("from onehook import Hooks\nhooks = Hooks()\n")
    apply(plan_install(["copilot"], Request(other), machine, journal), journal)
    apply(plan_uninstall(["copilot"], ["project"], machine.project / "policy.py", machine, journal), journal)
    left = list(config.found(json.loads(place_of(machine).path.read_text())))
    assert {entry.event for entry in left} == {"sessionStart", "preToolUse", "postToolUse", "userPromptSubmitted", "agentStop"}
    assert all("other.py" in entry.command for entry in left)


def test_a_found_command_is_without_what_lets_errors_pass() -> None:
    path, entry = config.slot("Stop", LINE, Wish(), False)
    found = list(config.found({"hooks": {path[1]: [entry, {"command": "theirs"}, {"type": "http", "url": "x"}, 7]}}))
    assert [(one.event, one.path, one.command) for one in found] == [
        ("agentStop", ("hooks", "agentStop", 0), LINE.posix),
        ("agentStop", ("hooks", "agentStop", 1), "theirs"),
    ]


def test_a_matcher_is_written_in_copilots_own_names() -> None:
    _, entry = config.slot("PreToolUse", LINE, Wish(matchers={"": "Bash|Write"}), False)
    assert entry["matcher"] == "bash|powershell|local_shell|write_bash|write_powershell|create|str_replace_editor|apply_patch"
    _, entry = config.slot("PreToolUse", LINE, Wish(matchers={"": "MCP"}), False)
    assert entry["matcher"] == "^(.*[-/].*)$"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ([], "not a JSON object"),
        ({"hooks": []}, '"hooks" is not an object'),
        ({"hooks": {"preToolUse": {}}}, "is not a list"),
        ({"hooks": {"preToolUse": [3]}}, "must be an object"),
        ({"hooks": {"preToolUse": [{"type": "magic"}]}}, '"type" must be one of'),
        ({"hooks": {"preToolUse": [{"type": "command"}]}}, "a command is needed"),
        ({"hooks": {"preToolUse": [{"bash": "x", "timeoutSec": 0}]}}, "above 0"),
        ({"hooks": {"preToolUse": [{"bash": "x", "matcher": "("}]}}, "not a regular expression"),
        ({"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}, "a command is needed"),
    ],
)
def test_what_copilot_would_skip_is_named(data: object, fault: str) -> None:
    assert fault in config.problems(data)[0]


def test_a_file_that_copilot_takes_has_no_problems() -> None:
    assert (
        config.problems(
            {"version": 1, "hooks": {"PreToolUse": [{"hooks": [{"command": "x", "timeout": 5}]}], "agentStop": [{"bash": "x"}]}}
        )
        == []
    )


def findings(machine: Machine) -> list[str]:
    place = place_of(machine)
    data = json.loads(place.path.read_text())
    ours = list(config.found(data))
    return [found.what for found in (*config.diagnose(machine, place, data, ours), *untrusted("copilot", machine, place, ours, "install"))]


def test_an_untrusted_folder_is_reported_until_it_is_trusted(machine: Machine, tmp_path: Path) -> None:
    install(machine, Journal(tmp_path / "journal"))
    assert "does not trust this folder" in findings(machine)[0]
    (machine.home / ".copilot").mkdir(parents=True)
    for key, folder in (("trusted_folders", machine.project), ("trustedFolders", machine.project.parent)):
        (machine.home / ".copilot" / "config.json").write_text(json.dumps({key: [str(folder)]}))
        assert findings(machine) == []
    (machine.home / ".copilot" / "config.json").write_text("[")
    assert len(findings(machine)) == 1
    headless = Machine(machine.home, machine.project, {"GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS": "true"}, "linux", machine.system_root)
    assert findings(headless) == []


def test_switches_that_turn_hooks_off_are_reported(machine: Machine, tmp_path: Path) -> None:
    install(machine, Journal(tmp_path / "journal"))
    home = machine.home / ".copilot"
    home.mkdir(parents=True)
    (home / "config.json").write_text(json.dumps({"trusted_folders": [str(machine.project)]}))
    (home / "settings.json").write_text('{"disableAllHooks": true}')
    managed = machine.system_root / "etc" / "github-copilot"
    managed.mkdir(parents=True)
    (managed / "managed-settings.json").write_text('{"allowManagedHooksOnly": true}')
    assert [text.partition(" ")[0] for text in findings(machine)] == ["disableAllHooks", "allowManagedHooksOnly"]


def test_the_users_file_follows_copilot_home(tmp_path: Path) -> None:
    machine = Machine(tmp_path, tmp_path / "p", {"COPILOT_HOME": str(tmp_path / "elsewhere")}, "linux")
    assert place_of(machine, "user").path == tmp_path / "elsewhere" / "hooks" / "onehook.json"


def test_copilot_running_claudes_config_is_still_copilot() -> None:
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-15T19:36:05.195Z", "cwd": "/p"}
    payload |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert resolve(["claude", "cursor"], payload).ID == "copilot"
    assert detect(payload).ID == "copilot"


@pytest.mark.parametrize(
    ("host", "fields"),
    [
        ("copilot", {"hook_event_name": "Stop", "transcript_path": "/srv/copilot/session-state/s/events.jsonl"}),
        (
            "copilot",
            {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "transcript_path": "/v/t.json"},
        ),
        ("copilot", {"hook_event_name": "SessionStart", "source": "new"}),
        ("copilot", {"hook_event_name": "SessionEnd", "reason": "complete"}),
        ("", {"hook_event_name": "SessionEnd", "reason": "exit", "transcript_path": "/home/dev/.gemini/tmp/x/chats/s.json"}),
        ("", {"hook_event_name": "SessionStart", "source": "startup", "transcript_path": "/home/dev/.gemini/tmp/x/chats/s.json"}),
        ("", {"hook_event_name": "Stop", "permission_mode": "yolo", "transcript_path": "/home/dev/.qwen/x.jsonl"}),
    ],
)
def test_a_timestamp_alone_does_not_make_a_payload_copilots(host: str, fields: dict[str, object]) -> None:
    payload = {"session_id": "s", "cwd": "/p", "timestamp": "2026-11-15T19:36:05.195Z", **fields}
    assert (detect(payload).ID == "copilot") is bool(host)
