"""self_protect: every way to switch a policy off is either stopped or listed as a limit, and nothing else is stopped."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from harness import PACKAGE

from onehook.core import Change, Event, Facts, Mcp, PowerShell
from onehook.policies import self_protect
from tests.rows import check_each

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

ROOT = PACKAGE.parents[1]
DATA = ROOT / "tests" / "data"
TABLE = tomllib.loads((DATA / "switching_off.toml").read_text(encoding="utf-8"))
ORDINARY = [line for line in (DATA / "ordinary_with_policy.txt").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
PLACES = {
    "package": str(PACKAGE),
    "python": sys.executable,
    "bin": os.path.dirname(sys.executable),
    "prefix": sys.prefix,
    "packages": next(path for path in sys.path if path.endswith("site-packages")),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A project with a policy and the config of every agent, a home, and files that an agent may have left there earlier."""
    base = tmp_path_factory.mktemp("world")
    home, project = base / "home", base / "project"
    for folder, files in ((project, TABLE["project"]), (home, TABLE["home"])):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    (project / "evil.sh").chmod(0o755)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com"]
    run = lambda *words: subprocess.run([*git, *words], cwd=project, check=True, capture_output=True)  # noqa: E731
    run("init", "-q", "-b", "main")
    run("add", "README.md", "src")
    run("commit", "-qm", "first")
    run("add", ".hooks", ".claude", ".codex")
    run("commit", "-qm", "second")
    (project / ".hooks" / "changed.py").write_text("a = 2\n", encoding="utf-8")
    (project / "link-to-hooks").symlink_to(".hooks")
    (project / "link-to-policy").symlink_to(".hooks/policy.py")
    os.link(project / ".hooks" / "policy.py", project / "second-name")
    return home, project


@pytest.fixture
def decide(world, monkeypatch):
    home, project = world
    for name in list(os.environ):
        if name.startswith(("XDG_", "ONEHOOK_", "CLAUDE_", "CODEX_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    hooks = self_protect(policy=[str(project / ".hooks" / "policy.py")])

    def decide(tool, facts, tool_input=None, native=""):
        event = Event("PreToolUse", "claude")
        event.cwd = str(project)
        event.take_tool((tool,), native or tool, tool_input or {}, lambda _: facts)
        return hooks.dispatch(event)

    return decide


def filled(text, project):
    return re.sub(r"\{(project|package|python|bin|prefix|packages)\}", lambda match: {**PLACES, "project": str(project)}[match[1]], text)


def ways(kind, table="attack"):
    return [(entry.get("about") or entry["name"], item) for entry in TABLE[table] for item in entry.get(kind, [])]


def absolute(path, world):
    home, project = world
    return os.path.join(project, filled(path, project).replace("~", str(home)))


@pytest.mark.parametrize("kind", ["write", "edit", "delete", "move"])
def test_a_write_is_stopped(kind, decide, world):
    def check(about, path):
        whole = absolute(path, world)
        changes = [Change("/elsewhere", "move", to=whole)] if kind == "move" else [Change(whole, kind, new="")]
        answer = decide("Write", Facts(paths=[whole], changes=changes))
        assert answer.decision == "deny", about
        assert "Ask the user" in answer.reason

    check_each(check, ways("writes"))


@pytest.mark.parametrize("tool", ["write_file", "edit_block", "move"])
def test_a_write_by_an_mcp_server_is_stopped(tool, decide, world):
    def check(about, path):
        given = {"options": [{"path": absolute(path, world)}], "content": "x\ny"}
        assert decide("MCP", Facts(mcp=Mcp("files", tool)), given, f"mcp__files__{tool}").decision == "deny"

    check_each(check, ways("writes"))


def test_reading_is_not_stopped(decide, world):
    def check(about, path):
        whole = absolute(path, world)
        assert decide("Read", Facts(paths=[whole])).decision is None
        assert decide("MCP", Facts(mcp=Mcp("files", "read_file")), {"path": whole}, "mcp__files__read_file").decision is None

    check_each(check, ways("writes"))


@pytest.mark.parametrize("about", {about: None for about, _ in ways("commands")})
def test_a_command_is_stopped(about, decide, world):
    def check(command):
        answer = decide("Bash", Facts(command=filled(command, world[1])), {"command": command})
        assert answer.decision == "deny", about
        assert "Ask the user" in answer.reason

    check_each(check, [command for way, command in ways("commands") if way == about])


@pytest.mark.parametrize(("name", "command"), ways("commands", "limit"))
def test_a_limit_is_still_one_and_is_documented(name, command, decide, world):
    assert decide("Bash", Facts(command=filled(command, world[1])), {"command": command}).decision is None, "take it out of the limits"
    page = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
    assert name in " ".join(page.split())


def test_the_table_is_long_enough():
    assert len(ways("writes")) + len(ways("commands")) >= 120
    assert len(ORDINARY) >= 200


def test_ordinary_work_is_not_stopped(decide, world):
    def check(line):
        kind, _, rest = line.partition(": ")
        if kind in ("write", "edit", "delete"):
            whole = absolute(rest, world)
            answer = decide("Write", Facts(paths=[whole], changes=[Change(whole, kind, new="x = 1\n")]))
        else:
            answer = decide("Bash", Facts(command=filled(line, world[1]).replace("\\n", "\n")), {"command": line})
        assert answer.decision is None, answer.reason

    check_each(check, ORDINARY)


def test_a_command_of_an_mcp_server_is_stopped(decide):
    facts = Facts(mcp=Mcp("desktop", "execute_command"))
    assert decide("MCP", facts, {"command": "rm -f .hooks/policy.py"}, "mcp__desktop__execute_command").decision == "deny"
    assert decide("MCP", facts, {"command": "cat .hooks/policy.py"}, "mcp__desktop__execute_command").decision is None


@pytest.mark.parametrize(
    "command", ["Remove-Item -Recurse .hooks", "Set-Content .hooks/policy.py x", "'x' > .hooks\\policy.py", "cd .hooks; del policy.py"]
)
def test_powershell_is_stopped(command, decide):
    assert decide("Bash", Facts(command=PowerShell(command))).decision == "deny"


def test_powershell_that_reads_is_not(decide):
    assert decide("Bash", Facts(command=PowerShell("Get-Content .hooks/policy.py"))).decision is None


def test_what_is_allowed_is_let_pass(world):
    project = world[1]
    hooks = self_protect(policy=[str(project / ".hooks" / "policy.py")], allow=["*/.hooks/notes.md"])
    event = Event("PreToolUse", "claude")
    event.cwd = str(project)
    for name, decision in ((".hooks/notes.md", None), (".hooks/policy.py", "deny")):
        facts = Facts(changes=[Change(str(project / name), "write", new="")])
        event.take_tool(("Write",), "Write", {}, lambda _, facts=facts: facts)
        assert hooks.dispatch(event).decision == decision


def test_a_change_of_config_that_removes_the_hooks_is_vetoed(world, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    policy, settings = project / "guard.py", project / ".claude" / "settings.json"
    policy.write_text("", encoding="utf-8")
    hooks = self_protect(policy=[str(policy)])

    def decided(text):
        settings.write_text(text, encoding="utf-8")
        event = Event("ConfigChange", "claude", {"source": "project_settings", "file_path": str(settings)})
        event.cwd = str(project)
        return hooks.dispatch(event).decision

    assert decided('{"hooks": {"PreToolUse": ["python onehook/launch.py guard.py"]}, "model": "x"}') is None
    assert decided('{"hooks": {"PreToolUse": ["python onehook/launch.py guard.py"]}, "disableAllHooks" : true}') == "deny"
    assert decided('{"hooks": {}}') == "deny"
