"""A user's own policy on the real agents: one command, run with and without the policy, and the difference.

It runs in a copy of the policy's repository, so that files that the policy refers to exist. The agents' configs are not copied: the
policy is installed from scratch, and no hook, permission or MCP server of the user interferes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.hostkit.config import Machine
from onehook.hostkit.live import Step
from onehook.hostkit.trust import root_of
from onehook.prove.evidence import Evidence
from onehook.prove.scenarios import Scenario
from onehook.prove.stage import Agent, play
from onehook.setup.command import PORTABLE_FOLDER
from onehook.setup.plan import config_of, configurable

if TYPE_CHECKING:
    from onehook.hosts.interface import Live

MOST_BYTES = 50 * 1024 * 1024
_MCP_FILES = (".mcp.json", "mcp.json")
_VARYING = re.compile(r"\d+")
# A line of git status or of a folder tree, which some agents send to the model.
_LISTING = re.compile(r"(?:\?\?|[ MADRC]{1,2}) \S|\s*[│├└]")


@dataclass(frozen=True)
class Tried:
    """What one agent did. `difference` is "" if the policy changed nothing; `control`: why the run without the policy proves nothing."""

    agent: str
    version: str
    difference: str
    kept: str
    control: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("kept", "control") or value}


def try_policy(
    agents: Sequence[Agent],
    policy: Path,
    command: str,
    keep: Path | None,
    done: Callable[[Tried], None],
    begun: Callable[[str], None] = lambda text: None,
) -> list[Tried]:
    """Try the command on each agent, with the policy and without.

    `done` is called with each result as it arrives, and `begun` with what is about to run.
    """

    def script(live: Live, mode: str, project: str) -> list[Step | None]:
        return [live.shell(command, mode), {"say": "done"}]

    policy = policy.absolute()
    root = root_of(policy.parent)
    copied = tuple(files_of(root)) if root else ()
    scenario = Scenario(
        "own", "your policy", "PreToolUse", "Bash", None, "", script, lambda _: True,
        policy_path=str(policy), copied_from=root, copied=copied,
    )  # fmt: skip
    tried: list[Tried] = []
    with ExitStack() as stack:
        base = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="onehook-prove-")))
        for agent in agents:
            folder = base / agent.folder
            shutil.rmtree(folder / "without", ignore_errors=True)
            shutil.rmtree(folder / "with", ignore_errors=True)
            begun(f"{agent.name} {agent.version}: running without the policy")
            without = play(agent, scenario, folder / "without", with_policy=False)
            begun(f"{agent.name} {agent.version}: running with the policy")
            with_it = play(agent, scenario, folder / "with", with_policy=True)
            weak = weak_control(without, root, copied)
            tried.append(Tried(agent.name, agent.version, difference(with_it, without), str(folder) if keep else "", weak))
            done(tried[-1])
    return tried


def weak_control(without: Evidence, root: Path | None, copied: Sequence[str]) -> str:
    """Why the run without the policy does not show what the command does if nothing stops it; "" if it shows it."""
    if not without.started:
        return "without the policy the agent did not end in time"
    if not without.acted:
        return "without the policy the agent did not ask the model, so the command was never tried"
    before = {name: root / name for name in copied if root is not None and not name.startswith(".")}
    if without.files() != set(before) or any((without.project / name).read_bytes() != path.read_bytes() for name, path in before.items()):
        return ""
    return "without the policy the command changed no file either, so it may not have run; try one that creates a file"


def files_of(root: Path) -> list[str]:
    """The files to copy: the repository's, except ignored ones, the agents' configs and onehook's own runtime.

    Raises ValueError if that is too much to copy for every run.
    """
    argv = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(argv, capture_output=True, timeout=60, check=False).stdout.decode("utf-8", "surrogateescape").split("\0")
    names = [name for name in dict.fromkeys(listed) if name and (root / name).is_file() and not _is_config(root, name)]
    size = sum((root / name).stat().st_size for name in names)
    if size > MOST_BYTES:
        raise ValueError(
            f"{root} has {size >> 20} MB and would be copied for every run (limit: {MOST_BYTES >> 20} MB); "
            "try the policy in a small repository of its own"
        )
    return names


def _is_config(root: Path, name: str) -> bool:
    parts = Path(name).parts
    return parts[0] == PORTABLE_FOLDER or parts[-1] in _MCP_FILES or root / name in _configs(root)


def _configs(root: Path) -> set[Path]:
    machine = Machine(root / PORTABLE_FOLDER, root)
    return {place.path for host in configurable() for place in config_of(host).places(machine) if place.path.is_relative_to(root)}


def difference(with_it: Evidence, without: Evidence) -> str:
    """What the policy changed: which files were created, what the model was told, how many turns it took."""
    parts = []
    kept, made = sorted(without.files() - with_it.files()), sorted(with_it.files() - without.files())
    if kept:
        parts.append(f"only without the policy: {_listed(kept)} exists afterwards")
    if made:
        parts.append(f"only with the policy: {_listed(made)} exists afterwards")
    before = {_VARYING.sub("#", line) for line in _lines(without)}
    told = [line for line in _lines(with_it) if _VARYING.sub("#", line) not in before]
    if told:
        parts.append(f"the model was told: {' / '.join(told)[:300]}")
    if with_it.turns != without.turns:
        parts.append(f"turns: {with_it.turns} instead of {without.turns}")
    return "; ".join(parts)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _lines(evidence: Evidence) -> list[str]:
    """What the model was told, line by line, without lines that name the scratch folders or list files."""
    scratch = (str(evidence.home), str(evidence.project), evidence.project.parent.parent.parent.name)
    lines = (line.rstrip() for text in evidence.told for line in text.splitlines())
    return [line.strip() for line in lines if line.strip() and not _LISTING.match(line) and not any(word in line for word in scratch)]
