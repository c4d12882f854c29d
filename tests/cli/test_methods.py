import csv
import io
import json

import pytest

import tamis
from tamis.cli.methods import _lines
from tamis.selectors import list_selectors, selector_info


def test_a_pipe_gets_one_csv_row_per_method(run):
    rows = list(csv.DictReader(io.StringIO(run("methods").stdout)))
    assert [row["name"] for row in rows] == list_selectors()
    by_name = {row["name"]: row for row in rows}
    assert by_name["dft"]["supervised"] == "true"
    assert by_name["rft"]["tasks"] == "regression"
    assert all(row["cost"] and row["summary"] and row["reference"] for row in rows)


def test_json_lists_the_same(run):
    found = json.loads(run("methods", "--json").stdout)
    assert [row["name"] for row in found] == list_selectors()
    assert found[0]["tasks"] == list(selector_info(found[0]["name"]).tasks)


@pytest.mark.parametrize(("width", "lines_each"), [(1000, 1), (80, 2)])
def test_terminal_lines_fit_or_break_once(width, lines_each):
    infos = [selector_info(name) for name in tamis.list_selectors()]
    lines = _lines(infos, width)
    assert [len(line.split("\n")) for line in lines] == [lines_each] * len(infos)
    for line, info in zip(lines, infos, strict=True):
        assert line.startswith(info.name)
        assert info.summary in line
        assert info.cost in line
