"""The documentation says what was measured, and the tables in the code agree with it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from onehook.docgen import host_pages, matrix
from onehook.docgen.picture import bars, curves, picture
from onehook.hosts import HOSTS
from onehook.prove.agents import pins
from onehook.prove.expectations import NO_EVENT, NOT_HONOURED, WORKS, expectation
from onehook.prove.results import differences, read
from onehook.prove.scenarios import SCENARIOS, by_id
from onehook.prove.verdicts import ABSENT, CLAIMED, DECLARED, MISS, PROVEN
from tests.rows import check_each

ROOT = Path(__file__).resolve().parents[2]
RESULTS = read()
AGREES = {WORKS: (PROVEN, CLAIMED, ABSENT), NOT_HONOURED: (DECLARED, ABSENT), NO_EVENT: (ABSENT,)}


@pytest.mark.parametrize("host", list(pins()))
def test_the_tables_agree_with_what_was_measured(host: str) -> None:
    def check(row: dict[str, str]) -> None:
        (scenario,) = by_id([row["scenario"]])
        expected, _ = expectation(host, scenario, row.get("mode", ""))
        assert row["verdict"] != MISS
        assert row["verdict"] in AGREES[expected]

    check_each(check, {f"{row.get('mode', '')}-{row['scenario']}": row for row in RESULTS["results"] if row["host"] == host})


def test_every_host_that_was_measured_can_be_run() -> None:
    assert {row["host"] for row in RESULTS["results"]} == set(pins())


def test_every_host_that_can_be_run_was_measured_at_its_pinned_version() -> None:
    assert RESULTS["agents"] == {host: pins()[host].version for host in pins()}


@pytest.mark.parametrize("host", list(pins()))
def test_every_scenario_was_measured(host: str) -> None:
    assert {row["scenario"] for row in RESULTS["results"] if row["host"] == host} == {scenario.id for scenario in SCENARIOS}


def test_every_host_that_can_be_run_is_a_host() -> None:
    assert set(pins()) <= set(HOSTS)


def test_the_matrix_page_is_the_one_that_the_results_give() -> None:
    assert (ROOT / "docs" / "matrix.md").read_text(encoding="utf-8") == matrix.page(RESULTS), "run: python -m onehook.docgen.matrix"


def test_the_bars_are_those_of_the_figures_in_the_page() -> None:
    drawn = bars((ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "resident.svg").read_text(encoding="utf-8") == drawn, "run: python -m onehook.docgen.matrix"
    texts = [element.text or "" for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert "1.00" in texts and any(text.startswith("resident, native client") for text in texts)


def test_the_curves_are_those_of_the_figures_in_the_page() -> None:
    drawn = curves((ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "growth.svg").read_text(encoding="utf-8") == drawn, "run: python -m onehook.docgen.matrix"


def test_the_picture_is_the_one_that_the_results_give() -> None:
    drawn = picture(RESULTS)
    assert (ROOT / "docs" / "proof.svg").read_text(encoding="utf-8") == drawn, "run: python -m onehook.docgen.matrix"
    texts = [element.text for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("proven") == sum(row["verdict"] == PROVEN for row in RESULTS["results"])
    assert {scenario.title for scenario in SCENARIOS} <= set(texts)


@pytest.mark.parametrize("path, name, table", matrix.tables(RESULTS), ids=[name for _, name, _ in matrix.tables(RESULTS)])
def test_a_table_in_a_page_is_the_one_that_the_results_and_the_hosts_give(path: str, name: str, table: str) -> None:
    page = (ROOT / path).read_text(encoding="utf-8")
    assert matrix.with_table(page, name, table) == page, "run: python -m onehook.docgen.matrix"


def test_a_changed_cell_and_a_new_version_are_differences() -> None:
    before = {"agents": {"x": "1"}, "results": [{"host": "x", "version": "1", "scenario": "deny", "verdict": PROVEN}]}
    after = {"agents": {"x": "2"}, "results": [{"host": "x", "version": "2", "scenario": "deny", "verdict": MISS, "detail": "it ran"}]}
    assert differences(before, after) == ["x: 1 -> 2", "x deny: proven -> MISS. it ran"]
    assert differences(before, before) == []


@pytest.mark.parametrize("host", HOSTS)
def test_the_page_of_a_host_is_the_one_that_its_tables_give(host: str) -> None:
    page = ROOT / "docs" / "hosts" / f"{host}.md"
    assert page.read_text(encoding="utf-8") == host_pages.page(host), "run: python -m onehook.docgen.matrix"
