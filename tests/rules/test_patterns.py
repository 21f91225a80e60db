"""The examples in docs/command-patterns.md, line by line."""

from __future__ import annotations

import pytest

from onehook.policies.shell import parse
from onehook.rules.match import Reading, matches
from onehook.rules.patterns import PatternError, parse_pattern, parse_vocabulary

NEAR = {"npm": ["lodash", "express"]}


def held(pattern: str, line: str, whole: bool = False, **vocabulary: str) -> bool:
    words = {name.replace("_", ""): parse_vocabulary(text) for name, text in vocabulary.items()}
    parsed = parse_pattern(pattern, NEAR)
    return any(matches(parsed, Reading(command, words), NEAR, whole) for command in parse(line).commands)


YES = [
    ("git", "git status"),
    ("git push", "git push origin main"),
    ("git push", "/usr/bin/git push"),
    ("git push", "GIT.exe push"),
    ("psql|mysql", "mysql -u root"),
    ("psql|mysql * --host prod*", "psql --host prod-1 -c 'select 1'"),
    ("psql|mysql * --host prod*", "sudo env X=1 psql --host=prod-1"),
    ("psql|mysql * --host prod*", "psql app --host prod-1"),
    ("rm -rf", "rm -rf x"),
    ("rm -rf", "rm -fr x"),
    ("rm -rf", "rm -r -f x"),
    ("rm -rf", "rm x -f -r"),
    ("rm -rf", "rm -rvf x"),
    ("tar -f *.tgz", "tar -f a.tgz"),
    ("gcc -o *.so", "gcc -ofoo.so"),
    ("terraform apply -auto-approve", "terraform apply -auto-approve"),
    ("x --a|--b", "x --b"),
    ("x --mode fast|slow", "x --mode=slow"),
    ("x [y] z", "x z"),
    ("x [y] z", "x y z"),
    ("x * z", "x a b z"),
    ("x * z", "x z c"),
    ("x ?*", "x a"),
    ("x a $", "x a --flag"),
    ("x a !b", "x a c"),
    ("x a !--dry-run", "x a --force"),
    ("x a !--dry-run", "x a --dry-run=false"),
    ("x -- ?*", "x -- a"),
    ("x 'a b'", "x 'a b'"),
    ("kubectl delete", "kubectl -n prod delete pod x"),
    ("kubectl delete", "kubectl --context prod delete pod x"),
    ("mkfs.* /dev/*", "mkfs.ext4 /dev/sda"),
    ("rm <broad>", "rm ~"),
    ("cp * <device>", "cp a /dev/sda"),
    ("pip install * <url>", "pip install git+https://x/y"),
    ("scp * <remote>", "scp a host:b"),
    ("npm i <near:npm>", "npm i loadsh"),
    ("psql -c <sql>", "psql -c 'drop table x'"),
    ("docker rm <unknown>", "docker rm $(docker ps -q)"),
    ("git push", "if true; then git push; fi"),
    ("git push", "echo $(git push)"),
    ("git push", "xargs git push < x"),
]
NO = [
    ("git push", "git pull"),
    ("git push", "echo git push"),
    ("git push", "git commit -m push"),
    ("psql|mysql * --host prod*", "psql --host dev"),
    ("psql|mysql * --host prod*", "echo psql --host prod-1"),
    ("rm -rf", "rm -r x"),
    ("rm -rf", "rm rf"),
    ("x --force", "x --force-with-lease"),
    ("x --force", "x --force=no"),
    ("x --mode fast", "x --mode slow"),
    ("x --mode fast", "x --mode"),
    ("x a b", "x a"),
    ("x a b", "x a c b"),
    ("x a $", "x a b"),
    ("x a !b", "x a b"),
    ("x a !--dry-run", "x a --dry-run"),
    ("x a !--dry-run|-n", "x a -n"),
    ("x -- ?*", "x a"),
    ("x -- ?*", "x --"),
    ("x ?*", "x"),
    ("x -a", "x -- -a"),
    ("rm <broad>", "rm build"),
    ("npm i <near:npm>", "npm i lodash"),
    ("psql -c <sql>", "psql -c 'select 1'"),
]


@pytest.mark.parametrize(("pattern", "line"), YES)
def test_a_pattern_matches(pattern, line):
    assert held(pattern, line, _="-m* -u* -n* --context*" if line.startswith(("git", "kubectl")) else "")


@pytest.mark.parametrize(("pattern", "line"), NO)
def test_a_pattern_does_not_match(pattern, line):
    assert not held(pattern, line, _="-m*" if line.startswith("git") else "")


def test_a_vocabulary_makes_two_spellings_one():
    words = {"_": "-r=--recursive -f=--force"}
    assert held("rm --recursive --force", "rm -rf x", **words)
    assert held("rm -rf", "rm --recursive --force x", **words)
    assert not held("rm -rf", "rm --recursive x", **words)


def test_a_vocabulary_tells_values_from_words():
    assert held("git push x", "git -C push push x", _="-C*")
    assert not held("git push", "git -C push status", _="-C*")
    assert held("x -o=y", "x -oy", _="-o*")


def test_the_words_of_a_subcommand_are_its_own():
    words = {"_": "-C*", "push": "-f=--force", "branch": "-f=--other"}
    assert held("git push --force", "git push -f", **words)
    assert not held("git branch --force", "git branch -f", **words)


@pytest.mark.parametrize(
    ("pattern", "line", "covered"),
    [
        ("git reset --hard origin/main", "git reset --hard origin/main", True),
        ("git reset --hard origin/main", "git reset --hard origin/main --quiet", False),
        ("git reset --hard origin/main [--quiet]", "git reset --hard origin/main --quiet", True),
        ("git reset --hard", "git reset --hard HEAD~3", False),
        ("git reset --hard *", "git reset --hard HEAD~3", True),
        ("git clean -fd", "git clean -fd", True),
        ("git clean -fd", "git clean -fdx", False),
        ("make x", "make x > /etc/passwd", False),
    ],
)
def test_an_exception_covers_the_whole_command_or_nothing(pattern, line, covered):
    assert held(pattern, line, whole=True) is covered


@pytest.mark.parametrize(
    ("pattern", "column", "words"),
    [
        ("", 0, "empty"),
        ("-f x", 0, "starts with the name"),
        ("git push |main", 9, "an alternative is empty"),
        ("git 'push", 4, "quote is not closed"),
        ("git [push", 4, "bracket is not closed"),
        ("git push; ls", 8, "one command"),
        ("git push && ls", 9, "one command"),
        ("rm <brod>", 3, "unknown class <brod>; the classes are <broad>"),
        ("npm i <near:pip>", 6, "no list 'pip'"),
        ("git push --a|b", 9, "all options or all words"),
        ("x $ y", 4, "nothing can follow"),
        ("x !", 2, "must be followed by the part"),
        ("x [a b]", 2, "brackets contain one word"),
    ],
)
def test_a_bad_pattern_is_an_error_with_a_caret(pattern, column, words):
    with pytest.raises(PatternError) as caught:
        parse_pattern(pattern)
    assert words in str(caught.value)
    assert str(caught.value).splitlines()[-1] == " " * (4 + column) + "^"


def test_a_line_of_thousands_of_words_is_matched_without_recursion():
    assert held("x * a * b", "x " + "a " * 3000 + "b")
    assert not held("x * a * c $", "x " + "a " * 3000)
