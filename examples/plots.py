"""Draw the score curve with its elbows, and the losses of single columns."""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes

from tamis import DFT, RFT
from tamis.plots import ScoreCurveDisplay, SplitDisplay

folder = Path(tempfile.mkdtemp(prefix="tamis-plots-"))

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = DFT().fit(X, y)
display = ScoreCurveDisplay.from_estimator(selector)
display.figure_.savefig(folder / "score_curve.png", dpi=120)
print("early and late elbow:", display.elbows)

_, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, rank in zip(axes, (0, -1), strict=True):
    name = X.columns[selector.order_[rank]]
    split = SplitDisplay.from_estimator(selector, X, y, feature=name, ax=ax)
    cut, loss = split.best
    print(f"{name}: cut at {cut:.3g}, {split.base:.3f} bits before, {loss:.3f} after")
axes[0].figure.savefig(folder / "best_and_worst_split.png", dpi=120)

X, y = load_diabetes(return_X_y=True, as_frame=True)
regression = RFT().fit(X, y)
split = SplitDisplay.from_estimator(regression, X, y, feature="bmi")
split.figure_.savefig(folder / "split_of_bmi.png", dpi=120)
print(f"bmi: mean squared error {split.base:.0f} before the cut, {split.best[1]:.0f} after")

plt.close("all")
print("saved:")
for file in sorted(folder.iterdir()):
    print(f"  {file} ({file.stat().st_size // 1024} KiB)")
