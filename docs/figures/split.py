"""Figure of the page on DFT and RFT."""

from sklearn.datasets import load_iris

from tamis import DFT
from tamis.plots import SplitDisplay

X, y = load_iris(return_X_y=True, as_frame=True)
SplitDisplay.from_estimator(DFT().fit(X, y), X, y, feature="sepal length (cm)")
