"""Figure of the page on DFT and RFT."""

from sklearn.datasets import load_breast_cancer

from tamis import DFT
from tamis.plots import ScoreCurveDisplay

X, y = load_breast_cancer(return_X_y=True)
ScoreCurveDisplay.from_estimator(DFT().fit(X, y))
