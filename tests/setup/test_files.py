"""Writing planned edits: checks, symlinks, modes, owners, folders."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from onehook.setup import files
from onehook.setup.files import TEMP_PREFIX, FileEdit, FilesError, ScopeError, StaleError, write
from tests.setup.killing import forked

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes and symlinks")


@pytest.fixture
def scope(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def run(scope: Path, *edits: FileEdit) -> None:
    write(edits, roots={edit.path: scope for edit in edits}, ready=lambda: None)


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_change_a_new_file_and_a_deletion_are_written(scope: Path) -> None:
    (scope / "a.json").write_bytes(b"{}")
    (scope / "gone").write_bytes(b"x")
    edits = [
        FileEdit(scope / "a.json", b"{}", b"{ }"),
        FileEdit(scope / "b/c/new.json", None, b"[]"),
        FileEdit(scope / "gone", b"x", None),
    ]
    run(scope, *edits)
    assert (scope / "a.json").read_bytes() == b"{ }"
    assert (scope / "b/c/new.json").read_bytes() == b"[]"
    assert everything_below(scope) == {"a.json", "b", "b/c", "b/c/new.json"}


def test_line_ends_and_byte_order_mark_reach_the_disk_unchanged(scope: Path) -> None:
    content = b'\xef\xbb\xbf{\r\n\t"a": 1\r\n}\x1a\n'
    run(scope, FileEdit(scope / "a.json", None, content))
    assert (scope / "a.json").read_bytes() == content


@pytest.mark.parametrize("planned", [b"old", None])
def test_a_file_that_changed_after_the_plan_stops_everything(scope: Path, planned: bytes | None) -> None:
    (scope / "a").write_bytes(b"theirs")
    with pytest.raises(StaleError, match="run this again"):
        run(scope, FileEdit(scope / "first/b", None, b"x"), FileEdit(scope / "a", planned, b"ours"))
    assert (scope / "a").read_bytes() == b"theirs"
    assert everything_below(scope) == {"a"}


def test_a_file_that_was_removed_after_the_plan_stops_everything(scope: Path) -> None:
    with pytest.raises(StaleError, match="removed"):
        run(scope, FileEdit(scope / "b", None, b"x"), FileEdit(scope / "a", b"old", b"new"))
    assert everything_below(scope) == set()


def test_an_unchanged_file_is_not_written_again(scope: Path) -> None:
    (scope / "a").write_bytes(b"same")
    before = (scope / "a").stat()
    run(scope, FileEdit(scope / "a", b"same", b"same"))
    assert (scope / "a").stat().st_ino == before.st_ino


def test_two_changes_of_one_file_are_refused(scope: Path) -> None:
    with pytest.raises(FilesError, match="one edit"):
        run(scope, FileEdit(scope / "a", None, b"1"), FileEdit(scope / "x/../a", None, b"2"))
    assert everything_below(scope) == set()


def test_a_folder_in_the_place_of_the_file_is_refused(scope: Path) -> None:
    (scope / "a").mkdir()
    with pytest.raises(FilesError, match="not a regular file"):
        run(scope, FileEdit(scope / "a", None, b"1"))


def test_a_path_outside_the_scope_is_refused(scope: Path) -> None:
    for path in (scope.parent / "other", scope / "../other", scope):
        with pytest.raises(ScopeError):
            run(scope, FileEdit(path, None, b"x"))
    assert not (scope.parent / "other").exists()


@posix
def test_a_symlinked_file_inside_the_scope_is_written_at_its_target(scope: Path) -> None:
    (scope / "real").mkdir()
    (scope / "real/settings.json").write_bytes(b"old")
    (scope / "link.json").symlink_to("real/settings.json")
    (scope / "folder").symlink_to(scope / "real")
    run(scope, FileEdit(scope / "link.json", b"old", b"new"), FileEdit(scope / "folder/fresh", None, b"1"))
    assert (scope / "link.json").is_symlink() and (scope / "folder").is_symlink()
    assert (scope / "real/settings.json").read_bytes() == b"new"
    assert (scope / "real/fresh").read_bytes() == b"1"


@posix
@pytest.mark.parametrize("link", ["file", "folder", "dangling"])
def test_a_symlink_that_leads_out_is_refused_with_both_ends_named(scope: Path, link: str) -> None:
    outside = scope.parent / "outside"
    outside.mkdir()
    (outside / "settings.json").write_bytes(b"old")
    path = scope / "settings.json"
    before: bytes | None = b"old"
    if link == "file":
        path.symlink_to(outside / "settings.json")
    elif link == "folder":
        (scope / ".agent").symlink_to("../outside")
        path = scope / ".agent/settings.json"
    else:
        path.symlink_to(outside / "missing.json")
        before = None
    with pytest.raises(ScopeError) as caught:
        run(scope, FileEdit(path, before, b"new"))
    assert str(path) in str(caught.value) and str(outside.resolve()) in str(caught.value)
    assert everything_below(outside) == {"settings.json"}
    assert (outside / "settings.json").read_bytes() == b"old"


@posix
def test_a_symlink_loop_is_refused(scope: Path) -> None:
    (scope / "a").symlink_to("b")
    (scope / "b").symlink_to("a")
    with pytest.raises(ScopeError, match="itself"):
        run(scope, FileEdit(scope / "a", None, b"x"))


@posix
def test_a_scope_that_is_itself_reached_through_a_symlink_works(scope: Path) -> None:
    alias = scope.parent / "alias"
    alias.symlink_to(scope)
    run(alias, FileEdit(alias / "a", None, b"1"))
    assert (scope / "a").read_bytes() == b"1"


@pytest.mark.parametrize("after", [b"ours", None])
@pytest.mark.parametrize("by_rename", [True, False])
@pytest.mark.parametrize("exchange", [True, False])
def test_a_save_by_another_program_after_the_check_is_kept(
    scope: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool, by_rename: bool, after: bytes | None
) -> None:
    if not exchange:
        monkeypatch.setattr("onehook.setup.files._rename_with", lambda *arguments: False)
    (scope / "a").write_bytes(b"old")

    def save() -> None:
        if by_rename:
            (scope / "saved").write_bytes(b"theirs")
            os.replace(scope / "saved", scope / "a")
        else:
            (scope / "a").write_bytes(b"theirs")

    with pytest.raises(StaleError, match="another program"):
        write([FileEdit(scope / "a", b"old", after)], roots={scope / "a": scope}, ready=save)
    assert (scope / "a").read_bytes() == b"theirs"
    assert everything_below(scope) == {"a"}


@pytest.mark.skipif(sys.platform != "linux", reason="files are exchanged in one step on Linux only")
@pytest.mark.parametrize("after", [b"ours", None], ids=["edit", "removal"])
def test_a_save_by_another_program_after_the_last_check_is_put_back(
    scope: Path, monkeypatch: pytest.MonkeyPatch, after: bytes | None
) -> None:
    (scope / "a").write_bytes(b"old")
    check = files._fresh_status

    def checked_and_then_saved(edit: FileEdit, real: Path) -> os.stat_result | None:
        status = check(edit, real)
        if ready:
            real.write_bytes(b"theirs")
        return status

    ready: list[bool] = []
    monkeypatch.setattr(files, "_fresh_status", checked_and_then_saved)
    with pytest.raises(StaleError, match="another program"):
        write([FileEdit(scope / "a", b"old", after)], roots={scope / "a": scope}, ready=lambda: ready.append(True))
    assert (scope / "a").read_bytes() == b"theirs"
    assert everything_below(scope) == {"a"}


@pytest.mark.parametrize("exchange", [True, False])
def test_a_file_that_another_program_creates_or_removes_after_the_check_stays_so(
    scope: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    if not exchange:
        monkeypatch.setattr("onehook.setup.files._rename_with", lambda *arguments: False)
    edit = FileEdit(scope / "a", None, b"ours")
    with pytest.raises(StaleError):
        write([edit], roots={edit.path: scope}, ready=lambda: (scope / "a").write_bytes(b"theirs") and None)
    assert (scope / "a").read_bytes() == b"theirs"
    for after in (b"ours", None):
        (scope / "a").write_bytes(b"theirs")
        edit = FileEdit(scope / "a", b"theirs", after)
        with pytest.raises(StaleError):
            write([edit], roots={edit.path: scope}, ready=lambda: (scope / "a").unlink())
        assert everything_below(scope) == set()


@posix
def test_a_named_pipe_in_the_place_of_the_file_is_refused_and_not_waited_for(scope: Path) -> None:
    os.mkfifo(scope / "a")
    with pytest.raises(FilesError, match="not a regular file"):
        run(scope, FileEdit(scope / "a", b"", b"1"))


@posix
def test_a_file_with_hard_links_is_refused_and_can_be_removed(scope: Path) -> None:
    (scope / "a").write_bytes(b"old")
    os.link(scope / "a", scope.parent / "dotfiles")
    with pytest.raises(FilesError, match=r"has 2 hard links.*cp -p .*nothing was changed"):
        run(scope, FileEdit(scope / "a", b"old", b"new"))
    assert (scope / "a").read_bytes() == b"old" and (scope / "a").samefile(scope.parent / "dotfiles")
    run(scope, FileEdit(scope / "a", b"old", None))
    assert (scope.parent / "dotfiles").read_bytes() == b"old"


@posix
@pytest.mark.parametrize("after", [b"new", None])
def test_a_read_only_file_is_refused(scope: Path, after: bytes | None) -> None:
    (scope / "a").write_bytes(b"old")
    (scope / "a").chmod(0o444)
    with pytest.raises(FilesError, match="read-only: make it writable first"):
        run(scope, FileEdit(scope / "b", None, b"1"), FileEdit(scope / "a", b"old", after))
    assert everything_below(scope) == {"a"} and (scope / "a").read_bytes() == b"old"


@posix
def test_a_file_or_folder_that_this_user_may_not_write_is_refused() -> None:
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        (folder / "a").write_bytes(b"old")
        folder.chmod(0o555)

        def refused() -> None:
            if os.geteuid() == 0:
                os.setuid(65534)  # root may write anywhere
            with pytest.raises(FilesError, match=r"writing failed: .*Permission denied.*changed so far: no file"):
                run(folder, FileEdit(folder / "new", None, b"1"))
            if os.stat(folder / "a").st_uid != os.geteuid():
                with pytest.raises(FilesError, match="read-only"):
                    run(folder, FileEdit(folder / "a", b"old", b"new"))

        _, status = os.waitpid(forked(refused), 0)
        folder.chmod(0o755)
        assert status == 0 and everything_below(folder) == {"a"} and (folder / "a").read_bytes() == b"old"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_changed_file_is_kept(scope: Path, mode: int) -> None:
    (scope / "a").write_bytes(b"old")
    (scope / "a").chmod(mode)
    run(scope, FileEdit(scope / "a", b"old", b"new"))
    assert stat.S_IMODE((scope / "a").stat().st_mode) == mode


@posix
def test_a_new_file_gets_the_mode_of_the_umask(scope: Path) -> None:
    old = os.umask(0o027)
    try:
        run(scope, FileEdit(scope / "a", None, b"x"))
    finally:
        os.umask(old)
    assert stat.S_IMODE((scope / "a").stat().st_mode) == 0o640


@posix
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() != 0, reason="only root can give a file away")
def test_root_keeps_the_owner_of_a_changed_file(scope: Path) -> None:
    (scope / "a").write_bytes(b"old")
    os.chown(scope / "a", 12345, 23456)
    run(scope, FileEdit(scope / "a", b"old", b"new"))
    status = (scope / "a").stat()
    assert (status.st_uid, status.st_gid) == (12345, 23456)


def test_leftovers_of_a_killed_run_are_swept_and_other_files_are_not(scope: Path) -> None:
    (scope / f"{TEMP_PREFIX}abc").write_bytes(b"half")
    (scope / ".other-tmp").write_bytes(b"theirs")
    run(scope, FileEdit(scope / "a", None, b"1"))
    assert everything_below(scope) == {"a", ".other-tmp"}


def test_a_failing_write_leaves_no_temp_file_and_no_folder(scope: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FilesError, match="disk full; changed so far: no file"):
        run(scope, FileEdit(scope / "new/a", None, b"1"))
    assert everything_below(scope) == set()


def test_nothing_is_written_before_ready_was_called(scope: Path) -> None:
    def refuse() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        write([FileEdit(scope / "new/a", None, b"1")], roots={scope / "new/a": scope}, ready=refuse)
    assert everything_below(scope) == set()
