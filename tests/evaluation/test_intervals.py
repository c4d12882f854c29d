import numpy as np
import pytest
from scipy.stats import norm, ttest_rel

from tamis.evaluation.intervals import (
    corrected_score,
    effective_rows,
    gather,
    guessing,
    score_interval,
)
from tamis.evaluation.metrics import METRICS, Metric, make_metric
from tamis.exceptions import InputError

ACCURACY = make_metric("accuracy", "classification")


@pytest.mark.parametrize("name", list(METRICS))
@pytest.mark.parametrize("n", [5, 60, 1000])
def test_an_interval_stays_in_the_range_and_has_a_width(name, n):
    metric = METRICS[name][0]
    scores = {0.0, 0.001, 0.3, 0.97, 1.0} - ({0.0} if name == "mse" else set())
    for score in scores:
        for error in (0.0, 0.02, 0.4):
            low, high = score_interval(score, error, metric, n, degrees=4)
            assert metric.low <= low < high <= metric.high
            assert low <= score <= high


def test_a_share_of_independent_rows_has_the_interval_of_wilson():
    low, high = score_interval(0.8, np.sqrt(0.8 * 0.2 / 50), ACCURACY, 1e9)
    for end in (low, high):  # the ends solve (p - 0.8)^2 = z^2 p (1 - p) / n
        assert (end - 0.8) ** 2 == pytest.approx(norm.ppf(0.975) ** 2 * end * (1 - end) / 50)


def test_what_is_unknown_stays_unknown():
    own = Metric("own", lambda model, X, y: 0.0, True)
    assert np.isnan(score_interval(0.3, 0.0, own, 50)).all()
    assert np.isnan(score_interval(np.nan, 0.1, ACCURACY, 50)).all()
    assert score_interval(3.0, 1.0, own, 50) == pytest.approx((3 - 1.96, 3 + 1.96), abs=0.001)


def test_rows_of_one_fold_give_the_paired_t_test():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 2))
    found = gather([(np.arange(30), values)], 30).difference(0, 1)
    assert found.p_value == pytest.approx(ttest_rel(values[:, 0], values[:, 1]).pvalue)
    assert found.standard_error == pytest.approx(np.diff(values).std(ddof=1) / np.sqrt(30))


def test_rows_tested_again_add_nothing():
    """Twenty times the same split is as good as one."""
    values = np.random.default_rng(1).normal(size=(40, 1))
    once = gather([(np.arange(40), values)], 40)
    again = gather([(np.arange(40), values)] * 20, 40)
    assert again.scores == pytest.approx(once.scores)
    assert again.variance([1.0]) == pytest.approx(once.variance([1.0]))


def test_what_all_rows_of_a_split_share_is_not_taken_for_many_answers():
    """A model that is right or wrong as a whole: the splits are what counts, not their rows."""
    splits = np.random.default_rng(2).integers(0, 2, 20)
    rows = [np.random.default_rng(j).choice(300, 100, replace=False) for j in range(20)]
    found = gather([(r, np.full(100, s)) for r, s in zip(rows, splits, strict=True)], 300)
    assert found.variance([1.0])[0] >= splits.var(ddof=1) / 20


def test_rows_never_tested_do_not_count():
    few = gather([([3, 5], [1.0, 0.0])], 1000)
    assert few.rows.shape == (2, 1)
    assert few.shares.tolist() == [0.5, 0.5]
    with pytest.raises(InputError, match="at least one split"):
        gather([], 3)


def test_equal_procedures_do_not_differ():
    same = np.repeat(np.random.default_rng(0).normal(size=(30, 1)), 2, axis=1)
    assert gather([(np.arange(30), same)], 30).difference(0, 1).p_value == 1.0


def test_the_smallest_class_limits_the_auc():
    y = np.repeat([0, 1, 2], [50, 30, 4])
    assert effective_rows(make_metric("auc", "classification"), y) == 12
    assert effective_rows(ACCURACY, y) == 84


def test_the_score_of_the_best_guess_is_corrected():
    """Of 30 procedures that guess, the best scores far above a half; the corrected score not."""
    found, plain = [], []
    for seed in range(60):
        right = np.random.default_rng(seed).integers(0, 2, (80, 30))
        scores = gather([(np.arange(80), right)], 80)
        found.append(corrected_score(scores, lambda s, e: int(s.argmax()), n_draws=100)[0])
        plain.append(scores.scores.max())
    error = np.std(found, ddof=1) / np.sqrt(60)
    assert np.mean(plain) > 0.58
    assert abs(np.mean(found) - 0.5) < 3.5 * error


def test_without_a_choice_nothing_is_corrected():
    right = np.random.default_rng(0).integers(0, 2, (200, 1))
    score, optimism = corrected_score(gather([(np.arange(200), right)], 200), lambda s, e: 0)
    assert abs(optimism) < 0.01
    assert score + optimism == pytest.approx(right.mean())


def test_guessing_is_the_prior_and_the_mean():
    X = np.zeros((4, 1))
    model = guessing("classification").fit(X, [0, 0, 0, 1])
    assert make_metric("accuracy", "classification").scorer(model, X, [0, 1, 1, 1]) == 0.25
    assert make_metric("auc", "classification").scorer(model, X, [0, 1, 1, 1]) == 0.5
    assert guessing("regression").fit(X, [1.0, 2, 3, 6]).predict(X)[0] == 3.0
