"""Figure of the page on OFW."""

from sklearn.datasets import load_breast_cancer

from tamis import OFW
from tamis.plots import WeightsPathDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
WeightsPathDisplay.from_estimator(OFW(max_iter=5000, random_state=0).fit(X, y))
