"""What is removed from the journal of installs."""

from __future__ import annotations

import os
import shutil

from onehook.setup.files import FileEdit
from onehook.setup.journal import Journal


def test_old_records_of_files_whose_folder_is_gone_are_swept(tmp_path):
    journal = Journal(tmp_path / "installs")
    files = {name: tmp_path / name / "settings.json" for name in ("gone", "gone-lately", "here")}
    for file in files.values():
        file.parent.mkdir()
        journal.promise([FileEdit(file, b"before", b"after")], {file: b"before"})
    for name in ("gone", "gone-lately"):
        shutil.rmtree(files[name].parent)
    (journal.folder / "left.123").write_text("by a killed run")
    for record in journal.folder.iterdir():
        if record != journal._file(files["gone-lately"]):
            os.utime(record, (0, 0))
    journal.sweep()
    assert {name for name, file in files.items() if journal.origin(file)} == {"gone-lately", "here"}
    assert len(list(journal.folder.iterdir())) == 2
