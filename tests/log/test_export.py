"""onehook log export: the decision log in formats that other programs read."""

from __future__ import annotations

import csv
import io
import json
import stat
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from harness import ANY, HOSTS
from test_logger import entry_of

from onehook.cli import main
from onehook.core import Options
from onehook.log.columns import COLUMNS, rows
from onehook.log.ocsf import finding
from onehook.log.reader import entries, log_folder
from onehook.logger import append, stamp

OCSF = json.loads((Path(__file__).parents[1] / "data" / "ocsf-detection-finding.json").read_text(encoding="utf-8"))
RULE = {
    "kind": "rule",
    "name": "core.rm-broad",
    "pack": "core",
    "file": "/p/o.toml",
    "line": 3,
    "said": "deny",
    "reason": "no",
    "severity": "high",
}
PROGRAM = {"kind": "program", "name": "checker", "file": "", "line": None, "said": "warn", "reason": "hm"}
FORMULA = '=HYPERLINK("http://evil.example","x")'
NAMES = [column.name for column in COLUMNS]


def run(*words, code=0):
    result = CliRunner().invoke(main, ["log", "export", *words])
    assert result.exit_code == code, result.output
    return result.stdout if not code else result.output


@pytest.fixture(autouse=True)
def _log(tmp_path, monkeypatch):
    """A denial by a rule, one of each other outcome, and an event that nothing answered."""
    monkeypatch.chdir(tmp_path)
    now = time.time()
    told = {"tool": "Bash", "session": "s-1", "project": "/work/a", "policy": "/p/o.toml", "policy_hash": "ab"}
    pause = {"until": stamp(now), "rules": [], "reason": "deploy"}
    for entry in (
        entry_of(**told, time=stamp(now - 9 * 86400), subject="rm -rf /", by=[PROGRAM, RULE], reason="no (rule core.rm-broad)"),
        entry_of(**told, subject=FORMULA, decision="ask", by=[{**PROGRAM, "said": "ask"}], agent=HOSTS[1]),
        entry_of(**told, subject='-x,\n"é', decision="none", would="deny", by=[{**RULE, "observed": True}], pause=pause, approver="Ann"),
        entry_of(decision="none", error="handler raised", by=[], effects=["message"], dropped=[{"fields": ["reason"], "text": "dropped"}]),
        entry_of(decision="allow", by=[{"kind": "permission", "name": "Bash(ls)", "said": "allow"}], content={"a": [1, "ü"]}),
    ):
        append(entry, Options())
    Path(log_folder(), f"{stamp(now)[:10]}.quiet").write_text(f"{now:.3f} {ANY} PreToolUse Bash 4.00 /work/a\n")


def test_json_lines_are_those_of_the_log():
    written = b"".join(path.read_bytes() for path in sorted(Path(log_folder()).glob("*.jsonl")))
    assert run().encode() == written


def test_filters_are_those_of_the_log():
    assert len(run("--since", "1d").splitlines()) == 4
    assert len(run("--decision", "would-deny", "--project", "/work").splitlines()) == 1
    assert [json.loads(line)["agent"] for line in run("--hosts", HOSTS[1]).splitlines()] == [HOSTS[1]]


def test_all_adds_the_events_on_which_nobody_had_a_say():
    *_, last = run("--all").splitlines()
    assert json.loads(last)["n"] == 0 and json.loads(last)["ms"] == 4.0 and len(run("--all").splitlines()) == 6


def test_csv_has_a_row_for_each_line_and_no_formula():
    heading, *found = csv.reader(io.StringIO(run("--format", "csv"), newline=""))
    assert heading == NAMES and len(found) == 5
    by_name = [dict(zip(heading, row, strict=True)) for row in found]
    assert by_name[1]["subject"] == f"'{FORMULA}" and by_name[2]["subject"] == "'-x,\n\"é"
    assert json.loads(by_name[0]["by_name"]) == ["checker", "core.rm-broad"] and by_name[0]["decided_by"] == "core.rm-broad"
    assert not [cell for row in found for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_parquet_holds_the_same_rows_with_their_types(tmp_path):
    import pyarrow.parquet as pq

    run("--format", "parquet", "--output", "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    assert table.column_names == NAMES
    wanted = [dict(zip(NAMES, row, strict=True)) for row in rows(entries())]
    found = [
        {**row, "time": row["time"].strftime("%Y-%m-%dT%H:%M:%S.") + f"{row['time'].microsecond // 1000:03d}Z"} for row in table.to_pylist()
    ]
    assert found == wanted
    assert stat.S_IMODE((tmp_path / "log.parquet").stat().st_mode) == 0o600


def test_parquet_goes_to_a_file_and_needs_pyarrow(tmp_path, monkeypatch):
    assert "--format parquet needs --output FILE" in run("--format", "parquet", code=2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'onehook[parquet]'" in run("--format", "parquet", "-o", "log.parquet", code=1)
    assert list(tmp_path.glob("*.p*")) == []


def test_a_file_that_cannot_be_written_is_one_line():
    assert "no-such-folder/x was not written" in run("-o", "no-such-folder/x", code=1)


def test_ocsf_is_a_valid_detection_finding_for_every_line():
    found = [json.loads(line) for line in run("--format", "ocsf", "--all").splitlines()]
    assert len(found) == 6
    for one in found:
        jsonschema.Draft202012Validator(OCSF).validate(one)
    denied, asked, observed, failed, allowed, quiet = found
    assert (denied["action_id"], denied["disposition_id"], denied["severity_id"], denied["is_alert"]) == (2, 2, 4, True)
    assert (
        denied["finding_info"]["analytic"]["uid"] == "core.rm-broad" and denied["finding_info"]["related_analytics"][0]["type"] == "program"
    )
    assert denied["resources"] == [{"name": "rm -rf /", "type": "Bash"}] and denied["message"] == "no (rule core.rm-broad)"
    assert (asked["action"], asked["disposition"], asked["is_alert"]) == ("ask", "ask", False)
    assert observed["disposition_id"] == 17 and observed["is_alert"] and observed["unmapped"]["approver"] == "Ann"
    assert failed["status_detail"] == "handler raised" and failed["disposition_id"] == 27
    assert allowed["disposition_id"] == 1 and quiet["disposition_id"] == 16


def test_ocsf_loses_no_field():
    """Every value of a line is somewhere in its finding, but for those that the schema has codes or objects for."""
    for entry in entries():
        told = json.dumps(finding(entry, "laptop"))
        lost = [name for name, value in entry.items() if value not in (None, "", []) and json.dumps(value) not in told]
        assert set(lost) <= {"v", "decision", "mode", "by"}, lost


def test_rows_are_the_columns_as_json():
    found = [json.loads(line) for line in run("--format", "rows", "--all").splitlines()]
    assert all(list(row) == NAMES for row in found)
    assert [tuple(row.values()) for row in found if row["n"]] == list(rows(entries()))
    assert {row["n"] == 0 for row in found} == {True, False}


def test_a_table_and_a_file_at_once_are_refused(tmp_path):
    assert "either --output or --to" in run("--to", "clickhouse://127.0.0.1:1", "-o", str(tmp_path / "x"), code=2)
