"""What the tests of install share."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """fsync guards against a power cut, which no test can make; on a busy disk it is nine tenths of the time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
