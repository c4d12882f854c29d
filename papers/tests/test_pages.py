"""The committed pages and CSV files: they say the same, by the rule of the verdicts."""

from pathlib import Path

import pytest

from tamis_papers._page import FIGURES, render_pages
from tamis_papers._published import published
from tamis_papers._records import read_records
from tamis_papers._verdict import judge_all
from tamis_papers.experiment import list_experiments

PAGES = Path(__file__).parents[2] / "docs" / "papers"
pytestmark = pytest.mark.skipif(not PAGES.is_dir(), reason="no checkout of tamis around it")


@pytest.fixture(scope="module")
def records():
    return read_records(PAGES)


def test_the_pages_are_what_the_csv_files_give(records):
    pages = render_pages(records)
    assert {file.name for file in PAGES.glob("*.md")} == set(pages)
    for name, text in pages.items():
        assert (PAGES / name).read_text(encoding="utf-8") == text, name


def test_every_experiment_was_run(records):
    assert list(records) == [one.name for one in list_experiments()]


@pytest.mark.parametrize("name", [one.name for one in list_experiments()])
def test_verdicts_are_those_of_the_rule(records, name):
    rows = records[name]["rows"]
    for row, judged in zip(rows, judge_all(rows), strict=True):
        assert (row["verdict"], row["why"]) == (judged["verdict"], judged["why"]), row["case"]


@pytest.mark.parametrize("name", [one.name for one in list_experiments()])
def test_the_numbers_of_the_papers_are_those_of_the_value_files(records, name):
    paper, rows = published(name), records[name]["rows"]
    printed = [row for row in rows if row["theirs"] is not None]
    assert len(printed) == len(paper.values)
    for value, row in zip(paper.values, printed, strict=True):
        assert row["theirs"] == value.value
        assert row["rounding"] == pytest.approx(value.rounding)
        assert (row["unit"], row["doubtful"]) == (value.unit, value.doubtful)
        case = {key: str(item) for key, item in value.case.items() if key != "selector"}
        assert row["case"] == case
    claims = records[name]["claims"]
    assert [claim["name"] for claim in claims] == [one.name for one in paper.statements]


def test_every_figure_is_there_and_shown(records):
    shown = {figure for record in records.values() for figure in record["figures"]}
    assert shown == {file.name for file in (PAGES / FIGURES).iterdir()}
