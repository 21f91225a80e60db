"""Phrases that a reader stumbles over, kept out of messages, comments and pages.

Each is one that the project once had, with the plain form. The list is short on purpose: it catches relapses, it does not teach English.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = ("src", "docs", "examples", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
KINDS = (".py", ".md", ".js", ".mjs", ".json")

# what must not be there (a regular expression) -> what to write
PHRASES = {
    r"without a word": "silently",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"(?<!there )\bis no (JSON|TOML|text|list|object|number|string|stop|event|tool|host|answer)\b": "is not a",
    r"\bcannot be said\b": "cannot be expressed",
    r"\b(is|are) said\b": "is reported, a warning reports it",
    r"\bby commas\b": "comma-separated",
    r"\blists? of texts\b": "list of strings",
    r"\bmust be a text\b|\bis a text\b": "string",
    r"\bgoes on\b": "continues, proceeds",
    r"\bas ever\b": "as usual",
    r"\bfor ever\b": "forever",
    r"\btime-outs?\b": "timeout",
    r"\bcannot be had\b": "cannot be installed, cannot be undone",
    r"\bof no host\b": "cannot tell which agent",
    r"\bleave .{1,20} away\b|\btake .{1,20} away\b": "remove",
}


@functools.cache  # and not when tests are collected, which each process that runs some does
def texts() -> dict[str, str]:
    files = [path for place in PLACES for path in ([ROOT / place] if (ROOT / place).is_file() else sorted((ROOT / place).rglob("*")))]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files if path.is_file() and path.suffix in KINDS}


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_phrase_is_not_used(phrase: str) -> None:
    pattern = re.compile(phrase, re.IGNORECASE)
    found = [
        f"{name}:{number}: {line.strip()[:160]}"
        for name, text in texts().items()
        if pattern.search(text)  # a phrase stands in one line, and most files have none
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, f"write {PHRASES[phrase]!r}:\n" + "\n".join(found)


def test_the_places_are_looked_at() -> None:
    assert len(texts()) > 200
