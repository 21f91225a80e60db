"""install, uninstall, status, doctor and init as a person types them, in a separate home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import forks
import pytest
from click.testing import CliRunner, Result
from harness import users_environment

from onehook.cli import main
from onehook.cli.choices import machine_of
from onehook.setup.installed import config_files, install_again
from onehook.setup.runtime import runtime_files

POLICY = 'from onehook import Hooks, deny\nhooks = Hooks({options})\n\n@hooks.on("{event}")\ndef guard(event):\n    return None\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a policy and a .claude folder, as the current directory."""
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(folder)
    write_policy(folder)
    return folder


def write_policy(folder: Path, options: str = "", event: str = "PreToolUse") -> Path:
    path = folder / "policy.py"
    path.write_text(POLICY.format(options=options, event=event))
    return path


def onehook(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    return result


def hooks_of(project: Path) -> dict[str, list[dict[str, object]]]:
    hooks: dict[str, list[dict[str, object]]] = json.loads((project / ".claude" / "settings.json").read_text())["hooks"]
    return hooks


def test_auto_picks_the_hosts_whose_folder_or_binary_is_there(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = onehook("install", "policy.py").output
    assert "Claude Code" in output and "Cursor" not in output and "Codex" not in output
    (tmp_path / "home" / ".cursor").mkdir()
    binary = tmp_path / "bin" / "codex"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    monkeypatch.setenv("PATH", str(binary.parent))
    output = onehook("install", "policy.py").output
    assert "Claude Code    up to date" in output and "Cursor         installed" in output and "Codex CLI      installed" in output


def test_auto_finds_a_folder_that_a_variable_moved(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codex-home").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex-home"))
    assert "Codex CLI" in onehook("install", "policy.py").output


def test_auto_with_no_agent_says_how_to_continue(project: Path) -> None:
    (project / ".claude").rmdir()
    result = onehook("install", "policy.py", code=1)
    assert "no agent found here" in result.output and "--hosts all" in result.output


def test_a_dry_run_shows_the_diff_and_changes_nothing(project: Path) -> None:
    before = sorted(project.rglob("*"))
    result = onehook("install", "policy.py", "--hosts", "claude,codex", "--dry-run")
    assert f"+++ {project}/.claude/settings.json" in result.output and f"+++ {project}/.codex/hooks.json" in result.output
    assert '+    "PreToolUse": [' in result.output
    assert "2 files would change; nothing was written." in result.output
    assert sorted(project.rglob("*")) == before
    assert "\x1b[" not in result.output


def test_a_dry_run_on_a_terminal_has_colours(project: Path) -> None:
    shown = at_a_terminal("install", "policy.py", "--dry-run", "--portable", types="")
    assert "\x1b[32m+" in shown and "runtime files in .onehook/" in shown


def test_the_options_reach_the_config(project: Path) -> None:
    onehook(
        "install", "policy.py", "--events", "PreToolUse,Stop", "--matcher", "Bash,PreToolUse:Write|MCP", "--timeout", "2", "--fail-closed"
    )
    hooks = hooks_of(project)
    assert list(hooks) == ["PreToolUse", "Stop"]
    (group,) = hooks["PreToolUse"]
    assert group["matcher"] == "^(Write|mcp__.*)$"
    (handler,) = group["hooks"]  # type: ignore[misc]
    assert handler["timeout"] == 12 and handler["onFailure"] == "block" and "--fail closed --timeout 2" in handler["command"]  # type: ignore[index]


@pytest.mark.parametrize("log", ["off", "required"])
def test_the_log_can_be_set_for_an_install(project: Path, log: str) -> None:
    onehook("install", "policy.py", "--hosts", "claude", "--log", log)
    (handler,) = hooks_of(project)["PreToolUse"][0]["hooks"]  # type: ignore[misc]
    assert f" --log {log}" in handler["command"]  # type: ignore[index]
    (file,) = [file for file in config_files(machine_of(str(project)), ["claude"]) if file.ours]
    assert install_again(file, file.ours[0], machine_of(str(project))).endswith(f" --log {log}")
    onehook("install", "policy.py", "--hosts", "claude")
    assert " --log" not in json.dumps(hooks_of(project))


def test_what_the_policy_says_about_itself_is_installed(project: Path) -> None:
    write_policy(project, 'fail="closed", timeout=100', "SessionEnd")
    onehook("install", "policy.py")
    hooks = hooks_of(project)
    assert "SessionEnd" in hooks
    (handler,) = hooks["PreToolUse"][0]["hooks"]  # type: ignore[misc]
    assert handler["timeout"] == 110 and handler["onFailure"] == "block"  # type: ignore[index]
    assert "--timeout 100" in handler["command"]  # type: ignore[index]


def test_install_and_uninstall_leave_no_trace(project: Path, tmp_path: Path) -> None:
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    onehook("install", "policy.py", "--hosts", "all", "--portable")
    assert (project / ".onehook").is_dir()
    output = onehook("uninstall").output
    assert f"removed  the runtime in {project / '.onehook'}" in output
    assert sorted(str(path) for path in tmp_path.rglob("*") if "state" not in path.parts) == before
    assert "onehook is not installed there." in onehook("uninstall").output


def test_uninstall_of_one_policy_leaves_the_other(project: Path) -> None:
    (project / "other.py").write_text((project / "policy.py").read_text())
    onehook("install", "policy.py", "--events", "Stop")
    onehook("install", "other.py", "--events", "Stop")
    assert "other2.py is not installed there." in onehook("uninstall", "other2.py").output
    onehook("uninstall", "other.py", "--scope", "project", "--hosts", "claude")
    assert len(hooks_of(project)["Stop"]) == 1


def test_uninstall_in_a_project_leaves_the_users_policy_and_says_so(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    onehook("install", "policy.py")
    assert "`onehook uninstall --scope user` removes the policy" in onehook("install", "policy.py", "--scope", "user").output
    settings = tmp_path / "home" / ".claude" / "settings.json"
    kept = f"left     {project / 'policy.py'} in {settings} (user); to remove it: onehook uninstall --scope user"
    assert kept in onehook("uninstall", "--dry-run").output
    assert json.loads(onehook("uninstall", "--dry-run", "--json").stdout)["left"] == [
        {"file": str(settings), "scope": "user", "policy": str(project / "policy.py")}
    ]
    assert kept in onehook("uninstall").output
    assert settings.exists() and not (project / ".claude" / "settings.json").exists()
    assert "left" not in onehook("uninstall", "other.py").output
    onehook("install", "policy.py")
    assert "left" not in onehook("uninstall", "--scope", "user").output
    assert not settings.exists() and (project / ".claude" / "settings.json").exists()
    onehook("install", "policy.py", "--scope", "user")
    monkeypatch.chdir(tmp_path / "home")
    assert "left" not in onehook("uninstall").output
    assert not settings.exists()


def test_every_verb_works_from_a_subfolder(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    (project / "onehook.toml").write_text('packs = ["git"]\n')
    monkeypatch.chdir(below)
    onehook("install", "../../policy.py")
    assert hooks_of(project) and not (below / ".claude").exists()
    assert json.loads(onehook("status", "--json").stdout)["installed"][0]["file"] == str(project / ".claude" / "settings.json")
    onehook("doctor", "--hosts", "claude", "--no-fire")
    onehook("lint", "../../policy.py", "--fail-on", "never")
    assert "deny" in onehook("explain", "git push --force").output
    assert json.loads(onehook("rules", "--json").stdout)
    onehook("test")
    assert "wrote ../../.hooks/policy.py" in onehook("init", "--python", "--no-install").output
    onehook("record", "--", "sh", "-c", 'mkdir "$ONEHOOK_RECORD"')
    assert (project / "onehook-record").is_dir()
    onehook("uninstall")
    assert not (project / ".claude" / "settings.json").exists()
    (project / ".claude" / "settings.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./done"}]}]}}')
    onehook("import", "--from", "claude", "--output", "imported.toml")
    assert (project / "imported.toml").exists()


@pytest.mark.parametrize("mark", [".git", "onehook.toml", ".onehook", ".cursor"])
def test_the_root_of_a_project_is_found_upwards_but_the_home_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    below = tmp_path / "home" / "code" / "shop" / "src"
    below.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(below)
    (tmp_path / "home" / mark).mkdir()
    assert machine_of().project == below
    (tmp_path / "home" / "code" / "shop" / mark).mkdir()
    assert machine_of().project == tmp_path / "home" / "code" / "shop"
    monkeypatch.chdir(tmp_path / "home")
    assert machine_of().project == tmp_path / "home"


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("verb", "code"),
    [("install policy.py --hosts all --yes", 1), ("uninstall", 0), ("status", 0), ("doctor --no-fire", 1), ("import", 1)],
)
def test_a_named_pipe_in_the_place_of_a_config_is_not_waited_for(project: Path, verb: str, code: int) -> None:
    onehook("install", "policy.py", "--hosts", "gemini")
    names = (".claude/settings.json", ".codex/hooks.json", ".codex/config.toml", ".factory/settings.json", ".github/hooks/onehook.json")
    for name in (*names, "../home/.claude.json"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(project / name)
    result = CliRunner().invoke(main, verb.split())
    assert result.exit_code == code and isinstance(result.exception, SystemExit | None), result.exc_info
    if verb.startswith("install"):
        assert f"{project}/.claude/settings.json cannot be read: not a regular file; nothing was changed" in result.stderr
    if verb == "uninstall":
        assert "removed" in result.stdout and "gemini" in result.stdout


def test_uninstall_can_be_looked_at_first(project: Path) -> None:
    onehook("install", "policy.py")
    output = onehook("uninstall", "--dry-run").output
    assert f"--- {project}/.claude/settings.json" in output and "nothing was written" in output
    assert hooks_of(project)


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["gone.py"], ["policy not found: gone.py", "onehook init"]),
        (["policy.py", "--hosts", "emacs"], ["unknown agent 'emacs'. Known agents: claude"]),
        (["policy.py", "--hosts", ""], ["name at least one agent"]),
        (["policy.py", "--scope", "galaxy"], ["'galaxy' is not one of"]),
        (["policy.py", "--events", "PreTolUse"], ["'PreTolUse' is not an event", "PreToolUse"]),
        (["policy.py", "--events", ","], ["'' is not an event"]),
        (["policy.py", "--matcher", "PreTolUse:Bash"], ["'PreTolUse' is not an event"]),
        (["policy.py", "--matcher", "Stop:Bash"], ["Stop has no tool to match"]),
        (["policy.py", "--matcher", "Bsh"], ["'Bsh' is not a tool of any agent; did you mean Bash?"]),
        (["policy.py", "--matcher", "PreToolUse:Bash|xyzzy"], ["'xyzzy' is not a tool of any agent; known tools: Bash, Read"]),
        (["policy.py", "--timeout", "0"], ["--timeout"]),
        (["policy.py", "--portable", "--scope", "user"], ["--portable puts the runtime into a repository"]),
        (["../outside.py", "--portable"], ["--portable needs the policy inside the project"]),
        (["policy.py", "--scope", "local", "--hosts", "cursor"], ["Cursor has no local scope"]),
        (["policy.py", "--project", "nowhere"], ["nowhere is not a folder"]),
        (["broken.py"], ["broken.py does not load: ZeroDivisionError", "nothing was changed"]),
        (["exits.py"], ["exits.py does not load: SystemExit"]),
        (["empty.py"], ["no Hooks object", "hooks = Hooks()"]),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_fix(project: Path, arguments: list[str], texts: list[str]) -> None:
    (project.parent / "outside.py").write_text((project / "policy.py").read_text())
    (project / "broken.py").write_text("1 / 0\n")
    (project / "exits.py").write_text("raise SystemExit(0)\n")
    (project / "empty.py").write_text("")
    before = sorted(project.rglob("*"))
    result = CliRunner().invoke(main, ["install", *arguments])
    assert result.exit_code in (1, 2)
    for text in texts:
        assert text in " ".join(result.output.replace("│", " ").split()), result.output
    assert "Traceback" not in result.output
    assert [path for path in sorted(project.rglob("*")) if "__pycache__" not in path.parts] == before


def test_a_onehook_that_will_be_cleaned_away_is_noted(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cache" not in onehook("install", "policy.py").output
    monkeypatch.setattr("onehook.cli.install.LAUNCHER", Path("/home/ana/.cache/uv/archive-v0/x/onehook/launch.py"))
    assert "uv tool install onehook" in onehook("install", "policy.py").output
    assert "uv tool install" not in onehook("install", "policy.py", "--portable").output


def test_a_home_is_not_a_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project))
    assert "use --scope user" in onehook("install", "policy.py", code=2).output


def test_a_file_that_does_not_parse_is_refused_with_path_and_position(project: Path) -> None:
    (project / ".claude" / "settings.json").write_text('{"hooks": }')
    output = onehook("install", "policy.py", "--hosts", "all", code=1).output
    assert f"Error: {project}/.claude/settings.json: line 1, column 11" in output and "nothing was changed" in output
    assert not (project / ".cursor").exists()


def test_a_scope_that_only_some_hosts_have_is_noted(project: Path) -> None:
    output = onehook("install", "policy.py", "--scope", "local", "--hosts", "claude,cursor").output
    assert "note: Cursor has no local scope; skipped" in output
    assert (project / ".claude" / "settings.local.json").exists()


def test_an_event_that_a_host_does_not_have_is_noted(project: Path) -> None:
    assert (
        "Codex CLI has no Notification event; skipped"
        in onehook("install", "policy.py", "--hosts", "codex", "--events", "Stop,Notification").output
    )


# ---- status


def test_status_as_a_table_and_as_json(project: Path) -> None:
    assert "No policy is installed here." in onehook("status").output
    assert "Agents found without a policy: Claude Code" in onehook("status").output
    onehook("install", "policy.py", "--hosts", "claude,cursor", "--fail-closed", "--events", "PreToolUse")
    onehook("install", "policy.py", "--hosts", "codex", "--scope", "user", "--events", "Stop")
    table = onehook("status").output
    for text in ("claude", ".claude/settings.json", "cursor", "preToolUse", "codex", "user", "~/.codex/hooks.json", "closed", "policy.py"):
        assert text in table
    document = json.loads(onehook("status", "--json").output)
    assert document["agents"] == []  # no program of an agent is on PATH
    installed = document["installed"]
    assert [(row["host"], row["scope"], row["events"], row["fail"]) for row in installed] == [
        ("claude", "project", ["PreToolUse"], "closed"),
        ("cursor", "project", ["preToolUse"], "closed"),
        ("codex", "user", ["Stop"], "open"),
    ]
    assert {row["policy"] for row in installed} == {str(project / "policy.py")}


def test_status_says_what_is_wrong_at_first_sight(project: Path) -> None:
    onehook("install", "policy.py")
    (project / "policy.py").unlink()
    assert "the policy file is missing" in onehook("status").output
    (project / ".claude" / "settings.json").write_text("{")
    (row,) = json.loads(onehook("status", "--json").output)["installed"]
    assert "line 1, column 2" in row["note"]


# ---- doctor


def test_doctor_ends_with_0_when_a_deny_takes_effect_and_with_1_when_not(project: Path) -> None:
    onehook("install", "policy.py")
    output = onehook("doctor", "--hosts", "claude").output
    assert "A deny takes effect." in output and "denied and allowed as expected" in output
    (project / "policy.py").unlink()
    output = onehook("doctor", "--hosts", "claude", "--no-fire", code=1).output
    assert "FAIL" in output and "fix: onehook uninstall" in output
    report = json.loads(onehook("doctor", "--hosts", "claude", "--no-fire", "--json", code=1).output)
    assert report["ok"] is False and any(finding["level"] == "fail" for finding in report["findings"])


def test_doctor_without_anything_installed_ends_with_1(project: Path) -> None:
    assert "no policy is installed" in onehook("doctor", code=1).output


# ---- init


def test_init_writes_a_policy_whose_test_passes_and_overwrites_nothing(project: Path) -> None:
    output = onehook("init", "guard", "--python", "--no-install").output
    assert "onehook install guard/policy.py" in output
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "guard"]
    tested = subprocess.run(argv, cwd=project, env=users_environment(), capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout and "failed" not in tested.stdout
    (project / "guard" / "policy.py").write_text("mine")
    assert "already exists; nothing was changed" in onehook("init", "guard", "--python", code=1).output
    assert (project / "guard" / "policy.py").read_text() == "mine"


def test_init_refuses_when_only_the_test_is_there(project: Path) -> None:
    (project / "guard").mkdir()
    (project / "guard" / "test_policy.py").write_text("mine")
    onehook("init", "guard", "--python", "--no-install", code=1)
    assert not (project / "guard" / "policy.py").exists()


@pytest.mark.parametrize("kind, policy", [([], "onehook.toml"), (["--python"], ".hooks/policy.py")])
def test_init_can_install_at_once_and_offers_the_rules_file_first(project: Path, kind: list[str], policy: str) -> None:
    output = onehook("init", *kind, "--install").output
    assert "Claude Code    installed in" in output
    onehook("doctor", "--hosts", "claude")
    assert f"/{policy}" in json.dumps(hooks_of(project))


def test_the_rules_file_of_init_is_valid_and_protects(project: Path) -> None:
    output = onehook("init", "--no-install").output
    assert "wrote onehook.toml" in output and "onehook install onehook.toml" in output
    lines = (project / "onehook.toml").read_text().splitlines()
    schema = json.loads((project / lines[0].removeprefix("#:schema ")).read_text())
    assert schema["properties"]["packs"]
    for command, decision in (("rm -rf ~", "deny"), ("git push", "ask"), ("Read(.env.local)", "deny"), ("npm test", None)):
        assert json.loads(onehook("explain", command, "--json").stdout)["decision"] == decision
    onehook("test")
    # What is commented out is also valid: people continue by removing the comment signs.
    examples = "\n".join(
        line[2:] for line in lines if line.startswith(("# [", '# "', "# id", "# command", "# reason", "# matches", "# passes"))
    )
    (project / "onehook.toml").write_text("\n".join(line for line in lines if not line.startswith("# ")) + "\n" + examples)
    assert json.loads(onehook("explain", "psql --host=prod-2", "--json").stdout)["decision"] == "deny"
    assert json.loads(onehook("explain", "git reset --hard", "--json").stdout)["decision"] == "ask"
    onehook("test")
    assert "already exists; nothing was changed" in onehook("init", code=1).output


def test_every_verb_explains_itself(project: Path) -> None:
    for verb in ("install", "uninstall", "status", "doctor", "init"):
        output = onehook(verb, "--help").output
        assert output.startswith("Usage:") and len(output.splitlines()) > 5
    assert isinstance(main, click.Group)


# ---- trust


def answering(monkeypatch: pytest.MonkeyPatch, *answers: bool) -> list[str]:
    """A person at a terminal who gives these answers; returns the questions asked."""
    asked: list[str] = []
    rest = list(answers)

    def confirm(text: str, **_: object) -> bool:
        asked.append(text)
        return rest.pop(0)

    monkeypatch.setattr(click, "confirm", confirm)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True)
    return asked


def test_yes_does_not_trust(project: Path, tmp_path: Path) -> None:
    output = onehook("install", "policy.py", "--hosts", "codex,claude", "--yes").output
    assert "to do: run this again with --trust (or start codex in this folder" in output
    assert not (tmp_path / "home" / ".codex").exists() and not (tmp_path / "home" / ".claude.json").exists()


@pytest.mark.parametrize("trusts", [True, False])
def test_a_person_is_asked_for_trust_and_shown_what_it_is(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusts: bool
) -> None:
    store = tmp_path / "home" / ".codex" / "config.toml"
    asked = answering(monkeypatch, False, True, trusts)
    output = onehook("install", "policy.py", "--hosts", "codex").output
    assert asked == ["Pin it?", "Write?", "Trust them?"]
    assert '+trust_level = "trusted"' in output and output.count("+trusted_hash") == 5
    assert store.exists() is trusts
    assert (f"trust          written to {store}" in output) is trusts
    asked = answering(monkeypatch, trusts)
    onehook("install", "policy.py", "--hosts", "codex")
    assert asked == ([] if trusts else ["Trust them?"])


def test_a_person_is_asked_once_whether_to_pin_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answering(monkeypatch, True, True) == []
    assert "`onehook trust`" in onehook("install", "policy.py", "--hosts", "cursor").output
    assert "--pin" in (project / ".cursor" / "hooks.json").read_text()
    asked = answering(monkeypatch)
    onehook("install", "policy.py", "--hosts", "cursor")
    assert asked == [] and "--pin" in (project / ".cursor" / "hooks.json").read_text()


def test_trust_is_in_the_plan_and_uninstall_takes_it_back(project: Path, tmp_path: Path) -> None:
    store = tmp_path / "home" / ".codex" / "config.toml"
    arguments = ("install", "policy.py", "--hosts", "codex,cursor", "--trust")
    shown = onehook(*arguments, "--dry-run")
    assert '+trust_level = "trusted"' in shown.stdout and not store.exists()
    changes = json.loads(onehook(*arguments, "--json").stdout)
    assert [change["kind"] for change in changes["changes"]].count("trust") == 1
    assert [note for note in changes["notes"] if "--trust writes nothing for Cursor" in note]
    assert changes["to_do"] == {"codex": [], "cursor": []}
    assert json.loads(onehook("status", "--hosts", "codex", "--json").stdout)["installed"][0]["note"] == ""
    assert json.loads(onehook("uninstall", "--json").stdout)["changes"][-1]["path"] == str(store)
    assert not store.exists()


# ---- for me, for the team


def at_a_terminal(*arguments: str, types: str) -> str:
    """Run a verb in a terminal, and answer its questions; returns what it shows."""
    runtime_files()  # once, instead of in each fork
    done = forks.at_a_terminal(["onehook", *arguments], types)
    assert done.returncode == 0, done.stdout
    return done.stdout


def commits(project: Path) -> set[str]:
    """The files that git would commit."""
    done = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=project, capture_output=True, text=True, check=True)
    return {line[3:] for line in done.stdout.splitlines()}


@pytest.fixture
def repository(project: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return project


def test_in_a_repository_install_asks_who_it_is_for(repository: Path) -> None:
    shown = at_a_terminal("install", "policy.py", types="\nn\ny\nn\n")  # the default
    assert "Who is the policy for?" in shown and "ignores the files that are only for you" in shown
    assert commits(repository) == {"policy.py"} and (repository / ".claude/settings.local.json").is_file()
    shown = at_a_terminal("install", "policy.py", types="team\ny\nn\n")
    assert "commit it with the rest" in shown and "no longer ignores them" in shown
    assert {"policy.py", ".claude/settings.json", ".onehook/launch"} <= commits(repository)
    assert not (repository / ".claude/settings.local.json").exists()


@pytest.mark.parametrize("arguments", [("--scope", "project"), ("--for", "team"), ("--portable",), ("--yes",)])
def test_it_does_not_ask_if_it_is_told(repository: Path, arguments: tuple[str, ...]) -> None:
    assert "Who is" not in at_a_terminal("install", "policy.py", *arguments, types="n\ny\nn\n")


def test_nor_where_git_would_commit_nothing(repository: Path) -> None:
    (repository / ".gitignore").write_text(".claude/\n")
    assert "Who is" not in at_a_terminal("install", "policy.py", types="n\ny\nn\n")


def test_without_a_terminal_it_installs_and_warns(repository: Path) -> None:
    assert "--for me" in onehook("install", "policy.py").output
    assert (repository / ".claude/settings.json").is_file()
    assert "--for team" in json.loads(onehook("install", "policy.py", "--json").output)["notes"][0]
    assert "--for" not in onehook("install", "policy.py", "--for", "team", "--yes").output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--for", "me", "--scope", "user"), "--for applies to a repository"),
        (("--for", "me", "--portable"), "--for team"),
        (("--for", "team", "--scope", "local"), "--for me"),
    ],
)
def test_what_contradicts_for_is_refused(repository: Path, arguments: tuple[str, ...], text: str) -> None:
    assert text in onehook("install", "policy.py", *arguments, code=2).output


def test_for_me_is_refused_if_there_is_no_file_for_it(repository: Path) -> None:
    (repository / ".cursor").mkdir()
    (repository / ".cursor/hooks.json").write_text("{}")
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    output = onehook("install", "policy.py", "--hosts", "cursor", "--for", "me", code=2).output
    assert "--scope user" in output and "Nothing was changed" in output


def test_status_shows_who_it_is_for(repository: Path) -> None:
    onehook("install", "policy.py", "--for", "me")
    assert "for me" in onehook("status").output
    (row,) = json.loads(onehook("status", "--json").output)["installed"]
    assert row["audience"] == "me" and row["scope"] == "local"


def test_a_rules_file_is_installed_for_what_it_needs(project: Path) -> None:
    (project / "onehook.toml").write_text('packs = ["git"]\n')
    onehook("install", "onehook.toml", "--hosts", "claude")
    assert set(hooks_of(project)) == {"PreToolUse", "ConfigChange", "SessionStart"}  # ConfigChange: self_protect; the last reports a pause
    (project / "onehook.toml").write_text('packs = ["git"]\n[[hook]]\nspeaks = "claude"\nevents = ["Stop"]\nrun = ["true"]\n')
    assert "the policy handles Stop, and is not installed for it" in onehook("doctor", "--hosts", "claude").output
    onehook("install", "onehook.toml", "--hosts", "claude")
    assert "Stop" in hooks_of(project)


def test_the_users_own_file_is_installed_for_what_the_files_of_projects_may_need(project: Path, tmp_path: Path) -> None:
    own = tmp_path / "home" / ".config" / "onehook" / "onehook.toml"
    own.parent.mkdir(parents=True)
    own.write_text('packs = ["git"]\n')
    onehook("install", str(own), "--hosts", "claude", "--scope", "user")
    installed = json.loads((tmp_path / "home" / ".claude" / "settings.json").read_text())["hooks"]
    assert set(installed) >= {"SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"}


@pytest.mark.parametrize(
    ("proven", "before", "asked", "resident"),
    [
        (False, None, None, False),
        (True, None, None, True),
        (True, None, "--no-resident", False),
        (True, "--no-resident", None, False),  # what is installed stays as it is
        (False, "--resident", None, True),
        (True, "--resident", "--no-resident", False),
    ],
)
def test_resident_mode_is_the_default_where_it_is_proven(
    project: Path, monkeypatch: pytest.MonkeyPatch, proven: bool, before: str | None, asked: str | None, resident: bool
) -> None:
    monkeypatch.setattr("onehook.setup.command.has_proven_client", lambda: proven)
    if before:
        onehook("install", "policy.py", "--hosts", "claude", before)
    onehook("install", "policy.py", "--hosts", "claude", *([asked] if asked else []))
    commands = [str(entry["command"]) for groups in hooks_of(project).values() for group in groups for entry in group["hooks"]]  # type: ignore[attr-defined]
    assert {"/onehook/resident/" in command for command in commands} == {resident}


@pytest.mark.parametrize("elsewhere", [("--for", "team"), ("--scope", "enterprise", "--dry-run")])
def test_resident_mode_is_not_the_default_where_it_is_not_possible(
    project: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: tuple[str, ...]
) -> None:
    monkeypatch.setattr("onehook.setup.command.has_proven_client", lambda: True)
    assert "/onehook/resident/" not in onehook("install", "policy.py", "--hosts", "claude", *elsewhere).output
    settings = project / ".claude" / "settings.json"
    assert "/onehook/resident/" not in (settings.read_text() if settings.exists() else "")
