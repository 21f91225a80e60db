"""Resident mode on Windows, with the real interpreter and client: on Windows, or elsewhere in Wine.

`make windows` installs a Windows Python, builds the client, and runs these tests. An event gives the same result through the server as
without resident mode, and also when no server is running.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import ANY, PACKAGE, PATIENCE, PRE, Result, assert_blocked, encoded, reason_of, tool_payload

from onehook.setup.command import Program, commands

PYTHON = os.environ.get("ONEHOOK_WINDOWS_PYTHON", "")
CLIENT = os.environ.get("ONEHOOK_WINDOWS_CLIENT", "")
WINE = [] if sys.platform == "win32" else ["wine"]
DENIED = tool_payload(ANY, "rm -rf /")
ARGUMENTS = ("--host", ANY, "--event", PRE[ANY], "--fail", "closed")


def why_not():
    if not PYTHON or not CLIENT:
        return "ONEHOOK_WINDOWS_PYTHON and ONEHOOK_WINDOWS_CLIENT do not name a Windows Python and client; `make windows` does"
    missing = [path for path in (PYTHON, CLIENT) if not Path(path).exists()]
    if missing:
        return f"{missing[0]} does not exist"
    return "wine is not installed" if WINE and not shutil.which("wine") else ""


if why_not():
    pytest.skip(why_not(), allow_module_level=True)


def key_of(*asked):
    from onehook.resident.windows import key_of  # only where needed: imported modules count as code that the tests should run

    return key_of(*asked)


def path_there(path):
    """A path of this system in the form that Windows programs use."""
    return "Z:" + str(path).replace("/", "\\") if WINE else str(path)


class Windows:
    """Starts processes on Windows, in a folder with an interpreter and a copy of onehook that tests may change."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(Path(PYTHON).parent, folder / "python")
        shutil.copytree(PACKAGE, folder / "source" / "onehook", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "site").mkdir()
        for names in (folder / "python").glob("python*._pth"):
            names.write_text(f"{names.stem}.zip\n.\n{path_there(folder / 'site')}\n")
        self.python = path_there(folder / "python" / "python.exe")
        self.launcher = path_there(folder / "source" / "onehook" / "launch.py")
        self.client = path_there(Path(CLIENT).resolve())
        env = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(Path(PYTHON).resolve().parents[1] / "prefix")}
        # Wine passes the descriptor of stderr on to every process that is started, so nothing waits for it to be closed.
        self.noise, stderr = os.pipe()
        command = [*WINE, self.python, "-I", path_there(Path(__file__).with_name("windows_agent.py"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=env)
        os.close(stderr)

    def call(self, name, **arguments):
        self.process.stdin.write(json.dumps({"call": name, **arguments}).encode() + b"\n")
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        assert "error" not in said, said["error"]
        return said["returned"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.stdout.close()
            os.close(self.noise)


@pytest.fixture(scope="session")
def windows(tmp_path_factory):
    there = Windows(tmp_path_factory.mktemp("windows"))
    yield there
    there.close()


class Agent:
    """Sends events to a policy with or without the client, and inspects the processes that answer."""

    def __init__(self, windows, folder, policy):
        self.windows, self.policy = windows, policy
        self.state = folder / "state"
        self.resident = self.state / "resident"
        self.env = {"ONEHOOK_STATE_DIR": path_there(self.state), "USERPROFILE": path_there(folder)}

    def words(self, *arguments, python=None):
        return [python or self.windows.python, "-I", "-S", self.windows.launcher, path_there(self.policy), *arguments]

    def job(self, payload, *arguments, client=True, env=None, cwd=None, python=None):
        return {
            "command": [*([self.windows.client] if client else []), *self.words(*arguments, python=python)],
            "data": base64.b64encode(encoded(payload)).decode(),
            "env": {**self.env, **(env or {})},
            "cwd": cwd and path_there(cwd),
        }

    def ask(self, payload, *arguments, **more):
        return result(self.windows.call("run", **self.job(payload, *arguments, **more)))

    def cold(self, payload, *arguments, **more):
        return self.ask(payload, *arguments, client=False, **more)

    @property
    def server(self):
        """What the server reports about itself; None if there is none."""
        for path in self.resident.glob("*.state") if self.resident.exists() else ():
            fields = dict(line.split("\t", 1) for line in path.read_text().splitlines())
            if fields.get("policy") == path_there(self.policy):
                return fields
        return None

    @property
    def events(self):
        return int((self.server or {}).get("events", 0))

    def until(self, holds, what):
        until = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < until, f"{what} did not come"
            time.sleep(0.05)

    def warm(self, payload, *arguments, **more):
        """Send events until a process has answered; returns that answer."""
        until = time.monotonic() + PATIENCE
        while True:
            before = self.server or {}
            answer = self.ask(payload, *arguments, **more)
            waited = time.monotonic() + 3
            while time.monotonic() < waited:
                now = self.server or {}
                if now.get("pid") != before.get("pid"):
                    break
                if int(now.get("events", 0)) > int(before.get("events", 0)):
                    return answer
                time.sleep(0.05)
            assert time.monotonic() < until, "no process has answered"

    def settle(self, payload, *arguments):
        """Send events until nothing more is learned."""
        self.warm(payload, *arguments)
        pid = ""
        while (self.server or {}).get("pid") != pid:
            pid = (self.server or {}).get("pid")
            self.warm(payload, *arguments)

    def stop(self):
        assert self.windows.call("end_servers", folder=path_there(self.resident)), "a server has not ended"


def result(said):
    code, stdout, stderr = said
    assert code is not None, "it has not ended"
    return Result(code, base64.b64decode(stdout), base64.b64decode(stderr))


@pytest.fixture
def agent(windows, policy, tmp_path):
    made = []

    def make(handler="", path=None, **parts):
        one = Agent(windows, tmp_path, path or policy(handler, **parts))
        one.state.mkdir(exist_ok=True)
        made.append(one)
        return one

    yield make
    for one in made:
        one.stop()


def same(one, payload, *arguments, **more):
    """The answer, which is the same with and without the server."""
    warm = one.warm(payload, *arguments, **more)
    assert repr(warm) == repr(one.cold(payload, *arguments, **more))
    return warm


HANDLERS = {
    "deny": ("return deny('no é')", DENIED),
    "allow": ("return None", DENIED),
    "raise": ("raise ValueError('some')", DENIED),
    "print": ("print('é', sys.argv, os.getcwd(), sorted(os.environ.items()))\nsys.stderr.write('more')\nreturn deny('no')", DENIED),
    "hang": ("time.sleep(60)", DENIED),
    "exit": ("sys.exit(0)", DENIED),
    "unparsable": ("return None", b"{"),
    "empty": ("return None", b""),
}


@pytest.mark.parametrize("handler, payload", HANDLERS.values(), ids=HANDLERS)
def test_the_answer_is_the_same_byte_for_byte(agent, tmp_path, handler, payload):
    one = agent(handler, top="import os, sys, time")
    for fail in ("open", "closed"):
        arguments = ("--host", ANY, "--event", PRE[ANY], "--fail", fail, "--timeout", "2")
        same(one, payload, *arguments, env={"SOME": "é", "ROUND": fail}, cwd=tmp_path)


def test_an_empty_variable_is_not_for_the_server(agent):
    """The C runtime would remove it."""
    one = agent("return deny(repr(os.environ.get('EMPTY')))", top="import os")
    assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "None"
    assert reason_of(one.ask(DENIED, *ARGUMENTS, env={"EMPTY": ""}), ANY) == "''"


def test_words_and_folders_survive_as_they_are(agent, windows, policy, tmp_path):
    folder = tmp_path / "some é 'folder' & more"
    folder.mkdir()
    path = folder / "a policy.py"
    path.write_text(policy("print(ascii(sys.argv), ascii(os.getcwd()))\nreturn deny('no')", top="import os, sys").read_text())
    one = agent(path=path)
    assert "'folder'" in same(one, DENIED, *ARGUMENTS, cwd=folder).stderr
    for word in ('a "b" c', "\\\\x\\", 'x\\"y\\\\', "", "é\U0001f600", 'C:\\a b\\"', "%PATH% ^& | >"):
        assert word.rstrip("\\")[:1] in same(one, DENIED, "--host", ANY, word).stderr  # it is one argument too many, which is reported
        words = [windows.python, "-I", "-c", "import sys; print(ascii(sys.argv[1:]))", word, word]
        alone, by_client = (result(windows.call("run", command=[*before, *words], env=one.env)) for before in ((), (windows.client,)))
        assert repr(by_client) == repr(alone) and alone.stdout


def test_the_command_that_install_writes_for_cmd(agent, windows, tmp_path):
    path = tmp_path / "with a space" / "policy.py"
    path.parent.mkdir()
    path.write_text("from onehook import Hooks, deny\nhooks = Hooks()\n\n@hooks.on('PreToolUse')\ndef no(event):\n    return deny('no')\n")
    one = agent(path=path)
    program = Program(windows.python, windows.launcher)
    written = commands(
        Path(path_there(path)), tmp_path, ARGUMENTS, project_folder="", inside_project=False, portable=False, windows=True, program=program,
        client=(windows.client,),
    )  # fmt: skip
    job = {**one.job(DENIED, *ARGUMENTS), "line": f'cmd.exe /d /s /c "{written.cmd}"'}
    for _ in range(2):
        assert reason_of(result(windows.call("run", **job)), ANY) == "no"
        one.warm(DENIED, *ARGUMENTS)


@pytest.mark.parametrize("size", [1 << 10, 1 << 16, 1 << 20, 10 << 20])
def test_payloads_of_a_kilobyte_and_of_megabytes(agent, size):
    one = agent("return deny(f'{len(event.command)} {event.command[-3:]}')")
    assert same(one, tool_payload(ANY, "x" * size + "end"), *ARGUMENTS).exit_code == one.cold(DENIED, *ARGUMENTS).exit_code


def test_an_answer_of_megabytes(agent):
    one = agent("return deny('ba' * 1_000_000)")
    assert "ba" * 1_000_000 in same(one, DENIED, *ARGUMENTS).stdout


def test_clients_at_the_same_time(agent, windows):
    one = agent("return deny(os.environ['NUMBER'])", top="import os")
    one.warm(DENIED, *ARGUMENTS, env={"NUMBER": "0"})
    for _ in range(3):
        jobs = [one.job(DENIED, *ARGUMENTS, env={"NUMBER": str(number)}) for number in range(8)]
        answers = [result(said) for said in windows.call("run_all", jobs=jobs)]
        assert [reason_of(answer, ANY) for answer in answers] == [str(number) for number in range(8)]


def test_nothing_is_remembered_and_a_changed_policy_counts_at_once(agent, policy):
    one = agent("count.append(1)\nreturn deny(f'{len(count)} {other.WORD}')", top="import other\ncount = []")
    beside = one.policy.with_name("other.py")
    beside.write_text("WORD = 'first'\n")
    for _ in range(3):
        assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "1 first"
    beside.write_text("WORD = 'the second'\n")
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "1 the second"
    policy("return deny('the third')")
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "the third"


def test_a_rules_file(agent, tmp_path):
    rules = tmp_path / "onehook.toml"
    rules.write_text("[permissions]\ndeny = ['Bash(rm:*)']\n")
    one, removes = agent(path=rules), tool_payload(ANY, "rm x")
    assert "rm" in reason_of(same(one, removes, *ARGUMENTS), ANY)
    rules.write_text("[permissions]\ndeny = ['Bash(mv:*)']\n")
    assert one.ask(removes, *ARGUMENTS).exit_code == 0


def test_what_events_import_is_loaded_in_advance_until_it_changes(agent, windows):
    package = windows.folder / "site" / "some_package.py"
    package.write_text("WORD = 'first'\n")
    one = agent(
        "print('FRESH', 'some_package' in LOADED)\nreturn deny(some_package.WORD)",
        top="import sys\nLOADED = set(sys.modules)\nimport some_package",
    )
    one.until(lambda: "FRESH True" in one.ask(DENIED, *ARGUMENTS).stderr, "a process that has it")
    package.write_text("WORD = 'the second'\n")
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "the second"
    one.until(lambda: "FRESH True" in one.ask(DENIED, *ARGUMENTS).stderr, "a process that has it again")
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "the second"


def test_a_package_that_makes_hooks_is_not_loaded_in_advance(agent, windows):
    (windows.folder / "site" / "hooks_package.py").write_text("from onehook import Hooks\nhooks = Hooks(fail='closed')\n")
    one = agent("return deny('no')", top="import hooks_package")
    one.warm(DENIED, *ARGUMENTS)
    one.until(lambda: one.ask(DENIED, *ARGUMENTS) and "makes a Hooks object" in (one.server or {}).get("refused", ""), "the reason")
    assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "no"


def test_a_new_onehook_counts_at_once(agent, windows):
    one = agent("raise ValueError")
    assert "fail=closed" in one.warm(DENIED, *ARGUMENTS).stdout
    words = windows.folder / "source" / "onehook" / "words.py"
    before = words.read_text()
    try:
        words.with_suffix(".new").write_text(before.replace("fail=closed", "fail=newly closed"))
        words.with_suffix(".new").replace(words)
        assert "fail=newly closed" in one.ask(DENIED, *ARGUMENTS).stdout
        assert "fail=newly closed" in one.warm(DENIED, *ARGUMENTS).stdout
    finally:
        words.write_text(before)


def test_a_server_that_was_killed_is_not_missed_and_comes_back(agent, windows):
    one = agent("return deny('no')")
    one.settle(DENIED, *ARGUMENTS)
    first = one.server["pid"]
    assert windows.call("kill", pid=int(first))
    for _ in range(3):
        assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "no"
    for path in one.resident.glob("*.wait"):
        path.unlink()
    assert reason_of(one.warm(DENIED, *ARGUMENTS), ANY) == "no"
    assert one.server["pid"] != first


def test_without_a_state_folder_the_command_is_run(agent, tmp_path):
    one = agent("return deny('no')")
    nowhere = {"ONEHOOK_STATE_DIR": "relative", "LOCALAPPDATA": None}
    assert reason_of(one.ask(DENIED, *ARGUMENTS, env=nowhere, cwd=tmp_path), ANY) == "no"
    assert one.server is None


@pytest.mark.parametrize("how", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_an_event_whose_process_ends_is_blocked(agent, how):
    """stdin has been read by then, so the command cannot answer either; it reports that in the agent's format."""
    one = agent(f"if 'KILL' in os.environ:\n    {how}", top="import os")
    one.settle(DENIED, *ARGUMENTS)
    assert_blocked(one.ask(DENIED, *ARGUMENTS, env={"KILL": "1"}), ANY, "the payload")
    assert one.ask(DENIED, *ARGUMENTS).exit_code == 0


FAKE = """
import os, sys, time, _winapi
folder, key, script = sys.argv[1:4]
pipe = _winapi.CreateNamedPipe(r"\\\\.\\pipe\\onehook-" + key, _winapi.PIPE_ACCESS_DUPLEX, _winapi.PIPE_WAIT, 4, 65536, 65536, 0, 0)
with open(os.path.join(folder, key + ".pipe"), "w") as file:
    file.write("onehook-" + key)
print("ready", flush=True)
_winapi.ConnectNamedPipe(pipe)
for step in bytes.fromhex(script).split(b"|"):
    if step == b"read":
        _winapi.ReadFile(pipe, 1 << 20)
    elif step == b"wait":
        time.sleep(60)
    else:
        _winapi.WriteFile(pipe, step)
os._exit(0)
"""
READY, GO = b"read|R\1\0\0\0|", b"read|"


class Impostor:
    """A process that listens instead of a server, and says what a script says."""

    def __init__(self, one, script, program=None, python=None):
        windows = one.windows
        one.resident.mkdir(exist_ok=True)
        file = windows.folder / "fake.py"
        file.write_text(FAKE)
        key = key_of(one.words(python=python), "", {})
        arguments = [path_there(file), path_there(one.resident), key, script.hex()]
        self.pid = windows.call("start", command=[program or windows.python, "-I", *arguments], wait_for="ready")


SAID = {
    "nothing, and ends": (b"", 0, "COLD"),
    "nothing, and stays": (b"wait", 0, "COLD"),
    "noise": (b"read|nonsense", 0, "COLD"),
    "ready, and ends": (READY, 0, "COLD"),
    "ready, and noise": (READY + GO + b"Y", 0, "COLD"),
    "writes, and ends": (READY + GO + b"W", 137, ""),
    "writes, and noise": (READY + GO + b"W|YY", 137, ""),
    "an answer": (READY + GO + b"W|X\5", 5, ""),
}


@pytest.mark.parametrize("script, exit_code, stdout", SAID.values(), ids=SAID)
def test_whatever_a_server_says_the_command_is_run_or_the_server_has_answered(agent, script, exit_code, stdout):
    one = agent("print('COLD')")
    Impostor(one, script)
    answer = one.ask(DENIED, "--host", ANY)
    assert (answer.exit_code, stdout in answer.stderr) == (exit_code, True) and not answer.stdout


def test_an_answer_that_was_cut_off_blocks_where_failures_do(agent):
    """On Windows, install writes nothing after the command that would block."""
    one = agent("return None")
    for event, exit_code in ((PRE[ANY], 2), ("Stop", 137)):
        Impostor(one, READY + GO + b"W")
        answer = one.ask(DENIED, "--host", ANY, "--event", event, "--fail", "closed")
        assert answer.exit_code == exit_code and "has ended before its answer" in answer.stderr


def test_an_interpreter_that_is_gone_blocks_where_failures_do(agent):
    one = agent("return None")
    assert one.ask(DENIED, *ARGUMENTS, python="C:\\no such\\python.exe").exit_code == 2
    assert one.ask(DENIED, "--host", ANY, python="C:\\no such\\python.exe").exit_code == 127


def test_a_program_in_the_place_of_the_server_is_not_believed(agent, windows):
    """It would have to be the interpreter of the command: see docs/safety.md for the remaining risk."""
    other = shutil.copytree(windows.folder / "python", windows.folder / "other", dirs_exist_ok=True) / "python.exe"
    one = agent("return deny('no')")
    Impostor(one, READY + GO + b"W|X\0", program=path_there(other))
    assert reason_of(one.ask(DENIED, *ARGUMENTS), ANY) == "no"


def test_the_program_of_a_virtual_environment_starts_the_one_that_its_settings_name(agent, windows, tmp_path):
    python = tmp_path / "env" / "Scripts" / "python.exe"
    python.parent.mkdir(parents=True)
    shutil.copy(windows.folder / "python" / "python.exe", python)
    (tmp_path / "env" / "pyvenv.cfg").write_text(f"include-system-site-packages = false\nhome = {path_there(windows.folder / 'python')}\n")
    one = agent("return None")
    Impostor(one, READY + GO + b"W|X\5", python=path_there(python))
    assert one.ask(DENIED, "--host", ANY, python=path_there(python)).exit_code == 5


def test_the_client_and_the_server_agree_on_names(agent, windows, tmp_path):
    one = agent("return None")
    for number, zone in enumerate((None, "UTC+3")):
        for policy in ("C:\\some\\é policy.py", "\\\\server\\policy.py", "policy.py"):
            state = tmp_path / f"state {number}"
            state.mkdir(exist_ok=True)
            words = ["C:\\no such\\python.exe", "-I", "-S", "launch", policy]
            env = {**one.env, "ONEHOOK_STATE_DIR": path_there(state), "TZ": zone}
            windows.call("run", command=[windows.client, *words], env=env, cwd=path_there(tmp_path))
            key = key_of(words, path_there(tmp_path), {"TZ": zone or ""})
            assert (state / "resident" / f"{key}.wait").exists()
