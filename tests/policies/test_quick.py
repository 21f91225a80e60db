"""The quick reader compared with the full one."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.policies.bash_wrappers import AFTER_VERB, INTERPRETERS, PLAIN, SHELLS, SPECIAL_WRAPPERS, STDIN_SHELLS
from onehook.policies.quick import _BUSY, read
from onehook.policies.shell import DECLARERS, parse

ORDINARY = Path(__file__).parent.parent / "data" / "ordinary_commands.txt"


def plain(commands):
    return [
        (c.name, [str(w) for w in c.argv], [(r.op, str(r.target)) for r in c.redirects], c.source.strip(), c.via, c.opaque, c.stdin)
        for c in commands
    ]


def test_ordinary_commands_are_read_alike():
    lines = [line for line in ORDINARY.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    read_quickly = [line for line in lines if read(line) is not None]
    assert len(read_quickly) > 0.75 * len(lines)
    assert [line for line in read_quickly if plain(read(line)) != plain(parse(line).commands)] == []


WORDS = st.sampled_from([
    "git", "ls", "npm", "test", "-rf", "--x=y", "'a b'", '"c d"', "a'b'c", "&&", "||", ";", "|", ">", ">>", "2>&1", "2>", "f.txt",
    "/dev/null", "&", "$X", "#", "x=1", "sudo", "if", "exec", "run", "1", "12", "''", '""', "-", "--", "!", "echo", "cat", "python",
    "-c", "-m", "time",
])  # fmt: skip


@settings(max_examples=3000, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=8), st.sampled_from([" ", "", "  "]))
def test_whatever_is_read_quickly_is_read_alike(words, blank):
    line = blank.join(words)
    found = read(line)
    if found is not None:
        script = parse(line)
        assert not script.broken
        assert plain(found) == plain(script.commands)


def test_everything_that_runs_other_words_is_left_to_the_whole_reader():
    assert {*PLAIN, *AFTER_VERB, *SPECIAL_WRAPPERS, *SHELLS, *INTERPRETERS, *STDIN_SHELLS, *DECLARERS} - {"shell"} <= _BUSY
