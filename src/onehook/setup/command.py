"""The command line of an entry: write it, quoted for the shell that the agent uses, and read one back."""

from __future__ import annotations

import functools
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from onehook.hostkit.config import EXEC, GUARDS, Commands

LAUNCHER = Path(__file__).resolve().parent.parent / "launch.py"
MARK = "onehook/launch"  # in the path of every launcher: the folder has this name however onehook was installed
# In the wheels for the usual platforms; see hatch_build.py.
NATIVE_CLIENT = LAUNCHER.parent / "resident" / ("onehook-client.exe" if sys.platform == "win32" else "onehook-client")
PYTHON_CLIENT = LAUNCHER.parent / "resident" / "client.py"
PORTABLE_FOLDER = ".onehook"
PORTABLE_LAUNCHER = f"{PORTABLE_FOLDER}/launch"

# What install writes after the policy, each with a value.
OPTIONS = ("--host", "--event", "--mode", "--fail", "--timeout", "--log", "--ask-via", "--host-timeout", "--layer", "--pin")

_PLAIN = re.compile(r"[\w.-]+")
_VARIABLE = re.compile(r"\$\{?(?:env:)?(\w+)(?::-[^}]*)?\}?(?=[/\\])")
_POWERSHELL_WORD = re.compile(r"""'((?:[^']|'')*)'|"((?:[^"`]|`.)*)"|(\S+)""")
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_CMD_WORD = re.compile(r'"([^"]*)"|(\S+)')
_CLIENT = re.compile(r"(?:/|[A-Za-z]:/).*/onehook/resident/(?:onehook-client(?:\.exe)?|client\.py)")
# What a written path may start with: a variable for the project, or the folder that hooks start in.
_POSIX_START = re.compile(r"(\$\w+|\$\{\w+:-\.\}|\.)/(?s:(.+))")
_POWERSHELL_START = re.compile(r"(\$env:\w+)/(?s:(.+))")
# Search upwards for the project, for an agent that does not name it.
_FIND = f'd=$PWD; while [ -n "$d" ] && [ ! -e "$d/{PORTABLE_LAUNCHER}" ]; do d=${{d%/*}}; done; '
_FOUND_LAUNCHER = f"$d/{PORTABLE_LAUNCHER}"


def interpreter() -> str:
    """The absolute path of the interpreter. In a virtual environment this is the link in its bin folder, which selects its packages."""
    return os.path.abspath(sys.executable)


@dataclass(frozen=True)
class Program:
    """What runs a policy: an interpreter, and a launcher of onehook."""

    interpreter: str
    launcher: str


def own_program() -> Program:
    return Program(interpreter(), str(LAUNCHER))


def has_proven_client() -> bool:
    """Whether resident mode is the default: on Linux, where it is proven, and with the native client; the other one gains little."""
    return sys.platform == "linux" and os.access(NATIVE_CLIENT, os.X_OK)


def client() -> tuple[str, ...]:
    """What comes before a command in resident mode; nothing on Windows without the native client, for which there is no other."""
    if os.access(NATIVE_CLIENT, os.X_OK):
        return (str(NATIVE_CLIENT),)
    if sys.platform == "win32":
        return ()
    return (interpreter(), "-I", "-S", str(PYTHON_CLIENT))


def _client_in(words: Sequence[str]) -> int:
    """How many words before a command are the client's."""
    for place, count in ((0, 1), (3, 4)):
        if len(words) > count and _CLIENT.fullmatch(words[place].replace("\\", "/")):
            return count if place == 0 or list(words[1:3]) == ["-I", "-S"] else 0
    return 0


def quote_powershell(word: str) -> str:
    # PowerShell treats typographic quotes as straight ones.
    return word if _PLAIN.fullmatch(word) else "'" + re.sub("(['\u2018\u2019\u201a\u201b])", r"\1\1", word) + "'"


def quote_cmd(word: str) -> str:
    """For cmd.exe /C. A percent sign is not doubled: outside batch files it would stay doubled."""
    return word if _PLAIN.fullmatch(word) else f'"{word}"'


def _posix_path(word: str) -> str:
    """A path for sh. A variable for the project at the start of a path is left to the shell; no absolute path starts like one."""
    if word == _FOUND_LAUNCHER:
        return f'"{word}"'
    start = _POSIX_START.fullmatch(word)
    if start is None:
        return shlex.quote(word)
    folder = start[1] if start[1] == "." else f'"{start[1]}"'
    return f"{folder}/{shlex.quote(start[2])}"


def _powershell_path(word: str) -> str:
    start = _POWERSHELL_START.fullmatch(word)
    if start is None:
        return quote_powershell(word)
    return f'"{start[1]}/{_escaped(start[2])}"'


def _escaped(path: str) -> str:
    return re.sub('([`$"])', r"`\1", path)


def is_ours(command: str) -> bool:
    """Whether install wrote this command, here or elsewhere, in this version or an earlier one. One that only resembles it is not ours."""
    return read(command) is not None


def resembles_ours(text: str) -> bool:
    """Whether a command, or the content of a file, names a launcher of onehook at all."""
    return MARK in text.replace("\\/", "/").replace("\\\\", "/").replace("\\", "/")


def relative_to(path: Path, folder: Path) -> PurePath | None:
    try:
        return Path(os.path.abspath(path)).relative_to(os.path.abspath(folder))
    except ValueError:
        return None


# ---- writing


def commands(
    policy: Path,
    project: Path,
    arguments: Sequence[str],
    *,
    project_folder: str,
    inside_project: bool,
    portable: bool,
    windows: bool = False,
    guard: str = "",
    program: Program | None = None,
    client: Sequence[str] = (),
) -> Commands:
    """The command for each shell. project_folder: how the agent's shell names the project; "" if it cannot. guard: as in Traits.

    program: what runs the policy, if it is not this onehook. client: what comes before it in resident mode.
    """
    relative = relative_to(policy, project)
    if portable:
        inside = relative.as_posix() if relative else str(policy)
        words = ("python" if windows else "python3", "-I", "-S", str(project / PORTABLE_LAUNCHER), str(policy), *arguments)
        return Commands(
            _portable_posix(inside, arguments, project_folder, guard),
            _portable_powershell(inside, arguments, project_folder),
            " ".join(map(quote_cmd, ["python", "-I", "-S", PORTABLE_LAUNCHER, inside, *arguments])),
            words,
        )
    place = shlex.quote(str(policy))
    if inside_project and relative and project_folder:
        place = f"{project_folder}/{shlex.quote(relative.as_posix())}"
    program = program or own_program()
    start = (*client, program.interpreter, "-I", "-S", program.launcher)
    words = (*start, str(policy), *arguments)
    posix = " ".join([*map(shlex.quote, start), place, *map(shlex.quote, arguments)])
    if client and not guard:
        posix = EXEC + posix
    powershell = " ".join(map(quote_powershell, words))
    powershell = f"& {powershell}" if powershell.startswith("'") else powershell
    # The paths are those of this machine, so a command for Windows makes sense only on Windows.
    return Commands(posix + guard, powershell, " ".join(map(quote_cmd, words)) if windows else "", words, len(client))


def _portable_posix(policy: str, arguments: Sequence[str], project_folder: str, guard: str) -> str:
    """python3 from PATH with the runtime in the repository, which is searched for upwards if no variable names the project."""
    folder = project_folder or '"$d"'
    launcher = f"{folder}/{PORTABLE_LAUNCHER}" if project_folder else f'"{_FOUND_LAUNCHER}"'
    words = ["python3", "-I", "-S", launcher, f"{folder}/{shlex.quote(policy)}", *map(shlex.quote, arguments)]
    start = "" if project_folder else _FIND if guard else _FIND + EXEC
    return start + " ".join(words) + guard


def _portable_powershell(policy: str, arguments: Sequence[str], project_folder: str) -> str:
    variable = re.search(r"\$\{?(\w+)", project_folder)
    places = [quote_powershell(path) for path in (PORTABLE_LAUNCHER, policy)]
    if variable:
        places = [f'"$env:{variable.group(1)}/{_escaped(path)}"' for path in (PORTABLE_LAUNCHER, policy)]
    return " ".join(["python", "-I", "-S", *places, *map(quote_powershell, arguments)])


# ---- reading


@dataclass(frozen=True)
class Written:
    """The parts of a command that install wrote. The path of the policy may start with a variable for the project."""

    interpreter: str
    launcher: str
    policy: str
    arguments: tuple[str, ...]
    client: tuple[str, ...] = ()  # of resident mode

    @property
    def portable(self) -> bool:
        return self.launcher.replace("\\", "/").endswith(PORTABLE_LAUNCHER)

    @property
    def program(self) -> Program:
        return Program(self.interpreter, self.launcher)

    def option(self, name: str) -> str:
        """The value of an option; "" if it is not given."""
        return next((value for key, value in zip(self.arguments, self.arguments[1:], strict=False) if key == f"--{name}"), "")

    def policy_path(self, project: Path) -> Path:
        return in_project(self.policy, project)

    def launcher_path(self, project: Path) -> Path:
        return in_project(self.launcher, project)


def in_project(word: str, project: Path) -> Path:
    """A written path as an absolute one; it may be relative to the project or start with a variable for it."""
    return Path(_absolute(word, project))


def _absolute(word: str, project: Path) -> str:
    named = _VARIABLE.match(word)
    return os.path.normpath(os.path.join(project, word[named.end() + 1 :] if named else word))


def without_guard(command: str) -> tuple[str, str]:
    """A command, and the guard that follows it."""
    guard = next((guard for guard in GUARDS if command.endswith(guard)), "")
    return command.removesuffix(guard), guard


@functools.lru_cache(1024)  # a plan asks for each entry several times whose it is
def read(command: str) -> Written | None:
    """The parts of a command that install wrote; None for any other.

    A command is ours only if its parts, quoted again, are the same text: so it has nothing around them that a shell would run, and
    nothing in them that a shell would replace.
    """
    if not resembles_ours(command):
        return None
    command, _ = without_guard(command)
    for shell in _SHELLS:
        start = next((start for start in shell.starts if command.startswith(start)), "")
        words = shell.split(command[len(start) :])
        before = _client_in(words)
        quoted = [shell.path(word) if index - before in (3, 4) else shell.quote(word) for index, word in enumerate(words)]
        client, words = words[:before], words[before:]
        if _has_parts(words) and start + " ".join(quoted) == command:
            return Written(words[0], words[3], words[4], tuple(words[5:]), tuple(client))
    return None


def _has_parts(words: Sequence[str]) -> bool:
    options = len(words) % 2 == 1 and all(word in OPTIONS for word in words[5::2]) and all(map(_PLAIN.fullmatch, words[6::2]))
    if len(words) < 5 or words[1:3] != ["-I", "-S"] or not options:
        return False
    launcher = words[3].replace("\\", "/")
    absolute = bool(_ABSOLUTE.match(launcher)) and launcher.endswith((f"/{MARK}.py", f"/{MARK}"))
    portable = launcher == PORTABLE_LAUNCHER or launcher.endswith(f"/{PORTABLE_LAUNCHER}")
    return portable if words[0] in ("python", "python3") else absolute and bool(_ABSOLUTE.match(words[0]))


@dataclass(frozen=True)
class _Shell:
    """How a command is taken apart and put together again.

    path: how the launcher and the policy are quoted, which may start with a variable. starts: what install writes before the first word.
    """

    split: Callable[[str], list[str]]
    quote: Callable[[str], str]
    path: Callable[[str], str]
    starts: tuple[str, ...] = ()


def _posix_words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _powershell_words(command: str) -> list[str]:
    return [_powershell_word(match) for match in _POWERSHELL_WORD.finditer(command)]


def _powershell_word(match: re.Match[str]) -> str:
    single, double, bare = match.groups()
    if single is not None:
        return re.sub("(['\u2018\u2019\u201a\u201b])\\1", r"\1", single)
    return re.sub("`(.)", r"\1", double) if double is not None else str(bare)


def _cmd_words(command: str) -> list[str]:
    return [match[2] if match[1] is None else match[1] for match in _CMD_WORD.finditer(command)]


_SHELLS = (
    _Shell(_posix_words, shlex.quote, _posix_path, (_FIND + EXEC, _FIND, EXEC)),
    _Shell(_powershell_words, quote_powershell, _powershell_path, ("& ",)),
    _Shell(_cmd_words, quote_cmd, quote_cmd),
)


def with_interpreter(command: str, python: str) -> str:
    """A written command with another name for its interpreter, if it is the same one: bin/python3 next to bin/python."""
    written = read(command)
    if written is None or os.path.dirname(written.interpreter) != os.path.dirname(python):
        return command
    same = os.path.realpath(written.interpreter) == os.path.realpath(python)
    return command.replace(shlex.quote(written.interpreter), shlex.quote(python)) if same else command


def names_policy(command: str, policy: Path, project: Path) -> bool:
    """Whether a written command runs this policy."""
    written = read(command)
    if written is None:
        return False
    named = _absolute(written.policy, project)
    same = os.path.normcase(named) == os.path.normcase(os.path.normpath(policy))
    return same or os.path.realpath(named) == os.path.realpath(policy)


def orphan_of(command: str, policy: Path, project: Path) -> bool:
    """Whether a command runs a policy of this name that no longer exists, as after a project was moved."""
    written = read(command)
    return written is not None and written.policy_path(project).name == policy.name and not written.policy_path(project).exists()
