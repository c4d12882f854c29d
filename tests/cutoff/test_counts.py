"""How many columns are needed from the top of an order."""

import pytest

from tamis.cutoff import Elbow, Fraction, Mass, TopK
from tamis.cutoff.counts import most_wanted


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (TopK(3), 3),
        (TopK(30), 10),
        (Fraction(0.29), 2),
        (Fraction(0.01), 1),
        (Fraction(1.0), 10),
        (Elbow(), 10),
        (Mass(0.5), 10),
    ],
)
def test_most_wanted(rule, expected):
    assert most_wanted(rule, 10) == expected
