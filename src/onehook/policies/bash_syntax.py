"""A reader for the bash grammar: text in, a small tree out.  It never raises, and its work is linear.

Why not a package: tree-sitter-bash 0.25.1 takes the words after a redirect as redirect targets
(`rm > log -rf /`), misses nested backticks and a second here-document, needs a minute for 180 kB of
`|&;`, and costs 27 ms to import on every event.  bashlex 0.18 is GPL and stops at `case`, `[[` and `$((`.
"""

from __future__ import annotations

from onehook.policies.bash_words import CLOSERS, MAX_DEPTH, NAME_CHARS, NAME_START, OPENERS, Node, Part, Redir, WordReader, literal


class Reader(WordReader):
    """Reads statements."""

    def expect(self, word: str) -> None:
        self.newlines()
        if word == ")" and self.s.startswith(")", self.i):
            self.i += 1
        elif word != ")" and self.peek() == word:
            self.i += len(word)
        else:
            self.broken = True

    # -- statements

    def program(self) -> Node:
        node = self.list_until(frozenset(), "")
        self.i = self.n
        return node

    def list_until(self, stops: frozenset[str], closer: str) -> Node:
        node = Node("list", self.i)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.cut, self.i = True, self.n
        conditional = False
        while True:
            self.newlines()
            if self.i >= self.n or self.at_end(stops, closer):
                break
            before = self.i
            item = self.pipeline()
            item.conditional = conditional
            conditional = self.separator(item)
            node.items.append(item)
            if self.i == before:
                self.broken = True
                self.i += 1
        self.depth -= 1
        node.end = self.i
        return node

    def at_end(self, stops: frozenset[str], closer: str) -> bool:
        s, i = self.s, self.i
        if s[i] == ")" or s.startswith(";;", i) or s.startswith(";&", i):
            if closer and s.startswith(closer, i):
                return True
            self.broken, self.i = True, i + 1
            return False
        word = self.peek()
        if word in stops:
            return True
        if word in CLOSERS:
            self.broken, self.i = True, i + len(word)
        return False

    def separator(self, item: Node) -> bool:
        """Steps over what ends a statement; True after && and ||."""
        self.blanks()
        two = self.s[self.i : self.i + 2]
        if two in ("&&", "||"):
            self.i += 2
            return True
        if two in (";;", ";&"):
            return False
        if two[:1] == "&":
            item.background = True
        if two[:1] in ("&", ";"):
            self.i += 1
        return False

    def pipeline(self) -> Node:
        node = Node("pipeline", self.i)
        while self.peek() == "!":
            self.i += 1
            self.blanks()
            if self.i >= self.n or self.s[self.i] in "\n;&":
                return node
        while True:
            node.items.append(self.command())
            self.blanks()
            if not self.s.startswith("|", self.i) or self.s.startswith("||", self.i):
                break
            self.i += 2 if self.s.startswith("|&", self.i) else 1
            self.newlines()
        node.end = self.i
        return node if len(node.items) > 1 else node.items[0]

    def command(self) -> Node:
        start = self.i
        node = self.compound(start)
        if node is None:
            return self.simple()
        node.start = start
        while True:
            self.blanks()
            if not self.redirect(node):
                break
        node.end = self.i
        return node

    def compound(self, start: int) -> Node | None:
        if self.s.startswith("(", start):
            return self.paren(start)
        word = self.peek()
        if word not in OPENERS:
            return None
        self.i += len(word)
        if word == "{":
            return self.block("group", "}")
        if word in ("while", "until"):
            return self.clauses(("do", "done"))
        if word == "if":
            return self.if_clause()
        if word in ("for", "select"):
            return self.for_clause()
        if word == "case":
            return self.case_clause()
        if word == "function":
            return self.function_clause()
        if word == "[[":
            return self.test_clause(start)
        return self.coproc(start)

    def paren(self, start: int) -> Node:
        if self.s.startswith("((", start) and (end := self.arith_end(start + 2)) >= 0:
            return self.arith_node(start + 2, end)
        self.i += 1
        node = Node("group", start)
        node.items = [self.list_until(frozenset(), ")")]
        self.expect(")")
        return node

    def arith_node(self, start: int, end: int) -> Node:
        node = Node("simple", start)
        inner = Reader(self.s[start:end], self.depth + 1)
        node.words = [inner.quoted_parts("")]
        self.cut = self.cut or inner.cut
        node.name, self.i = "((", end + 2
        return node

    def block(self, kind: str, closer: str) -> Node:
        node = Node(kind, self.i)
        node.items = [self.list_until(frozenset({closer}), "")]
        self.expect(closer)
        return node

    def clauses(self, words: tuple[str, ...]) -> Node:
        node = Node("group", self.i)
        for word in words:
            part = self.list_until(frozenset({word}), "")
            part.conditional = True
            node.items.append(part)
            self.expect(word)
        return node

    def if_clause(self) -> Node:
        node = Node("group", self.i)
        stops = frozenset({"then", "elif", "else", "fi"})
        while True:
            part = self.list_until(stops, "")
            part.conditional = True
            node.items.append(part)
            word = self.peek()
            if word not in stops:
                self.broken = True
                return node
            self.i += len(word)
            if word == "fi":
                return node

    def for_clause(self) -> Node:
        node = Node("for", self.i)
        self.blanks()
        if self.s.startswith("((", self.i) and (end := self.arith_end(self.i + 2)) >= 0:
            node.items.append(self.arith_node(self.i + 2, end))
        else:
            node.name = literal(self.word())
        self.newlines()
        if self.peek() == "in":
            self.i += 2
            self.words_to_eol(node)
        self.blanks()
        if self.s.startswith(";", self.i):
            self.i += 1
        self.newlines()
        opener = self.peek()
        self.i += len(opener) if opener in ("do", "{") else 0
        body = self.block("group", "done" if opener == "do" else "}")
        body.conditional = True
        node.items.append(body)
        return node

    def words_to_eol(self, node: Node) -> None:
        while True:
            self.blanks()
            if self.i >= self.n or self.s[self.i] in "\n;&|)":
                return
            word = self.word()
            if not word:
                self.broken, self.i = True, self.i + 1
                continue
            node.words.append(word)

    def case_clause(self) -> Node:
        node = Node("group", self.i)
        self.blanks()
        subject = Node("simple", self.i)
        subject.name, subject.words = "case", [self.word()]
        node.items.append(subject)
        self.expect("in")
        while True:
            self.newlines()
            if self.i >= self.n:
                self.broken = True
                return node
            if self.peek() == "esac":
                self.i += 4
                return node
            self.case_item(node, subject)

    def case_item(self, node: Node, subject: Node) -> None:
        if self.s.startswith("(", self.i):
            self.i += 1
        while self.i < self.n and self.s[self.i] not in ")\n;":
            self.blanks()
            word = self.word()
            subject.words.append(word)
            self.blanks()
            if not word or self.s.startswith("|", self.i):
                self.i += 1
        self.expect(")")
        body = self.list_until(frozenset({"esac"}), ";")
        body.conditional = True
        node.items.append(body)
        while self.i < self.n and self.s[self.i] in ";&":
            self.i += 1

    def function_clause(self) -> Node:
        node = Node("function", self.i)
        self.blanks()
        node.name = literal(self.word())
        self.blanks()
        if self.s.startswith("(", self.i):
            self.i += 1
            self.expect(")")
        return self.function_body(node)

    def function_body(self, node: Node) -> Node:
        self.newlines()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.cut, self.i = True, self.n
        node.items = [self.command()]
        self.depth -= 1
        return node

    def test_clause(self, start: int) -> Node:
        node = Node("simple", start)
        node.name = "[["
        while True:
            self.newlines()
            if self.i >= self.n:
                self.broken = True
                return node
            if self.peek() == "]]":
                self.i += 2
                return node
            word = self.word()
            node.words.append(word)
            if not word:
                self.i += 1

    def coproc(self, start: int) -> Node:
        self.blanks()
        node = Node("group", start)
        name = self.peek()
        after = self.s[self.i + len(name) :].lstrip(" \t")[:6] if name and name not in OPENERS else ""
        if after.startswith(("{ ", "{\n", "(", "if ", "while ", "for ", "case ")):
            self.i += len(name)
            self.blanks()
        return self.function_body(node)

    # -- simple commands

    def simple(self) -> Node:
        node = Node("simple", self.i)
        while True:
            self.blanks()
            if self.i >= self.n:
                break
            c = self.s[self.i]
            if c == "(" and len(node.words) == 1 and not node.assigns and self.empty_parens():
                return self.named_function(node)
            if c == "(" and node.words and self.s[self.i - 1] == "=":
                name = literal(node.words[-1]).rstrip("+=")
                node.assigns.append((name, "=", *self.assigned()))
                continue
            if c == "(":
                self.broken, self.i = True, self.i + 1
                continue
            if self.redirect(node):
                continue
            if c in "\n;&|)":
                break
            if node.words or not self.assignment(node):
                node.words.append(self.word())
        self.broken = self.broken or not (node.words or node.assigns or node.redirs)
        node.end = self.i
        return node

    def empty_parens(self) -> bool:
        j = self.i + 1
        while j < self.n and self.s[j] in " \t":
            j += 1
        return self.s.startswith(")", j)

    def named_function(self, node: Node) -> Node:
        self.i = self.s.index(")", self.i) + 1
        node.kind = "function"
        node.name = literal(node.words[0])
        node.words = []
        return self.function_body(node)

    def assignment(self, node: Node) -> bool:
        s, j = self.s, self.i
        if j >= self.n or s[j] not in NAME_START:
            return False
        while j < self.n and s[j] in NAME_CHARS:
            j += 1
        name = s[self.i : j]
        index: list[Part] = []
        if s.startswith("[", j) and (close := s.find("]", j, j + 200)) > 0:
            index = self.subscript(s[j + 1 : close])
            j = close + 1
        op = "+=" if s.startswith("+=", j) else "="
        if not s.startswith(op, j):
            return False
        self.i = j + len(op)
        words, array = self.assigned()
        node.assigns.append((name, op, [*words, index] if index and not array else words, array))
        return True

    def assigned(self) -> tuple[list[list[Part]], bool]:
        if not self.s.startswith("(", self.i):
            return [self.word()], False
        self.i += 1
        holder = Node("simple", self.i)
        while True:
            self.newlines()
            if self.i >= self.n or self.s.startswith(")", self.i):
                break
            word = self.word()
            if not word:
                self.broken, self.i = True, self.i + 1
                continue
            holder.words.append(word)
        self.expect(")")
        return holder.words, True

    def redirect(self, node: Node) -> bool:
        s, j = self.s, self.i
        while j < self.n and s[j].isdigit():
            j += 1
        if s.startswith("{", j) and j == self.i:
            close = s.find("}", j, j + 40)
            j = close + 1 if close > 0 and s[close + 1 : close + 2] in ("<", ">") else j
        if s.startswith("&>", j) and j == self.i:
            op = "&>>" if s.startswith("&>>", j) else "&>"
        elif j < self.n and s[j] in "<>" and not (s.startswith("(", j + 1) and j == self.i):
            op = next(o for o in ("<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">") if s.startswith(o, j))
        else:
            return False
        self.i = j + len(op)
        self.blanks_only()
        begin = self.i
        redir = Redir(op, self.word())
        if op in ("<<", "<<-"):
            raw = s[begin : self.i]
            redir.strip, redir.quoted = op == "<<-", any(c in raw for c in "'\"\\")
            redir.delimiter = literal(redir.target)
            self.pending.append(redir)
        node.redirs.append(redir)
        return True

    def blanks_only(self) -> None:
        while self.i < self.n and self.s[self.i] in " \t":
            self.i += 1
