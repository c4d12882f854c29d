"""Figure of the page on Inf-FS and ILFS."""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler

from tamis import InfFS
from tamis.plots import FeatureGraphDisplay

X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
X = MinMaxScaler().set_output(transform="pandas").fit_transform(X)
FeatureGraphDisplay.from_estimator(InfFS().fit(X), X)
