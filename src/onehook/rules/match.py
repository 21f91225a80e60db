"""Matches a parsed command pattern (rules/patterns.py) with a simple command. On the hot path: nothing is imported that is not needed."""

from __future__ import annotations

from onehook.core import wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Union

    from onehook.policies.shell import Command
    from onehook.rules.load import Table

    Vocabulary = Mapping[str, Any]
    Lists = Union[Mapping[str, Sequence[str]], Table]

OFF = ("false", "no", "none", "off", "0")
NO_WORDS: dict[str, Any] = {"valued": (), "same": {}, "long": False}


class Reading:
    """A simple command taken apart: its words, and its options with their values.

    `loose` contains the positions of words after an unknown option, which may be its value."""

    __slots__ = ("command", "loose", "off", "options", "program", "same", "words")

    def __init__(self, command: Command, vocabulary: Mapping[str, Vocabulary]) -> None:
        self.command = command
        self.program = command.name
        self.words: list[str] = []
        self.loose: set[int] = set()
        self.options: dict[str, list[str | None]] = {}
        self.off: set[str] = set()  # --dry-run=false is not --dry-run
        self.same: Mapping[str, str] = {}
        self._read(command.argv[1:], vocabulary)

    def _read(self, args: Sequence[str], vocabulary: Mapping[str, Vocabulary]) -> None:
        known = vocabulary.get("") or NO_WORDS
        at, plain, loose = 0, False, False
        while at < len(args):
            word = args[at]
            at += 1
            if plain or word[:1] != "-" or word == "-":
                if loose:
                    self.loose.add(len(self.words))
                self.words.append(word)
                loose = False
                # `git push -f` and `git branch -f` are different options: what follows is read in the words of the subcommand.
                known = vocabulary.get(" ".join(self.words[:2])) or vocabulary.get(self.words[0]) or known
            elif word == "--":
                plain, loose = True, False
                self.options["--"] = [None]
            else:
                following = args[at] if at < len(args) else None
                takes = self._option(word, following, known)
                loose = takes is None
                at += 1 if takes else 0
        self.same = known["same"]

    def _option(self, word: str, following: str | None, known: Vocabulary) -> bool | None:
        """Note an option. True if the next word is its value, None if it may be."""
        name, equals, value = word.partition("=")
        if equals:
            if value.lower() in OFF:
                self.off |= {name, known["same"].get(name, name)}
            self._give(name, value, known)
            return False
        if word.startswith("--") or known["long"] or len(word) == 2:
            takes = word in known["valued"]
            self._give(word, following, known)
            return True if takes else None
        self._give(word, following, known)
        for at, letter in enumerate(word[1:], 1):
            if "-" + letter in known["valued"]:
                rest = word[at + 1 :]
                self._give("-" + letter, rest or following, known)
                return not rest
            self._give("-" + letter, word[at + 1 :] or following, known)
        return None

    def _give(self, name: str, value: str | None, known: Vocabulary) -> None:
        self.options.setdefault(name, []).append(value)
        canonical = known["same"].get(name)
        if canonical:
            self.options.setdefault(canonical, []).append(value)

    def gives(self, names: Sequence[str], values: Sequence[str] | None, lists: Lists) -> bool:
        for name in names:
            for spelling in (name, self.same.get(name, name)):
                for value in self.options.get(spelling, ()):
                    if spelling not in self.off if values is None else value is not None and any_of(values, value, lists):
                        return True
        return False


def matches(pattern: Mapping[str, Any], reading: Reading, lists: Lists, whole: bool = False) -> bool:
    """Whether a command matches the pattern. `whole`: it may contain nothing beyond what the pattern names."""
    programs = pattern.get("programs")  # absent where the rules are kept by program
    if programs and not any(wildcard(program, reading.program) for program in programs):
        return False
    if not all(reading.gives(names, values, lists) for names, values in pattern.get("options", ())):
        return False
    if any(reading.gives(names, values, lists) for names, values in pattern.get("without", ())):
        return False
    if pattern.get("alone") and (reading.options or _is_fed(reading.command)):
        return False
    without = pattern.get("without_words")
    if without and any(any_of(without, word, lists) for word in reading.words):
        return False
    if whole and not _only_named(pattern, reading):
        return False
    loose = _values_named(pattern, reading, lists) if whole else reading.loose
    return _words_match(pattern.get("words", ()), reading.words, loose, whole or bool(pattern.get("end")), lists)


def _is_fed(command: Command) -> bool:
    """Whether a command reads a pipe, a file or a here-document, and does not wait for a person."""
    return command.stdin is not None or any(redirect.op.startswith("<") for redirect in command.redirects)


def _only_named(pattern: Mapping[str, Any], reading: Reading) -> bool:
    named = {name for names, _ in (*pattern.get("options", ()), *pattern.get("optional", ())) for name in names}
    named |= {reading.same.get(name, name) for name in named}
    return all(_is_named(name, named) for name in reading.options if name != "--") and not reading.command.redirects


def _values_named(pattern: Mapping[str, Any], reading: Reading, lists: Lists) -> set[int]:
    """The positions of words that are the value of an option which the pattern names with that value."""
    named = [values for _, values in (*pattern.get("options", ()), *pattern.get("optional", ())) if values]
    return {at for at in reading.loose if any(any_of(values, reading.words[at], lists) for values in named)}


def _is_named(option: str, named: set[str]) -> bool:
    """-rf is covered by -r and -f."""
    return option in named or (option[1:2] != "-" and len(option) > 2 and all("-" + letter in named for letter in option[1:]))


def _words_match(parts: Sequence[Any], words: Sequence[str], loose: set[int], end: bool, lists: Lists) -> bool:
    """Whether the words are those of the pattern: all positions in the pattern that the words so far can lead to are followed at once."""
    places = _skipping(parts, {0})
    for position, word in enumerate(words):
        if not end and len(parts) in places:
            return True
        reached = set(places) if position in loose else set()
        for place in places:
            if place == len(parts):
                continue
            kind, alternatives = parts[place]
            if kind == "any":
                reached.add(place)
            elif any_of(alternatives, word, lists):
                reached.add(place + 1)
        places = _skipping(parts, reached)
        if not places:
            return False
    return len(parts) in places


def _skipping(parts: Sequence[Any], places: set[int]) -> set[int]:
    """Including the positions after optional parts."""
    out = set(places)
    for place in range(len(parts)):
        if place in out and parts[place][0] != "one":
            out.add(place + 1)
    return out


def any_of(alternatives: Sequence[str], word: str, lists: Lists) -> bool:
    for alternative in alternatives:
        if alternative[0] == "<":
            if in_class(alternative, word, lists):
                return True
        elif wildcard(alternative, word):
            return True
    return False


def in_class(name: str, word: str, lists: Lists) -> bool:
    if name == "<url>":
        return "://" in word or word.startswith(("git+", "git@", "github:"))
    if name == "<remote>":
        return "://" in word or ":" in word.split("/", 1)[0]
    if name.startswith("<near:"):
        return is_near(word, lists[name[6:-1]])
    if name == "<unknown>":
        return "\0" in word
    if name == "<listed>":
        return word == "\0\0"
    if name == "<sql>":
        from onehook.policies.scripts import sql_destroys

        return sql_destroys(word)
    return _path_class(name, word)


def _path_class(name: str, word: str) -> bool:
    from onehook.policies.bash_expand import Word
    from onehook.policies.danger_paths import breadth, is_critical, is_device, is_kept, is_system

    path = word if isinstance(word, Word) else Word(word)
    if name == "<device>":
        return is_device(path)
    if name == "<kept>":
        return is_kept(path)
    if name == "<system>":
        return is_critical(path) or is_system(path)
    return breadth(path) is not None


def is_near(word: str, names: Sequence[str]) -> bool:
    """One typo away from a well-known name: a letter added, missing, changed, or two swapped."""
    name = word.lower().partition("==")[0].partition("@")[0] or word.lower()
    name = name.replace("_", "-")
    if len(name) < 5:
        return False
    close = [known.replace("_", "-") for known in names if abs(len(known) - len(name)) <= 1 and len(known) > 4]
    return name not in close and any(_one_slip(name, known) for known in close)


def _one_slip(first: str, second: str) -> bool:
    if len(first) > len(second):
        first, second = second, first
    at = 0
    while at < len(first) and first[at] == second[at]:
        at += 1
    if len(first) < len(second):
        return first[at:] == second[at + 1 :]
    swapped = first[at + 1 : at + 2] + first[at : at + 1] == second[at : at + 2] and first[at + 2 :] == second[at + 2 :]
    return swapped or first[at + 1 :] == second[at + 1 :]
