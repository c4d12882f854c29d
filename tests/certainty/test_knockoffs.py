"""Knockoffs: the rule from end to end, its level by simulation, recut, resuming and bad input."""

import numpy as np
import pytest
from scipy import sparse

import tamis
from reference import knockoffs as plain
from tamis.certainty import GaussianKnockoffs, Knockoffs, LowRankKnockoffs
from tamis.exceptions import InputError, SelectionWarning


def chain_rows(rng, n, p, rho=0.5):
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def make_table(seed=0, n=250, p=60, k=15, size=0.6, two_classes=False):
    rng = np.random.default_rng(seed)
    X = chain_rows(rng, n, p)
    truth = np.zeros(p, bool)
    truth[rng.choice(p, k, replace=False)] = True
    eta = X[:, truth] @ (size * rng.choice([-1.0, 1.0], k))
    if two_classes:
        return X, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int), truth
    return X, eta + rng.standard_normal(n), truth


def fit(rule, X, y, selector=tamis.Correlation, **options):
    return selector(n_features_to_select=rule).fit(X, y, **options)


def test_finds_what_matters():
    X, y, truth = make_table()
    selector = fit(Knockoffs(0.2), X, y)
    details = selector.cut_details_
    assert (selector.support_ & truth).sum() >= 12
    assert details["question"].endswith("(conditional)")
    assert details["n_tested"] == 60
    W = details["W"][0]
    threshold = plain.threshold(W, 0.2)
    assert details["thresholds"] == [threshold]
    np.testing.assert_array_equal(selector.support_, threshold <= W)
    np.testing.assert_allclose(selector.e_values_, plain.e_values([W], 0.2, 60))
    assert (np.abs(details["copy_correlations"]) < 0.9).all()
    deviation = details["covariance_deviation"]
    assert deviation["largest"] < 1.5 * deviation["expected_largest"]


@pytest.mark.parametrize(
    "options",
    [
        {"statistic": "selector"},
        {"sampler": "low_rank"},
        {"sampler": GaussianKnockoffs(s="sdp")},
        {"sampler": GaussianKnockoffs(covariance=np.eye(30), mean=0.0)},
        {"sampler": lambda X, rng: rng.standard_normal(X.shape)},
        {"statistic": lambda both, y, rng: np.abs(both.T @ (y - y.mean()))},
    ],
)
def test_samplers_and_statistics(options):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 30))
    y = X[:, :12] @ np.ones(12) + rng.standard_normal(200)
    selected = fit(Knockoffs(0.2, **options), X, y).support_
    assert selected[:12].sum() >= 8
    assert selected[12:].sum() <= 5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes):
    rng = np.random.default_rng(2)
    y = rng.integers(0, n_classes, 300)
    X = rng.standard_normal((300, 40))
    X[:, :12] += 0.8 * y[:, None] * rng.choice([-1, 1], 12)
    X[:, :12] += rng.standard_normal((300, 12))
    names = np.array(["no", "yes", "maybe"])[y]
    selected = fit(Knockoffs(0.2), X, names, tamis.Fisher).support_
    assert selected[:12].sum() >= 6
    assert selected[12:].sum() <= 6


@pytest.mark.filterwarnings("ignore:Knockoffs.*no column was selected")
def test_another_level_needs_no_data():
    X, y, _ = make_table()
    for n_copies in (1, 4):
        selector = fit(Knockoffs(0.2, n_copies=n_copies), X, y)
        W, found = selector.cut_details_["W"], {}
        for level in (0.1, 0.2, 0.4):
            selector.recut(Knockoffs(level, n_copies=n_copies, n_jobs=1))
            inside = level if n_copies == 1 else level / 2
            expected = plain.e_values(W, inside, 60)
            np.testing.assert_allclose(selector.e_values_, expected)
            np.testing.assert_array_equal(selector.support_, plain.e_bh(expected, level))
            assert selector.cut_details_["level"] == level
            found[level] = selector.n_selected_
            fresh = fit(Knockoffs(level, n_copies=n_copies), X, y)
            np.testing.assert_array_equal(selector.support_, fresh.support_)
        assert found[0.4] > 0
    with pytest.raises(InputError, match="expected the training data"):
        selector.recut(Knockoffs(0.1, n_copies=5))


def test_recut_with_an_equal_sampler():
    X, y, _ = make_table()
    selector = fit(Knockoffs(0.2, sampler=GaussianKnockoffs(np.eye(60))), X, y)
    selector.recut(Knockoffs(0.4, sampler=GaussianKnockoffs(np.eye(60))))
    with pytest.raises(InputError, match="expected the training data"):
        selector.recut(Knockoffs(0.4, sampler=GaussianKnockoffs(2 * np.eye(60))))


def test_jobs_and_number_of_copies_do_not_change_a_copy():
    X, y, _ = make_table(n=120, p=30, k=8)
    kept = [
        fit(Knockoffs(0.3, n_copies=n, n_jobs=jobs), X, y).cut_details_["W"]
        for n, jobs in ((4, 1), (4, 2), (4, 3), (2, None))
    ]
    for W in kept[1:]:
        np.testing.assert_array_equal(W, kept[0][: len(W)])
    other = fit(Knockoffs(0.3, n_copies=2, random_state=1), X, y).cut_details_["W"]
    assert not np.isclose(other, kept[0][:2]).all(axis=1).any()
    assert not np.array_equal(kept[0][0], kept[0][1])


@pytest.mark.filterwarnings("ignore:Knockoffs.*no column was selected")
def test_copies_do_not_share_seeds_with_the_data():
    """A table drawn from the seed of the rule has copies that are independent of it."""
    X = np.random.default_rng(0).standard_normal((200, 20))
    y = X[:, 0] + np.random.default_rng(1).standard_normal(200)
    rule = Knockoffs(0.5, sampler=GaussianKnockoffs(np.eye(20), 0.0), random_state=0)
    correlations = fit(rule, X, y).cut_details_["copy_correlations"]
    assert np.abs(correlations).max() < 5 / np.sqrt(200)


@pytest.mark.filterwarnings("ignore:Knockoffs.*no column was selected")
def test_swapping_a_feature_and_its_copy_turns_the_sign():
    rng = np.random.default_rng(3)
    X, y, _ = make_table(n=100, p=20, k=5)
    copy = rng.standard_normal(X.shape)
    swapped, other = X.copy(), copy.copy()
    swapped[:, [2, 7]], other[:, [2, 7]] = copy[:, [2, 7]], X[:, [2, 7]]
    for statistic in ("lasso", "selector"):
        one = fit(Knockoffs(0.3, statistic=statistic, sampler=lambda *_: copy), X, y)
        two = fit(Knockoffs(0.3, statistic=statistic, sampler=lambda *_: other), swapped, y)
        signs = np.ones(20)
        signs[[2, 7]] = -1
        np.testing.assert_allclose(
            two.cut_details_["W"][0], one.cut_details_["W"][0] * signs, atol=1e-5
        )


def test_constant_features_are_not_tested():
    X, y, _ = make_table()
    wider = np.column_stack([np.ones(len(X)), X, np.zeros(len(X))])
    selector, plain_one = fit(Knockoffs(0.2), wider, y), fit(Knockoffs(0.2), X, y)
    assert selector.cut_details_["n_tested"] == 60
    assert selector.e_values_[[0, -1]].tolist() == [0, 0]
    np.testing.assert_array_equal(selector.support_[1:-1], plain_one.support_)
    np.testing.assert_allclose(selector.e_values_[1:-1], plain_one.e_values_)


def test_features_without_a_usable_copy_are_named():
    pd = pytest.importorskip("pandas")
    X, y, _ = make_table(p=20, n=2_000, k=12)
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(20)])
    frame["twin"] = frame["gene3"]
    S = np.corrcoef(frame.to_numpy().T)
    rule = Knockoffs(0.2, sampler=GaussianKnockoffs(S))
    with pytest.warns(SelectionWarning, match="2 of 21 features have no usable copy.*'gene3', 'tw"):
        selector = fit(rule, frame, y)
    assert not selector.support_[[3, 20]].any()
    assert selector.support_.sum() >= 8


def test_sparse_table():
    X, y, _ = make_table()
    dense, thin = fit(Knockoffs(0.2), X, y), fit(Knockoffs(0.2), sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.support_, thin.support_)


def test_weights_with_the_selector_as_statistic():
    rng = np.random.default_rng(0)
    X, y, _ = make_table(p=20, two_classes=True)
    weight = rng.uniform(0.5, 2, len(y))
    rule = Knockoffs(0.5, statistic="selector")
    selector = tamis.Fisher(n_features_to_select=rule).fit(X, y, sample_weight=weight)
    other = tamis.Fisher(n_features_to_select=rule).fit(X, y)
    assert not np.allclose(selector.cut_details_["W"], other.cut_details_["W"])
    with pytest.raises(InputError, match="expected no sample_weight, got some"):
        tamis.Fisher(n_features_to_select=Knockoffs(0.1)).fit(X, y, sample_weight=weight)


class Interrupted(Exception):
    pass


LEFT = {"copies": 3}


def interrupted_draw(X, rng):
    if not LEFT["copies"]:
        raise Interrupted
    LEFT["copies"] -= 1
    return GaussianKnockoffs()(X, rng)


def test_resumes_from_a_checkpoint(tmp_path, monkeypatch):
    X, y, _ = make_table(n=120, p=30, k=8)
    path = tmp_path / "copies"
    options = {"n_copies": 5, "sampler": interrupted_draw, "n_jobs": 1}
    monkeypatch.setitem(LEFT, "copies", 1 + 3)  # one more for the diagnosis
    with pytest.raises(Interrupted):
        fit(Knockoffs(0.3, checkpoint=path, **options), X, y)
    assert path.exists()
    LEFT["copies"] = 2 + 2  # as many as are left
    with pytest.raises(InputError, match="a fit with other data or parameters"):
        fit(Knockoffs(0.3, checkpoint=path, **options), X, -y)
    resumed = fit(Knockoffs(0.3, checkpoint=path, **options), X, y)
    assert not path.exists()
    assert LEFT["copies"] == 0
    LEFT["copies"] = 1 + 5
    whole = fit(Knockoffs(0.3, **options), X, y)
    np.testing.assert_array_equal(resumed.cut_details_["W"], whole.cut_details_["W"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, r"level must be a float in \(0, 1\), got 0"),
        ({"level": 1.0}, r"level must be a float in \(0, 1\)"),
        ({"n_copies": 0}, "n_copies must be an int of at least 1"),
        ({"sampler": "any"}, "sampler must be 'auto', 'gaussian', 'low_rank', a sampler or"),
        ({"statistic": "any"}, "statistic must be 'lasso', 'selector' or a function"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero int"),
        ({"copy_level": 2}, r"copy_level must be a float in \(0, 1\) or None"),
        ({"strata": [1, 2]}, "strata must be None, because nothing is permuted"),
        ({"checkpoint": "x", "random_state": None}, "random_state must be an int with a checkp"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InputError, match=f"Knockoffs: {message}"):
        Knockoffs(**options)


def test_bad_data():
    X, y, _ = make_table(n=60, p=10, k=3)
    missing = X.copy()
    missing[3, 4] = np.nan
    with pytest.raises(InputError, match="expected no missing values, got some in column 'x4'"):
        fit(Knockoffs(), missing, y, tamis.RFT)
    with pytest.raises(InputError, match="groups must be groups of features, got one label per"):
        fit(Knockoffs(groups=np.arange(60) // 2), X, y)
    with pytest.raises(InputError, match="expected a selector that uses the target, got Variance"):
        fit(Knockoffs(), X, y, tamis.Variance)
    with pytest.raises(InputError, match=r"sampler must return a finite table of shape \(60, 10\)"):
        fit(Knockoffs(sampler=lambda X, rng: X[:5]), X, y)
    with pytest.raises(InputError, match="one finite number for each of the 20 columns, got shape"):
        fit(Knockoffs(statistic=lambda X, y, rng: np.ones(3)), X, y)
    with pytest.raises(InputError, match=r"n_copies must be at most .* fit in memory"):
        fit(Knockoffs(n_copies=10**12), X, y)
    with pytest.raises(InputError, match="at least two rows of every class, got one of 'b'"):
        fit(Knockoffs(), X, np.array(["a"] * 59 + ["b"]), tamis.DFT)


def test_categories_are_an_error():
    pd = pytest.importorskip("pandas")
    X, y, _ = make_table(n=60, p=3, k=1)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["colour"] = pd.Categorical(["red", "blue", "green"] * 20)
    with pytest.raises(InputError, match="got categories or dates in column 'colour'"):
        fit(Knockoffs(), frame, y, tamis.RFT)


def test_too_large_a_table(monkeypatch):
    X, y, _ = make_table(n=60, p=10, k=3)
    monkeypatch.setattr("tamis.certainty.knockoffs.free_memory", lambda: 20_000)
    with pytest.raises(InputError, match="whose copies fit in memory, got 60 x 10"):
        fit(Knockoffs(), X, y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Knockoffs.*no column was selected")
@pytest.mark.parametrize("two_classes", [False, True])
def test_false_discovery_rate(two_classes):
    """At most the level with an estimated covariance; e-values of nulls sum to at most p."""
    shares, powers, sums = [], [], []
    for seed in range(60):
        X, y, truth = make_table(seed, size=0.8 if two_classes else 0.35, two_classes=two_classes)
        kind = tamis.Fisher if two_classes else tamis.Correlation
        selector = fit(Knockoffs(0.2, random_state=seed), X, y, kind)
        found = selector.support_
        shares.append((found & ~truth).sum() / max(found.sum(), 1))
        powers.append((found & truth).mean() / truth.mean())
        sums.append(selector.e_values_[~truth].sum() / truth.size)
    assert np.mean(shares) <= 0.2 + 2 * np.std(shares) / np.sqrt(60)
    assert np.mean(sums) <= 1 + 2 * np.std(sums) / np.sqrt(60)
    assert np.mean(powers) > 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Knockoffs.*no column was selected")
def test_nothing_on_nothing():
    """The share of noise tables with a selection is at most the level, for one copy and more."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y = chain_rows(rng, 100, 30), rng.standard_normal(100)
        selector = fit(Knockoffs(0.2, n_copies=3, random_state=seed), X, y)
        several = selector.support_.any()
        found.append([selector.cut_details_["thresholds"][0] < np.inf, several])
    for share in np.mean(found, axis=0):
        assert share <= 0.2 + 2 * np.sqrt(0.2 * 0.8 / 100)


@pytest.mark.slow
def test_wide_table_takes_the_low_rank_sampler():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2_500)) + rng.standard_normal((100, 1))
    y = X[:, :15] @ np.full(15, 2.0) + rng.standard_normal(100)
    wide, named = fit(Knockoffs(0.3), X, y), fit(Knockoffs(0.3, sampler=LowRankKnockoffs()), X, y)
    np.testing.assert_array_equal(wide.cut_details_["W"], named.cut_details_["W"])
