"""The small TOML reader agrees with tomllib on everything it reads, and accepts nothing invalid."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onehook.manifest.toml_reader import read

tomllib = pytest.importorskip("tomllib") if sys.version_info >= (3, 11) else pytest.importorskip("tomlkit")

PIECES = st.sampled_from(
    ["a", "hook", "b-c", "=", " = ", "[[hook]]", "[hook]", "[[a]]", "\n", "\n", " ", "\t", "# no\n", '"x"', '"x\\n\\t\\"y"', "'x\\y'",
     '"\\u00e9"', '"\u00e9\t"', '"\\q"', '"""x"""', "'''x'''", "''", '""', "1", "-1", "0", "01", "1.5", "1.", ".5",
     "1e3", "1_0", "+1", "true", "false", "True",
     "[1, 2]", "[\n'a', # c\n'b',\n]", "[", "]", ",", "{a = 1}", "a.b = 1", "1979-05-27", "inf", "\r\n", "\r", "\x00", "\x7f", '"\\']
)  # fmt: skip
LINES = st.builds("{} = {}".format, st.sampled_from(["a", "b", "c-d"]), PIECES)


@given(st.lists(st.one_of(PIECES, LINES.map(lambda line: line + "\n")), max_size=12).map("".join))
@example('a = "\\u00e9"\n')
@example("hook = []\n[[hook]]\n")
@example("[[hook]]\na = 1\na = 2\n")
@example("[a]\nb = 1\n[[a]]\n")
@example("[[a]]\n[a]\nb = 1\n")
@example("[a]\n[a]\n")
@example("a = ''\nb = ''''\n")
@example('a = "x" "y"\n')
def test_what_it_reads_is_what_tomllib_reads(text):
    data = read(text)
    if data is not None:
        assert tomllib.loads(text) == data


MANIFEST = """\
# a comment
fail = "closed"
timeout = 30

[model] # which
api = "openai"

[[hook]]  # one
name = 'a "name"'
events = ["PreToolUse"]
tools = [
  "Bash",  # with a comment
  'mcp__db__*',
]
run = ["./bin/validate", "--level", "2\\t"]
shell = false
timeout = 5.5

[[hook]]
events = [ ]
"""


@pytest.mark.parametrize("text", [MANIFEST, MANIFEST.replace("\n", "\r\n"), "", "\n# x"])
def test_a_manifest_is_read_without_a_library(text):
    assert read(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ['a = """x"""', "a.b = 1", "a = {b = 1}", "[t.u]", "a = 1979-05-27", 'a = "\\u00e9"', '"a" = 1'])
def test_rare_toml_is_left_to_a_library(text):
    assert read(text) is None
    tomllib.loads(text)


@pytest.mark.parametrize(
    "text", ["a", "a =", "a = ", "= 1", 'a = "', "a = '", "a = [", "a = [1", "a = 01", "a = 1 2", "a = x", "[[a", "[[a]", "a = \x00"]
)
def test_wrong_toml_is_never_read(text):
    assert read(text) is None
