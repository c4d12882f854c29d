"""Figure of the page on OFW."""

from sklearn.datasets import load_breast_cancer

from tamis import OFW
from tamis.plots import TopWeightsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
TopWeightsDisplay.from_estimator(OFW(max_iter=5000, n_restarts=5, random_state=0).fit(X, y))
