"""Rank columns by walks on a graph: without a target (Inf-FS) and with classes (ILFS)."""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamis import ILFS, InfFS, InfFSCV
from tamis.plots import AlphaPathDisplay, EMTraceDisplay, FeatureGraphDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)


def best_five(table, alpha):
    selector = InfFS(alpha=alpha, n_features_to_select=5).fit(table)
    return ", ".join(X.columns[selector.order_[:5]])


print("Inf-FS on columns with units of their own: areas have the largest numbers and win.")
print("  ", best_five(X, alpha=0.5))

# A share of the range has no unit. Standard deviations of 1 would leave nothing to weigh.
scaled = MinMaxScaler().set_output(transform="pandas").fit_transform(X)
print("\nThe same on columns from 0 to 1, from non-redundancy alone to deviation alone:")
for alpha in (0.0, 0.5, 1.0):
    print(f"   alpha {alpha}: {best_five(scaled, alpha)}")

fitted = ILFS(n_features_to_select=5).fit(X, y)
print("\nILFS knows the classes, and units do not matter to it:")
for j in fitted.order_[:5]:
    print(f"   {fitted.relevance_[j]:.3f}  {X.columns[j]}")

print("\nAccuracy of a logistic regression on five columns, chosen inside the folds:")
model = make_pipeline(StandardScaler(), LogisticRegression())
for name, steps in {
    "Inf-FS, alpha 0.5, in units": [InfFS(n_features_to_select=5)],
    "Inf-FS, alpha 0.5, scaled": [MinMaxScaler(), InfFS(n_features_to_select=5)],
    "Inf-FS, alpha by cross-validation": [MinMaxScaler(), InfFSCV(grid=[5], cv=3)],
    "ILFS": [ILFS(n_features_to_select=5)],
}.items():
    accuracy = cross_val_score(make_pipeline(*steps, model), X, y).mean()
    print(f"   {accuracy:.3f}  {name}")

folder = Path(tempfile.mkdtemp(prefix="tamis-graph-"))
for name, display in {
    "feature_graph": FeatureGraphDisplay.from_estimator(InfFS().fit(scaled), scaled),
    "alpha_path": AlphaPathDisplay.from_data(scaled),
    "em_trace": EMTraceDisplay.from_estimator(fitted),
}.items():
    display.figure_.savefig(folder / f"{name}.png", dpi=120)
plt.close("all")
print(f"\nPictures: {', '.join(sorted(file.name for file in folder.iterdir()))} in {folder}")
