"""Seeds: fixed numbers, so that a change of what a seed gives is a decision."""

import numpy as np
import pytest

from tamis._runtime.seeds import as_seed, draw_seed, draw_seeds, first_child, seed_of, stream
from tamis.exceptions import InputError


def test_what_a_seed_gives_stays():
    random = np.random.RandomState(0)
    assert draw_seed(random) == 209652396
    assert draw_seeds(random, 2).tolist() == [398764591, 924231285]
    assert first_child(0) == 2968811710
    assert stream(1, 2, 3).integers(1000, size=3).tolist() == [925, 89, 40]
    assert seed_of("a", 1, 0.5) == 2060533855


def test_an_int_is_itself_and_others_are_drawn_from():
    assert as_seed(np.int64(7), "test") == 7
    assert as_seed(np.random.RandomState(0), "test") == 209652396
    assert 0 <= as_seed(None, "test") < 2**31
    with pytest.raises(InputError, match="test: random_state must be an int of at least 0"):
        as_seed(-1, "test")
