"""Fixtures that start real hook processes."""

from __future__ import annotations

import os

import pytest
from harness import HOSTS, ISOLATIONS, policy_text
from hypothesis import settings

# A busy machine is not a defect; and CI looks at the same examples each time, so that a red run means that something has changed.
settings.register_profile("any machine", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "any machine")


@pytest.fixture(autouse=True)
def _no_traces(tmp_path_factory, monkeypatch):
    """Nothing that a test starts may read or write the state of the person who runs it."""
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path_factory.mktemp("state")))


@pytest.fixture(params=HOSTS)
def host(request):
    return request.param


@pytest.fixture(params=ISOLATIONS)
def isolation(request):
    return request.param


@pytest.fixture
def policy(tmp_path):
    """Write a policy: policy("return deny('no')") gives its path; keywords as for policy_text."""
    folder = tmp_path / "policies"
    folder.mkdir()

    def write(handler="", **parts):
        path = folder / "policy.py"
        path.write_text(policy_text(handler, **parts), encoding="utf-8")
        return path

    return write
