"""The runtime that --portable adds to a repository: everything that a decision needs, in two files that linters ignore."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from harness import launcher, process, reason_of, tool_payload

from onehook.cache import PACKAGE
from onehook.hosts import HOSTS
from onehook.setup.installed import rows
from onehook.setup.runtime import ARCHIVE, LAUNCH, edited_files, installed_version, runtime_files
from onehook.version import VERSION
from tests.setup.installing import Place, change_runtime
from tests.test_hot_path import INTERPRETERS

RULES = """fail = "closed"
packs = ["recommended"]
[[rule]]
id = "own"
command = "deploy * --prod"
reason = "not from here"
"""


def names() -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(runtime_files()[ARCHIVE])) as archive:
        return archive.getnames()


def test_the_runtime_is_two_small_files() -> None:
    assert set(runtime_files()) == {"launch", "runtime.tar.gz"}
    assert len(runtime_files()[ARCHIVE]) < 500_000  # what pre-commit's check-added-large-files allows


def copied(folder: Path) -> str:
    folder.mkdir()
    for name, content in runtime_files().items():
        (folder / name).write_bytes(content)
    return str(folder / LAUNCH)


@pytest.mark.parametrize("python", INTERPRETERS.values(), ids=[f"python{version}" for version in INTERPRETERS])
def test_every_module_of_it_can_be_imported_by_every_interpreter(tmp_path: Path, python: str) -> None:
    modules = [name[:-3].replace("/", ".").removesuffix(".__init__") for name in names() if name.endswith(".py")]
    assert not [name for name in modules if name.startswith(("onehook.cli", "onehook.setup", "onehook.prove", "onehook.lint"))]
    (tmp_path / "policy.py").write_text(f"""
from onehook import Hooks, deny
for name in {modules}:
    if name not in ("onehook.launch", "onehook.manifest.programs_windows"):
        __import__(name)
hooks = Hooks()
@hooks.on("PreToolUse")
def no(event): return deny("all there")
""")
    launch = copied(tmp_path / ".onehook")
    for _ in range(2):  # without a cache, and with one
        result = process(launcher(tmp_path / "policy.py", "--host", "claude", launch=launch, python=python), tool_payload("claude"))
        assert reason_of(result, "claude") == "all there"
    assert len(list((tmp_path / ".onehook" / "__pycache__").glob("start-*"))) == 1


def test_it_knows_every_host(tmp_path: Path) -> None:
    place = Place(tmp_path)
    launch = copied(tmp_path / ".onehook")
    for host in HOSTS:
        result = process(launcher(place.policy, "--host", host, launch=launch), tool_payload(host, "rm -rf x"))
        assert reason_of(result, host) == "rm -rf is blocked"


def test_it_takes_nothing_from_the_installed_onehook_or_from_beside_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.policy.write_text("""
import sys, onehook
from onehook import Hooks, deny
hooks = Hooks()
@hooks.on("PreToolUse")
def no(event): return deny("|".join([*sys.path, onehook.core.__file__]))
""")
    launch = copied(tmp_path / ".onehook")
    (tmp_path / ".onehook" / "json.py").write_text("raise SystemExit(1)\n")
    told = str(reason_of(process(launcher(place.policy, "--host", "claude", launch=launch), tool_payload("claude")), "claude"))
    assert str(PACKAGE) not in told and told.endswith(f"{tmp_path}/.onehook/runtime.tar.gz/onehook/core.py")
    assert str(tmp_path / ".onehook") not in told.split("|")[:-1]


def test_a_runtime_that_was_replaced_is_not_taken_from_the_cache(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude"], portable=True)
    argv = launcher(place.policy, "--host", "claude", launch=str(place.project / ".onehook" / "launch"))
    assert reason_of(process(argv, tool_payload("claude", "rm -rf x")), "claude") == "rm -rf is blocked"
    change_runtime(place.project, "onehook/hosts/claude/wire.py", lambda source: source.replace(b"permissionDecisionReason=", b"other="))
    assert '"other": "rm -rf is blocked"' in process(argv, tool_payload("claude", "rm -rf x")).stdout


@pytest.mark.parametrize("python", [path for version, path in INTERPRETERS.items() if version not in ("3.9", "3.10")])
def test_it_runs_a_rules_file_with_packs(tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rules = tmp_path / "onehook.toml"
    rules.write_text(RULES)
    argv = launcher(rules, "--host", "claude", launch=copied(tmp_path / ".onehook"), python=python)
    for _ in range(2):  # compiled, and from the cache
        assert "not from here" in str(reason_of(process(argv, tool_payload("claude", "deploy web --prod")), "claude"))
        assert "git.push-force" in process(argv, tool_payload("claude", "git push --force origin main")).stdout
        assert process(argv, tool_payload("claude", "ls")).stdout == ""


@pytest.mark.parametrize("python", [path for version, path in INTERPRETERS.items() if version in ("3.9", "3.10")])
def test_a_python_that_cannot_read_rules_says_so_and_fails_closed(tmp_path: Path, python: str) -> None:
    (tmp_path / "onehook.toml").write_text(RULES)
    argv = launcher(tmp_path / "onehook.toml", "--host", "claude", launch=copied(tmp_path / ".onehook"), python=python)
    assert "a rules file needs Python 3.11 or newer" in str(reason_of(process(argv, tool_payload("claude")), "claude"))


@pytest.mark.parametrize("tool", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy", "--strict"]], ids=" ".join)
def test_no_linter_has_anything_to_say_about_it(tmp_path: Path, tool: list[str]) -> None:
    place = Place(tmp_path)
    place.policy.write_text('"""A policy."""\n\nfrom onehook import Hooks\n\nhooks = Hooks()\n')
    place.install(["claude"], portable=True)
    options = ["--isolated", "--select", "ALL", "--ignore", "D203,D213,INP001,CPY001"] if tool[1] == "check" else []
    done = subprocess.run(
        [Path(sys.executable).with_name(tool[0]), *tool[1:], *options, "."], cwd=place.project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_runtime_knows_its_version(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert installed_version(place.project / ".onehook") == ""
    place.install(["claude"], portable=True)
    assert installed_version(place.project / ".onehook") == VERSION


def test_status_says_when_the_runtime_is_old_and_an_install_renews_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude"], portable=True)
    change_runtime(place.project, "onehook/version.py", lambda _: b'VERSION = "0.0.1"\n')
    (row,) = rows(place.machine)
    assert f"is 0.0.1, the installed onehook is {VERSION}" in row.note
    assert place.install(["claude"], portable=True).edits
    (row,) = rows(place.machine)
    assert row.note == "" and row.portable


def test_another_compression_of_the_same_archive_is_the_same_runtime(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude"], portable=True)
    before = (place.project / ".onehook" / ARCHIVE).read_bytes()
    change_runtime(place.project, "", bytes)
    assert (place.project / ".onehook" / ARCHIVE).read_bytes() != before
    assert edited_files(place.project / ".onehook") == []
    assert not place.install(["claude"], portable=True).edits


def test_the_runtime_stays_while_another_host_starts_it_and_then_goes_with_its_cache(tmp_path: Path) -> None:
    place = Place(tmp_path)
    before = place.snapshot()
    place.install(["claude", "codex"], portable=True)
    cache = place.project / ".onehook" / "__pycache__"
    cache.mkdir()
    for kind in ("start", "module", "modules", "policy"):  # "modules" was written up to 0.1
        (cache / f"{kind}-0123.cpython-311.pyc").write_bytes(b"x")
    place.uninstall(["claude"])
    assert (place.project / ".onehook" / "launch").is_file()
    place.uninstall(["codex"])
    assert place.snapshot() == before


@pytest.mark.parametrize("kept", ["notes.txt", "runtime/mine/README.md"])
def test_what_somebody_else_put_into_the_folder_stays(tmp_path: Path, kept: str) -> None:
    place = Place(tmp_path)
    place.install(["claude"], portable=True)
    mine = place.project / ".onehook" / kept
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    place.uninstall(["claude"])
    left = [path for path in (place.project / ".onehook").rglob("*") if path.is_file()]
    assert left == [mine]


def test_the_files_name_no_machine(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude", "cursor", "codex"], portable=True)
    for path in (".claude/settings.json", ".cursor/hooks.json", ".codex/hooks.json"):
        text = (place.project / path).read_text()
        assert str(tmp_path) not in text and json.loads(text)
