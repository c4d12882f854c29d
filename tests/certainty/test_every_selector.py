"""Rules that fit anew on parts or copies of the table, with every selector there is."""

import numpy as np
import pytest

import tamis
from checks import data
from tamis.certainty import Shadows, StabilitySelection
from tamis.selectors import selector_info

CHEAP = {
    "consensus": {"selectors": "anovaf,dft"},
    "inffscv": {"alphas": [0.0, 1.0], "grid": [2], "cv": 2},
    "ofw": {"max_iter": 100},
    "treeimportance": {"n_estimators": 5},
}


def make(name, rule):
    return tamis.make_selector(name, n_features_to_select=rule, **CHEAP.get(name, {}))


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
@pytest.mark.parametrize("name", tamis.list_selectors())
def test_stability_selection(name):
    X, y = data(selector_info(name).tasks[0])
    found = [
        make(name, StabilitySelection(n_pairs=2, n_per_half=4, n_jobs=n_jobs)).fit(X, y)
        for n_jobs in (1, 2)
    ]
    frequencies = [selector.cut_details_["frequencies"] for selector in found]
    np.testing.assert_array_equal(*frequencies)
    assert 0 <= frequencies[0].sum() <= 4
    assert frequencies[0].max() > 0


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
@pytest.mark.parametrize(
    "name", [name for name in tamis.list_selectors() if selector_info(name).supervised]
)
def test_shadows(name):
    X, y = data(selector_info(name).tasks[0])
    found = [
        make(name, Shadows(0.4, n_rounds=2, n_jobs=n_jobs)).fit(X, y).cut_details_
        for n_jobs in (1, 2)
    ]
    for evidence in ("hits", "score_history"):
        np.testing.assert_array_equal(found[0][evidence], found[1][evidence])
    assert found[0]["hits"].max() <= 2
