"""The cache of compiled code is in onehook's own __pycache__, and is used only for the sources that it was compiled from."""

from __future__ import annotations

import marshal
import os
import shutil
import subprocess
import sys
from _imp import source_hash
from pathlib import Path

import pytest
from harness import HOSTS, PACKAGE, assert_error, clean_environment, encoded, launcher, policy_text, process, reason_of, tool_payload

import onehook.cache
from onehook.setup.runtime import closure
from tests.test_hot_path import INTERPRETERS


@pytest.fixture
def package(tmp_path):
    """A copy of onehook from which nothing has been compiled yet."""
    return copy_of_onehook(tmp_path)


def copy_of_onehook(folder):
    """Copies what an event may import and what the policies here import: half of the files."""
    copied = folder / "lib" / "onehook"
    for path in (*closure(), *(PACKAGE / "lint").glob("*.py")):
        (to := copied / path.relative_to(PACKAGE)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, to)
    return copied


@pytest.fixture
def fire(package, policy):
    return firing(package, policy)


def firing(package, policy):
    def fire(*parts, python=sys.executable, host="claude", **named):
        words = launcher(policy(*parts, **named), "--host", host, python=python, launch=str(package / "launch.py"))
        return process(words, tool_payload(host))

    return fire


def cached(package, name="start-"):
    (path,) = (package / "__pycache__").glob(f"{name}*.pyc")
    return path


def read(path):
    return marshal.loads(path.read_bytes()[8:])


def write(path, content, key=onehook.cache._KEY):
    data = marshal.dumps(content)
    path.write_bytes(source_hash(key, data) + data)


def rewritten(package, change, name="start-"):
    """Change the content of a cached file."""
    path = cached(package, name)
    write(path, change(read(path)))


def entries(package):
    """All cached modules: name -> file."""
    alone = {read(path)[0]: path for path in (package / "__pycache__").glob("module-*.pyc")}
    return {**alone, **{entry[0]: cached(package) for entry in read(cached(package))}}


SAYS_HOW = "import onehook.core, sys\nreturn deny(type(onehook.core.__loader__).__name__ + ' ' + str('__future__' in sys.modules))"


def test_the_second_event_takes_its_modules_from_the_cache(fire):
    assert reason_of(fire(SAYS_HOW), "claude") == "SourceFileLoader True"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"


def test_an_error_of_the_first_event_is_told_as_that_of_any_other(fire):
    """Not preceded by the error that there is no cache yet."""
    first, second = fire("raise ValueError('bang')"), fire("raise ValueError('bang')")
    assert "bang" in first.stderr and first.stderr == second.stderr


def test_what_one_event_has_not_loaded_is_added_by_the_next(fire, package):
    fire()
    assert "onehook.hosts.codex.wire" not in entries(package)
    fire(host="codex")
    assert {"onehook.hosts.codex.wire", "onehook.hosts.claude.wire", "onehook.cache"} <= set(entries(package))


def test_what_every_event_reads_does_not_grow_with_what_others_load(fire, package):
    fire()
    before = cached(package).read_bytes()
    for host in HOSTS:
        fire("import onehook.lint.source, onehook.rules.compile", host=host)
    assert cached(package).read_bytes() == before
    assert "onehook.rules.compile" in entries(package)
    names = [entry[0] for entry in read(cached(package))]
    assert (names[0], names[-1]) == ("onehook.cache", "onehook.runner")


def test_modules_from_the_cache_look_like_imported_ones(fire):
    """To the policy, and to what it imports."""
    look = """
        import sys
        def seen(module):
            spec = module.__spec__
            return [module.__name__, module.__file__, module.__package__, list(getattr(module, "__path__", [])), spec.name, spec.origin,
                spec.parent, spec.has_location, spec.submodule_search_locations and list(spec.submodule_search_locations)]
        def attached(name):
            folder, _, last = name.rpartition(".")
            return not folder or getattr(sys.modules[folder], last, None) is sys.modules[name]
        names = sorted(name for name in sys.modules if (name + ".").startswith("onehook.") or name == "_json")
        return deny(repr([(seen(sys.modules[name]) if name != "onehook.cache" else 0, attached(name)) for name in names]))
    """
    first, second = (reason_of(fire(look), "claude") for _ in range(2))
    assert first == second and "onehook/hosts/claude/wire.py" in first


def test_processes_that_fill_it_at_once_do_not_disturb_each_other(package, policy):
    path = policy("return deny('no')")
    words = [launcher(path, "--host", host, launch=str(package / "launch.py")) for host in HOSTS]
    crowd = [
        subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
        for line in words
    ]
    for host, one in zip(HOSTS, crowd, strict=True):
        one.stdin.write(encoded(tool_payload(host)))
        one.stdin.close()
        one.stdin = None  # so that none of them waits for it until the others have ended
    told = [(one.communicate(), one.returncode) for one in crowd]
    again = [process(line, tool_payload(host)) for host, line in zip(HOSTS, words, strict=True)]
    assert [(out.decode(), err.decode(), code) for (out, err), code in told] == [(one.stdout, one.stderr, one.exit_code) for one in again]
    assert {f"onehook.hosts.{host}.wire" for host in HOSTS} <= set(entries(package))
    assert not list((package / "__pycache__").glob("*.pyc.*"))


@pytest.mark.parametrize("name", ["words", "hosts/claude/wire"])
def test_a_module_that_was_changed_is_not_taken_from_the_cache(fire, package, name):
    fire("return deny('no')")
    source = package / f"{name}.py"
    text = "import sys; sys.stderr.write('changed')"
    source.write_text(source.read_text().replace("\nTYPE_CHECKING = False\n", f"\n{text}\nTYPE_CHECKING = False\n", 1))
    assert "changed" in fire("return deny('no')").stderr
    assert "changed" in fire("return deny('no')").stderr, "the new cache"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"


def test_if_the_cache_module_itself_is_changed_nothing_is_taken_from_the_cache(fire, package):
    fire()
    with open(package / "cache.py", "a") as file:
        file.write("\nCHANGED = 'yes'\n")
    assert reason_of(fire("from onehook import cache\nreturn deny(cache.CHANGED)"), "claude") == "yes"
    assert reason_of(fire("from onehook import cache\nreturn deny(cache.CHANGED)"), "claude") == "yes"


def test_a_copy_of_the_package_does_not_run_the_code_of_the_original(fire, package, policy, tmp_path):
    fire()
    copy = shutil.copytree(package, tmp_path / "other" / "onehook")  # with its __pycache__, and the times of the files
    words = launcher(
        policy("import onehook.core\nreturn deny(onehook.core.Event.to_dict.__code__.co_filename)"), launch=f"{copy}/launch.py"
    )
    assert reason_of(process(words, tool_payload("claude")), "claude") == f"{copy}/core.py"


DAMAGE = {
    "empty": lambda data: b"",
    "a byte": lambda data: b"x",
    "zeros": lambda data: bytes(1000),
    "cut off": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :],
    "a page of zeros": lambda data: data[:500] + bytes(min(4096, len(data) - 500)) + data[4596:],
    "a hash alone": lambda data: data[:8],
    "without a hash": lambda data: data[8:],
    "of another interpreter": lambda data: source_hash(onehook.cache._KEY + 1, data[8:]) + data[8:],
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A copy with a filled cache: each of the tests that share it leaves the files as it found them."""
    folder = tmp_path_factory.mktemp("filled")
    (path := folder / "policy.py").write_text(policy_text(SAYS_HOW), encoding="utf-8")
    package = copy_of_onehook(folder)
    fire = firing(package, lambda: path)
    for _ in range(2):
        fire()
    return package, fire


@pytest.mark.parametrize("kind", ["start", "module", "policy"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_replaced(filled, kind, damage):
    package, fire = filled
    damaged = [entries(package)["onehook.hosts.claude.wire"]] if kind == "module" else [cached(package, f"{kind}-")]
    good = {path: path.read_bytes() for path in damaged}
    for path, data in good.items():
        path.write_bytes(DAMAGE[damage](data))
    how = "SourceFileLoader True" if kind == "start" else "CachedModules"
    assert reason_of(fire(), "claude").startswith(how)
    assert reason_of(fire(), "claude") == "CachedModules False"
    assert {path: path.read_bytes() for path in good} == good


@pytest.mark.parametrize(
    "content", [3, None, [], [()], {}, [("onehook.cache", "/x", 0, 0, None)], [("onehook.cache", "/x", 0, 0, "x = 1")]]
)
def test_a_file_of_another_version_is_replaced(fire, package, content):
    fire()
    write(cached(package), content)
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"


def test_an_extension_module_of_another_interpreter_is_not_loaded(fire, package, tmp_path):
    """Two interpreters of one version use the same names for compiled files but have different extension modules."""
    fire()
    if "_json" not in entries(package):
        pytest.skip("built into this interpreter")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir(exist_ok=True)
    (tmp_path / "lib" / version).symlink_to(Path(os.__file__).parent)
    other = shutil.copy(sys._base_executable, tmp_path / "bin" / version)
    for _ in range(2):
        answer = fire("import _json\nreturn deny(_json.__file__)", python=str(other))
        assert reason_of(answer, "claude").startswith(f"{tmp_path}/")


def test_an_extension_module_that_was_moved_is_found_again(fire, package):
    fire()
    if "_json" not in entries(package):
        pytest.skip("built into this interpreter")
    rewritten(package, lambda rows: [("_json", "/nowhere/_json.so", *row[2:]) if row[0] == "_json" else row for row in rows])
    assert reason_of(fire(SAYS_HOW), "claude") == "SourceFileLoader True"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"


def test_each_interpreter_has_its_own(fire, package):
    for python in INTERPRETERS.values():
        fire(SAYS_HOW, python=python)
        assert reason_of(fire(SAYS_HOW, python=python), "claude") == "CachedModules False"
    assert len(list((package / "__pycache__").glob("start-*"))) == len(INTERPRETERS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_where_nothing_can_be_written_nothing_is_cached(fire, package):
    (package / "__pycache__").mkdir(mode=0o555)
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert not list((package / "__pycache__").iterdir())


def test_where_there_is_no_folder_for_it_nothing_is_cached(fire, package):
    (package / "__pycache__").write_text("")
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert reason_of(fire("return deny('no')"), "claude") == "no"


# ---- policies ----


def test_a_policy_is_compiled_once(fire, package):
    fire("return deny('no')")
    before = cached(package, "policy-").stat().st_mtime_ns
    assert reason_of(fire("return deny('no')"), "claude") == "no"
    assert cached(package, "policy-").stat().st_mtime_ns == before


def test_cached_code_counts_for_exactly_that_source(fire, package):
    """Neither the modification time nor the size of the policy tells the two apart."""
    fire("return deny('one')")
    assert reason_of(fire("return deny('two')"), "claude") == "two"
    rewritten(package, lambda content: ((*content[0][:2], content[0][2].replace(b"two", b"six")), content[1]), "policy-")
    assert reason_of(fire("return deny('two')"), "claude") == "two"


def test_cached_code_counts_for_exactly_that_path(fire, package):
    fire("return deny(__file__)")
    rewritten(package, lambda content: ((content[0][0], "/elsewhere/policy.py", content[0][2]), content[1]), "policy-")
    assert "/elsewhere" not in reason_of(fire("return deny(guard.__code__.co_filename)"), "claude")


def test_a_policy_that_does_not_parse_is_not_cached(fire, package):
    assert_error(fire("return deny("), "SyntaxError")
    assert not list((package / "__pycache__").glob("policy-*"))


def test_a_traceback_still_shows_the_line(fire):
    for _ in range(2):
        assert "raise ValueError('bang')" in fire("raise ValueError('bang')").stderr


def test_nothing_is_cached_in_the_folder_of_the_policy(fire, policy):
    path = policy()
    fire()
    assert [entry.name for entry in path.parent.iterdir()] == ["policy.py"]


def test_no_more_than_so_many_policies_are_cached(package, tmp_path, monkeypatch):
    (package / "__pycache__").mkdir()
    monkeypatch.setattr(onehook.cache, "FOLDER", str(package / "__pycache__"))
    monkeypatch.setattr(onehook.cache, "_SLOTS", 4)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number in range(40):
        assert onehook.cache.compiled(b"x = %d" % number, f"/policy{number}.py").co_filename == f"/policy{number}.py"
    assert len(list((package / "__pycache__").iterdir())) == 4


def test_two_policies_that_share_a_place_do_not_compile_each_other_away(package, monkeypatch):
    (package / "__pycache__").mkdir()
    monkeypatch.setattr(onehook.cache, "FOLDER", str(package / "__pycache__"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    numbers = {"/a.py": 7, "/b.py": 7 + onehook.cache._SLOTS}  # the same first slot, and a different second one
    monkeypatch.setattr(onehook.cache, "_hashed", lambda path: numbers[path].to_bytes(8, "little"))
    for path in numbers:
        onehook.cache.compiled(b"x = 1", path)
    monkeypatch.setattr(onehook.cache, "keep", lambda name, content: pytest.fail(f"{name} was written again"))
    for path in (*numbers, *numbers):
        assert onehook.cache.compiled(b"x = 1", path).co_filename == path


def test_a_package_that_is_known_under_two_paths_is_cached_under_both(fire, package, policy, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(package.parent)
    words = launcher(policy(SAYS_HOW), "--host", "claude", launch=f"{link}/onehook/launch.py")
    for _ in range(2):
        fire(SAYS_HOW)
        result = process(words, tool_payload("claude"))
    assert reason_of(result, "claude") == "CachedModules False"
    assert reason_of(fire(SAYS_HOW), "claude") == "CachedModules False"
