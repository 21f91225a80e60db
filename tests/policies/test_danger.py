from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.policies.danger import RULES, danger, dangers, git_danger
from tests.rows import check_each

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("rule", TABLE)
def test_the_table_of_commands_gives_the_named_rule(rule: str) -> None:
    def check(command: str) -> None:
        found = next((item.rule for item in dangers(command)), "harmless")
        assert found == rule

    check_each(check, TABLE[rule]["commands"])


def test_every_rule_has_commands_in_the_table() -> None:
    assert set(RULES) - {"rm-strict", "too-complex"} == set(TABLE) - {"harmless"}


@pytest.mark.parametrize("rule", [rule for rule in TABLE if rule != "harmless"])
def test_a_skipped_rule_is_not_reported(rule: str) -> None:
    for command in TABLE[rule]["commands"]:
        assert rule not in {item.rule for item in dangers(command, skip={rule})}


def test_an_unknown_rule_in_skip_is_an_error_that_names_the_rules() -> None:
    with pytest.raises(ValueError, match="unknown rule: git-rest; known rules: rm-broad"):
        danger("ls", skip={"git-rest"})


def test_strict_refuses_any_recursive_forced_rm() -> None:
    assert danger("rm -rf node_modules") is None
    assert danger("rm -rf node_modules", strict=True) == "it deletes folders without asking"
    assert danger("rm file", strict=True) is None


def test_the_reason_shows_the_target_in_plain_words() -> None:
    assert danger('rm -rf "$HOME"') == "it deletes a home folder ($HOME)"


def test_a_text_too_deep_to_read_is_a_danger() -> None:
    assert "too-complex" in {item.rule for item in dangers("( " * 500 + "ls" + " )" * 500)}


HARMFUL = st.sampled_from(
    [
        "rm -rf /",
        "rm -rf ~",
        "git push --force",
        "mkfs.ext4 /dev/sda",
        "dd if=x of=/dev/sda",
        "chmod -R 777 /",
        "kill -9 -1",
    ]
)
WRAPPERS: list[Callable[[str], str]] = [
    lambda c: f"bash -c {quote(c)}",
    lambda c: f"sudo sh -c {quote(c)}",
    lambda c: f"env A=b bash -lc {quote(c)}",
    lambda c: f"timeout 5 bash -c {quote(c)}",
    lambda c: f"xargs -I% sh -c {quote(c)}",
    lambda c: f"eval {quote(c)}",
    lambda c: f"( {c} )",
    lambda c: f"{{ {c}; }}",
    lambda c: f"echo $( {c} )",
    lambda c: f'x="$( {c} )"',
    lambda c: f"true && {c}",
    lambda c: f"ls; {c} && ls",
    lambda c: f"if true; then {c}; fi",
    lambda c: f"f() {{ {c}; }}; f",
    lambda c: f"echo {quote(c)} | sh",
    lambda c: f'C={quote(c)}; eval "$C"',
    lambda c: f"ssh host {quote(c)}",
]
PREFIXES = [
    "",
    "sudo ",
    "sudo -u root ",
    "env A=b ",
    "timeout 5 ",
    "nice -n 5 ",
    "nohup ",
    "A=b ",
    "command ",
    "xargs ",
    "! ",
]


@settings(max_examples=300, deadline=None)
@given(HARMFUL, st.sampled_from(PREFIXES), st.lists(st.sampled_from(WRAPPERS), max_size=3))
def test_a_harmful_command_stays_harmful_inside_wrappers(command: str, prefix: str, wrappers: list[Callable[[str], str]]) -> None:
    text = prefix + command
    for wrap in wrappers:
        text = wrap(text)
    assert danger(text) is not None, text


@settings(max_examples=200, deadline=None)
@given(
    HARMFUL,
    st.lists(st.sampled_from(WRAPPERS), max_size=3),
    st.sampled_from(["echo {}", "grep -r {} .", "git commit -m {}", "printf %s {}", "cat <<'E'\n{}\nE", "# {}"]),
)
def test_a_harmful_command_as_an_argument_stays_harmless(command: str, wrappers: list[Callable[[str], str]], template: str) -> None:
    for wrap in wrappers:
        command = wrap(command)
    assert danger(template.format(command if template[:1] in "#c" else quote(command))) is None


GIT_HARMFUL = [
    ("git push -f", None),
    ("git push origin +main", None),
    ("git -C d push -f", None),
    ("git -c a=b push --force", None),
    ("git push --force-with-lease", None),
    ("git push origin main", None),
    ("git push origin HEAD:main", None),
    ("git push origin x:refs/heads/main", None),
    ("git push origin :main", None),
    ("git push origin --delete main", None),
    ("git push", "main"),
    ("git push origin HEAD", "master"),
    ("git push --all", None),
    ("git commit -m x", "main"),
    ("git checkout main && git commit -m x", "feature"),
    ("git switch main; git merge x", None),
    ("git commit --no-verify -m x", None),
    ("git commit -nm x", None),
    ("git push --no-verify", None),
    ("git -c core.hooksPath=/dev/null commit -m x", None),
    ("git config core.hooksPath /dev/null", None),
    ("git config --global core.hooksPath x", None),
    ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/x git commit -m y", None),
    ("export GIT_CONFIG_KEY_0=core.hooksPath", None),
    ("bash -c 'git push -f'", None),
    ("sudo git push -f", None),
]
GIT_HARMLESS = [
    ("git push", "feature"),
    ("git push", None),
    ("git push origin feature", "main"),
    ("git commit -m x", "feature"),
    ("git commit -m x", None),
    ("git checkout -b feature && git commit -m x", "main"),
    ("git commit -m '--no-verify'", None),
    ("git commit -m 'push -f'", None),
    ("git log main", "main"),
    ("git fetch --force", None),
    ("git push --tags", "main"),
    ("git config --get core.hooksPath", None),
    ("git config core.hooksPath", None),
    ("echo git push -f", None),
    ("git switch -c x; git commit -am y", "main"),
    ("git checkout -- main", "feature"),
    ("git commit -am 'new'", "feature"),
]


@pytest.mark.parametrize(("command", "branch"), GIT_HARMFUL)
def test_git_commands_that_rewrite_or_step_around_hooks_are_refused(command: str, branch: str | None) -> None:
    assert git_danger(command, current_branch=branch) is not None


@pytest.mark.parametrize(("command", "branch"), GIT_HARMLESS)
def test_everyday_git_commands_are_left_alone(command: str, branch: str | None) -> None:
    assert git_danger(command, current_branch=branch) is None


def test_a_push_with_lease_can_be_allowed_and_branches_chosen() -> None:
    assert git_danger("git push --force-with-lease origin x", allow_lease=True) is None
    assert git_danger("git push origin release", ["release"]) == "it pushes to the protected branch release"
    assert git_danger("git push origin main", ["release"]) is None
