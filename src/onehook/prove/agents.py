"""Where the agents come from: pinned versions from the npm registry in a cache folder, or what is on PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from onehook.core import OnehookError
from onehook.hostkit.config import Machine
from onehook.hosts import having
from onehook.prove.stage import Agent, live_of
from onehook.setup.plan import config_of

INSTALL_SECONDS = 1500


class AgentError(OnehookError):
    """An agent cannot be installed or started; the message says what to do."""


@dataclass(frozen=True)
class Pin:
    host: str
    package: str
    version: str
    binary: str
    disk_mb: int

    def folder(self, cache: Path) -> Path:
        return cache / f"{self.host}-{self.version}"

    def program(self, cache: Path) -> Path:
        return self.folder(cache) / "node_modules" / self.binary

    def ready(self, cache: Path) -> bool:
        """Whether it is fully installed. The marker is written last, so that an interrupted install is repeated."""
        return (self.folder(cache) / ".complete").exists() and self.program(cache).exists()


def pins() -> dict[str, Pin]:
    packages = {host: live_of(host).TRAITS.package for host in having("live")}
    return {host: Pin(host, *package) for host, package in packages.items() if package}


def cache_folder() -> Path:
    named = os.environ.get("ONEHOOK_AGENTS")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onehook" / "agents"


def missing(hosts: Iterable[str], cache: Path) -> list[Pin]:
    return [pin for host, pin in pins().items() if host in hosts and not pin.ready(cache)]


def install(pin: Pin, cache: Path, say: Callable[[str], None]) -> None:
    """Install one agent into the cache folder. npm caches its downloads, so a second try resumes where the first ended."""
    npm = shutil.which("npm")
    if npm is None:
        raise AgentError("npm is not on PATH; install Node.js 20 or later, or use the agents on PATH (without --install)")
    folder = pin.folder(cache)
    folder.mkdir(parents=True, exist_ok=True)
    say(f"{pin.package}@{pin.version}")
    argv = [
        npm,
        "install",
        "--ignore-scripts",
        "--no-fund",
        "--no-audit",
        "--no-save",
        "--prefix",
        str(folder),
        f"{pin.package}@{pin.version}",
    ]
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, stdin=subprocess.DEVNULL)
    if done.returncode or not pin.program(cache).exists():
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise AgentError(f"{pin.package}@{pin.version} could not be installed in {folder}:\n{tail}")
    (folder / ".complete").write_text(pin.version + "\n", encoding="utf-8")


def pinned_agents(hosts: Iterable[str], cache: Path) -> list[Agent]:
    ready = [pin for host, pin in pins().items() if host in hosts and pin.ready(cache)]
    return [Agent(pin.host, pin.program(cache), pin.version, mode) for pin in ready for mode in live_of(pin.host).MODES]


def agents_on_path(hosts: Iterable[str], machine: Machine) -> list[Agent]:
    """The agents installed on this machine, whatever their version, except those that cannot be driven as a program."""
    found: list[Agent] = []
    for host in hosts:
        live = live_of(host)
        if live.TRAITS.report:
            continue
        binary = next((path for name in config_of(host).BINARIES if (path := machine.which(name))), None)
        if binary:
            found += [Agent(host, Path(binary), version_of(binary), mode) for mode in live.MODES]
    return found


def version_of(binary: str) -> str:
    try:
        done = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    numbers = re.search(r"\d+(?:\.\d+)+\S*", done.stdout + done.stderr)
    return numbers.group() if numbers else "unknown"
