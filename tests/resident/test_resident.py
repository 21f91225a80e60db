"""An event gives the same result through the server as without resident mode, and also when no server is running."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness import (
    ANY,
    HOSTS,
    PACKAGE,
    PRE,
    STOP,
    assert_blocked,
    assert_blocked_blindly,
    clean_environment,
    cold_fire,
    continues,
    launcher,
    reason_of,
    stop_payload,
    tool_payload,
)  # fmt: skip

from onehook import cache, pause
from onehook.hosts import load
from onehook.policies.own_files import kept_files
from onehook.resident import asking
from onehook.resident.spare import Spare
from onehook.resident.zygote import SAMPLES, SPARES, Zygote
from onehook.setup import resident

from .conftest import Agent

DENIED = tool_payload(ANY, "rm -rf /")
ARGUMENTS = ("--host", ANY, "--event", PRE[ANY], "--fail", "closed")

EVERYTHING = """
print(sys.argv, os.getcwd(), os.umask(0), sorted(os.environ.items()), sys.stdout.encoding, gc.isenabled(), time.tzname)
print([os.fstat(number).st_mode for number in range(3)], sys.path, sys.flags)
os.system("env | sort; ulimit -n; umask; pwd")
return deny("no é")
"""


def test_the_answer_is_the_same_byte_for_byte(agent, tmp_path, host):
    one = agent(EVERYTHING, top="import gc, os, sys, time, json, subprocess")
    arguments = ("--host", host)
    surroundings = {"env": {"SOME": "é", "TZ": "Asia/Tokyo"}, "cwd": tmp_path}
    answers = [one.warm(tool_payload(host), *arguments, **surroundings) for _ in range(2)]
    cold = cold_fire(one.policy, tool_payload(host), *arguments, **surroundings)
    assert [repr(answer) for answer in answers] == [repr(cold)] * 2
    assert "SOME=é" in cold.stderr and reason_of(cold, host) == "no é"


def test_nothing_is_remembered_from_one_event_to_the_next(agent):
    one = agent("count.append(1)\nreturn deny(f'{len(count)} {os.environ.get(\"ROUND\")}')", top="import os\ncount = []")
    one.warm(DENIED, *ARGUMENTS)
    for number in range(4):
        assert reason_of(one.ask(DENIED, *ARGUMENTS, env={"ROUND": str(number)}), ANY) == f"1 {number}"
    one.until(lambda: one.server.events >= 4, "the count of the server")


CHAINED = [host for host in HOSTS if load(host).parse(stop_payload(host), STOP[host]).stop_chain]


@pytest.mark.parametrize("host", CHAINED)
def test_a_rehearsal_does_not_end_the_count_of_denied_stops(agent, host):
    """Processes that wait for the next event answer the last one in advance, and let it pass."""
    one = agent("return None if event.stop_hook_active else deny('go on')", event="Stop")
    arguments = ("--host", host, "--event", STOP[host])
    one.warm(stop_payload(host, session="of the rehearsal"), *arguments)
    for number in range(4):
        one.until(lambda: one.server and len(list(resident._children(one.server.pid))) >= SPARES, "processes that wait")
        assert continues(one.ask(stop_payload(host, session="of the rehearsal"), *arguments), host) == (number % 2 == 0), number


def test_a_changed_policy_counts_at_once(agent, policy):
    one = agent("return deny(other.WORD)", top="import other")
    beside = one.policy.with_name("other.py")
    beside.write_text("WORD = 'first'\n")
    assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "first"
    beside.write_text("WORD = 'the second'\n")
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "the second"
    policy("return deny('the third')")
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "the third"
    policy("return None")
    assert one.ask(DENIED, *ARGUMENTS).exit_code == 0


def ruled(client, folder, text):
    rules = folder / "onehook.toml"
    rules.write_text(text)
    return Agent(client, rules)


def test_a_changed_rules_file_counts_at_once_whatever_its_time_and_size(client, tmp_path, nothing_left):
    one, removes = ruled(client, tmp_path, "[permissions]\ndeny = ['Bash(rm:*)']\n"), tool_payload(ANY, "rm x")
    rules = one.policy
    assert "rm" in reason_of(one.warm(removes, *ARGUMENTS), ANY)
    for _ in range(2):  # what a process loads in advance is what the previous event was answered with
        one.next_event(removes, *ARGUMENTS)
    status = rules.stat()
    rules.write_text("[permissions]\ndeny = ['Bash(mv:*)']\n")
    os.utime(rules, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert one.ask(removes, *ARGUMENTS).exit_code == 0


def test_a_pause_of_rules_counts_at_once_and_so_does_its_end(client, tmp_path, nothing_left):
    """Rules that were prepared for an event, and have judged a similar one, were read for what was paused then."""
    one, removes = ruled(client, tmp_path, "[permissions]\ndeny = ['Bash(rm:*)']\n"), tool_payload(ANY, "rm x")
    one.warm(removes, *ARGUMENTS)
    for _ in range(2):
        one.next_event(removes, *ARGUMENTS)
        assert "rm" in reason_of(one.ask(removes, *ARGUMENTS), ANY)
        pause.add("", 60, "a test")
        one.next_event(removes, *ARGUMENTS)
        assert one.ask(removes, *ARGUMENTS).exit_code == 0
        pause.remove()
        assert "rm" in reason_of(one.ask(removes, *ARGUMENTS), ANY)


def test_the_practice_of_a_server_leaves_nothing_open(client, tmp_path, nothing_left):
    one, harmless = ruled(client, tmp_path, "packs = ['recommended']\n"), tool_payload(ANY, "git reset --hard")
    one.warm(harmless, *ARGUMENTS)
    for _ in range(3):
        one.next_event(harmless, *ARGUMENTS)
    one.until(lambda: one.server, "the state of the server")
    opened = [os.readlink(path) for path in Path(f"/proc/{one.server.pid}/fd").iterdir()] if Path("/proc/self/fd").exists() else []
    assert not one.server.refused
    assert [path for path in opened if path.endswith((".bin", ".toml"))] == []


def test_an_upgrade_of_onehook_counts_at_once(client, policy, tmp_path, nothing_left):
    """Files are replaced, which changes their folder; a file that is overwritten in place takes effect after the next event."""
    copy = shutil.copytree(PACKAGE, tmp_path / "onehook", ignore=shutil.ignore_patterns("__pycache__"))

    class Upgraded(Agent):
        def command(self, *arguments):
            return [*self.client, *launcher(self.policy, *arguments, launch=str(copy / "launch.py"))]

    def upgraded(word, write):
        words = copy / "words.py"
        write(words, words.read_text().replace("fail=closed", f"fail={word}closed"))

    def replaced(path, text):
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)

    one = Upgraded(client, policy("raise ValueError"))
    assert "fail=closed" in one.warm(DENIED, *ARGUMENTS).stdout
    upgraded("newly ", replaced)
    assert "fail=newly closed" in one.ask(DENIED, *ARGUMENTS).stdout
    assert "fail=newly closed" in one.warm(DENIED, *ARGUMENTS).stdout
    (copy / "words.py").write_text((copy / "words.py").read_text().replace("fail=newly ", "fail=latest "))
    one.until(lambda: "fail=latest closed" in one.ask(DENIED, *ARGUMENTS).stdout, "the latest onehook")


def test_a_changed_pin_blocks_at_the_next_event(agent):
    one = agent("return None", options="fail='closed'")
    os.makedirs(f"{os.environ['ONEHOOK_STATE_DIR']}/pins")
    listed = f"{hashlib.sha256(one.policy.read_bytes()).hexdigest()}  {one.policy.name}\n".encode()
    pin = hashlib.sha256(listed).hexdigest()
    Path(os.environ["ONEHOOK_STATE_DIR"], "pins", pin).write_bytes(listed)
    assert one.warm(DENIED, *ARGUMENTS, "--pin", pin).exit_code == 0
    one.policy.write_text(one.policy.read_text() + "\n# changed\n")
    assert "was changed after it was pinned" in reason_of(one.ask(DENIED, *ARGUMENTS, "--pin", pin), ANY)


def test_a_server_that_was_killed_is_not_missed_and_comes_back(agent):
    one = agent("return deny('no')")
    one.warm(DENIED, *ARGUMENTS)
    first = one.server.pid
    os.kill(first, signal.SIGKILL)
    for _ in range(5):  # the waiting forks answer, and then none is left
        assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "no"
    for path in resident.folder().glob("*.wait"):
        path.unlink()
    assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "no"
    assert one.server.pid != first


def test_a_server_whose_forks_all_die_ends(agent):
    """Otherwise it would fork forever; events are answered without it."""
    one = agent("return deny('no')")
    one.warm(DENIED, *ARGUMENTS)
    server = one.server.pid

    def is_gone():
        for child in resident._children(server):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return not Path(f"/proc/{server}").exists()

    one.until(is_gone, "the end of the server")
    for path in resident.folder().glob("*.wait"):
        path.unlink()
    assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "no"
    assert one.server.pid != server


@contextlib.contextmanager
def stopped(pid):
    """A process with its forks, stopped."""
    pids = [pid]
    try:
        os.kill(pid, signal.SIGSTOP)
        while Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"T":  # until then it may fork once more
            time.sleep(0.001)
        pids += resident._children(pid)
        for number in pids[1:]:
            with contextlib.suppress(ProcessLookupError):  # one that has answered ends by itself
                os.kill(number, signal.SIGSTOP)
        yield
    finally:
        for number in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)


def test_a_server_that_does_not_answer_is_not_waited_for(agent):
    one = agent("return deny('no')")
    one.warm(DENIED, *ARGUMENTS)
    with stopped(one.server.pid):
        assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "no"


def test_a_file_system_that_does_not_answer_ends_the_process(monkeypatch):
    """The client has been told that the process is there, and waits as long as it lives."""
    monkeypatch.setattr(cache, "is_outdated", lambda files: time.sleep(60))
    child = os.fork()
    if not child:
        try:
            Spare._is_outdated(SimpleNamespace(zygote=SimpleNamespace(files={})))
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGALRM


def test_an_event_whose_process_is_killed_is_blocked(agent):
    """stdin has been read by then, so the command cannot answer either; it reports that in the agent's format."""
    one = agent("if 'KILL' in os.environ:\n    os.kill(os.getppid(), 9)", top="import os")
    one.warm(DENIED, *ARGUMENTS)
    assert_blocked(one.ask(DENIED, *ARGUMENTS, env={"KILL": "1"}), ANY, "the payload")
    assert one.ask(DENIED, *ARGUMENTS).exit_code == 0


def test_the_folder_and_the_socket_are_the_users_alone(agent):
    one = agent("return deny('no')")
    one.warm(DENIED, *ARGUMENTS)
    assert stat.S_IMODE(resident.folder().stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in resident.folder().iterdir()} == {0}
    assert any(str(resident.folder()).startswith(f"{path}/") for path in kept_files()), "self_protect does not guard it"


def test_a_folder_that_others_can_enter_is_not_used(agent):
    one = agent("return deny('no')")
    one.warm(DENIED, *ARGUMENTS)
    events = one.server.events
    resident.folder().chmod(0o755)
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "no"
    resident.folder().chmod(0o700)
    assert one.next_event(DENIED, *ARGUMENTS) == events + 1


FAKE = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    connection.recv(1 << 20)
    connection.send(b"R\\1\\0\\0\\0")
    connection.recv(6)
    connection.send(b"X\\0")
"""


def test_a_program_in_the_place_of_the_server_is_not_believed(agent, tmp_path):
    """It would have to be the interpreter of the command: see docs/safety.md for the remaining risk."""
    if not hasattr(socket, "SO_PEERCRED"):
        pytest.skip("this system does not tell who listens")
    one = agent("return deny('no')")
    words = [os.fsencode(word) for word in launcher(one.policy)]
    key = asking.key_of(words, os.getcwdb(), {os.fsencode(name): os.fsencode(value) for name, value in clean_environment().items()})
    resident.folder().mkdir(mode=0o700)
    other = shutil.copy(os.path.realpath(sys.executable), tmp_path / "other")
    arguments = [other, "-S", "-c", FAKE, f"{key}.sock"]
    env = clean_environment({"PYTHONHOME": sys.base_prefix})
    with subprocess.Popen(arguments, cwd=resident.folder(), stdout=subprocess.PIPE, env=env) as fake:
        assert fake.stdout.readline() == b"ready\n"
        assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "no"
        fake.kill()


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_descriptor_that_the_agent_has_closed_stays_closed(agent, closed):
    one = agent("return deny('no')")
    one.warm(DENIED, *ARGUMENTS)

    def asked(command):
        script = f'exec "$@" {closed}{"<" if closed == 0 else ">"}&-'
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", *command], input=str(DENIED).encode(), capture_output=True, env=clean_environment(), check=False
        )
        return done.returncode, done.stdout, done.stderr

    assert asked(one.command(*ARGUMENTS)) == asked(launcher(one.policy, *ARGUMENTS))


def test_a_payload_of_megabytes_and_an_answer_of_as_many(agent):
    one = agent("return deny(event.command[::-1])")
    one.warm(DENIED, *ARGUMENTS)
    result = one.ask(tool_payload(ANY, "ab" * 2_000_000), *ARGUMENTS)
    assert "ba" * 2_000_000 in result.stdout


def test_an_unreadable_payload_is_blocked(agent):
    one = agent("return None")
    one.warm(DENIED, *ARGUMENTS)
    assert_blocked(one.ask(b"{", *ARGUMENTS), ANY, "the payload")
    assert_blocked_blindly(one.ask(b"", "--fail", "closed"), "the payload")


def test_what_a_handler_leaves_behind_keeps_nobody_waiting(agent, tmp_path):
    """The child lives until the answer has arrived; a client that waited for it would wait forever."""
    answered = tmp_path / "answered"
    stays = f"    while not os.path.exists({str(answered)!r}): time.sleep(0.02)"
    one = agent(f"if os.fork() == 0:\n{stays}\n    os._exit(0)\nreturn deny('no')", top="import os, time")
    assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "no"
    answered.touch()


def test_it_learns_what_events_import(agent):
    one = agent("print('FRESH', 'json.decoder' in LOADED)\nreturn deny('no')", top="import sys\nLOADED = set(sys.modules)\nimport json")
    one.warm(DENIED, *ARGUMENTS)
    one.until(lambda: "FRESH True" in one.ask(DENIED, *ARGUMENTS).stderr, "a process that has it")


def test_isolation_in_a_thread_is_not_for_the_server(agent):
    one = agent("return deny('no')")
    one.warm(DENIED, *ARGUMENTS)
    events = one.server.events
    assert reason_of(one.ask(DENIED, *ARGUMENTS, "--isolation", "thread"), ANY) == "no"
    assert one.next_event(DENIED, *ARGUMENTS) == events + 1


TROUBLE = {
    "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()": "starts a thread",
    "import socket\nkept = socket.socketpair()": "opens a file or a connection",
    "from onehook import Hooks\nhooks = Hooks(fail='closed')": "makes a Hooks object",
    "x = 1": "",
}


@pytest.mark.parametrize("source, why", TROUBLE.items(), ids=TROUBLE.values())
def test_a_package_that_a_fork_would_break_is_not_loaded_in_advance(tmp_path, source, why):
    (tmp_path / "some_package.py").write_text(source)
    script = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from onehook.resident import learning\nbefore = learning.open_descriptors()\n"
        "learning.learn([f'module\\tsome_package\\t{sys.argv[2]}/some_package.py'.encode()], True)\n"
        "print('some_package' in sys.modules, learning.own_trouble(before))"
    )
    source_folder = Path(asking.__file__).parents[2]
    argv = [sys.executable, "-I", "-S", "-c", script, source_folder, tmp_path]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert told.startswith("True") and why in told and (why or told.strip() == "True")


def test_one_event_of_each_kind_is_kept_to_rehearse_with(monkeypatch):
    zygote, spare = Zygote.__new__(Zygote), Spare.__new__(Spare)
    zygote.policy, zygote.samples, zygote.rest = "/onehook.toml", {}, b""
    spare.zygote = zygote
    (zygote.told, zygote.tell), (zygote.woken, woke) = os.pipe(), os.pipe()
    for descriptor in (zygote.told, zygote.woken):
        os.set_blocking(descriptor, False)
    monkeypatch.setattr(sys, "argv", ["launch.py", zygote.policy, "--host", ANY])

    def answered(command, event="PreToolUse", tool="Bash", by=()):
        """Whether the event is one of those that are kept."""
        spare.data = command.encode()
        spare._report_sample(SimpleNamespace(event=SimpleNamespace(event=event, tool=tool, command=command), by=by))
        zygote._heard()
        return ([zygote.policy, "--host", ANY], spare.data) in zygote.rehearsed()

    try:
        assert answered("git status")
        assert not answered("git log")  # of the same kind
        assert answered("rm x", by=["a rule"]) and answered("a | b")
        assert answered("stdin", "PostToolUse") and answered("hello", "UserPromptSubmit", "")
        assert not answered("more", "PostToolUse", "Read")  # at most two that are not calls of a tool
        assert not answered("stop", "Stop", "")
        assert [answered(tool, tool=tool) for tool in ("Read", "Write", "Edit", "Grep")] == [True, True, True, False]
        assert [data for _, data in zygote.rehearsed()[: SAMPLES[b"0"]]] == [b"stdin", b"hello"]  # calls of tools are rehearsed last
    finally:
        for descriptor in (zygote.told, zygote.tell, zygote.woken, woke):
            os.close(descriptor)


def test_a_file_that_changes_while_it_is_loaded_or_later_is_out_of_date(monkeypatch, tmp_path):
    both = module, other = tmp_path / "module.py", tmp_path / "other.py"
    for path in both:
        path.write_text("")
    zygote = Zygote.__new__(Zygote)
    zygote.policy, zygote.own, zygote.refused, zygote.key, zygote.learnt_from, zygote.descriptors = "/policy.py", set(), "", "key", 0, 99
    zygote.lessons, zygote.loaded, zygote.files, zygote.ours = [f"module\tmodule\t{module}".encode()], {}, {}, {}

    def learn(*_):
        module.write_text("changed")
        return set()

    monkeypatch.setattr("onehook.resident.learning.learn", learn)
    monkeypatch.setattr(
        "onehook.resident.learning.watched", lambda *_, **__: [{str(it): cache.state_of(str(it))} for it in (module, other)]
    )
    monkeypatch.setattr("onehook.resident.learning.own_trouble", lambda _: "")
    monkeypatch.setattr("onehook.cache.save", lambda: None)
    monkeypatch.setattr("onehook.resident.zygote.gc", SimpleNamespace(collect=lambda: None, freeze=lambda: None))
    zygote._load()
    zygote._settle()
    assert cache.is_outdated(zygote.files) and not cache.is_outdated(zygote.ours)
    other.write_text("changed")
    zygote._settle()  # as after another lesson
    assert cache.is_outdated(zygote.ours)
