"""GFlip: by hand, against the plain search, and what users pass."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from reference import relief as plain
from tamis import GFlip
from tamis.exceptions import InputError, SelectionWarning


def table(seed, n_rows=26, n_columns=8, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-1, 2, n_columns)
    y = rng.integers(0, n_classes, n_rows)
    y[0], y[1:3], y[3:5] = n_classes, 0, 1  # the first is alone in its class
    X[:, :4] += np.column_stack([y, y, y % 2, y % 3]) * 2 * np.abs(X[:, :4]).mean(axis=0)
    return X, y


def chosen(selector):
    return set(selector.order_[: selector.best_n_features_].tolist())


def test_worked_by_hand():
    # Column 0 alone: hits at 1, misses at 10, 9, 9, 10: half of 38 - 4 is 17. Column 1 alone: hits
    # at 2, misses at 0: -4. Both: hits at sqrt(5), misses at sqrt(104), 9, 9, sqrt(104).
    X = [[0, 2], [1, 0], [10, 0], [11, 2]]
    selector = GFlip(random_state=0).fit(X, [0, 0, 1, 1])
    assert selector.get_support().tolist() == [True, False]
    assert selector.evaluation_ == pytest.approx(17.0)
    both = np.sqrt(104) + 9 - 2 * np.sqrt(5)
    np.testing.assert_allclose(selector.scores_, [17.0, both - 17.0])


@pytest.mark.parametrize("utility", ["linear", "zero_one", "sigmoid"])
@pytest.mark.parametrize("start", ["empty", "all"])
@pytest.mark.parametrize("seed", range(3))
def test_twin(utility, start, seed):
    X, y = table(seed)
    options = {"utility": utility, "sharpness": 2.0}
    selector = GFlip(start=start, random_state=seed, **options).fit(X, y)
    first = range(8 if start == "all" else 0)
    expected, value, gains = plain.gflip(X, y, np.random.RandomState(seed), first, **options)
    assert chosen(selector) == expected
    assert len(expected) > 0
    assert selector.evaluation_ == pytest.approx(value)
    np.testing.assert_allclose(selector.scores_, gains, atol=1e-9)
    assert selector.n_selected_ == len(expected) == selector.best_n_features_


def test_chosen_columns_come_first_and_no_flip_helps():
    X, y = table(11, n_rows=60, n_columns=30)
    selector = GFlip(random_state=3).fit(X, y)
    inside = selector.get_support()
    assert (selector.scores_[inside] > 0).all()
    assert (selector.scores_[~inside] <= 0).all()
    for j in range(30):
        flipped = chosen(selector) ^ {j}
        assert plain.flip_evaluation(X, y, flipped) <= selector.evaluation_ + 1e-9


def test_more_restarts_are_never_worse():
    X, y = table(4, n_rows=50, n_columns=40)
    values = [
        GFlip(utility="zero_one", n_restarts=n, random_state=0).fit(X, y).evaluation_
        for n in (1, 3, 9)
    ]
    assert values == sorted(values)


def test_seed():
    X, y = table(5, n_rows=50, n_columns=60)
    one, two = (GFlip(random_state=1).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    others = [chosen(GFlip(random_state=seed).fit(X, y)) for seed in range(5)]
    assert any(other != chosen(one) for other in others)


def test_a_column_of_great_scale_leaves_no_trace():
    """A huge column that goes in and out again must not spoil the distances of the others."""
    X, y = load_iris(return_X_y=True)
    clean = GFlip(random_state=0).fit(X, y)
    noise = np.random.default_rng(0).normal(size=(len(y), 3)) * [1e7, 1e-9, 1e7]
    wide = np.column_stack([X, noise])
    for seed in range(4):
        selector = GFlip(random_state=seed).fit(wide, y)
        set_found = chosen(selector)
        value = plain.flip_evaluation(wide, y, set_found)
        assert selector.evaluation_ == pytest.approx(value, rel=1e-9)
    assert clean.evaluation_ == pytest.approx(plain.flip_evaluation(X, y, chosen(clean)))


def test_offset_and_units():
    X, y = table(2)
    plain_scores = GFlip(random_state=0).fit(X, y).scores_
    np.testing.assert_allclose(GFlip(random_state=0).fit(X + 1e5, y).scores_, plain_scores,
                               atol=1e-8)  # fmt: skip
    np.testing.assert_allclose(
        GFlip(random_state=0).fit(X * 1e-120, y).scores_, plain_scores * 1e-120, rtol=1e-8
    )


def test_missing_cells_count_as_the_mean():
    X, y = table(6)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    np.testing.assert_allclose(
        GFlip(random_state=0).fit(X, y).scores_, GFlip(random_state=0).fit(filled, y).scores_
    )


def test_no_column_helps():
    # In either column alone, and in both, the nearest row is of the other class.
    X = np.array([[0.0, 0], [0, 0.1], [1, 1], [1, 1.1]])
    with pytest.warns(SelectionWarning):
        selector = GFlip(random_state=0).fit(X, [0, 1, 1, 0])
    assert selector.best_n_features_ == selector.n_selected_ == 0
    assert selector.evaluation_ == 0.0
    assert (selector.scores_ <= 0).all()
    assert selector.recut(1).n_selected_ == 1


def test_columns_that_help_only_together():
    """From no columns, one by one, none of them gets in; from all of them, none goes out."""
    X = np.array([[0, 0], [0.1, 0.1], [4, 4], [4.1, 4.1], [0, 4.05], [0.1, 4], [4, 0], [4.1, 0.1]])
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.warns(SelectionWarning):
        assert GFlip(random_state=0).fit(X, y).best_n_features_ == 0
    assert GFlip(start="all", random_state=0).fit(X, y).best_n_features_ == 2


def test_a_repeated_column_is_as_good_as_a_scale():
    """Two equal columns are one column times the root of two, which widens all margins."""
    X, y = load_iris(return_X_y=True)
    selector = GFlip(random_state=0).fit(X[:, [2, 2]], y)
    one = plain.flip_evaluation(X, y, {2})
    assert selector.evaluation_ == pytest.approx(np.sqrt(2) * one)


def test_rounds_that_do_not_suffice():
    X, y = table(7, n_rows=50, n_columns=40)
    with pytest.warns(SelectionWarning, match="GFlip: columns were still flipping after 1 rounds"):
        selector = GFlip(max_iter=1, random_state=0).fit(X, y)
    inside = selector.get_support()
    assert selector.scores_[inside].min() > 0 >= selector.scores_[~inside].max(initial=-1.0)


def test_too_many_rows_for_the_memory():
    X, y = table(0)
    with pytest.raises(InputError, match=r"GFlip: expected distances .* got 5,408 for 26 rows"):
        GFlip(memory_limit=5_000).fit(X, y)


def test_every_row_a_class():
    with pytest.raises(InputError, match="GFlip: expected a class with at least two rows"):
        GFlip().fit([[1.0], [2], [3]], [1, 2, 3])


@pytest.mark.parametrize(
    ("name", "value"),
    [("utility", "cubic"), ("start", "half"), ("sharpness", 0), ("n_restarts", 0), ("max_iter", 0),
     ("memory_limit", 0), ("n_jobs", 0)],
)  # fmt: skip
def test_parameters(name, value):
    with pytest.raises(InputError, match=f"GFlip: {name} must be .*got {value!r}"):
        GFlip(**{name: value}).fit([[1.0], [2], [3], [4]], [0, 0, 1, 1])
