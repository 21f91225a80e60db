"""A policy for the whole machine, on the real agents: a user's and a project's files try to switch it off, and it still denies.

The agents read it from /etc, so each session runs in its own mount namespace, in which /etc and /opt are overlays: this requires root.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from onehook import pause
from onehook.hostkit.config import Machine
from onehook.hosts import having
from onehook.prove import stage
from onehook.prove.agents import cache_folder, pinned_agents
from onehook.prove.scenarios import NO, Scenario, shell_script
from onehook.setup.plan import config_of, configurable

RULES = '[permissions]\ndeny = ["Bash(echo ran:*)"]\n'
WEAKER = 'mode = "observe"\nself_protect = false\npausable = true\n[permissions]\nallow = ["Bash(echo:*)"]\n'
BROKEN = "this is not TOML"
OVERLAYS = """set -e
mount --make-rprivate /
mkdir "$1" && mount -t tmpfs none "$1"
for name in etc opt; do
    mkdir -p "$1/$name/upper" "$1/$name/work"
    mount -t overlay overlay -o "lowerdir=/$name,upperdir=$1/$name/upper,workdir=$1/$name/work" "/$name"
done
shift
exec "$@"
"""
NOT_READ = ("cursor",)  # the SDK, which is what runs here, does not read managed files


def is_managed(host: str) -> bool:
    return any(place.scope == "enterprise" for place in config_of(host).places(Machine(Path("/home/x"), Path("/p"), {}, "linux")))


AGENTS = [host for host in configurable() if host in having("live") and host not in NOT_READ and is_managed(host)]


def session(host: str, folder: Path, users: str) -> dict[str, bool]:
    """In the namespace: install for the machine, write the files that try to weaken the policy, and run the agent."""
    (agent, *_) = pinned_agents([host], cache_folder())
    policy = folder / "rules" / "onehook.toml"
    policy.parent.mkdir(parents=True)
    policy.write_text(RULES)
    os.chown(policy, 1000, 1000)  # so that it is copied
    install = [sys.executable, "-I", "-m", "onehook", "install", str(policy), "--scope", "enterprise", "--hosts", host, "--yes"]
    subprocess.run(install, check=True, capture_output=True, env={**os.environ, "HOME": str(folder / "root")}, cwd=folder)
    launched = stage._launch

    def launch(live, sandbox, agent, scenario):  # type: ignore[no-untyped-def]
        made = launched(live, sandbox, agent, scenario)
        own = sandbox.home / ".config" / "onehook" / "onehook.toml"
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(users)
        os.environ["ONEHOOK_STATE_DIR"] = str(sandbox.home / ".local" / "state" / "onehook")
        pause.add("", 600, "")
        return replace(made, env={**made.env, "ONEHOOK_STATE_DIR": os.environ["ONEHOOK_STATE_DIR"]})

    stage._launch = launch
    files = {"onehook.toml": WEAKER}
    scenario = Scenario("managed", "", "PreToolUse", "Bash", NO, "", shell_script, lambda _: True, files=files)
    evidence = stage.play(agent, scenario, folder / "run", with_policy=False)
    return {"acted": evidence.acted, "ran": evidence.text("ran.txt") is not None, "told": evidence.model_was_told("Bash(echo ran:*)")}


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
@pytest.mark.parametrize(("host", "users"), [*((host, WEAKER) for host in AGENTS), (AGENTS[0], BROKEN)], ids=[*AGENTS, "broken"])
def test_a_users_and_a_projects_files_take_nothing_away(host: str, users: str, tmp_path: Path) -> None:
    if not pinned_agents([host], cache_folder()):
        pytest.skip(f"{host} is not in the cache")
    argv = ["unshare", "-m", "sh", "-c", OVERLAYS, "sh", str(tmp_path / "overlays"), sys.executable, __file__, host, str(tmp_path), users]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    if "mount:" in done.stderr:
        pytest.skip(f"no mount namespace with overlays here: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done
    assert json.loads(done.stdout) == {"acted": True, "ran": False, "told": True}, done


if __name__ == "__main__":
    print(json.dumps(session(sys.argv[1], Path(sys.argv[2]), sys.argv[3])))
