"""The page of an answer, from records made by hand."""

import re
from dataclasses import replace

import numpy as np
import pytest

from report.example import HOSTILE
from tamis.auto import Answer, Baseline, FeatureEvidence
from tamis.exceptions import InputError
from tamis.report import answer_fragment, write_answer
from tamis.report._answer_page import _lines, make_answer_page

FOUND = Answer(
    verdict="2 of 50 features carry the signal: expected AUC 0.90 (0.84 to 0.95); guessing 0.50.",
    found=True,
    p_value=1e-6,
    features=(
        FeatureEvidence("petal", 3, 0.9, 0.8, 0.95, 1e-5, None, "higher for yes", [("leaf", 0.97)]),
        FeatureEvidence("stem", 7, np.nan, np.nan, np.nan, 0.02, 12.5, "not monotone", []),
    ),
    metric="auc",
    expected_score=0.9,
    low=0.84,
    high=0.95,
    baselines=(
        Baseline("all features", 0.88, 0.02, -0.03, 0.07, 0.4),
        Baseline("random features", 0.55, 0.35, 0.25, 0.45, 1e-8),
        Baseline("guessing", 0.5, 0.4, 0.34, 0.46, 1e-9),
    ),
    method="MRMR",
    model="ridge",
    n_best=2,
    task="classification",
    n_rows=80,
    n_features=50,
    level=0.1,
    n_related=5,
    warnings=("petal can be read off the target.",),
    left_out=(("row", "they number the rows"),),
    steps=("Table: 80 rows, 50 features, classification.",),
    seconds=3.2,
)
NOTHING = replace(
    FOUND,
    verdict="Nothing here beats chance: none of the 50 features is related to the target.",
    found=False,
    features=(),
    expected_score=np.nan,
    low=np.nan,
    high=np.nan,
    baselines=(),
    warnings=(),
)


def hostile(name):
    feature = replace(FOUND.features[0], feature=name, effect=name, replaceable_by=[(name, 1.0)])
    return replace(
        FOUND, features=(feature,), warnings=(name,), left_out=((name, name),), steps=(name,)
    )


def test_the_page_opens_with_the_verdict():
    page = make_answer_page(FOUND)
    assert "<h1>2 of 50 features carry the signal</h1>" in page
    assert "Expected AUC 0.90 (0.84 to 0.95); guessing 0.50." in page
    assert page.index("<h1>") < page.index("read off the target") < page.index("<svg")
    for words in ("not measured", "not tested", "12.5", "leaf", "r = 0.97", "row", "3.2 s"):
        assert words in page


def test_a_doubt_stands_beside_the_headline():
    doubtful = replace(FOUND, verdict=f"Others do as well. {FOUND.verdict}")
    page = make_answer_page(doubtful)
    assert "<h1>2 of 50 features carry the signal</h1>" in page
    assert ">Others do as well.</p>" in page


def test_nothing_found_is_an_answer():
    page = make_answer_page(NOTHING)
    assert "<h1>Nothing here beats chance</h1>" in page
    assert "<svg" not in page
    assert "<table" not in page


def test_baselines_are_as_far_from_the_answer_as_their_gain():
    by_name = {each.name: each for each in _lines(FOUND)}
    behind = by_name["2 random features"]
    assert (behind.score, behind.low, behind.high) == pytest.approx((0.55, 0.45, 0.65))
    # Of an error, less is better: a gain of 1 means that the baseline is 1 above.
    wrong = replace(
        FOUND, metric="mse", task="regression", expected_score=2.0,
        baselines=(Baseline("guessing", 3.0, 1.0, 0.5, 1.5, 0.01),),
    )  # fmt: skip
    assert _lines(wrong)[1][1:4] == pytest.approx((3.0, 2.5, 3.5))


@pytest.mark.parametrize("name", [*HOSTILE, "two\u2028lines", "</script>{{ 1 }}"])
def test_names_of_others_stay_text(name):
    page, fragment = make_answer_page(hostile(name)), answer_fragment(hostile(name))
    for text in (page, fragment):
        text.encode()
        assert not re.search(r"<(script|img|title>.*hacked)", text.replace("<title>", "", 1))
        assert not re.search("[\u061c\u200e\u200f\u2028-\u202e\x00\x1b]", text)
    assert "script-src" not in page
    assert page.count("default-src 'none'") == 1


def test_the_policy_allows_exactly_the_style():
    import base64
    import hashlib

    page = make_answer_page(FOUND)
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    allowed = re.search("style-src 'sha256-([^']+)'", page)[1]
    assert allowed == base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert " style=" not in page


def test_it_is_written_whole_and_not_over_another(tmp_path):
    path = tmp_path / "answer.html"
    assert write_answer(FOUND, path) == path
    with pytest.raises(InputError, match="expected a new file"):
        FOUND.report(path)
    FOUND.report(path, force=True)
    assert [each.name for each in tmp_path.iterdir()] == ["answer.html"]


def test_a_notebook_shows_the_same():
    text = FOUND._repr_html_()
    assert text.startswith("<div><p><strong>2 of 50 features")
    assert text.count("<tr>") == 3
    assert "90% (80% to 95%)" in text
