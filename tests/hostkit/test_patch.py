"""apply_patch input: every file that a patch touches is seen, with its old and new text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehook.core import Change, PayloadError
from onehook.hostkit.patch import changes_of_patch
from onehook.hosts import wire_of


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def test_an_added_file_has_its_whole_text() -> None:
    assert changes_of_patch(patch("*** Add File: a.txt", "+one", "+", "+three")) == [Change("a.txt", "write", None, "one\n\nthree\n")]


def test_a_deleted_file() -> None:
    assert changes_of_patch(patch("*** Delete File: a.txt")) == [Change("a.txt", "delete")]


def test_each_hunk_of_an_updated_file_is_a_change_with_its_context() -> None:
    text = patch("*** Update File: a.py", "@@ def f():", " keep", "-old", "+new", "@@", "-gone", "*** End of File")
    assert changes_of_patch(text) == [Change("a.py", "edit", "keep\nold\n", "keep\nnew\n"), Change("a.py", "edit", "gone\n", "")]


def test_a_hunk_without_a_marker() -> None:
    assert changes_of_patch(patch("*** Update File: a", "-old", "+new")) == [Change("a", "edit", "old\n", "new\n")]


def test_an_empty_line_inside_a_hunk_is_context_and_one_between_hunks_is_not() -> None:
    text = patch("*** Update File: a", "@@", " one", "", "-two", "+2", "", "@@", "", "+three", "")
    assert changes_of_patch(text) == [Change("a", "edit", "one\n\ntwo\n", "one\n\n2\n"), Change("a", "edit", "", "three\n")]


def test_a_move_names_both_places_and_its_edits_are_of_the_new_one() -> None:
    text = patch("*** Update File: a.txt", "*** Move to: b/c.txt", "@@", "-x", "+y")
    assert changes_of_patch(text) == [Change("a.txt", "move", to="b/c.txt"), Change("b/c.txt", "edit", "x\n", "y\n")]


def test_a_move_alone() -> None:
    assert changes_of_patch(patch("*** Update File: a.txt", "*** Move to: b.txt")) == [Change("a.txt", "move", to="b.txt")]


def test_an_update_without_a_hunk_still_names_the_file() -> None:
    assert changes_of_patch(patch("*** Update File: a.txt")) == [Change("a.txt", "edit", "", "")]


def test_several_files_in_their_order() -> None:
    text = patch("*** Delete File: a", "*** Add File: b", "+x", "*** Update File: c", "@@", "-1", "+2", "*** Delete File: d")
    assert [(change.path, change.kind) for change in changes_of_patch(text)] == [
        ("a", "delete"),
        ("b", "write"),
        ("c", "edit"),
        ("d", "delete"),
    ]


def test_windows_line_ends() -> None:
    text = patch("*** Add File: a.txt", "+one", "*** Update File: b.txt", "@@", "-x", "+y").replace("\n", "\r\n")
    assert changes_of_patch(text) == [Change("a.txt", "write", None, "one\n"), Change("b.txt", "edit", "x\n", "y\n")]


def test_headers_with_blanks_around_them_count() -> None:
    assert changes_of_patch("  *** Begin Patch\n  *** Delete File: a  \n\t*** Add File:  b\n+x\n") == [
        Change("a", "delete"),
        Change("b", "write", None, "x\n"),
    ]


@pytest.mark.parametrize("quoted", ["*** End Patch", "+*** End Patch", " *** End Patch", "-*** End Patch"])
def test_a_quoted_end_hides_no_file_after_it(quoted: str) -> None:
    text = patch("*** Update File: a", "@@", "-x", quoted, "+y", "*** Delete File: secret")
    assert Change("secret", "delete") in changes_of_patch(text)


def test_text_that_quotes_a_patch_is_text() -> None:
    text = patch("*** Add File: doc.md", "+*** Begin Patch", "+*** Delete File: a", "+*** End Patch")
    assert changes_of_patch(text) == [Change("doc.md", "write", None, "*** Begin Patch\n*** Delete File: a\n*** End Patch\n")]


def test_a_context_line_that_looks_like_a_header_takes_nothing_from_its_file() -> None:
    text = patch("*** Update File: doc.md", "@@", " *** Update File: other", "-x", "+secret")
    assert changes_of_patch(text) == [
        Change("doc.md", "edit", "*** Update File: other\nx\n", "*** Update File: other\nsecret\n"),
        Change("other", "edit", "", ""),
    ]


def test_a_patch_inside_a_here_document() -> None:
    assert changes_of_patch("apply_patch <<'EOF'\n" + patch("*** Delete File: a") + "EOF\n") == [Change("a", "delete")]


@pytest.mark.parametrize("text", ["rm -rf /", "*** Begin Patch\n*** End Patch", "*** Add File:", "***Add File: a"])
def test_a_text_without_a_file_is_an_error_and_not_a_harmless_patch(text: str) -> None:
    with pytest.raises(PayloadError, match="no file"):
        changes_of_patch(text)


def test_no_text_is_no_change() -> None:
    assert changes_of_patch("") == []


def test_paths_are_absolute_in_the_event_and_given_once() -> None:
    text = patch("*** Update File: sub/../a", "@@", "-1", "+2", "@@", "-3", "+4", "*** Update File: /etc/b", "*** Move to: c", "@@", "+x")
    payload = {"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": text}}
    event = wire_of("codex").parse(payload, "")
    assert event.paths == ["/p/a", "/etc/b", "/p/c"]
    assert [(change.path, change.to) for change in event.changes] == [("/p/a", None), ("/p/a", None), ("/etc/b", "/p/c"), ("/p/c", None)]


names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)
body_lines = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=8)
added = names.flatmap(
    lambda name: st.lists(body_lines.map("+".__add__), max_size=3).map(lambda body: (name, [f"*** Add File: {name}", *body]))
)
deleted = names.map(lambda name: (name, [f"*** Delete File: {name}"]))
hunk_lines = st.tuples(st.sampled_from("+- "), body_lines).map("".join) | st.just("@@") | st.just("*** End Patch") | st.just("")
updated = names.flatmap(lambda name: st.lists(hunk_lines, max_size=4).map(lambda body: (name, [f"*** Update File: {name}", *body])))


@given(st.lists(added | deleted | updated, min_size=1, max_size=5))
def test_no_file_hides_whatever_the_others_contain(files: list[tuple[str, list[str]]]) -> None:
    changes = changes_of_patch(patch(*(line for _, lines in files for line in lines)))
    seen = [change.path for change in changes]
    assert set(name for name, _ in files) <= set(seen)


@given(st.text())
def test_any_text_gives_changes_or_a_payload_error(text: str) -> None:
    try:
        assert all(isinstance(change, Change) for change in changes_of_patch(text))
    except PayloadError:
        assert text.strip()
