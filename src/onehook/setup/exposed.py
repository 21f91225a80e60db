"""For doctor: what an agent could still do to disable the policy here, and the command that prevents it.

Nothing is reported if a policy that is installed on the agent protects itself (self_protect): that covers its files, the runtime and the
configs of every agent. Nor of an install for the whole machine: whether that is out of reach is another check of doctor's.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator
from pathlib import Path

from onehook.core import OnehookError
from onehook.hostkit.config import Diagnosis, Machine
from onehook.policy import holds_rules, is_manifest
from onehook.rules import SELF
from onehook.setup.command import Written, read
from onehook.setup.installed import ConfigFile, install_again


def exposed(files: list[ConfigFile], machine: Machine) -> Iterator[Diagnosis]:
    """The parts of an agent's policies, by its config files, that its own tools could change."""
    entries = [(file, found, written) for file in files for found in file.ours if (written := read(found.command))]
    policies = {written.policy_path(machine.project) for _, _, written in entries}
    entries = [entry for entry in entries if entry[0].place.scope != "enterprise"]
    if any(protects_itself(policy) for policy in policies):
        return
    for policy in sorted(policies):
        mine = [entry for entry in entries if entry[2].policy_path(machine.project) == policy]
        if not mine or not policy.is_file():
            continue
        file, found, written = mine[0]
        within = list(_within(file, written, policy, machine))
        title = file.config.TITLE
        what = f"nothing prevents {title} from disabling this policy: it can change {'; '.join(within)}"
        own = f"set self_protect = true in {policy}" if is_manifest(str(policy)) else f"add hooks.use(self_protect()) to {policy}"
        pin = "" if written.option("pin") else f"; and: {install_again(file, found, machine)} --pin"
        yield Diagnosis("note", what, f"{own} (onehook.policies){pin}")


def _within(file: ConfigFile, written: Written, policy: Path, machine: Machine) -> Iterator[str]:
    if not written.option("pin"):
        yield f"the policy {shlex.quote(str(policy))}"
    again = {
        True: "which it reads again in the same session",
        False: "which it reads at its next start",
        None: "which it may read again in the same session",
    }
    when = f"which {again[file.config.TRAITS.reloads]}"
    yield f"its config {shlex.quote(str(file.place.path))}, {when}"
    yield f"onehook's own files in {shlex.quote(str(written.launcher_path(machine.project).parent))}"


def protects_itself(policy: Path) -> bool:
    """Whether a policy has self_protect on, by its source."""
    try:
        source = policy.read_bytes()
        if not is_manifest(str(policy)):
            calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
            return any(SELF in (getattr(call, "id", ""), getattr(call, "attr", "")) for call in calls)
        if not holds_rules(source):
            return False
        from onehook.rules.load import layers_beside, table_of

        table = table_of([*layers_beside(str(policy)), ("project", str(policy))], cache="")
    except (OSError, OnehookError, SyntaxError, ValueError):
        return False
    return any(name == SELF and says["level"] == "deny" and says["mode"] == "enforce" for name, *_, says in table.header["policies"])
