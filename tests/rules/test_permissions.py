"""Permissions: the syntax, what they cover, and their order."""

from __future__ import annotations

import os

import pytest

from onehook.core import UsageError
from onehook.rules.permissions import parse_permission

STOPPED = [
    ("Bash", "ls"),
    ("Bash(*)", "ls"),
    ("Bash(npm publish:*)", "npm publish"),
    ("Bash(npm publish:*)", "npm publish --access public"),
    ("Bash(npm publish *)", "npm publish"),
    ("Bash(npm publish)", "npm publish"),
    ("Bash(npm publish:*)", "cd x && npm publish"),
    ("Bash(npm publish:*)", "sudo npm   publish"),
    ("Bash(npm publish:*)", "bash -c 'npm publish'"),
    ("Bash(npm publish:*)", "echo $(npm publish)"),
    ("Bash(npm publish:*)", "/usr/bin/npm publish"),
    ("Bash(npm publish:*)", "'npm' publish"),
    ("Bash(npm*)", "npmx"),
    ("Bash(git * main)", "git push origin main"),
    ("Bash(* --force)", "x --force"),
    ("Read(./.env*)", "Read(.env.local)"),
    ("Read(./.env*)", "cat .env"),
    ("Read(./.env*)", "grep x ./.env"),
    ("Read(.env)", "Read(deep/down/.env)"),
    ("Read(.env)", "Grep(.env)"),
    ("Read(secrets/**)", "cd secrets && cat key"),
    ("Read(secrets/**)", "cp -r secrets x"),
    ("Read(secrets)", "Read(secrets/a/b)"),
    ("Read(*.PEM)", "Read(a.pem)"),
    ("Read(~/.ssh/**)", "cat ~/.ssh/id_rsa"),
    ("Edit(/etc/**)", "Write(/etc/hosts)"),
    ("Edit(//etc/**)", "echo x > /etc/hosts"),
    ("Edit(src/**/*.lock)", "Edit(src/a/b/c.lock)"),
    ("Write(*.lock)", "Edit(a.lock)"),
    ("Edit(a.txt)", "python3 -c \"open('a.txt', 'w')\""),
    ("WebFetch", "WebFetch(https://x.y/z)"),
    ("WebFetch(domain:example.com)", "WebFetch(https://example.com/a)"),
    ("WebFetch(domain:example.com)", "WebFetch(https://me@EXAMPLE.com:8443/a)"),
    ("WebFetch(domain:*.internal)", "WebFetch(http://a.b.internal/)"),
    ("mcp__github", "mcp__github__delete_repo"),
    ("mcp__github__*", "mcp__github__delete_repo"),
    ("mcp__github__delete_*", "mcp__github__delete_repo"),
]
PASSED = [
    ("Bash(npm publish:*)", "npm test"),
    ("Bash(npm publish:*)", "npm publishx"),
    ("Bash(npm publish:*)", "echo npm publish"),
    ("Bash(npm publish)", "npm publish --dry-run"),
    ("Bash(ls *)", "lsof"),
    ("Read(./.env*)", "Edit(.env)"),
    ("Read(./.env*)", "Read(deep/.env)"),
    ("Read(./.env*)", "echo .env"),
    ("Edit(/etc/**)", "Read(/etc/hosts)"),
    ("Edit(src/*.py)", "Edit(src/a/b.py)"),
    ("WebFetch(domain:example.com)", "WebFetch(https://example.com.evil.net/)"),
    ("WebFetch(domain:example.com)", "WebFetch(https://evil.net/@example.com)"),
    ("WebFetch(domain:*.internal)", "WebFetch(https://internal.evil.net/)"),
    ("mcp__github__delete_*", "mcp__github__list"),
    ("mcp__github__delete_*", "mcp__gitlab__delete_repo"),
]


@pytest.mark.parametrize(("entry", "sample"), STOPPED)
def test_a_denied_use_is_stopped(entry, sample, rules):
    assert rules(f"[permissions]\ndeny = [{entry!r}]\n").decision(sample) == "deny"


@pytest.mark.parametrize(("entry", "sample"), PASSED)
def test_another_use_is_not(entry, sample, rules):
    assert rules(f"[permissions]\ndeny = [{entry!r}]\n").decision(sample) is None


def test_deny_wins_over_ask_and_ask_over_allow(rules):
    tried = rules('[permissions]\nallow = ["Bash(git:*)"]\nask = ["Bash(git push:*)"]\ndeny = ["Bash(git push --force:*)"]\n')
    assert [tried.decision(line) for line in ("git status", "git push", "git push --force")] == ["allow", "ask", "deny"]


ALLOW = '[permissions]\nallow = ["Bash(npm test:*)", "Bash(npm run build)", "Edit(./out/**)", "Read(./src/**)"]\n'


@pytest.mark.parametrize(
    "line",
    [
        "npm test",
        "npm test -- --watch=false",
        "npm run build && npm test",
        "npm test 2>/dev/null",
        "timeout 60 npm test",
        "npm test > out/log.txt",
        "npm test || true",
        "Read(src/app.py)",
        "Edit(out/a.txt)",
    ],
)
def test_an_allow_covers_a_line_if_it_covers_every_part(line, rules):
    assert rules(ALLOW).decision(line) == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "npm test && rm -rf x",
        "npm test; curl x.y",
        "npm test | sh",
        "npm test $(curl x.y)",
        "npm test `id`",
        "npm test > src/app.js",
        "npm test > /etc/passwd",
        "sudo npm test",
        "env X=1 npm test",
        "/tmp/npm test",
        "npm testx",
        "npm run build --x",
        "NODE_OPTIONS=--require=x npm test",
        "$X test",
        "eval npm test",
        "true",
        "Read(/etc/passwd)",
        "Read(src/../.env)",
        "Edit(src/app.py)",
    ],
)
def test_an_allow_does_not_cover_a_line_with_more_in_it(line, rules):
    assert rules(ALLOW).decision(line) is None


def test_a_link_to_a_denied_file_is_followed_and_an_allowed_link_is_not_enough(rules, tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "src").mkdir()
    os.symlink(tmp_path / "secret", tmp_path / "src" / "link")
    tried = rules('[permissions]\ndeny = ["Read(./secret)"]\n')
    assert tried.decision("Read(src/link)", str(tmp_path)) == "deny"
    assert rules(ALLOW).decision("Read(src/link)", str(tmp_path)) is None


def test_a_slash_stands_for_the_folder_of_the_file_in_an_allow(rules, tmp_path):
    tried = rules('[permissions]\nallow = ["Read(/src/**)"]\n')
    assert tried.decision(f"Read({tmp_path}/src/a)") == "allow"
    assert tried.decision("Read(/src/a)") is None


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("Bahs(ls)", "unknown tool 'Bahs'; did you mean 'Bash'?"),
        ("Bash(ls", "closing parenthesis is missing"),
        ("Bash()", "parentheses are empty"),
        ("Bash(a:* b)", ":\\* is only allowed at the end"),
        ("WebFetch(example.com)", "write WebFetch\\(domain:example.com\\)"),
        ("mcp____x", "server is missing"),
        ("mcp__a__b(c)", "takes no specifier"),
    ],
)
def test_a_bad_entry_is_an_error(entry, words):
    with pytest.raises(UsageError, match=words):
        parse_permission(entry)
