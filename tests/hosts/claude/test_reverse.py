"""Claude Code in reverse: what its scripts leave unchanged."""

from __future__ import annotations

import json

from onehook.core import Response
from tests.host_folders import facts
from tests.hostkit.reversing import event_on, reverse_of


def test_what_a_script_left_as_it_was_is_no_rewrite() -> None:
    event = event_on("cursor", "Bash", command="ls", timeout=5)
    sent = reverse_of("claude").payload(event)["tool_input"]
    assert reverse_of("claude").answer(event, json.dumps(facts("claude").rewrite(sent)), "", 0) == Response("allow")
