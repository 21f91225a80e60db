"""Importing hooks of Claude Code into a manifest: twelve assorted ones from a real-looking repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from harness import fire

from onehook.hostkit.imports import tools_of_regex
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, wire_of
from onehook.policy import load_policy
from onehook.prove import imports
from onehook.prove.expectations import events_of
from onehook.prove.imports import command
from tests.host_folders import facts
from tests.setup.importing import onehook, uninstalled

REASON = "rm -rf is not done here"
# name -> (event, tool, fields) that must start it
STARTS = {
    "guard": ("PreToolUse", "Bash", {"command": "rm -rf build"}),
    "secrets": ("PreToolUse", "Write", {"file_path": "{repo}/.env", "content": "x"}),
    "mcp": ("PreToolUse", "MCP", {"server": "proof", "tool": "note"}),
    "format": ("PostToolUse", "Edit", {"file_path": "{repo}/a.py", "old_string": "a", "new_string": "b"}),
    "lint": ("PostToolUse", "Bash", {"command": "make"}),
    "context": ("SessionStart", "", {"source": "startup"}),
    "compacted": ("SessionStart", "", {"source": "compact"}),
    "prompt": ("UserPromptSubmit", "", {"prompt": "hello"}),
    "stop": ("Stop", "", {}),
    "subagent": ("SubagentStop", "", {"agent_id": "a1"}),
    "push": ("PreToolUse", "Bash", {"command": "cd x && git push -f"}),
    "typescript": ("PreToolUse", "Write", {"file_path": "{repo}/src/a.ts", "content": "x"}),
}


def settings():
    """Twelve hooks that can be carried over, and five that cannot."""

    def group(name, matcher=None, **more):
        return {**({} if matcher is None else {"matcher": matcher}), "hooks": [hook(name, **more)]}

    given = imports.settings()
    given["hooks"]["PreToolUse"] += [
        {"matcher": "Bash", "hooks": [{"type": "http", "url": "http://127.0.0.1:1/hook"}]},
        {"matcher": "Ba(?=sh)", "hooks": [hook("lookahead")]},
        group("regex", "^(?!Read).*"),
    ]
    given["hooks"]["Stop"].append({"hooks": [{"type": "prompt", "prompt": "is it done?"}]})
    given["hooks"]["PreCompact"] = [group("manual", "manual")]
    return given


def hook(name, **more):
    return {"type": "command", "command": command(name), **more}


REFUSED = {
    "http://127.0.0.1:1/hook": "type 'http'",
    command("lookahead"): "cannot be written as a list of tools",
    command("regex"): "cannot be written as a list of tools",
    "is it done?": "a model decides; name one",
    command("manual"): "its matcher 'manual' on PreCompact has no equivalent in a manifest",
}


@pytest.fixture
def repo(tmp_path):
    return real_looking_repository(tmp_path / "repo")


def real_looking_repository(folder):
    for name, text in {**imports.files(REASON), imports.CONFIG: json.dumps(settings(), indent=2) + "\n"}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    (folder / ".git").mkdir()
    return folder


def said_by(host, name, repo):
    """The payload that a host sends when this hook should run, and the option in its config entry that names the event."""
    event, tool, fields = facts(host).INSTEAD.get(name) or STARTS[name]
    fields = {key: value.replace("{repo}", str(repo)) for key, value in fields.items()}
    reverse = load(host, "reverse")
    payload = reverse.payload(sample(event, tool, session_id="s", cwd=str(repo), **fields))
    native = next(native for native, row in wire_of(host).EVENTS.items() if row.event == event)
    return payload, ("--event", native)


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory):
    folder = real_looking_repository(tmp_path_factory.mktemp("imported") / "repo")
    done = onehook(folder, "import", "--from", "claude")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(("host", "name"), [(host, name) for host in HOSTS for name in STARTS if name not in facts(host).UNTOLD])
def test_twelve_claude_hooks_still_fire_on_claude_and_fire_on_the_others(taken_in, host, name):
    assert len(STARTS) == len(imports.HOOKS) == 12
    told = (facts(host).INSTEAD.get(name) or STARTS[name])[0]
    if told not in events_of(host):
        pytest.skip(f"{host} has no {told}, and nothing that stands in for it")
    log = taken_in / "log" / name
    log.unlink(missing_ok=True)
    payload, event = said_by(host, name, taken_in)
    if name == "compacted" and told == "SessionStart" and wire_of(host).parse(payload, event[1]).source != "compact":
        pytest.skip(f"{host} does not tell why a session starts, and nothing stands in for a compaction")
    result = fire(taken_in / "onehook.toml", payload, "--host", host, *event, cwd=taken_in)
    assert "warning" not in result.stderr, result
    seen = json.loads(log.read_text())
    assert (seen["hook_event_name"], seen.get("source")) == (STARTS[name][0], STARTS[name][2].get("source"))


def test_what_the_hooks_answer_takes_effect_on_another_host(repo):
    assert onehook(repo, "import", "--from", "claude").returncode == 0
    call = load("codex", "reverse").payload(sample("PreToolUse", "Bash", command="rm -rf x", session_id="s", cwd=str(repo)))
    blocked = fire(repo / "onehook.toml", call, "--host", "codex", cwd=repo)
    assert (blocked.exit_code, blocked.stderr.strip()) == (2, "rm -rf is not done here")
    start = load("codex", "reverse").payload(sample("SessionStart", session_id="s", cwd=str(repo), source="startup"))
    answer = fire(repo / "onehook.toml", start, "--host", "codex", cwd=repo).answer
    assert answer["hookSpecificOutput"]["additionalContext"] == "the branch is frozen"


def test_filters_hold(repo):
    assert onehook(repo, "import", "--from", "claude").returncode == 0
    hooks = load_policy(str(repo / "onehook.toml")).programs

    def starting(event):
        return {registration.handler.run.rpartition("/")[2].removesuffix(".sh") for registration in hooks.wanting(event)}

    assert starting(sample("PreToolUse", "Bash", command="git status")) == {"guard"}
    assert starting(sample("PreToolUse", "Write", file_path="/r/src/a.py", content="", cwd="/r")) == {"secrets"}
    assert starting(sample("PreToolUse", "Read", file_path="/r/a.ts", cwd="/r")) == {"secrets"}
    assert starting(sample("PreToolUse", "MCP", server="gitlab", tool="x")) == set()
    assert starting(sample("SessionStart", source="resume")) == {"context"}


def test_what_cannot_be_carried_over_is_listed_line_by_line(repo):
    done = onehook(repo, "import", "--from", "claude")
    written = (repo / "onehook.toml").read_text()
    for shown, why in REFUSED.items():
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("NOT imported") and f": {shown}: " in line]
        assert why in line
        assert any(shown in line and why in line for line in written.splitlines() if line.startswith("#"))
    assert "but 'statusMessage' is not carried over" in done.stderr
    assert "but the tool MultiEdit exists only in Claude Code" in done.stderr
    assert "SubagentStop fires with PostToolUse of Agent on Gemini CLI" in done.stderr
    assert "SessionStart (compact) fires with PreCompact on Cursor, Gemini CLI, Copilot CLI, OpenCode, Kilo" in done.stderr
    assert "13 imported, 5 not imported" in done.stdout
    assert "To avoid running them twice" in done.stdout


def test_settings_of_the_hooks_are_kept(repo):
    assert onehook(repo, "import", "--from", "claude").returncode == 0
    programs = {
        registration.handler.run: registration.handler for registration in load_policy(str(repo / "onehook.toml")).programs.registrations
    }
    guard, stop, prompt = (programs[command(name)] for name in ("guard", "stop", "prompt"))
    assert (guard.timeout, guard.fail, guard.shell, guard.dialect) == (5, "closed", "/bin/sh", "claude")
    assert (stop.timeout, stop.fail) == (120, "open")
    assert prompt.timeout == 30


def test_a_dry_run_changes_nothing(repo):
    before = sorted(path for path in repo.rglob("*"))
    done = onehook(repo, "import", "--take-over", "--dry-run")
    assert "+[[hook]]" in done.stdout and f"--- {repo}/.claude/settings.json" in done.stdout
    assert sorted(path for path in repo.rglob("*")) == before
    assert json.loads((repo / ".claude" / "settings.json").read_text()) == settings()


def test_for_scripts_it_is_all_said_as_json(repo):
    told = json.loads(onehook(repo, "import", "--from", "claude", "--dry-run", "--json").stdout)
    assert [row["command"] for row in told["carried"]] == [command(name) for name in imports.HOOKS]
    assert {row["command"]: row["refused"] for row in told["refused"]}.keys() == REFUSED.keys()
    assert told["would_write"] == [str(repo / "onehook.toml")] and not (repo / "onehook.toml").exists()
    done = json.loads(onehook(repo, "import", "--from", "claude", "--take-over", "--json").stdout)
    assert done["written"] == [str(repo / "onehook.toml"), str(repo / ".claude" / "settings.json")]
    assert json.loads(Path(done["taken_out_of"][0]["copy"]).read_text()) == settings()
    nothing = onehook(repo, "import", "--from", "codex", "--json")
    assert nothing.returncode == 1 and json.loads(nothing.stdout)["carried"] == []


def test_left_originals_also_run_on_the_agents_that_read_claudes_file(repo):
    said = onehook(repo, "import", "--from", "claude").stdout
    assert "still run on Claude Code, Cursor, Copilot CLI" in said
    others = said.partition("--hosts ")[2].strip().split(",")
    assert "codex" in others and not {"claude", "cursor", "copilot"} & set(others)


def test_the_originals_stay_unless_they_are_taken_over(repo):
    original = (repo / ".claude" / "settings.json").read_bytes()
    assert onehook(repo, "import").returncode == 0
    assert (repo / ".claude" / "settings.json").read_bytes() == original


def test_taking_over_leaves_what_was_not_carried_and_says_the_way_back(repo):
    config = repo / ".claude" / "settings.json"
    original = config.read_bytes()
    done = onehook(repo, "import", "--take-over")
    assert done.returncode == 0, done.stderr
    left = json.loads(config.read_text())
    assert left["permissions"] == settings()["permissions"]
    commands = [
        h.get("command") or h.get("url") or h.get("prompt") for groups in left["hooks"].values() for g in groups for h in g["hooks"]
    ]
    assert sorted(commands) == sorted(REFUSED)
    (line,) = [line for line in done.stdout.splitlines() if "to undo: " in line]
    subprocess.run(["sh", "-c", line.partition("to undo: ")[2]], check=True)
    assert config.read_bytes() == original


def test_taking_over_installing_and_uninstalling_gives_the_first_bytes_back(repo):
    config = repo / ".claude" / "settings.json"
    original = config.read_bytes()
    assert onehook(repo, "import", "--take-over").returncode == 0
    installed = onehook(repo, "install", str(repo / "onehook.toml"), "--hosts", "claude,codex,cursor", "--yes")
    assert installed.returncode == 0, installed.stderr
    assert "onehook/launch.py" in config.read_text() and '"timeout": 6' in config.read_text()
    assert uninstalled(repo)
    assert config.read_bytes() == original


def test_an_import_overwrites_nothing_and_does_not_import_itself(repo):
    assert onehook(repo, "import", "--take-over").returncode == 0
    again = onehook(repo, "import")  # the permissions are still there
    assert again.returncode == 1 and "already exists" in again.stderr
    assert onehook(repo, "install", str(repo / "onehook.toml"), "--hosts", "claude", "--yes").returncode == 0
    assert "launch.py" not in onehook(repo, "import").stderr
    (repo / ".claude" / "settings.json").write_text(json.dumps(settings()))
    there = onehook(repo, "import")
    assert there.returncode == 1 and "already exists; nothing was changed" in there.stderr


def test_a_worktrees_path_cannot_be_carried_over(repo):
    config = {"hooks": {"WorktreeCreate": [{"hooks": [{"type": "command", "command": "echo /tmp/tree"}]}]}}
    (repo / ".claude" / "settings.json").write_text(json.dumps(config))
    done = onehook(repo, "import", "--from", "claude")
    assert done.returncode == 1 and "it prints the path of a worktree" in done.stderr


def test_nothing_to_import_and_unknown_hosts(repo):
    none = onehook(repo, "import", "--from", "codex")
    assert none.returncode == 1 and "Codex CLI has no hooks and no permission lists in its project scope" in none.stderr
    assert "unknown agent 'vim'. Known agents: claude, " in onehook(repo, "import", "--from", "vim").stderr


def test_one_command_on_several_events_is_one_hook(repo):
    groups = [{"hooks": [{"type": "command", "command": "./log.sh"}]}]
    config = {"hooks": {"Stop": groups, "SessionStart": groups, "Notification": groups}}
    (repo / ".claude" / "settings.json").write_text(json.dumps(config))
    assert onehook(repo, "import").returncode == 0
    text = (repo / "onehook.toml").read_text()
    assert text.count("[[hook]]") == 1
    assert 'events = ["Stop", "SessionStart", "Notification"]' in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--x", "a b"], ["node", "--x", "a b"]),
        (["${CLAUDE_PROJECT_DIR}/h.js", 'a"$b'], '"node" "${CLAUDE_PROJECT_DIR}/h.js" "a\\"\\$b"'),
    ],
)
def test_a_claude_hook_that_no_shell_sees_stays_so_unless_it_has_a_variable(arguments, expected):
    data = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "node", "args": arguments}]}]}}
    (found,) = load("claude", "imports").handlers(data)
    assert found.run == expected


TOOLS = wire_of("claude").TOOLS


@pytest.mark.parametrize(
    ("regex", "tools"),
    [
        ("^(Bash|Edit)$", ["Bash", "Edit"]), ("^Bash$", ["Bash"]), ("Web.*", ["WebFetch", "WebSearch"]), ("mcp__.*", ["MCP"]),
        ("mcp__db__.*|Bash", ["mcp__db__*", "Bash"]), ("^mcp__db__query$", ["mcp__db__query"]), ("Notebook.*", ["NotebookEdit"]),
        ("Edit|mcp__x__.*", ["Edit", "MultiEdit", "NotebookEdit", "mcp__x__*"]), ("^Task$", ["Agent"]), ("^Skill$", ["Skill"]),
        ("[BE].*", None), ("(a)(b)", None), ("^(?!Bash)", None), ("Ba?sh", None), ("^no.*thing$", None),
    ],
)  # fmt: skip
def test_matchers_that_are_regular_expressions(regex, tools):
    assert tools_of_regex(regex, TOOLS, "mcp__") == tools


RULES = {
    "Bash": ({"tools": ["Bash"], "commands": [], "paths": []}),
    "Bash(git push:*)": ({"commands": ["git push*"]}),
    "Bash(npm test)": ({"commands": ["npm test"]}),
    "Edit(*.ts)": ({"paths": ["*.ts"]}),
    "Edit(**/*.ts)": ({"paths": ["*.ts"]}),
    "Edit(docs/**)": ({"paths": ["docs/*"]}),
    "Edit(/etc/*)": "has no equivalent in a manifest",
    "Agent(x)": "has no equivalent in a manifest",
    "Bash(": "has no equivalent in a manifest",
    "WebFetch(domain:x)": "has no equivalent in a manifest",
}


@pytest.mark.parametrize(("rule", "expected"), RULES.items(), ids=RULES)
def test_the_if_of_a_claude_hook(rule, expected):
    data = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "if": rule}]}]}}
    (found,) = load("claude", "imports").handlers(data)
    if isinstance(expected, str):
        assert expected in found.refused
    else:
        assert not found.refused
        assert {key: getattr(found, key) for key in expected} == expected


def test_an_if_that_never_lets_a_hook_run_is_reported():
    handler = {"type": "command", "command": "x", "if": "Read"}
    data = {"hooks": {"Stop": [{"hooks": [handler]}], "PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}
    assert [hook.refused for hook in load("claude", "imports").handlers(data)] == [
        "it has an `if` on an event without a tool, so it never runs",
        "its matcher and its if 'Read' exclude each other",
    ]


def test_texts_of_every_kind_survive_the_manifest(repo):
    odd = "printf '%s' \"a\\b\" \t\x01 \u00e9\n'x'"
    config = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": odd}]}]}}
    (repo / ".claude" / "settings.json").write_text(json.dumps(config))
    assert onehook(repo, "import").returncode == 0
    (registration,) = load_policy(os.fspath(repo / "onehook.toml")).registrations
    assert registration.handler.run == odd
