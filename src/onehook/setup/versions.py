"""Which release of an agent is on this machine, and whether it is one of those that onehook is proven on."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Diagnosis, Machine
from onehook.hostkit.versions import Fact, numbers
from onehook.hosts import optional
from onehook.jsonc import read_jsonc
from onehook.setup.installed import config_files
from onehook.setup.plan import config_of

SECONDS = 5.0
# Below the home folder; installers put programs there that are not on the PATH of every shell.
FOLDERS = (".local/bin", ".npm-global/bin", ".bun/bin")
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
# Installed by Homebrew, or a file that is named by its version.
_IN_PATH = re.compile(r"/(?:Cellar|Caskroom)/[^/]+/(\d[^/]*)/|/(\d+\.\d+[^/]*)$")


@dataclass(frozen=True)
class Here:
    """An agent on this machine, and the releases that onehook is proven on."""

    host: str
    program: str
    version: str  # "" if it could not be read
    oldest: str
    newest: str
    proven: bool | None  # None if the version is unknown
    known: tuple[Fact, ...] = ()  # what is known about this release

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "known": [fact.what for fact in self.known]}


def agents_here(machine: Machine, hosts: list[str], *, ask: bool = False) -> list[Here]:
    """The agents on this machine that have a policy. ask: whether they may be started, to ask for their version."""
    machine = replace(machine, ask_hosts=ask)
    installed = dict.fromkeys(file.host for file in config_files(machine, hosts) if file.ours)
    return [here for host in installed if (here := agent_here(host, machine))]


def agent_here(host: str, machine: Machine) -> Here | None:
    """None if the agent is not here, or if there is nothing to compare it with."""
    live = optional(host, "live")
    if live is None or live.TRAITS.package is None or live.TRAITS.report:  # then what is proven is not the program that people start
        return None
    found = program(host, machine)
    if not found:
        return None
    package, version = live.TRAITS.package, version_of(host, found, machine)
    known = tuple(fact for fact in live.TRAITS.facts if fact.holds(version))
    return Here(host, found, version, package.oldest, package.version, package.proven_on(version) if version else None, known)


def version_findings(here: Here, files: Iterable[Path]) -> Iterator[Diagnosis]:
    """files: those that have the entries."""
    window = f"{here.oldest} to {here.newest}"
    again = f"onehook prove --hosts {here.host}"
    if not here.version:
        yield Diagnosis("note", f"the version of {here.program} is unknown; onehook is proven on {window}", again)
    elif here.proven:
        yield Diagnosis("ok", f"version {here.version}; onehook is proven on {window}")
    else:
        age = "older" if numbers(here.version) < numbers(here.oldest) else "newer"
        what = f"version {here.version} ({here.program}) is {age} than the releases that onehook is proven on ({window})"
        yield Diagnosis("warn", what, f"{'update the agent' if age == 'older' else 'update onehook'}, or prove this release: {again}")
    paths = [file.as_posix() for file in files]
    for fact in here.known:
        broken = fact.breaks and any(path.endswith(f"/{fact.breaks}") for path in paths)
        yield Diagnosis("fail", fact.what, "update the agent") if broken else Diagnosis("note", fact.what)


def program(host: str, machine: Machine) -> str:
    """The agent's program, on PATH or where its installer puts it; "" if there is none."""
    config = config_of(host)
    on_path = next((path for name in config.BINARIES if (path := machine.which(name))), "")
    names = [f"{folder}/{name}" for folder in FOLDERS for name in config.BINARIES]
    places = (machine.home / name for name in (*config.TRAITS.programs, *names))
    return on_path or next((str(path) for path in places if os.access(path, os.X_OK) and path.is_file()), "")


def version_of(host: str, program: str, machine: Machine) -> str:
    """From the files of the agent, else what `--version` prints, if agents may be started (Machine.ask_hosts); "" if unknown."""
    real = os.path.realpath(program)
    found = _of_package(Path(real)) or "".join(next(iter(_IN_PATH.findall(real)), ()))
    if found:
        # An agent that updates itself starts its newest update, whatever was installed first.
        updates = (path.name for pattern in config_of(host).TRAITS.updates for path in machine.home.glob(pattern))
        return max((found, *updates), key=numbers)
    # A program in the project may have come with a cloned repository.
    if not machine.ask_hosts or Path(real).is_relative_to(machine.project.resolve()):
        return ""
    return _asked(real, str(machine.home), tuple(machine.variables.items()))


def _of_package(real: Path) -> str:
    """The version of the npm package that a program is in."""
    parts = real.parts
    if "node_modules" not in parts:
        return ""
    start = len(parts) - parts[::-1].index("node_modules")
    folder = Path(*parts[: start + (2 if parts[start].startswith("@") else 1)])
    version = read_jsonc(folder / "package.json").get("version")
    return version if isinstance(version, str) else ""


@lru_cache
def _asked(program: str, home: str, variables: tuple[tuple[str, str], ...]) -> str:
    """What `--version` prints. Started in the home folder, so that no file of the project takes part."""
    environment: Mapping[str, str] = {**dict(variables), "HOME": home}
    try:
        process = subprocess.Popen(
            [program, "--version"],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError:
        return ""
    with process:
        try:
            output = process.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            _end(process)
            return ""
    found = _NUMBER.search(output.decode("utf-8", "replace"))
    return found[0].rstrip(".") if found else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    if os.name == "nt":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
