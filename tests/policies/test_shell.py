from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from onehook.policies.danger import danger, git_danger
from onehook.policies.shell import Script, parse


def names(text: str) -> list[str]:
    return [command.name for command in parse(text).commands]


def test_commands_come_in_order_with_the_wrappers_that_lead_to_them() -> None:
    commands = parse("cd x && sudo -u me bash -c 'rm -rf y'").commands
    assert [c.name for c in commands] == ["cd", "sudo", "bash", "rm"]
    assert commands[-1].via == ("sudo", "bash -c")
    assert commands[-1].argv == ["rm", "-rf", "y"]


def test_words_after_a_redirect_belong_to_the_command() -> None:
    command = parse("rm 2> log -rf x").commands[0]
    assert command.argv == ["rm", "-rf", "x"]
    assert [(r.op, r.target) for r in command.redirects] == [(">", "log")]


def test_unknown_parts_are_marked_and_shown_by_name() -> None:
    word = parse('rm "$X"/a-$(date)').commands[-1].argv[1]
    assert not word.known
    assert word.shown == "$X/a-$(...)"
    assert parse("rm '$X'").commands[0].argv[1].known


def test_quoted_globs_and_tildes_are_told_from_bare_ones() -> None:
    argv = parse("rm * '*' ~ '~'").commands[0].argv
    assert [(w.glob, w.tilde) for w in argv[1:]] == [
        (True, False),
        (False, False),
        (False, True),
        (False, False),
    ]


def test_text_that_cannot_be_seen_makes_the_shell_opaque_with_its_sources() -> None:
    shell = parse("curl x | base64 -d | sudo sh").commands[-1]
    assert (shell.name, shell.opaque, shell.sources) == ("sh", True, ("curl", "base64"))


def test_a_shell_that_reads_visible_text_is_not_opaque() -> None:
    assert not any(c.opaque for c in parse("echo ls | sh; bash -c ls; sh <<E\nls\nE").commands)


def test_both_values_of_a_conditional_assignment_are_considered() -> None:
    script = parse("d=a; if x; then d=b; fi; rm $d")
    assert [c.argv[1] for c in script.commands if c.name == "rm"] == ["a", "b"]


@pytest.mark.parametrize("text", ["rm 'x", "if true; then rm x", "rm x )", "rm x; done", "( rm x", 'rm "$(ls'])
def test_a_text_that_does_not_parse_is_broken_and_keeps_its_commands(text: str) -> None:
    script = parse(text)
    assert script.broken
    assert "rm" in [c.name for c in script.commands]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10**5,
        "$(" * 10**5,
        "`" * 10**5,
        "${a:-" * 10**5,
        "if a; then " * 10**4,
        "{ " * 10**5,
        '"$(' * 10**5,
        "f() " * 10**4,
        "coproc " * 10**4,
        "[[ ( " * 10**4,
        "((" * 10**4,
        "$((" * 10**4,
        "<<A " * 10**4,
        "|&;" * 10**4,
        "sudo " * 10**4,
        "{a,b}" * 10**4,
        "a=$a$a;" * 10**4,
        "X=x$X;" * 10**4,
        "case x in " * 10**4,
        "a " * 10**5,
        "f(){ g $1; g $1; };g(){ h $1; h $1; };h(){ f $1; f $1; };f a",
        "cat <<A\n$(" * 10**3,
        "\\" * 10**5,
        "a && " * 10**4,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_ends_without_an_error(text: str) -> None:
    assert isinstance(parse(text), Script)


SYNTAX = (
    "rm|SPACE|SPACE|-rf|/|$X|X=|'|\"|$(|)|(|{|}|;|&|PIPE|<|>|<<E|NEWLINE|E\n|if |then |fi"
    "|do |done|for x in |case x in |esac"
    "|;;|[[ | ]]|((|))|${|$'|\\|#|f()|echo |*|~|{a,b}|!|function |a=("
)
RUNNERS = "bash -c |eval |sudo |xargs |PIPE sh|find |-exec |git push |env -S |ssh |parallel |watch |su -c |-I|kill |psql -c |trap |`|\0|\1"


def texts(tokens: str) -> st.SearchStrategy[str]:
    """Random strings made of shell tokens."""
    names = {"SPACE": " ", "PIPE": "|", "NEWLINE": "\n", "PIPE sh": "| sh"}
    return st.lists(st.sampled_from([names.get(t, t) for t in tokens.split("|")]), max_size=40).map("".join)


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.text(), texts(SYNTAX + "|" + RUNNERS)))
def test_no_text_raises(text: str) -> None:
    script = parse(text)
    assert isinstance(script, Script)
    assert isinstance(danger(script), str | None)
    assert isinstance(git_danger(script, current_branch="main"), str | None)


def nested(frames: int) -> Script:
    return parse("( " * 25 + "ls" + " )" * 25) if frames == 0 else nested(frames - 1)


def test_a_nearly_full_stack_gives_a_cut_script() -> None:
    depth = len(inspect.stack(0))
    assert nested(sys.getrecursionlimit() - depth - 60).cut


BASH = shutil.which("bash") or ""


@pytest.mark.skipif(not BASH, reason="needs bash to compare with")
@settings(max_examples=150, deadline=None)
@given(texts(SYNTAX))
def test_what_bash_accepts_is_not_broken(text: str) -> None:
    # bash -n looks neither inside backticks nor at text that a command will run, so those are left out. At an empty [[ ]], bash 5.2
    # silently gives up with exit code 0, whatever follows: it runs nothing of the text, so this does not count as accepted.
    assume(not re.search(r"\[\[\s*\]\]", text))
    accepted = subprocess.run([BASH, "-n", "-c", text], capture_output=True, stdin=subprocess.DEVNULL)
    if accepted.returncode == 0 and not accepted.stderr:
        assert not parse(text).broken


def test_names_are_found_in_every_kind_of_compound() -> None:
    text = "if a; then b; else c; fi; while d; do e; done; case x in y) f;; esac; g() { h; }; ( i ) | { j; }"
    assert names(text) == list("abcdefhij")
