"""What the installing verbs share: which hosts, which machine, how errors are shown."""

from __future__ import annotations

from pathlib import Path

import click

from onehook.hostkit.config import SCOPES, Machine
from onehook.setup.plan import config_of, configurable, present

SCOPE_CHOICE = click.Choice(SCOPES)


def chosen_hosts(text: str, machine: Machine) -> list[str]:
    """auto: the hosts that are there; all: every host; else the named ones."""
    known = configurable()
    if text == "all":
        return known
    if text == "auto":
        found = [host for host in known if present(host, machine)]
        if not found:
            raise click.ClickException(
                f"no agent found here (looked for the folders and binaries of {', '.join(config_of(host).TITLE for host in known)}); "
                f"name them with --hosts {','.join(known[:2])}, or take --hosts all"
            )
        return found
    named = [name.strip() for name in text.split(",") if name.strip()]
    for name in named or [text]:
        if name not in known:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(known)}, auto, all", param_hint="--hosts")
    return list(dict.fromkeys(named))


def machine_of(project: str | None) -> Machine:
    if project is not None and not Path(project).is_dir():
        raise click.BadParameter(f"{project} is not a folder", param_hint="--project")
    return Machine.here(Path(project) if project else None)


def existing_policy(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise click.ClickException(f"there is no policy {text}; `onehook init` writes one to start from")
    return path.absolute()
