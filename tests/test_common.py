"""Every public selector against scikit-learn's checks and ours."""

import inspect
import itertools

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import tamis
from checks import CHECKS, EXEMPTIONS
from tamis._base import BaseSelector
from tamis.selectors import selector_info


def all_selectors():
    """Found, not listed: whatever `tamis` exports and can be fitted on a table."""
    # AutoSelector chooses among methods and is none; tests/auto has its checks.
    exported = (getattr(tamis, name) for name in tamis.__all__ if name != "AutoSelector")
    return [item for item in exported if inspect.isclass(item) and issubclass(item, BaseSelector)]


SELECTORS = all_selectors()
# The checks fit hundreds of times; these settings only spare them time.
CHEAP = {
    "InfFSCV": {"alphas": [0.0, 1.0], "grid": [2], "cv": 2},
    "OFW": {"max_iter": 300},
    "TreeImportance": {"n_estimators": 20},
}


def make(selector, **params):
    made = selector(**CHEAP.get(selector.__name__, {}))
    params = {"random_state": 0, **params}
    return made.set_params(**{name: params[name] for name in params.keys() & made.get_params()})


# These take from 4 to 60 seconds of one core.
LONG = {
    *((name, "check_n_jobs") for name in ("LLCFS", "GFlip", "MRMR")),
    ("LLCFS", "check_clone_and_pickle"),
}


def promises():
    """Every check with every selector and every task that it takes."""
    for check, selector in itertools.product(CHECKS, SELECTORS):
        names = selector.__name__, check.__name__
        marks = [pytest.mark.slow] if names in LONG else []
        for task in selector_info(selector.__name__).tasks:
            label = "-".join([check.__name__, selector.__name__, task])
            yield pytest.param(selector, task, check, id=label, marks=marks)


def test_exported_selectors_are_those_listed_by_name():
    by_name = {type(tamis.make_selector(name)) for name in tamis.list_selectors()}
    assert by_name == set(SELECTORS)


def test_exemptions_name_real_checks_and_give_reasons():
    checks = {check.__name__ for check in CHECKS}
    selectors = {selector.__name__ for selector in SELECTORS}
    for selector, reasons in EXEMPTIONS.items():
        assert selector in selectors
        for check, reason in reasons.items():
            assert check.partition("[")[0] in checks
            assert len(reason) > 20


@pytest.mark.sampled(54)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
# Some checks draw noise, of which the default selects nothing; scikit-learn says so, too.
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([make(selector) for selector in SELECTORS])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.sampled(36)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
@pytest.mark.parametrize(("selector", "task", "check"), list(promises()))
def test_promise(selector, task, check):
    reasons = EXEMPTIONS.get(selector.__name__, {})
    for name in (check.__name__, f"{check.__name__}[{task}]"):
        if name in reasons:
            pytest.skip(reasons[name])
    check(make(selector, task=task), task)
