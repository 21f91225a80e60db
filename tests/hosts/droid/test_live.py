"""Factory Droid started for a proof."""

from __future__ import annotations

from typing import Any

from onehook.hostkit.live import Sandbox
from onehook.hosts import load


def test_a_session_of_droid_is_compacted_when_it_is_asked_to(sandbox: Sandbox) -> None:
    module: Any = load("droid", "live")
    asked = module.compactable(module.prepare(sandbox, "session"))
    assert asked.argv[3:] == ["/bin/agent", "the prompt", "high", "--compact"]
    alone = module.prepare(sandbox, "exec")
    assert module.compactable(alone) == alone
