"""Figure of the page on Inf-FS and ILFS."""

from sklearn.datasets import load_breast_cancer

from tamis import ILFS
from tamis.plots import EMTraceDisplay

X, y = load_breast_cancer(return_X_y=True)
EMTraceDisplay.from_estimator(ILFS().fit(X, y))
