"""What the way to a decision needs from the operating system, without `os`: that module alone costs an event a millisecond."""

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
    """An environment variable; "" if it is not set. Changes in os.environ count, if os was imported."""
    full: Any = sys.modules.get("os")
    if full is not None:
        return str(full.environ.get(name, ""))
    raw: Any = os.environ  # of posix: bytes
    return str(raw.get(name.encode(), b"").decode("utf-8", "surrogateescape"))


def sha256(data: bytes = b"") -> Any:
    """A SHA-256 that begins with this, without hashlib, which loads OpenSSL and takes longer than everything else.

    Searching for the module that does the work takes longer than loading it, and searching for a missing one would import site.
    """
    name = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    module: Any = sys.modules.get(name)
    if module is None:
        try:
            import _imp

            built_in = name in sys.builtin_module_names
            origin = None if built_in else str(__import__("_json").__file__).replace("_json", name)  # loaded already, by the codec
            spec: Any = type(sys.__spec__)(name, None, origin=origin)
            module = sys.modules[name] = _imp.create_builtin(spec) if built_in else _imp.create_dynamic(spec)
            _imp.exec_builtin(module) if built_in else _imp.exec_dynamic(module)
        except Exception:
            module = __import__("hashlib")
    return module.sha256(data)


def digest(data: bytes) -> str:
    """The SHA-256 as a hexadecimal string."""
    return str(sha256(data).hexdigest())


def state_folder() -> str:
    """Where onehook keeps what it must remember: $ONEHOOK_STATE_DIR, else the user's state folder."""
    named = variable("ONEHOOK_STATE_DIR")
    if named:
        return named
    if sys.platform == "win32":
        return f"{variable('LOCALAPPDATA') or os.path.expanduser('~')}\\onehook"
    return f"{variable('XDG_STATE_HOME') or f'{home()}/.local/state'}/onehook"


def home() -> str:
    """The home folder, as os.path.expanduser returns it: "~" if it is not known."""
    named = variable("HOME")
    if named:
        return named
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return "~"


def is_file(path: str) -> bool:
    """Whether this is a regular file; opening a FIFO, for example, would block."""
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
        raise OSError("no home folder is known; set ONEHOOK_STATE_DIR to a writable folder")
    return f"{folder}/log"


def log_file(day: str) -> str:
    """The file of the decision log for a day, such as 2026-11-16."""
    return f"{day}.jsonl"


def quiet_file(day: str) -> str:
    """The file next to it, with a short line for each event that nothing answered."""
    return f"{day}.quiet"


def project_of(cwd: str) -> str:
    """The folder with .git that contains this one, or else this one."""
    return repository(cwd.replace("\\", "/") if sys.platform == "win32" else cwd) or cwd


def repository(path: str) -> str:
    """The folder with .git that this one is in, or is; "" if there is none."""
    folder = path.replace("\\", "/") if sys.platform == "win32" else path
    while folder:
        try:
            os.stat(f"{folder}/.git")
            return path[: len(folder)]
        except (OSError, ValueError):
            above = folder.rpartition("/")[0]
            folder = "/" if not above and len(folder) > 1 and folder[0] == "/" else above
    return ""


if TYPE_CHECKING:
    from typing import Any
