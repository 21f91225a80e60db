"""What an installed policy consists of and depends on: its own files, the runtime, state, and the config of every agent.

One list for self_protect, which keeps the agent's tools away from these files, and for everything that checks or pins an install.
Paths are absolute; a folder stands for everything in it. On the hot path, but only for events that may touch one of these files.
"""

from __future__ import annotations

import os
import sys

from onehook.cache import ARCHIVE, PACKAGE, standard_names
from onehook.places import config_folder, managed_folder, state_folder, system_folder
from onehook.policies.agent_files import HOME, NAMED, PROJECT, SYSTEM
from onehook.system import is_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_MODULES = 200
MAX_SOURCE = 4 << 20
# A folder with one of these names contains a policy, its tests and its programs, and nothing else of the project.
POLICY_FOLDERS = (".hooks", ".onehook")


# --- the policy ------------------------------------------------------------------------------------------------------------------


def modules_of(policy: str) -> list[str]:
    """A policy in Python and the modules next to it that it imports, directly or not, as far as its source shows (not __import__)."""
    first = os.path.abspath(policy)
    folder, found, waiting = os.path.dirname(first), [first], [first]
    while waiting and len(found) < MAX_MODULES:
        here = waiting.pop()
        for name in _imported(here):
            base = os.path.dirname(here) if name.startswith(".") else folder
            for path in _files_of_module(base, name.lstrip(".")):
                if path not in found:
                    found.append(path)
                    waiting.append(path)
    return found


def _imported(path: str) -> Iterator[str]:
    try:
        with open(path, "rb") as file:
            source = file.read(MAX_SOURCE).decode("utf-8", "replace")
    except OSError:
        return
    for line in source.replace("\\\n", " ").replace(";", "\n").splitlines():
        words = line.replace(",", " , ").split()
        if words[:1] == ["from"] and len(words) > 3:
            names = [word.strip("()") for word in words[3:] if word not in (",", "(", ")")]
            dots = words[1] if words[1].strip(".") == "" else f"{words[1]}."
            yield from (words[1], *(f"{dots}{name}" for name in names))  # also `from package import module`
        elif words[:1] == ["import"]:
            yield from (before for before, word in zip(words[1:], ["", *words[1:]]) if before != "," and word in ("", ","))


def _files_of_module(folder: str, name: str) -> Iterator[str]:
    """The files that an import of a.b.c from a folder runs: a/__init__.py, a/b/__init__.py, a/b/c.py."""
    parts = name.split(".")
    if not parts[0] or parts[0] in standard_names():
        return
    for count in range(1, len(parts) + 1):
        path = os.path.join(folder, *parts[:count])
        yield from (file for file in (f"{path}.py", os.path.join(path, "__init__.py")) if is_file(file))


def programs_of(run: str | Iterable[str], folder: str) -> list[str]:
    """The files in a manifest's folder that a hook's command names."""
    words = run.split() if isinstance(run, str) else run
    paths = (os.path.normpath(os.path.join(folder, word.strip("'\""))) for word in words if word)
    return [path for path in paths if is_file(path)]


def whole_folder(policy: str) -> str:
    """The folder of a policy, if everything in it belongs to the policy; else ""."""
    folder = os.path.dirname(os.path.abspath(policy))
    return folder if os.path.basename(folder) in POLICY_FOLDERS else ""


def own_name(policy: str) -> str:
    """What a command that touches a policy has to name: the file, or the folder if everything in it belongs to the policy."""
    return os.path.basename(whole_folder(policy) or policy).lower()


# --- what runs it ----------------------------------------------------------------------------------------------------------------


def runtime_files() -> list[str]:
    """onehook as it runs: its package, or the folder that install copied the runtime to."""
    return [os.path.dirname(ARCHIVE) if ARCHIVE else PACKAGE]


def interpreter_files() -> list[str]:
    """The interpreter, and what it loads before onehook: the virtual environment, or the folder of packages that contains onehook."""
    found = [os.path.abspath(sys.executable)] if sys.executable else []
    if sys.prefix != sys.base_prefix:
        return [*found, sys.prefix]
    packages = os.path.dirname(PACKAGE)
    return [*found, packages] if os.path.basename(packages) in ("site-packages", "dist-packages") else found


def kept_files() -> list[str]:
    """State, journals and logs; the user's own rules and what the user trusts; the machine's rules, and what is installed for it."""
    recorded = os.environ.get("ONEHOOK_RECORD")
    found = (state_folder(), config_folder(), managed_folder(), system_folder(), recorded)
    return [path for path in found if path and os.path.isabs(path)]


# --- the agents ------------------------------------------------------------------------------------------------------------------


def agents_files() -> list[str]:
    """The user's and the machine's files that can switch off the hooks of any agent."""
    home = os.path.join(os.path.expanduser("~"), "")
    found = [home + name for name in HOME]  # without join(), as there are a hundred and an agent waits
    found += SYSTEM.get(sys.platform, SYSTEM["linux"])
    for variable, names in NAMED.items():
        if base := os.environ.get(variable):
            found += [os.path.join(os.path.abspath(base), name) if name else os.path.abspath(base) for name in names]
    return found


def agents_files_in(project: str) -> list[str]:
    """The same for a project."""
    folder = os.path.join(project, "")
    return [folder + name for name in PROJECT]
