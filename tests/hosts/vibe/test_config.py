"""What prevents Vibe from running hooks, as reported by doctor's checks, and what an import takes from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onehook.hostkit.config import Found, Machine, Place, matches
from onehook.hosts.vibe import config, imports, permissions, trust
from onehook.setup.trust import untrusted


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "project").mkdir()
    return Machine(tmp_path / "home", tmp_path / "project", {}, "linux", tmp_path / "system")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def place(machine: Machine, scope: str) -> Place:
    return next(place for place in config.places(machine) if place.scope == scope)


def ours(name: str = "onehook pre_tool /p/policy.py", command: str = "onehook") -> list[Found]:
    return [Found("pre_tool", ("hooks", 0), command, {"name": name, "command": command})]


def test_a_users_entry_that_the_projects_file_hides_is_a_failure(machine: Machine) -> None:
    where = place(machine, "user")
    assert config.diagnose(machine, where, {}, ours()) == []
    put(place(machine, "project").path, '[[hooks]]\nname = "onehook pre_tool /p/policy.py"\ntype = "pre_tool"\ncommand = "true"\n')
    (said,) = config.diagnose(machine, where, {}, ours())
    assert said.level == "fail" and "Vibe runs those instead" in said.what
    assert config.diagnose(machine, where, {}, ours(command="true")) == []  # the same command under the same name
    assert config.diagnose(machine, where, {}, ours(name="another")) == []


def test_the_projects_file_is_read_in_one_folder_only(machine: Machine) -> None:
    (said,) = config.diagnose(machine, place(machine, "project"), {}, ours())
    assert said.level == "note" and "started in" in said.what


@pytest.mark.parametrize(
    ("lists", "trusted"),
    [
        ("", False),
        ("trusted = [{project!r}]\n", True),
        ("trusted = [{parent!r}]\n", True),
        ("trusted = [{parent!r}]\nuntrusted = [{project!r}]\n", False),
        ("trusted = [{project!r}]\nuntrusted = [{project!r}]\n", True),
        ("trusted = 3\nuntrusted = 4\n", False),
    ],
)
def test_the_nearest_decision_about_a_folder_counts(machine: Machine, lists: str, trusted: bool) -> None:
    project = machine.project.resolve()
    put(trust.store(machine).path, lists.format(project=str(project), parent=str(project.parent)))
    said = [one.level for one in untrusted("vibe", machine, place(machine, "project"), ours(), "install")]
    assert said == ([] if trusted else ["fail"])
    assert list(untrusted("vibe", machine, place(machine, "user"), ours(), "install")) == []


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("x", "must be a table"),
        ({"type": "pre_tool", "command": "x"}, 'needs a string "name"'),
        ({"name": "a", "type": "pre_tool", "command": " "}, 'needs a string "command"'),
        ({"name": "a", "type": "before_tool", "command": "x"}, '"type" must be one of'),
        ({"name": "a", "type": "pre_tool", "command": "x", "timeout": "5"}, '"timeout" must be a number'),
        ({"name": "a", "type": "pre_tool", "command": "x", "strict": "yes"}, '"strict" must be true or false'),
        ({"name": "a", "type": "pre_tool", "command": "x", "match": " "}, '"match" must be a string'),
        ({"name": "a", "type": "pre_tool", "command": "x", "match": "re:("}, "never runs"),
        ({"name": "a", "type": "post_agent", "command": "x", "match": "*"}, '"match" is for tools only'),
    ],
)
def test_what_vibe_does_not_take_is_a_problem(entry: Any, text: str) -> None:
    assert any(text in problem for problem in config.problems({"hooks": [entry]}))


@pytest.mark.parametrize(
    "data", [{}, {"hooks": []}, {"hooks": [{"name": "a", "type": "pre_tool", "command": "x", "match": "re:a|b"}], "x": 1}]
)
def test_what_vibe_takes_is_none(data: Any) -> None:
    assert config.problems(data) == []


@pytest.mark.parametrize(
    ("match", "tool", "fits"),
    [
        ("bash", "file_system.bash", True),
        ("BASH", "file_system.bash", True),
        ("read_*", "file_system.read_file", True),
        ("read_*", "file_system.bash", False),
        ("*", "agents.spawn", True),
        ("re:(bash|read_file)", "file_system.bash", True),
        ("re:ba", "file_system.bash", False),
        ("mcp_notes.*", "mcp_notes.note", True),
    ],
)
def test_a_match_is_held_against_a_name_as_vibe_does(match: str, tool: str, fits: bool) -> None:
    (entry,) = config.found({"hooks": [{"name": "a", "type": "pre_tool", "command": "x", "match": match}]})
    assert matches(config.TRAITS, entry.matcher, [tool]) is fits


def borrowed(**entry: Any) -> Any:
    (hook,) = imports.handlers({"hooks": [{"name": "a", "type": "pre_tool", "command": "./mine.sh", **entry}]})
    return hook


@pytest.mark.parametrize(
    ("match", "tools"),
    [
        (None, []),
        ("*", []),
        ("bash", ["Bash"]),
        ("edit", ["Edit"]),
        ("re:(write_file|edit)", ["Write", "Edit"]),
        ("mcp_notes.note", ["mcp__notes__note"]),
        ("mcp_*", ["MCP"]),
        ("todo", ["vibe.todo"]),
    ],
)
def test_a_match_as_unified_tools(match: str | None, tools: list[str]) -> None:
    hook = borrowed() if match is None else borrowed(match=match)
    assert (hook.refused, hook.tools) == ("", tools)


def test_a_match_that_fits_nothing_is_refused() -> None:
    assert "its matcher 'Nothing' never matches" in borrowed(match="Nothing").refused
    assert "cannot be written as a list" in borrowed(match="re:(").refused
    assert "Mistral Vibe has no event 'before_tool'" in borrowed(type="before_tool").refused


def test_what_a_hook_says_of_itself_is_carried_over() -> None:
    hook = borrowed(timeout=5, strict=True, description="d")
    assert (hook.timeout, hook.closed, hook.losses, hook.name) == (5.0, True, [], "a")
    assert hook.run == 'cd "$ONEHOOK_PROJECT_DIR" || exit 1; ./mine.sh'
    assert borrowed(type="post_agent", match="x").refused == ""


LISTS = """disabled_tools = ["web_fetch", "todo"]
enabled_tools = ["bash"]

[tools.bash]
permission = "ask"
allowlist = ["npm test", "a*"]
denylist = ["git push"]
denylist_standalone = ["python"]

[tools.read_file]
denylist = ["*.env", "/etc/*", "/a/b", "src/*", "*"]
"""


def test_the_permission_lists_as_entries(machine: Machine) -> None:
    put(machine.home / ".vibe" / "config.toml", LISTS)
    found = list(permissions.listed(machine, "user"))
    assert [(one.level, one.entry) for one in found if one.entry] == [
        ("deny", "WebFetch"), ("ask", "Bash"), ("deny", "Bash(git push:*)"), ("allow", "Bash(npm test:*)"), ("deny", "Bash(python)"),
        ("deny", "Read(**/*.env)"), ("deny", "Read(/etc/**)"), ("deny", "Read(/a/b)"),
    ]  # fmt: skip
    assert [one.shown for one in found if one.refused] == ["todo", "bash", "bash: a*", "read_file: src/*", "read_file: *"]
    assert list(permissions.listed(machine, "project")) == list(permissions.listed(machine, "local")) == []
