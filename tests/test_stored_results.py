"""Scores of every selector beside stored ones: a change of numbers is a decision.

After a change that is meant: ``python tests/test_stored_results.py``, and a line in CHANGELOG.md.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tamis

STORED = Path(__file__).with_name("stored_results.json")
REGRESSION = ["correlation", "mrmr", "relieff", "treeimportance"]
CASES = [*tamis.list_selectors(), *(f"{name} of numbers" for name in REGRESSION)]
# What keeps a fit short, or leaves the numbers of another package out.
OPTIONS = {
    "ofw": {"max_iter": 200, "random_state": 0},
    "treeimportance": {"estimator": "fast", "n_estimators": 10, "random_state": 0},
    "gflip": {"random_state": 0},
    "randomranking": {"random_state": 0},
    "consensus": {"selectors": [tamis.DFT(), tamis.Fisher(), tamis.Variance()]},
}


def table():
    """48 rows and 7 columns by integer arithmetic, so that no generator of numbers matters."""
    cells = np.arange(48 * 7, dtype=np.int64)
    X = ((cells * cells * 7919 + cells * 104729) % 65521).reshape(48, 7) / 65521.0
    y = np.arange(48) % 3
    X[:, 2] += 0.5 * y
    X[:, 5] = np.round(X[:, 5] + 0.2 * y, 1)
    return X, y


def result(case, n_jobs=1):
    """Scores and chosen columns of a case."""
    name = case.removesuffix(" of numbers")
    X, y = table()
    target = X[:, 2] * 3 + X[:, 0] if name == "rft" or name != case else y
    selector = tamis.make_selector(name, **OPTIONS.get(name, {}))
    if "n_jobs" in selector.get_params(deep=False):
        selector.set_params(n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.set_params(n_features_to_select=3).fit(X, target)
    chosen = np.flatnonzero(selector.support_).tolist()
    return {"scores": selector.scores_.tolist(), "chosen": chosen}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES)
def test_numbers_are_those_that_are_stored(case):
    stored, found = json.loads(STORED.read_text())[case], result(case)
    np.testing.assert_allclose(found["scores"], stored["scores"], rtol=1e-6, atol=1e-9)
    assert found["chosen"] == stored["chosen"]


def test_every_case_is_stored():
    assert sorted(json.loads(STORED.read_text())) == sorted(CASES)


@pytest.mark.slow
def test_two_processes_find_the_same_bits():
    """Whatever the seed of hashes and the number of threads."""
    here = [
        subprocess.run(
            [sys.executable, __file__, "--n-jobs", n_jobs],
            env={**os.environ, "PYTHONHASHSEED": n_jobs},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n_jobs in ("1", "2")
    ]
    assert here[0] == here[1]
    assert list(json.loads(here[0])) == CASES


if __name__ == "__main__":
    if sys.argv[1:2] == ["--n-jobs"]:
        print(json.dumps({case: result(case, int(sys.argv[2])) for case in CASES}))
    else:
        lines = (f"{json.dumps(case)}: {json.dumps(result(case))}" for case in CASES)
        STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
