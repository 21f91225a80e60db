"""The person in a proof: has set a PIN, and answers requests as `onehook approve` does. A separate process, in the proof's home.

    python -I -m onehook.prove.person allow|deny|rewrite|away|desk TEXT

TEXT: the words of a denial, or the command to run instead. With `away`, the person has a PIN but answers nothing; with
`desk`, the desk stays open in the meantime, on the port in the file DESK_PORT in the home folder.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

NAME = "the-person-of-the-proof"
PIN = "4096 sleepy otters"
DESK_PORT = "port-of-the-desk"
_CHEAP = 1 << 10  # scrypt's cost: the proof is not about guessing a PIN


@contextmanager
def present(does: str, text: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Have a person present who does this; "" for nobody at all."""
    if not does:
        yield
        return
    argv = [sys.executable, "-I", "-m", "onehook.prove.person", does, text]
    with subprocess.Popen(argv, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline().strip() != "ready":
                raise RuntimeError("the simulated person did not answer")
            yield
        finally:
            process.kill()


def main(does: str, text: str) -> None:
    from onehook.desk import answers, pin
    from onehook.desk.requests import DeskError

    pin.set_pin(PIN, cost=_CHEAP)
    key = pin.unlock(PIN)
    if does == "desk":
        _open_desk()
    print("ready", flush=True)
    answer = {
        "allow": answers.Answer("allow"),
        "deny": answers.Answer("deny", words=text),
        "rewrite": answers.Answer("allow", input={"command": text}),
    }.get(does)
    for asked in (one for listed in answers.watched() for one in listed):
        if answer is not None and asked.state == "waiting":
            try:
                answers.give(asked, answer, key, by=NAME, via="terminal")
            except DeskError as error:
                print(error, file=sys.stderr)


def _open_desk() -> None:
    import threading
    from pathlib import Path

    from onehook.hostkit.config import Machine
    from onehook.page.server import Desk

    desk = Desk(Machine.here(Path.cwd()), NAME)
    threading.Thread(target=desk.serve, daemon=True).start()
    (Path.home() / DESK_PORT).write_text(str(desk.port), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
