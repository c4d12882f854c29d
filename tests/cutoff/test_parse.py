"""as_rule: what a user may write for n_features_to_select."""

import decimal

import numpy as np
import pytest

from tamis import DFT
from tamis.cutoff import Elbow, Fraction, Mass, TopK, as_rule
from tamis.exceptions import InputError


@pytest.mark.parametrize("value", [1, 20, np.int8(3), np.int64(3), np.uint32(3)])
def test_an_int_is_a_count(value):
    rule = as_rule(value)
    assert type(rule) is TopK
    assert rule.k == value


@pytest.mark.parametrize("value", [1e-9, 0.5, 1.0, np.float32(0.5), np.float64(0.25)])
def test_a_float_is_a_share(value):
    rule = as_rule(value)
    assert type(rule) is Fraction
    assert rule.f == value


def test_one_is_a_column_and_one_point_nought_is_all():
    assert as_rule(1).k == 1
    assert as_rule(1.0).f == 1.0


@pytest.mark.parametrize("word", ["elbow", np.str_("elbow")])
def test_the_word_elbow_is_the_early_one(word):
    assert type(as_rule(word)) is Elbow
    assert as_rule(word).which == "early"


def test_the_word_all_is_the_whole_share():
    assert as_rule("all").f == 1.0


def test_a_rule_is_itself():
    rule = Mass(0.5)
    assert as_rule(rule) is rule


REFUSED = [
    0, -1, 1.5, 0.0, -0.1, "elbw", "", "ALL", True, False, np.True_, None, float("nan"),
    float("inf"), np.int64(0), np.float64(1.5), [1], np.array([1, 2]), decimal.Decimal("0.5"),
    TopK, 1 + 0j, b"all",
]  # fmt: skip


@pytest.mark.parametrize("value", REFUSED, ids=repr)
def test_anything_else_says_who_what_was_expected_and_what_came(value):
    with pytest.raises(InputError) as caught:
        as_rule(value, who="MySelector", name="rule")
    message = str(caught.value)
    assert message.startswith("MySelector: rule must be an int of at least 1, a float in (0, 1]")
    assert "'elbow', 'all', or a rule from tamis.cutoff" in message
    assert message.endswith(f"got {value!r}.")


@pytest.mark.parametrize("value", [0, -1, 1.5, "elbw", True, None], ids=repr)
def test_a_selector_speaks_in_its_own_name(value):
    with pytest.raises(ValueError, match="DFT: n_features_to_select must be an int of at least 1"):
        DFT(n_features_to_select=value).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("value", [0, -1, 1.5, "elbw", True, None], ids=repr)
def test_recut_speaks_of_its_own_parameter(value):
    selector = DFT(n_features_to_select=1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="DFT: rule must be an int of at least 1"):
        selector.recut(value)
    assert selector.n_selected_ == 1
