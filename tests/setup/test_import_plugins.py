"""`onehook import` of plugins and extensions, and of hooks that run in the background or in PowerShell."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onehook.cli.import_ import command as import_command
from onehook.hostkit.imports import extensions
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, having, load, readers_of
from onehook.policy import load_policy
from onehook.runner import answer
from tests.host_folders import facts
from tests.setup.installing import file_of

GUARD = '#!/bin/sh\ncat > /dev/null\necho "no, says $(basename "$0")" >&2\nexit 2\n'
PLUGINS = {host: facts(host).PLUGIN for host in HOSTS if facts(host).PLUGIN}


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def written(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))


def plugin(root, host, inline=False):
    marks, hooks = PLUGINS[host]
    for name, data in marks.items():
        written(root / name, {**data, "hooks": hooks} if inline else data)
    if not inline:
        written(root / load(host, "imports").PLUGINS.files[0], {"version": 1, "hooks": hooks})
    (root / "guard.sh").write_text(GUARD)
    (root / "guard.sh").chmod(0o755)
    return root


def run(repo, *arguments):
    done = CliRunner().invoke(import_command, [*arguments, "--project", str(repo)])
    assert done.exit_code == 0, done.output
    return done.output


def denied_on(repo, host):
    payload = load(host, "reverse").payload(sample("PreToolUse", "Bash", command="ls", session_id="s", cwd=str(repo)))
    output = answer(json.dumps(payload).encode(), lambda: load_policy(str(repo / "onehook.toml")), hosts=[host])
    assert output.answer is not None, (host, output.error)
    return output.answer.decision == "deny"


@pytest.mark.parametrize("host", PLUGINS)
@pytest.mark.parametrize("inside", [True, False], ids=["in the project", "elsewhere"])
def test_the_hooks_of_a_plugin_run_on_every_agent(repo, tmp_path, host, inside):
    root = plugin((repo if inside else tmp_path) / "a plugin", host)
    run(repo, "--plugin", str(root))
    assert [other for other in HOSTS if not denied_on(repo, other)] == []


@pytest.mark.parametrize("more", [{}, {"args": ["-c", 'pwd > "$CLAUDE_PLUGIN_DATA"/seen; exit 2']}], ids=["shell", "words"])
def test_the_folder_for_a_plugins_data_is_there_before_its_hook_starts(repo, tmp_path, more):
    """Claude Code creates it, so hooks write to it without checking."""
    entry = {"type": "command", "command": "sh" if more else 'pwd > "$CLAUDE_PLUGIN_DATA"/seen; exit 2', **more}
    written(tmp_path / "p" / ".claude-plugin/plugin.json", {"name": "p", "hooks": {"PreToolUse": [{"hooks": [entry]}]}})
    run(repo, "--plugin", str(tmp_path / "p"))
    assert denied_on(repo, "claude") and denied_on(repo, "gemini")
    assert (tmp_path / "state" / "plugins" / "p" / "seen").is_file()


def test_a_plugins_data_are_in_the_home_of_whoever_runs_it(repo, tmp_path, monkeypatch):
    monkeypatch.delenv("ONEHOOK_STATE_DIR")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    run(repo, "--plugin", str(plugin(tmp_path / "p", "claude")))
    assert f"{tmp_path}/home" not in (repo / "onehook.toml").read_text()
    assert 'CLAUDE_PLUGIN_DATA="$HOME"/' in (repo / "onehook.toml").read_text()


def test_the_hooks_of_a_cursor_plugin_start_in_its_folder_but_for_stops(repo, tmp_path, monkeypatch):
    """Even a command in which nothing looks like a path."""
    root = plugin(tmp_path / "p", "cursor")
    hooks = {"beforeShellExecution": [{"command": "test -f guard.sh && exit 2; exit 0"}], "stop": [{"command": "pwd > seen"}]}
    written(root / "hooks/hooks.json", {"version": 1, "hooks": hooks})
    run(repo, "--plugin", str(root))
    assert [other for other in HOSTS if not denied_on(repo, other)] == []
    payload = load("cursor", "reverse").payload(sample("Stop", session_id="s", cwd=str(repo)))
    monkeypatch.chdir(repo)  # where Cursor starts a hook
    answer(json.dumps(payload).encode(), lambda: load_policy(str(repo / "onehook.toml")), hosts=["cursor"])
    assert (repo / "seen").read_text().strip() == str(repo)


def test_hooks_in_the_plugins_own_manifest_count(repo, tmp_path):
    run(repo, "--plugin", str(plugin(tmp_path / "p", "claude", inline=True)))
    assert denied_on(repo, "gemini")


def test_a_plugin_that_its_agent_runs_already_is_imported_for_the_others(repo, tmp_path):
    root = plugin(tmp_path / "p", "claude")
    written(tmp_path / "home" / ".claude" / "plugins" / "installed_plugins.json", {"plugins": {"p@x": [{"installPath": str(root)}]}})
    written(tmp_path / "home" / ".claude" / "settings.json", {"enabledPlugins": {"p@x": True, "off@x": False}})
    run(repo, "--from", "claude", "--scope", "user")
    assert denied_on(repo, "gemini") and not denied_on(repo, "claude")


INSTALLED = [host for host in HOSTS if facts(host).INSTALLED_PLUGIN]


@pytest.mark.parametrize("host", INSTALLED)
@pytest.mark.parametrize("on", [True, False])
def test_a_plugin_that_an_agent_has_installed_is_found_if_it_is_on(repo, tmp_path, host, on):
    home = tmp_path / "home"
    place, files = facts(host).INSTALLED_PLUGIN
    root = plugin(home / place, host)
    for name, content in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content.format(on=json.dumps(on), not_on="" if on else "!", home=home, repo=repo, root=root))
    done = CliRunner().invoke(import_command, ["--from", host, "--scope", "user", "--project", str(repo)])
    assert done.exit_code == (0 if on else 1), done.output
    if on:
        other = next(name for name in HOSTS if name not in (host, *readers_of(host)))
        assert denied_on(repo, other) and not denied_on(repo, host)
    said = CliRunner().invoke(import_command, ["--from", host, "--project", str(repo), "--output", "other.toml"]).output
    assert ("that you have installed (guards); import them with --scope user" in said) is on


def test_a_plugin_that_copilot_loads_from_a_folder_is_found(repo, tmp_path):
    market, home = tmp_path / "market", tmp_path / "home"
    plugin(market / "plugins" / "guards", "copilot")
    written(market / ".claude-plugin" / "marketplace.json", {"name": "mk", "plugins": [{"name": "guards", "source": "./plugins/guards"}]})
    known = {"mk": {"source": {"source": "directory", "path": str(market)}}}
    written(home / ".copilot" / "settings.json", {"enabledPlugins": {"guards@mk": True, "gone@mk": True}, "extraKnownMarketplaces": known})
    run(repo, "--from", "copilot", "--scope", "user")
    assert denied_on(repo, "gemini") and not denied_on(repo, "copilot")


@pytest.mark.parametrize(("overrides", "on"), [
    ([], True), (["!{p}/"], False), (["!{up}/*"], False), (["!{up}/*", "{p}/"], True), (["!{p}x/*"], True), (["!{up}/"], True),
])  # fmt: skip
def test_an_extension_is_on_where_its_last_rule_says_so(tmp_path, overrides, on):
    folder, project = tmp_path / "extensions", tmp_path / "work" / "p"
    written(folder / "guards" / "x.json", {"name": "guards"})
    rules = [rule.format(p=project, up=project.parent) for rule in overrides]
    written(folder / "extension-enablement.json", {"guards": {"overrides": rules}})
    assert extensions(folder, "x.json", "origin.json", project) == ([folder / "guards"] if on else [])


def test_an_extension_that_is_linked_is_where_the_link_leads(tmp_path):
    written(tmp_path / "source" / "x.json", {"name": "guards"})
    written(tmp_path / "extensions" / "guards" / "origin.json", {"type": "link", "source": str(tmp_path / "source")})
    assert extensions(tmp_path / "extensions", "x.json", "origin.json", tmp_path) == [tmp_path / "source"]


def test_what_is_not_a_plugin_is_refused(repo, tmp_path):
    done = CliRunner().invoke(import_command, ["--plugin", str(tmp_path), "--project", str(repo)])
    assert done.exit_code == 1 and "is not a plugin with hooks" in f"{done.output}{done.exception}"


@pytest.mark.parametrize(("host", "keys", "line"), [(host, *row) for host in having("imports") for row in facts(host).BACKGROUND])
def test_a_hook_in_the_background_stays_in_the_background(repo, host, keys, line):
    handler = {"type": "command", "command": "./a.sh", **keys}
    written(repo / file_of(host), {"hooks": {"PostToolUse": [{"hooks": [handler]}]}})
    assert "not carried over" not in run(repo, "--from", host)
    assert line in (repo / "onehook.toml").read_text()


def test_a_command_for_powershell_is_run_by_pwsh_where_there_is_one(monkeypatch):
    def hook():
        handler = {"type": "command", "command": "Write-Host $env:X", "shell": "powershell"}
        (found,) = load("claude", "imports").handlers({"hooks": {"Stop": [{"hooks": [handler]}]}})
        return found

    monkeypatch.setattr("onehook.hostkit.imports.shutil.which", lambda name: None)
    assert "no pwsh here" in hook().refused
    monkeypatch.setattr("onehook.hostkit.imports.shutil.which", lambda name: "/usr/bin/pwsh")
    assert hook().run == ["pwsh", "-NoProfile", "-NonInteractive", "-Command", "Write-Host $env:X"]


def test_the_machines_settings_are_a_scope(repo, tmp_path, monkeypatch):
    from onehook.hostkit.config import Machine
    from onehook.setup.imports import collect

    managed = tmp_path / "system" / "etc" / "claude-code" / "managed-settings.json"
    written(managed, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./a.sh"}]}]}})
    machine = Machine(tmp_path / "home", repo, {}, "linux", tmp_path / "system")
    assert [taken.hook.shown for taken in collect(["claude"], "enterprise", machine).carried] == ["./a.sh"]
