"""The open contract in reverse: its message on other hosts."""

from __future__ import annotations

from onehook.core import Response
from tests.hostkit.reversing import event_on, reverse_of


def test_a_message_of_the_contract_is_for_the_user_on_other_hosts() -> None:
    event = event_on("claude", "Bash", command="ls")
    assert reverse_of("contract").answer(event, '{"decision": "allow", "message": "M"}', "", 0) == Response("allow", user_message="M")
