"""Findings in JSON of any shape, located by paths: how http and program backends are described.

A path names fields, with [] for each element: "results[].check_id", "[].RuleID", "result.flagged". Without a path, the whole answer
counts.
"""

from __future__ import annotations

from onehook.scan.model import Found, ScanError, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

OPTIONS = {
    "flagged": "the path of a value that is true if something was found",
    "categories": "the path of a list of categories, or of an object that maps categories to true or a score",
    "threshold": "the lowest score at which a category counts (default: 0.5)",
    "findings": "the path of a list of findings; the next four are paths in each of them",
    "category": "what was found",
    "text": "the passage that was found, word for word",
    "start": "where the passage begins, in characters; instead of the passage itself",
    "end": "where it ends",
}


def picked(value: Any, path: str) -> list[Any]:
    """Every value that a path leads to."""
    values = [value]
    for name in path.replace("[]", ".[]").split("."):
        if name == "[]":
            values = [inner for one in values for inner in _elements(one)]
        elif name:
            values = [one[name] for one in values if isinstance(one, dict) and name in one]
    return values


def _elements(value: Any) -> list[Any]:
    return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []


def findings(answer: Any, paths: Mapping[str, Any], text: str) -> list[Found]:
    """The findings in an answer. Raises ScanError if nothing is at the paths, since that does not mean "nothing found"."""
    known = [name for name in ("flagged", "categories", "findings") if paths.get(name)]
    if "findings" in known:
        listed = picked(answer, paths["findings"].partition("[]")[0])
        if not listed or not isinstance(listed[0], list if paths["findings"].startswith("[]") else (list, dict)):
            raise ScanError(f"the answer has no list at {paths['findings']!r}")
        return [found for one in picked(answer, paths["findings"]) for found in _found(one, paths, text)]
    if known and not any(picked(answer, paths[name]) for name in known):
        raise ScanError(f"the answer has nothing at {paths[known[0]]!r}")
    named = [name for value in picked(answer, paths.get("categories") or "-") for name in _named(value, float(paths.get("threshold", 0.5)))]
    flagged = [value for value in picked(answer, paths.get("flagged") or "-") if value not in (False, None, 0, "", [], {}, "false")]
    if "flagged" in known and not flagged:
        return []
    return [Found(name) for name in dict.fromkeys(named)] or ([Found("flagged")] if flagged else [])


def _found(one: Any, paths: Mapping[str, Any], text: str) -> list[Found]:
    category = next((str(name) for name in picked(one, paths.get("category") or "-")), "finding")
    passages = [passage for passage in picked(one, paths.get("text") or "-") if isinstance(passage, str)]
    starts, ends = (picked(one, paths.get(side) or "-") for side in ("start", "end"))
    if starts and ends and isinstance(starts[0], int) and isinstance(ends[0], int):
        return [Found(category, starts[0], ends[0])]
    return [found for passage in passages for found in quoted(category, passage, text)] or [Found(category)]


def _named(value: Any, threshold: float) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [name for one in value for name in _named(one, threshold)]
    if isinstance(value, dict):
        return [name for name, score in value.items() if score is True or (not isinstance(score, bool) and _is_above(score, threshold))]
    return []


def _is_above(score: Any, threshold: float) -> bool:
    return isinstance(score, (int, float)) and score >= threshold
