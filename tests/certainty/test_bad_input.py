"""What no rule can say anything about: a clear error or a stated exclusion, never a p-value."""

import numpy as np
import pytest

import tamis
from tamis.certainty import (
    FalseDiscoveries,
    FamilyWise,
    Knockoffs,
    Shadows,
    StabilitySelection,
)
from tamis.exceptions import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 8))
Y = np.arange(40) % 2
SHARES = (FamilyWise, FalseDiscoveries, Knockoffs, Shadows)
RULES = (*SHARES, StabilitySelection)

pytestmark = pytest.mark.filterwarnings("ignore:.*no column was selected")


def fit(rule, X=X, y=Y, cls=tamis.Fisher, **options):
    return cls(n_features_to_select=rule, **options).fit(X, y)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, np.nan, np.inf, "0.1", None, True])
@pytest.mark.parametrize("rule", SHARES)
def test_levels_are_shares(rule, level):
    with pytest.raises(InputError, match=rf"{rule.__name__}: level must be a float in \(0, 1\)"):
        rule(level)


@pytest.mark.parametrize("level", [0, -1, np.nan, None])
def test_the_level_of_stability_is_a_number_of_features(level):
    with pytest.raises(InputError, match="StabilitySelection: level must be a float above 0"):
        StabilitySelection(level)


@pytest.mark.parametrize("rule", SHARES)
@pytest.mark.parametrize("y", [Y, None])
def test_unsupervised_selectors_are_named(rule, y):
    expected = f"{rule.__name__}: expected a selector that uses the target, got Variance"
    with pytest.raises(InputError, match=expected):
        fit(rule(), y=y, cls=tamis.Variance)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (FamilyWise, "at least 20 different orders of the target for level=0.05, got 3"),
        (Knockoffs, "at least two rows of every class, got one of 0"),
        (StabilitySelection, "at least 4 rows for two half samples, got 3"),
    ],
)
def test_too_few_rows(rule, message):
    with pytest.raises(InputError, match=message):
        fit(rule(), X[:3], [0, 1, 1])


@pytest.mark.parametrize("rule", [FalseDiscoveries, Shadows])
def test_three_rows_are_no_evidence(rule):
    selector = fit(rule(), X[:3], [0, 1, 1])
    assert selector.n_selected_ == 0
    assert (selector.p_values_ > 0.1 / X.shape[1]).all()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (FamilyWise, "different orders of the target for level=0.05, got 1: strata"),
        (FalseDiscoveries, "different orders of the target for level=0.1, got 1: strata"),
        (Knockoffs, "strata must be None"),
        (Shadows, "can change places within their stratum, got 40 that cannot"),
        (StabilitySelection, "at least two rows .* of every class and stratum"),
    ],
)
def test_strata_of_one_row(rule, message):
    with pytest.raises(InputError, match=message):
        fit(rule(strata=np.arange(40)))


@pytest.mark.parametrize("rule", RULES)
def test_constant_features_are_excluded(rule):
    table = X.copy()
    table[:, 2], table[:, 5] = 0.0, 7.0
    selector = fit(rule(), table)
    details, constant = selector.cut_details_, [2, 5]
    assert not selector.support_[constant].any()
    nothing = {"p_values": 1, "q_values": 1, "e_values": 0, "frequencies": 0}
    found = [name for name in nothing if name in details]
    assert found
    for name in found:
        np.testing.assert_array_equal(details[name][constant], nothing[name])


@pytest.mark.parametrize("rule", RULES)
def test_one_class_is_no_target(rule):
    with pytest.raises(InputError, match="target with at least two classes, got one class"):
        fit(rule(), y=np.zeros(40, int))


def test_one_class_in_a_half_sample():
    message = "every class and stratum, one for each half sample, got one of class 1"
    with pytest.raises(InputError, match=message):
        fit(StabilitySelection(), y=(np.arange(40) == 7).astype(int))
    # Groups of both classes: whether a half has both is seen when it is drawn.
    groups = np.arange(40) // 10
    mixed = np.where(groups == 0, np.arange(40) % 2, 1)
    with pytest.raises(InputError, match="two classes in every half sample, got only 1"):
        fit(StabilitySelection(groups=groups), y=mixed)


def test_copies_beyond_memory():
    with pytest.raises(InputError, match=r"n_copies must be at most .* fit in memory"):
        fit(Knockoffs(n_copies=10**12))


@pytest.mark.parametrize("rule", [None, FamilyWise(), FalseDiscoveries(), Shadows()], ids=str)
@pytest.mark.parametrize(
    "cls",
    [
        tamis.Fisher, tamis.AnovaF, tamis.Correlation, tamis.DFT, tamis.InformationGain,
        tamis.MutualInformation,
    ],
)  # fmt: skip
def test_no_p_value_is_zero(cls, rule):
    table = np.repeat(X, 100, axis=0)
    y = np.repeat(Y, 100)
    table[:, 0] = y  # as certain as can be
    selector = fit(rule or 3, table, y, cls)
    if rule is None and cls is tamis.DFT:
        assert not hasattr(selector, "p_values_")  # no law
        return
    assert selector.p_values_.min() > 0
    assert selector.p_values_.argmin() == 0
