"""Each hook of the corpus does what it should natively, and the same through onehook, on its own agent and on every other."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

from tests.corpus.patterns import Agent, Hook, Moment
from tests.corpus.running import Seen, differences, imported, natively, project_of, put_back, snapshot, through_onehook
from tests.host_folders import with_folders

MODULES = [importlib.import_module(f"tests.hosts.{host}.corpus") for host in with_folders("corpus.py")]
CASES = [
    pytest.param(module.AGENT, hook, moment, id=f"{module.AGENT.host}-{hook.id}-{number}")
    for module in MODULES
    for hook in module.HOOKS
    for number, moment in enumerate(hook.moments)
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: Agent, hook: Hook) -> Path:
    """The project of the hook, which is also where its agent starts it."""
    missing = [name for name in hook.needs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    folder = project_of(hook, agent, tmp_path / "a repo")
    monkeypatch.chdir(folder)
    return folder


def assert_said(moment: Moment, native: Seen) -> None:
    response = native.response
    assert (response.decision or "allow") == (moment.decision or "allow"), native
    for wanted, said in ((moment.reason, response.reason), (moment.context, response.additional_context)):
        assert wanted is None or (said is not None and wanted in said), native
    assert moment.rewrite is None or native.rewrite == moment.rewrite, native
    for name, part in moment.files.items():
        assert part in native.files[name], native


@pytest.mark.parametrize(("agent", "hook", "moment"), CASES)
def test_a_hook_does_the_same_natively_and_through_onehook(tmp_path: Path, project: Path, agent: Agent, hook: Hook, moment: Moment) -> None:
    before = snapshot(project)
    native = natively(hook, agent, moment, project) if moment.starts else Seen()
    assert_said(moment, native)
    put_back(before, project)
    imported(agent, project)
    through = through_onehook(moment, project, tmp_path / "state")
    wrong = {host: differences(native, shot, files) for host, (shot, files) in through.items()}
    assert {host: texts for host, texts in wrong.items() if texts and host not in moment.limits} == {}
    assert [host for host in moment.limits if not wrong[host]] == [], "not a limit (any more)"
