"""Figure of the page on Inf-FS and ILFS."""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler

from tamis.plots import AlphaPathDisplay

X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
X = MinMaxScaler().set_output(transform="pandas").fit_transform(X)
AlphaPathDisplay.from_data(X)
