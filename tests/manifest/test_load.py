"""What a manifest contains, and what its programs see and may answer."""

from __future__ import annotations

import json
import os
import sys

import pytest
from harness import fire, launcher, process, reason_of, stop_payload, tool_payload

from onehook.core import Event, Hooks, Options, UsageError
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS
from onehook.manifest.commands import matches
from onehook.manifest.load import path_matches
from onehook.policy import load_policy
from onehook.testing import simulate
from tests.host_folders import facts
from tests.manifest.kit import guard, manifest_of, payloads, sh
from tests.test_hot_path import BANNED, imported

WRONG = {
    "no hook": ('fail = "open"\n', "has no [[hook]]"),
    "a table": ("[hook]\nx = 1\n", "hook must be a list of tables"),
    "unknown option": ('fial = "open"\n[[hook]]\n' + sh("x"), "unknown option 'fial'"),
    "an option that only the command line has": ('isolation = "thread"\n[[hook]]\n' + sh("x"), "isolation"),
    "unknown key": ("[[hook]]\n" + sh("x", more="evnets = 1"), "hook 1: unknown key 'evnets'"),
    "no events": ('[[hook]]\nrun = ["x"]\nspeaks = "claude"', "events is missing"),
    "events as text": ('[[hook]]\nevents = "Stop"\nrun = ["x"]\nspeaks = "claude"', "events must be a list"),
    "unknown event": ("[[hook]]\n" + sh("x", events='["PreTool"]'), "unknown event 'PreTool'"),
    "another dialect's event": ("[[hook]]\n" + sh("x", "claude", events='["beforeReadFile"]'), "unknown event 'beforeReadFile'"),
    "tools on an event about one": ("[[hook]]\n" + guard("cursor", 'tools = ["Bash"]'), "applies only to Bash"),
    "a shell string without shell": ('[[hook]]\nevents = ["Stop"]\nrun = "a b"\nspeaks = "claude"', "run must be a list"),
    "a list with shell": ('[[hook]]\nevents = ["Stop"]\nrun = ["a"]\nshell = true\nspeaks = "claude"', "run must be a string"),
    "no run": ('[[hook]]\nevents = ["Stop"]\nspeaks = "claude"', "run must be a list"),
    "an empty program": ('[[hook]]\nevents = ["Stop"]\nrun = [""]\nspeaks = "claude"', "run must be a list"),
    "no dialect": ('[[hook]]\nevents = ["Stop"]\nrun = ["a"]', "speaks must be one of claude, cursor, codex"),
    "timeout 0": ("[[hook]]\n" + sh("x", more="timeout = 0"), "timeout must be"),
    "fail shut": ("[[hook]]\n" + sh("x", more='fail = "shut"'), 'fail must be "open" or "closed"'),
    "unknown host": ("[[hook]]\n" + sh("x", more='hosts = ["vim"]'), "unknown agent 'vim'"),
    "named in the error": (
        "[[hook]]\n" + sh("x", more='name = "lint"\nshell = 1').replace("shell = true\n", ""),
        "hook 1 (lint): shell must be true, false or the name of a shell",
    ),
    "no TOML": ("[[hook]\n", "is not TOML"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_reported_with_the_file(tmp_path, text, message):
    path = tmp_path / "onehook.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load_policy(str(path))
    assert message in str(error.value)


def test_rare_toml_works_too(tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text('hook = [{events = ["Stop"], speaks = "onehook", shell = true, run = """\necho x""", timeout = 1_0}]\n')
    (registration,) = load_policy(str(path)).registrations
    assert (registration.event, registration.handler.timeout) == ("Stop", 10)


def test_a_manifest_with_a_byte_order_mark_or_not_in_utf_8(tmp_path):
    path = manifest_of(tmp_path, guard("contract"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_policy(str(path)).registrations
    path.write_bytes(b"# \xff\n" + path.read_bytes())
    with pytest.raises(UsageError, match="not UTF-8"):
        load_policy(str(path))


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (sh("x", "codex", events='["Notification"]'), "speaks codex, which has no Notification"),
        (sh("x", "contract", events='["SubagentStop"]'), "which has no SubagentStop"),
    ],
)
def test_an_event_that_the_dialect_lacks_is_found_at_install(tmp_path, hook, message):
    hooks = load_policy(str(manifest_of(tmp_path, hook)))
    with pytest.raises(UsageError, match=message):
        hooks.check()


def test_the_whole_event_has_time_for_its_programs(tmp_path):
    def seconds(*times, top=""):
        hooks = load_policy(str(manifest_of(tmp_path, *[sh("x", more=f"timeout = {time}") for time in times], top=top)))
        return Options(hooks.options).timeout

    assert seconds(5) == 20
    assert seconds(60, 5) == 65
    assert seconds(*[60] * 9) == 125
    assert seconds(60, top="timeout = 7\n") == 7


def test_a_policy_that_uses_a_manifest_fails_closed_with_it_and_keeps_its_own_timeout(tmp_path):
    manifest = load_policy(str(manifest_of(tmp_path, sh("x", more='fail = "closed"'))))
    options = Options(Hooks(timeout=50).use(manifest).options)
    assert (options.fail, options.timeout) == ("closed", 50)


def test_a_manifest_takes_no_handlers(tmp_path):
    hooks = load_policy(str(manifest_of(tmp_path, sh("x"))))
    with pytest.raises(UsageError, match="only contain programs"):
        hooks.use(hooks)


# --- what programs see ---------------------------------------------------------------------------------------------------------


def seen(tmp_path, hook_more, payload, *arguments, speaks="onehook", events='["PreToolUse"]', env=None, cwd=None):
    """The payload that a program received; None if it was not started."""
    target = tmp_path / "seen"
    target.unlink(missing_ok=True)
    path = manifest_of(tmp_path / "m", sh(f"cat > {target}", speaks, events, hook_more))
    result = fire(path, payload, *arguments, env=env, cwd=cwd)
    assert result.exit_code == 0, result
    return json.loads(target.read_text()) if target.exists() else None


def test_the_contract_is_one_line_with_its_two_keys(tmp_path):
    target = tmp_path / "seen"
    path = manifest_of(tmp_path / "m", sh(f"cat > {target}", "contract"))
    fire(path, tool_payload("claude", "ls"))
    assert target.read_text() == '{"tool_name":"Shell","tool_input":{"command":"ls"}}\n'


@pytest.mark.parametrize(
    ("speaks", "events", "expected"),
    [
        *((host, *facts(host).A_WRITE) for host in HOSTS if facts(host).A_WRITE),
        ("onehook", '["PreToolUse"]', {"event": "PreToolUse", "tool": "Write", "paths": ["/p/a"], "host": "opencode"}),
    ],
)
def test_a_write_of_another_host_in_each_dialect(tmp_path, speaks, events, expected):
    call = {**payloads("opencode")["tool.execute.before"], "tool_name": "write", "tool_input": {"filePath": "a", "content": "x"}}
    got = seen(tmp_path, "", call, "--host", "opencode", speaks=speaks, events=events)
    assert {key: got[key] for key in expected} == expected


def test_a_patch_of_several_files_is_shown_file_by_file_and_one_denial_is_enough(tmp_path):
    patch = "*** Begin Patch\n*** Add File: ok.txt\n+x\n*** Add File: prod.env\n+y\n*** End Patch\n"
    payload = {**tool_payload("codex", patch), "tool_name": "apply_patch"}
    script = """in=$(cat); case $in in *prod.env*) echo '{"decision": "deny", "reason": "no env"}';; esac; printf '%s\\n' "$in" >> seen"""
    path = manifest_of(tmp_path, sh(script, "contract"))
    assert reason_of(fire(path, payload, "--host", "codex", cwd=tmp_path), "codex") == "no env"
    lines = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert sorted(line["tool_input"]["path"] for line in lines) == ["/home/dev/p/ok.txt", "/home/dev/p/prod.env"]


def environment(tmp_path, speaks, payload, *arguments, env=None):
    target = tmp_path / "env"
    path = manifest_of(tmp_path / "repo" / ".hooks", sh(f"env > {target}", speaks))
    (tmp_path / "repo" / ".git").mkdir(exist_ok=True)
    assert fire(path, payload, *arguments, env=env).exit_code == 0
    return dict(line.partition("=")[::2] for line in target.read_text().splitlines() if "=" in line)


def test_variables_that_a_dialects_programs_expect(tmp_path):
    repo = str(tmp_path / "repo")
    payload = {**tool_payload("codex"), "cwd": f"{repo}/sub"}
    bare = {name: "" for name in os.environ if name.startswith(("CLAUDE", "CURSOR"))}
    claude = environment(tmp_path, "claude", payload, "--host", "codex", env=bare)
    assert (claude["CLAUDE_PROJECT_DIR"], claude["CLAUDE_CODE_SESSION_ID"]) == (repo, "s-1")
    cursor = environment(tmp_path, "cursor", payload, "--host", "codex")
    assert (cursor["CURSOR_PROJECT_DIR"], cursor["CLAUDE_PROJECT_DIR"]) == (repo, repo)
    own = environment(tmp_path, "onehook", payload, "--host", "codex", env={"MINE": "kept"})
    assert (own["ONEHOOK_HOST"], own["ONEHOOK_PROJECT_DIR"], own["MINE"]) == ("codex", repo, "kept")


def test_a_project_folder_that_the_host_has_set_stays_unless_it_is_another_project(tmp_path):
    repo = str(tmp_path / "repo")
    payload = {**tool_payload("claude"), "cwd": f"{repo}/packages/a"}
    kept = environment(tmp_path, "claude", payload, env={"CLAUDE_PROJECT_DIR": f"{repo}/packages"})
    assert kept["CLAUDE_PROJECT_DIR"] == f"{repo}/packages"
    leaked = environment(tmp_path, "claude", payload, env={"CLAUDE_PROJECT_DIR": "/elsewhere"})
    assert leaked["CLAUDE_PROJECT_DIR"] == repo


def test_files_beside_the_manifest_are_found_from_any_folder(tmp_path):
    path = manifest_of(tmp_path / "m", 'events = ["PreToolUse"]\nrun = ["sh", "./contract_guard.sh"]\nspeaks = "contract"')
    other = tmp_path / "other"
    other.mkdir()
    for cwd in (path.parent, other):
        assert "sh guard" in reason_of(fire(path, tool_payload("claude", "rm -rf x"), cwd=cwd), "claude")


# --- which programs are started ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "command", "started"),
    [
        ('tools = ["Bash"]', "ls", True), ('tools = ["Read"]', "ls", False),
        ('hosts = ["claude"]', "ls", True), ('hosts = ["codex"]', "ls", False),
        ('commands = ["git push*"]', "git push -f", True), ('commands = ["git push*"]', "cd a && X=1 git push", True),
        ('commands = ["git push*"]', "git status", False), ('paths = ["*.py"]', "ls", False),
    ],
)  # fmt: skip
def test_filters(tmp_path, more, command, started):
    assert (seen(tmp_path, more, tool_payload("claude", command)) is not None) is started


@pytest.mark.parametrize(("source", "started"), [("compact", True), ("startup", False)])
def test_sources_of_a_session(tmp_path, source, started):
    payload = {**stop_payload("claude"), "hook_event_name": "SessionStart", "source": source}
    assert (seen(tmp_path, 'sources = ["compact", "resume"]', payload, events='["SessionStart"]') is not None) is started


def test_a_host_that_does_not_say_why_a_session_starts_starts_it():
    event = Event("SessionStart", "cursor")
    from onehook.manifest.load import Program

    entry = {"run": ["x"], "speaks": "claude", "sources": ["startup"]}
    assert Program(entry, "SessionStart", "", "/", "open").applies(event)
    assert not Program({**entry, "sources": ["resume"]}, "SessionStart", "", "/", "open").applies(event)


PUSHES = [
    "git push",
    " git  push ",
    "git -C . push",
    "git -c a=b --no-pager push origin",
    "git --git-dir=x push",
    "sudo git push",
    "sudo -u me git push",
    "env X=1 git push",
    "X=1 git push",
    "/usr/bin/git push",
    "git.exe push",
    "bash -c 'git push'",
    'sh -lc "cd a && git push"',
    "'git' push",
    "if true; then git push; fi",
    "for i in 1; do git push; done",
    "a; git push",
    "(a && git push)",
    "x $(git push)",
    "`git push`",
    "a | xargs git push",
    "timeout 5 git push",
    "nohup git push &",
    "command git push",
    "eval git push",
    "echo 'git push' | sh",
    "f() { git push; }; f",
    "git $WHAT",
    "$TOOL push",
    "curl x | bash",
    "echo 'a",
    "ssh host git push",
    "\\git push",
    "git pu''sh",
    "if a; then\ngit push\nfi",
]
NO_PUSHES = [
    "git status",
    "echo git push",
    "grep 'git push' a",
    "echo 'a; git push'",
    "git commit -m 'git push' -m \"$WHY\"",
    "ls $X",
    "git stash push",
    "",
]


@pytest.mark.parametrize("line", PUSHES)
def test_a_pattern_matches_a_command_however_it_is_written(line):
    assert matches(["rm *", "git push*"], line)


@pytest.mark.parametrize("line", NO_PUSHES)
def test_a_pattern_does_not_match_what_only_mentions_the_command(line):
    assert not matches(["rm *", "git push*"], line)


@pytest.mark.parametrize("pattern", ["./deploy.sh *", "deploy.sh prod", "./deploy.sh 'prod'", "cd a && *"])
def test_a_pattern_may_be_in_the_words_of_the_line(pattern):
    assert matches([pattern], "cd a && ./deploy.sh 'prod'")


def test_the_shell_reader_is_loaded_only_for_commands(tmp_path):
    for more, loaded in (("", False), ('commands = ["rm *"]', True)):
        modules = imported(launcher(manifest_of(tmp_path, guard("contract", more)), "--host", "claude"), tool_payload("claude"))
        assert ("onehook.policies.shell" in modules) is loaded
        assert modules.isdisjoint(BANNED)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "/p/a/b.py", True), ("*.py", "/p/a.py/b.js", False), ("src/*", "/p/src/a/b.py", True), ("./src/*", "/p/src/b.py", True),
        ("src/*", "/p/lib/src/b.py", False), ("*/src/*", "/p/lib/src/b.py", True), ("/p/*", "/p/x", True), (".env*", "/p/.env.local", True),
    ],
)  # fmt: skip
def test_paths(pattern, path, matches):
    assert path_matches(pattern, path, "/p") is matches


def test_a_cursor_edit_hook_sees_writes_and_edits_of_every_host(tmp_path):
    after = tool_payload("claude", unified="PostToolUse")
    written, edit = {"file_path": "/p/a", "content": "x"}, {"file_path": "/p/a", "old_string": "", "new_string": "x"}
    for payload in ({**after, "tool_name": "Write", "tool_input": written}, {**after, "tool_name": "Edit", "tool_input": edit}):
        got = seen(tmp_path, "", payload, speaks="cursor", events='["afterFileEdit"]')
        assert (got["file_path"], got["edits"]) == ("/p/a", [{"old_string": "", "new_string": "x"}])


# --- what programs answer ------------------------------------------------------------------------------------------------------


def test_message_and_lint_command_take_effect_on_hosts_that_have_no_such_fields(tmp_path):
    script = """echo '{"message": "formatted", "lint_command": "npm run lint"}'"""
    path = manifest_of(tmp_path, sh(script, "contract"))
    answer = fire(path, tool_payload("claude"), "--host", "claude").answer
    assert answer["systemMessage"] == "formatted"
    assert answer["hookSpecificOutput"]["additionalContext"] == "suggested command: npm run lint"
    passed = fire(path, tool_payload("contract"), "--host", "contract").answer
    assert passed == {"decision": "allow", "message": "formatted", "lint_command": "npm run lint"}


def test_plain_text_is_context_where_the_dialect_says_so(tmp_path):
    path = manifest_of(tmp_path, sh("echo remember the tests", "claude", '["UserPromptSubmit"]'))
    payload = {**stop_payload("codex"), "hook_event_name": "UserPromptSubmit", "prompt": "hi"}
    answer = fire(path, payload, "--host", "codex").answer
    assert answer["hookSpecificOutput"]["additionalContext"] == "remember the tests"


def test_answers_merge_in_the_order_of_the_manifest_whoever_is_first(tmp_path):
    path = manifest_of(
        tmp_path,
        sh("""sleep 0.3; echo '{"additional_context": "one", "modified_input": {"command": "a", "timeout": 1}}'"""),
        sh("""echo '{"additional_context": "two", "modified_input": {"command": "b"}}'"""),
    )
    specific = fire(path, tool_payload("claude"), "--host", "claude").answer["hookSpecificOutput"]
    assert specific["additionalContext"] == "one\n\ntwo"
    assert specific["updatedInput"] == {"command": "b", "timeout": 1}


def test_one_denial_is_enough_and_the_first_of_two_gives_the_reason(tmp_path):
    deny = """echo '{"decision": "deny", "reason": "%s"}'"""
    path = manifest_of(tmp_path, sh("""echo '{"decision": "allow"}'"""), sh(f"sleep 0.2; {deny % 'one'}"), sh(deny % "two"))
    assert reason_of(fire(path, tool_payload("claude"), "--host", "claude"), "claude") == "one"


def test_a_rewrite_in_another_dialect_is_a_rewrite_in_the_hosts_own_words(tmp_path):
    script = """echo '{"permission": "allow", "updated_input": {"command": "ls -la", "cwd": "/home/dev/p"}}'"""
    path = manifest_of(tmp_path, sh(script, "cursor", '["preToolUse"]'))
    answer = fire(path, tool_payload("claude", "ls"), "--host", "claude").answer
    assert answer["hookSpecificOutput"]["updatedInput"] == {"command": "ls -la"}
    assert "permissionDecision" not in answer["hookSpecificOutput"]


ANSWERS = {
    "nothing": ("", 0, None, None),
    "a deny": ('{"decision": "deny", "reason": "r"}', 0, "deny", "r"),
    "exit 2 with a reason": ('{"reason": "r"}', 2, "deny", "r"),
    "exit 2 and stderr": ("", 2, "deny", "err"),
    "exit 2 and garbage": ("garbage", 2, "deny", "err"),
    "null is nothing": ('{"decision": null}', 0, None, None),
    "ask": ('{"decision": "ask"}', 0, "ask", None),
}


@pytest.mark.parametrize(("stdout", "exit_code", "decision", "reason"), ANSWERS.values(), ids=ANSWERS)
def test_answers_in_onehooks_own_form(tmp_path, stdout, exit_code, decision, reason):
    script = f"printf '%s' '{stdout}'; echo err >&2; exit {exit_code}"
    answer = simulate(load_policy(str(manifest_of(tmp_path, sh(script)))), "PreToolUse", "Bash", command="ls")
    assert (answer.decision, answer.reason) == (decision, reason)


def test_a_made_up_event_that_no_host_sent_is_denied_by_a_closed_program_too(tmp_path):
    hooks = load_policy(str(manifest_of(tmp_path, sh("exit 7", more='fail = "closed"'))))
    assert simulate(hooks, "PreToolUse", "Bash", command="ls").decision == "deny"
    assert hooks.dispatch(sample("SessionStart")).decision is None


def test_run_through_the_command_line(tmp_path):
    path = manifest_of(tmp_path, guard("claude"))
    result = process(
        [os.path.join(os.path.dirname(sys.executable), "onehook"), "run", path, "--host", "claude"], tool_payload("claude", "rm -rf x")
    )
    assert "Claude hook" in reason_of(result, "claude")
