"""Codex started for a proof."""

from __future__ import annotations

import sys

import pytest

from onehook.hostkit.live import Sandbox
from onehook.hosts import load


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_the_config_of_codex_is_valid_and_keeps_what_was_there(sandbox: Sandbox) -> None:
    import tomllib

    config = sandbox.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('[hooks]\nx = 1\n[projects."/other"]\ntrust_level = "untrusted"\n')
    module = load("codex", "live")
    module.mcp_server(sandbox, "no.tes", ['/bin/ser"ver', "back\\slash"])
    for mode in module.MODES:
        module.prepare(sandbox, mode)
        found = tomllib.loads(config.read_text())
        assert found["hooks"] == {"x": 1}
        assert found["projects"] == {"/other": {"trust_level": "untrusted"}}  # the trust is what install --trust writes
        assert found["mcp_servers"]["no.tes"] == {"command": '/bin/ser"ver', "args": ["back\\slash"]}
        assert found["model_providers"]["scripted"]["base_url"] == "http://127.0.0.1:1234/v1"
    assert config.read_text().count("model_provider =") == 1
