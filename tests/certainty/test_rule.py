"""What all rules that state a level share: evidence once, any level, statements beside it."""

from dataclasses import dataclass

import numpy as np
import pytest

import tamis
from tamis.certainty.rule import CertaintyRule
from tamis.exceptions import InputError

X = np.array(
    [[0.0, 1.0, 5.0, 2.0], [1.0, 0.0, 5.0, 1.0], [2.0, 3.0, 5.0, 0.0], [3.0, 1.0, 5.0, 4.0]]
)
Y = np.array([0, 0, 1, 1])


@dataclass(frozen=True, eq=False)
class Fixed(CertaintyRule):
    """p-values that were given; counts how often they were asked for."""

    given: tuple = (0.01, 0.04, 0.001, 0.2)
    calls: list = None

    assumption = "none"
    guarantee = "none"

    def gather(self, ranking, data):
        if self.calls is not None:
            self.calls.append(self.row_labels(data))
        return {"p_values": np.array(self.given)}

    def decide(self, evidence, ranking):
        return evidence["p_values"] <= self.level


def fitted(rule):
    return tamis.Fisher(n_features_to_select=rule).fit(X, Y)


def test_features_below_the_level_are_selected_and_constant_ones_never():
    selector = fitted(Fixed(0.05))
    assert selector.get_support().tolist() == [True, True, False, False]
    assert selector.p_values_.tolist() == [0.01, 0.04, 0.001, 0.2]


def test_details_hold_question_assumption_and_level():
    details = fitted(Fixed(0.05)).cut_details_
    assert details["rule"] == "Fixed"
    assert details["level"] == 0.05
    assert "marginal" in details["question"]
    assert details["assumption"] == details["guarantee"] == "none"


def test_another_level_needs_neither_data_nor_another_look():
    calls = []
    selector = fitted(Fixed(0.05, calls=calls))
    selector.recut(Fixed(0.02, calls=calls))
    assert selector.get_support().tolist() == [True, False, False, False]
    assert selector.cut_details_["level"] == 0.02
    selector.recut(Fixed(0.5, calls=calls))
    assert selector.n_selected_ == 3
    assert len(calls) == 1


def test_other_settings_or_another_rule_need_the_data():
    selector = fitted(Fixed(0.05))
    with pytest.raises(InputError, match=r"recut\(rule, X, y\)"):
        selector.recut(Fixed(0.05, given=(0.5, 0.5, 0.5, 0.01)))
    selector.recut(Fixed(0.05, given=(0.5, 0.5, 0.5, 0.01)), X, Y)
    assert selector.get_support(indices=True).tolist() == [3]
    selector.recut(2)
    with pytest.raises(InputError, match="training data"):
        selector.recut(Fixed(0.05))


def test_frame_has_the_evidence_best_first():
    selector = fitted(Fixed(0.05))
    frame = selector.to_frame()
    assert list(frame.columns) == ["feature", "score", "rank", "selected", "p_value"]
    assert frame["p_value"].tolist() == selector.p_values_[selector.order_].tolist()


def test_a_selector_without_evidence_has_no_such_attributes():
    selector = tamis.DFT(n_features_to_select=2).fit(X, Y)
    for name in ("p_values_", "q_values_", "e_values_"):
        assert not hasattr(selector, name)
    with pytest.raises(AttributeError, match=r"tamis\.certainty"):
        _ = selector.q_values_


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, "0.1", None, True, np.nan])
def test_levels_outside_of_0_to_1_are_refused(level):
    with pytest.raises(InputError, match="Fixed: level must be a float in"):
        Fixed(level)


def test_unsupervised_selectors_are_refused():
    with pytest.raises(InputError, match="expected a selector that uses the target, got Variance"):
        tamis.Variance(n_features_to_select=Fixed(0.1)).fit(X, Y)


def test_groups_are_rows_or_features_by_their_number():
    wide = np.column_stack([X, X[:, 0] ** 2])
    calls = []
    rule = Fixed(0.02, given=(0.01, 0.9, 0.9, 0.9, 0.9), calls=calls, groups=["a", "a", "b", "b"])
    selector = tamis.Fisher(n_features_to_select=rule).fit(wide, Y)
    assert calls[0][1].tolist() == [0, 0, 1, 1]
    assert selector.n_selected_ == 1
    rule = Fixed(0.02, given=(0.01, 0.9, 0.9, 0.9, 0.9), groups=[0, 1, 1, 1, 0])
    selector = tamis.Fisher(n_features_to_select=rule).fit(wide, Y)
    assert selector.get_support(indices=True).tolist() == [0, 4]


@pytest.mark.parametrize("name", ["strata", "groups"])
def test_labels_of_another_length_are_refused(name):
    rule = Fixed(0.1, given=(0.1,) * 4, calls=[], **{name: [0, 1, 2]})
    with pytest.raises(InputError, match=rf"Fixed: {name} must hold one label per row \(4\)"):
        fitted(rule)


def test_equal_labels_are_equal_settings():
    labels = np.array([0, 1, 0, 1])
    selector = fitted(Fixed(0.05, strata=labels))
    selector.recut(Fixed(0.02, strata=labels.copy()))
    assert selector.n_selected_ == 1
    with pytest.raises(InputError, match="training data"):
        selector.recut(Fixed(0.02, strata=1 - labels))


def test_nothing_selected_is_said_as_an_answer():
    with pytest.warns(tamis.exceptions.SelectionWarning, match="distinguishable from noise"):
        assert fitted(Fixed(0.001)).n_selected_ == 0
