"""The pytest plugin, in separate pytest runs."""

from __future__ import annotations

import pytest

from onehook.hosts import HOSTS

pytest_plugins = "pytester"

POLICY = """
from onehook import Hooks, ask, deny

hooks = Hooks()


@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked")
    if "push" in event.command:
        return ask("push?")
"""
WITHOUT = HOSTS[-1]
DENIED = 'def test_it(fire):\n    fire("Bash", command="rm -rf /").assert_denied("rm -rf")\n'
ASKED = 'fire("Bash", command="git push").assert_asked()\n'


@pytest.fixture
def project(pytester):
    pytester.makepyfile(policy=POLICY)
    return pytester


def test_the_policy_beside_the_test_is_fired_on_every_host(project):
    project.makepyfile(test_it=f"{DENIED}    assert set(fire.hosts) == {set(HOSTS)!r}\n")
    project.runpytest("--strict-markers").assert_outcomes(passed=1)


def test_a_failure_names_the_hosts(project):
    project.makepyfile(test_it=f"def test_it(fire):\n    {ASKED}")
    result = project.runpytest("--onehook-hosts=claude,cursor,codex,contract")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*not asked about on cursor, codex, contract*", "E*cursor*blocked*", "E*codex*blocked*", "*as expected on claude*"]
    )
    result.stdout.no_fnmatch_line("*fired.py*")  # the frames of the assertions are hidden


def test_the_marker_hosts_chooses(project):
    project.makepyfile(
        test_it=f"""
import pytest

@pytest.mark.hosts("claude")
def test_only_claude(fire):
    {ASKED}
@pytest.mark.hosts(without="{WITHOUT}")
def test_without(fire):
    assert fire.hosts == {[host for host in HOSTS if host != WITHOUT]!r}

@pytest.mark.hosts("cloude")
def test_slip(fire):
    pass
"""
    )
    result = project.runpytest("--strict-markers")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*unknown agent 'cloude'. Did you mean claude?*"])


@pytest.mark.parametrize("how", ["option", "ini"])
def test_hosts_of_the_whole_run(project, how):
    project.makepyfile(test_it=f"def test_it(fire):\n    {ASKED}")
    if how == "ini":
        project.makeini("[pytest]\nonehook_hosts = claude\n")
    project.runpytest(*(["--onehook-hosts=claude"] if how == "option" else [])).assert_outcomes(passed=1)


def test_the_policy_of_the_repository_is_found(pytester):
    pytester.mkdir(".hooks").joinpath("policy.py").write_text(POLICY)
    pytester.mkdir("tests").joinpath("test_it.py").write_text(DENIED)
    pytester.makeini("[pytest]\n")
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize("how", ["option", "ini", "marker"])
def test_the_policy_can_be_named(pytester, how):
    pytester.mkdir("policies").joinpath("mine.py").write_text(POLICY)
    pytester.makeini("[pytest]\n" + ("onehook_policy = policies/mine.py\n" if how == "ini" else ""))
    marker = 'import pytest\npytestmark = pytest.mark.policy("policies/mine.py")\n' if how == "marker" else ""
    pytester.makepyfile(test_it=marker + DENIED)
    pytester.runpytest(*(["--onehook-policy=policies/mine.py"] if how == "option" else [])).assert_outcomes(passed=1)


def test_a_policy_that_is_not_there_is_reported_with_the_remedy(pytester):
    pytester.makepyfile(test_it=DENIED)
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no policy to test; looked for *policy.py*--onehook-policy*"])
    pytester.runpytest("--onehook-policy=nowhere.py").stdout.fnmatch_lines(["*--onehook-policy: *nowhere.py does not exist*"])


def test_a_marker_without_a_path_is_refused(pytester):
    pytester.makepyfile(test_it=f"import pytest\npytestmark = pytest.mark.policy\n{DENIED}")
    pytester.runpytest().stdout.fnmatch_lines(["*the policy marker takes one path*"])


@pytest.mark.parametrize("how", ["option", "marker"])
def test_real_processes_on_request(project, how):
    body = 'def test_it(fire):\n    assert fire.processes\n    fire("Bash", command="rm -rf /").assert_denied("rm -rf")\n'
    project.makepyfile(test_it=("import pytest\npytestmark = pytest.mark.processes\n" if how == "marker" else "") + body)
    project.runpytest("--strict-markers", *(["--onehook-processes"] if how == "option" else [])).assert_outcomes(passed=1)


def test_in_process_is_the_default(project):
    project.makepyfile(test_it="def test_it(fire):\n    assert not fire.processes\n")
    project.runpytest().assert_outcomes(passed=1)


def test_one_test_does_not_remember_another(project):
    project.makepyfile(
        policy="from onehook import Hooks, deny\nhooks = Hooks(stop_limit=1)\nhooks.on('Stop')(lambda event: deny('again'))\n",
        test_it="""
import pytest

pytestmark = pytest.mark.hosts("claude")

@pytest.mark.parametrize("time", [1, 2])
def test_it(fire, time):
    fire("Stop", stop_hook_active=True).assert_continues("again")
    fire("Stop", stop_hook_active=True).assert_runs()
""",
    )
    project.runpytest().assert_outcomes(passed=2)


def test_a_run_that_does_not_use_it_loads_next_to_nothing(pytester):
    pytester.makepyfile(
        test_it="""
import sys

def test_it():
    ours = {name for name in sys.modules if name.split(".")[0] == "onehook"}
    assert ours == {"onehook", "onehook.core", "onehook.testing", "onehook.testing.plugin"}
    assert not {"click", "tomlkit", "rich"} & set(sys.modules)
"""
    )
    result = pytester.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:slipcover")
    result.assert_outcomes(passed=1)


def test_a_fixture_of_the_same_name_wins(pytester):
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef fire():\n    return 'theirs'\n")
    pytester.makepyfile(test_it="def test_it(fire):\n    assert fire == 'theirs'\n")
    pytester.runpytest("--strict-markers").assert_outcomes(passed=1)


def test_the_scaffolded_test_passes(pytester):
    from onehook.cli.init import template

    folder = pytester.mkdir(".hooks")
    for name in ("policy.py", "test_policy.py"):
        folder.joinpath(name).write_text(template(f"{name}.txt"))
    pytester.runpytest(".hooks").assert_outcomes(passed=5)


def test_the_help_names_the_options_and_the_markers(pytester):
    pytester.runpytest("--help").stdout.fnmatch_lines(["*--onehook-policy=PATH*", "*--onehook-processes*"])
    pytester.runpytest("--markers").stdout.fnmatch_lines(["@pytest.mark.hosts(*names, without=())*", "@pytest.mark.processes*"])
