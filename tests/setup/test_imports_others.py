"""`onehook import` from Gemini CLI, Qwen Code and Copilot CLI: real configs, real hook processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from harness import clean_environment, fire

from onehook.cli.import_ import command as import_command
from onehook.core import TOOLS, UsageError
from onehook.hostkit.imports import for_bash, in_project, joined_mcp
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, wire_of
from onehook.hosts.gemini.imports import quoted_variables
from onehook.policy import load_policy
from onehook.setup.imports import importable

# Notes what it got, and where it was started; the guard denies in the words of its host.
SCRIPT = """#!/bin/sh
cat > "$CLAUDE_PROJECT_DIR/log/{name}"
{{ pwd; echo "$LEVEL"; }} > "$CLAUDE_PROJECT_DIR/log/{name}.where"
{answer}
"""
DENY = {
    "gemini": """echo '{"decision": "deny", "reason": "not here"}'""",
    "qwen": "echo 'not here' >&2; exit 2",
    "copilot": """echo '{"permissionDecision": "deny", "permissionDecisionReason": "not here"}'""",
}
# name -> (event, tool, fields) that must start it, whatever the host
STARTS = {
    "guard": ("PreToolUse", "Bash", {"command": "rm -rf build"}),
    "files": ("PreToolUse", "Write", {"file_path": "{repo}/.env", "content": "x"}),
    "github": ("PreToolUse", "MCP", {"server": "github", "tool": "create_issue"}),
    "format": ("PostToolUse", "Edit", {"file_path": "{repo}/a.py", "old_string": "a", "new_string": "b"}),
    "log": ("PostToolUse", "Bash", {"command": "make"}),
    "context": ("SessionStart", "", {"source": "startup"}),
    "prompt": ("UserPromptSubmit", "", {"prompt": "hello"}),
    "stop": ("Stop", "", {}),
}
NAMES = (*STARTS, "pascal")
FOLDERS = {"gemini": ".gemini", "qwen": ".qwen", "copilot": ".github"}


def script(host, name):
    return f"{FOLDERS[host]}/scripts/{name}.sh"


def command(host, name, /, **more):
    return {"type": "command", "command": f"./{script(host, name)}", **more}


def group(host, name, /, matcher=None, **more):
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": [command(host, name, **more)]}


def gemini_files():
    guard = {"type": "command", "name": "no-rm", "command": "$GEMINI_PROJECT_DIR/.gemini/scripts/guard.sh", "timeout": 5000}
    hooks = {
        "BeforeTool": [
            {
                "matcher": "run_shell_command",
                "sequential": True,
                "hooks": [{**guard, "description": "no rm -rf", "env": {"LEVEL": "it's 3"}}],
            },
            group("gemini", "files", "write_file|replace"),
            group("gemini", "github", "mcp_github_.*"),
            group("gemini", "regex", "^(?!read).*"),
            {"hooks": [{"type": "plugin", "name": "compiled"}, command("gemini", "off", name="off")]},
        ],
        "AfterTool": [group("gemini", "format", "^(replace|write_file)$"), group("gemini", "log", ".*")],
        "SessionStart": [group("gemini", "context", "startup"), group("gemini", "never", "startup|resume")],
        "BeforeAgent": [group("gemini", "prompt", "ignored here")],
        "AfterAgent": [group("gemini", "stop", "*", timeout=120000)],
        "PreCompress": [group("gemini", "compress", "manual")],
        "PreToolUse": [group("gemini", "claudes")],
    }
    settings = {"theme": "dark", "hooksConfig": {"disabled": ["off"]}, "hooks": hooks}
    return {".gemini/settings.json": "// the team's settings\n" + json.dumps(settings, indent=2) + "\n"}


def qwen_files():
    hooks = {
        "PreToolUse": [
            group("qwen", "guard", "Bash", timeout=5000, statusMessage="looking", env={"LEVEL": "it's 3"}),
            group("qwen", "files", "WriteFile|edit"),
            group("qwen", "github", "mcp__github__.*"),
            {
                "matcher": "Shell",
                "hooks": [{"type": "http", "url": "https://hooks.example/x"}, command("qwen", "later", **{"async": True})],
            },
            group("qwen", "regex", "[^r].*"),
        ],
        "PostToolUse": [group("qwen", "format", "^(edit|write_file)$"), group("qwen", "log", "*")],
        "SessionStart": [group("qwen", "context", "startup|branch")],
        "UserPromptSubmit": [group("qwen", "prompt", timeout=9, name="words")],
        "Stop": [group("qwen", "stop"), {"hooks": [{"type": "prompt", "prompt": "is it done?"}]}],
        "PreCompact": [group("qwen", "compact", "manual"), group("qwen", "shell", shell="powershell")],
    }
    return {".qwen/settings.json": json.dumps({"model": {"name": "m"}, "hooks": hooks}, indent=2) + "\n"}


def copilot_files():
    def entry(name, **more):
        return {"type": "command", "bash": f"./{script('copilot', name)}", **more}

    guard = {
        "type": "command",
        "bash": "./guard.sh",
        "powershell": "./guard.ps1",
        "command": "no",
        "cwd": ".github/scripts",
        "timeoutSec": 5,
    }
    first = {
        "preToolUse": [
            {**guard, "matcher": "bash", "env": {"LEVEL": "it's 3"}},
            entry("files", matcher="create|edit", timeout=9),
            entry("github", matcher="github-.*"),
            entry("star", matcher="*"),
            entry("regex", matcher="[a-c].*"),
            {"type": "http", "url": "https://hooks.example/x"},
        ],
        "PreToolUse": [{"matcher": "Bash|Write", "hooks": [command("copilot", "pascal")]}],
        "errorOccurred": [entry("error")],
    }
    second = {
        "postToolUse": [entry("format", matcher="edit"), {"type": "command", "exec": script("copilot", "log"), "args": ["a b"]}],
        "sessionStart": [entry("context", matcher="ignored here"), {"type": "prompt", "prompt": "/help"}],
        "userPromptSubmitted": [entry("prompt")],
    }
    inline = {"agentStop": [entry("stop"), {"powershell": "./stop.ps1"}], "preCompact": [entry("compact", matcher="manual")]}
    off = {"version": 1, "disableAllHooks": True, "hooks": {"agentStop": [entry("off")]}}
    return {
        ".github/hooks/guards.json": json.dumps({"version": 1, "hooks": first}, indent=2) + "\n",
        ".github/hooks/notes.json": json.dumps({"version": 1, "hooks": second}, indent=2) + "\n",
        ".github/hooks/off.json": json.dumps(off),
        ".github/copilot/settings.json": json.dumps({"hooks": inline}),
    }


FILES = {"gemini": gemini_files, "qwen": qwen_files, "copilot": copilot_files}
REFUSED = {
    "gemini": {
        "./.gemini/scripts/regex.sh": "its matcher '^(?!read).*' cannot be written as a list of tools",
        "{'type': 'plugin', 'name': 'compiled'}": "it is of type 'plugin', not a command",
        "./.gemini/scripts/off.sh": "it is switched off here (hooksConfig.disabled)",
        "./.gemini/scripts/never.sh": "its matcher 'startup|resume' never matches: it must be exactly",
        "./.gemini/scripts/compress.sh": "its matcher 'manual' on PreCompress has no equivalent in a manifest",
        "./.gemini/scripts/claudes.sh": "Gemini CLI has no event 'PreToolUse'",
    },
    "qwen": {
        "https://hooks.example/x": "it is of type 'http', not a command",
        "./.qwen/scripts/later.sh": "it runs in the background (async)",
        "./.qwen/scripts/regex.sh": "its matcher '[^r].*' cannot be written as a list of tools",
        "is it done?": "it is of type 'prompt', not a command",
        "./.qwen/scripts/compact.sh": "its matcher 'manual' on PreCompact has no equivalent in a manifest",
        "./.qwen/scripts/shell.sh": "it is written for powershell",
    },
    "copilot": {
        "./.github/scripts/star.sh": "its matcher '*' never matches on preToolUse, so Copilot does not run it",
        "./.github/scripts/regex.sh": "its matcher '[a-c].*' cannot be written as a list of tools",
        "https://hooks.example/x": "it is of type 'http', not a command",
        "./.github/scripts/error.sh": "onehook has no event for 'errorOccurred'",
        "/help": "it is of type 'prompt', not a command",
        "./stop.ps1": "it is written for PowerShell only",
        "./.github/scripts/compact.sh": "its matcher 'manual' on preCompact has no equivalent in a manifest",
        "./.github/scripts/off.sh": "hooks are switched off in this file (disableAllHooks)",
    },
}
LOSSES = {
    "gemini": ("'description' is not carried over", "'sequential' is not carried over"),
    "qwen": ("'statusMessage' is not carried over", "it also fires for Qwen Code's monitor:"),
    "copilot": ("'powershell' is not carried over", "it also fires for Copilot's str_replace_editor, apply_patch:"),
}
HERE = tuple(FILES)


@pytest.fixture
def repos(tmp_path):
    """Makes a repository with the hooks of a host, in a folder whose name needs quotes."""

    def make(host):
        folder = tmp_path / "a repo"
        for name in (".git", "log", "src/deep", f"{FOLDERS[host]}/scripts"):
            (folder / name).mkdir(parents=True)
        for name in NAMES:
            path = folder / script(host, name)
            path.write_text(SCRIPT.format(name=name, answer=DENY[host] if name == "guard" else ""))
            path.chmod(0o755)
        for name, text in FILES[host]().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return folder

    return make


def onehook(repo, *arguments):
    environment = clean_environment({"HOME": str(repo.parent), "ONEHOOK_STATE_DIR": str(repo.parent / "state")})
    argv = [sys.executable, "-I", "-m", "onehook", *arguments, "--project", str(repo)]
    return subprocess.run(argv, cwd=repo, env=environment, capture_output=True, text=True, timeout=60, check=False)


def imported(repo, *arguments):
    done = onehook(repo, "import", *arguments)
    assert done.returncode == 0, done.stderr
    return done


def started(repo, name, host, cwd=None):
    """Whether the hook is started by its event on a host; the log is empty before."""
    for mark in (repo / "log").iterdir():
        mark.unlink()
    event, tool, fields = STARTS[name]
    fields = {key: value.replace("{repo}", str(repo)) for key, value in fields.items()}
    payload = load(host, "reverse").payload(sample(event, tool, session_id="s", cwd=str(cwd or repo), **fields))
    result = fire(repo / "onehook.toml", payload, "--host", host, cwd=cwd or repo)
    assert "warning" not in result.stderr, result
    return (repo / "log" / name).exists()


def programs(repo):
    found = {}
    for registration in load_policy(str(repo / "onehook.toml")).registrations:
        program = registration.handler
        text = program.run if isinstance(program.run, str) else " ".join(program.run)
        (name,) = [name for name in NAMES if f"{name}.sh" in text]
        found[name] = (registration, program)
    return found


@pytest.mark.parametrize("source", HERE)
def test_what_is_carried_over_fires_on_its_own_host_and_on_the_others(repos, source):
    repo = repos(source)
    imported(repo, "--from", source)
    missed = [(host, name) for host in dict.fromkeys((source, "claude", *HERE)) for name in STARTS if not started(repo, name, host)]
    assert missed == []


@pytest.mark.parametrize("source", HERE)
def test_a_hook_is_found_and_starts_in_the_project_when_the_agent_works_below_it(repos, source):
    repo = repos(source)
    imported(repo, "--from", source)
    for name in ("guard", "files", "stop"):
        assert started(repo, name, "claude", repo / "src" / "deep"), name
    where = (repo / "log" / "stop.where").read_text().splitlines()[0]
    assert where == str(repo)


@pytest.mark.parametrize("source", HERE)
def test_a_denial_takes_effect_on_another_host_and_env_and_cwd_are_kept(repos, source):
    repo = repos(source)
    imported(repo, "--from", source)
    call = load("claude", "reverse").payload(sample("PreToolUse", "Bash", command="rm -rf x", session_id="s", cwd=str(repo)))
    answer = fire(repo / "onehook.toml", call, "--host", "claude", cwd=repo)
    assert (answer.exit_code, answer.stderr.strip()) == (2, "not here")
    where, level = (repo / "log" / "guard.where").read_text().splitlines()
    assert level == "it's 3"
    assert where == str(repo / ".github/scripts" if source == "copilot" else repo)


@pytest.mark.parametrize("source", HERE)
def test_a_hook_gets_the_payload_of_its_own_host(repos, source):
    repo = repos(source)
    imported(repo, "--from", source)
    assert started(repo, "guard", "claude")
    seen = json.loads((repo / "log" / "guard").read_text())
    expected = {"gemini": ("tool_name", "run_shell_command"), "qwen": ("tool_name", "run_shell_command"), "copilot": ("toolName", "bash")}
    key, tool = expected[source]
    assert seen[key] == tool


def test_a_pascal_case_hook_of_copilot_gets_the_other_dialect(repos):
    repo = repos("copilot")
    imported(repo, "--from", "copilot")
    assert 'events = ["copilot:PreToolUse"]' in (repo / "onehook.toml").read_text()
    for host in ("copilot", "claude"):
        assert started(repo, "files", host)
        seen = json.loads((repo / "log" / "pascal").read_text())
        assert (seen["hook_event_name"], seen["tool_name"]) == ("PreToolUse", "Write")
        assert "toolName" in json.loads((repo / "log" / "files").read_text())


@pytest.mark.parametrize("source", HERE)
def test_what_cannot_be_carried_over_is_listed_line_by_line(repos, source):
    repo = repos(source)
    done = imported(repo, "--from", source)
    written = (repo / "onehook.toml").read_text()
    for shown, why in REFUSED[source].items():
        (line,) = [line for line in done.stderr.splitlines() if line.startswith(f"NOT imported  {source} ") and f": {shown}: " in line]
        assert why in line
        assert any(shown in line and why in line for line in written.splitlines() if line.startswith("#"))
    for loss in LOSSES[source]:
        assert f"but {loss}" in done.stderr and f"#   {loss}" in written
    carried = len(STARTS) + (source == "copilot")
    assert f"{carried} imported, {len(REFUSED[source])} not imported" in done.stdout
    assert str(repo) not in written  # a manifest is for every clone


SETTINGS = {
    "gemini": {"guard": 5, "files": 60, "stop": 120}, "qwen": {"guard": 5, "files": 60, "prompt": 9},
    "copilot": {"guard": 5, "files": 9, "stop": 30},
}  # fmt: skip
MATCHED = {
    "gemini": {"guard": ("Bash",), "files": ("Write", "Edit"), "github": ("mcp__github__*", "mcp__github_*"),
    "format": ("Edit", "Write"), "log": ()},
    "qwen": {"guard": ("Bash",), "files": ("Write", "Edit"), "github": ("mcp__github__*",), "format": ("Edit", "Write"), "log": ()},
    "copilot": {"guard": ("Bash",), "files": ("Write", "Edit"), "github": ("mcp__github__*", "mcp__github-*"), "format": ("Edit",),
    "log": ()},
}  # fmt: skip
SOURCES = {"gemini": ["startup"], "qwen": ["startup", "fork"], "copilot": []}


@pytest.mark.parametrize("source", HERE)
def test_time_outs_tools_sources_and_names_are_kept(repos, source):
    repo = repos(source)
    imported(repo, "--from", source)
    found = programs(repo)
    assert {name: found[name][1].timeout for name in SETTINGS[source]} == SETTINGS[source]
    assert {name: found[name][0].tools for name in MATCHED[source]} == MATCHED[source]
    assert found["context"][1].sources == SOURCES[source]
    assert {program.dialect for _, program in found.values()} == {source}
    assert {program.fail for _, program in found.values()} == {"open"}
    named = {"gemini": ("guard", "no-rm"), "qwen": ("prompt", "words")}.get(source)
    assert named is None or found[named[0]][1].__name__ == named[1]


def left_in(repo, source):
    """What the configs of a host still say, by `shown`."""
    handlers = load(source, "imports").handlers
    texts = {name: (repo / name).read_text() for name in FILES[source]()}
    plain = {name: text.removeprefix("// the team's settings\n") for name, text in texts.items()}
    return [hook.shown for text in plain.values() for hook in handlers(json.loads(text))]


@pytest.mark.parametrize("source", HERE)
def test_taking_over_leaves_what_was_not_carried_and_says_the_way_back(repos, source):
    repo = repos(source)
    originals = {name: (repo / name).read_bytes() for name in FILES[source]()}
    done = imported(repo, "--from", source, "--take-over")
    assert sorted(left_in(repo, source)) == sorted(REFUSED[source])
    if source == "gemini":
        text = (repo / ".gemini/settings.json").read_text()
        assert text.startswith("// the team's settings") and '"theme": "dark"' in text and "sequential" not in text
    if source == "copilot":
        assert (repo / ".github/hooks/off.json").read_bytes() == originals[".github/hooks/off.json"]
    ways = [line.partition("to undo: ")[2] for line in done.stdout.splitlines() if "to undo: " in line]
    assert len(ways) == (3 if source == "copilot" else 1)
    for way in ways:
        subprocess.run(["sh", "-c", way], check=True)
    assert {name: (repo / name).read_bytes() for name in originals} == originals


@pytest.mark.parametrize("source", HERE)
def test_taking_over_and_installing_runs_each_hook_once(repos, source):
    repo = repos(source)
    imported(repo, "--from", source, "--take-over")
    installed = onehook(repo, "install", str(repo / "onehook.toml"), "--hosts", f"{source},claude", "--yes")
    assert installed.returncode == 0, installed.stderr
    again = onehook(repo, "import", "--from", source, "--output", "again.toml")
    assert again.returncode == 1 and "found no hook to import" in again.stderr


@pytest.mark.parametrize("source", ["gemini", "qwen"])
def test_taking_over_installing_and_uninstalling_gives_the_first_bytes_back(repos, source):
    repo = repos(source)
    ((name, original),) = FILES[source]().items()
    imported(repo, "--from", source, "--take-over")
    assert onehook(repo, "install", str(repo / "onehook.toml"), "--hosts", source, "--yes").returncode == 0
    assert "onehook/launch.py" in (repo / name).read_text()
    assert onehook(repo, "uninstall").returncode == 0
    assert (repo / name).read_text() == original


def test_a_start_hook_of_one_host_fires_on_anothers_word_for_the_start(repos):
    repo = repos("gemini")
    imported(repo, "--from", "gemini")
    for host, word in (("copilot", "new"), ("claude", "startup"), ("qwen", "startup")):
        assert started(repo, "context", host), host
        payload = load(host, "reverse").payload(sample("SessionStart", source="startup", session_id="s", cwd="/p"))
        assert payload["source"] == word
    resumed = load("copilot", "reverse").payload(sample("SessionStart", source="resume", session_id="s", cwd=str(repo)))
    (repo / "log" / "context").unlink()
    fire(repo / "onehook.toml", resumed, "--host", "copilot", cwd=repo)
    assert not (repo / "log" / "context").exists()


# ---- where the hooks stand ----


def test_every_file_of_a_scope_is_read(repos, tmp_path):
    repo = repos("copilot")
    entry = {"bash": f"./{script('copilot', 'stop')}"}
    for name in (".github/copilot/settings.local.json", "../.copilot/settings.json", "../.copilot/hooks/mine.json"):
        (repo / name).resolve().parent.mkdir(parents=True, exist_ok=True)
        (repo / name).resolve().write_text(json.dumps({"hooks": {"agentStop": [entry]}}))
    for scope, count in (("local", 1), ("user", 2)):
        done = imported(repo, "--from", "copilot", "--scope", scope, "--output", f"{scope}.toml")
        assert f"{count} imported, 0 not imported" in done.stdout
    assert f"# {tmp_path}/.copilot/hooks/mine.json hooks.agentStop[0]" in (repo / "user.toml").read_text()


def test_both_files_of_codex_are_read(repos):
    repo = repos("gemini")
    (repo / ".codex").mkdir()
    handler = {"type": "command", "command": "./one.sh"}
    (repo / ".codex" / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    (repo / ".codex" / "config.toml").write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "./two.sh"\n')
    done = imported(repo, "--from", "codex")
    assert "./one.sh" in done.stderr and "./two.sh" in done.stderr and "2 imported" in done.stdout


def test_hooks_that_copilot_takes_from_claudes_file_are_pointed_at(repos):
    repo = repos("copilot")
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [group("copilot", "stop")]}}))
    alone = onehook(repo, "import", "--from", "copilot", "--dry-run")
    assert f"Copilot CLI also runs the hooks in {repo}/.claude/settings.json; import them with --from claude" in alone.stderr
    assert "import them" not in onehook(repo, "import", "--from", "copilot,claude", "--dry-run").stderr


def test_what_the_host_drops_itself_is_said(repos):
    repo = repos("gemini")
    (repo / ".gemini/settings.json").write_text(json.dumps({"hooks": {"BeforeTool": ["./x.sh"], "AfterAgent": [group("gemini", "stop")]}}))
    done = imported(repo, "--from", "gemini")
    assert 'hooks.BeforeTool[0]: a group needs a list "hooks"; Gemini CLI drops the entry' in done.stderr


def test_the_help_names_every_host_that_can_be_imported_from_and_the_others_are_explained(repos):
    repo = repos("gemini")
    assert set(HERE) <= set(importable())
    (option,) = [param for param in import_command.params if param.name == "hosts"]
    assert f"names of {', '.join(importable())};" in option.help
    for host in (host for host in HOSTS if host not in importable()):
        refused = onehook(repo, "import", "--from", host)
        assert refused.returncode == 2 and f"nothing to import from {host}: " in refused.stderr


# ---- matchers, one by one ----

MATCHERS = {
    "gemini": [
        ("read_file", ["Read"]), ("write", ["Write", "write_todos"]), ("^write_file$", ["Write"]), ("search_file_content", ["Grep"]),
        ("^mcp_.*", ["MCP"]), ("mcp_.*", ["read_mcp_resource", "list_mcp_resources", "MCP"]), ("^foo.*", None),
        ("mcp", ["read_mcp_resource", "list_mcp_resources", "MCP"]), ("read_many_files", ["read_many_files"]),
        ("^mcp_github_create_issue$", ["mcp__github__create_issue", "mcp__github_create__issue"]), ("(replace|glob)", ["Edit", "Glob"]),
        (".+", []), ("save_memory", ["save_memory"]), ("no.*thing", None), ("a(b)", None), ("mcp_.*_x", None), ("[", None),
    ],
    "qwen": [
        ("Bash", ["Bash"]), ("run_shell_command", ["Bash"]), ("ShellTool", ["Bash"]), ("edit", ["Edit"]),
        ("notebook_edit", ["notebook_edit"]),
        ("Edit | WriteFile", ["Edit", "Write"]), ("Task", ["Agent"]), ("mcp__.*", ["MCP"]), ("^mcp__db__query$", ["mcp__db__query"]),
        ("mcp__db", ["mcp__db*"]), ("Read|*", []), ("TodoWrite", ["todo_write"]), ("web_", ["WebFetch", "WebSearch"]), ("(a)(b)", None),
    ],
    "copilot": [
        ("bash", ["Bash"]), ("bash|powershell", ["Bash"]), ("powershell", ["powershell"]), ("^(view|grep)$", ["Read", "Grep"]), (".*", []),
        ("edit|create|apply_patch", ["Edit", "Write"]), ("Bash", ["Bash"]), ("ask_user", ["ask_user"]), ("bash.*", ["Bash"]),
        ("db-query", ["mcp__db__query"]), ("a-b-c", ["mcp__a__b-c", "mcp__a-b__c"]), (".*-query", None), (".*-.*", ["MCP"]),
        ("x.*", None), ("", None),
    ],
}  # fmt: skip
ON = {"gemini": "BeforeTool", "qwen": "PreToolUse", "copilot": "preToolUse"}


def one(host, event, handler=None, **group):
    handler = {"type": "command", "command": "x", **(handler or {})}
    entry = {**handler, **group} if host == "copilot" else {**group, "hooks": [handler]}
    (hook,) = load(host, "imports").handlers({"hooks": {event: [entry]}})
    return hook


@pytest.mark.parametrize(("host", "matcher", "tools"), [(host, *case) for host, cases in MATCHERS.items() for case in cases])
def test_matchers_on_tools(host, matcher, tools):
    hook = one(host, ON[host], matcher=matcher)
    assert (None if hook.refused else hook.tools) == tools
    named = set(wire_of(host).TOOLS) | set(TOOLS)
    unknown = [tool for tool in hook.tools if tool not in named and not tool.startswith("mcp__")]
    assert all(any(f"the tool {tool} exists only in " in loss for loss in hook.losses) for tool in unknown)


@pytest.mark.parametrize(
    ("matcher", "tools"),
    [
        ("Bash", ["Bash"]), ("bash", ["Bash"]), ("Edit|Write", ["Edit", "Write"]), ("Edit", ["Edit"]), ("*", []), ("**", []),
        ("B.*", ["Bash"]),
        ("Task", ["Agent"]), ("TodoWrite", ["update_todo"]), ("github-x", ["mcp__github__x"]), ("Web.*", ["WebFetch", "WebSearch"]),
        ("(?!a)", None),
    ],
)  # fmt: skip
def test_copilots_pascal_case_matchers_know_claudes_names(matcher, tools):
    hook = one("copilot", "PreToolUse", matcher=matcher)
    assert (None if hook.refused else hook.tools) == tools


def test_copilots_permission_requests_name_servers_by_a_slash_and_files_as_edits():
    assert one("copilot", "permissionRequest", matcher="github/create").tools == ["mcp__github__create"]
    assert one("copilot", "permissionRequest", matcher="edit").tools == ["Edit", "Write"]


@pytest.mark.parametrize("event", ["sessionStart", "SessionStart", "agentStop", "userPromptSubmitted", "postToolUseFailure", "sessionEnd"])
def test_a_matcher_that_copilot_ignores_is_ignored(event):
    hook = one("copilot", event, matcher="nothing")
    assert (hook.refused, hook.tools, hook.sources) == ("", [], [])


@pytest.mark.parametrize(
    ("matcher", "sources"),
    [
        ("resume", ["resume"]),
        ("startup|clear", ["startup", "clear"]),
        ("c.*", ["clear", "compact", "branch"]),
        (".*", []),
        ("branch", ["fork"]),
    ],
)
def test_qwens_matchers_on_the_start_of_a_session(matcher, sources):
    expected = [{"branch": "fork"}.get(source, source) for source in sources]
    assert one("qwen", "SessionStart", matcher=matcher).sources == expected
    assert "never matches" in one("qwen", "SessionStart", matcher="begin").refused


@pytest.mark.parametrize(("host", "given", "timeout"), [
    ("gemini", 1500, 1.5), ("gemini", None, 60), ("qwen", 30, 30), ("qwen", 999, 999), ("qwen", 1000, 1), ("qwen", "45", 45),
    ("qwen", "x", 60),
    ("qwen", None, 60), ("copilot", 7, 7), ("copilot", None, 30),
])  # fmt: skip
def test_time_outs_in_each_hosts_unit(host, given, timeout):
    event = {"gemini": "AfterAgent", "qwen": "Stop", "copilot": "agentStop"}[host]
    assert one(host, event, {} if given is None else {"timeout": given}).timeout == timeout


@pytest.mark.parametrize("host", ["claude", *HERE])
def test_hooks_that_are_switched_off_are_not_brought_to_life(host):
    switch = {"hooksConfig": {"enabled": False}} if host == "gemini" else {"disableAllHooks": True}
    event = {"gemini": "AfterAgent", "copilot": "agentStop"}.get(host, "Stop")
    entry = {"type": "command", "command": "x"}
    data = {"hooks": {event: [entry if host == "copilot" else {"hooks": [entry]}]}}
    (on,) = load(host, "imports").handlers(data)
    (off,) = load(host, "imports").handlers({**data, **switch})
    assert not on.refused and "switched off" in off.refused


@pytest.mark.parametrize(("host", "handler", "why"), [
    ("gemini", {"command": "ls $GEMINI_PLANS_DIR"}, "GEMINI_PLANS_DIR"), ("copilot", {"command": '"$COPILOT_HOOK_DIR"/x'},
    "COPILOT_HOOK_DIR"),
    ("gemini", {"env": {"A": 1}}, "not a table of strings"), ("qwen", {"env": ["A=1"]}, "not a table of strings"),
    ("copilot", {"env": {"A B": "1"}}, "not a table"),
    ("copilot", {"command": "", "exec": "x", "args": "y"}, "args are not a list"), ("copilot", {"cwd": 3}, "cwd is not a string"),
    ("copilot", {"command": ""}, "it has no command"),
])  # fmt: skip
def test_what_would_not_work_elsewhere_is_refused(host, handler, why):
    event = {"gemini": "AfterAgent", "qwen": "Stop", "copilot": "agentStop"}[host]
    assert why in one(host, event, handler).refused


# ---- commands ----


@pytest.mark.parametrize(("command", "quoted"), [
    ("$GEMINI_PROJECT_DIR/a b", '"$GEMINI_PROJECT_DIR"/a b'), ('"$GEMINI_PROJECT_DIR/a"', '"$GEMINI_PROJECT_DIR/a"'),
    ("sh -c 'cd $GEMINI_CWD'", """sh -c 'cd '"$GEMINI_CWD"''"""), ("echo \\'$GEMINI_CWD", "echo \\'\"$GEMINI_CWD\""),
    ("echo $HOME", "echo $HOME"),
    ("echo 'a\\' $CLAUDE_PROJECT_DIR", "echo 'a\\' \"$CLAUDE_PROJECT_DIR\""), ("echo ${GEMINI_CWD}", "echo ${GEMINI_CWD}"),
])  # fmt: skip
def test_the_variables_that_gemini_puts_into_the_text_are_quoted_for_a_shell(command, quoted):
    assert quoted_variables(command) == quoted


@pytest.mark.parametrize(
    "command", ["[[ -f x ]]", "cat <<< x", "diff <(a) b", "source x", "a; source x", "set -o pipefail", "a &> b", "echo ${a//b/c}"]
)
def test_what_only_bash_understands_is_given_to_bash(command):
    assert for_bash(command) == ["bash", "-c", command]


@pytest.mark.parametrize("command", ["[ -f x ]", "cat < x", "a 2>&1", "cat source", "x/source/y.sh", 'echo "$a"', "a && b"])
def test_what_every_shell_understands_stays_as_it_is(command):
    assert for_bash(command) == command


@pytest.mark.parametrize(("command", "moves"), [
    ("./x.sh", True), ("node scripts/x.js", True), ("python3 ../x.py", True), ("/usr/bin/x a", False), ('"$P"/x.sh', False),
    ("jq .", False),
    ("~/bin/x", False), ("$HOME/x", False), ("cat >log/x", True),
])  # fmt: skip
def test_a_command_with_a_path_of_the_project_starts_there(command, moves):
    assert in_project(command, "P") == (f'cd "$P" || exit 1; {command}' if moves else command)


def test_joined_names_are_split_in_every_way():
    assert joined_mcp("a_b_c", "_") == ["mcp__a__b_c", "mcp__a_b__c"]
    assert joined_mcp("a", "_") is None
    assert joined_mcp("a_*b", "_") is None


@pytest.mark.parametrize(("handler", "run"), [
    ({"exec": "tee", "args": ["a b"]}, ["tee", "a b"]),
    ({"exec": "tee", "args": ["a b"], "env": {"A": "$b"}}, ["env", "A=$b", "tee", "a b"]),
    ({"exec": "node", "args": ["lib/x.js"]}, 'cd "$COPILOT_PROJECT_DIR" || exit 1; node lib/x.js'),
    ({"exec": "tee", "args": ["a b"], "cwd": "/tmp/x y"}, "cd '/tmp/x y' || exit 1; tee 'a b'"),
    ({"command": "[[ x ]]", "env": {"A": "1"}}, ["env", "A=1", "bash", "-c", "[[ x ]]"]), ({"command": "jq .", "cwd": ""}, "jq ."),
    ({"command": "jq .", "env": {"A": "$b"}}, "export A='$b'; jq ."),
])  # fmt: skip
def test_copilots_ways_to_name_a_command(handler, run):
    assert one("copilot", "agentStop", {"command": "", **handler}).run == run


def test_a_start_that_is_no_regular_expression_is_refused():
    assert "has no equivalent in a manifest" in one("qwen", "SessionStart", matcher="(").refused


def test_an_event_of_the_dialects_own_is_not_another_dialects(tmp_path):
    for speaks, works in (("copilot", True), ("claude", False)):
        (tmp_path / "onehook.toml").write_text(f'[[hook]]\nevents = ["copilot:PreToolUse"]\nrun = ["x"]\nspeaks = "{speaks}"\n')
        if works:
            (registration,) = load_policy(str(tmp_path / "onehook.toml")).registrations
            assert (registration.event, registration.handler.native_event) == ("PreToolUse", "PreToolUse")
        else:
            with pytest.raises(UsageError, match="unknown event 'copilot:PreToolUse'"):
                load_policy(str(tmp_path / "onehook.toml"))
