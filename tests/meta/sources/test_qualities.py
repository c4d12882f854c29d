"""Qualities of columns agree with the selectors and machines that they name."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import tamis
from tamis.exceptions import InputError
from tamis.meta import measure_quality
from tamis.meta.sources import qualities

X, Y = load_wine(return_X_y=True)
Z = StandardScaler().fit_transform(X)


def machine_weights(table, y):
    """Squared weights of scikit-learn's machines, one for each class against the rest."""
    total = 0.0
    classes = np.unique(y)
    for label in classes if classes.size > 2 else classes[:1]:
        machine = SVC(kernel="linear", C=1.0, tol=1e-9).fit(table, y == label)
        total = total + machine.coef_[0] ** 2
    return total


def test_svm_weights_are_those_of_the_machines():
    np.testing.assert_allclose(
        measure_quality("svm_weights", X, Y), machine_weights(Z, Y), rtol=1e-4, atol=1e-6
    )
    two = Y < 2
    np.testing.assert_allclose(
        measure_quality("svm_weights", X[two], Y[two]),
        machine_weights(StandardScaler().fit_transform(X[two]), Y[two]),
        rtol=1e-4,
        atol=1e-6,
    )


def test_svm_weights_of_two_rows_by_hand():
    # Standardised columns are (-1, 1) each: the machine needs w1 + w2 = 1, and splits it evenly.
    np.testing.assert_allclose(
        measure_quality("svm_weights", [[0.0, 5.0], [2.0, 9.0]], [0, 1]), [0.25, 0.25]
    )


def test_units_labels_and_constant_columns_do_not_matter():
    base = measure_quality("svm_weights", X, Y)
    np.testing.assert_allclose(measure_quality("svm_weights", 7 * X - 3, Y), base, rtol=1e-5)
    names = np.array(["red", "green", "blue"])[Y]
    np.testing.assert_allclose(measure_quality("svm_weights", X, names), base, rtol=1e-5)
    wider = np.column_stack([np.full(len(X), 3.0), X, np.full(len(X), np.nan)])
    for quality in qualities.QUALITIES:
        found = measure_quality(quality, wider, Y)
        np.testing.assert_array_equal(found[[0, -1]], 0.0)
        np.testing.assert_allclose(found[1:-1], measure_quality(quality, X, Y), rtol=1e-6)
        assert found[1:-1].min() >= 0


def test_missing_cells_are_at_the_mean():
    holes = X.copy()
    holes[::7, 3] = np.nan
    filled = holes.copy()
    filled[::7, 3] = np.nanmean(holes[:, 3])
    scaled = (filled - filled.mean(axis=0)) / filled.std(axis=0)
    # The deviation is that of the observed cells.
    scaled[:, 3] *= filled[:, 3].std() / np.nanstd(holes[:, 3])
    np.testing.assert_allclose(
        measure_quality("svm_weights", holes, Y), machine_weights(scaled, Y), rtol=1e-4, atol=1e-6
    )


def test_numeric_target_is_ridge_regression():
    table, target = load_diabetes(return_X_y=True)
    target = target + 0.5
    scaled = StandardScaler().fit_transform(table)
    weights = Ridge(alpha=1.0).fit(scaled, (target - target.mean()) / target.std()).coef_
    np.testing.assert_allclose(measure_quality("svm_weights", table, target), weights**2)
    few = Ridge(alpha=1.0).fit(
        StandardScaler().fit_transform(table[:7]),
        (target[:7] - target[:7].mean()) / target[:7].std(),
    )
    np.testing.assert_allclose(measure_quality("svm_weights", table[:7], target[:7]), few.coef_**2)
    np.testing.assert_allclose(
        measure_quality("dft", table, target), tamis.RFT().fit(table, target).scores_
    )
    with pytest.raises(InputError, match="expected a target of classes"):
        measure_quality("fisher", table, target)


def test_very_many_rows_go_to_liblinear(monkeypatch):
    monkeypatch.setattr(qualities, "MOST_ROWS", 50)
    monkeypatch.setattr("tamis.linear_svm.hinge.is_long", lambda n_rows, n_columns: False)
    found = measure_quality("svm_weights", X, Y, random_state=0)
    exact = machine_weights(Z, Y)
    assert np.corrcoef(found, exact)[0, 1] > 0.9
    monkeypatch.setattr("sklearn.svm.LinearSVC", _lazy_machine)
    with pytest.warns(tamis.exceptions.SelectionWarning, match="stopped before its optimum"):
        measure_quality("svm_weights", X, Y, random_state=0)


def _lazy_machine(**options):
    from sklearn.svm._classes import LinearSVC

    return LinearSVC(max_iter=1, dual=True, **options)


@pytest.mark.parametrize(
    ("name", "selector"),
    [
        ("information_gain", tamis.InformationGain()),
        ("fisher", tamis.Fisher()),
        ("dft", tamis.DFT()),
    ],
)
def test_filters_by_name(name, selector):
    expected = selector.fit(X, Y).scores_
    np.testing.assert_array_equal(measure_quality(name, X, Y), expected)
    np.testing.assert_array_equal(measure_quality(name, X, Y, n_jobs=2), expected)


def test_selectors_and_estimators():
    np.testing.assert_array_equal(
        measure_quality(tamis.ReliefF(), X, Y), tamis.ReliefF().fit(X, Y).scores_
    )
    anova = SelectKBest(f_classif)
    np.testing.assert_allclose(measure_quality(anova, X, Y), f_classif(X, Y)[0])
    assert not hasattr(anova, "scores_")  # a copy was fitted
    logistic = LogisticRegression(max_iter=5000).fit(Z, Y)
    np.testing.assert_allclose(measure_quality(logistic, X, Y), (logistic.coef_**2).sum(axis=0))
    two = LogisticRegression().fit(Z[Y < 2], Y[Y < 2])
    np.testing.assert_allclose(measure_quality(two, Z, Y), two.coef_[0] ** 2)
    forest = RandomForestClassifier(n_estimators=10)
    first = measure_quality(forest, X, Y, random_state=3)
    np.testing.assert_array_equal(first, measure_quality(forest, X, Y, random_state=3))
    fitted = RandomForestClassifier(n_estimators=10, random_state=3).fit(X, Y)
    np.testing.assert_array_equal(first, fitted.feature_importances_)


def test_functions_and_constant_columns_at_their_minimum():
    wider = np.column_stack([np.ones(len(X)), X])
    found = measure_quality(lambda table, y: -np.arange(table.shape[1], 0, -1.0), wider, Y)
    np.testing.assert_array_equal(found, [-14.0, *np.arange(-13.0, 0)])
    found = measure_quality(lambda table, y: np.arange(table.shape[1], 0, -1.0), wider, Y)
    assert found[0] == found[1:].min() == 1.0
    nan = measure_quality(lambda table, y: f_classif_quietly(table, y), wider, Y)
    assert nan[0] == nan[1:].min()


def f_classif_quietly(table, y):
    out = np.full(table.shape[1], np.nan)
    varies = np.ptp(table, axis=0) > 0
    out[varies] = f_classif(table[:, varies], y)[0]
    return out


def test_all_constant_gives_zeros():
    for quality in (*qualities.QUALITIES, tamis.DFT(), lambda table, y: table[0]):
        np.testing.assert_array_equal(measure_quality(quality, np.ones((6, 3)), [0, 1] * 3), 0.0)


def test_frames_and_sparse_tables():
    expected = measure_quality("svm_weights", X, Y)
    np.testing.assert_allclose(measure_quality("svm_weights", pd.DataFrame(X), Y), expected)
    np.testing.assert_allclose(
        measure_quality("svm_weights", sparse.csr_array(X), Y), expected, rtol=1e-5
    )


def test_column_order_goes_with_the_columns():
    order = np.random.default_rng(0).permutation(X.shape[1])
    for quality in qualities.QUALITIES:
        np.testing.assert_allclose(
            measure_quality(quality, X[:, order], Y),
            measure_quality(quality, X, Y)[order],
            rtol=1e-5,
        )


def test_wrong_input_is_refused():
    x, y = load_iris(return_X_y=True)
    for wrong in ("svm", 3, None, tamis.DFT):
        with pytest.raises(InputError, match="quality must be 'svm_weights'"):
            measure_quality(wrong, x, y)
    with pytest.raises(InputError, match="expected a target with 150 values"):
        measure_quality("dft", x, y[:-1])
    with pytest.raises(InputError, match="at least two classes"):
        measure_quality("svm_weights", x, np.zeros(150))
    with pytest.raises(InputError, match="one number for each of the 4 columns"):
        measure_quality(lambda table, y: [1.0], x, y)
    with pytest.raises(InputError, match="expected finite numbers from <lambda>, got nan"):
        measure_quality(lambda table, y: [1.0, np.nan, 2.0, 3.0], x, y)
    with pytest.raises(InputError, match="expected numbers from"):
        measure_quality(lambda table, y: ["a", "b", "c", "d"], x, y)
    with pytest.raises(InputError, match="got KNeighborsClassifier without them"):
        measure_quality(KNeighborsClassifier(), x, y)
    with pytest.raises(InputError, match="one number for each of the 13 columns"):
        measure_quality(tamis.DFT().fit(x, y), X, Y)
    x[0, 0] = np.inf
    with pytest.raises(InputError, match="measure_quality: expected finite values or NaN"):
        measure_quality("svm_weights", x, y)
