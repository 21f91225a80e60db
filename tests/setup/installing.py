"""Install and uninstall in a fake home, project and system; nothing of the real ones is read or written."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onehook.hostkit.config import DEFAULT_EVENTS, Machine, Wish
from onehook.setup.apply import apply
from onehook.setup.command import LAUNCHER, NATIVE_CLIENT, PYTHON_CLIENT, interpreter
from onehook.setup.journal import Journal
from onehook.setup.plan import Plan, Request, configurable, place_of, plan_install, plan_uninstall

POLICY = """from onehook import Hooks, deny
hooks = Hooks()

@hooks.on("PreToolUse", tool="Bash")
def no_destruction(event):
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked")
"""


def change_runtime(project: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change one file in the archive of a project's runtime."""
    path = project / ".onehook" / "runtime.tar.gz"
    made = io.BytesIO()
    with tarfile.open(path) as before, tarfile.open(fileobj=made, mode="w") as after:
        for member in before:
            file = before.extractfile(member)
            content = file.read() if file else b""
            content = change(content) if member.name == name else content
            member.size = len(content)
            after.addfile(member, io.BytesIO(content))
    packed = zlib.compressobj(1, zlib.DEFLATED, 31)
    path.write_bytes(packed.compress(made.getvalue()) + packed.flush())


# The agents that have hooks in a project. The others are installed with --scope user, by their own tests.
IN_PROJECTS = [host for host in configurable() if place_of(host, "project", Machine(Path("/h"), Path("/p")))]
CLIENTS = [(str(NATIVE_CLIENT),), (interpreter(), "-I", "-S", str(PYTHON_CLIENT))]  # of resident mode
ALL_SCOPES = ("project", "local", "user", "enterprise")


def file_of(host: str) -> str:
    """The file in a project that the agent's hooks are written to."""
    machine = Machine(Path("/h"), Path("/p"))
    place = place_of(host, "project", machine)
    assert place is not None, host
    return place.path.relative_to(machine.project).as_posix()


def own_scope(host: str) -> str:
    """A scope that the agent has a file for."""
    return "project" if host in IN_PROJECTS else "user"


@dataclass
class Place:
    """A separate machine below a folder, and its journal."""

    root: Path
    project_name: str = "project"
    policy_name: str = "policy.py"
    variables: dict[str, str] = field(default_factory=dict)
    platform: str = "linux"

    def __post_init__(self) -> None:
        for folder in (self.home, self.project):
            folder.mkdir(parents=True, exist_ok=True)
        self.policy.parent.mkdir(parents=True, exist_ok=True)
        self.policy.write_text(POLICY, encoding="utf-8")

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / self.project_name

    @property
    def policy(self) -> Path:
        return self.project / self.policy_name

    @property
    def journal(self) -> Journal:
        return Journal(self.root / "state" / "installs")

    @property
    def machine(self) -> Machine:
        variables = {"PATH": os.defpath, **{name: value.replace("ROOT", str(self.root)) for name, value in self.variables.items()}}
        return Machine(self.home, self.project, variables, self.platform, self.root / "system")

    def request(self, scope: str = "project", **options: Any) -> Request:
        wish = Wish(options.get("fail_closed", False), options.get("timeout"), options.get("stop_limit", 5), options.get("matchers", {}))
        wish = options.get("wish", wish)
        named = {event: event for event in options.get("events", DEFAULT_EVENTS)}
        events = dict.fromkeys(configurable(), named)
        portable, trust, audience = options.get("portable", False), options.get("trust", False), options.get("audience", "")
        client = options.get("client", ())
        return Request(options.get("policy", self.policy), scope, events, wish, portable, trust, audience, client=client)

    def install(self, hosts: list[str], scope: str = "project", **options: Any) -> Plan:
        plan = plan_install(hosts, self.request(scope, **options), self.machine, self.journal)
        apply(plan, self.journal)
        return plan

    def uninstall(self, hosts: list[str], policy: Path | None = None, scopes: tuple[str, ...] = ALL_SCOPES) -> Plan:
        plan = plan_uninstall(hosts, scopes, policy, self.machine, self.journal)
        apply(plan, self.journal)
        return plan

    def snapshot(self) -> dict[str, bytes | None]:
        """Every file and folder except the state: path -> content, None for a folder."""
        found: dict[str, bytes | None] = {}
        for base, folders, names in os.walk(self.root):
            within = os.path.relpath(base, self.root)
            if within == os.curdir:
                folders[:] = [name for name in folders if name != "state"]
            for name in folders + names:
                path = Path(base, name)
                found[os.path.normpath(os.path.join(within, name))] = path.read_bytes() if path.is_file() else None
        return found

    def plain(self, text: str) -> str:
        """The text without what differs from machine to machine."""
        for real, name in ((str(LAUNCHER), "LAUNCH"), (os.path.abspath(sys.executable), "PYTHON"), (str(self.root), "ROOT")):
            text = text.replace(real.replace("\\", "\\\\"), name)
        return text
