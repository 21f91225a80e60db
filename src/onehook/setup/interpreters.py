"""Which interpreter runs a policy: onehook's own, one that install was given, or an environment with the packages that the policy declares.

Any but onehook's own starts a copy of the runtime (runtime.py): beside the installed onehook are packages of another interpreter.
Environments are made by install, never at an event.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onehook.core import Hooks, Registration, UsageError
from onehook.jsonc import read_jsonc
from onehook.packs import read_toml
from onehook.places import state_folder
from onehook.setup.command import Program, interpreter
from onehook.setup.runtime import LAUNCH, runtime_files

OLDEST = (3, 9)
_MARK = "onehook.json"  # in an environment, written when it is complete
_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(?:^#(?:| .*)$\s)+)^# ///$")  # the expression of PEP 723
_VERSION = "import os, sys; print(sys.version_info[0], sys.version_info[1], os.path.dirname(os.__file__))"
# Starts as an event does.
_START = """
import sys
launch, policy, *more = sys.argv[1:]
made = {"__name__": "launch", "__file__": launch}
with open(launch, encoding="utf-8") as file:
    exec(compile(file.read(), launch, "exec"), made)
exec(made["RARELY"], made)
cache = made["uncached"](launch.replace("\\\\", "/"))
cache.start(cache)
"""
# Loads the policy, and writes what install must know of it to a file.
_LOAD = f"""{_START}
from onehook.policy import load_policy
hooks = load_policy(policy)
import json
with open(more[0], "w", encoding="utf-8") as file:
    json.dump(dict(options=hooks.options, events=[registration.event for registration in hooks.registrations]), file)
"""
# Fills the cache of the runtime, before the policy is loaded: packages may put finders before the one that knows the cache.
_FILL = f"""{_START}
layer, *names = more
for name in names:
    __import__(name)
from onehook.cache import save
from onehook.policy import load_policy
save()
load_policy(policy, {{"layer": layer}})
"""


@dataclass(frozen=True)
class Needs:
    """What a policy declares in its `# /// script` block."""

    dependencies: tuple[str, ...] = ()
    python: str = ""  # requires-python


def needs_of(policy: Path) -> Needs:
    if policy.suffix != ".py":
        return Needs()
    block = _BLOCK.search(policy.read_text(encoding="utf-8", errors="replace"))
    if block is None:
        return Needs()
    text = "".join(line[2:] if line.startswith("# ") else line[1:] for line in block["content"].splitlines(keepends=True))
    data = read_toml(f"{policy}: the script block", text.encode())
    dependencies, python = data.get("dependencies", []), data.get("requires-python", "")
    if not isinstance(dependencies, list) or not all(isinstance(word, str) for word in dependencies) or not isinstance(python, str):
        raise UsageError(f"{policy}: in the script block, dependencies must be a list of strings, and requires-python a string")
    return Needs(tuple(dependencies), python)


# ---- an interpreter


def found_python(named: str) -> str:
    """The interpreter that --python names: a path, a folder with one (a virtual environment), or a version such as 3.12."""
    path = Path(named)
    if re.fullmatch(r"\d+(\.\d+)*", named):
        found = shutil.which(f"python{named}") or _asked_of_uv(named)
        if not found:
            raise UsageError(f"no Python {named} was found: python{named} is not on PATH, and uv has none; give its path")
        return os.path.abspath(found)
    inside = [path / "bin" / "python", path / "Scripts" / "python.exe"] if path.is_dir() else [path]
    python = next((str(place) for place in inside if os.access(place, os.X_OK)), None) or shutil.which(named)
    if python is None:
        raise UsageError(f"--python: {named} is not an interpreter")
    return os.path.abspath(python)


def _asked_of_uv(version: str) -> str:
    uv = shutil.which("uv")
    done = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False) if uv else None
    return done.stdout.strip() if done and done.returncode == 0 else ""


def version_of(python: str) -> tuple[tuple[int, int], str]:
    """The version of an interpreter, and the folder of its standard library. It must be one that can run a policy."""
    try:
        done = subprocess.run([python, "-I", "-c", _VERSION], capture_output=True, text=True, timeout=60, check=False)
        major, minor, library = done.stdout.rstrip("\n").split(" ", 2)
        version = (int(major), int(minor))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        raise UsageError(f"{python} is not a Python interpreter") from None
    if version < OLDEST:
        raise UsageError(f"{python} is Python {major}.{minor}; a policy needs 3.9 or newer")
    return version, library


def check_version(python: str, needs: Needs) -> None:
    version, _ = version_of(python)
    least = re.search(r">=\s*(\d+)\.(\d+)", needs.python)
    if least and version < (int(least[1]), int(least[2])):
        raise UsageError(f"the policy requires Python {needs.python}, and {python} is {version[0]}.{version[1]}; choose one with --python")


# ---- environments


def folder_of(base: Path, python: str, needs: Needs) -> Path:
    """The folder of an environment: the same one for the same packages and interpreter."""
    made_of = "\n".join([os.path.realpath(python), *sorted(needs.dependencies)])
    return base / "envs" / hashlib.sha256(made_of.encode()).hexdigest()[:16]


def python_in(folder: Path) -> str:
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def packages_in(python: str) -> list[str] | None:
    """The packages that an environment was made for; None if this is not the interpreter of a complete one."""
    kept = read_jsonc(Path(python).parent.parent / _MARK).get("dependencies")
    return [str(word) for word in kept] if isinstance(kept, list) else None


def environment(base: Path, python: str, needs: Needs) -> str:
    """The interpreter of the environment with these packages, which is created if it does not exist."""
    folder = folder_of(base, python, needs)
    made = python_in(folder)
    if packages_in(made) is not None and os.access(made, os.X_OK):
        return made
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    for step in _steps(python, folder, made, needs):
        done = _run(step)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            why = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
            raise UsageError(f"the packages of the policy ({', '.join(needs.dependencies)}) cannot be installed: {why}")
    (folder / _MARK).write_text(json.dumps({"dependencies": needs.dependencies, "python": python}), encoding="utf-8")
    return made


# Since 22.3 pip can install into another environment, which then needs no pip: installing pip takes longer than everything else.
# Fails if this pip is older, or missing. Asking pip itself takes a second.
OLD_PIP = r"import pip, re, sys; sys.exit([int(number) for number in re.findall(r'\d+', pip.__version__)[:2]] < [22, 3])"


def _steps(python: str, folder: Path, made: str, needs: Needs) -> list[Sequence[str]]:
    """The commands that create an environment, and that install the packages into it."""
    uv = shutil.which("uv")
    if uv:
        return [
            (uv, "venv", "--quiet", "--python", python, str(folder)),
            (uv, "pip", "install", "--quiet", "--python", made, *needs.dependencies),
        ]
    install = ("install", "--quiet", "--disable-pip-version-check", *needs.dependencies)
    if _run((python, "-I", "-c", OLD_PIP)).returncode:
        return [(python, "-I", "-m", "venv", str(folder)), (made, "-I", "-m", "pip", *install)]
    return [(python, "-I", "-m", "venv", "--without-pip", str(folder)), (python, "-I", "-m", "pip", "--python", made, *install)]


def _run(step: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(step, capture_output=True, text=True, check=False)


# ---- what runs a policy


def own_folder() -> Path:
    """Where the runtime and the environments of a user are: not in a cache, since without them no policy runs."""
    return Path(state_folder())


def launcher_in(base: Path) -> Path:
    return base / "runtime" / "onehook" / LAUNCH


def chosen(policy: Path, named: str | None, base: Path) -> Program | None:
    """What runs a policy, if that is not this onehook: the interpreter of --python, with the packages that the policy declares."""
    needs = needs_of(policy)
    if named is None and not needs.dependencies:
        if needs.python:
            check_version(interpreter(), needs)
        return None
    python = found_python(named) if named else interpreter()
    check_version(python, needs)
    if needs.dependencies:
        python = environment(base, python, needs)
    return Program(python, str(launcher_in(base)))


def loaded_by(python: str, policy: Path) -> Hooks:
    """The options and the events of a policy, loaded by another interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in runtime_files().items():
            (Path(folder) / name).write_bytes(content)
        result = Path(folder) / "result.json"
        argv = [python, "-I", "-S", "-c", _LOAD, str(Path(folder) / LAUNCH), str(policy), str(result)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if not result.is_file():
            why = (done.stderr.strip() or "it ended without an error").splitlines()[-1]
            raise UsageError(f"{policy} does not load with {python}: {why}; nothing was changed")
        told = json.loads(result.read_text(encoding="utf-8"))
    hooks = Hooks(**told["options"])
    hooks.registrations += [Registration(event, lambda event: None, (), ()) for event in told["events"]]
    return hooks


def fill_cache(program: Program, policy: Path, hosts: Sequence[str], layer: str) -> None:
    """Cache what an event loads. If the users who run the hooks cannot write there, every event would compile it. layer: of the policy."""
    modules = ["onehook.runner", "onehook.stopguard", *(f"onehook.hosts.{host}.wire" for host in hosts)]
    argv = [program.interpreter, "-I", "-S", "-c", _FILL, program.launcher, str(policy), layer, *modules]
    subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL)


# ---- what doctor may start


def _given(folder: Path) -> list[str]:
    path = folder / "interpreters"
    return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if path.is_file() else []


def remembered(python: str, folder: Path) -> bytes:
    """The list of the interpreters that install was given, with this one. folder: that of the runtime."""
    lines = _given(folder)
    return "".join(f"{line}\n" for line in dict.fromkeys([*lines, python])).encode("utf-8", "surrogateescape")


def was_given(python: str, folder: Path) -> bool:
    """Whether install has written this interpreter: a config file that came with a clone may name any program."""
    return python in _given(folder)
