"""Figure of the page on meta-features."""

import numpy as np

from tamis.meta import QualityMap, measure_quality
from tamis.plots import QualityMapDisplay

random = np.random.default_rng(0)
y = np.repeat([0, 1], 100)
place = random.uniform(size=(500, 2))
strength = np.exp(-((place[:, 0] - 0.5) ** 2) / 0.02)
X = random.normal(size=(200, 500)) + np.outer(y, strength)
quality = measure_quality("fisher", X, y)
QualityMapDisplay.from_estimator(QualityMap(random_state=0).fit(place, quality))
