"""What the way to a decision needs of the operating system, without `os`: that module alone costs an event a millisecond."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os as os
    import signal as signal
else:
    import _signal as signal  # noqa: F401  (signal itself brings in enum: 3 ms)

    try:
        import posix as os
    except ImportError:  # Windows
        import os

NOWHERE = "nul" if sys.platform == "win32" else "/dev/null"
REGULAR_FILE = 0o100000
PAUSE_FILE = "pause.json"  # in the state folder: see pause.py


def variable(name: str) -> str:
    """An environment variable; "" if it is not set. What was changed in os.environ counts, if somebody has imported os."""
    full: Any = sys.modules.get("os")
    if full is not None:
        return str(full.environ.get(name, ""))
    raw: Any = os.environ  # of posix: bytes
    return str(raw.get(name.encode(), b"").decode("utf-8", "surrogateescape"))


def sha256() -> Any:
    """A new SHA-256, without hashlib: that loads OpenSSL, which takes longer than all the rest."""
    # By its version: to look for a module that is not there would import site, which takes longer still.
    for name in ("_sha2" if sys.version_info >= (3, 12) else "_sha256", "hashlib"):
        try:
            return __import__(name).sha256()
        except ImportError:
            continue
    raise OSError("this Python has no SHA-256")


def state_folder() -> str:
    """Where onehook keeps what it must remember: $ONEHOOK_STATE_DIR, else the user's state folder."""
    named = variable("ONEHOOK_STATE_DIR")
    if named:
        return named
    if sys.platform == "win32":
        return f"{variable('LOCALAPPDATA') or os.path.expanduser('~')}\\onehook"
    return f"{variable('XDG_STATE_HOME') or f'{home()}/.local/state'}/onehook"


def home() -> str:
    """As os.path.expanduser has it: "~" if it is not known."""
    named = variable("HOME")
    if named:
        return named
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return "~"


def is_file(path: str) -> bool:
    """Whether this is a regular file: a FIFO would be waited for."""
    try:
        return os.stat(path).st_mode & 0o170000 == REGULAR_FILE
    except (OSError, ValueError):
        return False


# Of the decision log, for its writer and for what masks credentials in it:
LOG_TEXT = 500  # characters of what an event was about, and of each reason
LOG_QUOTING = ("subject", "reason", "error")  # the fields that may quote the event
LOG_RULES = ("policies/secret_formats.py", "policies/secret_places.py")  # what finds credentials there


def log_folder() -> str:
    """Where the decision log is. OSError if no home is known: a folder called ~ in the user's project helps nobody."""
    folder = state_folder()
    if folder[:1] == "~":
        raise OSError("no home folder is known; set ONEHOOK_STATE_DIR to a folder that can be written")
    return f"{folder}/log"


def log_file(day: str) -> str:
    """The file of the decision log for a day, such as 2026-11-16."""
    return f"{day}.jsonl"


def quiet_file(day: str) -> str:
    """Beside it: a short line for each event on which nobody had a say."""
    return f"{day}.quiet"


def project_of(cwd: str) -> str:
    """The folder with .git that this one is in, else itself."""
    folder = cwd.replace("\\", "/") if sys.platform == "win32" else cwd
    while folder:
        try:
            os.stat(f"{folder}/.git")
            return folder
        except (OSError, ValueError):
            folder = folder.rpartition("/")[0]
    return cwd


if TYPE_CHECKING:
    from typing import Any
