"""Why a session starts has the same name on every agent, and each program gets it in its own dialect."""

from __future__ import annotations

import json

import pytest
from harness import fire

from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, wire_of
from tests.host_folders import facts

WORDS = {host: facts(host).START_WORDS for host in HOSTS if facts(host).START_WORDS}
CASES = [(host, unified, native) for host, words in WORDS.items() for unified, native in words.items()]


@pytest.mark.parametrize(("host", "unified", "native"), CASES)
def test_a_start_has_the_hosts_word_and_is_read_as_the_unified_one(host, unified, native):
    payload = load(host, "reverse").payload(sample("SessionStart", source=unified, session_id="s", cwd="/p"))
    assert payload["source"] == native
    assert wire_of(host).parse(payload, "SessionStart").source == unified


@pytest.mark.parametrize("speaks", WORDS)
@pytest.mark.parametrize("host", WORDS)
def test_a_hook_for_the_first_start_fires_on_every_agents_word_for_it(tmp_path, host, speaks):
    hook = f'[[hook]]\nevents = ["SessionStart"]\nsources = ["startup"]\nrun = "cat > seen"\nshell = true\nspeaks = "{speaks}"\n'
    (tmp_path / "onehook.toml").write_text(hook)
    for source, fires in (("resume", False), ("startup", True)):
        payload = load(host, "reverse").payload(sample("SessionStart", source=source, session_id="s", cwd=str(tmp_path)))
        result = fire(tmp_path / "onehook.toml", payload, "--host", host, cwd=tmp_path)
        assert result.exit_code == 0, result
        assert (tmp_path / "seen").exists() is fires
    assert json.loads((tmp_path / "seen").read_text())["source"] == WORDS[speaks]["startup"]
