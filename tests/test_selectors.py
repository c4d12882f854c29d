"""Selectors by name."""

import pytest

import tamis
from tamis.exceptions import InputError


def test_make_selector_passes_parameters():
    selector = tamis.make_selector("DFT", n_bins=8, n_features_to_select=3)
    assert isinstance(selector, tamis.DFT)
    assert selector.get_params()["n_bins"] == 8


def test_unknown_names_suggest_the_closest():
    with pytest.raises(InputError, match=r"got 'dtf'\. Did you mean 'dft'"):
        tamis.make_selector("dtf")
    with pytest.raises(InputError, match=r"got 'bins'\. Did you mean 'n_bins'"):
        tamis.make_selector("dft", bins=3)


@pytest.mark.parametrize("name", tamis.list_selectors())
def test_the_table_is_true(name):
    info = tamis.selectors.selector_info(name)
    selector = tamis.make_selector(name)
    assert type(selector).__name__ == info.class_name
    assert selector.__sklearn_tags__().target_tags.required == info.supervised
    assert set(info.tasks) <= {"classification", "regression"}
    assert info.summary.endswith(".")
