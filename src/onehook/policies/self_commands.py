"""What shell commands do to the policy that the agent runs under: the part of self_protect that is about commands.

A command that names a guarded file is denied unless it is known to only read files, so unforeseen programs are denied too.
Some commands change files without naming them (`rm -r .`, `git stash`, `kill`); these have separate checks.
"""

from __future__ import annotations

import os

from onehook.core import HandlerError, wildcard
from onehook.policies.agent_files import HOME, NAMED, PROJECT, VARIABLES, WORDS
from onehook.policies.own_paths import Guarded, plain
from onehook.policies.self_words import (
    CHANGING,
    COPYING,
    DEEP,
    EDITORS,
    HARMLESS_VERBS,
    INTERPRETERS,
    KEYS,
    KILLERS,
    LATER,
    MAKING,
    MANAGERS,
    PROFILES,
    READERS,
    SHELLS,
    UNPACKING,
    WRITE_OPS,
    WRITING,
    is_involved,
    names_any,
    quickly_read,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onehook.core import Event
    from onehook.policies.bash_expand import Word
    from onehook.policies.self_protection import Own
    from onehook.policies.shell import Command

MAX_SCRIPT = 1 << 18
MAX_PATCH = 1 << 22


def objection(event: Event, own: Own) -> str:
    """Why a command is denied, or ""."""
    return objection_to(event.command, event.cwd, own)


def objection_to(text: str, cwd: str, own: Own) -> str:
    commands = quickly_read(text)
    if commands is None:
        commands = _read_whole(text)
        words = "\0".join([cwd, *(word for command in commands for word in (*command.argv, *(r.target for r in command.redirects)))])
        if not names_any(words, own.names) and not any(map(is_involved, commands)):
            return ""
    return Line(text, commands, own, cwd).objection()


def _read_whole(text: str) -> list[Command]:
    from onehook.policies.scripts import started
    from onehook.policies.shell import parse

    script = parse(text)
    if script.cut:
        raise HandlerError("the command is too long, too deeply nested or incomplete, so self_protect cannot check it")
    commands = list(script.commands)
    return [*commands, *(below for command in commands for below in started(command))]


# Names that switch onehook off, or answer for a person, in code that mentions onehook.
_SWITCHES_OFF = (
    "uninstall", "onehook.setup", "onehook.cli", "onehook.desk", "onehook.page", "'pause'", '"pause"', "onehook approve", "'approve'",
    '"approve"', "rmtree",
)  # fmt: skip


class Line:
    """One command line, and the current position in it."""

    def __init__(self, text: str, commands: Sequence[Command], own: Own, cwd: str, depth: int = 0) -> None:
        self.text, self.commands, self.own, self.depth = text, commands, own, depth
        self.guarded = Guarded(own, cwd)
        self.here = self.guarded.cwd
        self._at = 0  # the position in the text
        self._groups: list[tuple[int, str]] = []  # the ends of the subshells that a `cd` is in, and the folder that each started in
        self._unsure = False  # a `cd` led to a place that cannot be known

    def objection(self) -> str:
        for command in self.commands:
            self._at = max(self._at, self.text.find(command.source, self._at))
            while self._groups and self._at > self._groups[-1][0]:
                self.here = self._groups.pop()[1]
            if why := self._of_line(command) or self._redirected(command) or self._of(command):
                return why
            if command.name in ("cd", "pushd", "set-location", "sl", "chdir"):
                self._enter(command)
        return ""

    def _enter(self, command: Command) -> None:
        """Enter the folder that a `cd` leads to, and note up to where in the text that applies."""
        words = _operands(command.argv[1:])
        after = self.text[self._at + len(command.source) :].lstrip()
        if after[:1] == "|" or (after[:1] == "&" != after[1:2]):
            return  # `cd x || ...`, `cd x | ...`, `cd x & ...`
        if len(words) != 1 or not words[0].known or words[0] == "-":
            self._unsure = bool(words)
            return
        folder = os.path.expanduser(words[0]) if words[0].tilde else str(words[0])
        target = os.path.normpath(os.path.join(self.here, folder))
        if not os.path.isdir(target) and not any(other.name in MAKING for other in self.commands):
            return  # it fails, so what follows stays here
        begin, end = _group(self.text, self._at)
        if begin >= 0 and not any(known == end for known, _ in self._groups):
            self._groups.append((end, self.here))
        self.here = target

    # --- what is about the whole line ---

    def _of_line(self, command: Command) -> str:
        low = self.text.lower()
        if command.name in KILLERS and ("onehook" in low or any(name in low for name in self.own.names)):
            return f"{command.name} would end the process that runs the policy"
        if (why := self._of_variables(command)) or command.name not in LATER:
            return why
        texts = [*command.argv[1:], command.stdin or "", *(word for other in self.commands for word in other.argv[1:])]
        texts += [self._content(word) for word in command.argv[1:] if word.known]
        named = next((name for text in texts if (name := self.mentioned(text))), "")
        return f"{command.name} would run something later that touches {named}" if named else ""

    def _of_variables(self, command: Command) -> str:
        """Variables that change onehook or switch an agent's hooks off, set for later or for another agent."""
        sets = command.name in ("export", "setx", "launchctl", "systemctl", "setenv") or (
            command.name in ("declare", "typeset", "set") and any(w[:2] in ("-x", "-g", "-U") for w in command.argv[1:])
        )
        if not sets and command.name not in WORDS:
            return ""
        found = switch_in(self.text, [*VARIABLES, *(NAMED if command.name in WORDS else ())])
        if not found and command.name in WORDS and any(word.startswith("HOME=") for word in self.text.split()):
            found = "HOME"
        return f"{found} changes how policies run" if found else ""

    # --- files ---

    def _redirected(self, command: Command) -> str:
        for redirect in command.redirects:
            if redirect.op in WRITE_OPS and not redirect.target.isdigit():
                for name in self.names(redirect.target):
                    text = f"{self.text}\n{command.stdin or ''}"
                    if why := self._changes(name) or profile_objection(name, text):
                        return why
        return ""

    def names(self, word: Word) -> list[str]:
        """The files that a word names."""
        if word.known and not word.glob and not word.tilde:
            return [str(word)]
        from onehook.policies.file_words import _names

        return [str(name) for name in _names(word, self.here)]

    def _changes(self, path: str) -> str:
        why = self.guarded.objection(path, self.here)
        if not why and self._unsure and not os.path.isabs(path):
            tail = "/" + plain(os.path.normpath(path))
            named = next((other for other in self.guarded.existing() if plain(other).endswith(tail)), "")
            why = f"{path} may be {named}, which tool calls may not change" if named and self.mentioned(self.text) else ""
        return why

    def _of(self, command: Command) -> str:
        name, argv = _program(command)
        if not name:
            return ""
        if check := CHECKS.get(name):
            return check(self, name, argv, command)
        if name in MANAGERS:
            return self._packages(name, argv)
        if name in CHANGING or name.lower() in CHANGING:
            return self._all_changed(name, argv)
        if name in EDITORS and (why := self._edited(name, argv)):
            return why
        return self._ran(command) or self._unknown(name, argv)

    def _packages(self, name: str, argv: Sequence[Word]) -> str:
        words = [word.lower() for word in argv]
        named = [at for at, word in enumerate(words) if word.startswith("onehook") and word[7:8] in ("", *"[=<>~!@; ")]
        if named and "run" in words[: named[0]]:
            return self._onehook(name, argv[named[0] + 1 :])
        if named and not {"show", "list", "freeze", "search", "index", "info", "tree"}.intersection(words[:2]):
            return f"{name} {argv[0]} would change onehook"
        if name == "uv" and words[:1] == ["venv"]:
            return self._all_changed("uv venv", _operands(argv[1:]) or [type(argv[0])(".venv")])
        return ""

    def _all_changed(self, name: str, argv: Sequence[Word]) -> str:
        words = _operands(argv)
        deep = name in DEEP
        if name == "chmod" and words and words[0].lstrip("ugoa")[:1] == "+" and "w" not in words[0] and "x" in words[0]:
            words = []  # chmod +x revokes nothing
        for number, word in enumerate(words, 1):
            for path in self.names(word):
                if why := self._changes(path) or profile_objection(path, self.text):
                    return why
                if (
                    deep
                    and not (number == len(words) > 1 and self._is_arrival(name, argv, path))
                    and (inside := self.guarded.below(path, self.here))
                ):
                    return f"{name} would also change {inside}, which tool calls may not change"
        if name in EDITORS:
            return self._edited(name, argv)
        unknown = any(not word.known for word in words)
        return self._unseen(name) if unknown else ""

    def _unseen(self, name: str) -> str:
        """A command whose operands come from another command, in a line that names guarded files."""
        for other in self.commands:
            for word in other.argv[1:]:
                if word.known and word[:1] != "-" and self.guarded.holds(str(word), self.here):
                    return f"{name} may change {word}, which tool calls may not change"
        return ""

    def _edited(self, name: str, argv: Sequence[Word]) -> str:
        named = next((found for word in argv if (found := self.mentioned(word))), "")
        return f"{name} would change {named}, which tool calls may not change" if named else ""

    def _unknown(self, name: str, argv: Sequence[Word]) -> str:
        """A program that may do anything to the files that it is given, or, if it is known, only to what -o names."""
        reads = name in READERS
        before = ""
        for word in argv:
            output = before in ("-o", "--output", "-O", "--output-document", "--out-file", "--outfile", "-t", "--target-directory")
            given = [word] if not word.startswith("-") else []
            given += [type(word)(word.partition("=")[2], word.glob)] if "=" in word else []
            if ":" in word and not reads:
                given += [type(word)(part, word.glob) for part in word.split(":")]
            for one in given if output or not reads or word.startswith(("--output=", "--out-file=", "of=")) else ():
                for path in self.names(one) if one else ():
                    if "/" not in path and not output and not os.path.lexists(os.path.join(self.here, path)):
                        continue
                    what = self.guarded.holds(path, self.here, loosely=True)
                    if what:
                        return f"{name} may change {path}, which is {what}"
            before = word
        return ""

    # --- programs with a separate check ---

    def _copied(self, name: str, argv: Sequence[Word], command: Command) -> str:
        words = _operands(argv)
        target = _value(argv, "-t", "--target-directory")
        sources, last = (words, target) if target is not None else (words[:-1], words[-1] if words else None)
        if last is None:
            return ""
        symbolic = name == "ln" and _has(argv, "s", "--symbolic")
        linked = (name == "ln" and not symbolic) or (name == "cp" and _has(argv, "l", "--link"))
        for source in sources if linked else ():
            if why := next((why for path in self.names(source) if (why := self._changes(path))), ""):
                return why
        for folder in self.names(last):
            if why := self._changes(folder):
                return why
            whole = self.guarded.absolute(folder, self.here)
            if any(w.startswith("--delete") for w in argv) and (inside := self.guarded.below(folder, self.here)):
                return f"{name} --delete would also change {inside}, which tool calls may not change"
            if symbolic and os.path.islink(whole) and (inside := self.guarded.below(folder, self.here)):
                return f"{name} would replace the folder of {inside}, which tool calls may not change"
            for source in sources:
                for path in self.names(source):
                    if why := self._arrives(name, path, whole):
                        return why
        return ""

    def _arrives(self, name: str, source: str, folder: str) -> str:
        """Whether something that is copied or moved replaces a guarded file."""
        roots = [folder] if source.endswith(("/", "/.")) or not os.path.isdir(folder) else []
        roots += [os.path.join(folder, os.path.basename(source.rstrip("/")))] if os.path.isdir(folder) else []
        for root in roots:
            if why := self._changes(root):
                return why
            for other in [*self.guarded.paths, *self.guarded._in_projects()]:
                if plain(other).startswith(plain(root) + "/"):
                    inside = other[len(root) + 1 :]
                    if os.path.lexists(os.path.join(self.guarded.absolute(source, self.here), inside)):
                        return f"{name} would also change {other}, which tool calls may not change"
        return ""

    def _is_arrival(self, name: str, argv: Sequence[Word], last: str) -> bool:
        """Whether the last operand is a folder that others are moved into: it remains, and _copied checks what arrives there."""
        into = _value(argv, "-t", "--target-directory") is None and not _has(argv, "T", "--no-target-directory")
        return name in ("mv", "gmv") and into and os.path.isdir(self.guarded.absolute(last, self.here))

    def _moved(self, name: str, argv: Sequence[Word], command: Command) -> str:
        return self._all_changed(name, argv) or self._copied(name, argv, command)

    def _found(self, name: str, argv: Sequence[Word], command: Command) -> str:
        """find: what it deletes or passes to another command, by name."""
        from onehook.policies.folders import found_by

        for option in ("-fprint", "-fprintf", "-fls"):
            file = _value(argv, option)
            if file is not None and (why := self._changes(file)):
                return why
        if "-delete" not in argv and not self._hands_to_writer():
            return ""
        for tree in found_by(command):
            root = plain(self.guarded.absolute(tree, self.here)).rstrip("/") + "/"
            for other in self.guarded.existing():
                if not f"{plain(other)}/".startswith(root) and not root.startswith(plain(other) + "/"):
                    continue
                if not tree.only or any(wildcard(only, file) for only in tree.only for file in [os.path.basename(other), *_listed(other)]):
                    return f"find would also change {other}, which tool calls may not change"
        return ""

    def _hands_to_writer(self) -> bool:
        """Whether a command that gets the output of find does more than read."""
        handing = ("find", "gfind", "xargs", "gxargs")
        takers = [other for other in self.commands if other.name not in handing and any(not word.known for word in other.argv[1:])]
        return any(other.name not in READERS or _in_place(other.argv[1:]) for other in takers)

    def _unpacked(self, name: str, argv: Sequence[Word], command: Command) -> str:
        option, words = UNPACKING[name], _operands(argv)
        if "tar" in name and "x" not in argv[0].lstrip("-") if argv else True:
            made = _value(argv, "-f", "--file") or (words[1] if len(words) > 1 and "c" in words[0] else None)
            if not {"-x", "--extract", "--get"}.intersection(argv):
                return self._changes(made) if made is not None else ""
        into = _value(argv, option, "--directory")
        base = self.guarded.absolute(into, self.here) if into is not None else self.here
        if into is not None and (why := self._changes(base)):
            return why
        # An archive that is unpacked into a folder of configuration probably concerns it; one for the project may contain anything.
        if into is not None and os.path.basename(base).startswith(".") and (inside := self.guarded.below(base)):
            return f"{name} may change {inside}, which tool calls may not change"
        named = next((word for word in words if word.known and self.guarded.holds(os.path.join(base, word))), "")
        return f"{name} would change {named}, which tool calls may not change" if named else ""

    def _dd(self, name: str, argv: Sequence[Word], command: Command) -> str:
        targets = [type(word)(word[3:], word.glob, word[3:4] == "~") for word in argv if word.startswith("of=")]
        return next((why for word in targets for path in self.names(word) if (why := self._changes(path))), "")

    def _stream(self, name: str, argv: Sequence[Word], command: Command) -> str:
        """sed, awk, perl and ruby: edits in place, or what their program does."""
        if _in_place(argv):
            for word in _operands(argv):
                for path in self.names(word):
                    if self.guarded.holds(path, self.here):
                        return f"{name} would change {path}, which tool calls may not change"
            return self._unseen(name) if any(not w.known for w in argv) else ""
        if name in INTERPRETERS:
            return self._interpreted(name, argv, command)
        return self._edited(name, [word for word in argv if ">" in word or "w " in word])

    def _interpreted(self, name: str, argv: Sequence[Word], command: Command) -> str:
        from onehook.policies.scripts import code_of

        code = code_of(command) or ""
        if code:
            return self._of_code(name, code)
        script = next((word for word in argv if word[:1] != "-"), None)
        return self._of_code(f"{name} {script}", self._content(script)) if script is not None and script.known else ""

    def _of_code(self, who: str, code: str) -> str:
        low = code.lower()
        named = self.mentioned(code)
        if named and any(mark in low for mark in WRITING):
            return f"{who} has code that names {named} and may change it"
        if "onehook" in low and any(mark in low for mark in _SWITCHES_OFF):
            return f"{who} has code that may switch onehook off"
        return ""

    def _ran(self, command: Command) -> str:
        """A script that is started by its path."""
        first = command.argv[0] if command.argv else None
        if first is None or not first.known or "/" not in first:
            return ""
        text = self._content(first)
        if not text.startswith("#!"):
            return ""
        kind = text.split("\n", 1)[0]
        return self._of_shell_text(text) if "sh" in kind.rpartition("/")[2] else self._of_code(str(first), text)

    def _shell(self, name: str, argv: Sequence[Word], command: Command) -> str:
        script = next((word for word in argv if word[:1] not in ("-", "+")), None)
        if script is None or not script.known or any(w[:1] == "-" != w[1:2] and "c" in w for w in argv):
            return ""
        return self._of_shell_text(self._content(script))

    def _of_shell_text(self, text: str) -> str:
        if not text or self.depth or not (self.mentioned(text) or "onehook" in text):
            return ""
        try:
            commands = _read_whole(text)
        except HandlerError:
            return ""
        return Line(text, commands, self.own, self.here, 1).objection()

    def _content(self, word: str) -> str:
        """The text of a script that a command runs; "" if it does not exist or is one of the policy's own files."""
        path = self.guarded.absolute(word, self.here)
        try:
            if not os.path.isfile(path) or self.guarded.holds(path):
                return ""
            with open(path, "rb") as file:
                return file.read(MAX_SCRIPT).decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def mentioned(self, text: str) -> str:
        """A guarded file whose path components are all in a string, or ""."""
        low = text.lower()
        if not any(key in low for key in KEYS) and not any(name in low for name in self.own.names):
            return ""
        relative = [*PROJECT, *HOME, ".local/state/onehook", ".config/onehook", "site-packages/onehook", *self.own.names]
        return next((path for path in relative if all(part in low for part in path.lower().split("/"))), "")

    def _onehook(self, name: str, argv: Sequence[Word], command: Command | None = None) -> str:
        verb = next((str(word) for word in argv if word[:1] != "-"), "")
        harmless = verb in HARMLESS_VERBS and not {"--install", "--fix", "--apply"}.intersection(argv)
        if not verb or harmless or {"--help", "-h", "--dry-run"}.intersection(argv):
            return ""
        return f"`onehook {verb}` is for people, not for agents"

    def _agent(self, name: str, argv: Sequence[Word], command: Command) -> str:
        if {"list", "ls", "show", "get", "--help", "-h", "help"}.intersection(argv):
            return ""
        for words in WORDS[name]:
            if _in_order(words.split(), argv):
                return f"`{name} {words.replace('*', '')}` can switch its hooks off"
        return self._unknown(name, argv)

    def _git(self, name: str, argv: Sequence[Word], command: Command) -> str:
        from onehook.policies.self_git import objection

        return objection(self, argv, command)

    def _patched(self, name: str, argv: Sequence[Word], command: Command) -> str:
        return self._all_changed(name, argv) or self.patch_objection(argv, command)

    def patch_objection(self, argv: Sequence[Word], command: Command) -> str:
        """A patch that is read from a file or from a here-document."""
        files = [r.target for r in command.redirects if r.op == "<"] + [w for w in argv if w[:1] != "-"]
        files += [value for value in (_value(argv, "-i", "--input"),) if value]
        texts = [self._content(word) for word in files if word.known] + [command.stdin or ""]
        texts += [r.target for r in command.redirects if r.op in ("<<", "<<<")]
        folder = _value(argv, "-d", "--directory")
        for line in "\n".join(texts)[:MAX_PATCH].splitlines():
            if line.startswith(("+++ ", "--- ", "rename ", "diff --git ", "copy to ")):
                for word in line.split()[1:]:
                    stripped = word.partition("/")[2]
                    for path in (word, stripped):
                        if path and self.guarded.holds(os.path.join(folder or "", path), self.here):
                            return f"the patch would change {path}, which tool calls may not change"
        return ""


def _program(command: Command) -> tuple[str, Sequence[Word]]:
    """The program that runs, and its arguments: for `python -m pip` that is pip."""
    argv = command.argv
    name = command.name
    if name.startswith("python") or name in INTERPRETERS:
        name = "python" if name.startswith("python") else name
        for at, word in enumerate(argv[1:], 1):
            if word == "-m" and at + 1 < len(argv) and name == "python":
                return argv[at + 1].partition(".")[0], argv[at + 2 :]
            if word[:1] != "-":
                if plain(word).endswith(("/onehook", "/onehook/__main__.py", "/onehook/launch.py")):
                    return "onehook", argv[at + 1 :]
                break
    if name.startswith("pip") and name[3:].replace(".", "").isdigit():
        name = "pip"
    return name, argv[1:]


def _operands(argv: Sequence[Word]) -> list[Word]:
    out: list[Word] = []
    only = False
    for word in argv:
        if word == "--" and not only:
            only = True
        elif only or not word.startswith("-") or word == "-":
            out.append(word)
    return out


def _value(argv: Sequence[Word], *options: str) -> Word | None:
    """The value of an option, as the next word or after =."""
    for word, following in zip(argv, [*argv[1:], None]):
        if word in options:
            return following
        for option in options:
            if option[:2] == "--" and word.startswith(option + "="):
                return type(word)(word[len(option) + 1 :])
    return None


def _group(text: str, at: int) -> tuple[int, int]:
    """Where the parentheses around a place begin and end; -1 if there are none."""
    depth, begin = 0, at
    while begin >= 0:
        begin -= 1
        depth += {")": 1, "(": -1}.get(text[begin : begin + 1], 0) if begin >= 0 else 0
        if depth < 0:
            break
    depth, end = 0, at
    while end < len(text) and depth >= 0:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return begin, end - 1


def _has(argv: Sequence[Word], letter: str, option: str) -> bool:
    return any(word == option or (word[:1] == "-" != word[1:2] and letter in word) for word in argv)


def _in_place(argv: Sequence[Word]) -> bool:
    return any(
        w.startswith(("-i", "--in-place", "-pi", "-ni")) or w == "inplace" or (w[:1] == "-" != w[1:2] and "i" in w[1:4] and "=" not in w)
        for w in argv
    )


def _in_order(words: Sequence[str], argv: Sequence[str]) -> bool:
    at = 0
    for word in argv:
        at += 1 if at < len(words) and wildcard(words[at], word) else 0
    return at == len(words)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)[:1000]
    except OSError:
        return []


def switch_in(text: str, variables: Sequence[str]) -> str:
    """The first variable in a string, with a value, that changes onehook or disables hooks."""
    at = text.find("ONEHOOK_")
    if at >= 0:
        return text[at : at + 40].split("=")[0].split()[0]
    return next((name for name in variables if f"{name}=" in text or f"{name} " in text), "")


def profile_objection(path: str, text: str) -> str:
    """Why a file that sets variables for later shells may not get this text, or ""."""
    if os.path.basename(path) not in PROFILES:
        return ""
    found = switch_in(text, [*VARIABLES, *(name for name in NAMED if not name.startswith("XDG_"))])
    if not found:
        found = next(
            (f"{name} {word}" for name, words in WORDS.items() for word in words if word[:2] == "--" and name in text and word in text), ""
        )
    return f"{found} in {path} would change how policies run" if found else ""


CHECKS: dict[str, Callable[[Line, str, Sequence[Word], Command], str]] = {
    **dict.fromkeys(COPYING, Line._copied),
    **dict.fromkeys(("mv", "gmv", "move-item"), Line._moved),
    **dict.fromkeys(("find", "gfind"), Line._found),
    **dict.fromkeys(UNPACKING, Line._unpacked),
    **dict.fromkeys(("sed", "gsed", "awk", "gawk", "mawk", "perl", "ruby"), Line._stream),
    **dict.fromkeys(INTERPRETERS - {"perl", "ruby"}, Line._interpreted),
    **dict.fromkeys(SHELLS, Line._shell),
    **dict.fromkeys(WORDS, Line._agent),
    "dd": Line._dd,
    "patch": Line._patched,
    "git": Line._git,
    "onehook": Line._onehook,
}
