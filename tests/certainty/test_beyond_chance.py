"""BeyondChance: the features beyond chance, the default cutoff."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

import tamis
from tamis.certainty import BeyondChance, FalseDiscoveries
from tamis.cutoff import as_rule
from tamis.exceptions import InputError, SelectionWarning
from tamis.selectors import list_selectors, make_selector, selector_info

SUPERVISED = [name for name in list_selectors() if selector_info(name).supervised]
N_TABLES = 30
# Noise tables with a selection are binomial with a share of at most 0.1 if the level holds. So many
# are exceeded with a probability below 1e-4 per selector, 0.2% in all.
MOST = int(stats.binom.isf(1e-4, N_TABLES, 0.1))
# Cheaper settings of methods whose fit takes long; the test does not look at their scores.
CHEAP = {"ofw": {"max_iter": 20}, "treeimportance": {"n_estimators": 10}}


def table(seed=0, n=120, p=12, n_true=3, effect=1.5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, p))
    X[:, :n_true] += effect * y[:, None]
    return X, y


def noise(seed, task="classification", n=40, p=8):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n) if task == "classification" else rng.standard_normal(n)
    return rng.standard_normal((n, p)), y


def make(name, **params):
    known = make_selector(name).get_params(deep=False)
    seed = {"random_state": 0} if "random_state" in known else {}
    cheap = {key: value for key, value in CHEAP.get(name, {}).items() if key in known}
    return make_selector(name, **seed, **cheap, **params)


TESTED_AT_ONCE = {
    "anovaf", "correlation", "dft", "fisher", "informationgain", "mutualinformation", "relieff",
    "rft",
}  # fmt: skip


def test_auto_is_the_default_where_scores_can_be_tested_at_once():
    defaults = {name: make_selector(name).n_features_to_select for name in list_selectors()}
    assert {name for name, default in defaults.items() if default == "auto"} == TESTED_AT_ONCE
    assert isinstance(as_rule("auto"), BeyondChance)


@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if selector_info(name).cost == "T n" else pytest.mark.slow)
        for name in SUPERVISED
    ],
)
def test_tables_of_noise_are_left_alone(name):
    task = selector_info(name).tasks[0]
    selector = make(name, n_features_to_select="auto")
    selected = sum(selector.fit(*noise(seed, task)).n_selected_ > 0 for seed in range(N_TABLES))
    assert selected <= MOST


@pytest.mark.parametrize("name", ["anovaf", "dft"])
def test_scores_with_a_law_or_permutations_are_tested_as_by_false_discoveries(name):
    X, y = table()
    selector = make(name).fit(X, y)
    same = make(name, n_features_to_select=FalseDiscoveries(0.1)).fit(X, y)
    assert selector.cut_details_["tested"] == "scores"
    np.testing.assert_array_equal(selector.support_, same.support_)
    if name == "anovaf":  # rows are put in an order by content: other permutations are drawn
        np.testing.assert_array_equal(selector.q_values_, same.q_values_)


def test_a_method_without_a_number_keeps_as_many_as_the_rank_test_finds():
    X, y = table()
    selector = make("svmrfe", n_features_to_select="auto").fit(X, y)
    p_values = [stats.spearmanr(X[:, j], y).pvalue for j in range(X.shape[1])]
    q_values = stats.false_discovery_control(p_values)
    np.testing.assert_allclose(selector.q_values_, q_values, rtol=1e-6)
    count = (q_values <= 0.1).sum()
    assert count == 3
    first = np.sort(selector.order_[:count])
    np.testing.assert_array_equal(first, selector.get_support(indices=True))
    assert "How many features" in selector.cut_details_["question"]
    assert list(selector.to_frame().columns)[-2:] == ["p_value", "q_value"]


def test_a_method_with_a_number_of_its_own_keeps_it_if_anything_is_beyond_chance():
    X, y = table()
    assert (
        make("l0svm", n_features_to_select="auto").fit(X, y).n_selected_
        == make("l0svm", n_features_to_select="best").fit(X, y).n_selected_
    )
    with pytest.warns(SelectionWarning, match="Nothing beats chance at a false discovery rate"):
        assert make("l0svm", n_features_to_select="auto").fit(*noise(1)).n_selected_ == 0


def test_one_outlier_does_not_hide_a_feature_from_the_rank_test():
    X, y = table(n_true=1)
    X[0, 0] = 1e6
    forest = make("treeimportance", n_features_to_select="auto").fit(X, y)
    assert forest.cut_details_["q_values"][0] < 1e-3


def test_permutations_are_fewer_where_many_features_are_clear():
    X, y = table(p=400, n_true=200)
    n_permutations = tamis.DFT().fit(X, y).cut_details_["n_permutations"]
    X, y = noise(0, n=120, p=400)
    with pytest.warns(SelectionWarning):
        most = tamis.DFT().fit(X, y).cut_details_["n_permutations"]
    assert (n_permutations, most) == (999, 3999)


def test_slow_permutations_are_replaced_by_the_rank_test():
    X, y = table(n=100, p=20)
    assert tamis.ReliefF().fit(X, y).cut_details_["tested"] == "scores"  # 999 * 100 * 100 pairs
    X, y = table(n=600, p=20)
    assert tamis.ReliefF().fit(X, y).cut_details_["tested"] == "rank correlation"


def test_relieff_finds_an_interaction_that_no_marginal_test_sees():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    np.testing.assert_array_equal(tamis.ReliefF().fit(X, y).get_support(indices=True), [0, 1])


def test_weights_that_differ_count_as_fewer_rows():
    X, y = table()
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    q_values = tamis.DFT().fit(X, y, sample_weight=weight).q_values_
    assert tamis.DFT().fit(X, y, sample_weight=weight).cut_details_["tested"] == "rank correlation"
    # Kish: (sum w)^2 / sum w^2 rows.
    reference = tamis.Correlation(kind="spearman", n_features_to_select="all")
    share = reference.fit(X, y, sample_weight=weight).scores_ ** 2
    rows = weight.sum() ** 2 / (weight @ weight)
    p_values = stats.f.sf(share / (1 - share) * (rows - 2), 1, rows - 2)
    np.testing.assert_allclose(q_values, stats.false_discovery_control(p_values), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
def test_weights_independent_of_the_rows_keep_the_level():
    selected = 0
    for seed in range(200):
        X, y = noise(seed, n=60)
        weight = np.random.default_rng(seed).exponential(size=60) + 0.05
        selected += tamis.Fisher().fit(X, y, sample_weight=weight).n_selected_ > 0
    assert selected <= stats.binom.isf(1e-3, 200, 0.1)


def test_missing_values_and_sparse_tables():
    X, y = table()
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    by_ranks = tamis.DFT().fit(holes, y)
    assert by_ranks.cut_details_["tested"] == "rank correlation"
    p_values = [stats.spearmanr(x, y, nan_policy="omit").pvalue for x in holes.T]
    np.testing.assert_allclose(by_ranks.p_values_, p_values, rtol=1e-6)
    by_values = tamis.DFT().fit(sparse.csr_matrix(X), y)
    assert by_values.cut_details_["tested"] == "correlation"
    np.testing.assert_allclose(
        by_values.p_values_, [stats.pearsonr(x, y).pvalue for x in X.T], rtol=1e-6
    )


def test_recut_needs_the_data_unless_there_is_evidence_or_a_law():
    X, y = table()
    selector = tamis.DFT(n_features_to_select=5).fit(X, y)
    with pytest.raises(InputError, match="expected the training data"):
        selector.recut("auto")
    assert selector.recut("auto", X, y).n_selected_ == 3
    assert selector.recut(BeyondChance(0.01)).n_selected_ == 3
    assert tamis.AnovaF(n_features_to_select=5).fit(X, y).recut("auto").n_selected_ == 3


def test_keep_and_groups():
    X, y = table()
    rule = BeyondChance(keep=[11], groups=[[0, 10]])
    selector = tamis.AnovaF(n_features_to_select=rule).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 10, 11])


def test_strata_are_kept_apart():
    # Within each batch nothing is related to the target, between batches everything is.
    rng = np.random.default_rng(0)
    batch = np.repeat([0, 1], 60)
    y = (rng.random(120) < np.where(batch, 0.8, 0.2)).astype(int)
    X = rng.standard_normal((120, 5)) + 2.0 * batch[:, None]
    assert tamis.AnovaF().fit(X, y).n_selected_ == 5
    rule = BeyondChance(strata=batch)
    with pytest.warns(SelectionWarning, match="Nothing beats chance"):
        assert tamis.AnovaF(n_features_to_select=rule).fit(X, y).n_selected_ == 0


def test_an_unsupervised_selector_is_refused():
    with pytest.raises(InputError, match="uses the target"):
        tamis.Variance(n_features_to_select="auto").fit(table()[0])


@pytest.mark.parametrize("memory", [None, "folder"])
def test_nothing_in_a_pipeline_says_so_and_what_to_do(tmp_path, memory):
    X, y = noise(0)
    memory = None if memory is None else str(tmp_path)
    with (
        pytest.warns(SelectionWarning),
        pytest.raises(InputError, match=r"none is beyond chance\. Set n_features_to_select"),
    ):
        make_pipeline(tamis.AnovaF(), LogisticRegression(), memory=memory).fit(X, y)


@pytest.mark.filterwarnings("ignore:No features were selected", "ignore:BeyondChance")
def test_nothing_alone_or_beside_others_is_a_table_without_columns():
    X, y = noise(0)
    assert tamis.AnovaF().fit(X, y).transform(X).shape == (40, 0)
    assert make_pipeline(StandardScaler(), tamis.AnovaF()).fit(X, y).transform(X).shape == (40, 0)
    both = make_union(tamis.AnovaF(), StandardScaler())
    assert make_pipeline(both, LogisticRegression()).fit(X, y).n_features_in_ == 8
    frame = tamis.AnovaF().set_output(transform="pandas").fit(X, y).transform(X)
    assert frame.shape == (40, 0)


# Rows that are read block by block.


def in_blocks(selector, X, y):
    for start in range(0, len(y), 40):
        selector.partial_fit(X[start : start + 40], y[start : start + 40])
    return selector


def test_blocks_of_rows_are_tested_by_laws_and_bounds():
    X, y = table()
    assert in_blocks(tamis.AnovaF(), X, y).cut_details_["source"] == "law"
    ranges = (X.min(axis=0), X.max(axis=0))
    selector = in_blocks(tamis.DFT(ranges=ranges), X, y)
    assert selector.cut_details_["source"] == "bound"
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2])


def test_the_bound_of_dft_by_hand():
    # One column of 0 and 1, four tables of counts: 30 and 10 of class 0, 10 and 30 of class 1.
    X = np.repeat([0.0, 1.0, 0.0, 1.0], [30, 10, 10, 30])[:, None]
    y = np.repeat([0, 1], 40)
    selector = tamis.DFT(n_bins=2, n_features_to_select="all").fit(X, y)
    counts = np.array([[30, 10], [10, 30]])
    g = 2 * (counts * np.log(counts / 20)).sum()
    assert selector._p_value_bounds()[0] == pytest.approx(stats.chi2.sf(g, 1))
    assert tamis.DFT(n_bins=4, n_features_to_select="all").fit(X, y)._p_value_bounds()[
        0
    ] == pytest.approx(3 * stats.chi2.sf(g, 1))


def test_the_bound_of_rft_by_hand():
    rng = np.random.default_rng(0)
    X = np.repeat([0.0, 1.0], 20)[:, None]
    y = rng.standard_normal(40) + X[:, 0]
    selector = tamis.RFT(n_bins=2, n_features_to_select="all").fit(X, y)
    expected = stats.ttest_ind(y[:20], y[20:]).pvalue
    assert selector._p_value_bounds()[0] == pytest.approx(expected)


def test_a_cut_that_leaves_few_rows_has_no_bound():
    X = np.r_[np.zeros(60), 1.0, 1.0][:, None]
    y = np.r_[np.zeros(60, int), 1, 1]
    assert tamis.DFT(n_features_to_select="all").fit(X, y)._p_value_bounds()[0] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dft", "rft"])
def test_bounds_are_no_smaller_than_p_values(name):
    task = selector_info(name).tasks[0]
    bounds = []
    for seed in range(40):
        X, y = noise(seed, task, n=400, p=50)
        bounds.append(make(name, n_features_to_select="all").fit(X, y)._p_value_bounds())
    bounds = np.concatenate(bounds)
    for level in (0.05, 0.01, 0.001):
        assert (bounds <= level).sum() <= stats.binom.isf(1e-3, bounds.size, level)


def test_what_cannot_be_tested_block_by_block_says_so(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = table()
    frame = pd.DataFrame(X).add_prefix("c").assign(y=np.where(y, "a", "b"))
    frame.to_parquet(tmp_path / "t.parquet")
    scan = tamis.scan(tmp_path / "t.parquet", target="y")
    with pytest.warns(SelectionWarning, match="ILFS: the features were not tested against chance"):
        selector = tamis.ILFS(n_features_to_select="auto").fit(scan)
    assert selector.cut_details_["tested"] == "nothing"
    assert not hasattr(selector, "q_values_")
    assert selector.n_selected_ == tamis.ILFS(n_features_to_select="elbow").fit(X, y).n_selected_
