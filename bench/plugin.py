"""What an event costs an agent without command hooks, from inside: Pi's extension in Node, as install writes it, with a policy that denies.

python bench/plugin.py [rounds]

With a process for each event, with the native client's process (used if the connection is in doubt), and with the connection to the warm
process. All in turn in every round, along with the start of a bare interpreter, so compare the ratios. Every answer is checked.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from startup import CONTENDERS, PRE_TOOL_USE, where_and_when

from onehook.hostkit.config import Commands, Machine, Wish
from onehook.hosts.pi import config
from onehook.setup.command import client, own_program
from onehook.setup.resident import gone, servers, stop

TITLES = {
    "bare": "bare interpreter: python -I -c pass",
    "process": "a process for each event",
    "client": "resident, the client's process",
    "connection": "resident, the connection",
}
WARM_UP = 20  # rounds in which it learns what to load
SCRIPT = """
import { spawn } from "node:child_process"
import { setTimeout as pause } from "node:timers/promises"
import { launch as plain } from "./plain.js"
import { launch, reach } from "./resident.js"

const [python, payload, rounds, warmUp] = process.argv.slice(2)
const event = JSON.parse(payload)
const bare = () => new Promise((resolve) => spawn(python, ["-I", "-c", "pass"]).on("close", (code) => resolve({ code })))
// A process comes before each of those that are resident: while it runs, the forks for the next event are made, as between two of an agent.
const ways = { bare, connection: () => reach(event), process: () => plain(event), client: () => launch(event) }
const times = {}
for (let round = -warmUp; round < Number(rounds); round++) {
  for (const [name, way] of Object.entries(ways)) {
    const begun = performance.now()
    const { stdout } = await way()
    const taken = performance.now() - begun
    if (name !== "bare" && JSON.parse(stdout).decision !== "deny") throw new Error(`${name} gave another answer`)
    if (round >= 0) (times[name] ??= []).push(taken)
  }
  if (round < 0) await pause(300)
}
console.log(JSON.stringify(times))
"""


def written(folder: Path, name: str, exports: str, before: tuple[str, ...]) -> None:
    """The extension, with its inner functions exported for the measurement."""
    program = own_program()
    words = (*before, program.interpreter, "-I", "-S", program.launcher, str(CONTENDERS / "policy.py"), "--host", "pi", "--fail", "closed")
    machine = Machine(folder / "home", folder, {}, sys.platform)
    lines = {"PreToolUse": Commands("", "", "", words, len(before))}
    content = config.PLUGIN.content(config.places(machine)[0], lines, Wish(fail_closed=True), machine)
    (folder / name).write_bytes(content + f"\nexport {{ {exports} }}\n".encode())


def measured(folder: Path, rounds: int) -> dict[str, list[float]]:
    written(folder, "plain.js", "launch", ())
    written(folder, "resident.js", "launch, reach", client())
    (folder / "script.js").write_text(SCRIPT, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    payload = {"pi": 1, **PRE_TOOL_USE, "hook_event_name": "tool_call", "tool_name": "bash"}
    node = shutil.which("node") or sys.exit("node is not installed")
    argv = [node, str(folder / "script.js"), sys.executable, json.dumps(payload), str(rounds), str(WARM_UP)]
    return dict(json.loads(subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout))


def main() -> None:
    rounds = int(sys.argv[1]) if sys.argv[1:] else 60
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ONEHOOK_STATE_DIR"] = folder
        try:
            times = measured(Path(folder), rounds)
            time.sleep(1)  # it updates its counts when it is idle
            answered = sum(server.events for server in servers())
        finally:
            for server in servers():
                stop(server)
            gone()
    print(f"Python {sys.version.split()[0]}, {where_and_when(rounds)}")
    print("| an event from inside Node | wall / bare | least / bare | wall ms |\n|---|---|---|---|")
    base = times["bare"]
    for name in TITLES:
        taken = times[name]
        ratios = (statistics.median(taken) / statistics.median(base), min(taken) / min(base), statistics.median(taken))
        print(f"| {TITLES[name]} | {ratios[0]:.2f} | {ratios[1]:.2f} | {ratios[2]:.1f} |")
    print(f"\n{answered} of {2 * (rounds + WARM_UP)} events were answered by the warm process.")


if __name__ == "__main__":
    main()
