"""What a PowerShell command line would run, in the form that the rules for shell commands check: Remove-Item -Recurse is rm -r.

Programs are called in PowerShell as in a POSIX shell, so every rule about git, docker or terraform applies here too. Cmdlets are
translated with the tables below. What cannot be read is marked: an expression that runs text is `opaque`, and an unterminated line is
`cut`.
"""

from __future__ import annotations

import re

from onehook.policies.bash_expand import Word
from onehook.policies.command_line import MAX_TEXT, Command, Redirect, Script

MAX_NESTED = 20
UNKNOWN = "\0\0"
_CMDLETS = {
    "rm": "remove-item ri rm rmdir del erase rd clear-item",
    "cat": "get-content gc cat type import-csv import-clixml get-filehash format-hex",
    "cp": "copy-item cpi cp copy",
    "mv": "move-item mi mv move rename-item rni ren",
    ">": "set-content sc add-content ac out-file tee-object tee clear-content clc new-item ni export-csv epcsv export-clixml",
    "grep": "select-string sls",
    "ls": "get-childitem gci ls dir",
    "curl": "invoke-webrequest iwr curl wget invoke-restmethod irm start-bitstransfer",
    "cd": "set-location sl cd chdir push-location pushd",
    "tar": "compress-archive",
    "shutdown": "stop-computer restart-computer",
    "mkfs": "format-volume clear-disk initialize-disk",
    "kill": "stop-process spps kill",
    "eval": "invoke-expression iex",
    "start": "start-process saps start",
    "test": "test-path resolve-path split-path join-path get-item gi",
    "echo": "write-output echo write write-host write-error write-warning write-verbose",
}  # fmt: skip
_NAMED = {name: posix for posix, names in _CMDLETS.items() for name in names.split()}
_FLAGS = {"recurse": "-r", "force": "-f"}
_PATHS = ("path", "literalpath", "destination", "filepath", "outfile", "infile", "uri", "source")
_VALUED = ("value", "encoding", "filter", "include", "exclude", "itemtype", "pattern", "method", "headers", "body", "totalcount", "tail",
           "head", "first", "last", "name", "delimiter", "argumentlist", "verb", "workingdirectory",
           "inputobject", "erroraction")  # fmt: skip
_KEYWORDS = frozenset([
    "if", "elseif", "else", "foreach", "for", "while", "do", "until", "switch", "try", "catch", "finally", "function", "filter", "param",
    "return", "throw", "trap", "begin", "process", "end", "in",
])  # fmt: skip
_SYSTEM = re.compile(r"[a-z]:/*(?:(?:windows|users|program files.*|programdata)(?:/\*|/)*|\*)?", re.IGNORECASE)
_OPENERS, _CLOSERS = "({", ")}"
_DELETING, _WRITING = ("delete",), ("write", "append", "create", "move", "copy", "replace", "openwrite")


def parse_powershell(text: str) -> Script:
    reader = _Reader(str(text)[:MAX_TEXT].replace("\0", ""))
    reader.statements("", ())
    return Script(reader.commands, broken=reader.cut, cut=reader.cut or len(text) > MAX_TEXT, fork_bomb=False)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.cut = False
        self.commands: list[Command] = []

    def peek(self, size: int = 1) -> str:
        return self.text[self.at : self.at + size]

    def statements(self, closer: str, via: tuple[str, ...]) -> None:
        """Everything up to a closing bracket, or the end."""
        self.depth += 1
        if self.depth > MAX_NESTED:
            self.cut, self.at = True, len(self.text)
        while self.at < len(self.text):
            self.statement(via)
            if closer and self.peek() == closer:
                self.at += 1
                self.depth -= 1
                return
            if self.peek() and self.peek() in _CLOSERS:
                self.cut = True  # a bracket that nothing opened
            self.at += 1
        self.cut = self.cut or bool(closer)
        self.depth -= 1

    def statement(self, via: tuple[str, ...]) -> None:
        """One command, up to the next separator. A value at its start is an expression, unless & or . calls it."""
        begin, called, expression = self.at, False, False
        words: list[Word] = []
        redirects: list[Redirect] = []
        while self.at < len(self.text):
            char = self.peek()
            if not words and (char == "&" or (char == "." and self.text[self.at + 1 : self.at + 2] in (" ", "\t"))):
                called, self.at = True, self.at + 1
            elif char in ";|\n\r&" + _CLOSERS:
                break
            elif self.skipped():
                continue
            elif char in _OPENERS:
                self.at += 1
                self.statements(_CLOSERS[_OPENERS.index(char)], via)
                words += [Word(UNKNOWN)] if words and words[0].lower() not in _KEYWORDS else []
            elif char == ">" or (char in "123456*" and self.text[self.at + 1 : self.at + 2] == ">"):
                self.redirect(redirects, via)
            else:
                expression = expression or (not words and not called and char in "$'\"[@0123456789")
                words += self.word(via)
        source = self.text[begin : self.at]
        if "]::" in source:
            self.methods(source, via)
        self.emit(_without_assignment(words, expression), redirects, via, source)

    def skipped(self) -> bool:
        """Skip a blank, a comment, or an escaped line end."""
        if self.peek() in " \t":
            self.at += 1
        elif self.peek(2) == "<#":
            self.jump("#>")
        elif self.peek() == "#":
            self.at = min((end for mark in "\n\r" if (end := self.text.find(mark, self.at)) >= 0), default=len(self.text))
        elif self.peek(3) == "`\r\n" or self.peek(2) == "`\n":
            self.at = self.text.index("\n", self.at) + 1
        else:
            return False
        return True

    def redirect(self, redirects: list[Redirect], via: tuple[str, ...]) -> None:
        self.at = self.text.index(">", self.at)
        while self.peek() in (">", " ", "\t"):
            self.at += 1
        if self.peek() == "&":
            self.at += 2
            return
        for target in self.word(via)[:1]:
            if target.lower() != "\0null\0":
                redirects.append(Redirect(">", target))

    def jump(self, end: str) -> str:
        """The text up to an end, which may be missing."""
        found = self.text.find(end, self.at + 2)
        self.cut = self.cut or found < 0
        inside = self.text[self.at + 2 : found if found >= 0 else len(self.text)]
        self.at = found + len(end) if found >= 0 else len(self.text)
        return inside

    def word(self, via: tuple[str, ...]) -> list[Word]:
        """One argument, or several with commas between them."""
        out, glob, tilde = "", False, self.peek() == "~"
        begin = self.at
        while self.at < len(self.text):
            char = self.peek()
            if char in " \t;|\n\r&>" + _CLOSERS or (char in "{" and not out):
                break
            if self.peek(2) in ("@'", '@"'):
                out += self.jump(self.text[self.at + 1] + "@").strip("\r\n")
            elif char == "'":
                out += self.single()
            elif char == '"':
                out += self.double(via)
            elif char == "`":
                out += self.text[self.at + 1 : self.at + 2]
                self.at += 2
            elif char == "$":
                out += self.variable(via)
            elif char in "({":
                self.at += 1
                self.statements(_CLOSERS[_OPENERS.index(char)], via)
                out += UNKNOWN
            elif char == "," and self.at > begin:
                self.at += 1
                return [Word(out, glob, tilde), *self.word(via)]
            else:
                glob = glob or char in "*?"
                out += char
                self.at += 1
        self.at = max(self.at, begin + 1)
        return [Word(out, glob, tilde)]

    def single(self) -> str:
        out = ""
        self.at += 1
        while self.at < len(self.text):
            if self.peek(2) == "''":
                out, self.at = out + "'", self.at + 2
            elif self.peek() == "'":
                self.at += 1
                return out
            else:
                out, self.at = out + self.peek(), self.at + 1
        self.cut = True
        return out

    def double(self, via: tuple[str, ...]) -> str:
        out = ""
        self.at += 1
        while self.at < len(self.text):
            if self.peek(2) == '""' or self.peek() == "`":
                out, self.at = out + self.text[self.at + 1 : self.at + 2], self.at + 2
            elif self.peek() == '"':
                self.at += 1
                return out
            elif self.peek() == "$":
                out += self.variable(via)
            else:
                out, self.at = out + self.peek(), self.at + 1
        self.cut = True
        return out

    def variable(self, via: tuple[str, ...]) -> str:
        self.at += 1
        if self.peek() == "(":
            self.at += 1
            self.statements(")", via)
            return UNKNOWN
        braced = self.peek() == "{"
        begin = self.at + braced
        self.at = begin
        while self.at < len(self.text) and (self.peek() != "}" if braced else self.peek().isalnum() or self.peek() in "_:?"):
            self.at += 1
        name = self.text[begin : self.at].rpartition(":")[2]
        self.at += braced
        return "~" if name.lower() in ("home", "userprofile") else f"\0{name or '_'}\0"

    # ---- what it means

    def emit(self, words: list[Word], redirects: list[Redirect], via: tuple[str, ...], source: str) -> None:
        if not words:
            self.commands += [Command("", [], redirects, via, source)] if redirects else []
            return
        name = words[0].replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")
        posix = _NAMED.get(name, "")
        if name in ("powershell", "pwsh"):
            self.below(words, via, source)
        elif name == "cmd" and any(word.lower() in ("/c", "/k") for word in words):
            at = next(at for at, word in enumerate(words) if word.lower() in ("/c", "/k"))
            self.nested(" ".join(words[at + 1 :]), (*via, "cmd /c"))
        elif posix:
            self.cmdlet(posix, words, redirects, via, source)
        else:
            opaque = not words[0].known
            self.commands.append(Command(name, [Word(name), *words[1:]], redirects, via, source, opaque))

    def cmdlet(self, posix: str, words: list[Word], redirects: list[Redirect], via: tuple[str, ...], source: str) -> None:
        if posix in ("eval", "start"):
            self.started(posix, [word for word in words[1:] if not _is_start_parameter(word)], via, source)
            return
        options, files = _arguments(words[1:])
        if posix == "ls" and "-r" in options:
            posix = "find"  # the next command in the pipeline reads the files that it lists
            options = []
        if posix == "grep" and not any(_parameter(word) == "pattern" for word in words):
            files = files[1:]
        if not files and posix in ("cat", "rm", "cp", "mv", "grep"):
            files = [Word(UNKNOWN)]
        if posix == ">":
            redirects = [*redirects, *(Redirect(">", file) for file in files[:1])]
            self.commands.append(Command("", [], redirects, via, source))
            return
        if posix == "rm" and any(_SYSTEM.fullmatch(file) for file in files):
            files = [*files, Word("/")]
        given = [Word("-e"), Word("pattern")] if posix == "grep" else [*map(Word, options)]
        self.commands.append(Command(posix, [Word(posix), *given, *files], redirects, via, source))

    def started(self, posix: str, words: list[Word], via: tuple[str, ...], source: str) -> None:
        known = words and all(word.known for word in words)
        makers = () if known else tuple(dict.fromkeys(command.name for command in self.commands))
        self.commands.append(Command(posix, [Word(posix), *words], [], via, source, not known, makers))
        if known:
            self.nested(" ".join(words), (*via, posix))

    def below(self, words: list[Word], via: tuple[str, ...], source: str) -> None:
        """powershell -Command ..., -EncodedCommand ..., -File ..."""
        at = next((at for at, word in enumerate(words[1:], 1) if _parameter(word) in ("c", "command", "commandwithargs")), 0)
        encoded = any(
            _parameter(word) and ("encodedcommand".startswith(_parameter(word)) or _parameter(word) == "ec") for word in words[1:]
        )
        plain = [word for word in words[1:] if word[:1] not in ("-", "/")]
        text = words[at + 1 :] if at else [] if any(_parameter(word) in ("f", "file") for word in words) else plain
        opaque = encoded or any(not word.known for word in text)
        self.commands.append(Command("pwsh", [Word("pwsh"), *words[1:]], [], via, source, opaque, ("base64",) if encoded else ()))
        if text and not encoded:
            self.nested(" ".join(text), (*via, "pwsh -Command"))

    def nested(self, text: str, via: tuple[str, ...]) -> None:
        if len(via) > MAX_NESTED:
            self.cut = True
            return
        inner = parse_powershell(text)
        self.cut = self.cut or inner.cut
        self.commands += [command.behind(via) for command in inner.commands]

    def methods(self, source: str, via: tuple[str, ...]) -> None:
        """[IO.File]::Delete('x'): .NET, by the name of the method."""
        for call in source.split("]::")[1:]:
            name, _, arguments = call.partition("(")
            files = [Word(part) for mark in "'\"" for part in arguments.split(mark)[1::2]]
            if any(word in name.lower() for word in _DELETING):
                self.commands.append(Command("rm", [Word("rm"), Word("-r"), *files], [], via, source))
            elif any(word in name.lower() for word in _WRITING):
                self.commands += [Command("", [], [Redirect(">", file)], via, source) for file in files]
            if files:
                self.commands.append(Command("cat", [Word("cat"), *files], [], via, source))


def _without_assignment(words: list[Word], expression: bool) -> list[Word]:
    """The command of a statement, after keywords and `$x =`; nothing for an expression."""
    words = [word for word in words if word]
    while words and words[0].lower() in _KEYWORDS:
        words = words[1:]
    if expression:
        at = next((at for at, word in enumerate(words[:2]) if word.lower() in ("=", "+=", "in")), 0)
        words = words[at + 1 :] if at else []
    return words


def _is_start_parameter(word: str) -> bool:
    name = _parameter(word)
    return bool(name) and any(full.startswith(name) for full in ("filepath", "argumentlist", "wait", "nonewwindow", "command", "passthru"))


def _parameter(word: str) -> str:
    return word[1:].rstrip(":").lower() if word[:1] in ("-", "/") else ""


def _arguments(words: list[Word]) -> tuple[list[str], list[Word]]:
    """The switches that matter, as POSIX options, and the paths. Names of parameters may be abbreviated."""
    options: list[str] = []
    files: list[Word] = []
    waiting = ""
    for word in words:
        name = _parameter(word)
        if name and not waiting:
            switch = next((flag for full, flag in _FLAGS.items() if full.startswith(name)), "")
            options += [switch] if switch else []
            waiting = "" if switch else next((full for full in (*_PATHS, *_VALUED) if full.startswith(name)), "")
        else:
            if waiting not in _VALUED:
                files.append(Word(word.replace("\\", "/"), word.glob, word.tilde))
            waiting = ""
    return options, files
