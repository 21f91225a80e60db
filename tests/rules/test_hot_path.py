"""What an event loads with a rules file."""

from __future__ import annotations

import pytest
from harness import ANY, launcher, tool_payload

from tests.test_hot_path import BANNED, imported

RULES = """
packs = ["all"]
[policies.session_briefing]
text = "Run make test before you commit."
[permissions]
deny = ["Bash(npm publish:*)"]
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text(RULES, encoding="utf-8")
    return path


def second(path, payload):
    """The first event may have to compile the rules."""
    imported(launcher(path, "--host", ANY), payload)
    return imported(launcher(path, "--host", ANY), payload)


def test_an_ordinary_command_needs_neither_os_nor_what_only_other_commands_need(rules):
    modules = second(rules, tool_payload(ANY, "npm test"))
    assert "onehook.rules.judge" in modules and modules.isdisjoint(
        {*BANNED, "os", "onehook.policies.self_protection", "onehook.policies.self_commands", "onehook.policies.finishing"}
    )


def test_self_protection_is_loaded_for_a_command_that_may_concern_it(rules):
    assert "onehook.policies.self_commands" in second(rules, tool_payload(ANY, f"rm {rules}"))


def test_an_event_that_nothing_is_for_loads_no_rules_and_no_policies(rules):
    modules = second(rules, tool_payload(ANY, unified="PostToolUse"))
    assert not [name for name in modules if name.startswith(("onehook.policies", "onehook.rules.judge", "onehook.rules.levels"))]
    assert "os" not in modules
