"""How many of another detector's own test cases are found: the figures in docs/policies.md match this code."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomlkit

from onehook.policies import find_secrets

ROOT = Path(__file__).parent.parent.parent
TABLES = tomlkit.parse((ROOT / "tests" / "data" / "detect_secrets.toml").read_text(encoding="utf-8").replace("·", "")).unwrap()
DOCS = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
# The keyword detector accepts any value; the same lines with a value that looks like a credential show which places are known.
ARTIFICIAL = ("m{{h}o)p${e]nob(ody[finds>-_$#thisone}}", "value with quotes and spaces", "A,.:-¨@*¿?!")
RANDOM = "hT7kQ2zL9wXc4Vb8"


def with_random_value(text: str) -> str:
    for value in ARTIFICIAL:
        text = text.replace(value, RANDOM)
    return text


def count(texts: list[str], allow_examples: bool) -> int:
    return sum(bool(find_secrets(text, allow_examples=allow_examples)) for text in texts)


def row(name: str, credentials: list[str], others: list[str]) -> str:
    found = [f"{count(credentials, examples)} of {len(credentials)}" for examples in (True, False)]
    return f"| {name} | {found[0]} | {found[1]} | {f'{count(others, True)} of {len(others)}' if others else ''} |"


ROWS = [row(name, table["credentials"], table["others"]) for name, table in TABLES.items()]
ROWS.append(row("keyword, with a random value", [with_random_value(text) for text in TABLES["keyword"]["credentials"]], []))
EVERY = [[text for table in TABLES.values() for text in table[key]] for key in ("credentials", "others")]
ROWS.append(row("all of them", *EVERY))


@pytest.mark.parametrize("line", ROWS)
def test_the_figures_of_the_docs_are_measured(line: str) -> None:
    assert line in DOCS
