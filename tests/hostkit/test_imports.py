"""Commands and matchers of other programs' hooks, read for a manifest."""

from __future__ import annotations

import pytest

from onehook.hostkit.imports import command_patterns, in_project, joined_mcp, patterns_of


@pytest.mark.parametrize(("command", "moves"), [
    ("./x.sh", True), ("node scripts/x.js", True), ("python3 ../x.py", True), ("/usr/bin/x a", False), ('"$P"/x.sh', False),
    ("jq .", False),
    ("~/bin/x", False), ("$HOME/x", False), ("cat >log/x", True),
])  # fmt: skip
def test_a_command_with_a_path_of_the_project_starts_there(command, moves):
    assert in_project(command, "P") == (f'cd "$P" || exit 1; {command}' if moves else command)


def test_joined_names_are_split_in_every_way():
    assert joined_mcp("a_b_c", "_") == ["mcp__a__b_c", "mcp__a_b__c"]
    assert joined_mcp("a", "_") is None
    assert joined_mcp("a_*b", "_") is None


def test_patterns():
    assert patterns_of("^a$|b") == ["a", "*b*"]
    assert patterns_of("^(a|b)$") == ["a", "b"]
    assert patterns_of(".*(a|b).*") == ["*a*", "*b*"]
    assert patterns_of("mcp__(?:x|y)__get.*", whole=True) == ["mcp__x__get*", "mcp__y__get*"]
    assert patterns_of("(a|b)*") is patterns_of("(a|b)+c") is patterns_of("(a|b)(c|d)") is patterns_of("x|(a|b)") is None
    assert command_patterns("git push|rm -rf") == ["*git push*", "*rm -rf*"]
    assert command_patterns(r"rm\s+-rf") is None
