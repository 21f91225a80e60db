"""Keys for the scanners of tests/scan/service.py."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def keys(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PANW_AI_SEC_API_KEY", "LAKERA_GUARD_API_KEY", "OPENAI_API_KEY", "OWN_KEY"):
        monkeypatch.setenv(name, "KEY")
