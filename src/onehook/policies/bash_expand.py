"""From the parts of a word to its text: variables that the script itself assigns, braces, splitting.

Inside this module \\x01 precedes a quoted special character and \\x02 is a field separator;
\\0NAME\\0 is a part that cannot be known (no shell word can hold a NUL).
"""

from __future__ import annotations

from onehook.policies.bash_words import Node, Part, ansi_escape, literal

SPECIAL = frozenset("*?[]{},~")
MAX_VALUE = 65536
MAX_SPENT = 4 << 20
MAX_WORDS = 512


class Word(str):
    """A word after quote removal.  `glob`: has a bare * ? or [.  `tilde`: starts with a bare ~."""

    __slots__ = ("glob", "tilde")
    glob: bool
    tilde: bool

    def __new__(cls, text: str, glob: bool = False, tilde: bool = False) -> Word:
        word = super().__new__(cls, text)
        word.glob, word.tilde = glob, tilde
        return word

    @property
    def known(self) -> bool:
        return "\0" not in self

    @property
    def shown(self) -> str:
        """The word for people: $NAME for a variable, $(...) for what a command prints."""
        pieces = self.split("\0")
        return "".join(("$(...)" if p in ("", "<") else "$" + p) if i % 2 else p for i, p in enumerate(pieces))

    @property
    def script(self) -> str:
        """The word as text for another shell: unknown parts become variables again."""
        pieces = self.split("\0")
        return "".join("${" + (p.strip("<") or "_") + "}" if i % 2 else p for i, p in enumerate(pieces))


class Values:
    """What is known about variables: the possible values of each; an array is a tuple."""

    def __init__(self) -> None:
        self.known: dict[str, list[str | tuple[str, ...]]] = {}
        self.widest = 1
        self.spent = 0
        self.cut = False

    def spend(self, value: str | tuple[str, ...]) -> bool:
        """Counts the characters that were copied; False when a limit is exceeded, as by a string that keeps growing."""
        size = len(value) if isinstance(value, str) else sum(map(len, value))
        self.spent += size
        self.cut = self.cut or size > MAX_VALUE or self.spent > MAX_SPENT
        return size <= MAX_VALUE and self.spent <= MAX_SPENT

    def assign(self, name: str, value: str | tuple[str, ...], also: bool) -> None:
        value = value if self.spend(value) else f"\0{name}\0"
        kept = self.known.get(name, []) if also else []
        if value not in kept and len(kept) < 64:
            self.known[name] = [*kept, value]

    def get(self, name: str, variant: int) -> str | tuple[str, ...] | None:
        values = self.known.get(name)
        if not values:
            return None
        self.widest = max(self.widest, len(values))
        value = values[min(variant, len(values) - 1)]
        return value if self.spend(value) else None


class Expander:
    """Expands words for one variant of the variables' values and one list of positional arguments."""

    def __init__(self, values: Values, args: tuple[str, ...] | None, variant: int = 0) -> None:
        self.values, self.args, self.variant = values, args, variant

    def words(self, parts: list[Part]) -> list[Word]:
        raw = "".join(self.text(part) for part in parts)
        quoted = any(p.quoted or p.kind == "quoted" for p in parts)
        fields = [f for f in raw.split("\2") if f] or ([""] if quoted else [])
        out: list[Word] = []
        for field in fields[:MAX_WORDS]:
            out.extend(finish(text) for text in braces(field))
        return out

    def value(self, parts: list[Part]) -> str:
        """The text of an assigned value or here-string: no splitting, no braces."""
        raw = "".join(self.text(part) for part in parts).replace("\2", " ")
        word = finish(raw)
        return "\0HOME\0" + word[1:] if word.tilde and word[1:2] in ("", "/") else str(word)

    def text(self, part: Part) -> str:
        if part.kind == "lit":
            return protect(part.text) if part.quoted else part.text
        if part.kind == "quoted":
            return "".join(self.text(p) for p in part.arg)
        if part.kind == "var":
            return self.variable(part)
        if part.kind == "sub" and (printed := self.printed(part.subs[0])) is not None:
            return protect(printed.rstrip("\n")) if part.quoted else split_fields(printed)
        return "\0<\0" if part.kind == "proc" else "\0\0"

    def variable(self, part: Part) -> str:
        value = self.lookup(part)
        plain = not part.op or part.op in (":-", "-", ":=", "=", ":?", "?")
        plain = plain or (part.op in ("%", "%%") and literal(part.arg) == "/")
        if value is not None and plain:
            if isinstance(value, tuple):
                return "\2".join(protect(v) if part.quoted else split_fields(v) for v in value)
            return protect(value) if part.quoted else split_fields(value)
        if part.op in (":-", "-", ":=", "=") and part.arg:
            return "".join(self.text(p) for p in part.arg)
        if part.op in (":+", "+"):
            return "".join(self.text(p) for p in part.arg)
        return f"\0{part.text}{':?' if part.op == ':?' else ''}\0" if plain else "\0\0"

    def lookup(self, part: Part) -> str | tuple[str, ...] | None:
        name = part.text
        if name.isdigit() and name != "0":
            args = self.args
            return args[int(name) - 1] if args and len(name) < 4 and int(name) <= len(args) else None
        if name in ("@", "*"):
            found = self.args if self.args is not None else self.values.get("@", 0)
            return tuple(found) if found else None
        value = self.values.get(name, self.variant)
        if isinstance(value, tuple) and part.index not in ("@", "*"):
            index = int(part.index) if part.index.isdigit() and len(part.index) < 6 else 0
            return value[index] if index < len(value) else None
        return value

    def printed(self, node: Node) -> str | None:
        """What a list of echo and printf commands prints, if that can be known."""
        out: list[str] = []
        for item in node.items[:64]:
            if item.kind in ("group", "list") and not item.redirs:
                text = self.printed(item)
            elif item.kind == "simple" and not item.redirs:
                text = self.printed_by([w for parts in item.words for w in self.words(parts)])
            else:
                text = None
            if text is None or len(text) > MAX_VALUE:
                return None
            out.append(text)
        return "".join(out) if node.items else None

    @staticmethod
    def printed_by(argv: list[Word]) -> str | None:
        if argv == ["pwd"] or argv == ["git", "rev-parse", "--show-toplevel"]:
            return "\0PWD\0\n"
        if argv[:1] == ["which"] or argv[:2] in (["command", "-v"], ["type", "-p"]):
            return f"{argv[-1]}\n"  # the folder does not matter; a program is identified by its name
        if not argv or argv[0] not in ("echo", "printf"):
            return None
        words = [str(w) for w in argv[1:]]
        if argv[0] == "printf":
            return printf(words)
        escapes = False
        while words and words[0] in ("-n", "-e", "-E", "-ne", "-en"):
            escapes = escapes or "e" in words[0]
            words.pop(0)
        text = " ".join(words)
        return (unescape(text) if escapes else text) + "\n"


def printf(words: list[str]) -> str | None:
    if words[:1] == ["--"]:
        words = words[1:]
    if not words or words[0] == "-v":
        return None
    pattern, rest = unescape(words[0]), [unescape(word) for word in words[1:]] if "%b" in words[0] else words[1:]
    pieces = pattern.replace("%b", "%s").replace("%d", "%s").replace("%%", "\3").split("%s")
    if any("%" in piece for piece in pieces):
        return None
    if len(pieces) == 1:
        return pattern.replace("\3", "%")
    out: list[str] = []
    while True:
        for piece in pieces[:-1]:
            out += [piece, rest.pop(0) if rest else ""]
        out.append(pieces[-1])
        if not rest:
            return "".join(out).replace("\3", "%")


def unescape(text: str) -> str:
    out: list[str] = []
    j = 0
    while j < len(text):
        if text[j] == "\\" and j + 1 < len(text):
            char, j = ansi_escape(text, j + 1)
            out.append(char)
        else:
            out.append(text[j])
            j += 1
    return "".join(out)


def protect(text: str) -> str:
    if SPECIAL.isdisjoint(text):
        return text
    return "".join("\1" + c if c in SPECIAL else c for c in text)


def split_fields(text: str) -> str:
    """An unquoted value: blanks separate words; globs keep their meaning, braces and tildes do not."""
    text = "\2".join(text.split()) if text.strip() else ""
    return "".join("\1" + c if c in "{},~" else c for c in text)


def braces(field: str) -> list[str]:
    """Expands {a,b}; bounded, and without recursion."""
    done: list[str] = []
    todo = [field]
    while todo:
        text = todo.pop()
        choice = brace_choice(text) if len(done) + len(todo) < MAX_WORDS else None
        if choice is None:
            done.append(text)
        else:
            todo.extend(reversed(choice))
    return [text for text in done if text] or [field]


def brace_choice(text: str) -> list[str] | None:
    start = -1
    commas: list[int] = []
    j = 0
    while j < len(text):
        c = text[j]
        if c == "\1":
            j += 1
        elif c == "{":
            start, commas = j, []
        elif c == "," and start >= 0:
            commas.append(j)
        elif c == "}" and start >= 0 and commas:
            ends = [start, *commas, j]
            return [text[:start] + text[a + 1 : b] + text[j + 1 :] for a, b in zip(ends, ends[1:])]
        elif c == "}":
            start = -1
        j += 1
    return None


def finish(text: str) -> Word:
    if "\1" not in text:
        return Word(text, not frozenset("*?[").isdisjoint(text), text.startswith("~"))
    out: list[str] = []
    glob = False
    j = 0
    while j < len(text):
        if text[j] == "\1":
            j += 1
        elif text[j] in "*?[":
            glob = True
        out.append(text[j : j + 1])
        j += 1
    return Word("".join(out), glob, text.startswith("~"))
