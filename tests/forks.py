"""Programs in forks of this process, which has already imported what a new process spends most of its time importing.

For tests of what a verb of the command line does, not of how it starts. The launchers that it starts are forks too (warm.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
import warm

from onehook.cli import main
from onehook.setup import command, person

# What the fixtures of conftest.py replace, saved before they do.
REPLACED = [
    (module, name, getattr(module, name)) for module, name in ((person, "processes_above"), (command, "has_proven_client"), (os, "fsync"))
]
PROGRAMS = {"onehook": lambda words: main(words, prog_name="onehook"), "pytest": lambda words: sys.exit(pytest.main(words))}


def run(words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Like subprocess.run, with the output as text; stdin is empty."""
    if not warm.POSSIBLE:
        argv = [sys.executable, "-m", *words]
        return subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    server = warm.shared()
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr, open(os.devnull, "rb") as stdin:
        child = os.fork()
        if child == 0:
            for number, file in enumerate((stdin, stdout, stderr)):
                os.dup2(file.fileno(), number)
            become(words, cwd, env, server)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        shown = [file.seek(0) or file.read().decode() for file in (stdout, stderr)]
    return subprocess.CompletedProcess(list(words), code, *shown)


def at_a_terminal(
    words: Sequence[str], types: str = "", cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run in a new terminal in which someone types; stdout is what it shows."""
    import pty  # not on Windows

    child, terminal = pty.fork()
    if child == 0:
        become(words, cwd, env)
    os.write(terminal, types.encode())
    shown = b""
    while True:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(terminal)
    return subprocess.CompletedProcess(list(words), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode())


def become(words: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, server: str = "") -> NoReturn:
    """In a fork: run one of PROGRAMS, or exec another program. Only the functions that start launchers are replaced."""
    code: Any = 1
    try:
        for module, name, function in REPLACED:
            setattr(module, name, function)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        os.chdir(cwd or os.curdir)
        if server:
            warm.use(server)
        if words[0] not in PROGRAMS:
            os.execvp(words[0], words)
        PROGRAMS[words[0]](words[1:])
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)
