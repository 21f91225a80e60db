"""`onehook import`: real configs of each host that can be imported from, with real hook processes."""

from __future__ import annotations

import json
import subprocess

import pytest
from harness import ANY, fire, reason_of, tool_payload

from onehook.cli.import_ import command as import_command
from onehook.core import TOOLS
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, wire_of
from onehook.setup.imports import importable
from tests.setup.importing import SOURCES, STARTS, import_facts, imported, one, onehook, programs, repository, started, uninstalled


@pytest.fixture
def repos(tmp_path):
    """Makes a repository with the hooks of a host, in a folder whose name needs quotes."""
    return lambda host: repository(tmp_path / "a repo", host)


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """The same, with its hooks imported; one for each host, for tests that only start them."""
    made = {}

    def of(host):
        if host not in made:
            made[host] = repository(tmp_path_factory.mktemp("ready") / "a repo", host)
            imported(made[host], "--from", host)
        return made[host]

    return of


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_carried_over_fires_on_its_own_host_and_on_the_others(ready, source):
    repo = ready(source)
    missed = [(host, name) for host in dict.fromkeys((source, ANY, *SOURCES)) for name in STARTS if not started(repo, name, host)]
    assert missed == []


@pytest.mark.parametrize("source", SOURCES)
def test_a_hook_is_found_and_starts_in_the_project_when_the_agent_works_below_it(ready, source):
    repo = ready(source)
    for name in ("guard", "files", "stop"):
        assert started(repo, name, ANY, repo / "src" / "deep"), name
    where = (repo / "log" / "stop.where").read_text().splitlines()[0]
    assert where == str(repo)


@pytest.mark.parametrize("source", SOURCES)
def test_a_denial_takes_effect_on_another_host_and_env_and_cwd_are_kept(ready, source):
    repo = ready(source)
    call = load(ANY, "reverse").payload(sample("PreToolUse", "Bash", command="rm -rf x", session_id="s", cwd=str(repo)))
    assert reason_of(fire(repo / "onehook.toml", call, "--host", ANY, cwd=repo), ANY) == "not here"
    where, level = (repo / "log" / "guard.where").read_text().splitlines()
    assert level == "it's 3"
    assert where == str(repo / import_facts(source).GUARD_CWD)


@pytest.mark.parametrize("source", SOURCES)
def test_a_hook_gets_the_payload_of_its_own_host(ready, source):
    repo = ready(source)
    assert started(repo, "guard", ANY)
    seen = json.loads((repo / "log" / "guard").read_text())
    assert set(seen) == set(tool_payload(source))
    assert wire_of(source).parse(seen, "").host == source


@pytest.mark.parametrize("source", SOURCES)
def test_what_cannot_be_carried_over_is_listed_line_by_line(repos, source):
    repo = repos(source)
    done = imported(repo, "--from", source)
    written = (repo / "onehook.toml").read_text()
    for shown, why in import_facts(source).REFUSED.items():
        (line,) = [line for line in done.stderr.splitlines() if line.startswith(f"NOT imported  {source} ") and f": {shown}: " in line]
        assert why in line
        assert any(shown in line and why in line for line in written.splitlines() if line.startswith("#"))
    for loss in import_facts(source).LOSSES:
        assert f"but {loss}" in done.stderr and f"#   {loss}" in written
    carried = len(STARTS) + len(import_facts(source).EXTRA)
    assert f"{carried} imported, {len(import_facts(source).REFUSED)} not imported" in done.stdout
    assert str(repo) not in written  # a manifest is for every clone


@pytest.mark.parametrize("source", SOURCES)
def test_time_outs_tools_sources_and_names_are_kept(ready, source):
    own = import_facts(source)
    found = programs(ready(source), (*STARTS, *own.EXTRA))
    assert {name: found[name][1].timeout for name in own.TIMEOUTS} == own.TIMEOUTS
    assert {name: found[name][0].tools for name in own.MATCHED} == own.MATCHED
    assert found["context"][1].sources == own.SOURCES
    assert {program.dialect for _, program in found.values()} == {source}
    assert {program.fail for _, program in found.values()} == {"open"}
    assert own.NAMED is None or found[own.NAMED[0]][1].__name__ == own.NAMED[1]


def without_comments(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def left_in(repo, source):
    """What is still in the configs of a host, by `shown`."""
    handlers = load(source, "imports").handlers
    texts = [(repo / name).read_text() for name in import_facts(source).files()]
    return [hook.shown for text in texts for hook in handlers(json.loads(without_comments(text)))]


def with_handlers(files, source):
    """The config files from which something can be carried over."""
    handlers = load(source, "imports").handlers
    return [name for name, text in files.items() if any(not hook.refused for hook in handlers(json.loads(without_comments(text))))]


@pytest.mark.parametrize("source", SOURCES)
def test_taking_over_leaves_what_was_not_carried_and_says_the_way_back(repos, source):
    repo, files = repos(source), import_facts(source).files()
    done = imported(repo, "--from", source, "--take-over")
    assert sorted(left_in(repo, source)) == sorted(import_facts(source).REFUSED)
    for name, text in files.items():
        now = (repo / name).read_text()
        if name not in with_handlers(files, source):
            assert now == text
        comments = [line for line in text.splitlines() if line.startswith("//")]
        assert [line for line in now.splitlines() if line.startswith("//")] == comments
        before, after = (json.loads(without_comments(one)) for one in (text, now))
        assert {key: value for key, value in after.items() if key != "hooks"} == {
            key: value for key, value in before.items() if key != "hooks"
        }
    ways = [line.partition("to undo: ")[2] for line in done.stdout.splitlines() if "to undo: " in line]
    assert len(ways) == len(with_handlers(files, source))
    for way in ways:
        subprocess.run(["sh", "-c", way], check=True)
    assert {name: (repo / name).read_text() for name in files} == files


@pytest.mark.parametrize("source", SOURCES)
def test_taking_over_and_installing_runs_each_hook_once(repos, source):
    repo = repos(source)
    imported(repo, "--from", source, "--take-over")
    installed = onehook(repo, "install", str(repo / "onehook.toml"), "--hosts", f"{source},{ANY}", "--yes")
    assert installed.returncode == 0, installed.stderr
    again = onehook(repo, "import", "--from", source, "--output", "again.toml")
    assert again.returncode == 1 and "found no hook and no permission to import" in again.stderr


@pytest.mark.parametrize("source", SOURCES)
def test_taking_over_installing_and_uninstalling_gives_the_first_bytes_back(repos, source):
    repo = repos(source)
    imported(repo, "--from", source, "--take-over")
    taken = {name: (repo / name).read_text() for name in import_facts(source).files()}
    assert onehook(repo, "install", str(repo / "onehook.toml"), "--hosts", source, "--yes").returncode == 0
    assert any("onehook/launch.py" in path.read_text() for path in repo.rglob("*.json"))
    assert uninstalled(repo)
    # A file that the import emptied and the install wrote to has its content from before both again.
    files = import_facts(source).files()
    assert {name: (repo / name).read_text() for name in files}.items() <= {*files.items(), *taken.items()}


def test_the_help_names_every_host_that_can_be_imported_from_and_the_others_are_explained(repos):
    repo = repos(SOURCES[0])
    assert set(SOURCES) <= set(importable())
    (option,) = [param for param in import_command.params if param.name == "hosts"]
    assert f"names of {', '.join(importable())};" in option.help
    for host in (host for host in HOSTS if host not in importable()):
        refused = onehook(repo, "import", "--from", host)
        assert refused.returncode == 2 and f"nothing to import from {host}: " in refused.stderr


MATCHERS = [(host, *case) for host in SOURCES for case in import_facts(host).MATCHERS]


@pytest.mark.parametrize(("host", "matcher", "tools"), MATCHERS)
def test_matchers_on_tools(host, matcher, tools):
    hook = one(host, import_facts(host).TOOL_EVENT, matcher=matcher)
    assert (None if hook.refused else hook.tools) == tools
    named = set(wire_of(host).TOOLS) | set(TOOLS)
    unknown = [tool for tool in hook.tools if tool not in named and not tool.startswith("mcp__")]
    assert all(any(f"the tool {tool} exists only in " in loss for loss in hook.losses) for tool in unknown)


@pytest.mark.parametrize(("host", "given", "timeout"), [(host, *case) for host in SOURCES for case in import_facts(host).UNITS])
def test_time_outs_in_each_hosts_unit(host, given, timeout):
    assert one(host, import_facts(host).STOP_EVENT, {} if given is None else {"timeout": given}).timeout == timeout


@pytest.mark.parametrize("host", [host for host in SOURCES if import_facts(host).OFF])
def test_hooks_that_are_switched_off_are_not_brought_to_life(host):
    entry, own = {"type": "command", "command": "x"}, import_facts(host)
    data = {"hooks": {own.STOP_EVENT: [entry if own.FLAT else {"hooks": [entry]}]}}
    (on,) = load(host, "imports").handlers(data)
    (off,) = load(host, "imports").handlers({**data, **own.OFF})
    assert not on.refused and "switched off" in off.refused


@pytest.mark.parametrize(("host", "handler", "why"), [(host, *case) for host in SOURCES for case in import_facts(host).UNUSABLE])
def test_what_would_not_work_elsewhere_is_refused(host, handler, why):
    assert why in one(host, import_facts(host).STOP_EVENT, handler).refused
