"""Where the agents come from: releases from the npm registry, side by side in a cache folder, or what is on PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onehook.core import OnehookError, UsageError
from onehook.hostkit.config import Machine
from onehook.hostkit.live import Package
from onehook.hostkit.versions import numbers
from onehook.hosts import having
from onehook.prove.stage import Agent, live_of
from onehook.setup.plan import config_of
from onehook.setup.versions import version_of

INSTALL_SECONDS = 1500
OLD, PINNED, NEWEST = WORDS = ("old", "pinned", "newest")
_NO_SUCH = re.compile(r"\bETARGET\b|No match found for version|No matching version")


class AgentError(OnehookError):
    """An agent cannot be installed or started; the message says what to do."""


@dataclass(frozen=True)
class Pin:
    """One release of an agent."""

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
    """The pinned release of each host that has a package."""
    return {host: _pin(host, package, package.version) for host, package in _packages().items()}


def by_default() -> list[str]:
    """The hosts that are proven if none is named."""
    return [host for host, package in _packages().items() if package.by_default]


def releases(hosts: Sequence[str], wanted: Sequence[str]) -> list[Pin]:
    """The wanted releases of each host, without duplicates: old, pinned, newest, or exact versions of a single host."""
    unknown = next((word for word in wanted if word not in WORDS and not numbers(word)), "")
    exact = next((word for word in wanted if word not in WORDS), "")
    if unknown or not wanted:
        raise UsageError(f"unknown release {unknown!r}; use {', '.join(WORDS)} or a version such as 1.0.75")
    if exact and len(hosts) != 1:
        raise UsageError(f"{exact} is a version of one agent; name that agent, for example: --hosts {hosts[0]} --versions {exact}")
    packages = _packages()
    chosen = (_pin(host, packages[host], _version(word, packages[host])) for host in hosts for word in wanted)
    return list(dict.fromkeys(chosen))


def _packages() -> dict[str, Package]:
    packages = {host: live_of(host).TRAITS.package for host in having("live")}
    return {host: package for host, package in packages.items() if package}


def _pin(host: str, package: Package, version: str) -> Pin:
    return Pin(host, package.package, version, package.binary, package.disk_mb)


def _version(word: str, package: Package) -> str:
    if word == NEWEST:
        return _npm("view", package.package, "version", why=f"the newest release of {package.package} could not be looked up").strip()
    return {OLD: package.oldest, PINNED: package.version}.get(word, word)


def cache_folder() -> Path:
    named = os.environ.get("ONEHOOK_AGENTS")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onehook" / "agents"


def install(pin: Pin, cache: Path, say: Callable[[str], None]) -> None:
    """Install one agent into the cache folder. npm caches its downloads, so a second try resumes where the first ended."""
    name, folder = f"{pin.package}@{pin.version}", pin.folder(cache)
    why = f"{name} could not be installed in {folder}"
    folder.mkdir(parents=True, exist_ok=True)
    say(name)
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    try:
        _npm("install", "--ignore-scripts", "--no-fund", "--no-audit", "--no-save", "--prefix", str(folder), name, why=why)
    except AgentError:
        shutil.rmtree(folder)
        raise
    if not pin.program(cache).exists():
        raise AgentError(f"{why}: it does not contain {pin.binary}")
    (folder / ".complete").write_text(pin.version + "\n", encoding="utf-8")


def _npm(verb: str, *arguments: str, why: str) -> str:
    """What npm prints. An AgentError begins with `why`."""
    npm = shutil.which("npm")
    if npm is None:
        raise AgentError("npm is not on PATH; install Node.js 20 or later, or use the agents on PATH (without --install and --versions)")
    argv = [npm, verb, *arguments]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise AgentError(f"{why}: npm did not finish within {INSTALL_SECONDS} s") from None
    if done.returncode == 0:
        return done.stdout
    if _NO_SUCH.search(done.stderr):
        package = arguments[-1].rpartition("@")[0]
        raise AgentError(f"{why}: there is no such release; `npm view {package} versions` lists them")
    tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
    raise AgentError(f"{why}:\n{tail}")


def agents_of(pins: Iterable[Pin], cache: Path) -> list[Agent]:
    """The agents that are installed in the cache folder, in each of their modes."""
    return [Agent(pin.host, pin.program(cache), pin.version, mode) for pin in pins if pin.ready(cache) for mode in live_of(pin.host).MODES]


def pinned_agents(hosts: Iterable[str], cache: Path) -> list[Agent]:
    return agents_of((pin for host, pin in pins().items() if host in hosts), cache)


def agents_on_path(hosts: Iterable[str], machine: Machine) -> list[Agent]:
    """The agents installed on this machine, whatever their version, except those that cannot be driven as a program."""
    found: list[Agent] = []
    asking = replace(machine, ask_hosts=True)
    for host in hosts:
        live = live_of(host)
        if live.TRAITS.report:
            continue
        binary = next((path for name in config_of(host).BINARIES if (path := machine.which(name))), None)
        if binary:
            found += [Agent(host, Path(binary), version_of(host, binary, asking) or "unknown", mode) for mode in live.MODES]
    return found
