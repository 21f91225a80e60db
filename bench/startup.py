"""What one hook event costs: a whole process from start to exit, stdin JSON in, a deny out.

    make bench            sets up the contenders in .bench/ and runs this
    python bench/startup.py --rounds 100 [--markdown]

Each hook is started as an agent starts it: by /bin/sh -c, and onehook with the exact command that `onehook install` writes into a scratch
project. The baseline, a bare interpreter, is started directly. onehook is measured with a cache that holds only what this event needs, and
with one that every host and a rules file have filled. All contenders run in turn in every round, so that other load on the machine affects
them equally; compare the ratios, not the milliseconds. `processor` is the time of all processes together (Linux): the steadiest figure on
a busy machine. Before anything is timed, each contender's answer is checked to be a deny.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from onehook.cache import LAUNCHER, PACKAGE
from onehook.hostkit.config import EXEC
from onehook.hosts import HOSTS
from onehook.setup.command import NATIVE_CLIENT, PYTHON_CLIENT
from onehook.setup.resident import gone, servers, stop

HERE = Path(__file__).resolve().parent
CONTENDERS = HERE / "contenders"
BENCH = HERE.parent / ".bench"
BARE = "bare interpreter: python -I -c pass"
FLOOR = "the shell and python -I -S -c pass"

PRE_TOOL_USE = {
    "session_id": "0dc8e589-516d-434b-9018-85ebb12efaa6",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-project/0dc8e589-516d-434b-9018-85ebb12efaa6.jsonl",
    "cwd": "/home/dev/project",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf /tmp/foo", "description": "x"},
    "tool_use_id": "toolu_18e84ef552bb37ce",
}
PERMISSION_REQUEST = {**PRE_TOOL_USE, "hook_event_name": "PermissionRequest"}


POST_TOOL_USE = {**PRE_TOOL_USE, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "", "stderr": ""}}


def call(tool: str, **given: str) -> dict[str, object]:
    return {**PRE_TOOL_USE, "tool_name": tool, "tool_input": given}


# What an agent does most of the time, and all policies let pass.
ORDINARY = {
    "git status": call("Bash", command="git status"),
    "npm test": call("Bash", command="npm test -- --run src/app.test.ts"),
    "a pipeline": call("Bash", command="cd src && grep -rn 'def main' --include='*.py' . | head -20 > /tmp/found.txt"),
    "Read": call("Read", file_path="/home/dev/project/src/app.py"),
    "Write": call("Write", file_path="/home/dev/project/src/new.py", content="print('a line of code')\n" * 40),
}


class Contender:
    def __init__(
        self, name: str, argv: list[str], payload: dict[str, object] | None = PRE_TOOL_USE, denies: bool = True, project: Path = HERE
    ) -> None:
        self.name = name
        self.argv = argv
        self.variables = {**os.environ, "CLAUDE_PROJECT_DIR": str(project)}
        self.payload = b"" if payload is None else json.dumps(payload).encode()
        self.denies = denies
        self.times: list[float] = []
        self.processor: list[float] = []

    def is_right(self) -> bool:
        """Run it once, and check that it denies or lets pass as expected."""
        done = subprocess.run(self.argv, input=self.payload, capture_output=True, timeout=60, check=False, env=self.variables)
        denied = done.returncode == 2 or any(word in done.stdout.decode() for word in ('"deny"', '"block"'))
        return denied == self.denies and (denied or done.returncode == 0)


def by_shell(*words: str) -> list[str]:
    return ["/bin/sh", "-c", shlex.join(words)]


def installed(folder: Path, policy: str, *options: str, file: str = "policy.py") -> dict[str, str]:
    """Install a policy into a scratch project; returns the commands in the agent's config, by event."""
    (folder / ".claude").mkdir(parents=True)
    (folder / file).write_text(policy, encoding="utf-8")
    words = ("install", file, "--hosts", "claude", "--fail-closed", "--timeout", "20", "--yes", *(options or ("--no-resident",)))
    environment = {**os.environ, "HOME": str(folder.parent), "XDG_STATE_HOME": str(folder / "state")}
    subprocess.run([sys.executable, "-I", "-m", "onehook", *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    hooks = json.loads((folder / ".claude" / "settings.json").read_text(encoding="utf-8"))["hooks"]
    return {event: groups[0]["hooks"][0]["command"] for event, groups in hooks.items()}


def copied(folder: Path, python: str, *, full: bool) -> str:
    """Copy onehook, with its own cache; returns its launcher. full: every host and a rules file have run."""
    copy = shutil.copytree(PACKAGE, folder / "onehook", ignore=shutil.ignore_patterns("__pycache__"))
    launcher = str(copy / "launch.py")
    (folder / "onehook.toml").write_text('packs = ["all"]\n[permissions]\ndeny = ["Read(./.env)"]\n', encoding="utf-8")
    for host in HOSTS if full else ():
        for policy in (str(CONTENDERS / "policy.py"), str(folder / "onehook.toml")):
            argv = [python, "-I", "-S", launcher, policy, "--host", host, "--event", "PreToolUse"]
            subprocess.run(argv, input=json.dumps(PRE_TOOL_USE).encode(), capture_output=True, check=False)
    return launcher


def as_written(
    name: str, folder: Path, policy: str, program: tuple[str, str], payload: dict[str, object] = PRE_TOOL_USE, denies: bool = True
) -> Contender:
    """Installed, and started as the agent does: by its shell, with a variable for the project. program: interpreter and launcher."""
    return started_by_shell(name, installed(folder, policy), folder, program, payload, denies)


def started_by_shell(
    name: str,
    commands: dict[str, str],
    folder: Path,
    program: tuple[str, str],
    payload: dict[str, object] = PRE_TOOL_USE,
    denies: bool = True,
    client: tuple[str, ...] = (),
) -> Contender:
    """client: what comes before the command in resident mode, instead of what install has written there."""
    written = commands[str(payload["hook_event_name"])]
    words = written.partition(f" -I -S {LAUNCHER} ")[2]
    start = EXEC if written.startswith(EXEC) else ""
    command = f"{start}{shlex.join((*client, program[0], '-I', '-S', program[1]))} {words}"
    return Contender(name, ["/bin/sh", "-c", command], payload, denies, folder)


def many_handlers(count: int) -> str:
    handler = '@hooks.on("PreToolUse", tool="Bash")\ndef guard_{0}(event):\n    if "{1}" in event.command:\n        return deny("no {0}")\n'
    handlers = [handler.format(number, f"rule {number}" if number < count - 1 else "rm -rf") for number in range(count)]
    return "\n".join(["from onehook import Hooks, deny", "hooks = Hooks()", *handlers])


# What a policy may import: five modules of the standard library.
HEAVY = "import json, logging, pathlib, re, subprocess\n"
RULES = 'packs = ["all"]\n[permissions]\ndeny = ["Read(./.env)", "Bash(rm -rf *)"]\n'


def resident_contenders(scratch: Path, python: str, launcher: str, source: str) -> list[Contender]:
    """The same commands behind the client, as `install --resident` writes them; each process has learned what its events load."""
    os.environ["ONEHOOK_STATE_DIR"] = str(scratch / "state")
    (scratch / "state").mkdir()
    clients = {"native": (str(NATIVE_CLIENT),)} if os.access(NATIVE_CLIENT, os.X_OK) else {}
    clients["Python"] = (python, "-I", "-S", str(PYTHON_CLIENT))
    policies = {
        "a trivial policy": ("plain.py", source),
        "heavy imports": ("heavy.py", HEAVY + source),
        "a rules file with all packs": ("onehook.toml", RULES),
    }
    found = []
    for name, (file, text) in policies.items():
        folder = scratch / f"resident-{file}"
        commands, program = installed(folder, text, "--resident", file=file), (python, launcher)
        if file != "plain.py":
            found.append(started_by_shell(f"onehook, {name}, not resident", commands, folder, program))
        for kind, client in clients.items():
            found.append(started_by_shell(f"resident, {kind} client, {name}", commands, folder, program, client=client))
        native = clients.get("native")
        for event, payload in ORDINARY.items() if native and file != "plain.py" else ():
            found.append(started_by_shell(f"resident, native client, {name}: {event}", commands, folder, program, payload, False, native))
    for contender in found:
        for _ in range(6 if contender.name.startswith("resident") else 1):
            contender.is_right()
            time.sleep(0.4)
    return found


def own_contenders(scratch: Path, python: str) -> list[Contender]:
    source = (CONTENDERS / "policy.py").read_text(encoding="utf-8")
    fresh, full = ((python, copied(scratch / name, python, full=name == "full")) for name in ("fresh", "full"))
    return [
        Contender(BARE, [python, "-I", "-c", "pass"], None),
        Contender(FLOOR, by_shell(python, "-I", "-S", "-c", "pass"), None, False),
        as_written("onehook, as install writes it, fresh cache", scratch / "deny", source, fresh),
        as_written("the same, full cache", scratch / "deny-full", source, full),
        as_written("the same, an event that no handler wants", scratch / "pass", source, full, POST_TOOL_USE, False),
        as_written("the same, a policy with 1,000 handlers", scratch / "many", many_handlers(1000), full),
        *resident_contenders(scratch, python, full[1], source),
    ]


def contenders(scratch: Path, python: str) -> list[Contender]:
    policy = CONTENDERS / "policy.py"
    found = [
        *own_contenders(scratch, python),
        Contender("onehook, python -I -m onehook run", by_shell(python, "-I", "-m", "onehook", "run", str(policy), "--host", "claude")),
        Contender("python, json by hand", by_shell(python, "-I", "-c", _BY_HAND)),
    ]
    bun = next(iter(sorted(BENCH.glob("node_modules/@oven/bun-*/bin/bun"))), None) or shutil.which("bun")
    node = shutil.which("node")
    if bun:
        found.append(Contender("bun, the same logic by hand", by_shell(str(bun), str(CONTENDERS / "hook.mjs"))))
    if node:
        found.append(Contender("node, the same logic by hand", by_shell(node, str(CONTENDERS / "hook.mjs"))))
    peers = str(BENCH / "peers" / "bin" / "python")
    if os.path.exists(peers):
        agent_hooks = (peers, "-I", "-m", "agent_hooks", "run", str(CONTENDERS / "agent_hooks_app.py"), "--provider", "claude-code")
        found += [
            Contender("cchooks 0.1.5", by_shell(peers, "-I", str(CONTENDERS / "cchooks_hook.py"))),
            Contender("polyhook 0.2.0", by_shell(peers, "-I", str(CONTENDERS / "polyhook_hook.py"))),
            Contender("agent-hooks 0.2.0", by_shell(*agent_hooks), PERMISSION_REQUEST),
        ]
    return found


_BY_HAND = """
import json, sys
event = json.load(sys.stdin)
if event["tool_name"] == "Bash" and "rm -rf" in event["tool_input"]["command"]:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "rm -rf is blocked by policy"}
    print(json.dumps({"hookSpecificOutput": answer}))
    sys.exit(2)
"""


def adopt_orphans() -> None:
    """Makes the processor time of a process that outlives its parent count, too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def time_once(contender: Contender, stdin: int, sink: int) -> tuple[float, float]:
    """Milliseconds from start to exit, and of processor time."""
    os.lseek(stdin, 0, os.SEEK_SET)
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, sink, 1), (os.POSIX_SPAWN_DUP2, sink, 2)]
    begun = time.perf_counter()
    child = os.posix_spawn(contender.argv[0], contender.argv, contender.variables, file_actions=actions)
    _, _, used = os.wait4(child, 0)
    taken = time.perf_counter() - begun
    processor = used.ru_utime + used.ru_stime
    try:
        while True:  # the processes that it left behind
            _, _, used = os.wait4(-1, 0)
            processor += used.ru_utime + used.ru_stime
    except ChildProcessError:
        return taken * 1000, processor * 1000


def measure(found: list[Contender], rounds: int, pause: float = 0) -> None:
    """pause: seconds before each event of resident mode, as with an agent: the processes for the next one are forked in the meantime."""
    adopt_orphans()
    sink = os.open(os.devnull, os.O_WRONLY)
    stdins: list[int] = []
    for contender in found:
        with tempfile.TemporaryFile() as file:
            file.write(contender.payload)
            file.flush()
            stdins.append(os.dup(file.fileno()))
    for round_number in range(-3, rounds):  # three rounds to warm the caches
        for contender, stdin in zip(found, stdins, strict=True):
            time.sleep(pause if "resident" in contender.name.partition(",")[0] else 0)
            taken, processor = time_once(contender, stdin, sink)
            if round_number >= 0:
                contender.times.append(taken)
                contender.processor.append(processor)
        if sys.stderr.isatty():
            print(f"\rround {round_number + 1} of {rounds}", end="", file=sys.stderr, flush=True)


def table(found: list[Contender], markdown: bool) -> str:
    base = next(contender for contender in found if contender.name == BARE)
    rows = [("contender", "processor / bare", "least / bare", "wall / bare", "least / bare", "processor ms", "wall ms")]
    for contender in found:
        pairs = [(contender.processor, base.processor), (contender.times, base.times)]
        ratios = [ratio for own, bare in pairs for ratio in (statistics.median(own) / statistics.median(bare), min(own) / min(bare))]
        milliseconds = [statistics.median(own) for own, _ in pairs]
        rows.append((contender.name, *(f"{ratio:.2f}" for ratio in ratios), *(f"{taken:.1f}" for taken in milliseconds)))
    if markdown:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def where_and_when(rounds: int) -> str:
    machine = f"{platform.system()} {platform.machine()}"
    return f"{machine}, {os.cpu_count()} cores,\nload {os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d')}, {rounds} interleaved rounds\n"


def compare(found: list[Contender], rounds: int, markdown: bool, pause: float = 0) -> bool:
    """Check the contenders, time them, and print the table. pause: as for measure()."""
    for contender in found[1:]:
        if not contender.is_right():
            print(f"{contender.name} gave another answer; it would not be the same work", file=sys.stderr)
            return False
    measure(found, rounds, pause)
    version = subprocess.run([found[0].argv[0], "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"\n{version}, {where_and_when(rounds)}\n{table(found, markdown)}")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--pause", type=float, default=0.03, help="seconds before each event of resident mode (default: 0.03)")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--own", action="store_true", help="only onehook and the bare interpreter")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to measure (default: this one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        found = (own_contenders if options.own else contenders)(scratch, options.python)
        try:
            right = compare(found, options.rounds, options.markdown, options.pause)
        finally:
            for server in servers():
                stop(server)
            gone()
        return not right


if __name__ == "__main__":
    raise SystemExit(main())
