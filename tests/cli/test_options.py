import numpy as np
import pytest

from tamis import DFT
from tamis.cli._fitting import build_selector
from tamis.cli._options import parse_params, parse_select, split_names
from tamis.cli.console import Misuse
from tamis.cutoff import Elbow, Fraction, TopK
from tamis.data import RawTable


@pytest.mark.parametrize(
    ("text", "kind", "name", "value"),
    [
        ("elbow", Elbow, "which", "early"),
        ("early", Elbow, "which", "early"),
        ("late", Elbow, "which", "late"),
        ("all", Fraction, "f", 1.0),
        ("1", TopK, "k", 1),
        ("1.0", Fraction, "f", 1.0),
        ("20", TopK, "k", 20),
        ("0.1", Fraction, "f", 0.1),
        ("1e-1", Fraction, "f", 0.1),
    ],
)
def test_parse_select(text, kind, name, value):
    rule = parse_select(text)
    assert type(rule) is kind
    assert getattr(rule, name) == value


def test_best_is_for_methods_that_find_a_number():
    rule = parse_select("best")
    assert build_selector("fcbf", rule, ()).n_features_to_select is rule
    with pytest.raises(Misuse, match="--select best: dft finds no number of its own"):
        build_selector("dft", rule, ())


@pytest.mark.parametrize("text", ["inf", "-0.1", "1e3", "ten", "Elbow"])
def test_parse_select_refuses(text):
    with pytest.raises(Misuse, match="--select must be"):
        parse_select(text)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("n_bins=32", {"n_bins": 32}),
        ("class_weight=balanced", {"class_weight": "balanced"}),
        ("class_weight='balanced'", {"class_weight": "balanced"}),
        ("class_weight={'a': 2}", {"class_weight": {"a": 2}}),
        ("ranges=(0, 1.5)", {"ranges": (0, 1.5)}),
        ("ranges=None", {"ranges": None}),
        ("ranges=none", {"ranges": None}),
        ("n_bins=true", {"n_bins": True}),
        ("class_weight=a=b", {"class_weight": "a=b"}),
        ("class_weight=", {"class_weight": ""}),
        ("class_weight=" + "(" * 5000, {"class_weight": "(" * 5000}),
    ],
)
def test_parse_params(word, expected):
    assert parse_params(DFT(), [word]) == expected


def test_parse_params_never_runs_code(tmp_path):
    word = f"class_weight=open({str(tmp_path / 'x')!r}, 'w')"
    assert parse_params(DFT(), [word])["class_weight"].startswith("open(")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a,b"], ["a", "b"]),
        (["a, b"], ["a", "b"]),
        (["x,y"], ["x,y"]),
        (["x,y", "a"], ["x,y", "a"]),
        (["a,"], ["a"]),
        ([" c"], [" c"]),
        (["a, c"], ["a", " c"]),
        ([], []),
    ],
)
def test_split_names(values, expected):
    table = RawTable.from_matrix(np.zeros((1, 4)), names=["a", "b", "x,y", " c"])
    assert split_names(values, table) == expected
