"""Pictures of tests show the numbers that they were given, and refuse what they cannot show."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import tamis
from tamis.exceptions import InputError
from tamis.plots import (
    KnockoffDisplay,
    PValueDisplay,
    QValueDisplay,
    ShadowDisplay,
    StabilityPathDisplay,
)

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


class TestPValues:
    def test_ends_of_bins_belong_to_the_bin_below(self):
        assert PValueDisplay([0.05, 0.050001, 1.0, 0.1]).counts.tolist() == [1, 2, *[0] * 16, 0, 1]

    def test_bars_and_the_line_of_no_relation(self):
        display = PValueDisplay(RNG.uniform(0.001, 1, 400), name="DFT").plot()
        heights = [bar.get_height() for bar in display.ax_.patches]
        assert heights == display.counts.tolist()
        assert display.ax_.lines[0].get_ydata()[0] == 20
        assert "of 400 up to 0.05, 20 expected by chance" in display.ax_.get_title()

    @pytest.mark.parametrize("values", [[0.0, 0.5], [1.5], [[0.5]], [np.nan]])
    def test_other_values_are_refused(self, values):
        with pytest.raises(InputError, match=r"one p-value in \(0, 1\] per feature"):
            PValueDisplay(values)

    def test_a_selector_without_p_values_is_refused(self):
        selector = tamis.DFT(n_features_to_select=1).fit([[0.0, 1.0], [1.0, 1.5]], [0, 1])
        with pytest.raises(InputError, match="got DFT, which has none"):
            PValueDisplay.from_estimator(selector)


class TestQValues:
    def test_curve_counts_features_at_every_level(self):
        display = QValueDisplay([0.3, 0.01, 0.05, 0.9], level=0.1).plot()
        line = display.ax_.lines[0]
        assert line.get_xdata().tolist() == [0.01, 0.05, 0.3, 0.9]
        assert line.get_ydata().tolist() == [1, 2, 3, 4]
        assert display.ax_.get_title() == "q-values: 2 features at 0.1"


class TestKnockoffs:
    def test_sticks_largest_first_and_what_is_selected(self):
        display = KnockoffDisplay([0.1, 2.0, -0.4, 1.5], threshold=1.5, names=list("abcd")).plot()
        drawn = [part for group in display.ax_.collections for part in group.get_segments()]
        assert sorted(part[1][1] for part in drawn) == [-0.4, 0.1, 1.5, 2.0]
        assert texts(display) == ["selected: 2", "ahead of the copy", "behind the copy"]
        assert [text.get_text() for text in display.ax_.texts] == ["b", "d"]

    def test_without_a_threshold_nothing_is_selected(self):
        display = KnockoffDisplay([0.1, -0.2]).plot()
        assert texts(display) == ["ahead of the copy", "behind the copy"]
        assert len(display.ax_.lines) == 1

    def test_only_the_largest_of_many(self):
        display = KnockoffDisplay(RNG.standard_normal(500), most=50).plot()
        assert display.order.size == 50
        assert display.ax_.get_title().endswith("50 of 500 shown")


class TestStabilityPath:
    def test_lines_threshold_and_number(self):
        path = np.array([[0.9, 0.1, 0.0], [1.0, 0.7, 0.3]])
        display = StabilityPathDisplay([1, 2], path, threshold=0.8, n_per_half=2).plot()
        lines = [list(line.get_ydata()) for line in display.ax_.lines]
        assert [0.9, 1.0] in lines
        assert [0.8, 0.8] in lines
        assert display.shown.tolist() == [0, 1, 2]

    def test_other_shapes_are_refused(self):
        with pytest.raises(InputError, match="frequencies of shape"):
            StabilityPathDisplay([1, 2, 3], [[0.5, 0.5]])

    def test_another_rule_is_refused(self):
        selector = tamis.DFT(n_features_to_select=1).fit([[0.0, 1.0], [1.0, 1.5]], [0, 1])
        with pytest.raises(InputError, match=r"recut\(StabilitySelection\(\), X, y\)"):
            StabilityPathDisplay.from_estimator(selector)


class TestShadows:
    scores = np.array([[0.2, 3.0], [0.4, 2.5], [0.1, 2.0]])
    shadows = np.array([[0.0, 0.1, 0.5], [0.0, 0.2, 0.6], [0.1, 0.2, 0.4]])

    def test_boxes_by_median_with_their_status(self):
        status = ["rejected", "confirmed"]
        display = ShadowDisplay(self.scores, self.shadows, status, names=["a", "b"]).plot()
        labels = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert labels == ["least shadow", "mean shadow", "a", "best shadow", "b"]
        assert texts(display) == ["shadow", "confirmed", "rejected"]

    def test_other_shapes_are_refused(self):
        with pytest.raises(InputError, match=r"shadow_scores of shape \(3, 3\)"):
            ShadowDisplay(self.scores, self.shadows[:, :2], ["rejected", "confirmed"])

    def test_another_rule_is_refused(self):
        selector = tamis.DFT(n_features_to_select=1).fit([[0.0, 1.0], [1.0, 1.5]], [0, 1])
        with pytest.raises(InputError, match=r"recut\(Shadows\(\), X, y\)"):
            ShadowDisplay.from_estimator(selector)


class TestFittedSelectors:
    """The pictures read what the rules found."""

    X = np.random.default_rng(1).standard_normal((80, 30))
    y = np.arange(80) % 2
    X[:, :12] += 1.5 * y[:, None]

    def fit(self, rule):
        return tamis.AnovaF(n_features_to_select=rule).fit(self.X, self.y)

    def test_false_discoveries(self):
        from tamis.certainty import FalseDiscoveries

        selector = self.fit(FalseDiscoveries(0.1))
        display = PValueDisplay.from_estimator(selector)
        np.testing.assert_array_equal(display.p_values, selector.p_values_)
        display = QValueDisplay.from_estimator(selector)
        assert display.n_selected(0.1) == selector.n_selected_

    def test_knockoffs(self):
        from tamis.certainty import Knockoffs

        selector = self.fit(Knockoffs(0.2))
        display = KnockoffDisplay.from_estimator(selector)
        np.testing.assert_array_equal(display.statistics, selector.cut_details_["W"][0])
        assert (display.statistics >= display.threshold).sum() == selector.n_selected_

    def test_stability_path(self):
        from tamis.certainty import StabilitySelection

        selector = self.fit(StabilitySelection(n_pairs=10))
        display = StabilityPathDisplay.from_estimator(selector)
        row = list(display.numbers).index(display.n_per_half)
        np.testing.assert_array_equal(
            display.frequencies[row], selector.cut_details_["frequencies"]
        )
        assert (np.diff(display.frequencies, axis=0) >= 0).all()

    def test_shadows(self):
        from tamis.certainty import Shadows

        selector = self.fit(Shadows(0.1, n_rounds=20))
        display = ShadowDisplay.from_estimator(selector, most=5)
        assert len(display.ax_.get_yticklabels()) == 8
        assert display.status.count("confirmed") == selector.n_selected_
