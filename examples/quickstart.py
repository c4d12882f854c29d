"""Rank the columns of a data frame, look at the result, keep the best."""

import pandas as pd
from sklearn.datasets import load_breast_cancer

from tamis import DFT

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X.loc[::7, "worst area"] = float("nan")  # a missing entry contributes nothing
diagnosis = y.map({0: "malignant", 1: "benign"})  # labels may be strings

selector = DFT().set_output(transform="pandas").fit(X, diagnosis)

print(f"{selector.n_selected_} of {X.shape[1]} columns are beyond chance:")
print(selector.to_frame().head(14).to_string(index=False, float_format="{:.3f}".format))

print("\nWhere the best three are cut, and what each side holds:")
for j in selector.order_[:3]:
    below = X.iloc[:, j] < selector.thresholds_[j]
    counts = pd.crosstab(below.map({True: "below", False: "above"}), diagnosis)
    print(f"\n{X.columns[j]} at {selector.thresholds_[j]:.3g}")
    print(counts.rename_axis(index=None, columns=None).to_string())

reduced = selector.recut(3).transform(X)
print("\nThe reduced table keeps names and types:")
print(reduced.head(3).to_string())
