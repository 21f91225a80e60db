"""The folders in which onehook keeps something."""

from __future__ import annotations

import os


def state_folder() -> str:
    """Where onehook keeps what it must remember: $ONEHOOK_STATE_DIR, else the user's state folder."""
    named = os.environ.get("ONEHOOK_STATE_DIR")
    if named:
        return named
    if os.name == "nt":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "onehook")
    return os.path.join(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "onehook")


def config_folder() -> str:
    """The folder of the user's own rules file and of what the user trusts; "" if there is no home."""
    base = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "onehook") if os.path.isabs(base) else ""


def managed_folder() -> str:
    """The folder of the machine's rules file."""
    return os.path.join(os.environ.get("PROGRAMDATA") or r"C:\ProgramData", "onehook") if os.name == "nt" else "/etc/onehook"
