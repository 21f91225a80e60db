"""Awkward phrases, kept out of messages, comments and pages.

Each of them was once used in the project, and is listed with its plain form. The list is short on purpose: it catches relapses, it does not
teach English.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = ("src", "docs", "examples", "bench", "client", "Makefile", "hatch_build.py", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
KINDS = (".py", ".c", ".md", ".js", ".mjs", ".json", ".toml", ".html")

# what must not occur (a regular expression) -> what to write instead
PHRASES = {
    r"without a word": "silently",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"(?<!there )\bis no (?!longer\b|more\b|less\b|such\b|other\b|\w+er\b)": "is not a",
    r"\bcannot be said\b": "cannot be expressed",
    r"\b(is|are) said\b": "is reported, a warning reports it",
    r"\bby commas\b": "comma-separated",
    r"\blists? of texts\b": "list of strings",
    r"\ba text\b": "a string, some text",
    r"\bgoes on\b": "continues, proceeds",
    r"\bas ever\b": "as usual",
    r"\bfor ever\b": "forever",
    r"\btime-outs?\b": "timeout",
    r"\bcannot be had\b": "cannot be installed, cannot be undone",
    r"\bof no host\b": "cannot tell which agent",
    r"\bleave .{1,20} away\b|\btake .{1,20} away\b": "remove",
    r"\b(has|have|had|having) (a|no|its|their) say\b": "answers, decides; an event that nothing answered",
    r"\banew\b": "again",
    r"\bany more\b": "no longer",
    r"(?<!I )\bsays so\b": "reports it, warns, sets it",
    r"\b(came|comes?) of (it|them|an?|the|this)\b": "the outcome, the result",
    r"\bwhat of (it|an?|the|its)\b": "the parts of",
    r", of which (?!\d)|\bof which (each|only|the)\b": "each of which, only some of which",
    r"\bof (ours|yours|theirs|root's)\b": "onehook's, your own, owned by root",
    r"\bnext try\b": "next attempt",
    r"\beverybody\b": "everyone",
    r"\breadable for\b": "readable by",
    r"\b(event|agent|host|transcript|payload|system|plugin)s? (tells?|do(es)? not tell)\b(?! (the|a|it))": "reports",
    r"\bstands? (at|on|before|between|behind)\b": "is, comes, precedes",
    r"\b(process|thread|file|folder|screen|program) of (its|their|our) own\b(?! name)": "a separate process, a separate file",
    r"\bwithout a look\b": "without reviewing",
    r"\bwhoever\b.{0,40}\bbelieve|\bbelieves? (nobody|an answer|the process)": "trusts",
    r"\b(lies?|lie) there\b": "is stored, is on disk",
    r"\bunknown host\b": "unknown agent",
}


@functools.cache  # not at collection, which every process that runs tests does
def texts() -> dict[str, str]:
    files = [path for place in PLACES for path in ([ROOT / place] if (ROOT / place).is_file() else sorted((ROOT / place).rglob("*")))]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in files
        if path.is_file() and (path.suffix in KINDS or path.name == "Makefile")
    }


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_phrase_is_not_used(phrase: str) -> None:
    pattern = re.compile(phrase, re.IGNORECASE)
    found = [
        f"{name}:{number}: {line.strip()[:160]}"
        for name, text in texts().items()
        if pattern.search(text)  # a phrase is within one line, and most files have none
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, f"write {PHRASES[phrase]!r}:\n" + "\n".join(found)


def test_the_places_are_looked_at() -> None:
    assert len(texts()) > 200
