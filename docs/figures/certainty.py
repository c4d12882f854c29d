"""Figure of the page on certainty."""

import matplotlib.pyplot as plt
import numpy as np

from tamis import AnovaF
from tamis.certainty import FalseDiscoveries, Knockoffs, StabilitySelection
from tamis.plots import KnockoffDisplay, PValueDisplay, QValueDisplay, StabilityPathDisplay

rng = np.random.default_rng(0)
y = np.arange(120) % 2
X = rng.normal(size=(120, 300))
X[:, :15] += 0.9 * y[:, None]
_, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
selector = AnovaF(n_features_to_select=FalseDiscoveries(0.1)).fit(X, y)
PValueDisplay.from_estimator(selector, ax=axes[0, 0])
QValueDisplay.from_estimator(selector, ax=axes[0, 1])
KnockoffDisplay.from_estimator(selector.recut(Knockoffs(0.2), X, y), ax=axes[1, 0])
StabilityPathDisplay.from_estimator(selector.recut(StabilitySelection(), X, y), ax=axes[1, 1])
