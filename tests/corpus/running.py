"""A hook of the corpus run natively, as its own agent starts it, and through onehook on any agent."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onehook.core import HandlerError, Response
from onehook.hostkit.config import Machine
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load
from onehook.setup.imports import collect, manifest_string
from onehook.testing.fire import Fire
from onehook.testing.fired import _rewritten_input
from onehook.testing.shots import Shot
from tests.corpus.patterns import Agent, Hook, Moment

# What an agent's own process has; more would hide what a hook gets from its agent.
BASE = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
OURS = ("onehook.toml",)


@dataclass
class Seen:
    """What a hook did, as the agent understands it."""

    response: Response = field(default_factory=Response)
    rewrite: dict[str, Any] | None = None  # in unified keys
    files: dict[str, str] = field(default_factory=dict)  # created or changed
    error: str = ""


def project_of(hook: Hook, agent: Agent, folder: Path) -> Path:
    """A project with the hook in the agent's config, as its author left it."""
    texts = {**hook.files, agent.config: agent.settings(hook), **({hook.path: hook.script} if hook.path else {})}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            (folder / name).chmod(0o755)
    (folder / ".git").mkdir(exist_ok=True)
    return folder


def snapshot(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name not in OURS and "__pycache__" not in path.parts]
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace") for path in paths}


def changed(before: dict[str, str], folder: Path) -> dict[str, str]:
    return {name: text for name, text in snapshot(folder).items() if before.get(name) != text}


def event_of(moment: Moment, project: Path) -> Any:
    fields = {name: value.replace("{project}", str(project)) if isinstance(value, str) else value for name, value in moment.fields.items()}
    return sample(moment.event, moment.tool, session_id="corpus", cwd=str(project), **fields)


def natively(hook: Hook, agent: Agent, moment: Moment, project: Path) -> Seen:
    """As the agent starts it: through a shell in the project, with its variables and its payload."""
    reverse = load(agent.host, "reverse")
    event = event_of(moment, project)
    payload = json.dumps(reverse.payload(event, hook.event), ensure_ascii=False, separators=(",", ":")).encode()
    before = snapshot(project)
    variables = {**BASE, "HOME": str(project.parent), **reverse.variables(event, str(project))}
    done = subprocess.run(["/bin/sh", "-c", hook.command], input=payload, cwd=project, env=variables, capture_output=True, check=False)
    seen = Seen()
    stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    try:
        seen.response = reverse.answer(event, stdout, stderr, done.returncode, hook.event)
    except HandlerError as error:
        seen.error = str(error)
    if seen.response.modified_input is not None:
        given = event.tool_input
        seen.rewrite = {name: value for name, value in seen.response.modified_input.items() if given.get(name) != value}
    seen.files = changed(before, project)
    return seen


def imported(agent: Agent, project: Path) -> list[str]:
    """Write the manifest, as `onehook import` does. Returns its notes."""
    found = collect([agent.host], "project", Machine(project.parent / "home", project))
    assert not found.refused, [taken.hook.refused for taken in found.refused]
    (project / "onehook.toml").write_text(manifest_string(found, "onehook.toml"), encoding="utf-8")
    return [*found.notes, *(loss for taken in found.carried for loss in taken.hook.losses)]


def through_onehook(moment: Moment, project: Path, state: Path) -> dict[str, tuple[Shot, dict[str, str]]]:
    """On every agent that has the event: what the agent is told, and what changed in the project, which is then put back."""
    out = {}
    before = snapshot(project)
    for host in HOSTS:
        fire = Fire(project / "onehook.toml", hosts=[host], cwd=project, state=state / host)
        (shot, *_) = fire.at(event_of(moment, project), [host])
        out[host] = (shot, changed(before, project))
        put_back(before, project)
    return out


def put_back(before: dict[str, str], project: Path) -> None:
    for name in changed(before, project):
        if name in before:
            (project / name).write_text(before[name], encoding="utf-8")
        else:
            (project / name).unlink()


def differences(native: Seen, shot: Shot, files: dict[str, str]) -> list[str]:
    """What is other than natively and is not reported."""
    if shot.absent:
        return []
    reported = {field for loss in shot.lost for field in loss.fields}
    if native.response.decision == "deny" and native.response.reason and shot.event is not None and shot.event.event == "PostToolUse":
        # The tool has run: to deny is to tell the model the reason, and some agents take that only as context.
        told = f"{shot.heard.reason}\n{shot.heard.additional_context}"
        if native.response.reason.strip() in told:
            reported |= {"decision", "reason"}
    out = []
    for name in ("decision", "reason", "additional_context", "user_message"):
        wanted, got = (_said(one, name) for one in (native.response, shot.heard))
        if not _same(name, wanted, got) and name not in reported and "[onehook]" not in shot.stderr:
            out.append(f"{name}: {got!r} instead of {wanted!r}")
    if native.rewrite and "modified_input" not in reported:
        got = _rewritten_input(shot)
        if any(got.get(name) != value for name, value in native.rewrite.items()):
            out.append(f"rewrite: {got!r} instead of {native.rewrite!r}")
    if shot.error:
        out.append(f"error: {shot.error}")
    if files != native.files:
        out.append(f"files: {files!r} instead of {native.files!r}")
    return out


def _said(response: Response, name: str) -> str | None:
    said: str | None = getattr(response, name)
    return response.message if name == "user_message" and said is None else said


def _same(name: str, wanted: str | None, got: str | None) -> bool:
    if name == "decision":
        return (wanted or "allow") == (got or "allow")
    return not wanted or (got is not None and wanted.strip() in got)
