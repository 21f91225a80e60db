"""What a shell command line would run: every simple command in it, however deeply nested."""

from __future__ import annotations

from onehook.core import PowerShell
from onehook.policies.bash_expand import Expander, Values, Word
from onehook.policies.bash_inspect import Input, hidden, hidden_script, named_calls, opacity, reads_script, subs_of
from onehook.policies.bash_syntax import Reader
from onehook.policies.bash_words import MAX_DEPTH, Node, Part, Redir
from onehook.policies.bash_wrappers import SHELLS, inner_commands
from onehook.policies.command_line import MAX_TEXT, Command, Redirect, Script
from onehook.policies.quick import program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Command", "Redirect", "Script", "Walker", "parse"]

MAX_COMMANDS = 5000
MAX_CALLS = 200
MAX_READ = 4 << 20
DECLARERS = frozenset({"export", "declare", "local", "readonly", "typeset"})
PASS_THROUGH = frozenset({"cat", "tee"})


class Context:
    """The position of the walk in a script: how deep, inside which wrappers, with what on standard input."""

    __slots__ = ("args", "conditional", "depth", "source", "stdin", "via")

    def __init__(self) -> None:
        self.depth = 0
        self.via: tuple[str, ...] = ()
        self.stdin: Input | None = None
        self.args: tuple[str, ...] | None = None
        self.conditional = False
        self.source = ""

    def but(self, **changed: Any) -> Context:
        """The same place with something changed."""
        other = Context()
        for slot in Context.__slots__:
            setattr(other, slot, changed[slot] if slot in changed else getattr(self, slot))
        return other


_LAST: list[tuple[str, Script]] = []  # several policies ask about the same command, one after the other


def parse(command: str) -> Script:
    """Every simple command that the text would run, in order.  Never raises."""
    if not _LAST or _LAST[0][0] != command or type(_LAST[0][0]) is not type(command):
        _LAST[:] = [(command, _parsed(command))]
    return _LAST[0][1]


def _parsed(command: str) -> Script:
    if isinstance(command, PowerShell):
        from onehook.policies.powershell import parse_powershell

        return parse_powershell(command)
    walker = Walker()
    walker.cut = len(command) > MAX_TEXT
    try:
        walker.read(command[:MAX_TEXT], Context())
    except RecursionError:
        # The caller's stack was nearly full: report an incomplete reading rather than fail.
        walker.cut = True
    cut = walker.cut or walker.values.cut
    return Script(walker.commands, walker.broken or cut, cut, walker.fork_bomb)


class Walker:
    """Walks the tree of a script, and of every string that it passes to a shell."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.values = Values()
        self.functions: dict[str, Node] = {}
        self.calls: set[tuple[str, ...]] = set()
        self.origins: dict[str, tuple[str, ...]] = {}
        self.files: dict[str, str] = {}  # what the text itself writes into files: `echo ls > a.sh; sh a.sh`
        self.broken = self.cut = self.fork_bomb = False
        self.bytes_read = 0

    def read(self, text: str, context: Context) -> None:
        self.bytes_read += len(text)
        if context.depth > MAX_DEPTH or self.bytes_read > MAX_READ:
            self.cut = True
            return
        for char, safe in (("\0", ""), ("\1", "?"), ("\2", "?"), ("\3", "?")):
            text = text.replace(char, safe)
        reader = Reader(text, context.depth)
        program = reader.program()
        whole = context.depth == 0 or "${" not in text
        self.broken, self.cut = self.broken or (reader.broken and whole), self.cut or reader.cut
        self.walk(program, context.but(source=text, depth=context.depth + 1))

    def read_powershell(self, text: str, context: Context) -> None:
        from onehook.policies.powershell import parse_powershell

        script = parse_powershell(text)
        self.cut = self.cut or script.cut
        self.commands += [command.behind(context.via) for command in script.commands]

    def walk(self, node: Node, context: Context) -> None:
        if context.depth > 2 * MAX_DEPTH or len(self.commands) > MAX_COMMANDS:
            self.cut = True
            return
        context = context.but(depth=context.depth + 1, conditional=context.conditional or node.conditional)
        if node.kind == "simple":
            self.simple(node, context)
        elif node.kind == "pipeline":
            self.pipeline(node, context)
        elif node.kind == "function":
            self.define(node, context)
        else:
            self.group(node, context)

    def group(self, node: Node, context: Context) -> None:
        expander = Expander(self.values, context.args)
        if node.kind == "for":
            self.substitutions([p for word in node.words for p in word], context)
            for word in [w for parts in node.words for w in expander.words(parts)]:
                self.values.assign(node.name, str(word), also=True)
        if node.redirs:
            redirects = self.redirects(node.redirs, expander, context)
            self.commands.append(Command("", [], redirects, context.via, context.source[node.start : node.end]))
            context = context.but(stdin=self.stdin(node.redirs, redirects, context))
        for item in node.items:
            self.walk(item, context)

    def pipeline(self, node: Node, context: Context) -> None:
        for item in node.items:
            self.walk(item, context)
            context = context.but(stdin=self.output(item, context))

    def define(self, node: Node, context: Context) -> None:
        self.functions[node.name] = node
        body = node.items[0]
        if any(n == node.name and piped for n, piped in named_calls(body)):
            self.fork_bomb = True
        self.walk(body, context.but(args=None))

    def output(self, node: Node, context: Context) -> Input:
        """What a stage of a pipeline prints."""
        before = context.stdin
        names = tuple(dict.fromkeys(name for name, _ in named_calls(node)))
        sources = tuple(dict.fromkeys((before.sources if before else ()) + names))
        expander = Expander(self.values, context.args)
        holder = Node("list")
        holder.items = [node]
        text = expander.printed(holder)
        if text is None and node.kind == "simple" and names and names[0] in PASS_THROUGH:
            alone = len(node.words) == 1 or names[0] == "tee"
            stdin = self.stdin(node.redirs, self.redirects(node.redirs, expander, None), context)
            text = stdin.text if stdin and alone else None
        return Input(None if text is None or hidden(text) else Word(text).script, sources)

    # -- simple commands

    def simple(self, node: Node, context: Context) -> None:
        parts = [p for word in node.words for p in word]
        parts += [p for _, _, words, _ in node.assigns for word in words for p in word]
        self.substitutions(parts, context)
        self.values.widest = 1
        variant = 0
        assigned = [self.assignment(a, context, variant) for a in node.assigns]
        while variant < min(self.values.widest, 64):
            expander = Expander(self.values, context.args, variant)
            argv = [w for word in node.words for w in expander.words(word)]
            redirects = self.redirects(node.redirs, expander, context if variant == 0 else None)
            stdin = self.stdin(node.redirs, redirects, context)
            if node.name:
                return
            source = context.source[node.start : node.end]
            if argv or redirects:
                self.emit(argv, redirects, context.but(stdin=stdin), source, self.makers(parts))
                self.printed_files(argv, parts, expander, context)
            variant += 1
        for (name, value), assign in zip(assigned, node.assigns):
            self.origins[name] = self.makers([p for word in assign[2] for p in word])
            if node.words and name not in self.values.known:
                self.values.assign(name, f"\0{name}\0", also=False)  # `X=1 command` leaves X as it was
            self.values.assign(name, value, also=context.conditional or bool(node.words))

    def makers(self, parts: list[Part]) -> tuple[str, ...]:
        """The commands that print parts of a word, directly or by way of a variable."""
        found = [n for p in parts for sub in subs_of(p) for n, _ in named_calls(sub)]
        variables = [p.text for p in parts if p.kind == "var"]
        variables += [p.text for part in parts for p in part.arg if p.kind == "var"]
        return tuple(dict.fromkeys([*found, *(n for v in variables for n in self.origins.get(v, ()))]))

    def printed_files(self, argv: list[Word], parts: list[Part], expander: Expander, context: Context) -> None:
        """`bash <(echo ...)`: text that is known although it is passed as a file."""
        name = program_name(argv[0]) if argv else ""
        for part in parts if name in SHELLS or name in ("source", ".") else []:
            text = expander.printed(part.subs[0]) if part.kind == "proc" else None
            if text is not None:
                self.read(Word(text).script, context.but(via=(*context.via, f"{name} <()")))

    def assignment(
        self, assign: tuple[str, str, list[list[Part]], bool], context: Context, variant: int
    ) -> tuple[str, str | tuple[str, ...]]:
        name, op, words, array = assign
        expander = Expander(self.values, context.args, variant)
        old = self.values.get(name, variant)
        if array:
            value = tuple(str(w) for word in words for w in expander.words(word))
            return name, (old + value if op == "+=" and isinstance(old, tuple) else value)
        text = expander.value(words[0]) if words else ""
        return name, (old + text if op == "+=" and isinstance(old, str) else text)

    def substitutions(self, parts: list[Part], context: Context) -> None:
        for part in parts:
            for node in subs_of(part):
                self.walk(node, context)

    def redirects(self, redirs: list[Redir], expander: Expander, context: Context | None) -> list[Redirect]:
        out: list[Redirect] = []
        for redir in redirs:
            if context is not None:
                self.substitutions(redir.target, context)
            if redir.body is not None:
                out.append(Redirect("<<", Word(redir.body)))
            elif redir.op == "<<<":
                out.append(Redirect("<<<", Word(expander.value(redir.target))))
            else:
                words = expander.words(redir.target)
                out.append(Redirect(redir.op, words[0] if words else Word("")))
        return out

    def stdin(self, redirs: list[Redir], redirects: list[Redirect], context: Context) -> Input | None:
        found = context.stdin
        for redir, redirect in zip(redirs, redirects):
            if redirect.op == "<<":
                found = Input(str(redirect.target), ())
            elif redirect.op == "<<<":
                found = Input(None if hidden(redirect.target) else redirect.target.script + "\n", ())
            elif redirect.op in ("<", "<>"):
                made = tuple(n for p in redir.target for sub in subs_of(p) for n, _ in named_calls(sub))
                found = Input(None, made) if made else None
        return found

    def emit(self, argv: list[Word], redirects: list[Redirect], context: Context, source: str, made: tuple[str, ...]) -> None:
        """Records a command, and then whatever it runs."""
        if len(self.commands) > MAX_COMMANDS or len(context.via) > MAX_DEPTH:
            self.cut = True
            return
        name = program_name(argv[0]) if argv else ""
        stdin = context.stdin
        opaque, sources = opacity(name, argv, stdin, made)
        known = (stdin.text or "") if stdin else None
        self.commands.append(Command(name, argv, redirects, context.via, source, opaque, sources, known))
        if not argv:
            return
        self.declare(name, argv, context)
        if argv[0] in self.functions:
            self.call(self.functions[argv[0]], argv, context)
        for inner in inner_commands(name, argv, stdin.text if stdin else None):
            below = context.but(via=(*context.via, inner.label))
            if inner.argv is not None:
                self.emit(inner.argv, [], below, source, made)
            elif isinstance(inner.text, PowerShell):
                self.read_powershell(inner.text, below)
            elif inner.text is not None and not hidden_script(inner.text):
                # Commands in `sh -c` and `env -S` read what was piped into those; a command of xargs does not, since xargs reads it.
                piped = stdin if inner.label.endswith((" -c", " -S")) else None
                self.read(inner.text, below.but(stdin=piped, args=inner.args))
        if reads_script(name, argv) and stdin is not None and stdin.text is not None:
            self.read(stdin.text, context.but(via=(*context.via, f"{name} stdin"), stdin=None))
        self.written(name, argv, redirects, stdin)
        script = next((w for w in argv[1:] if w[:1] not in ("-", "+")), "") if name in SHELLS or name in ("source", ".") else argv[0]
        runs_file = script.removeprefix("./") in self.files and (script is not argv[0] or "/" in script)
        if runs_file and str(script) not in context.via:
            self.read(self.files[script.removeprefix("./")], context.but(via=(*context.via, str(script)), stdin=None))

    def written(self, name: str, argv: list[Word], redirects: list[Redirect], stdin: Input | None) -> None:
        text = (stdin.text if stdin else None) if name in PASS_THROUGH else Expander.printed_by(argv)
        if text is None:
            return
        targets = [(r.target, r.op) for r in redirects if r.op in (">", ">>", ">|")]
        targets += [(word, ">") for word in argv[1:] if name == "tee" and word[:1] != "-"]
        for target, op in targets:
            path = target.removeprefix("./")
            self.files[path] = (self.files.get(path, "") if op == ">>" else "") + Word(text).script

    def declare(self, name: str, argv: list[Word], context: Context) -> None:
        if name == "set" and "--" in argv:
            self.values.assign("@", tuple(map(str, argv[argv.index(Word("--")) + 1 :])), also=False)
        if name == "alias":
            for word in argv[1:]:
                self.read(Word(word.partition("=")[2]).script, context.but(via=(*context.via, "alias"), stdin=None))
        if name in DECLARERS:
            for word in argv[1:]:
                variable, equals, value = word.partition("=")
                if equals:
                    self.values.assign(variable, value, also=context.conditional)

    def call(self, function: Node, argv: list[Word], context: Context) -> None:
        label = f"{function.name}()"
        key = (function.name, *argv[1:])
        if label in context.via or len(argv) == 1 or key in self.calls:
            return
        self.calls.add(key)
        if len(self.calls) > MAX_CALLS:
            self.cut = True
        else:
            below = context.but(via=(*context.via, label), args=tuple(map(str, argv[1:])))
            self.walk(function.items[0], below)
