"""Generator is a protocol: any class with these methods is one."""

import numpy as np
import pytest

from tamis.meta import Generator, Integer, MetaSpace

METHODS = {
    "space": MetaSpace({"place": Integer(0, 9)}),
    "draw": lambda self, point, rng, *, n_features=None, budget=None: np.arange(n_features),
    "cost": lambda self, features: np.ones(len(features)),
    "meta": lambda self, features: np.zeros((len(features), 1)),
    "measure": lambda self, X, features: X[:, features],
    "join": lambda self, features, chosen: features[chosen],
}


def test_no_base_class_is_needed():
    assert isinstance(type("Mine", (), METHODS)(), Generator)


@pytest.mark.parametrize("missing", METHODS)
def test_every_part_is_needed(missing):
    parts = {name: part for name, part in METHODS.items() if name != missing}
    assert not isinstance(type("Mine", (), parts)(), Generator)
