"""Where releases of agents are installed from: npm, with a separate Node.js if they need one, or PyPI."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from onehook.core import OnehookError
from onehook.hostkit.live import Package

INSTALL_SECONDS = 1500
_NO_SUCH = re.compile(r"\bETARGET\b|No match found for version|No matching version|No matching distribution")
_NAMED = re.compile(r"No matching (?:version|distribution) found for (\S+?)\.?(?:\s|$)")
_NEWEST = re.compile(r"\(([^()]+)\)")
_NODE_NAMES = {"darwin": "darwin", "linux": "linux", "win32": "win", "x86_64": "x64", "amd64": "x64", "arm64": "arm64", "aarch64": "arm64"}


class AgentError(OnehookError):
    """An agent cannot be installed or started; the message explains what to do."""


class MissingDependencyError(AgentError):
    """A release exists, but something that it depends on does not."""


class Registry(NamedTuple):
    """How to get the releases of a package."""

    programs: str  # the folder with the programs, inside the one that a release is installed in
    newest: Callable[[Package], str]
    install: Callable[[Package, str, Path], None]  # the package, its version, the folder


def installed(package: Package, version: str, folder: Path) -> None:
    """Install a release into a separate folder. Downloads are cached, so a second attempt resumes where the first one ended."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        REGISTRIES[package.registry].install(package, version, folder)
    except AgentError:
        shutil.rmtree(folder)
        raise


def own_node(package: Package, folder: Path) -> Path | None:
    """The folder with the Node.js that was installed next to an agent, to be put first on PATH."""
    return folder / "node_modules" / _node_package() / "bin" if package.node else None


# --- npm -------------------------------------------------------------------------------------------------------------------------


def _newest_on_npm(package: Package) -> str:
    return _npm(package.package, _unknown(package), "view", package.package, "version").strip()


def _install_from_npm(package: Package, version: str, folder: Path) -> None:
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    names = [*([f"{_node_package()}@{package.node}"] if package.node else []), f"{package.package}@{version}"]
    why = f"{names[-1]} could not be installed in {folder}"
    options = ("--ignore-scripts", "--no-fund", "--no-audit", "--no-save", "--prefix", str(folder))
    try:
        _npm(names[-1], why, "install", *options, *names)
    except MissingDependencyError:
        # A dependency that was released later may require what the registry does not have (seen 2026-11: @ai-sdk/otel 1.0.170 requires
        # ai 7.0.170, and cline accepts any 1.x). The versions that existed when the agent was released fit together.
        _npm(names[-1], why, "install", *options, "--before", _day_after(why, names), *names)


def _day_after(why: str, names: Sequence[str]) -> str:
    """The day after the last of these releases."""
    published = []
    for name in names:
        times: dict[str, str] = json.loads(_npm(name, why, "view", name, "time", "--json"))
        published.append(date.fromisoformat(times[name.rpartition("@")[2]][:10]))
    return (max(published) + timedelta(days=1)).isoformat()


def _node_package() -> str:
    """The package that npm's package `node` would download in a script."""
    return f"node-{_NODE_NAMES.get(sys.platform, sys.platform)}-{_NODE_NAMES.get(platform.machine().lower(), platform.machine())}"


def _npm(name: str, why: str, *arguments: str) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise AgentError("npm is not on PATH; install Node.js 20 or later, or use the agents on PATH (without --install and --versions)")
    package = name.rpartition("@")[0] or name
    return _output([npm, *arguments], why, "npm", name, f"npm view {package} versions")


# --- PyPI ------------------------------------------------------------------------------------------------------------------------


def _newest_on_pypi(package: Package) -> str:
    name = package.package.partition("[")[0]  # without the extras that are installed with it
    found = _NEWEST.search(_pip(python_for(package), _unknown(package), "index", "versions", name))
    if found is None:
        raise AgentError(_unknown(package))
    return found[1]


def _install_from_pypi(package: Package, version: str, folder: Path) -> None:
    name = f"{package.package}=={version}"
    why = f"{name} could not be installed in {folder}"
    _output([python_for(package), "-m", "venv", str(folder)], why, "venv")
    _pip(str(folder / _SCRIPTS / "python"), why, "install", "--quiet", name)


def python_for(package: Package) -> str:
    """An interpreter for an agent: this one, if the agent does not name one."""
    if not package.python or package.python == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    for path in _interpreters(package.python):
        # A version manager puts a program with this name on PATH even if it cannot be used: only one that runs counts.
        if subprocess.run([path, "-c", ""], capture_output=True, timeout=60, check=False).returncode == 0:
            return path
    raise AgentError(f"{package.package} needs Python {package.python}, and no python{package.python} was found")


def _interpreters(version: str) -> Iterator[str]:
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    managed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from (str(path) for path in sorted(managed.glob(f"{version}.*/bin/python"), reverse=True))


def _pip(python: str, why: str, *arguments: str) -> str:
    argv = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    name = arguments[-1]
    return _output(argv, why, "pip", name, f"pip index versions {name.partition('==')[0]}")


# --- both ------------------------------------------------------------------------------------------------------------------------


def _unknown(package: Package) -> str:
    return f"the newest release of {package.package} could not be looked up"


def _output(argv: Sequence[str], why: str, program: str, name: str = "", lister: str = "") -> str:
    """What a program prints. An AgentError begins with `why`; `name` is the release that was requested."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise AgentError(f"{why}: {program} did not finish within {INSTALL_SECONDS} s") from None
    if done.returncode == 0:
        return done.stdout
    missing = _NAMED.search(done.stderr)
    if missing and missing[1] != name:
        raise MissingDependencyError(f"{why}: it depends on {missing[1]}, which the registry does not have")
    if missing or _NO_SUCH.search(done.stderr):
        raise AgentError(f"{why}: there is no such release; `{lister}` lists them")
    tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
    raise AgentError(f"{why}:\n{tail}")


_SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"
REGISTRIES = {
    "npm": Registry("node_modules", _newest_on_npm, _install_from_npm),
    "pypi": Registry(_SCRIPTS, _newest_on_pypi, _install_from_pypi),
}
