"""The command line of an entry: write it, quoted for the shell that the agent uses, and read one back."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from onehook.hostkit.config import Commands

LAUNCHER = Path(__file__).resolve().parent.parent / "launch.py"
# A command that contains this path is onehook's: the folder has this name however onehook was installed.
MARK = "onehook/launch.py"
PORTABLE_FOLDER = ".onehook"
PORTABLE_LAUNCHER = f"{PORTABLE_FOLDER}/runtime/onehook/launch.py"

_PLAIN = re.compile(r"[\w.-]+")
_VARIABLE = re.compile(r"\$\{?(?:env:)?(\w+)(?::-[^}]*)?\}?(?=[/\\])")
_POWERSHELL_WORD = re.compile(r"""'((?:[^']|'')*)'|"((?:[^"`]|`.)*)"|(\S+)""")


def interpreter() -> str:
    """The absolute path of the interpreter. In a virtual environment this is the link in its bin folder, which selects its packages."""
    return os.path.abspath(sys.executable)


def quote_powershell(word: str) -> str:
    # PowerShell treats typographic quotes as straight ones.
    return word if _PLAIN.fullmatch(word) else "'" + re.sub("(['\u2018\u2019\u201a\u201b])", r"\1\1", word) + "'"


def quote_cmd(word: str) -> str:
    """For cmd.exe /C. A percent sign is not doubled: outside batch files it would stay doubled."""
    return word if _PLAIN.fullmatch(word) else f'"{word}"'


def is_ours(command: str) -> bool:
    return MARK in command.replace("\\", "/")


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
) -> Commands:
    """The command for each shell. project_folder: how the agent's shell names the project; "" if it cannot."""
    relative = relative_to(policy, project)
    if portable:
        inside = relative.as_posix() if relative else str(policy)
        words = ("python" if windows else "python3", "-I", "-S", str(project / PORTABLE_LAUNCHER), str(policy), *arguments)
        return Commands(
            _portable_posix(inside, arguments, project_folder),
            _portable_powershell(inside, arguments, project_folder),
            " ".join(map(quote_cmd, ["python", "-I", "-S", PORTABLE_LAUNCHER, inside, *arguments])),
            words,
        )
    place = shlex.quote(str(policy))
    if inside_project and relative and project_folder:
        place = f"{project_folder}/{shlex.quote(relative.as_posix())}"
    words = (interpreter(), "-I", "-S", str(LAUNCHER), str(policy), *arguments)
    posix = " ".join([*map(shlex.quote, words[:4]), place, *map(shlex.quote, arguments)])
    powershell = " ".join(map(quote_powershell, words))
    powershell = f"& {powershell}" if powershell.startswith("'") else powershell
    # The paths are those of this machine, so a command for Windows makes sense only on Windows.
    return Commands(posix, powershell, " ".join(map(quote_cmd, words)) if windows else "", words)


def _portable_posix(policy: str, arguments: Sequence[str], project_folder: str) -> str:
    """python3 from PATH with the runtime in the repository, which is searched for upwards if no variable names the project."""
    tail = " ".join(map(shlex.quote, arguments))
    if project_folder:
        return f"python3 -I -S {project_folder}/{PORTABLE_LAUNCHER} {project_folder}/{shlex.quote(policy)} {tail}"
    find = f'd=$PWD; while [ -n "$d" ] && [ ! -e "$d/{PORTABLE_LAUNCHER}" ]; do d=${{d%/*}}; done'
    return f'{find}; exec python3 -I -S "$d/{PORTABLE_LAUNCHER}" "$d"/{shlex.quote(policy)} {tail}'


def _portable_powershell(policy: str, arguments: Sequence[str], project_folder: str) -> str:
    variable = re.search(r"\$\{?(\w+)", project_folder)
    places = [quote_powershell(path) for path in (PORTABLE_LAUNCHER, policy)]
    if variable:
        escaped = [re.sub('([`$"])', r"`\1", path) for path in (PORTABLE_LAUNCHER, policy)]
        places = [f'"$env:{variable.group(1)}/{path}"' for path in escaped]
    return " ".join(["python", "-I", "-S", *places, *map(quote_powershell, arguments)])


# ---- reading


@dataclass(frozen=True)
class Written:
    """The parts of a command that install wrote. The path of the policy may start with a variable for the project."""

    interpreter: str
    launcher: str
    policy: str
    arguments: tuple[str, ...]

    @property
    def portable(self) -> bool:
        return self.launcher.replace("\\", "/").endswith(PORTABLE_LAUNCHER)

    def option(self, name: str) -> str:
        """The value of an option; "" if it is not given."""
        return next((value for key, value in zip(self.arguments, self.arguments[1:], strict=False) if key == f"--{name}"), "")

    def policy_path(self, project: Path) -> Path:
        return in_project(self.policy, project)

    def launcher_path(self, project: Path) -> Path:
        return in_project(self.launcher, project)


def in_project(word: str, project: Path) -> Path:
    """A written path as an absolute one; it may be relative to the project or start with a variable for it."""
    named = _VARIABLE.match(word)
    return Path(os.path.normpath(project / word[named.end() + 1 :] if named else project / word))


def read(command: str) -> Written | None:
    """The parts of a command; None if it is not one of ours."""
    words = _split(command)
    places = [index for index, word in enumerate(words) if word.replace("\\", "/").endswith(MARK)]
    # The last one, since a portable command searches for the launcher before it starts it.
    if not places or places[-1] < 3 or places[-1] + 1 >= len(words):
        return None
    at = places[-1]
    return Written(words[at - 3], words[at], words[at + 1], tuple(words[at + 2 :]))


def _split(command: str) -> list[str]:
    if command.startswith(("& ", "python -I ")):  # written for PowerShell; for other shells the interpreter is python3 or a path
        return [_powershell_word(match) for match in _POWERSHELL_WORD.finditer(command)]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _powershell_word(match: re.Match[str]) -> str:
    single, double, bare = match.groups()
    if single is not None:
        return re.sub("(['\u2018\u2019\u201a\u201b])\\1", r"\1", single)
    return re.sub("`(.)", r"\1", double) if double is not None else str(bare)


def names_policy(command: str, policy: Path, project: Path) -> bool:
    """Whether a written command runs this policy."""
    written = read(command)
    if written is None:
        return False
    named = written.policy_path(project)
    return named == Path(os.path.normpath(policy)) or os.path.realpath(named) == os.path.realpath(policy)


def orphan_of(command: str, policy: Path, project: Path) -> bool:
    """Whether a command runs a policy of this name that no longer exists, as after a project was moved."""
    written = read(command)
    return written is not None and written.policy_path(project).name == policy.name and not written.policy_path(project).exists()
