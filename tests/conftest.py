"""Fixtures that start real hook processes."""

from __future__ import annotations

import gc
import itertools
import os
import sys
from pathlib import Path

import counted_run  # isort: skip # before anything of onehook is imported
import pytest
import workers
from harness import HOSTS, ISOLATIONS, policy_text
from hypothesis import settings

from onehook.hostkit.config import Machine
from onehook.hostkit.live import Sandbox
from onehook.setup.plan import config_of, configurable
from onehook.setup.runtime import runtime_files

# A busy machine is not a defect. CI always uses the same examples, so that a red run means that something has changed.
settings.register_profile("any machine", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "any machine")


# Scripts that tests start call python3: make that this interpreter and not a pyenv or asdf shim, which takes ten times as long to start.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])

# Some verbs refuse to run under an agent, and an agent may run these tests: remove what gives it away, here and in _states.
for _name in [name for host in configurable() for name in config_of(host).TRAITS.shell_variables]:
    os.environ.pop(_name, None)

_count = itertools.count()
workers.BEFORE.append(runtime_files)  # also for the forks that tests make


def pytest_addoption(parser):
    workers.add_option(parser)


def pytest_configure(config):
    counted_run.register(config)
    workers.register(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays until the end; otherwise the garbage collector would scan half a gigabyte of it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session")
def _states(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONEHOOK_STATE_DIR", "")
        patch.setattr("onehook.setup.person.processes_above", lambda: iter(()))
        patch.setattr("onehook.setup.command.has_proven_client", lambda: False)  # whether or not one was built here (`make client`)
        # fsync guards against a power cut, which no test can cause; on a busy disk it takes nine tenths of the time of an install.
        patch.setattr(os, "fsync", lambda descriptor: None)
        # Each pytest run removes what older runs left behind, and a run of all tests leaves so much that removing it can take a minute.
        patch.setenv("PYTEST_DEBUG_TEMPROOT", str(tmp_path_factory.mktemp("runs")))
        yield str(tmp_path_factory.mktemp("states"))


@pytest.fixture(autouse=True)
def _no_traces(_states):
    """Nothing that a test starts may read or write the state of the person who runs it.

    The folder is named but not created: most tests keep no state, and creating ten thousand folders in one folder takes a minute.
    """
    os.environ["ONEHOOK_STATE_DIR"] = f"{_states}/{next(_count)}"


@pytest.fixture(params=HOSTS)
def host(request):
    return request.param


@pytest.fixture(params=ISOLATIONS)
def isolation(request):
    return request.param


@pytest.fixture
def sandbox(tmp_path):
    """A place where an agent is started for a proof, without the agent."""
    home, project = tmp_path / "home", tmp_path / "my.project"
    home.mkdir()
    project.mkdir()
    return Sandbox(home, project, "http://127.0.0.1:1234", "the prompt", Path("/bin/agent"))


@pytest.fixture
def machine(tmp_path):
    """A machine with a repository, and no config file yet."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return Machine(tmp_path / "home", tmp_path / "repo", system_root=tmp_path / "root", platform="linux")


@pytest.fixture
def policy(tmp_path):
    """Write a policy: policy("return deny('no')") returns its path; keywords as for policy_text."""
    folder = tmp_path / "policies"
    folder.mkdir()

    def write(handler="", **parts):
        path = folder / "policy.py"
        path.write_text(policy_text(handler, **parts), encoding="utf-8")
        return path

    return write
