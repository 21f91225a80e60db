"""`onehook import` brings the agents' own permission lists into [permissions]: each list as the agent's documentation or code writes it."""

# ruff: noqa: E501  (a table is easier to read with long lines)
from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from onehook.cli import main
from onehook.hosts import HOSTS, having
from tests.host_folders import facts

USER, PROJECT = "user", "project"
# host, scope, file, content (those of other hosts are in their facts.py): each entry as (level, entry), or (level, text, why it is refused)
CASES = [
    pytest.param(
        "claude", PROJECT, ".claude/settings.json",
        {"permissions": {
            "deny": ["Read(./.env)", "Bash(curl:*)", "mcp__github__delete_repo", "Skill(deploy)"],
            "ask": ["Bash(git push:*)"],
            "allow": ["Bash(npm run test:*)", "Task(Explore)", "WebFetch(domain:example.com)", "Edit(/src/**)"],
            "defaultMode": "acceptEdits",
        }},
        [("deny", "Read(./.env)"), ("deny", "Bash(curl:*)"), ("deny", "mcp__github__delete_repo"), ("ask", "Bash(git push:*)"),
         ("allow", "Bash(npm run test:*)"), ("allow", "Agent(Explore)"), ("allow", "WebFetch(domain:example.com)"), ("allow", "Edit(/src/**)")],
        ["Skill(deploy): it is about a tool that other agents do not have"],
        id="claude",
    ),
    pytest.param(
        "claude", USER, ".claude/settings.json", {"permissions": {"deny": ["Read(/notes/**)", "Read(~/.ssh/**)"]}},
        [("deny", "Read(~/.ssh/**)")], ["its path starts from the folder of the settings"], id="claude-user",
    ),
    pytest.param(
        "qwen", PROJECT, ".qwen/settings.json",
        {"permissions": {"deny": ["Read(secrets/**)", "run_shell_command(rm *)", "WebFetch(api.example.com)"], "allow": ["ShellTool(git *)", "ReadFile(//etc/hosts)"]},
         "tools": {"exclude": ["write_file"], "core": ["read_file"]}},
        [("deny", "Read(./secrets/**)"), ("deny", "Bash(rm *)"), ("deny", "WebFetch(domain:*api.example.com)"), ("deny", "Write"),
         ("allow", "Bash(git *)"), ("allow", "Read(//etc/hosts)")],
        ["tools.core switches every other tool off"],
        id="qwen",
    ),
    pytest.param(
        "cursor", PROJECT, ".cursor/cli.json",
        {"permissions": {"allow": ["Shell(ls)", "Shell(npm:run *)", "Read(src/**/*.ts)", "Write(package.json)", "Mcp(datadog:*)", "Mcp(linear)", "Bash(git status)"],
                         "deny": ["Shell(rm)", "Read(.env*)", "Write(/etc/**)", "WebFetch(*.internal)"]}},
        [("deny", "Bash(rm:*)"), ("deny", "Read(./.env*)"), ("deny", "Edit(//etc/**)"), ("deny", "WebFetch(domain:*.internal)"),
         ("allow", "Bash(ls:*)"), ("allow", "Bash(npm run *)"), ("allow", "Read(./src/**/*.ts)"), ("allow", "Edit(./package.json)"), ("allow", "mcp__datadog"),
         ("allow", "Bash(git status:*)")],
        ["Cursor ignores it"],
        id="cursor-cli",
    ),
    pytest.param(
        "cursor", USER, ".cursor/permissions.json",
        {"terminalAllowlist": ["git status"], "mcpAllowlist": ["linear:list_issues", "*:*"], "autoRun": {"allow_instructions": ["be kind"]}},
        [("allow", "Bash(git status:*)"), ("allow", "mcp__linear__list_issues")],
        ["it is about every MCP server", "guidance in words"],
        id="cursor-editor",
    ),
    pytest.param(
        "opencode", PROJECT, "opencode.json",
        {"permission": {
            "bash": {"*": "ask", "git *": "allow", "git push *": "deny", "rm -rf *": "deny"},
            "edit": {"*": "allow", "docs/*": "deny", "*.lock": "deny"}, "read": {"*.env": "deny"}, "webfetch": "ask",
            "github_delete_*": "deny", "doom_loop": "ask",
        }},
        [("deny", "Bash(git push *)"), ("deny", "Bash(rm -rf *)"), ("deny", "Edit(./docs/**)"), ("deny", "Edit(*.lock)"), ("deny", "Read(*.env)"),
         ("deny", "mcp__github__delete_*"), ("ask", "WebFetch"), ("allow", "Bash(git *)"), ("allow", "Edit")],
        ["opencode ask bash: 'bash git *' is an exception to it; here, ask wins over allow", "doom_loop: it is about a tool"],
        id="opencode",
    ),
    pytest.param(
        "opencode", USER, ".config/opencode/opencode.jsonc", '{"permission": {"bash": {"rm *": "deny", "*": "allow"}} /* last wins */ }',
        [("allow", "Bash")], ["bash rm *: it has no effect, since 'bash' comes after it"], id="opencode-order",
    ),
    pytest.param("kilo", PROJECT, ".kilo/kilo.json", {"permission": {"bash": {"terraform *": "deny"}}}, [("deny", "Bash(terraform *)")], [], id="kilo"),
    pytest.param("kilo", PROJECT, "opencode.json", {"permission": {"bash": {"terraform *": "deny"}}}, [("deny", "Bash(terraform *)")], [], id="kilo-opencode"),
    pytest.param("kilo", PROJECT, ".kilocode/kilo.jsonc", {"permission": {"bash": {"terraform *": "deny"}}}, [("deny", "Bash(terraform *)")], [], id="kilo-folder"),
    pytest.param(
        "gemini", PROJECT, ".gemini/settings.json",
        {"tools": {"allowed": ["run_shell_command(git status)", "read_file"], "exclude": ["web_fetch"], "confirmationRequired": ["replace"]}},
        [("deny", "WebFetch"), ("ask", "Edit"), ("allow", "Bash(git status:*)"), ("allow", "Read")], [], id="gemini-settings",
    ),
    pytest.param(
        "gemini", USER, ".gemini/policies/mine.toml",
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = ["rm -rf", "git "]\ndecision = "ask_user"\npriority = 100\n'
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "git status"\ndecision = "allow"\npriority = 200\n'
        '[[rule]]\ntoolName = "grep_search"\nargsPattern = "(env|id_rsa)"\ndecision = "deny"\npriority = 200\n'
        '[[rule]]\nmcpName = "github"\ntoolName = "*"\ndecision = "deny"\npriority = 10\n',
        [("deny", "mcp__github"), ("ask", "Bash(rm -rf:*)"), ("allow", "Bash(git status:*)")],
        ["'run_shell_command git status' is an exception to it", "it has the condition argsPattern"],
        id="gemini-policies",
    ),
    pytest.param(
        "codex", PROJECT, ".codex/rules/default.rules",
        '# rules\nprefix_rule(\n    pattern = ["git", ["push", "reset"], "--hard"],\n    decision = "forbidden",\n    justification = "no",\n'
        '    match = ["git reset --hard"],\n)\nprefix_rule(pattern = ["gh", "pr", "view"], decision = "prompt")\nprefix_rule(pattern = ["ls"])\n'
        'prefix_rule(pattern = ["sh", "-c", "a b"])\nnetwork_rule(host = "x.org", protocol = "https", decision = "deny")\n'
        'host_executable(name = "git", paths = ["/usr/bin/git"])\n',
        [("deny", "Bash(git push --hard:*)"), ("deny", "Bash(git reset --hard:*)"), ("ask", "Bash(gh pr view:*)"), ("allow", "Bash(ls:*)")],
        ["a word of it has a blank", "network of the sandbox"],
        id="codex",
    ),
    pytest.param(
        "copilot", USER, ".copilot/settings.json", {"deniedUrls": ["https://evil.example", "https://x.org/path", "*.bad.example"], "allowedUrls": ["docs.example.com"]},
        [("deny", "WebFetch(domain:evil.example)"), ("deny", "WebFetch(domain:*.bad.example)"), ("deny", "WebFetch(domain:bad.example)"), ("allow", "WebFetch(domain:docs.example.com)")], ["a part of a site"], id="copilot-user",
    ),
    pytest.param(
        "copilot", PROJECT, "~/.copilot/permissions-config.json",
        {"locations": {"PROJECT": {"tool_approvals": [
            {"kind": "commands", "commandIdentifiers": ["git commit", "npm:*"]}, {"kind": "write"}, {"kind": "memory"},
            {"kind": "mcp", "serverName": "github", "toolName": "get_issue"}]}, "/other": {"tool_approvals": [{"kind": "read"}]}}},
        [("allow", "Bash(git commit:*)"), ("allow", "Bash(npm:*)"), ("allow", "Edit"), ("allow", "mcp__github__get_issue")],
        ["memory: it is about a tool"],
        id="copilot-approvals",
    ),
    pytest.param(
        "droid", PROJECT, ".factory/settings.json",
        {"commandAllowlist": ["npm test"], "commandDenylist": ["git push"], "commandBlocklist": ["rm -rf /", "mkfs.*"],
         "permissionRules": {"version": 1, "rules": [{"id": "no-prod"}]}},
        [("deny", "Bash(rm -rf /:*)"), ("deny", "Bash(mkfs.*)"), ("ask", "Bash(git push:*)"), ("allow", "Bash(npm test)")],
        ["no-prod: permissionRules have a language of their own"],
        id="droid",
    ),
]  # fmt: skip


CASES += [pytest.param(host, *case, id=f"{host}-{case[0]}") for host in HOSTS for case in facts(host).PERMISSIONS]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "QWEN_HOME",
        "COPILOT_HOME",
        "XDG_CONFIG_HOME",
        "FACTORY_HOME_OVERRIDE",
        "GEMINI_CLI_HOME",
        "KIMI_CODE_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "project"
    for made in (folder, tmp_path / "home"):
        made.mkdir()
    monkeypatch.chdir(folder)
    return folder


def onehook(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    return result.output


def place(project: Path, scope: str, name: str, content: object) -> None:
    home = project.parent / "home"
    file = home / name.removeprefix("~/") if scope == USER or name.startswith("~/") else project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text.replace("PROJECT", str(project)), encoding="utf-8")


@pytest.mark.parametrize("host, scope, file, content, kept, refused", CASES)
def test_the_lists_of_an_agent(
    project: Path, host: str, scope: str, file: str, content: object, kept: list[tuple[str, str]], refused: list[str]
) -> None:
    place(project, scope, file, content)
    output = onehook("import", "--from", host, "--scope", scope)
    from onehook.packs import read_toml

    made = (project / "onehook.toml").read_bytes()
    held = read_toml("onehook.toml", made)["permissions"]
    assert [(level, entry) for level in ("deny", "ask", "allow") for entry in held.get(level, [])] == sorted(
        kept, key=lambda pair: ("deny", "ask", "allow").index(pair[0])
    )
    for why in refused:
        assert why in output and why in made.decode().partition("# Not carried over:")[2], why
    assert output.count("NOT imported") == len(refused)
    onehook("test")  # the file is a valid rules file
    told = json.loads(onehook("import", "--from", host, "--scope", scope, "--output", "other.toml", "--dry-run", "--json"))
    assert [(one["level"], one["entry"]) for one in told["permissions"] if "entry" in one] and told["would_write"]


def test_every_agent_with_lists_of_its_own_has_a_case() -> None:
    assert {case.values[0] for case in CASES} == set(having("permissions"))


def test_what_one_agent_holds_is_held_by_all_and_the_originals_stay(project: Path) -> None:
    text = {"permissions": {"deny": ["Shell(terraform)"]}}
    place(project, PROJECT, ".cursor/cli.json", text)
    place(project, PROJECT, ".claude/settings.json", {
        "permissions": {"deny": ["Bash(terraform:*)"]},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./done"}]}]},
    })  # fmt: skip
    output = onehook("import", "--from", "cursor", "--from", "claude", "--take-over")
    made = (project / "onehook.toml").read_text()
    assert made.count("Bash(terraform:*)") == 2 and "cursor: Shell(terraform)" in made and "[[hook]]" in made
    assert "3 imported, 0 not imported" in output
    assert json.loads((project / ".cursor" / "cli.json").read_text()) == text
    assert json.loads((project / ".claude" / "settings.json").read_text())["permissions"] == {"deny": ["Bash(terraform:*)"]}
    assert json.loads(onehook("explain", "sudo terraform apply", "--json"))["decision"] == "deny"
    onehook("install", "onehook.toml", "--hosts", "all", "--yes")


def test_nothing_but_refused_entries_writes_nothing(project: Path) -> None:
    place(project, PROJECT, ".claude/settings.json", {"permissions": {"deny": ["Skill(x)"]}})
    assert "no permission to import" in onehook("import", "--from", "claude", code=1)
    assert not (project / "onehook.toml").exists()
