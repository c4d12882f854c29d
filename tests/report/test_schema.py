import copy
import json

import pytest

from report.example import make_summary
from tamis.exceptions import InputError
from tamis.report import check_summary

SMALL = make_summary(methods=["dft", "inffs"], counts=[1, 2], n_splits=2, n_columns=3)


def changed(*path, value):
    summary = copy.deepcopy(SMALL)
    place = summary
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return summary


def test_a_good_summary_comes_back_as_it_is():
    assert check_summary(SMALL) is SMALL


def test_a_summary_survives_json():
    check_summary(json.loads(json.dumps(SMALL, allow_nan=False)))


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        (None, "schema 'tamis-comparison'"),
        ({"schema": "tamis-report"}, "schema 'tamis-comparison'"),
        (changed("version", value=7), "version 2, got version 7"),
        (changed("metric", value=3), r"comparison\['metric'\] must be a text, got 3"),
        (changed("level", value=float("nan")), r"comparison\['level'\] must be a finite number"),
        (changed("level", value=True), r"comparison\['level'\] must be a finite number"),
        (changed("methods", value=[]), "at least one method"),
        (changed("data", value=[]), "at least one data set"),
        (changed("data", 0, "scores", 0, "mean", value=float("inf")), "finite number"),
        (changed("data", 0, "scores", 0, "method", value="nobody"), "known methods, got 'nobody'"),
        (changed("data", 0, "answer", "method", value="nobody"), "known methods"),
        (changed("data", 0, "frequencies", "shares", value=[[0.1]]), "one item per column"),
        (changed("data", 0, "correlation", "values", value=[[1.0]] * 3), "one value per item"),
        (changed("data", 0, "answer", "shares", value=[1.0]), "one item per column"),
        (changed("data", 0, "significance", "methods", 0, "method", value="x"), "known methods"),
        (changed("data", 0, "significance", "reason", value="too few"), "the keys"),
        (changed("data", 0, "protocol", value={}), "a description"),
        (changed("notes", value="cut"), "a list"),
        (changed("data", 0, "extra", value=1), "the keys"),
        (changed("table", "rows", value=[["short"]]), "rows of 7 values"),
        (changed("table", "rows", 0, 6, value=[1]), "a text, a finite number"),
        (changed("versions", value={"numpy": 2}), "a dict of texts"),
    ],
)
def test_a_bad_summary_is_named(summary, words):
    with pytest.raises(InputError, match=words):
        check_summary(summary)
