"""onehook lint: each code is reported where it applies, and not where it does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from onehook.cli import main
from onehook.lint import child, loading
from onehook.lint.check import Limits, check
from onehook.lint.codes import CODES, LEVELS
from onehook.setup.command import interpreter
from tests.lint import forked_child

AGENTS = ("claude", "cursor", "codex")
HEAD = "from onehook import Hooks, Response, allow, ask, deny\n"
PATIENT = Limits(import_ms=10_000, handler_ms=10_000)  # a busy machine is not a finding
CLOSED = 'hooks = Hooks(fail="closed")\n'
RUNS = loading._RUNS


@pytest.fixture(autouse=True)
def _one_measurement(monkeypatch):
    """lint measures imports three times, all but the first in a separate process, for those that are nearly too slow."""
    monkeypatch.setattr(loading, "_RUNS", 1)


@pytest.fixture(scope="module")
def _forked():
    if not hasattr(os, "fork"):
        yield subprocess.Popen
        return
    with forked_child.children(interpreter(), child.__file__) as forked:
        yield forked


@pytest.fixture
def lint(tmp_path, monkeypatch, _forked):
    """Real processes are started where times are measured; otherwise they are forks."""

    def run(body, *, hooks=CLOSED, hosts=AGENTS, limits=PATIENT, head=HEAD):
        path = tmp_path / "policy.py"
        path.write_text(head + hooks + textwrap.dedent(body))
        with monkeypatch.context() as patch:
            patch.setattr(loading, "_RUNS", 1 if limits is PATIENT else RUNS)
            if limits is PATIENT:
                patch.setattr(subprocess, "Popen", _forked)
            return check(str(path), hosts, limits)

    return run


def handler(register, *body):
    lines = "\n".join(f"    {line}" for line in body)
    return f"@hooks.on({register})\ndef guard(event):\n{lines}\n"


def codes(report):
    return [finding.code for finding in report.findings]


def only(report):
    (finding,) = report.findings
    return finding


GOOD = handler('"PreToolUse", tool="Bash"', "if 'rm -rf' in event.command:", "    return deny('no')")


def test_a_good_policy_has_no_findings(lint):
    report = lint(GOOD)
    assert report.findings == ()
    assert (report.loads, report.handlers, report.hosts) == (True, 1, AGENTS)


# Code -> the policy after `hooks = Hooks(fail="closed")`, and what the text of the finding must contain.
FOUND = {
    "OH002": ("", "decides nothing"),
    "OH101": (handler('"Notification"', "return None"), "have no Notification"),
    "OH102": (handler('"PreToolUse", tool="Read"', "return deny('no')"), "codex has no tool Read, so it never runs there"),
    "OH103": (handler('"PreToolUse", tool="Read|Bash"', "return deny('no')"), "codex has no tool Read"),
    "OH104": (handler('"PreToolUse", tool="Bahs"', "return deny('no')"), "did you mean 'Bash'?"),
    "OH105": (handler('"PreToolUse", tool="Shell"', "return deny('no')"), "Shell is cursor's own name for Bash"),
    "OH106": (handler('"Stop", tool="Bash"', "return None"), "Stop has no tool"),
    "OH107": (handler('"PreToolUse", host="claud"', "return None"), "did you mean 'claude'?"),
    "OH108": (GOOD + 'hooks.on("PreToolUse", tool="Bash")(guard)\n', "registered twice"),
    "OH201": (handler('"SubagentStart"', "return deny('no')"), "deny does not prevent anything"),
    "OH202": (handler('"PreToolUse", tool="Bash"', "return ask('sure?')"), "deny instead of ask"),
    "OH203": (handler('"PostToolUse", tool="Bash"', "return {'user_message': 'x'}"), "user_message is lost"),
    "OH402": (handler('"PreToolUse", tool="Bash"', "return event.tool_input['cmd']"), "raised KeyError: 'cmd'"),
    "OH404": ("hooks.use(Hooks(timeout=5))\n" + handler("'Stop'", "pass"), "timeout is 20.0 here and 5 in the policy that is used"),
    "OH403": (handler('"PreToolUse", tool="Bash"', "return 3"), "returned int"),
}


@pytest.mark.parametrize("code", FOUND)
def test_each_code_is_found(lint, code):
    body, text = FOUND[code]
    found = [finding for finding in lint(body).findings if finding.code == code]
    assert found
    assert text in found[0].text
    assert found[0].level in LEVELS and found[0].fix


def test_every_code_has_a_test():
    elsewhere = {"OH001", "OH301", "OH302", "OH303", "OH401", "OH501", "OH502", "OH503"}  # the last three in test_rules_file.py
    assert {*FOUND, *elsewhere} == set(CODES)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("x = 1 / 0", "raised ZeroDivisionError"),
        ("raise RuntimeError('no')", "raised RuntimeError: no"),
        ("import not_there_at_all", "raised ModuleNotFoundError"),
        ("broken(event)", "raised RuntimeError: inner"),
    ],
)
def test_a_handler_that_always_raises_is_an_error_at_its_line(lint, body, text):
    top = "def broken(event):\n    raise RuntimeError('inner')\n"
    finding = only(lint(top + handler('"PreToolUse", tool="Bash"', "event.command", body)))
    assert (finding.code, finding.level, finding.line) == ("OH402", "error", 4 if "broken" in body else 8)
    assert text in finding.text and finding.text.endswith("on every event")
    ignored = top + handler('"PreToolUse", tool="Bash"', "event.command", body)
    assert not lint(ignored.replace("(event):", "(event):  # onehook: ignore[OH402]")).findings


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if 'sudo' in event.command: raise RuntimeError('meant')", []),
        ("if 'sudo' in event.command: 1 / 0", ["OH402"]),
        ("open('a file of the project')", []),
        ("import subprocess; subprocess.run(['false'], check=True)", []),
    ],
)
def test_an_error_that_may_be_meant_or_due_to_the_folder_is_not_reported(lint, body, found):
    assert codes(lint(handler('"PreToolUse", tool="Bash"', body))) == found


PAGE = Path(__file__).parents[2] / "docs" / "policies.md"
DOCUMENTED = [block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL) if "Hooks(" in block]


@pytest.mark.parametrize("block", DOCUMENTED, ids=range(len(DOCUMENTED)))
def test_there_is_nothing_to_say_about_the_documented_policies(tmp_path, block, monkeypatch):
    """Except that some agents do not have such an event, or do not let a hook stop it: these are facts about the agents."""
    monkeypatch.setattr(loading, "_RUNS", 2)  # with the usual limits: the first run may have to compile something
    policy = tmp_path / "policy.py"
    policy.write_text(block)
    findings = check(str(policy), []).findings
    assert [finding for finding in findings if finding.code not in ("OH101", "OH201")] == []


def test_a_finding_names_the_hosts_and_the_line(lint):
    finding = only(lint(handler('"PreToolUse", tool="Read"', "return deny('no')")))
    assert finding.hosts == ("codex",)
    assert finding.line == 3
    assert finding.fix == "the agent reads files with its shell there: also handle Bash"


@pytest.mark.parametrize(
    "error, line, text", [("def (:", 3, "SyntaxError"), ("x = 1\nx.y", 4, "AttributeError"), ("import sys; sys.exit()", 3, "SystemExit")]
)
def test_a_policy_that_does_not_load_is_reported_with_its_line(lint, error, line, text):
    report = lint(error)
    assert not report.loads
    assert (only(report).code, only(report).line) == ("OH001", line)
    assert text in only(report).text


def test_a_policy_that_ends_the_process_does_not_end_lint(lint):
    assert only(lint("import os; os._exit(0)")).code == "OH001"


# ---- where a handler runs ----


def test_an_event_that_no_host_has_is_an_error(lint):
    finding = only(lint(handler('"BeforeToolSelection"', "return None")))
    assert (finding.code, finding.level) == ("OH101", "error")


@pytest.mark.parametrize("register", ['"Notification", host="claude"', '"PreToolUse", tool="Read", host="claude|cursor"'])
def test_a_handler_that_names_its_hosts_is_not_asked_about_others(lint, register):
    assert not codes(lint(handler(register, "return None")))


def test_only_the_wanted_hosts_are_looked_at(lint):
    assert not codes(lint(handler('"PreToolUse", tool="Read"', "return deny('no')"), hosts=("claude", "cursor")))


@pytest.mark.parametrize("tool", ["Web*", "Write.*", "^Bash$", "Bash(rm *)"])
def test_wildcards_and_regular_expressions_match_no_tool(lint, tool):
    finding = only(lint(handler(f'"PreToolUse", tool={tool!r}', "return None")))
    assert finding.code == "OH104"
    assert "only MCP tools take wildcards" in finding.text


@pytest.mark.parametrize("tool", ["mcp__db__*", "mcp__*", "*", "MCP", "Bash|Edit"])
def test_patterns_that_match_are_not_reported(lint, tool):
    assert not codes(lint(handler(f'"PreToolUse", tool={tool!r}', "return deny('no')")))


def test_a_tool_that_no_table_knows_is_only_noted(lint):
    finding = only(lint(handler('"PreToolUse", tool="TodoWrite"', "return None"), hosts=("claude",)))
    assert (finding.code, finding.level) == ("OH105", "note")


def test_the_name_that_one_host_has_for_a_tool_leaves_the_others_unguarded(lint):
    finding = only(lint(handler('"PreToolUse", tool="Shell"', "return deny('no')")))
    assert (finding.code, finding.level, finding.hosts) == ("OH105", "warning", ("claude", "codex"))
    assert finding.fix == "use Bash, which matches this tool on every agent"


def test_what_codex_deletes_with_is_reported(lint):
    finding = only(lint(handler('"PreToolUse", tool="Delete"', "return deny('no')"), hosts=("codex",)))
    assert finding.code == "OH102"
    assert "apply_patch deletes files there" in finding.fix


def test_what_comes_after_an_unconditional_deny_is_unreachable(lint):
    body = handler('"PreToolUse"', "'''Always.'''", "return deny('no')") + handler('"PreToolUse", tool="Bash"', "return None").replace(
        "guard", "later"
    )
    finding = only(lint(body))
    assert (finding.code, finding.line) == ("OH108", 7)
    assert "later (PreToolUse Bash) is never reached: guard (line 3) always denies" in finding.text


@pytest.mark.parametrize("first", ['"PreToolUse", tool="Edit"', '"PreToolUse", host="claude"', '"PostToolUse", host="claude|codex"'])
def test_what_an_unconditional_deny_does_not_cover_is_reachable(lint, first):
    body = handler(first, "return deny('no')") + handler('"PreToolUse", tool="Bash"', "return None").replace("guard", "later")
    assert "OH108" not in codes(lint(body))


# ---- what is lost ----

ANSWERS = {
    "returned at once": ("return ask('x')",),
    "deep in a branch that no sample reaches": ("if event.command == 'sesame'[::-1]:", "    return ask('x')"),
    "a conditional expression": ("return ask('x') if event.command == 'sesame'[::-1] else None",),
    "an or": ("return event.command == 1 or ask('x')",),
    "a dict": ("if event.model == 'never':", "    return {'decision': 'ask', 'reason': 'x'}"),
    "a Response": ("if event.model == 'never':", "    return Response('ask', 'x')"),
    "a helper": ("if event.model == 'never':", "    return helper(event)"),
    "made by a loop, seen by running it": ("answers = [ask]", "if event.command == 'open sesame':", "    return answers[0]('x')"),
}


@pytest.mark.parametrize("body", ANSWERS.values(), ids=ANSWERS)
def test_an_ask_is_found_however_it_is_returned(lint, body):
    report = lint("def helper(event):\n    return ask('x')\n" + handler('"PreToolUse", tool="Bash"', *body))
    assert {host for finding in report.findings if finding.code == "OH202" for host in finding.hosts} == {"cursor", "codex"}


def test_an_ask_whose_fallback_was_chosen_is_only_noted(lint):
    body = handler('"PreToolUse", tool="Bash"', "return ask('x')")
    levels = {finding.level for finding in lint(body, hooks='hooks = Hooks(ask_fallback="deny")\n').findings}
    assert levels == {"note"}
    assert {finding.level for finding in lint(body).findings} == {"warning"}


def test_a_rewrite_of_a_key_that_a_host_cannot_change_is_named(lint):
    body = handler('"PreToolUse", tool="Write"', "return allow(modified_input={'content': 'x'})")
    finding = only(lint(body, hosts=("cursor", "claude")))
    assert (finding.code, finding.hosts) == ("OH203", ("cursor",))
    assert "modified_input.content is lost" in finding.text


def test_a_loss_that_is_only_a_wording_is_a_note(lint):
    body = handler('"UserPromptSubmit"', "return deny('no', user_message='said')")
    assert [(finding.code, finding.level, finding.hosts) for finding in lint(body).findings] == [("OH203", "note", ("cursor",))]


def test_a_lambda_and_an_async_handler_are_read_too(lint):
    assert "OH202" in codes(
        lint('hooks.on("PreToolUse", tool="Bash")(lambda event: ask("x"))\n', limits=Limits(10_000, 10_000, run_handlers=False))
    )
    body = handler('"PreToolUse", tool="Bash"', "return ask('x')").replace("def guard", "async def guard")
    assert "OH202" in codes(lint(body))


def test_without_running_only_the_source_is_read(lint):
    static = Limits(10_000, 10_000, run_handlers=False)
    assert not codes(lint(handler('"PreToolUse", tool="Bash"', "raise KeyError"), limits=static))
    body = handler('"PreToolUse", tool="Bash"', "answers = [ask]", "return answers[0]('x')")
    assert not codes(lint(body, limits=static))
    assert "OH202" in codes(lint(body))


# ---- time ----


@pytest.mark.parametrize(
    ("line", "what"),
    [("threading.Thread(target=time.sleep, args=(9,), daemon=True).start()", "a thread"), ("kept = os.pipe()", "a connection")],
)
def test_what_a_resident_process_could_not_share_is_noted(lint, line, what):
    finding = only(lint(GOOD, head=f"{HEAD}import os, threading, time\n{line}\n"))
    assert (finding.code, finding.level) == ("OH303", "note") and what in finding.text


def test_a_slow_import_is_measured_and_placed(lint, tmp_path):
    (tmp_path / "slow_helper.py").write_text("import time\ntime.sleep(0.3)\n")
    report = lint(GOOD, limits=Limits(import_ms=250, handler_ms=10_000), head=f"{HEAD}import slow_helper\n")
    finding = only(report)
    assert (finding.code, finding.line) == ("OH301", 2)
    assert finding.text.startswith("import slow_helper takes ")
    assert report.imports_ms > 250


def test_an_import_inside_a_handler_costs_nothing_on_every_event(lint, tmp_path):
    (tmp_path / "slow_helper.py").write_text("import time\ntime.sleep(0.3)\n")
    report = lint(handler('"Stop"', "import slow_helper"), limits=Limits(import_ms=250, handler_ms=10_000))
    assert report.findings == ()


def test_a_slow_handler_is_measured(lint):
    body = handler('"PreToolUse", tool="Bash"', "import time; time.sleep(0.3)")
    finding = only(lint(body, limits=Limits(import_ms=10_000, handler_ms=250)))
    assert finding.code == "OH302"
    assert " ms on PreToolUse Bash" in finding.text


def test_a_handler_that_hangs_is_ended_and_said(lint, monkeypatch):
    monkeypatch.setattr("onehook.lint.loading.PATIENCE", 2)
    found = lint(handler('"PreToolUse", tool="Bash"', "import time", "time.sleep(600)")).findings
    assert [(finding.code, finding.level) for finding in found] == [("OH302", "error")]
    assert "did not return within 2 s" in found[0].text


# ---- the whole policy ----


def test_a_policy_that_only_denies_and_fails_open_is_warned_about(lint):
    finding = only(lint(GOOD, hooks="\nhooks = Hooks()\n"))
    assert (finding.code, finding.line) == ("OH401", 3)


@pytest.mark.parametrize(
    "hooks, body",
    [
        ('hooks = Hooks(fail="open")\n', GOOD),
        ("hooks = Hooks()\n", GOOD + handler('"SessionStart"', "return {'additional_context': 'x'}")),
        ("hooks = Hooks()\n", handler('"PreToolUse", tool="Bash"', "return None")),
    ],
    ids=["chosen", "it also helps", "it never denies"],
)
def test_other_policies_may_fail_open(lint, hooks, body):
    assert "OH401" not in codes(lint(body, hooks=hooks))


@pytest.mark.parametrize(
    "comment, found", [("# onehook: ignore[OH202]", []), ("# onehook: ignore", []), ("# onehook: ignore[OH101]", ["OH202"] * 2)]
)
def test_a_comment_silences_a_code(lint, comment, found):
    body = handler('"PreToolUse", tool="Bash"', "return ask('x')").replace("def guard(event):", f"def guard(event):  {comment}")
    assert codes(lint(body)) == found


def test_a_handler_from_beside_the_policy_is_shown_in_its_own_file(lint, tmp_path):
    (tmp_path / "shared_rules.py").write_text(
        "from onehook import Hooks, ask\nrules = Hooks()\n@rules.on('PreToolUse')\ndef it(event):\n    return ask('x')\n"
    )
    finding = lint("import shared_rules\nhooks.use(shared_rules.rules)\n").findings[0]
    assert finding.file.endswith("shared_rules.py")
    assert finding.line == 3


def test_a_handler_from_a_library_is_shown_where_the_policy_takes_it_in(lint, tmp_path):
    (tmp_path / "some_library").mkdir()
    (tmp_path / "some_library" / "rules.py").write_text(
        "from onehook import Hooks, ask\nrules = Hooks()\n\n\n\n@rules.on('PreToolUse')\ndef it(event):\n    return ask('x')\n"
    )
    finding = lint("import some_library.rules\nhooks.use(some_library.rules.rules)\n").findings[0]
    assert (finding.code, finding.line) == ("OH202", 4)
    assert finding.file.endswith("policy.py")
    (tmp_path / "some_library" / "others.py").write_text(
        "from onehook import Hooks, ask\ndef others():\n    hooks = Hooks()\n    hooks.on('PreToolUse')(lambda event: ask('x'))\n"
        "    return hooks\n"
    )
    body = "from some_library.others import others\nfrom onehook.policies import secrets\nhooks.use(secrets())\nhooks.use(others())\n"
    assert {finding.line for finding in lint(body).findings} == {6}


def test_options_that_a_used_policy_changes_are_reported_at_the_use(lint):
    body = "stop = Hooks(fail='closed', timeout=5)\nhooks.use(Hooks())\nhooks.use(stop)\n" + handler("'Stop'", "pass")
    found = [finding for finding in lint(body, hooks="hooks = Hooks(timeout=9)\n").findings if finding.code == "OH404"]
    assert [(finding.line, finding.level, finding.text.partition(" ")[0]) for finding in found] == [
        (5, "note", "fail"),
        (5, "note", "timeout"),
    ]
    assert "'open' here and 'closed' in the policy that is used; 'closed' counts" in found[0].text
    assert "OH404" not in codes(lint("hooks.use(Hooks())\n" + handler("'Stop'", "pass")))


def test_handlers_that_are_no_plain_functions_are_read_too(lint):
    body = """
    import functools

    class Guard:
        def __call__(self, event):
            return ask("x")

    def strict(event, word):
        return ask(word)

    hooks.on("PreToolUse", tool="Bash")(Guard())
    hooks.on("PostToolUse", tool="Bash")(functools.partial(strict, word="x"))
    """
    static = Limits(10_000, 10_000, run_handlers=False)
    assert {finding.line for finding in lint(body, limits=static, hosts=("codex",)).findings} == {7, 10}


def test_nothing_that_a_handler_prints_or_writes_matters(lint, tmp_path):
    body = handler('"PreToolUse", tool="Bash"', "print('{}')", "open('here.txt', 'w').close()", "return deny('no')")
    assert not codes(lint(body))
    assert not list(tmp_path.rglob("here.txt"))


# ---- the verb ----


@pytest.fixture
def onehook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("onehook.setup.plan.configurable", lambda: list(AGENTS))

    def run(body, *words):
        (tmp_path / "policy.py").write_text(HEAD + CLOSED + body)
        return CliRunner().invoke(main, ["lint", "policy.py", "--slow-import", "10000", "--slow-handler", "10000", *words])

    return run


ASKS = handler('"PreToolUse", tool="Bash"', "return ask('100% sure?')")


def test_a_clean_policy_is_exit_0(onehook):
    result = onehook(GOOD)
    assert result.exit_code == 0
    assert result.stdout.startswith("policy.py: no findings (1 handler, ")


def test_findings_are_exit_1_with_place_code_hosts_and_fix(onehook):
    result = onehook(ASKS)
    assert result.exit_code == 1
    assert "policy.py:3: warning OH202 [codex] guard (PreToolUse Bash): deny instead of ask (Codex rejects it" in result.stdout
    assert "    fix: choose what it becomes" in result.stdout
    assert "policy.py: 2 warnings (1 handler" in result.stdout


@pytest.mark.parametrize("level, code", [("note", 1), ("warning", 1), ("error", 0), ("never", 0)])
def test_what_fails_can_be_chosen(onehook, level, code):
    assert onehook(ASKS, "--fail-on", level).exit_code == code


def test_notes_alone_do_not_fail(onehook):
    result = onehook(FOUND["OH103"][0])
    assert (result.exit_code, "1 note" in result.stdout) == (0, True)


def test_a_policy_that_does_not_load_is_exit_1_whatever_fails(onehook):
    result = onehook("def (:", "--fail-on", "never")
    assert result.exit_code == 1
    assert "policy.py:3: error OH001 SyntaxError" in result.stdout


def test_json(onehook):
    result = onehook(ASKS, "--json", "--hosts", "codex")
    document = json.loads(result.stdout)
    assert document["loads"] is True
    (finding,) = document["findings"]
    assert {key: finding[key] for key in ("code", "line", "hosts", "file", "level")} == {
        "code": "OH202",
        "line": 3,
        "hosts": ["codex"],
        "file": "policy.py",
        "level": "warning",
    }


def test_github(onehook):
    lines = onehook(ASKS, "--format", "github", "--hosts", "codex").stdout.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::warning file=policy.py,line=3,title=onehook OH202 [codex]::guard (PreToolUse Bash): deny instead of ask")
    assert "%0AFix: " in lines[0]


def test_mistakes_on_the_command_line(onehook):
    assert "unknown agent 'cdoex'. Did you mean codex?" in onehook(GOOD, "--hosts", "cdoex").stderr
    assert "policy not found: nowhere.py" in CliRunner().invoke(main, ["lint", "nowhere.py"]).stderr


def test_all_hosts_are_more_than_those_that_can_be_installed_into(onehook):
    assert "contract" not in onehook(ASKS).stdout
    assert "contract" in onehook(ASKS, "--hosts", "all").stdout
