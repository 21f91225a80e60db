"""What all verbs have in common: --hosts, --json and the exit codes of onehook.cli.EXIT_CODES."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from onehook.cli import VERBS, main

POLICY = 'from onehook import Hooks\nhooks = Hooks(fail="closed")\n\n@hooks.on("PreToolUse")\ndef guard(event):\n    {body}\n'
PAYLOAD = {"tool_name": "Shell", "tool_input": {"command": "ls"}}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with a working and a broken policy, a log and a Claude Code config with a hook."""
    (tmp_path / "home").mkdir()
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "settings.json").write_text(
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./done.sh"}]}]}}\n', encoding="utf-8"
    )
    (project / "policy.py").write_text(POLICY.format(body="return None"), encoding="utf-8")
    (project / "broken.py").write_text("def (:\n", encoding="utf-8")
    (project / "raises.py").write_text(POLICY.format(body="raise ValueError"), encoding="utf-8")
    (project / "rules.toml").write_text('packs = ["git"]\n', encoding="utf-8")
    (project / "log.jsonl").write_text(json.dumps(PAYLOAD) + "\n", encoding="utf-8")
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("ONEHOOK_AGENTS", str(tmp_path / "no-agents"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))


def run(words: str) -> Result:
    return CliRunner().invoke(main, words.split())


def options(verb: str) -> dict[str, click.Option]:
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    return {name: option for option in command.params if isinstance(option, click.Option) for name in option.opts}


@pytest.mark.parametrize("verb", VERBS)
def test_agents_are_chosen_with_one_option(verb: str) -> None:
    """--host (and --from) are only other spellings of it."""
    known = options(verb)
    assert not {"--host", "--from"} & set(known) or "--hosts" in known
    if "--hosts" in known:
        assert known["--hosts"].multiple


# What a script reads: a command, its exit code, and what its JSON must contain.
JSON = {
    "install": ("install policy.py --hosts claude --dry-run --json", 0, {"dry_run", "changes", "notes", "to_do"}),
    "uninstall": ("uninstall --json", 0, {"dry_run", "changes", "notes"}),
    "status": ("status --json", 0, {"installed", "not_installed", "paused"}),
    "verify": ("verify --json", 1, {"ok", "checked", "differences"}),
    "resume": ("resume --json", 0, {"ended"}),
    "doctor": ("doctor --json --no-fire", 1, {"ok", "findings"}),
    "fire": ("fire policy.py Stop --hosts claude --json", 0, {"host", "effect"}),
    "lint": ("lint broken.py --json", 1, {"findings", "loads"}),
    "hosts": ("hosts --json", 0, {"host", "support"}),
    "import": ("import --hosts claude --dry-run --json", 0, {"carried", "refused", "would_write"}),
    "replay": ("replay log.jsonl policy.py --json", 0, {"summary"}),
    "explain": ("explain ls --rules rules.toml --json", 0, {"decision", "findings", "parts"}),
    "approve": ("approve --json", 0, set()),
    "log": ("log --json", 0, set()),
    "scan": ("scan hello --backend yara --json", 1, {"backend", "found", "error", "breaker"}),
    "serve": ("serve --json", 0, {"servers"}),
    "stats": ("stats --json", 0, {"total", "groups", "never_fired", "exceptions", "agents_without_policy"}),
    "telemetry": ("telemetry --json", 0, set()),
    "rules": ("rules --rules rules.toml --json", 0, {"id", "says"}),
    "test": ("test --rules rules.toml --json", 0, {"passed", "failed"}),
    "trust": ("trust --rules rules.toml --revoke --json", 0, {"file", "trusted", "was_trusted"}),
}
# They write files, serve, pass on the output of something else, or are only for people.
NOT_FOR_SCRIPTS = {"init", "model", "record", "run", "pause", "report"}


@pytest.mark.parametrize("verb", JSON)
def test_json_is_all_that_is_on_stdout(verb: str) -> None:
    words, code, keys = JSON[verb]
    result = run(words)
    assert result.exit_code == code, result.output
    document = json.loads(result.stdout)
    assert keys <= set((document or [()])[0] if isinstance(document, list) else document)


def test_every_verb_that_a_script_reads_has_json() -> None:
    assert {verb for verb in VERBS if "--json" in options(verb)} == {*JSON, "prove", "desk"} == set(VERBS) - NOT_FOR_SCRIPTS


def test_a_dry_run_has_the_diff_in_its_json() -> None:
    (change,) = json.loads(run("install policy.py --hosts cursor --dry-run --json").stdout)["changes"]
    assert change["action"] == "create" and change["path"].endswith("hooks.json") and "\n+" in change["diff"]
    assert not Path(change["path"]).exists()


USAGE = [
    "nonsense",
    "install policy.py --nonsense",
    "install gone.py",
    "install policy.py --hosts emacs",
    "install policy.py --events Nonsense",
    "uninstall --hosts emacs",
    "status --hosts emacs",
    "doctor --hosts emacs",
    "doctor --project nowhere",
    "fire gone.py Stop",
    "fire policy.py Nonsense",
    "fire policy.py Stop --hosts emacs",
    "lint gone.py",
    "lint policy.py --hosts emacs",
    "import --hosts emacs",
    "prove --hosts emacs",
    "prove --only nonsense",
    "replay gone.jsonl policy.py",
    "replay log.jsonl gone.py",
    "replay log.jsonl policy.py --hosts emacs",
    "model gone.json",
    "record",
    "pause --for 9h",
    "pause --for soon",
]
FAILED = [
    "pause",  # there is no terminal
    "verify",  # nothing is installed
    "install broken.py --hosts claude",
    "doctor --no-fire",  # nothing is installed
    "fire raises.py Bash --hosts claude",
    "lint broken.py",
    "lint broken.py --fail-on never",
    "import --hosts codex",  # there is nothing to import
    "prove",  # there is no agent to run
    "replay log.jsonl broken.py",
    "record -- no-such-agent",
    "init . --python",  # policy.py exists
]
FINE = [
    "install policy.py --hosts claude --dry-run",
    "uninstall",
    "status",
    "hosts",
    "fire policy.py Bash --hosts claude --hosts codex",
    "lint policy.py --no-run",
    "replay log.jsonl policy.py --host contract",
    "record --rules",
    "--help",
    *(f"{verb} --help" for verb in VERBS),
]


@pytest.mark.parametrize(
    ("code", "words"), [*((2, words) for words in USAGE), *((1, words) for words in FAILED), *((0, words) for words in FINE)]
)
def test_exit_codes(code: int, words: str) -> None:
    result = run(words)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.stderr
    assert bool(result.stderr) or code == 0 or words.startswith(("doctor", "lint", "fire")), "an error says why"


def test_agents_may_be_named_in_several_options() -> None:
    shown = json.loads(run("fire policy.py Stop --hosts claude,codex --host cursor --json").stdout)
    assert [row["host"] for row in shown] == ["claude", "codex", "cursor"]
