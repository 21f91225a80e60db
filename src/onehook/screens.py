"""Shows that some text contains no credential, without the rules that find them: loading those takes longer than the rest of an event.

What it needs is in the cache: for each rule, hints (the text must contain one of them), and the name of a regular expression that matches
if the rule finds something. masks.py makes it from the tables of policies/secret_formats.py and secret_places.py; if those change, it is
useless.
"""

from __future__ import annotations

from onehook.cache import expression, kept, stamp_of
from onehook.codec import lowered
from onehook.system import LOG_QUOTING, LOG_RULES, LOG_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from typing import Any

    Screen = tuple[tuple[str, ...], str]

WINDOW = 4000  # characters that are looked at for credentials before a string is cut
FILE = "credentials"  # in the cache

_screens: list[Sequence[Screen]] = []
_clean: set[str] = set()


def screens() -> Sequence[Screen]:
    """The screens; () if none were made."""
    if not _screens:
        found = kept(FILE)
        _screens.append(found[1] if found is not None and found[0] == stamp_of(LOG_RULES) else ())
    return _screens[0]


def is_clean(text: str) -> bool:
    """Whether the text is known to hold no credential."""
    if text in _clean:
        return True
    searched = cut(text)
    small = lowered(searched)
    for hints, name in screens():
        for hint in hints:
            if hint in small:
                pattern = expression(name)
                if pattern is None or pattern.search(searched) is not None:
                    return False
                break
    if not screens():
        return False
    _clean.add(text)
    return True


def shorten(entry: dict[str, Any], quoting: Container[str], mask: Callable[[str], str]) -> None:
    """Cut the strings of a line; those that quote the event are masked first."""
    for holder, name in [*((entry, name) for name in LOG_QUOTING), *((one, "reason") for one in entry["by"] if one.get("reason"))]:
        text = holder[name]
        holder[name] = short(mask(cut(text)) if text in quoting else text)


def cut(text: str) -> str:
    """The part of a string that is searched. If the beginning of a key were cut off, its end would not be recognised."""
    return text[:WINDOW].partition("-----BEGIN ")[0]


def short(text: str) -> str:
    return text if len(text) <= LOG_TEXT else f"{text[: LOG_TEXT - 1]}…"
