"""The pieces of a shell word, and how they are read: quotes, variables, substitutions."""

from __future__ import annotations

MAX_DEPTH = 30
META = frozenset(" \t\n;&|<>()")
WORD_STOP = frozenset(" \t\n;&|<>()\\'\"$`")
OPENERS = frozenset({"if", "while", "until", "for", "select", "case", "function", "[[", "coproc", "{"})
CLOSERS = frozenset({"then", "do", "done", "fi", "else", "elif", "esac", "}"})
ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
OPERATORS = (":-", ":+", ":=", ":?", "##", "%%", "//", "^^", ",,", *":-+=?#%/^,@")
NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME_CHARS = NAME_START | frozenset("0123456789")


class Part:
    """One piece of a word: literal text, a variable, a substitution (`sub`, `proc`) or arithmetic."""

    __slots__ = ("arg", "index", "kind", "op", "quoted", "subs", "text")

    def __init__(self, kind: str, text: str = "", quoted: bool = False) -> None:
        self.kind, self.text, self.quoted = kind, text, quoted
        self.op = ""
        self.index = ""
        self.arg: list[Part] = []
        self.subs: list[Node] = []


class Redir:
    """A redirect as written; `body` is the text of a here-document."""

    __slots__ = ("body", "delimiter", "op", "quoted", "strip", "target")

    def __init__(self, op: str, target: list[Part]) -> None:
        self.op, self.target = op, target
        self.body: str | None = None
        self.delimiter, self.quoted, self.strip = "", False, False


class Node:
    """A statement.  kind: simple, list, pipeline, group, for, function."""

    __slots__ = ("assigns", "background", "conditional", "end", "items", "kind", "name", "redirs", "start", "words")

    def __init__(self, kind: str, start: int = 0) -> None:
        self.kind, self.start, self.end = kind, start, start
        self.name = ""
        self.items: list[Node] = []
        self.words: list[list[Part]] = []
        self.assigns: list[tuple[str, str, list[list[Part]], bool]] = []
        self.redirs: list[Redir] = []
        self.background = self.conditional = False


class WordReader:
    """Reads one script.  `broken`: not valid bash.  `cut`: nested deeper than the limit, so not all of it was read."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.s: str = text
        self.i: int = 0
        self.n: int = len(text)
        self.depth: int = depth
        self.broken: bool = False
        self.cut: bool = False
        self.pending: list[Redir] = []

    # -- blanks and look-ahead

    def blanks(self) -> None:
        s, n = self.s, self.n
        while self.i < n:
            c = s[self.i]
            if c in " \t\r":
                self.i += 1
            elif c == "\\" and s.startswith("\n", self.i + 1):
                self.i += 2
            elif c == "#":
                end = s.find("\n", self.i)
                self.i = n if end < 0 else end
            else:
                return

    def newlines(self) -> None:
        self.blanks()
        while self.s.startswith("\n", self.i):
            self.newline()
            self.blanks()

    def newline(self) -> None:
        self.i += 1
        pending, self.pending = self.pending, []
        for redir in pending:
            self.heredoc(redir)

    def heredoc(self, redir: Redir) -> None:
        lines: list[str] = []
        while self.i < self.n:
            end = self.s.find("\n", self.i)
            end = self.n if end < 0 else end
            line = self.s[self.i : end]
            self.i = min(end + 1, self.n)
            line = line.lstrip("\t") if redir.strip else line
            if line == redir.delimiter:
                break
            lines.append(line + "\n")
        redir.body = "".join(lines)
        if not redir.quoted:
            inner = type(self)(redir.body, self.depth + 1)
            redir.target = inner.quoted_parts("")
            self.cut = self.cut or inner.cut

    def peek(self) -> str:
        """The plain word that starts here, or nothing; only such words can be reserved."""
        j = self.i
        while j < self.n and j - self.i < 10 and self.s[j] not in WORD_STOP:
            j += 1
        return "" if j < self.n and self.s[j] not in META else self.s[self.i : j]

    # -- words

    def word(self) -> list[Part]:
        parts: list[Part] = []
        s = self.s
        while self.i < self.n:
            c = s[self.i]
            if c in "<>" and s.startswith("(", self.i + 1):
                parts.append(self.substitution("proc", 2, False))
            elif c == "(" and parts and parts[-1].kind == "lit" and parts[-1].text[-1:] in "@!+*?":
                parts.append(Part("lit", self.extglob()))
            elif c in META:
                break
            else:
                parts.append(self.part(c))
        return parts

    def part(self, c: str) -> Part:
        s, i = self.s, self.i
        if c == "\\":
            self.i = min(i + 2, self.n)
            return Part("lit", "" if s.startswith("\n", i + 1) else s[i + 1 : i + 2], True)
        if c == "'":
            return Part("lit", self.single(i + 1), True)
        if c == '"':
            return self.double(i + 1)
        if c == "$":
            return self.dollar(False)
        if c == "`":
            return self.backtick(False)
        while self.i < self.n and s[self.i] not in WORD_STOP:
            self.i += 1
        return Part("lit", s[i : self.i])

    def extglob(self) -> str:
        end = self.arith_end(self.i + 1, 1)
        start, self.i = self.i, self.n if end < 0 else end + 1
        return self.s[start : self.i]

    def single(self, start: int) -> str:
        end = self.s.find("'", start)
        if end < 0:
            self.broken, end = True, self.n
        self.i = min(end + 1, self.n)
        return self.s[start:end]

    def double(self, start: int) -> Part:
        self.i = start
        part = Part("quoted", "", True)
        part.arg = self.quoted_parts('"')
        if self.i < self.n:
            self.i += 1
        else:
            self.broken = True
        return part

    def quoted_parts(self, closer: str, quoted: bool = True) -> list[Part]:
        """Reads to the closer (or the end) the way text between double quotes is read."""
        parts: list[Part] = []
        s = self.s
        begin = self.i
        while self.i < self.n and s[self.i] != closer:
            c = s[self.i]
            if c == "\\":
                self.flush(parts, begin, quoted)
                parts.append(self.escaped())
            elif c == "$" or c == "`":
                self.flush(parts, begin, quoted)
                parts.append(self.dollar(quoted) if c == "$" else self.backtick(quoted))
            elif closer == "}" and c in "'\"":
                self.flush(parts, begin, quoted)
                parts.append(self.part(c))
            else:
                self.i += 1
                continue
            begin = self.i
        self.flush(parts, begin, quoted)
        return parts

    def flush(self, parts: list[Part], begin: int, quoted: bool) -> None:
        if self.i > begin:
            parts.append(Part("lit", self.s[begin : self.i], quoted))

    def escaped(self) -> Part:
        after = self.s[self.i + 1 : self.i + 2]
        self.i = min(self.i + 2, self.n)
        if after == "\n":
            return Part("lit", "", True)
        return Part("lit", after if after in '$`"\\' else "\\" + after, True)

    def dollar(self, quoted: bool) -> Part:
        s, i = self.s, self.i
        after = s[i + 1 : i + 2]
        if after == "(":
            return self.dollar_paren(quoted)
        if after == "{":
            return self.braced(quoted)
        if after == "'" and not quoted:
            return self.ansi(i + 2)
        if after == '"' and not quoted:
            return self.double(i + 2)
        if after in NAME_START and after:
            self.i += 1
            while self.i < self.n and s[self.i] in NAME_CHARS:
                self.i += 1
            return Part("var", s[i + 1 : self.i], quoted)
        if after and after in "0123456789@*#?-$!":
            self.i += 2
            return Part("var", after, quoted)
        self.i += 1
        return Part("lit", "$", quoted)

    def dollar_paren(self, quoted: bool) -> Part:
        start = self.i + 3
        if self.s.startswith("((", self.i + 1) and (end := self.arith_end(start)) >= 0:
            part = Part("arith", "", quoted)
            inner = type(self)(self.s[start:end], self.depth + 1)
            part.arg = inner.quoted_parts("")
            self.cut, self.i = self.cut or inner.cut, end + 2
            return part
        return self.substitution("sub", 2, quoted)

    def arith_end(self, start: int, closers: int = 2) -> int:
        """Where the parentheses opened before `start` close, or -1 when `))` is not what closes them."""
        depth, j, s = 0, start, self.s
        last = s.rfind(")")  # nothing after it can close them
        while j <= last:
            c = s[j]
            if c == "\\":
                j += 1
            elif c in "'\"":
                close = s.find(c, j + 1)
                j = self.n if close < 0 else close
            elif c == "(":
                depth += 1
            elif c == ")":
                if depth == 0:
                    return j if s.startswith(")" * closers, j) else -1
                depth -= 1
            j += 1
        return -1

    def braced(self, quoted: bool) -> Part:
        """`${name}`, `${name[index]op...}`, `${#name}`, `${!name}`."""
        s = self.s
        self.i += 2
        part = Part("var", "", quoted)
        if self.i < self.n and s[self.i] in "#!" and not s.startswith("}", self.i + 1):
            part.op = s[self.i]
            self.i += 1
        begin = self.i
        while self.i < self.n and s[self.i] in NAME_CHARS:
            self.i += 1
        if self.i == begin and self.i < self.n and s[self.i] in "@*#?-$!":
            self.i += 1
        part.text = s[begin : self.i]
        if s.startswith("[", self.i):
            close = s.find("]", self.i, self.i + 200)
            if close > 0:
                part.index = s[self.i + 1 : close]
                part.subs = [sub for p in self.subscript(part.index) for sub in p.subs]
                self.i = close + 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.cut, self.i = True, self.n
        operator = next((o for o in OPERATORS if s.startswith(o, self.i)), "")
        self.i += len(operator)
        part.op = part.op or operator
        part.arg = self.quoted_parts("}", quoted)
        self.depth -= 1
        self.broken = self.broken or self.i >= self.n
        self.i = min(self.i + 1, self.n)
        return part

    def subscript(self, text: str) -> list[Part]:
        inner = type(self)(text, self.depth + 1)
        parts = inner.quoted_parts("")
        self.cut = self.cut or inner.cut
        return parts

    def ansi(self, start: int) -> Part:
        out: list[str] = []
        s, j = self.s, start
        while j < self.n and s[j] != "'":
            if s[j] == "\\" and j + 1 < self.n:
                char, j = ansi_escape(s, j + 1)
                out.append(char)
            else:
                out.append(s[j])
                j += 1
        self.broken = self.broken or j >= self.n
        self.i = min(j + 1, self.n)
        return Part("lit", "".join(out), True)

    def backtick(self, quoted: bool) -> Part:
        """The text up to the next bare backtick, one level of backslashes removed, read on its own."""
        out: list[str] = []
        s, j = self.s, self.i + 1
        while j < self.n and s[j] != "`":
            if s[j] == "\\" and s[j + 1 : j + 2] in ("`", "\\", "$"):
                j += 1
            out.append(s[j])
            j += 1
        self.broken = self.broken or j >= self.n
        self.i = min(j + 1, self.n)
        part = Part("sub", "", quoted)
        inner = type(self)("".join(out), self.depth + 1)
        part.subs = [inner.program()]
        self.broken, self.cut = self.broken or inner.broken, self.cut or inner.cut
        return part

    def substitution(self, kind: str, skip: int, quoted: bool) -> Part:
        part = Part(kind, "", quoted)
        self.i += skip
        part.subs = [self.list_until(frozenset(), ")")]
        if self.s.startswith(")", self.i):
            self.i += 1
        else:
            self.broken = True
        return part

    def list_until(self, stops: frozenset[str], closer: str) -> Node:
        raise NotImplementedError

    def program(self) -> Node:
        raise NotImplementedError


def literal(parts: list[Part]) -> str:
    """The literal text in a word, without its other parts."""
    return "".join(literal(p.arg) if p.kind == "quoted" else p.text for p in parts if p.kind in ("lit", "quoted"))


def ansi_escape(s: str, j: int) -> tuple[str, int]:
    """One backslash escape of $'...' or echo -e; `j` is the index after the backslash."""
    c = s[j]
    if c in ANSI:
        return ANSI[c], j + 1
    limit, base, begin = {"x": (2, 16, j + 1), "u": (4, 16, j + 1), "U": (8, 16, j + 1)}.get(c, (3, 8, j))
    digits = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    k = begin
    while k < len(s) and k - begin < limit and s[k] in digits:
        k += 1
    if k == begin:
        return ("\\" + c if c not in "\\'\"?" else c), j + 1
    code = int(s[begin:k], base)
    return (chr(code) if 1 < code < 0x110000 else "?"), k
