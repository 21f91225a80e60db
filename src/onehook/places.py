"""The folders in which onehook keeps something."""

from __future__ import annotations

import os
import sys

from onehook.system import state_folder as state_folder


def config_folder() -> str:
    """The folder of the user's own rules file and of what the user trusts; "" if there is no home."""
    base = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "onehook") if os.path.isabs(base) else ""


# What is installed for the whole machine: the runtime, environments and copies of policies. On Linux, macOS and Windows.
SYSTEM = ("/opt/onehook", "/Library/Application Support/onehook", "C:\\Program Files\\onehook")


def system_folder() -> str:
    return SYSTEM[2 if os.name == "nt" else 1 if sys.platform == "darwin" else 0]


def managed_folder() -> str:
    """The folder of the machine's rules file."""
    return os.path.join(os.environ.get("PROGRAMDATA") or r"C:\ProgramData", "onehook") if os.name == "nt" else "/etc/onehook"
