"""Importing hooks of Gemini CLI into a manifest."""

from __future__ import annotations

import json

import pytest
from harness import fire

from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.hosts.gemini.imports import quoted_variables
from tests.hosts.gemini.import_facts import FOLDER
from tests.setup.importing import group, imported, repository, started


@pytest.fixture
def repo(tmp_path):
    return repository(tmp_path / "a repo", "gemini")


def test_a_start_hook_of_one_host_fires_on_anothers_word_for_the_start(repo):
    imported(repo, "--from", "gemini")
    for host, word in (("copilot", "new"), ("claude", "startup"), ("qwen", "startup")):
        assert started(repo, "context", host), host
        payload = load(host, "reverse").payload(sample("SessionStart", source="startup", session_id="s", cwd="/p"))
        assert payload["source"] == word
    resumed = load("copilot", "reverse").payload(sample("SessionStart", source="resume", session_id="s", cwd=str(repo)))
    (repo / "log" / "context").unlink()
    fire(repo / "onehook.toml", resumed, "--host", "copilot", cwd=repo)
    assert not (repo / "log" / "context").exists()


def test_what_the_host_drops_itself_is_reported(repo):
    (repo / ".gemini/settings.json").write_text(json.dumps({"hooks": {"BeforeTool": ["./x.sh"], "AfterAgent": [group(FOLDER, "stop")]}}))
    done = imported(repo, "--from", "gemini")
    assert 'hooks.BeforeTool[0]: a group needs a list "hooks"; Gemini CLI drops the entry' in done.stderr


@pytest.mark.parametrize(("command", "quoted"), [
    ("$GEMINI_PROJECT_DIR/a b", '"$GEMINI_PROJECT_DIR"/a b'), ('"$GEMINI_PROJECT_DIR/a"', '"$GEMINI_PROJECT_DIR/a"'),
    ("sh -c 'cd $GEMINI_CWD'", """sh -c 'cd '"$GEMINI_CWD"''"""), ("echo \\'$GEMINI_CWD", "echo \\'\"$GEMINI_CWD\""),
    ("echo $HOME", "echo $HOME"),
    ("echo 'a\\' $CLAUDE_PROJECT_DIR", "echo 'a\\' \"$CLAUDE_PROJECT_DIR\""), ("echo ${GEMINI_CWD}", "echo ${GEMINI_CWD}"),
])  # fmt: skip
def test_the_variables_that_gemini_puts_into_the_text_are_quoted_for_a_shell(command, quoted):
    assert quoted_variables(command) == quoted
