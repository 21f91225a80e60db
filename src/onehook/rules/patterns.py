"""Command patterns: `git push --force|-f !--dry-run`, parsed into plain data that rules/match.py matches (docs/command-patterns.md).

A parsed pattern is a dict of strings, lists and None, so that it can be stored by marshal:

    programs    names, possibly with wildcards
    words       [(kind, alternatives)]: kind "one", "maybe" (in brackets) or "any" (a lone *)
    options     [(names, values or None)]: each must be given
    optional    the same, for options in brackets; they matter only where a pattern must cover a whole command
    without     options that must not be given; without_words the same for words
    end         whether no words may follow
"""

from __future__ import annotations

from onehook.core import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    Token = tuple[str, int]  # the text and its column

CLASSES = ("broad", "system", "device", "url", "remote", "near", "sql", "unknown", "kept", "listed")


class PatternError(UsageError):
    """A pattern that cannot be read; str() shows where, with a caret."""

    def __init__(self, pattern: str, column: int, problem: str) -> None:
        super().__init__(f"{problem}\n    {pattern}\n    {' ' * column}^")
        self.pattern, self.column, self.problem = pattern, column, problem


def parse_pattern(text: str, lists: Collection[str] = ()) -> dict[str, Any]:
    """The data of a pattern. `lists`: the names that <near:NAME> may use."""
    tokens = _tokens(text)
    if not tokens:
        raise PatternError(text, 0, "the pattern is empty")
    return _Parser(text, tokens, lists).parsed()


def _tokens(text: str) -> list[Token]:
    """Words with their columns. Quotes keep blanks together; there are no other shell constructs in a pattern."""
    out: list[Token] = []
    at, end = 0, len(text)
    while at < end:
        if text[at] in " \t":
            at += 1
            continue
        begin, word = at, ""
        if text[at] == "[":
            at = text.find("]", at) + 1
            if not at:
                raise PatternError(text, begin, "this bracket is not closed")
            word = text[begin:at]
        while at < end and text[at] not in " \t":
            if text[at] in "'\"":
                close = text.find(text[at], at + 1)
                if close < 0:
                    raise PatternError(text, at, "this quote is not closed")
                word += text[at + 1 : close]
                at = close + 1
            elif text[at] == "<" and text.find(">", at) > 0 and (not word or word[-1] == "|"):
                close = text.find(">", at) + 1
                word += text[at:close]
                at = close
            elif text[at] in "\n;&><`(){}":
                raise PatternError(text, at, f"{text[at]!r} has no meaning in a pattern: a pattern describes one command")
            else:
                word += text[at]
                at += 1
        out.append((word, begin))
    return out


class _Parser:
    def __init__(self, text: str, tokens: list[Token], lists: Collection[str]) -> None:
        self.text, self.tokens, self.lists = text, tokens, lists
        self.at = 0
        self.data: dict[str, Any] = {
            "programs": [], "words": [], "options": [], "optional": [], "without": [], "without_words": [], "end": False, "alone": False,
        }  # fmt: skip

    def parsed(self) -> dict[str, Any]:
        program, column = self.tokens[0]
        if program[0] in "-![<$":
            raise PatternError(self.text, column, "a pattern starts with the name of a program")
        self.data["programs"] = self.alternatives(program, column)
        self.at = 1
        while self.at < len(self.tokens):
            self.part()
        return self.data

    def part(self) -> None:
        token, column = self.tokens[self.at]
        if self.data["end"] and token[0] not in "!-":
            raise PatternError(self.text, column, "nothing can follow $, which stands for the end of the command")
        if token in ("$", "$$"):
            self.data["end"], self.data["alone"] = True, token == "$$"
            self.at += 1
        elif token == "*":
            self.data["words"].append(["any", []])
            self.at += 1
        elif token[0] == "[":
            self.bracketed(token, column)
        elif token[0] == "!":
            if len(token) == 1:
                raise PatternError(self.text, column, "! must be followed by the part that must be absent, as in !--dry-run")
            self.take(token[1:], column + 1, "without", "without_words", "")
        else:
            self.take(token, column, "options", "words", "one")

    def bracketed(self, token: str, column: int) -> None:
        """[--verbose], [compose], [--file x]"""
        inner = [(word, column + 1 + at) for word, at in _tokens(token[1:-1])]
        if not inner or len(inner) > 2 or (len(inner) == 2 and inner[0][0][0] != "-"):
            raise PatternError(self.text, column, "brackets contain one word, or one option with its value")
        outer, self.tokens, at, self.at = self.tokens, inner, self.at, 0
        self.take(*inner[0], "optional", "words", "maybe")
        self.tokens, self.at = outer, at + 1

    def take(self, token: str, column: int, options: str, words: str, kind: str) -> None:
        self.at += 1
        if token == "--":  # that it is given, and nothing else
            self.data[options].append([["--"], None])
        elif token[0] == "-" and token != "-":
            self.data[options].extend(self.option(token, column))
        elif kind:
            self.data[words].append([kind, self.alternatives(token, column)])
        else:
            self.data[words].extend(self.alternatives(token, column))

    def option(self, token: str, column: int) -> list[list[Any]]:
        name, equals, value = token.partition("=")
        names = self.alternatives(name, column)
        if not all(part.startswith("-") for part in names):
            raise PatternError(self.text, column, "alternatives must be all options or all words")
        values = self.alternatives(value, column + len(name) + 1) if equals else None
        following = self.tokens[self.at] if not equals and self.at < len(self.tokens) else ("*", 0)
        if following[0][0] not in "-![" and following[0] not in ("*", "$"):
            values = self.alternatives(*following)
            self.at += 1
        if values is None and len(names) == 1 and _is_cluster(name):
            return [[["-" + letter, *([name] if len(name) > 2 else [])], None] for letter in name[1:]]
        return [[names, values]]

    def alternatives(self, token: str, column: int) -> list[str]:
        out: list[str] = []
        for part in token.split("|"):
            if not part:
                raise PatternError(self.text, column, "an alternative is empty")
            if part[0] == "<":
                self.check_class(part, column)
            out.append(part)
            column += len(part) + 1
        return out

    def check_class(self, part: str, column: int) -> None:
        name, _, argument = part[1:-1].partition(":")
        if not part.endswith(">") or name not in CLASSES:
            raise PatternError(self.text, column, f"unknown class {part}; the classes are {', '.join(f'<{c}>' for c in CLASSES)}")
        if name == "near" and argument not in self.lists:
            raise PatternError(self.text, column, f"there is no list {argument!r}; the lists are {', '.join(self.lists) or 'none'}")


def _is_cluster(name: str) -> bool:
    """-rf is -r and -f; -auto-approve is one option. A cluster is at most four letters, each once."""
    letters = name[1:]
    return 1 <= len(letters) <= 4 and letters.isalnum() and len(set(letters)) == len(letters) and not letters.isdigit()


def parse_vocabulary(text: str) -> dict[str, Any]:
    """`-C* -f=--force -o*=--push-option*`: options with a value (*), and pairs that are the same. `-long` alone: one dash, whole words."""
    valued: list[str] = []
    same: dict[str, str] = {}
    for item in text.split():
        names = [name.rstrip("*") for name in item.split("=")]
        if "*" in item:
            valued += names
        for name in names[:-1]:
            same[name] = names[-1]
    return {"valued": valued, "same": same, "long": "-long" in valued + text.split()}
