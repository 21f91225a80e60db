"""What a policy can import, and what in the user's repository is never executed."""

from __future__ import annotations

import os
import subprocess
import sys
import venv

import pytest
from harness import ANY, ISOLATIONS, PACKAGE, assert_error, launcher, reason_of, spread, tool_payload
from harness import cold_fire as fire
from harness import cold_process as process

SHADOWS = (
    "json", "_json", "onehook", "os", "sys", "typing", "time", "re", "enum", "hashlib", "signal", "_signal", "traceback", "site",
    "sitecustomize", "usercustomize", "encodings", "codecs", "io", "subprocess", "collections", "importlib",
    "msvcrt", "_winapi", "winreg", "nt", "org", "java", "vms_lib",
)  # fmt: skip


def shadow(folder, marker):
    for name in SHADOWS:
        (folder / f"{name}.py").write_text(f"open({str(marker)!r}, 'a').write({name!r})\n")


@spread(
    {"deny": "return deny('no')", "error": "raise ValueError", "deadline": "while True: pass"}, ISOLATIONS, names="body, isolation, host"
)
def test_modules_in_the_working_directory_and_beside_the_policy_are_not_executed(policy, host, isolation, tmp_path, body):
    marker = tmp_path / "marker"
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    path = policy(body, top="import copy, json, os, pickle, platform, typing, subprocess", options="fail='closed', timeout=0.5")
    for folder in (cwd, path.parent):
        shadow(folder, marker)
    result = fire(path, tool_payload(host), "--host", host, "--isolation", isolation, cwd=cwd)
    assert reason_of(result, host)
    assert not marker.exists(), marker.read_text()


def test_python_m_onehook_in_isolated_mode_executes_nothing_of_the_working_directory(policy, tmp_path):
    marker = tmp_path / "marker"
    path = policy("return deny('no')")
    shadow(path.parent, marker)
    result = process([sys.executable, "-I", "-m", "onehook", "run", path], tool_payload(ANY), cwd=path.parent)
    assert reason_of(result, ANY) == "no"
    assert not marker.exists(), marker.read_text()


def test_variables_of_the_environment_change_nothing(policy, host, tmp_path):
    marker = tmp_path / "marker"
    evil = tmp_path / "evil"
    evil.mkdir()
    shadow(evil, marker)
    env = {
        "PYTHONPATH": str(evil),
        "PYTHONSTARTUP": str(evil / "json.py"),
        "PYTHONHOME": str(evil),
        "PYTHONUSERBASE": str(evil),
        "PYTHONPLATLIBDIR": str(evil),
        "PYTHONBREAKPOINT": "json.anything",
        "PYTHONINSPECT": "1",
        "PYTHONVERBOSE": "1",
        "PYTHONWARNINGS": "error",
        "PYTHONIOENCODING": "ascii:strict",
        "PYTHONDEBUG": "1",
        "PYTHONOPTIMIZE": "2",
    }
    path = policy("import json\nreturn deny('no \u00e9')")
    plain = fire(path, tool_payload(host), "--host", host)
    loaded = fire(path, tool_payload(host), "--host", host, env=env)
    assert reason_of(loaded, host) == "no \u00e9"
    assert (plain.stdout, plain.stderr) == (loaded.stdout, loaded.stderr)
    assert not marker.exists(), marker.read_text()


@pytest.mark.parametrize("name", ["msvcrt", "sitecustomize", "usercustomize", "json", "org"])
def test_what_the_standard_library_may_look_for_is_never_taken_from_beside_the_policy(policy, isolation, tmp_path, name):
    """A missing package causes site to be imported, which looks for sitecustomize; subprocess looks for msvcrt."""
    marker = tmp_path / "marker"
    top = f"import subprocess, copy\ntry:\n    import {name}, no_such_package\nexcept ImportError:\n    pass"
    path = policy("return deny('no')", top=top)
    (path.parent / f"{name}.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    assert reason_of(fire(path, tool_payload(ANY), "--isolation", isolation), ANY) == "no"
    assert not marker.exists()


def test_python_3_9_has_a_list_of_the_standard_library_too():
    from onehook.stdlib39 import NAMES

    since = {name for name in getattr(sys, "stdlib_module_names", NAMES) if not name.startswith("_")} - NAMES
    assert {"json", "msvcrt", "os", "subprocess", "winreg", "_winapi"} <= NAMES
    if sys.version_info[:2] in ((3, 10), (3, 11)):
        assert since <= {"tomllib"}


def test_a_package_beside_the_policy_can_be_imported(policy, isolation):
    path = policy("return deny(rules.shell.REASON)", top="import rules.shell")
    (path.parent / "rules").mkdir()
    (path.parent / "rules" / "shell.py").write_text("REASON = 'from a package'\n")
    assert reason_of(fire(path, tool_payload(ANY), "--isolation", isolation), ANY) == "from a package"


def test_a_helper_module_beside_the_policy_can_be_imported(policy, isolation):
    path = policy("return deny(house_rules.REASON)", top="import house_rules")
    (path.parent / "house_rules.py").write_text("REASON = 'from beside'\n")
    result = fire(path, tool_payload(ANY), "--isolation", isolation)
    assert reason_of(result, ANY) == "from beside"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment without pip: a package next to onehook, one reached through a .pth file, one through an editable finder."""
    base = tmp_path_factory.mktemp("environment")
    venv.create(base / "venv", with_pip=False, symlinks=True)
    python = str(base / "venv" / "bin" / "python")
    site_packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True, check=True
    ).stdout.strip()
    os.symlink(PACKAGE, os.path.join(site_packages, "onehook"))

    def module(folder, name):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{name}.py"), "w", encoding="utf-8") as file:
            file.write(f"REASON = 'from {name}'\n")

    module(site_packages, "beside_onehook")
    module(base / "pth", "behind_a_pth")
    module(base / "editable", "behind_a_finder")
    module(base / "pth", "onehook_extras")
    with open(os.path.join(site_packages, "some.pth"), "w", encoding="utf-8") as file:
        file.write(f"{base / 'pth'}\nimport editable_finder\n")
    with open(os.path.join(site_packages, "editable_finder.py"), "w", encoding="utf-8") as file:
        file.write(
            "import sys\nfrom importlib.machinery import PathFinder\n"
            "class Finder:\n    @staticmethod\n    def find_spec(name, path=None, target=None):\n"
            f"        return PathFinder.find_spec(name, [{str(base / 'editable')!r}]) if name == 'behind_a_finder' else None\n"
            "sys.meta_path.append(Finder)\n"
        )
    return python, os.path.join(site_packages, "onehook", "launch.py")


@pytest.mark.parametrize("name", ["beside_onehook", "behind_a_pth", "behind_a_finder", "onehook_extras"])
def test_packages_of_the_environment_can_be_imported_although_site_is_off(environment, policy, isolation, name):
    python, launch = environment
    path = policy(f"return deny({name}.REASON)", top=f"import {name}")
    words = launcher(path, "--host", ANY, "--isolation", isolation, python=python, launch=launch)
    assert reason_of(process(words, tool_payload(ANY)), ANY) == f"from {name}"


@pytest.mark.parametrize("name", ["no_such_package", "no_such.package", "json.no_such", "onehook.no_such", "msvcrt"])
def test_a_module_that_does_not_exist_is_a_clear_error(environment, policy, isolation, name):
    python, launch = environment
    words = launcher(policy(top=f"import {name}"), "--host", ANY, "--isolation", isolation, python=python, launch=launch)
    assert_error(process(words, tool_payload(ANY)), f"ModuleNotFoundError: No module named '{name.partition('.package')[0]}'")


def test_importing_a_module_that_probes_for_another_system_does_not_bring_site_in(environment, policy):
    python, launch = environment
    path = policy("import sys\nreturn deny(str('site' in sys.modules))", top="import subprocess")
    if sys.version_info < (3, 10):
        pytest.skip("sys.stdlib_module_names is there since 3.10")
    words = launcher(path, "--host", ANY, python=python, launch=launch)
    assert reason_of(process(words, tool_payload(ANY)), ANY) == "False"
