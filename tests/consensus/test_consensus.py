"""Consensus: many lists made into one."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

import tamis
from reference import aggregation as slow
from tamis import DFT, Consensus, Correlation, RandomRanking, Variance
from tamis._base import BaseSelector
from tamis.certainty import FalseDiscoveries
from tamis.cutoff import PermutationNull, Threshold
from tamis.exceptions import InputError


def table(seed=0, n_rows=120, n_columns=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, 0] - X[:, 1] + 0.6 * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, signal


def classes(signal):
    return np.digitize(signal, [-0.8, 0.8])


@pytest.mark.slow
def test_lists_are_the_rankings_of_the_methods():
    X, signal = table()
    y = classes(signal)
    fitted = Consensus(selectors=["dft", "relieff", "variance"]).fit(X, y)
    assert fitted.list_names_ == ["dft", "relieff", "variance"]
    for name, ranks in zip(fitted.list_names_, fitted.rankings_, strict=True):
        alone = tamis.make_selector(name).fit(X, y)
        np.testing.assert_array_equal(ranks, stats.rankdata(-alone.scores_))
    np.testing.assert_allclose(fitted.scores_, slow.borda(fitted.rankings_))
    pairs = [slow.spearman(*fitted.rankings_[[a, b]]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert fitted.agreement_ == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("aggregation", ["borda", "median", "rra"])
def test_columns_that_matter_come_first(aggregation):
    X, signal = table()
    for y in (signal, classes(signal)):
        fitted = Consensus(aggregation=aggregation, n_features_to_select=3).fit(X, y)
        assert set(fitted.order_[:2]) == {0, 1}
        assert fitted.support_[:2].all()
        assert hasattr(fitted, "pvalues_") == (aggregation == "rra")


def test_aggregations_are_the_functions():
    X, signal = table()
    median = Consensus(aggregation="median").fit(X, signal)
    np.testing.assert_allclose(median.scores_, slow.median_rank(median.rankings_))
    robust = Consensus(aggregation="rra").fit(X, signal)
    expected = [min(1, 3 * float(slow.rho(robust.rankings_, j))) for j in range(X.shape[1])]
    np.testing.assert_allclose(robust.pvalues_, expected)


def test_draws_of_rows_are_stratified_and_without_replacement():
    seen = []

    class Spy(Variance):
        def fit(self, X, y=None, sample_weight=None):
            seen.append((X[:, 0].copy(), y.copy()))
            return super().fit(X, y)

    X, _ = table(n_rows=100)
    y = np.repeat(["a", "b", "c"], [60, 38, 2])
    X[:, 0] = np.arange(100)
    Consensus(selectors=[Spy(), DFT()], n_resamples=5, random_state=1).fit(X, y)
    assert len(seen) == 5
    for rows, labels in seen:
        assert len(set(rows)) == len(rows)
        assert y[rows.astype(int)].tolist() == labels.tolist()
        assert [int((labels == label).sum()) for label in "abc"] == [30, 19, 2]
    assert len({tuple(rows) for rows, _ in seen}) == 5


def test_one_method_over_draws():
    X, signal = table()
    fitted = Consensus(selectors="rft", n_resamples=8, random_state=0).fit(X, signal)
    assert fitted.rankings_.shape == (8, X.shape[1])
    assert fitted.list_names_[0] == "rft, draw 1"
    again = Consensus(selectors="rft", n_resamples=8, random_state=0).fit(X, signal)
    np.testing.assert_array_equal(fitted.rankings_, again.rankings_)
    other = Consensus(selectors="rft", n_resamples=8, random_state=1).fit(X, signal)
    assert (fitted.rankings_ != other.rankings_).any()


def test_draws_do_not_depend_on_the_order_of_rows_nor_on_names_of_classes():
    X, signal = table()
    y = classes(signal)
    settings = Consensus(n_resamples=4, random_state=0)
    first = clone(settings).fit(X, y)
    order = np.random.default_rng(1).permutation(y.size)
    np.testing.assert_array_equal(clone(settings).fit(X[order], y[order]).scores_, first.scores_)
    labels = np.array(["z", "k", "a"])[y]
    np.testing.assert_array_equal(clone(settings).fit(X, labels).scores_, first.scores_)


@pytest.mark.slow
def test_weights_that_count_are_rows_in_draws_too():
    X, signal = table()
    y = classes(signal)
    weight = np.random.default_rng(2).integers(0, 3, y.size)
    rows = np.repeat(np.arange(y.size), weight)
    settings = Consensus(selectors=["dft", "relieff"], n_resamples=3, random_state=0)
    left = clone(settings).fit(X, y, sample_weight=weight)
    right = clone(settings).fit(X[rows], y[rows])
    np.testing.assert_array_equal(left.rankings_, right.rankings_)


def test_weights_reach_the_methods():
    X, signal = table()
    weight = np.random.default_rng(2).random(signal.size)
    fitted = Consensus(selectors=["rft", "correlation"]).fit(X, signal, sample_weight=weight)
    for name, ranks in zip(fitted.list_names_, fitted.rankings_, strict=True):
        alone = tamis.make_selector(name).fit(X, signal, sample_weight=weight)
        np.testing.assert_array_equal(ranks, stats.rankdata(-alone.scores_))
    drawn = Consensus(selectors="rft", n_resamples=2, random_state=0)
    assert np.isfinite(drawn.fit(X, signal, sample_weight=weight).scores_).all()


def test_weights_need_methods_that_take_them():
    X, signal = table()
    weight = np.random.default_rng(2).random(signal.size)
    for n_resamples in (0, 2):
        selector = Consensus(selectors=["rft", "relieff"], n_resamples=n_resamples)
        with pytest.raises(InputError, match="take sample_weight, got 'relieff'"):
            selector.fit(X, signal, sample_weight=weight)


def test_a_method_for_another_task_is_named():
    X, signal = table()
    with pytest.raises(InputError, match="a target of numbers, got 'dft', which is for classif"):
        Consensus(selectors=["rft", "dft"]).fit(X, signal)
    counts = np.round(signal)
    with pytest.raises(InputError, match=r"of classes, got 'rft'.* set task='regression'"):
        Consensus(selectors=["rft"]).fit(X, counts)
    fitted = Consensus(selectors=["rft", "correlation"], task="regression").fit(X, counts)
    alone = Correlation(task="regression").fit(X, counts)
    np.testing.assert_array_equal(fitted.rankings_[1], stats.rankdata(-alone.scores_))


@pytest.mark.slow
def test_without_supervised_methods_no_target_is_needed():
    X, _ = table()
    X *= np.arange(1, X.shape[1] + 1)
    fitted = Consensus(selectors=["variance", "laplacianscore"], n_resamples=2, random_state=0)
    assert fitted.fit(X).order_.size == X.shape[1]
    with pytest.raises(InputError, match="Consensus: requires y"):
        Consensus().fit(X)


def test_names_of_lists():
    X, signal = table()
    y = classes(signal)
    both = Consensus(selectors=[DFT(), DFT(n_bins=4), "dft"]).fit(X, y)
    assert both.list_names_ == ["dft", "dft 2", "dft 3"]
    own = Consensus(selectors={"fine": DFT(n_bins=64), "coarse": DFT(n_bins=4)}).fit(X, y)
    assert own.list_names_ == ["fine", "coarse"]
    assert Consensus(selectors="dft, fisher").fit(X, y).list_names_ == ["dft", "fisher"]


def test_as_many_columns_as_the_methods_would_select():
    X, signal = table()
    y = classes(signal)
    members = [DFT(n_features_to_select=n) for n in (2, 3, 7)]
    fitted = Consensus(selectors=members).fit(X, y)
    assert (fitted.best_n_features_, fitted.n_selected_) == (3, 3)
    expected = np.zeros(X.shape[1])
    expected[fitted.order_[:7]] = 1 / 3
    expected[fitted.order_[:3]] = 2 / 3
    expected[fitted.order_[:2]] = 1
    np.testing.assert_allclose(fitted.selection_frequency_, expected)
    none = Consensus(selectors=[DFT(n_features_to_select=Threshold(9.0))]).fit(X, y)
    assert none.n_selected_ == 1
    assert not none.selection_frequency_.any()


def test_selectors_given_stay_unfitted():
    X, signal = table()
    own = DFT(n_features_to_select=2)
    Consensus(selectors=[own]).fit(X, classes(signal))
    assert not hasattr(own, "scores_")
    assert own.n_features_to_select == 2


def test_random_methods_get_seeds_from_the_one_seed():
    X, signal = table()
    y = classes(signal)
    two = Consensus(selectors=[RandomRanking(), RandomRanking()], random_state=3)
    lists = clone(two).fit(X, y).rankings_
    assert (lists[0] != lists[1]).any()
    np.testing.assert_array_equal(clone(two).fit(X, y).rankings_, lists)
    fixed = Consensus(selectors=[RandomRanking(random_state=0)] * 2).fit(X, y)
    np.testing.assert_array_equal(*fixed.rankings_)


def test_scores_equal_but_for_rounding_are_ties():
    from tamis.consensus.consensus import _without_rounding

    scores = np.array([0.3, 0.1 + 0.2, 1.0, -1e-17, 0.0, 0.3000001])
    np.testing.assert_array_equal(_without_rounding(scores), [1, 1, 3, 0, 0, 2])
    assert len(set(_without_rounding(np.arange(1e6)))) == 1_000_000


def test_constant_columns_are_last_and_infinite_ones_named():
    X, signal = table()
    X[:, 4] = 7.0
    for aggregation in ("borda", "median", "rra"):
        fitted = Consensus(aggregation=aggregation, n_features_to_select=14).fit(X, signal)
        assert fitted.scores_[4] == fitted.scores_.min()
        assert not fitted.support_[4]
    X[3, 5] = np.inf
    with pytest.raises(InputError, match=r"Consensus: .* inf in column 5"):
        Consensus().fit(X, signal)


class Stopping(BaseSelector):
    """Variance, until somebody presses Ctrl-C."""

    left = 0

    def __init__(self, n_features_to_select="all"):
        self.n_features_to_select = n_features_to_select

    def _score(self, X, y, weight):
        if Stopping.left == 0:
            raise KeyboardInterrupt
        Stopping.left -= 1
        return np.var(X, axis=0), np.zeros(X.shape[1], dtype=bool)


def test_ctrl_c_keeps_the_lists_there_are():
    X, signal = table()
    Stopping.left = 2
    selector = Consensus(selectors=[Stopping()], n_resamples=5, random_state=0)
    with (
        pytest.warns(tamis.exceptions.SelectionWarning, match="after 2 of 5 lists"),
        pytest.raises(KeyboardInterrupt),
    ):
        selector.fit(X, signal)
    assert selector.rankings_.shape[0] == 2
    assert selector.support_.all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selectors": []}, "selectors must be names of selectors"),
        ({"selectors": [3]}, "selectors must be names of selectors"),
        ({"selectors": ["dtf"]}, r"Consensus: selectors: .* Did you mean 'dft'"),
        ({"n_resamples": -1}, "n_resamples must be an int of at least 0"),
        ({"subsample": 0.0}, r"subsample must be a float in \(0, 1\]"),
        ({"aggregation": "mean"}, "aggregation must be 'borda' or"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    X, signal = table()
    with pytest.raises(InputError, match=message):
        Consensus(**settings).fit(X, classes(signal))


def test_draws_and_methods_together_on_a_sparse_table_with_holes():
    from scipy import sparse

    X, signal = table()
    X[np.random.default_rng(5).random(X.shape) < 0.5] = 0
    X[3, 3] = np.nan
    settings = Consensus(selectors=["rft", "anovaf"], n_resamples=3, random_state=0)
    dense = clone(settings).fit(X, signal)
    assert dense.list_names_[:3] == ["rft, draw 1", "anovaf, draw 1", "rft, draw 2"]
    csr = clone(settings).fit(sparse.csr_array(X), signal)
    np.testing.assert_array_equal(dense.rankings_, csr.rankings_)


def test_errors_of_a_method_name_the_consensus():
    X, signal = table()
    with pytest.raises(InputError, match="Consensus: no list of 'dft': DFT: n_bins must be"):
        Consensus(selectors=[DFT(n_bins=1), "fisher"]).fit(X, classes(signal))
    with pytest.raises(InputError, match="Consensus: expected values below 1e150"):
        Consensus(selectors=["anovaf"]).fit(X * 1e200, classes(signal))


@pytest.mark.parametrize("rule", [PermutationNull(0.05), FalseDiscoveries(0.1)])
def test_ranks_are_no_statistic_for_permutations(rule):
    X, signal = table()
    with pytest.raises(InputError, match="Consensus: n_features_to_select must be a cutoff that"):
        Consensus(n_features_to_select=rule).fit(X, classes(signal))
    fitted = Consensus(selectors=["anovaf"], n_features_to_select=2).fit(X, classes(signal))
    with pytest.raises(InputError, match=r"Consensus: .* does not permute the target"):
        fitted.recut(rule)
