"""Selectors by name."""

import runpy
from pathlib import Path

import pytest

import tamis
from tamis._names import SELECTORS
from tamis.exceptions import InputError
from tamis.selectors import selector_info

ROOT = Path(__file__).parents[1]


def test_make_selector_passes_parameters():
    selector = tamis.make_selector("DFT", n_bins=8, n_features_to_select=3)
    assert isinstance(selector, tamis.DFT)
    assert selector.get_params()["n_bins"] == 8


def test_unknown_names_suggest_the_closest():
    with pytest.raises(InputError, match=r"got 'dtf'\. Did you mean 'dft'"):
        tamis.make_selector("dtf")
    with pytest.raises(InputError, match=r"got 'nbins'\. Did you mean 'n_bins'"):
        tamis.make_selector("dft", nbins=3)


@pytest.mark.parametrize("name", tamis.list_selectors())
def test_facts_agree_with_the_class(name):
    info = selector_info(name)
    selector = tamis.make_selector(name)
    assert type(selector).__name__ == info.class_name
    assert getattr(tamis, info.class_name) is type(selector)
    assert selector.__sklearn_tags__().target_tags.required == info.supervised
    assert set(info.tasks) <= {"classification", "regression"}
    assert info.summary.endswith(".")
    family = type(selector).__module__.split(".")[1]
    assert (ROOT / "docs" / "families" / f"{family}.md").exists() or name == "consensus"


def test_public_names_and_tables_are_generated_from_the_facts():
    generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    assert generate["main"](check=True) == [], "run python docs/generate.py"


def test_every_selector_is_in_the_reference():
    reference = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    names = {line.strip() for line in reference.splitlines()}
    assert set(SELECTORS) <= names
