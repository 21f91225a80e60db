"""Starts the process that sends the log to a collector (flusher.py). An event needs this about once a minute at most."""

from __future__ import annotations

import os
import sys

from onehook.codec import dumps

# In a copied runtime the flusher is missing: there, the onehook that is installed for this interpreter has it.
_CODE = "import sys; sys.path.append(sys.argv[1]); from onehook.log.flusher import main; main(sys.argv[2])"


def start(name: str, url: str, policy: str, since: str) -> None:
    """`name`: of the destination's files, without their ending. Lines are sent from the time `since` on, if it is a new one."""
    os.makedirs(os.path.dirname(name), mode=0o700, exist_ok=True)  # a line whose credentials are masked is written a moment later
    try:
        with open(os.open(f"{name}.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(dumps({"url": url, "policy": policy, "since": since}))
    except FileExistsError:
        pass
    with open(os.open(f"{name}.awake", os.O_WRONLY | os.O_CREAT, 0o600), "wb"):
        os.utime(f"{name}.awake")
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    spawn([sys.executable, "-I", "-c", _CODE, root, name])


def spawn(words: list[str]) -> None:
    """Start a process that outlives the agent's hook, and holds nothing open that the agent waits for."""
    if not hasattr(os, "posix_spawn"):
        from subprocess import DEVNULL, Popen

        flags = 0x00000008 | 0x00000200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
        Popen(words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, close_fds=True, creationflags=flags)
        return
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, n) for n in range(3)], setpgroup=0)
    finally:
        os.close(nowhere)
