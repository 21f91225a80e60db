"""The agents that can be proven: releases side by side in a cache folder, or what is on PATH."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onehook.core import UsageError
from onehook.hostkit.config import Machine
from onehook.hostkit.live import Package
from onehook.hostkit.versions import numbers
from onehook.hosts import having
from onehook.prove.registries import REGISTRIES, AgentError, installed, own_node
from onehook.prove.stage import Agent, live_of
from onehook.setup.plan import config_of
from onehook.setup.versions import version_of

OLD, PINNED, NEWEST = WORDS = ("old", "pinned", "newest")


@dataclass(frozen=True)
class Pin:
    """One release of an agent."""

    host: str
    package: Package
    version: str

    def folder(self, cache: Path) -> Path:
        return cache / f"{self.host}-{self.version}"

    def program(self, cache: Path) -> Path:
        return self.folder(cache) / REGISTRIES[self.package.registry].programs / self.package.binary

    def ready(self, cache: Path) -> bool:
        """Whether it is fully installed. The marker is written last, so that an interrupted install is repeated."""
        return (self.folder(cache) / ".complete").exists() and self.program(cache).exists()


def pins() -> dict[str, Pin]:
    """The pinned release of each host that has a package."""
    return {host: Pin(host, package, package.version) for host, package in _packages().items()}


def releases(hosts: Sequence[str], wanted: Sequence[str], failed: list[str] | None = None) -> list[Pin]:
    """The wanted releases of each host, without duplicates: old, pinned, newest, or exact versions of a single host.

    `failed` collects the errors of releases that cannot be looked up, and the others are returned; without it, the error is raised.
    """
    unknown = next((word for word in wanted if word not in WORDS and not numbers(word)), "")
    exact = next((word for word in wanted if word not in WORDS), "")
    if unknown or not wanted:
        raise UsageError(f"unknown release {unknown!r}; use {', '.join(WORDS)} or a version such as 1.0.75")
    if exact and len(hosts) != 1:
        raise UsageError(f"{exact} is a version of one agent; name that agent, for example: --hosts {hosts[0]} --versions {exact}")
    packages = _packages()
    found: dict[Pin, None] = {}
    for host in hosts:
        for word in wanted:
            try:
                found[Pin(host, packages[host], _version(word, packages[host]))] = None
            except AgentError as error:
                if failed is None:
                    raise
                failed.append(str(error))
    return list(found)


def _packages() -> dict[str, Package]:
    packages = {host: live_of(host).TRAITS.package for host in having("live")}
    return {host: package for host, package in packages.items() if package}


def _version(word: str, package: Package) -> str:
    if word == NEWEST:
        return REGISTRIES[package.registry].newest(package)
    return {OLD: package.oldest, PINNED: package.version}.get(word, word)


def cache_folder() -> Path:
    named = os.environ.get("ONEHOOK_AGENTS")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onehook" / "agents"


def install(pin: Pin, cache: Path, say: Callable[[str], None]) -> None:
    """Install one agent into the cache folder."""
    name, folder = f"{pin.package.package}@{pin.version}", pin.folder(cache)
    say(name)
    installed(pin.package, pin.version, folder)
    if not pin.program(cache).exists():
        raise AgentError(f"{name} could not be installed in {folder}: it does not contain {pin.package.binary}")
    (folder / ".complete").write_text(pin.version + "\n", encoding="utf-8")


def agents_of(pins: Iterable[Pin], cache: Path) -> list[Agent]:
    """The agents that are installed in the cache folder, in each of their modes."""
    return [
        Agent(pin.host, pin.program(cache), pin.version, mode, own_node(pin.package, pin.folder(cache)))
        for pin in pins
        if pin.ready(cache)
        for mode in live_of(pin.host).MODES
    ]


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
