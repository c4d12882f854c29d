"""Known laws: uniform p-values for noise, equal to those of scipy, never 0."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import tamis
from tamis.statistics.law_of_f import SMALLEST, f_p_values
from tamis.statistics.laws import fisher_p_values, g_p_values

RNG = np.random.default_rng(0)
N_ROWS = 48
NOISE = RNG.normal(size=(N_ROWS, 3000))
TWO = (np.arange(N_ROWS) < 9).astype(int)
EVEN = np.arange(N_ROWS) % 2
FOUR = np.arange(N_ROWS) % 4
NUMBER = RNG.normal(size=N_ROWS)


def fit(selector, X, y, **options):
    return selector.set_params(n_features_to_select="all").fit(X, y, **options)


@pytest.mark.parametrize(
    ("selector", "y"),
    [
        (tamis.AnovaF(), FOUR),
        (tamis.AnovaF(), NUMBER),
        (tamis.Correlation(), TWO),
        (tamis.Correlation(), FOUR),
        (tamis.Correlation(), NUMBER),
        (tamis.Correlation(kind="spearman"), FOUR),
        (tamis.Correlation(kind="spearman"), NUMBER),
        (tamis.Fisher(), TWO),
        (tamis.Fisher(), EVEN),
        (tamis.Fisher(form="weighted"), TWO),
    ],
    ids=str,
)
def test_p_values_of_noise_are_uniform(selector, y):
    p_values = fit(selector, NOISE, y).p_values_
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4
    assert not selector._law_is_rough()


@pytest.mark.parametrize("selector", [tamis.InformationGain(n_bins=4), tamis.MutualInformation()])
def test_p_values_of_information_are_about_uniform(selector):
    # Uniform columns fill all bins; 2,000 rows leave no cell with few.
    rng = np.random.default_rng(1)
    X, y = rng.random(size=(2000, 800)), rng.integers(0, 2, 2000)
    p_values = fit(selector, X, y).p_values_
    assert not selector._law_is_rough()
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4
    counts = [np.histogram(X[y == k, 5], selector.n_bins, (X[:, 5].min(), X[:, 5].max()))[0]
              for k in (0, 1)]  # fmt: skip
    expected = stats.chi2_contingency(counts, lambda_="log-likelihood").pvalue
    assert p_values[5] == pytest.approx(expected)
    assert fit(type(selector)(n_bins=200), X, y)._law_is_rough()


def test_p_values_are_those_of_scipy():
    column = NOISE[:, 3]
    correlation = fit(tamis.Correlation(), NOISE, NUMBER).p_values_[3]
    assert correlation == pytest.approx(stats.pearsonr(column, NUMBER).pvalue)
    spearman = fit(tamis.Correlation(kind="spearman"), NOISE, NUMBER).p_values_[3]
    assert spearman == pytest.approx(stats.spearmanr(column, NUMBER).pvalue)
    anova = stats.f_oneway(*(column[k == FOUR] for k in range(4))).pvalue
    for selector in (tamis.AnovaF(), tamis.Correlation()):
        assert fit(selector, NOISE, FOUR).p_values_[3] == pytest.approx(anova)
    t_test = stats.ttest_ind(column[TWO == 0], column[TWO == 1]).pvalue
    assert fit(tamis.Fisher(form="weighted"), NOISE, TWO).p_values_[3] == pytest.approx(t_test)
    t_test = stats.ttest_ind(column[EVEN == 0], column[EVEN == 1]).pvalue
    assert fit(tamis.Fisher(), NOISE, EVEN).p_values_[3] == pytest.approx(t_test)


@pytest.mark.parametrize("sizes", [(5, 5), (3, 40), (2, 20), (20, 300), (1, 30)])
def test_law_of_two_variances(sizes):
    one, other = sizes
    n = one + other
    ratio = np.array([0.01, 0.1, 1.0, 5.0])

    def chance(value):
        gap = value * n**2 / (one**2 + other**2)
        scale = (n - 2) * gap / (1 / one + 1 / other)
        if one == 1:
            return stats.f.sf(scale / (other - 1), 1, n - 2)
        share = stats.beta((one - 1) / 2, (other - 1) / 2)

        def part(b):
            return share.pdf(b) * stats.f.sf(
                scale * (b / (one - 1) + (1 - b) / (other - 1)), 1, n - 2
            )

        return quad(part, 0, 1, epsabs=0, epsrel=1e-9, limit=500)[0]

    found = fisher_p_values(ratio, np.full(4, float(one)), np.full(4, float(other)))
    np.testing.assert_allclose(found, [chance(value) for value in ratio], rtol=1e-7)


@pytest.mark.slow
def test_law_of_two_variances_by_simulation():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(4, 100_000)), rng.normal(size=(25, 100_000))
    y = np.r_[np.zeros(4, int), np.ones(25, int)]
    found = fit(tamis.Fisher(), np.vstack([a, b]), y).p_values_
    for u in (0.001, 0.01, 0.1, 0.5):
        assert (found <= u).mean() == pytest.approx(u, abs=4 * np.sqrt(u / found.size))


def test_missing_values_change_the_freedom():
    X = NOISE[:, :3].copy()
    X[:10, 1] = np.nan
    seen = ~np.isnan(X[:, 1])
    spearman = tamis.Correlation(kind="spearman")
    cases = [(tamis.AnovaF(), FOUR), (tamis.Correlation(), NUMBER), (spearman, NUMBER)]
    for selector, y in [*cases, (tamis.Fisher(), np.roll(TWO, 12))]:
        found = fit(selector, X, y).p_values_[1]
        assert found == pytest.approx(fit(selector, X[seen], y[seen]).p_values_[1])


def test_equal_weights_are_no_weights_and_others_have_no_law():
    weight = np.where(np.arange(N_ROWS) < 3, 0.0, 2.5)
    for selector, y in ((tamis.AnovaF(), FOUR), (tamis.Correlation(), NUMBER),
                        (tamis.Fisher(form="weighted"), TWO)):  # fmt: skip
        expected = fit(selector, NOISE[3:], y[3:]).p_values_
        found = fit(selector, NOISE, y, sample_weight=weight).p_values_
        np.testing.assert_allclose(found, expected, rtol=1e-8)
        fit(selector, NOISE, y, sample_weight=np.arange(1.0, N_ROWS + 1))
        assert selector._law_p_values() is None
        with pytest.raises(AttributeError, match="has no p_values_"):
            _ = selector.p_values_


def test_scores_without_a_law():
    for selector in (tamis.Correlation(classes="max"), tamis.Fisher(), tamis.DFT()):
        assert fit(selector, NOISE[:, :5], FOUR)._law_p_values() is None
    selector = tamis.MutualInformation(estimator="posterior_mean")
    assert fit(selector, NOISE[:, :5], FOUR)._law_p_values() is None


def test_no_p_value_is_zero_and_none_is_above_one():
    X = np.column_stack([TWO * 1.0, TWO + 1e-9 * NOISE[:, 0], np.ones(N_ROWS), NOISE[:, 1]])
    for selector in (tamis.AnovaF(), tamis.Correlation(), tamis.Fisher(), tamis.InformationGain()):
        p_values = fit(selector, X, TWO).p_values_
        assert (p_values > 0).all()
        assert (p_values <= 1).all()
        assert p_values[2] == 1.0
    one = np.ones(1)
    assert f_p_values(1e30 * one, one, 40 * one) > 0
    assert g_p_values(1e6 * one, 1e6 * one, one)[0] == SMALLEST
    assert fisher_p_values(1e30 * one, 9 * one, 4e3 * one)[0] == SMALLEST
    assert fisher_p_values(one, 0 * one, 5 * one)[0] == 1.0
