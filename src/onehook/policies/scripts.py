"""What code that is passed to an interpreter does to files and which commands it starts, as shell commands that rules can check.

`python -c "shutil.rmtree('/')"` becomes `rm -rf /`. Only calls with literal arguments are seen: a guard rail, not an analysis.
"""

from __future__ import annotations

from onehook.policies.bash_expand import Word
from onehook.policies.shell import Command, Redirect, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# The option that is followed by code, for each interpreter.
CODE_OPTIONS = {
    "python": "c", "python2": "c", "python3": "c", "pypy3": "c", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "bun": "ep",
    "php": "r", "lua": "e", "osascript": "e", "deno": "", "rscript": "e", "expect": "c", "awk": "", "gawk": "", "mawk": "",
}  # fmt: skip
HOMES = ("os.path.expanduser('~')", 'os.path.expanduser("~")', "os.homedir()", "Path.home()", "pathlib.Path.home()", "process.env.HOME",
         "os.environ['HOME']", 'os.environ["HOME"]', "os.getenv('HOME')", 'os.getenv("HOME")', "ENV['HOME']", 'ENV["HOME"]', "Dir.home",
         "$ENV{HOME}", "getenv('HOME')", 'getenv("HOME")')  # fmt: skip
TREES = ("rmtree", "rmSync", "rm_rf", "rm_r", "remove_dir", "removeSync", "remove_tree", "rimraf", "rimrafSync", "fs.rm", "promises.rm",
         "Deno.remove", "Deno.removeSync", "fs.rmdir", "rmdirSync", "remove_entry_secure")  # fmt: skip
FILES = ("os.remove", "os.unlink", "unlinkSync", "fs.unlink", "File.delete", "File.unlink", "FileUtils.rm", "unlink", "os.removedirs",
         "truncateSync", "os.truncate")  # fmt: skip
WRITES = ("writeFileSync", "writeFile", "File.write", "file_put_contents", "appendFileSync", "appendFile", "createWriteStream")
READS = ("readFileSync", "readFile", "File.read", "file_get_contents", "IO.read", "createReadStream")
RUNS = ("os.system", "os.execute", "os.popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
        "subprocess.Popen", "getoutput", "getstatusoutput", "execSync", "exec", "spawnSync", "spawn", "execFileSync", "execFile", "system",
        "shell_exec", "passthru", "popen", "capture2", "capture3", "do shell script", "qx", "%x")  # fmt: skip
METHODS = {"unlink": "rm", "rmdir": "rm", "write_text": ">", "write_bytes": ">", "read_text": "cat", "read_bytes": "cat"}
LISTS = ("glob.glob", "glob", "os.walk", "os.listdir", "os.scandir", "readdirSync", "Dir.glob", "Path")
DROPPED = frozenset([
    "TABLE", "DATABASE", "SCHEMA", "INDEX", "VIEW", "USER", "ROLE", "TABLESPACE", "COLUMN", "CONSTRAINT", "KEYSPACE", "COLLECTION", "OWNED",
    "MATERIALIZED", "SEQUENCE", "TRIGGER",
])  # fmt: skip
MAX_CODE = 1 << 16


def code_of(command: Command) -> str | None:
    """The code that an interpreter is given in an option, a here-document or a pipe."""
    letters = CODE_OPTIONS.get(command.name)
    if letters is None:
        return None
    args = command.argv[1:]
    if command.name.endswith("awk"):  # its code is its first operand
        return next((str(word) for word in args if "{" in word), None)
    for at, word in enumerate(args):
        short = word[:1] == "-" and word[1:2] != "-" and word[-1:] in letters and len(word) > 1
        if (short or word in ("--eval", "--print", "eval", "--run")) and at + 1 < len(args):
            return str(args[at + 1])
        if word[:1] != "-":
            return None
    return command.stdin


def started(command: Command) -> list[Command]:
    """The shell commands that are equivalent to the code of an interpreter."""
    code = code_of(command)
    if not code:
        return []
    code = code[:MAX_CODE].replace("\0", "")
    for home in HOMES:
        code = code.replace(home, "'~'")
    via = (*command.via, f"{command.name} code")
    return [item for item in _effects(code, via, command.source) if item is not None]


def _effects(code: str, via: tuple[str, ...], source: str) -> Iterator[Command]:
    for names, argv in ((TREES, ["rm", "-rf"]), (FILES, ["rm"]), (READS, ["cat"])):
        for target in _targets(code, names, listed=argv[0] == "rm"):
            yield Command(argv[0], [*map(Word, argv), target], [], via, source)
    for target in _targets(code, WRITES, listed=False):
        yield Command("", [], [Redirect(">", target)], via, source)
    yield from _opened(code, via, source)
    yield from _methods(code, via, source)
    for arguments in _calls(code, RUNS):
        listed = arguments.lstrip()[:1] in ("[", "(")
        words = _strings(arguments if listed else _first(arguments))
        text = " ".join(_quoted(word) for word in words) if listed else "".join(words[:1])
        if not listed and len(words) == 1 and (rest := _strings(arguments)[1:]) and " " not in words[0]:
            text = " ".join([words[0], *map(_quoted, rest)])  # spawn('rm', ['-rf', '/'])
        for item in parse(text).commands if text else []:
            yield item.behind(via)


def _targets(code: str, names: tuple[str, ...], listed: bool) -> Iterator[Word]:
    """The paths that are passed to calls of these names; for a variable, the folders whose files the code lists."""
    for arguments in _calls(code, names):
        strings = _strings(_first(arguments))
        if strings:
            yield _path(strings)
        elif listed:
            for other in _calls(code, LISTS):
                if found := _strings(_first(other)):
                    yield _path(found)


def _opened(code: str, via: tuple[str, ...], source: str) -> Iterator[Command]:
    for arguments in _calls(code, ("open",)):
        first = _first(arguments)
        strings, mode = _strings(first), "".join(_strings(arguments[len(first) :]))
        if not strings:  # Perl: open(F, '>', 'file') and open(F, '>file')
            strings, mode = [mode], ""
        if strings and (any(letter in mode for letter in "wax+>") or strings[0].startswith(">")):
            yield Command("", [], [Redirect(">", _path([strings[0].lstrip("> "), *strings[1:]]))], via, source)
        elif strings:
            yield Command("cat", [Word("cat"), _path(strings)], [], via, source)


def _methods(code: str, via: tuple[str, ...], source: str) -> Iterator[Command]:
    """Path('x').unlink()"""
    for name, what in METHODS.items():
        at = code.find(f").{name}(")
        while at >= 0:
            begin = code.rfind("Path(", 0, at)
            strings = _strings(code[begin + 5 : at]) if begin >= 0 else []
            if strings and what == ">":
                yield Command("", [], [Redirect(">", _path(strings))], via, source)
            elif strings:
                yield Command(what, [Word(what), _path(strings)], [], via, source)
            at = code.find(f").{name}(", at + 1)


def _path(strings: list[str]) -> Word:
    text = "/".join(strings)
    return Word(text, any(char in "*?" for char in text), text.startswith("~"))


def _calls(code: str, names: tuple[str, ...]) -> Iterator[str]:
    """The arguments of every call of one of these functions, with or without parentheses."""
    for name in names:
        at = code.find(name)
        while at >= 0:
            after = at + len(name)
            before = code[at - 1 : at] if at else ""
            begin = after + (len(code[after:]) - len(code[after:].lstrip(" ")))
            # A whole name: `system(`, not `filesystem(`; a method of something (`fs.rm`) counts.
            whole = not (before.isalnum() or before == "_")
            if whole and code[begin : begin + 1] == "(":
                yield code[begin + 1 : _closing(code, begin)]
            elif whole and begin > after and code[begin : begin + 1] in ("'", '"', "["):
                yield code[begin : _statement_end(code, begin)]
            at = code.find(name, after)


def _closing(code: str, at: int) -> int:
    depth, quote = 0, ""
    while at < len(code):
        char = code[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return len(code)


def _statement_end(code: str, at: int) -> int:
    ends = [end for end in (code.find(mark, at) for mark in (";", "\n")) if end >= 0]
    return min(ends, default=len(code))


def _first(arguments: str) -> str:
    """The text up to the first comma that is not inside a string or bracket."""
    at = 0
    while at < len(arguments):
        char = arguments[at]
        if char in "'\"`":
            at = _string_end(arguments, at)
        elif char in "([{":
            at = _closing(arguments, at)
        elif char == ",":
            return arguments[:at]
        at += 1
    return arguments


def _string_end(text: str, at: int) -> int:
    quote = text[at]
    at += 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at


def _strings(text: str) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(text):
        if text[at] in "'\"`":
            end = _string_end(text, at)
            out.append(text[at + 1 : end].replace("\\n", "\n").replace("\\", ""))
            at = end
        at += 1
    return [string for string in out if string]


def _quoted(word: str) -> str:
    return (
        word
        if word.replace("-", "a").replace("_", "a").replace("/", "a").replace("~", "a").isalnum()
        else "'" + word.replace("'", "'\\''") + "'"
    )


def sql_destroys(text: str) -> bool:
    """Whether a string contains an SQL statement that drops or empties something, or changes every row."""
    for statement in text.split(";"):
        words = statement.upper().replace("(", " ").replace("=", " ").replace("`", "").replace('"', " ").replace("'", " ").split()
        first = 1 if words and words[0].startswith("-") else 0  # after an option: --command=TRUNCATE t
        for at, word in enumerate(words):
            following = words[at + 1] if at + 1 < len(words) else ""
            if word == "DROP" and following in DROPPED:
                return True
            if word == "TRUNCATE" and (following == "TABLE" or (following and at == first)):
                return True
            if word == "ALTER" and following == "TABLE" and "DELETE" in words[at + 3 : at + 6]:  # ClickHouse
                return True
            if word == "DELETE" and following == "FROM" and "WHERE" not in words:
                return True
            if word == "UPDATE" and "SET" in words[at + 2 : at + 5] and "WHERE" not in words and at == first:
                return True
    return False
