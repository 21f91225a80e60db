"""The diff that a dry run shows."""

from __future__ import annotations

from pathlib import Path

from onehook.setup.files import FileEdit
from onehook.setup.preview import unified_diff


def test_a_change_shows_only_its_lines_with_context() -> None:
    change = FileEdit(Path("/p/a.json"), b'{\n  "a": 1\n}\n', b'{\n  "a": 2\n}\n')
    assert unified_diff([change], colour=False) == ('--- /p/a.json\n+++ /p/a.json\n@@ -1,3 +1,3 @@\n {\n-  "a": 1\n+  "a": 2\n }\n')


def test_new_and_deleted_files_name_the_missing_side() -> None:
    text = unified_diff([FileEdit(Path("/p/new"), None, b"x\n"), FileEdit(Path("/p/old"), b"y", None)], colour=False)
    assert "--- /dev/null\n+++ /p/new\n" in text
    assert "--- /p/old\n+++ /dev/null\n" in text
    assert "-y\n\\ No newline at end of file\n" in text


def test_no_change_shows_nothing() -> None:
    assert unified_diff([FileEdit(Path("/p/a"), b"x", b"x")], colour=False) == ""


def test_colour_marks_added_and_removed_lines() -> None:
    text = unified_diff([FileEdit(Path("/p/a"), b"x\n", b"y\n")], colour=True)
    assert "\x1b[31m-x\x1b[0m\n\x1b[32m+y\x1b[0m\n" in text


def test_control_characters_of_a_file_never_reach_the_terminal() -> None:
    text = unified_diff([FileEdit(Path("/p/a"), None, b"\x1b]0;title\x07\tok\r\n")], colour=False)
    assert "+\\x1b]0;title\\x07\tok\n" in text and "\x1b" not in text


def test_bytes_that_are_not_text_are_named_and_not_shown() -> None:
    assert "not UTF-8" in unified_diff([FileEdit(Path("/p/a"), b"\xff\xfe", b"\xff")], colour=False)
