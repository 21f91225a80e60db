"""What the pages about rules say is true."""

from __future__ import annotations

from pathlib import Path

from onehook.packs import PACKS
from onehook.rules.compile import read_pack
from onehook.rules.keys import RULE
from onehook.rules.patterns import CLASSES

DOCS = Path(__file__).parent.parent.parent / "docs"
RULES = (DOCS / "rules.md").read_text(encoding="utf-8")


def test_the_example_is_a_good_file(rules):
    tried = rules(RULES.partition("```toml\n")[2].partition("```")[0])
    assert tried.decision("rm -rf /") is None  # observe
    assert {finding.record for finding in tried.explain("rm -rf /").findings} == {"would deny"}


def test_every_pack_is_in_the_table():
    rows = [f"| `{pack}` | {len(read_pack(pack)['rule'])} | {read_pack(pack)['about']} |" for pack in PACKS]
    assert RULES.partition("<!-- packs -->\n")[2].partition("<!-- /packs -->")[0].splitlines()[2:] == rows


def test_every_key_of_a_rule_is_explained():
    table = RULES.partition("## A rule of your own")[2].partition("## Exceptions")[0]
    assert [key for key in RULE if f"`{key}`" not in table] == []


def test_every_class_of_words_is_explained():
    page = (DOCS / "command-patterns.md").read_text(encoding="utf-8")
    assert [name for name in CLASSES if f"<{name}>`" not in page and f"<{name}:LIST>`" not in page] == []
