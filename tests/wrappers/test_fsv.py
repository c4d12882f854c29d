"""FSV: the linear programs, their sequence, what is known by hand and what users pass."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import tamis
from reference import fsv as plain
from tamis import FSV
from tamis.exceptions import InputError, SelectionWarning
from tamis.wrappers import fsv
from tamis.wrappers.fsv import LEAST_SHARE, SeparationProgram, smooth_count


def table(seed=0, n_rows=40, n_columns=12, *, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] - X[:, 1] + noise * rng.normal(size=n_rows) > 0.3).astype(int)
    return X, y


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def solve(Z, y, price, penalty):
    """One program by column generation, in the scale of the paper."""
    sign = np.where(y == 1, 1.0, -1.0)
    share = np.where(y == 1, 1 / (y == 1).sum(), 1 / (y == 0).sum())
    half = len(y) / 2
    program = SeparationProgram(Z, sign, share * half, "FSV")
    weights, intercept = program.solve(price * half / (1 - penalty))
    plane = SimpleNamespace(weights=weights, offset=-intercept, earned=program.earned)
    return plane, share, sign


# One linear program.


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(30, 8), (24, 150), (9, 300), (60, 3)])
def test_program_reaches_the_optimum_of_the_dense_one(seed, shape):
    rng = np.random.default_rng(seed)
    X, y = table(seed, *shape)
    Z = standardised(X)
    penalty = rng.choice([0.01, 0.05, 0.3])
    price = penalty * 5 * np.exp(-5 * rng.random(shape[1]) * rng.integers(0, 2, shape[1]))
    w, _, best = plain.linear_program(Z[y == 1], Z[y == 0], price, penalty)
    plane, share, sign = solve(Z, y, price, penalty)
    errors = np.maximum(0, 1 - sign * (Z @ plane.weights - plane.offset))
    value = (1 - penalty) * share @ errors + price @ np.abs(plane.weights)
    assert value == pytest.approx(best, abs=1e-8)
    np.testing.assert_allclose(plane.weights, w, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_column_earns_more_than_its_price(seed):
    X, y = table(seed, 25, 400)
    Z = standardised(X)
    price = 0.05 * 5 * np.exp(-5 * np.random.default_rng(seed).random(400))
    plane, _, _ = solve(Z, y, price, 0.05)
    full = price * len(y) / 2 / 0.95
    assert (np.abs(plane.earned) <= full + 1e-7).all()
    used = plane.weights != 0
    assert used.sum() > 5
    # Complementary slackness: a column in use earns its price, with the sign of its weight.
    np.testing.assert_allclose(
        plane.earned[used], np.sign(plane.weights[used]) * full[used], rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_does_not_depend_on_the_columns_tried_first(seed, monkeypatch):
    monkeypatch.setattr(fsv, "FIRST", 1)
    monkeypatch.setattr(fsv, "MORE", 2)
    X, y = table(seed, 30, 60)
    Z = standardised(X)
    price = np.full(60, 0.05 * 5 * np.exp(-4))
    w, _, _ = plain.linear_program(Z[y == 1], Z[y == 0], price, 0.05)
    assert np.count_nonzero(w) > 5
    plane, _, _ = solve(Z, y, price, 0.05)
    np.testing.assert_allclose(plane.weights, w, atol=1e-6)


# The sequence.


def test_two_rows_by_hand():
    # One column, values 1 and -1: the error of either row is 1 - w, so w = 1 and gamma = 0.
    fitted = FSV().fit([[1.0], [-1.0]], [1, 0])
    assert fitted.coef_[0, 0] == pytest.approx(1.0)
    assert fitted.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    assert fitted.objective_[0][-1] == pytest.approx(0.05 * (1 - np.exp(-5)))
    assert fitted.scores_.tolist() == [pytest.approx(1.0)]


def test_two_rows_by_hand_in_units():
    # Values 3 and -1 are 2 apart on either side of the mean: w = 1/2 per unit.
    fitted = FSV(scale=False).fit([[3.0], [-1.0]], ["b", "a"])
    assert fitted.coef_[0, 0] == pytest.approx(0.5)
    assert fitted.objective_[0][-1] == pytest.approx(0.05 * (1 - np.exp(-2.5)))


def test_three_points_in_a_row_by_hand():
    # Negative at -1 and 0, positive at 1, weights so that each counts 1/3 of the mean and
    # deviation. Prices are low, so no row is in error: w x - gamma is 1 at x = 1 and -1 at x = 0.
    X = np.array([[-1.0], [0.0], [1.0]])
    fitted = FSV(scale=False, penalty=0.01).fit(X, [0, 0, 1])
    assert fitted.coef_[0, 0] == pytest.approx(2.0)
    assert fitted.intercept_[0] == pytest.approx(-1.0)


@pytest.mark.parametrize("penalty", [0.2, 0.9])
def test_a_separating_column_among_noise_is_selected_alone(penalty):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 25)
    X = rng.normal(size=(50, 30))
    X[:, 17] = y + 0.05 * rng.normal(size=50)
    fitted = FSV(penalty=penalty).fit(X, y)
    assert np.flatnonzero(fitted.support_).tolist() == [17]
    assert fitted.best_n_features_ == 1


@pytest.mark.parametrize("seed", range(5))
def test_same_path_as_the_printed_algorithm(seed):
    # Noise and a strong penalty keep weights small, where the least price plays no part.
    X, y = table(seed, 60, 10, noise=1.5)
    Z = standardised(X)
    w, gamma, path = plain.successive(Z[y == 1], Z[y == 0], penalty=0.2, alpha=2.0, start=2.5)
    assert np.abs(w).max() < -np.log(LEAST_SHARE) / 2.0
    fitted = FSV(penalty=0.2, alpha=2.0).fit(X, y)
    assert fitted.objective_[0][-1] == pytest.approx(path[-1], abs=1e-7)
    np.testing.assert_allclose(fitted.objective_[0], path, atol=1e-3)
    np.testing.assert_allclose(fitted.coef_[0], w, atol=1e-6)
    assert fitted.intercept_[0] == pytest.approx(-gamma, abs=1e-6)
    assert fitted.n_iter_ == path.size


@pytest.mark.parametrize("seed", range(3))
def test_same_plane_as_the_printed_algorithm_with_a_least_price(seed):
    X, y = table(seed, 30, 60, noise=0.1)
    Z = standardised(X)
    w, _, _ = plain.successive(Z[y == 1], Z[y == 0], least=LEAST_SHARE)
    fitted = FSV().fit(X, y)
    np.testing.assert_allclose(fitted.coef_[0], w, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(8))
def test_objective_never_rises(seed):
    X, y = table(seed, 40, 80)
    for penalty in (0.01, 0.05, 0.3):
        path = FSV(penalty=penalty, n_features_to_select="all").fit(X, y).objective_[0]
        assert (np.diff(path) <= 1e-8).all()
        assert path.size > 1


def test_smooth_count_is_concave_and_its_slope_is_the_price():
    x = np.linspace(0, 30, 3001)
    value = smooth_count(x)
    slope = np.diff(value) / np.diff(x)
    assert value[0] == 0.0
    assert (np.diff(slope) <= 1e-12).all()
    middle = (x[1:] + x[:-1]) / 2
    np.testing.assert_allclose(slope, np.maximum(np.exp(-middle), LEAST_SHARE), rtol=1e-3)


# The order of the columns that no plane uses.


def test_without_any_column_the_order_is_that_of_the_mean_differences():
    # Closed form: no column pays if penalty alpha exp(-5) >= (1 - penalty) |difference of means|.
    X, y = table(0, 60, 6)
    Z = standardised(X)
    difference = np.abs(Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0))
    limit = difference.max() / (5 * np.exp(-5))
    above, below = (ratio / (1 + ratio) for ratio in (1.001 * limit, 0.999 * limit))
    with pytest.warns(SelectionWarning, match="got none with penalty"):
        fitted = FSV(penalty=above, n_features_to_select=2).fit(X, y)
    assert fitted.best_n_features_ == 0
    assert (fitted.coef_ == 0).all()
    np.testing.assert_array_equal(fitted.order_, np.argsort(-difference))
    price = above / (1 - above) * 5
    np.testing.assert_allclose(fitted.criterion_, difference / price, rtol=1e-9)
    np.testing.assert_allclose(fitted.scores_, fitted.criterion_ - 1)
    first = FSV(penalty=below, max_iter=1).fit(X, y)
    assert np.flatnonzero(first.coef_[0]).tolist() == [difference.argmax()]


def test_none_selected_when_no_column_is_used():
    X, y = table(0, 60, 6)
    with pytest.warns(SelectionWarning):
        fitted = FSV(penalty=0.9999).fit(X, y)
    assert fitted.n_selected_ == 0


def test_columns_in_use_come_first_and_the_rest_by_reduced_cost():
    X, y = table(2, 50, 30)
    fitted = FSV().fit(X, y)
    used = fitted.coef_[0] != 0
    assert 0 < used.sum() < 30
    np.testing.assert_array_equal(fitted.support_, used)
    np.testing.assert_allclose(fitted.scores_[used], np.abs(fitted.coef_[0][used]))
    assert (fitted.scores_[~used] <= 0).all()
    assert (fitted.criterion_[used] == 1).all()
    np.testing.assert_allclose(fitted.scores_[~used], fitted.criterion_[~used] - 1)


def test_a_copy_of_a_chosen_column_is_far_from_being_used():
    # The copy earns what the chosen column pays, which is little beside the price of a new one.
    X, y = table(2, 50, 30)
    best = FSV().fit(X, y).order_[0]
    fitted = FSV().fit(np.column_stack([X, X[:, best]]), y)
    weights = np.abs(fitted.coef_[0, [best, 30]])
    assert np.count_nonzero(weights) == 1
    copy = (best, 30)[int(weights.argmin())]
    paid = max(np.exp(-5 * weights.max()), LEAST_SHARE)
    assert fitted.criterion_[copy] == pytest.approx(paid, rel=1e-6)


# Tables, targets and weights.


def test_three_classes_are_three_planes():
    X, _ = table(3, 60, 8)
    y = np.digitize(X[:, 0] + 0.2 * X[:, 3], [-0.5, 0.5])
    fitted = FSV(n_features_to_select="all").fit(X, y)
    assert fitted.coef_.shape == (3, 8)
    for k in range(3):
        alone = FSV(n_features_to_select="all").fit(X, y == k)
        np.testing.assert_allclose(fitted.coef_[k], alone.coef_[0], atol=1e-9)
        np.testing.assert_allclose(fitted.objective_[k], alone.objective_[0])
    used = (fitted.coef_ != 0).any(axis=0)
    assert fitted.best_n_features_ == used.sum()
    np.testing.assert_allclose(
        fitted.scores_[used], np.sqrt((fitted.coef_**2).sum(axis=0))[used], rtol=1e-12
    )


def test_plane_separates_its_classes():
    X, y = table(4, 60, 8, noise=0.0)
    labels = np.array(["no", "yes"])[y]
    fitted = FSV().fit(X, labels)
    side = standardised(X) @ fitted.coef_[0] + fitted.intercept_[0] > 0
    np.testing.assert_array_equal(fitted.classes_[side.astype(int)], labels)


def test_weights_against_the_weighted_program():
    X, y = table(5, 40, 6, noise=1.0)
    weight = np.random.default_rng(0).random(40) + 0.1
    mean = np.average(X, axis=0, weights=weight)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    price = np.full(6, 0.05 * 5 * np.exp(-5))
    one = y == 1
    w, _, _ = plain.linear_program(Z[one], Z[~one], price, 0.05, weight[one], weight[~one])
    fitted = FSV(max_iter=1, n_features_to_select="all").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(fitted.coef_[0], w, atol=1e-6)


def test_scale_of_the_weights_within_a_class_does_not_matter_to_the_errors():
    X, y = table(5, 40, 6)
    weight = np.where(y == 1, 7.0, 1.0)
    mean = np.average(X, axis=0, weights=weight)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    left = FSV(n_features_to_select="all", scale=False).fit(Z, y, sample_weight=weight)
    right = FSV(n_features_to_select="all", scale=False).fit(Z, y)
    np.testing.assert_allclose(left.objective_[0], right.objective_[0])
    np.testing.assert_allclose(left.coef_, right.coef_, atol=1e-9)


@pytest.mark.parametrize(("factor", "offset"), [(1.0, 1e8), (1e-200, 0.0), (1e140, 0.0)])
def test_units_do_not_matter(factor, offset):
    X, y = table(6, 40, 6)
    expected = FSV(n_features_to_select="all").fit(X, y).scores_
    scores = FSV(n_features_to_select="all").fit(X * factor + offset, y).scores_
    np.testing.assert_allclose(scores, expected, rtol=1e-6 if offset else 1e-9)


def test_units_matter_without_scale():
    # The same column in larger units needs a smaller weight, so it is the cheaper one.
    y = np.repeat([0, 1], 10)
    x = y + 0.1 * np.random.default_rng(0).normal(size=20)
    fitted = FSV(scale=False).fit(np.column_stack([x, 100 * x]), y)
    assert np.flatnonzero(fitted.support_).tolist() == [1]


def test_missing_cells_are_at_the_mean():
    X, y = table(7, 40, 6)
    holes = np.random.default_rng(0).random(X.shape) < 0.2
    X[holes] = np.nan
    filled = np.where(holes, np.nanmean(X, axis=0), X)
    left, right = (FSV(n_features_to_select="all").fit(table, y) for table in (X, filled))
    np.testing.assert_allclose(left.scores_, right.scores_, rtol=1e-9)
    compressed = FSV(n_features_to_select="all").fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(compressed.scores_, right.scores_, rtol=1e-9)


def test_constant_and_empty_columns_are_last():
    X, y = table(8, 40, 6)
    X[:, 1], X[:, 4] = 3.0, np.nan
    fitted = FSV(n_features_to_select="all").fit(X, y)
    np.testing.assert_array_equal(fitted.scores_[[1, 4]], [-1.0, -1.0])
    np.testing.assert_array_equal(fitted.criterion_[[1, 4]], [0.0, 0.0])


def test_integer_table_with_ties_reaches_the_optimum():
    rng = np.random.default_rng(9)
    X = rng.integers(0, 3, (50, 15))
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 50) > 2).astype(int)
    Z = standardised(X)
    price = np.full(15, 0.05 * 5 * np.exp(-5))
    w, gamma, _ = plain.linear_program(Z[y == 1], Z[y == 0], price, 0.05)
    fitted = FSV(max_iter=1, n_features_to_select="all").fit(X, y)
    value, best = (
        plain.objective(Z[y == 1], Z[y == 0], a, g, 0.05, 1e-9) + price @ np.abs(a)
        for a, g in ((fitted.coef_[0], -fitted.intercept_[0]), (w, gamma))
    )
    assert value == pytest.approx(best, abs=1e-7)


def test_warns_when_the_programs_do_not_settle():
    X, y = table(0, 40, 60)
    with pytest.warns(SelectionWarning, match="Raise max_iter"):
        FSV(max_iter=2, tol=0.0).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [("penalty", 0.0), ("penalty", 1.0), ("alpha", 0.0), ("max_iter", 0), ("scale", 1)],
)
def test_parameters_out_of_range(name, value):
    X, y = table()
    with pytest.raises(InputError, match=f"FSV: {name} must be"):
        FSV(**{name: value}).fit(X, y)


def test_continuous_target_and_infinite_values():
    X, y = table()
    with pytest.raises(InputError, match="FSV: expected a target of classes"):
        FSV().fit(X, X[:, 0])
    X[3, 2] = np.inf
    with pytest.raises(InputError, match="FSV: expected finite values or NaN, got inf in column 2"):
        FSV().fit(X, y)


@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
def test_colon_is_separated_by_few_genes():
    data = tamis.datasets.load("colon")
    fitted = FSV().fit(data.X, data.y)
    Z = standardised(data.X[:, fitted.support_])
    side = Z @ fitted.coef_[0, fitted.support_] + fitted.intercept_[0] > 0
    np.testing.assert_array_equal(side, data.y == fitted.classes_[1])
    assert fitted.best_n_features_ <= 6
    assert (np.diff(fitted.objective_[0]) <= 1e-8).all()
