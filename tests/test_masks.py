"""What the log masks, and what it can skip: the screens pass nothing in which a rule finds a credential."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from policies.test_secret_places import DATA, FORMS

from onehook import cache, logger, masks, screens
from onehook.logger import is_doubtful, is_long, is_remembered
from onehook.masks import make_screens, masked
from onehook.policies import secret_formats
from onehook.policies.secret_formats import FORMATS
from onehook.policies.secret_places import PLACES, find_all, mask_all
from onehook.screens import cut, is_clean
from onehook.system import log_folder


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(screens, "_screens", [])
    monkeypatch.setattr(screens, "_clean", set())
    monkeypatch.setattr(logger, "_remembered", set())
    monkeypatch.setattr(secret_formats, "_COMPILED", {})


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the screens, which take a tenth of a second to build."""
    folder = tmp_path_factory.mktemp("screens")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use(folder, monkeypatch)
        make_screens()
    return folder


def use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the folder as the cache, with nothing loaded yet."""
    monkeypatch.setattr(cache, "FOLDER", str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    forget(monkeypatch)
    assert not screens.screens() and not is_clean("ls")  # nothing is known yet


@pytest.fixture(autouse=True)
def made(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The screens, in a separate cache."""
    use(tmp_path, monkeypatch)
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    forget(monkeypatch)
    assert screens.screens()


@pytest.mark.parametrize(("form", "credential"), FORMS)
def test_no_form_of_a_credential_passes(form: str, credential: str) -> None:
    text = form.format(credential)
    assert is_long(text)
    assert not find_all(cut(text)) or not is_clean(text)
    assert masked(text) == mask_all(cut(text)) and credential not in masked(text)


def test_what_passes_holds_none_and_most_commands_pass() -> None:
    lines = [line for line in DATA.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    passing = [line for line in lines if is_clean(line)]
    assert not any(map(find_all, passing))
    assert len(passing) > 0.95 * len(lines)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.sampled_from([*PLACES.values(), *FORMATS.values()]).flatmap(lambda row: strategies.from_regex(row[1])))
def test_what_a_rule_finds_in_random_texts_does_not_pass(text: str) -> None:
    assert not (find_all(cut(text)) and is_clean(text))


def test_expressions_from_the_cache_are_those_of_re() -> None:
    for source in (*(pattern for _, pattern in PLACES.values()), secret_formats.EXAMPLE, secret_formats.NAMES):
        assert cache.expression(cache.name_of(source)) == re.compile(source), source


def test_a_change_of_the_tables_makes_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (screens, masks):
        monkeypatch.setattr(module, "stamp_of", lambda names: [(1, 2), (3, 4)])
    forget(monkeypatch)
    assert not is_clean("ls")
    make_screens()
    forget(monkeypatch)
    assert is_clean("ls")


def test_they_are_not_made_where_they_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FOLDER", "/nowhere")
    monkeypatch.setattr(masks, "keep_expression", lambda source: pytest.fail("compiled for nothing"))
    forget(monkeypatch)
    make_screens()


def test_a_damaged_file_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = tmp_path.glob("credentials.*")
    data = path.read_bytes()
    for damaged in (b"", data[:100], data[:-1] + b"x"):
        path.write_bytes(damaged)
        forget(monkeypatch)
        assert not is_clean("ls")
    path.write_bytes(data)
    for path in tmp_path.glob("pattern-*"):
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    forget(monkeypatch)
    assert is_clean("ls") and not is_clean("cat src/auth/login.py --key")
    assert masked("tool --password hunter22") == "tool --password [password]"


def test_a_text_that_is_known_to_be_clean_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_clean("cat src/auth/login.py")
    monkeypatch.setattr(screens, "expression", lambda name: pytest.fail("searched again"))
    assert is_clean("cat src/auth/login.py") and masked("cat src/auth/login.py") == "cat src/auth/login.py"


def entry_about(text: str) -> dict[str, Any]:
    return {"subject": text, "reason": "", "error": "", "by": []}


def test_a_text_without_credentials_is_searched_once_for_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "rm -rf /tmp/foo --password=x"
    assert is_doubtful(text)
    assert logger.are_shortened(entry_about(text), [text])
    forget(monkeypatch)
    assert not is_doubtful(text) and is_doubtful(f"{text} ")
    file = Path(log_folder(), "clean")
    assert file.stat().st_mode & 0o777 == 0o600 and b"rm" not in file.read_bytes()
    monkeypatch.setattr(logger, "stamp_of", lambda names: [(1, 2), (3, 4)])  # other rules
    forget(monkeypatch)
    assert is_doubtful(text)


@pytest.mark.parametrize("text", ["tool --password hunter22", f"cat src/auth/{'x' * 600}"])
def test_what_has_to_be_masked_or_cut_is_not_remembered(text: str) -> None:
    logger.are_shortened(entry_about(text), [text])
    assert not is_remembered(text)


def test_a_damaged_memory_is_no_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "cat src/auth/login.py"
    logger.remember(text)
    file = Path(log_folder(), "clean")
    file.write_bytes(file.read_bytes()[:-8])
    assert not is_remembered(text)
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    assert logger.are_shortened(entry_about(text), [text])  # a link is not followed, and the line is still written
    assert not (tmp_path / "elsewhere").exists()
    forget(monkeypatch)
    assert not is_remembered(text)


def test_neither_screens_nor_masks_import_re(tmp_path: Path) -> None:
    """That alone would take longer than an event."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(cache.PACKAGE).parent)!r})
from onehook import cache
cache.FOLDER = {str(tmp_path)!r}
from onehook.masks import masked
from onehook.screens import is_clean
assert is_clean("cat src/auth/login.py") and is_clean("rm -rf /tmp/foo --password=x")
assert masked("tool --password hunter22 && echo x") == "tool --password [password] && echo x"
assert "re" not in sys.modules, sorted(sys.modules)
"""
    subprocess.run([sys.executable, "-I", "-S", "-c", script], check=True)
