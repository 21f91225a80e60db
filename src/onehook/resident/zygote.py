"""The warm process of a policy, and the forks that answer its events.

A few forks wait at the socket (spares), so that nothing has to be forked while an agent waits. One that takes an event becomes the process
that the client would have started: its words, variables, folder, umask, stdin, stdout and stderr. Then it does what the launcher does,
reports its exit code to the client, and ends. It shares nothing with the next.

A fork copies each page of memory when it first writes to it, and for a small event that takes longer than anything else. So a spare has
another fork ready, for the policy, and both rehearse: they answer events like earlier ones with an empty policy, before a real event comes.

If this process is killed, the spares end soon after it, and events that are being answered still get their answers. If something that it
has loaded was changed when an event comes, it refuses the event, and restarts.
"""

from __future__ import annotations

import _socket
import gc
import sys
import time
from select import POLLIN, poll

from onehook import cache
from onehook.core import Hooks
from onehook.policy import is_manifest
from onehook.resident import learning
from onehook.resident.asking import folder_of, is_private
from onehook.resident.folder import remove, sweep
from onehook.resident.spare import LEAVE, Spare, timeval
from onehook.system import NOWHERE, os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from onehook.core import Output
    from onehook.isolate import Question

SPARES = 3
IDLE = 900  # seconds without an event after which it ends
QUIET = 0.2  # seconds without a report after which the state is written, and lessons are learnt; at most five times that
ALIVE = 10
KEPT_TIMES = 2000
ROUNDS = 12  # how often it practises what a fork does for an event
PATIENCE = 5  # seconds for these
# How many events are kept to rehearse with: tool calls (b"1"), and others (b"0").
SAMPLES = {b"1": 6, b"0": 2}
LOST = 50  # spares that may end in a row without an answer: another fork cannot fix what is wrong then


def serve(
    argv: list[str],
    answer: Callable[[list[str], float, Callable[[bytes, float], None]], Output],
    requested: Callable[[list[str]], Any],
    question_of: Callable[[Any, bytes, float], Question],
    rehearse: Callable[..., None],
) -> NoReturn:
    """KEY POLICY [FOLDER [LOCK]]: see start() in asking.py. The functions come from the runner, a layer above.

    FOLDER: if the variables do not determine it. LOCK: the number of a descriptor that the process had before it was restarted.
    """
    key, policy = argv[:2]
    variables: Any = os.environ
    folder = argv[2] if argv[2:] else folder_of(variables).decode("utf-8", "surrogateescape")
    lock = int(argv[3]) if argv[3:] else 3
    os.closerange(3, lock)  # what the agent had open
    os.closerange(lock + 1 if argv[3:] else 3, 1 << 16)
    for number in (0, 1, 2):
        nowhere = os.open(NOWHERE, os.O_RDWR)
        os.dup2(nowhere, number)
        os.close(nowhere)
    os.umask(0o077)
    os.chdir(folder)
    here = os.open(".", os.O_RDONLY)
    if not is_private(here):
        os._exit(1)
    os.close(here)
    if not argv[3:]:
        lock = os.open(f"{key}.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.lockf(lock, os.F_TLOCK, 0)  # held as long as this process lives; its forks do not hold it
        except OSError:
            os._exit(0)  # there is already one
        remove(f"{key}.state")  # left by one that was killed
    os.set_inheritable(lock, False)
    sweep()
    _forget_coercion()
    zygote = Zygote(key, policy, lock)
    zygote.answer, zygote.requested, zygote.question_of, zygote.rehearse = answer, requested, question_of, rehearse
    zygote.run()


class Zygote:
    answer: Callable[[list[str], float, Callable[[bytes, float], None]], Output]
    requested: Callable[[list[str]], Any]
    question_of: Callable[[Any, bytes, float], Question]
    rehearse: Callable[..., None]

    def __init__(self, key: str, policy: str, lock: int) -> None:
        self.key, self.policy, self.lock = key, policy, lock
        self.is_manifest = is_manifest(policy)
        self.samples: dict[bytes, tuple[list[str], bytes]] = {}  # events to rehearse with, by their kind: words and payload
        self.practised = 0  # how many of these it has practised with
        self.pid, self.begun = os.getpid(), time.time()
        self.path, self.meta_path = list(sys.path), list(sys.meta_path)  # an event finds modules as if nothing had been learnt
        self.lessons: list[bytes] = []
        self.own: set[str] = {policy} if policy.startswith("/") else set()
        self.refused = _taken(f"{key}.refused")
        self.learnt_from = 0
        self.events = 0
        self.times: list[int] = []
        self.spares: set[int] = set()
        self.lost = 0  # spares that have ended since the last event was answered
        self.busy: set[int] = set()
        self.rest = b""
        self.listener = _listening(f"{key}.sock")
        self.told, self.tell = os.pipe()  # reports from the forks
        self.woken, wake = os.pipe()
        for descriptor in (self.told, self.woken, wake):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.descriptors = 0
        self.loaded: dict[str, cache.State] = {}  # files of modules, as they were before these were imported
        self.files: dict[str, cache.State] = {}  # checked for each event
        self.ours: dict[str, cache.State] = {}  # checked after some

    def run(self) -> NoReturn:
        signal.signal(signal.SIGTERM, self.end)
        self._settle()
        last = written = time.monotonic()
        waiting = poll()
        waiting.register(self.told, POLLIN)
        waiting.register(self.woken, POLLIN)
        changed = True
        while True:
            self._reap()
            # Nothing is forked while an event is being answered, unless otherwise the next one would have to wait.
            while len(self.spares) < (1 if self.busy else SPARES):
                self._fork()
            ready = waiting.poll(QUIET * 1000 if changed else IDLE * 1000)
            now = time.monotonic()
            if self._heard():
                last, changed = now, True
            if changed and (not ready or now - written > 5 * QUIET):
                outdated = cache.is_outdated(self.ours)
                if not outdated:  # what is learnt counts as it is at that time
                    self._learn()
                self._write_state()
                if outdated:
                    self._start_again()
                changed, written = False, now
            elif now - last > IDLE:
                self.end()

    def end(self, *_: object) -> NoReturn:
        self._dismiss()
        for name in ("sock", "state", "wait"):
            remove(f"{self.key}.{name}")
        os._exit(0)

    # --- forks

    def _fork(self) -> None:
        child = os.fork()
        if child:
            self.spares.add(child)
            return
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for descriptor in (self.told, self.woken, self.lock):
                os.close(descriptor)
            Spare(self).answer_next()
        finally:
            os._exit(1)

    def _dismiss(self) -> None:
        for child in self.spares:
            try:
                os.kill(child, LEAVE)
            except OSError:
                pass
        self.spares.clear()

    def _reap(self) -> None:
        try:
            while True:
                child, _ = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                if child in self.spares:
                    self.lost += 1
                    if self.lost > LOST:
                        self.end()
                self.spares.discard(child)
                self.busy.discard(child)
        except ChildProcessError:
            return

    def _heard(self) -> bool:
        """Process what forks have reported."""
        for descriptor in (self.woken, self.told):
            try:
                data = os.read(descriptor, 1 << 16)
            except BlockingIOError:
                data = b""
        if not data:
            return False
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            kind, _, value = line.partition(b"\t")
            if kind == b"taken":
                if int(value) in self.spares:  # otherwise it has already ended
                    self.busy.add(int(value))
                self.spares.discard(int(value))
            elif kind == b"done":
                self.lost = 0
                self.events += 1
                self.times = [*self.times[1 - KEPT_TIMES :], int(value)]
            elif kind == b"outdated":
                self._start_again()
            elif kind == b"event":
                kind, words, payload = value.split(b"\t")
                if self.wants(kind):
                    argv = bytes.fromhex(words.decode()).decode("utf-8", "surrogateescape").split("\0")
                    self.samples[kind] = argv, bytes.fromhex(payload.decode())
            elif self.learnt_from < learning.LESSONS:
                self.lessons.append(line)
        return True

    def wants(self, kind: bytes) -> bool:
        """Whether an event of this kind is still missing among those to rehearse with. The first byte shows whether it is a tool call."""
        return kind not in self.samples and sum(known[:1] == kind[:1] for known in self.samples) < SAMPLES[kind[:1]]

    def rehearsed(self) -> list[tuple[list[str], bytes]]:
        """What to rehearse with, calls of tools last."""
        return [self.samples[kind] for kind in sorted(self.samples)]

    # --- what it has loaded

    def _settle(self) -> None:
        """Exclude what is loaded from garbage collection, so that no fork has to copy it."""
        gc.collect()
        gc.freeze()
        # A file that is already watched counts as it was when it was loaded.
        before = {**self.files, **self.ours, **self.loaded}
        watched = learning.watched(self.own, packs=not self.policy.endswith(".py"))
        self.files, self.ours = ({path: before.get(path, state) for path, state in files.items()} for files in watched)
        self.descriptors = learning.open_descriptors()

    def _learn(self) -> None:
        if self.lessons:
            self._load()
        elif len(self.samples) == self.practised:
            return
        self._practise()
        self._settle()
        self._dismiss()  # they have not loaded any of it

    def _load(self) -> None:
        lessons, self.lessons = self.lessons, []
        before = len(sys.modules), len(learning.compiled()), len(self.own)
        self.loaded = {**learning.files_of(lessons), **self.loaded}
        self.own |= learning.learn(dict.fromkeys(lessons), not self.refused)
        for path in self.own:
            learning.keep_code(path)
        cache.save()
        nothing_new = before == (len(sys.modules), len(learning.compiled()), len(self.own))
        self.learnt_from += learning.LESSONS // 2 if nothing_new else 1
        trouble = learning.own_trouble(self.descriptors)
        if trouble and not self.refused:
            _put(f"{self.key}.refused", trouble)
            self._start_again()

    def _practise(self) -> None:
        """Do what the spares do when they rehearse, but several times: the interpreter adapts its code to its use (from Python 3.11 on),
        which takes several rounds, and all forks share the result. Rules then take half the time."""
        self.practised = len(self.samples)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)  # a file system that does not answer ends this process, and the next event starts another
        try:
            for _ in range(ROUNDS):
                for words, payload in self.rehearsed():
                    self.rehearse(words, payload)
        except Exception:  # then events take a little longer
            pass
        signal.alarm(0)
        Hooks.made.clear()  # see learning.own_trouble
        rules = sys.modules.get("onehook.rules.load")
        if rules is not None:
            rules.Ready.kept.clear()  # together with its file

    def _start_again(self) -> NoReturn:
        """Replace this process with a new one. Clients that are waiting run their commands."""
        self._dismiss()
        os.set_inheritable(self.lock, True)
        words = [cache.SERVE, self.key, self.policy, os.getcwd(), str(self.lock)]
        os.execv(sys.executable, [sys.executable, "-I", "-S", cache.LAUNCHER, *words])

    def _write_state(self) -> None:
        times = sorted(self.times) or [0]
        p50, p99 = (times[int(len(times) * part)] / 1000 for part in (0.5, 0.99))
        fields = {
            "pid": self.pid, "since": int(self.begun), "events": self.events, "p50": p50, "p99": p99,
            "modules": len(sys.modules), "refused": self.refused, "policy": self.policy,
        }  # fmt: skip
        _put(f"{self.key}.state", "".join(f"{name}\t{value}\n" for name, value in fields.items()))


def _forget_coercion() -> None:
    """Undo what an interpreter does in the C locale: it sets LC_CTYPE for itself. The next client will not have it either, and a spare
    that already has the variables of its client need not take them over."""
    variables: Any = os.environ
    try:
        with open("/proc/self/environ", "rb") as file:
            given = file.read().split(b"\0")
    except OSError:
        return
    if b"LC_CTYPE" in variables and not any(part.startswith(b"LC_CTYPE=") for part in given):
        os.unsetenv("LC_CTYPE")
        del variables[b"LC_CTYPE"]


def _listening(path: str) -> _socket.socket:
    remove(path)
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind(path)  # 0600, by the umask
    listener.listen(128)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVTIMEO, timeval(ALIVE))  # after that, a spare checks whether this process lives
    return listener


def _taken(path: str) -> str:
    """Read a file and remove it."""
    try:
        with open(path, encoding="utf-8") as file:
            content = file.read()
    except OSError:
        return ""
    remove(path)
    return content


def _put(path: str, content: str) -> None:
    try:
        with open(f"{path}.new", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(content)
        os.replace(f"{path}.new", path)
    except OSError:
        pass
