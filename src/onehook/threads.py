"""Where there is no fork (Windows): the policy is asked in this process, and a thread enforces the deadline.

It cannot interrupt C code that holds the interpreter lock, and os._exit inside a policy is final here (docs/safety.md).
"""

from __future__ import annotations

import _thread
import time

from onehook.cache import save
from onehook.core import Hooks, Output
from onehook.isolate import HELD, TICK, Noise, collect_garbage_again, flush, lenient_output, too_slow, write
from onehook.policy import made_since, message_of, settled
from onehook.system import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from onehook.isolate import Finish, Question
    from onehook.policy import Message

WRITE: list[Callable[..., int]] = [write]  # the last one writes the answer: in resident mode on Windows, a client gets it


def threaded(question: Question, finish: Finish) -> Output:
    """Asks the policy here, and writes the answer itself: stdout stays redirected, since threads may continue to print."""
    real = [os.dup(1), os.dup(2)]
    HELD.extend([copy for descriptor, copy in zip((1, 2), real) if descriptor in HELD])

    def let_go() -> None:
        while real:
            os.close(real.pop())

    noise = Noise()
    for descriptor in (1, 2):
        os.dup2(noise.descriptor, descriptor)
    if hasattr(os, "register_at_fork"):  # a forked child that stays behind must neither keep a host waiting nor answer in our place
        os.register_at_fork(after_in_child=let_go)
    lenient_output()
    collect_garbage_again()
    loaded: Message = {}
    answered = _thread.allocate_lock()  # never released: the thread that holds it writes the answer
    before = len(Hooks.made)

    def conclude(message: Message) -> Output:
        flush()
        output = finish(message, noise.text())
        return Output("", WRITE[-1](output, *real) if real else output.exit_code)

    def seconds() -> float:
        return question.seconds(loaded.get("options"))

    def watch() -> None:
        while time.monotonic() - question.begun < seconds():
            time.sleep(min(TICK, seconds()))
            noise.trim()
            if answered.locked():
                return
        if answered.acquire(False):
            exit_code = 1
            try:
                message = {"made": made_since(before), **loaded, "error": too_slow(seconds())}
                exit_code = 2 if settled(message, question.given).fail == "closed" else 1
                exit_code = conclude(message).exit_code
            finally:
                os._exit(exit_code)

    _thread.start_new_thread(watch, ())
    message = message_of(question.load, question.event, lambda options: loaded.update(options=options))
    save()
    answered.acquire()  # if the watcher holds it, this process ends there
    return conclude(message)
