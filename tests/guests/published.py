"""Hooks that other people have published: does each do the same on its own agent when it is imported and run through onehook?

    python -m tests.guests.published FOLDER... [--hosts claude,cursor] [--seconds 20] [--json]

A FOLDER is a checked-out repository. Every agent's config below it counts as a project, and every plugin or extension is installed next to
a small project. A hook is started for up to three events that its matcher lets through: by its agent's shell, with the command from the
config, and by the launcher that `onehook install` writes, with the manifest that `onehook import` generates. What the agent reads in the
answer must be the same, and so must every file that the hook has written: in the project, in its home and in /tmp.

This runs other people's code. It has no network, a separate process table (processes that it leaves behind end with it), and can write only
to temporary layers above the project, the home and /tmp. This requires Linux with user namespaces and overlayfs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import onehook
from onehook.core import Event, OnehookError, Response
from onehook.hostkit.config import Machine
from onehook.hosts import HOSTS, having, load, wire_of
from onehook.manifest.load import load_manifest
from onehook.places import state_folder
from onehook.setup import plugins
from onehook.setup.command import LAUNCHER
from onehook.setup.imports import Import, Taken, collect, manifest_string
from onehook.setup.plan import config_of, places_of
from onehook.textedit.document import ConfigError, Document
from onehook.textedit.front_matter import Page
from tests.guests import corpus
from tests.guests.corpus import FILES, Fire
from tests.guests.running import NotThere, environment, event_on, shell_of
from tests.host_folders import facts

EVENTS_EACH = 3
TALK = ("add the tests, then deploy", "I am done")
SKIPPED_FOLDERS = {".git", "node_modules", ".venv"}
# Those of the corpus, and some that its hooks are not for.
FIRES: list[Fire] = [
    *(fire for fire in vars(corpus).values() if isinstance(fire, tuple) and len(fire) == 3 and isinstance(fire[0], str)),
    *(
        (event, tool, fields)
        for event in ("PreToolUse", "PostToolUse")
        for tool, fields in (
            ("Agent", {"prompt": "look for bugs", "description": "a review", "subagent_type": "reviewer"}),
            ("Grep", {"pattern": "TODO", "path": "{p}/src"}),
            ("Glob", {"pattern": "**/*.py"}),
            ("WebSearch", {"query": "a library"}),
        )
    ),
    ("PostToolUse", "Read", {"file_path": "{p}/src/old.py"}),
    ("PostToolUse", "WebFetch", {"url": "http://internal.example/x", "prompt": "read it"}),
    ("PostToolUse", "MCP", {"server": "github", "tool": "get_file", "name": "x"}),
    ("PostToolUseFailure", "Bash", {"command": "make test", "error": "exit code 2"}),
    ("SubagentStart", "", {"agent_id": "a-1", "agent_type": "reviewer"}),
    ("AgentResponse", "", {"last_assistant_message": "I am done"}),
]
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest")
# sh is the first process of the table: when it ends, so do all others. It waits for what a hook has left running, but not for long.
SANDBOX = r"""
given=$1 run=$2 kept=$3 seconds=$4; shift 4
mounts=$(cut -d' ' -f2 /proc/self/mounts)
set -e
mount -t overlay overlay -o "lowerdir=$given,upperdir=$run/left,workdir=$run/work,userxattr" "$given"
IFS=:
for folder in $kept; do
    mkdir -p "$run$folder"; mount --rbind "$folder" "$run$folder"; mount -o remount,bind,ro "$run$folder"
done
IFS='
'
case $given in /tmp/*) mkdir -p "$run$given"; mount --bind "$given" "$run$given" ;; esac
mount --rbind "$run/tmp" /tmp
set +e
for one in $mounts; do mount -o remount,bind,ro "$one" 2>/dev/null || [ ! -w "$one" ] || exit 125; done
mount -t tmpfs tmpfs /dev/shm
cd "$given/project" || exit 125
"$@"
code=$?
left=$((seconds * 10))
while set -- /proc/[0-9]*; [ $# -gt 1 ] && [ $left -gt 0 ]; do left=$((left - 1)); sleep 0.1; done
exit $code
"""
OURS = re.compile("state/(?!plugins/)")
TIMED = re.compile(r"(^|/)\.git/(.*/)?(index$|objects/)")
NUMBERS = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{6,}|\d+")


class Seen(NamedTuple):
    """The result of one start: what the agent reads in the answer, and the files that were written."""

    answer: dict[str, Any]
    left: dict[str, str]
    code: int


class LeftOut(Exception):
    """Why a hook is not compared: it does not end, or cannot be started here."""


@dataclass
class Unit:
    """A project with its config, or a plugin: a copy, as the hooks find it."""

    repository: str
    shown: str
    given: Path  # the home; the project is below it
    hosts: list[str]
    root: Path | None = None  # of a plugin

    @property
    def project(self) -> Path:
        return self.given / "project"


@dataclass
class Tally:
    hooks: int = 0
    cases: int = 0
    same: int = 0
    acted: int = 0
    failed: int = 0
    timed: int = 0  # counted in `same`: only numbers differ, and they also differ without onehook
    unsteady: int = 0  # its own answers differ from each other


@dataclass
class Report:
    repositories: set[str] = field(default_factory=set)
    configs: set[str] = field(default_factory=set)
    tallies: dict[str, Tally] = field(default_factory=dict)
    differences: list[dict[str, Any]] = field(default_factory=list)
    unsteady: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)

    def leave_out(self, where: str, hook: str, why: str) -> None:
        self.left_out.append({"hook": f"{where}: {' '.join(hook.split())[:120]}", "why": why})


# ---- projects and plugins ----


def units(repository: Path, hosts: list[str], scratch: Path) -> Iterator[Unit]:
    """A copy of each project and each plugin in a repository."""
    nowhere = Machine(Path("/home"), Path("/project"))
    markers = {place.path.relative_to("/project").parts[0]: host for host in hosts for place in places_of(host, "project", nowhere)}
    for number, folder in enumerate(_folders(repository)):
        shown = str(folder.relative_to(repository))
        marked = any((folder / name).is_dir() for name in markers)
        if found := [host for host in hosts if any(_configs(host, folder))] if marked else []:
            yield Unit(repository.name, shown, scratch / f"{number}" / "home", found)
        if found := [host for host in hosts if _is_plugin(host, folder)] if folder.name not in markers else []:
            yield Unit(repository.name, f"{shown} (plugin)", scratch / f"{number}p" / "home", found, folder)


def _folders(repository: Path) -> Iterator[Path]:
    for name, below, _ in os.walk(repository):
        below[:] = sorted(one for one in below if one not in SKIPPED_FOLDERS)
        yield Path(name)


def _configs(host: str, project: Path) -> Iterator[Path]:
    machine = Machine(Path("/nowhere"), project)
    read_from = config_of(host).TRAITS.read_from
    places = read_from(machine, "project") if read_from else places_of(host, "project", machine)
    yield from (place.path for place in places if place.path.is_file())
    folder = load(host, "imports").PLUGINS.pages_below(machine, "project")
    yield from folder.glob("**/*.md") if folder else ()


def _is_plugin(host: str, folder: Path) -> bool:
    """A folder with a manifest that tells which agent the plugin is for, or with hooks where the plugins of most agents have them."""
    known = load(host, "imports").PLUGINS
    marked = any("/" in mark and (folder / mark).is_file() for mark in known.marks)
    return marked or ((folder / "hooks" / "hooks.json").is_file() and plugins.agent_of(folder) == host)


def prepare(unit: Unit, repository: Path) -> None:
    """Create a home with a project in it, which is a git repository; and the plugin."""
    source = repository / unit.shown.removesuffix(" (plugin)")
    if unit.root:
        copied = unit.given / "plugins" / (source.name if source != repository else repository.name)
        shutil.copytree(source, copied, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules"))
        unit.root = copied
        unit.project.mkdir()
    else:
        shutil.copytree(source, unit.project, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules"))
    for name, text in FILES.items():
        path = unit.project / name
        if not path.exists() and not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    identity = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000000 +0000"}
    origin = ["remote", "add", "origin", "https://git.example/a/project.git"]
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]
    for words in (["init", "-q", "-b", "main"], origin, ["add", "-A"], commit):
        subprocess.run(["git", *words], cwd=unit.project, env={**os.environ, **identity}, check=False, capture_output=True)
    (unit.project / ".git/info").mkdir(parents=True, exist_ok=True)
    (unit.project / ".git/info/exclude").write_text("/onehook.toml\n")


def hooks_of(unit: Unit) -> Iterator[Taken]:
    machine = Machine(unit.given, unit.project)
    for host in unit.hosts:
        if unit.root:
            yield from (Taken(host, place, hook) for place, hook in plugins.hooks_of(host, unit.root, machine, runs_already=False))
        else:
            found: Import = collect([host], "project", machine)
            yield from (*found.carried, *found.refused)


# ---- how a hook is started ----


def started(unit: Unit, words: list[str], given: bytes, env: dict[str, str], seconds: float) -> tuple[str, str, int, dict[str, str]]:
    """stdout, stderr, exit code and the files written. Runs in a temporary place."""
    roots = {os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, Path(onehook.__file__).parent)}
    kept = ":".join(root for root in sorted(roots) if root.startswith("/tmp/"))
    with tempfile.TemporaryDirectory(dir=unit.given.parent) as name:
        for folder in ("left", "work", "tmp"):
            (Path(name) / folder).mkdir()
        inside = ["unshare", "-rnpmf", "--kill-child", "--mount-proc", "sh", "-c", SANDBOX, "sh", str(unit.given), name, kept, "5"]
        try:
            done = subprocess.run([*inside, *words], input=given, capture_output=True, env=env, timeout=seconds + 10, check=False)
        except subprocess.TimeoutExpired:
            raise LeftOut(f"it did not end in {seconds:g} s") from None
        left = {**_written(Path(name) / "left"), **{f"/tmp/{path}": text for path, text in _written(Path(name) / "tmp").items()}}
        _remove(Path(name) / "work")
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode, left


def _remove(folder: Path) -> None:
    """Make removable: the folder that the kernel uses for an overlay has no permissions."""
    for path in folder.iterdir():
        path.chmod(0o700)


def _written(layer: Path) -> dict[str, str]:
    """The files of a layer, in which a removed file is a device. Without onehook's own files, and git's files that contain times."""
    found: dict[str, str] = {}
    for folder, _, names in os.walk(layer):
        for name in names:
            path = Path(folder) / name
            shown = str(path.relative_to(layer))
            if OURS.match(shown) or TIMED.search(shown):
                continue
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                found[shown] = f"-> {os.readlink(path)}"
            elif stat.S_ISREG(mode):
                found[shown] = path.read_bytes().decode("utf-8", "backslashreplace")
            else:
                found[shown] = "(removed)" if stat.S_ISCHR(mode) else "(special)"
    return found


def natively(unit: Unit, taken: Taken, entry: dict[str, Any], event: Event, env: dict[str, str], seconds: float) -> Seen:
    """As the agent starts it: with the command from the config."""
    env = {**env, **_plugin_variables(unit, taken), **(entry.get("env") or {})}
    out, err, code, left = started(unit, _words(unit, taken, entry), event._raw + b"\n", env, seconds)
    if taken.hook.background or taken.hook.wake:
        return Seen({}, left, code)  # nobody waits for its answer
    return Seen(_read(taken, event, out, err, code), left, code)


def _words(unit: Unit, taken: Taken, entry: dict[str, Any]) -> list[str]:
    text = next(entry[key] for key in ("bash", "command", "exec") if isinstance(entry.get(key), str))
    words = [text, *map(str, entry["args"])] if "args" in entry else [*shell_of(taken.host), text]
    inserted = {**_plugin_variables(unit, taken), **_inserted(unit, taken)}
    words = [_with(word, inserted) for word in words]
    limit = ["timeout", "--foreground", "-s", "KILL", f"{taken.hook.timeout:g}"]
    made = ["sh", "-c", 'mkdir -p "$0"; exec "$@"', str(data_of(unit))] if unit.root and facts(taken.host).MAKES_PLUGIN_DATA else []
    where = ["env", f"--chdir={_folder(unit, taken, entry)}"]
    return [*made, *limit, *where, *words]


def _folder(unit: Unit, taken: Taken, entry: dict[str, Any]) -> Path:
    """The project, unless the config names another folder; some agents start plugins elsewhere."""
    if unit.root and facts(taken.host).starts_in_plugin(taken.hook.event):
        return unit.root
    return unit.project / (entry.get("cwd") or "")


def _inserted(unit: Unit, taken: Taken) -> dict[str, str]:
    """What the agent itself replaces in the command, before a shell sees it."""
    own = dict.fromkeys(load(taken.host, "imports").PLUGINS.replaced, str(unit.root)) if unit.root else {}
    return {**own, "/": "/", "CLAUDE_PROJECT_DIR": str(unit.project)}


def _with(word: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"${{{name}}}", value)
    return word


def _plugin_variables(unit: Unit, taken: Taken) -> dict[str, str]:
    if unit.root is None:
        return {}
    known = load(taken.host, "imports").PLUGINS
    return {**dict.fromkeys(known.roots, str(unit.root)), **dict.fromkeys(known.data, str(data_of(unit)))}


def data_of(unit: Unit) -> Path:
    """The folder for a plugin's data: the one that onehook uses, so that the paths are the same."""
    return Path(state_folder()) / "plugins" / (unit.root or unit.given).name


def through(unit: Unit, taken: Taken, event: Event, env: dict[str, str], seconds: float) -> Seen:
    """As the agent starts what `onehook install` writes."""
    program = [sys.executable, "-I", "-S", str(LAUNCHER), str(unit.project / "onehook.toml")]
    words = [*program, "--host", taken.host, "--event", event.native_event]
    out, err, code, left = started(unit, words, event._raw + b"\n", env, seconds)
    return Seen(_read(taken, event, out, err, code), left, code)


def _read(taken: Taken, event: Event, out: str, err: str, code: int) -> dict[str, Any]:
    """What the agent makes of an answer; nothing if the hook failed. An allow that only means "continue" does not count."""
    try:
        heard: Response = load(taken.host, "reverse").answer(event, out, err, code, taken.hook.event)
    except OnehookError:
        return {"decision": "deny"} if taken.hook.closed and wire_of(taken.host).EVENTS[taken.hook.event].gates else {}
    found = {name: getattr(heard, name) for name in heard.given()}
    if found.get("decision") == "allow" and wire_of(taken.host).caps(event)["approve"].kind != "honoured":
        del found["decision"]
    if found.get("user_message") == found.get("reason"):
        found.pop("user_message", None)  # one message for both readers
    return {name: value for name, value in found.items() if value not in ("", {})}


# ---- which events it is started for ----


def entry_of(taken: Taken) -> tuple[dict[str, Any], object]:
    """The hook as it is in its config, and its matcher."""
    path = taken.place.path
    if path.suffix == ".md":
        data: Any = {"hooks": Page(path.read_text(encoding="utf-8")).get("hooks")}
    else:
        data = Document(path, "jsonc" if path.suffix == ".json" else taken.place.format).data()
    if taken.place.scope == "plugin" and not isinstance(data.get("hooks", {}).get("hooks", []), list):
        data = data["hooks"]  # in the plugin's manifest, nested one level deeper
    steps = [data]
    for step in taken.hook.path:
        steps.append(steps[-1][step])
    group = steps[-3] if taken.hook.path[-2:-1] == ("hooks",) else steps[-1]
    return steps[-1], group.get("matcher")


def lets_through(taken: Taken, matcher: object, event: Event) -> bool:
    """Whether the agent starts it, according to the agent's own rules for matchers and not to what import makes of them."""
    if matcher in (None, "", "*", ".*") or not isinstance(matcher, str):
        return True
    subjects = _subjects(taken, event)
    if subjects is None:
        return True
    known = facts(taken.host)
    if known.LISTED_NAMES and re.fullmatch(known.LISTED_NAMES, matcher):
        return any(word.strip() in subjects for word in re.split("[|,]", matcher))
    return any(known.matches(matcher, subject, event.event in TOOL_EVENTS) for subject in subjects)


def _subjects(taken: Taken, event: Event) -> list[str] | None:
    """What a matcher is compared with; None if the matcher is ignored."""
    body, known = json.loads(event._raw), facts(taken.host)
    if taken.hook.event in known.OWN_SUBJECTS:
        return [body[key] if (key := known.OWN_SUBJECTS[taken.hook.event]) in body else key]
    if event.event in TOOL_EVENTS:
        name = body.get("tool_name") or body.get("toolName") or ""
        tool = wire_of(taken.host).TOOLS.get(name)
        return [name, *(tool.names if tool and known.other_names_count(taken.hook.event) else ())]
    if event.event not in known.SUBJECTS:
        return None
    return [str(body.get(known.SUBJECTS[event.event], ""))]


def cases(unit: Unit, taken: Taken, matcher: object, policy: Any) -> Iterator[tuple[Fire, Event, bool, bool]]:
    """(what happens, the event, whether the agent starts it, whether onehook does), ordered so that different tools come first."""
    own = wire_of(taken.host).EVENTS[taken.hook.event].event
    fires = [fire for fire in FIRES if fire[0] == own] or [(own, "", {})]
    for unified, tool, fields in sorted(fires, key=lambda fire: sum(other[1] == fire[1] for other in fires[: fires.index(fire)])):
        agent = {"agent_id": "a-1", "agent_type": taken.hook.agent_types[0]} if taken.hook.agent_types else {}
        try:
            event = event_on(taken.host, (unified, tool, {**fields, **agent}), unit.project, taken.hook.event, TALK)
        except NotThere:
            continue
        wanted = any(True for _ in policy.wanting(event))
        yield (unified, tool, fields), event, lets_through(taken, matcher, event), wanted


# ---- the comparison ----


def compare(unit: Unit, taken: Taken, report: Report, seconds: float) -> None:
    where = f"{unit.repository}/{unit.shown} {taken.origin}"
    entry, matcher = entry_of(taken)
    text = manifest_string(Import(carried=[taken]), "onehook.toml")
    (unit.project / "onehook.toml").write_text(text, encoding="utf-8")
    policy = load_manifest(str(unit.project / "onehook.toml"), text.encode())
    report.repositories.add(unit.repository)
    report.configs.add(f"{unit.repository}/{unit.shown} {taken.host} {taken.place.path.name}")
    tally, count = report.tallies.setdefault(taken.host, Tally()), 0
    for fire, event, starts, wanted in cases(unit, taken, matcher, policy):
        told = {"hook": f"{where}: {taken.hook.shown[:160]}", "host": taken.host, "event": f"{taken.hook.event} {fire[1]}".strip()}
        narrowed = any(key in entry for key in ("if", "commandRegex"))
        if starts != wanted and not narrowed:
            report.differences.append({**told, "matcher": matcher, "agent starts it": starts, "onehook starts it": wanted})
        if not (wanted if narrowed else starts and wanted) or count == EVENTS_EACH:
            continue
        count += 1
        try:
            _compare_case(unit, taken, entry, event, told, tally, report, seconds)
        except LeftOut as error:
            report.leave_out(where, taken.hook.shown, str(error))
            return
    tally.hooks += bool(count)
    if not count:
        report.leave_out(where, taken.hook.shown, "none of the events that are tried here starts it")


def _compare_case(
    unit: Unit, taken: Taken, entry: dict[str, Any], event: Event, told: dict[str, str], tally: Tally, report: Report, seconds: float
) -> None:
    env = {**environment(taken.host, event, unit.project), **facts(taken.host).OWN_VARIABLES}
    if event.event == "SessionStart" and (name := load(taken.host, "reverse").ENV_FILE):
        env[name] = str(unit.given / "session.env")
    native = natively(unit, taken, entry, event, env, seconds)
    if native.code in (126, 127):
        raise LeftOut("a program that it needs is not installed here")
    seen = through(unit, taken, event, env, seconds)
    tally.cases += 1
    tally.acted += bool(native.answer or native.left)
    tally.failed += native.code not in (0, 2)
    if alike(native, seen):
        tally.same += 1
        return
    again = natively(unit, taken, entry, event, env, seconds)
    told = {**told, **changed(native, seen)}
    if alike(masked(native), masked(seen)) and not alike(native, again):  # it writes the time, or a number that changes each time
        tally.same += 1
        tally.timed += 1
    elif alike(masked(native), masked(again)):
        report.differences.append(told)
    else:
        tally.unsteady += 1
        report.unsteady.append({**told, "without onehook, twice": changed(native, again)})


def alike(one: Seen, other: Seen) -> bool:
    return one.answer == other.answer and one.left == other.left


def masked(seen: Seen) -> Seen:
    text = NUMBERS.sub("#", json.dumps([seen.answer, sorted((NUMBERS.sub("#", path), text) for path, text in seen.left.items())]))
    return Seen({"all": text}, {}, 0)


def changed(one: Seen, other: Seen) -> dict[str, Any]:
    """Only what differs."""
    paths = sorted(path for path in {*one.left, *other.left} if one.left.get(path) != other.left.get(path))
    files = {path: [(side.left.get(path) or "(none)")[:300] for side in (one, other)] for path in paths}
    answers = {"answer": [one.answer, other.answer]} if one.answer != other.answer else {}
    return {**answers, **({"files": files} if files else {}), "exit codes": [one.code, other.code]}


def unfit(taken: Taken) -> str:
    """Why a hook is not tried at all, or "" if it is."""
    reasons = {
        "a model judges it": taken.hook.prompt,
        "it runs only once a skill has started": taken.hook.skills,
        "it stays where it is, as does another hook of its file": taken.hook.hosts and taken.host not in taken.hook.hosts,
    }
    return taken.hook.refused or next((why for why, holds in reasons.items() if holds), "")


def examine(repository: Path, hosts: list[str], report: Report, seconds: float) -> None:
    known: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="onehook-published-") as name:
        for unit in units(repository, hosts, Path(name)):
            prepare(unit, repository)
            os.environ["ONEHOOK_STATE_DIR"] = str(unit.given / "state")
            try:
                found = list(hooks_of(unit))
            except ConfigError as error:
                report.leave_out(f"{unit.repository}/{unit.shown}", "all of the file", str(error))
                found = []
            for taken in found:
                if why := unfit(taken):
                    report.leave_out(f"{unit.repository}/{unit.shown} {taken.origin}", taken.hook.shown, why)
                    continue
                alias = json.dumps([taken.host, taken.hook.event, *map(str, entry_of(taken))])
                if alias not in known:
                    known.add(alias)
                    compare(unit, taken, report, seconds)
            shutil.rmtree(unit.given.parent, ignore_errors=True)


def contained() -> bool:
    """Whether hooks can be isolated from the files and the network of this machine."""
    with tempfile.TemporaryDirectory() as name:
        unit = Unit("", "", Path(name) / "home", [])
        unit.project.mkdir(parents=True)
        return shutil.which("unshare") is not None and started(unit, ["true"], b"", dict(os.environ), 20)[2] == 0


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--hosts", default="", help="only hooks of these agents, comma-separated")
    parser.add_argument("--seconds", type=float, default=20, help="how long one start of a hook may take")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    given = parser.parse_args(arguments)
    if not contained():
        sys.exit("this needs Linux with user namespaces and overlayfs, to keep other people's hooks away from your files and the network")
    hosts = [host for host in HOSTS if host in having("imports") and (not given.hosts or host in given.hosts.split(","))]
    report = Report()
    for number, folder in enumerate(given.folders, 1):
        print(f"{number}/{len(given.folders)} {folder.name}", file=sys.stderr)
        examine(folder.resolve(), hosts, report, given.seconds)
    print(json.dumps(as_dict(report), indent=1) if given.json else as_text(report))
    sys.exit(bool(report.differences))


def as_dict(report: Report) -> dict[str, Any]:
    return {
        "repositories": sorted(report.repositories),
        "configs": sorted(report.configs),
        "agents": {host: vars(tally) for host, tally in report.tallies.items()},
        **{name: getattr(report, name) for name in ("differences", "unsteady", "left_out")},
    }


def as_text(report: Report) -> str:
    lines = [f"{'agent':10}{'hooks':>7}{'cases':>7}{'same':>7}{'said or left something':>24}"]
    lines += [f"{host:10}{one.hooks:7}{one.cases:7}{one.same:7}{one.acted:24}" for host, one in report.tallies.items()]
    lines.append(f"{len(report.repositories)} repositories, {len(report.configs)} configs and plugins")
    for title, entries in (("differs", report.differences), ("differs each time", report.unsteady)):
        lines += [f"{title}: {json.dumps(entry, indent=1)}" for entry in entries]
    return "\n".join([*lines, *(f"left out: {entry['hook']}: {entry['why']}" for entry in report.left_out)])


if __name__ == "__main__":
    main()
