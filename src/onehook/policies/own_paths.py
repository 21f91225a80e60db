"""The paths that belong to a policy, for one event: whether a path is one of them, is inside one, or contains one."""

from __future__ import annotations

import os

from onehook.core import wildcard
from onehook.policies import own_files
from onehook.policies.agent_files import PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onehook.policies.self_protection import Own

CONFIG = "configuration of an agent that can switch its hooks off"


def plain(path: str) -> str:
    """A path for comparisons: case is ignored, since some systems ignore it."""
    return path.replace("\\", "/").lower()


class Batch:
    """Paths that several events ask for, and what can be computed about them without looking at the files."""

    __slots__ = ("folders", "keys")
    made: dict[tuple[str, ...], Batch] = {}  # noqa: RUF012  (in resident mode, by a rehearsal)

    def __init__(self, paths: Iterable[str]) -> None:
        self.keys = [plain(path) for path in paths]
        self.folders: dict[str, list[tuple[str, str]]] = {}  # folder -> paths, and their names
        for path in paths:
            folder, name = os.path.split(path)
            self.folders.setdefault(folder, []).append((path, name))

    @classmethod
    def of(cls, paths: tuple[str, ...]) -> Batch:
        batch = cls.made.get(paths)
        if batch is None:
            if len(cls.made) > 64:
                cls.made.clear()
            batch = cls.made[paths] = cls(paths)
        return batch


class Guarded:
    """The paths that belong to a policy, for one event."""

    def __init__(self, own: Own, cwd: str) -> None:
        self.own, self.cwd = own, cwd or os.getcwd()
        self.home = os.path.expanduser("~")
        self._real: dict[str, str] = {}  # folder -> its real path; "" if it does not exist
        self._resolutions: dict[str, str] = {}
        self._real_home = self._resolved(self.home)
        self.what: dict[str, str] = {}  # path for comparisons -> what it is
        self.paths: list[str] = []  # as given
        self._keys: list[str] = []  # for comparisons
        self.loose: set[str] = set()  # those that may be passed to programs, which do not change them: the interpreter
        for file in own.policy:
            self._add(own_files.modules_of(file) if file.endswith(".py") else [file], "part of the policy")
            self._add([folder for folder in [own_files.whole_folder(file)] if folder], "part of the policy")
        self._add(own_files.runtime_files(), "part of onehook")
        self._add(own_files.kept_files(), "onehook's stored state")
        self._add(own_files.agents_files(), CONFIG)
        interpreter = own_files.interpreter_files()
        self._add(interpreter, "part of the interpreter that runs the policy")
        self.loose.update(map(plain, interpreter))
        self._projects: list[str] = []

    def _add(self, paths: Iterable[str], what: str) -> None:
        given = tuple(paths)
        batch = Batch.of(given)
        self.paths += given
        self._keys += batch.keys
        for key in batch.keys:
            self.what.setdefault(key, what)
        for folder, inside in batch.folders.items():
            if folder not in self._real:
                self._real[folder] = self._resolved(folder) if os.path.isdir(folder) else self._moved_home(folder)
            real = self._real[folder]
            for path, name in inside if real else ():
                if _is_link(path):  # people keep such files in a separate repository
                    self._add_path(os.path.realpath(path), what)
                elif real != folder:
                    self._add_path(os.path.join(real, name), what)

    def _add_path(self, path: str, what: str) -> None:
        key = plain(path)
        self.paths.append(path)
        self._keys.append(key)
        self.what.setdefault(key, what)

    def _resolved(self, folder: str) -> str:
        """os.path.realpath of an existing folder, but checking each parent folder only once for all paths."""
        if folder not in self._resolutions:
            above, name = os.path.split(folder)
            if name in ("", ".", ".."):  # the root, or a folder that join() would not treat as one
                self._resolutions[folder] = os.path.realpath(folder)
            else:
                path = os.path.join(self._resolved(above), name)
                self._resolutions[folder] = os.path.realpath(path) if _is_link(path) else path
        return self._resolutions[folder]

    def _moved_home(self, folder: str) -> str:
        """A missing folder, as a path in the real home; "" if that is the same."""
        return self._real_home + folder[len(self.home) :] if self._real_home != self.home and folder.startswith(self.home) else ""

    def configs(self) -> list[str]:
        """The agents' config files of this project, the user and the machine."""
        return [path for path in [*self._in_projects(), *self.paths] if path.endswith((".json", ".jsonc", ".toml", ".js"))]

    def objection(self, path: str, here: str = "") -> str:
        """Why a path may not be changed, or ""."""
        what = self.holds(path, here)
        return f"{path} is {what}, which tool calls may not change" if what else ""

    def holds(self, path: str, here: str = "", loosely: bool = False) -> str:
        """What a path is part of; "" if it may be changed. loosely: without the interpreter."""
        whole = self.absolute(path, here)
        for form in dict.fromkeys([whole, _real(whole)]):
            key = plain(form)
            what = self._listed(key, loosely) or self._in_a_project(form, key)
            if what and not any(wildcard(pattern, key) for pattern in self.own.allow):
                return what
        return self._hard_linked(whole)

    def absolute(self, path: str, here: str = "") -> str:
        return os.path.normpath(os.path.join(here or self.cwd, os.path.expanduser(path)))

    def _listed(self, key: str, loosely: bool) -> str:
        while key:
            if key in self.what and not (loosely and key in self.loose):
                return self.what[key]
            key = key.rpartition("/")[0]
        return ""

    def _in_a_project(self, path: str, key: str) -> str:
        parts = key.split("/")
        for start in range(1, len(parts)):
            for end in range(start + 1, min(start + 4, len(parts) + 1)):
                if "/".join(parts[start:end]) in PROJECT and self._is_project("/".join(path.replace("\\", "/").split("/")[:start])):
                    return CONFIG
        return ""

    def _is_project(self, folder: str) -> bool:
        """Whether agents may be started in a folder: it is this one or above it, a repository, or the policy's folder."""
        inside = plain(folder).rstrip("/") + "/"
        if any(f"{plain(path)}/".startswith(inside) for path in (self.cwd, os.path.realpath(self.cwd), *self.own.policy)):
            return True
        return os.path.exists(os.path.join(folder or "/", ".git"))

    def _hard_linked(self, path: str) -> str:
        """What a file is a hard link to; its path does not show that it is a second name for a guarded file."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return ""
        if status.st_nlink < 2 or status.st_mode & 0o170000 != 0o100000:
            return ""
        for other in self.existing():
            try:
                if os.path.samestat(status, os.stat(other)) and plain(other) not in self.loose:
                    return f"another name for {other}"
            except OSError:
                pass
        return ""

    def existing(self) -> list[str]:
        """The paths that exist, with those of the surrounding projects."""
        return [path for path in [*self.paths, *self._in_projects()] if os.path.lexists(path)]

    def _in_projects(self) -> list[str]:
        """The agents' files in the folders from this one up to the repository's, and in the policy's."""
        if not self._projects:
            starts = [self.cwd, *(os.path.dirname(path) for path in self.own.policy)]
            folders = dict.fromkeys(folder for start in starts for folder in _up_to_repository(start, self.home))
            self._projects = [path for folder in folders for path in own_files.agents_files_in(folder)]
        return self._projects

    def below(self, path: str, here: str = "") -> str:
        """Something guarded that is in a folder, or ""."""
        whole = self.absolute(path, here)
        for form in dict.fromkeys([whole, _real(whole)]):
            inside = plain(form).rstrip("/") + "/"
            projects = self._in_projects()
            for key, other in zip([*self._keys, *Batch.of(tuple(projects)).keys], [*self.paths, *projects]):
                if key.startswith(inside) and os.path.lexists(other) and not any(wildcard(pattern, key) for pattern in self.own.allow):
                    return other
        return ""


def _is_link(path: str) -> bool:
    try:
        return os.lstat(path).st_mode & 0o170000 == 0o120000
    except (OSError, ValueError):  # it does not exist, or cannot
        return False


def _up_to_repository(folder: str, home: str) -> Sequence[str]:
    found = []
    while folder and folder not in found:
        found.append(folder)
        if folder == home or os.path.exists(os.path.join(folder, ".git")):
            break
        folder = os.path.dirname(folder)
    return found


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # it has a part that only the shell knows (bash_expand.py)
        return path
