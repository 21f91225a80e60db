"""The folders in which onehook stores files."""

from __future__ import annotations

import sys

from onehook.system import home, os, variable
from onehook.system import state_folder as state_folder


def config_folder() -> str:
    """The folder of the user's own rules file and of what the user trusts; "" if there is no home."""
    if sys.platform == "win32":
        base = variable("APPDATA")
        return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~\\.config"), "onehook")
    base = variable("XDG_CONFIG_HOME")
    if not base.startswith("/"):
        base = f"{home()}/.config"
    return f"{base}/onehook" if base.startswith("/") else ""


def replace_file(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write one of onehook's files: readers see either the complete old one or the complete new one. Creates its folder if needed."""
    temporary = f"{path}.{os.getpid()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, flags, mode)
    except FileNotFoundError:
        import os as whole

        whole.makedirs(whole.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(temporary, flags, mode)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
    os.replace(temporary, path)


# What is installed for the whole machine: the runtime, environments and copies of policies. On Linux, macOS and Windows.
SYSTEM = ("/opt/onehook", "/Library/Application Support/onehook", "C:\\Program Files\\onehook")


def system_folder() -> str:
    return SYSTEM[2 if sys.platform == "win32" else 1 if sys.platform == "darwin" else 0]


def managed_folder() -> str:
    """The folder of the machine's rules file."""
    return os.path.join(variable("PROGRAMDATA") or r"C:\ProgramData", "onehook") if sys.platform == "win32" else "/etc/onehook"
