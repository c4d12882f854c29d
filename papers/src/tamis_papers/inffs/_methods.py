"""The methods of the Inf-FS paper, by the names it gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ALPHAS = tuple(number / 10 for number in range(11))
GRID = (10, 50, 100, 150, 200)


def methods(names: Sequence[str], *, scoring: str = "roc_auc", quick: bool = False) -> Any:
    """Selectors by the paper's names.

    Inf-FS chooses alpha by five folds of the training rows, among the values of section 4.7.
    SVM-RFE takes columns away one by one, and as many as half of them at a time in a quick run.
    """
    from tamis import FSV, SVMRFE, Fisher, InfFS, InfFSCV, MutualInformation, ReliefF

    step = 0.5 if quick else 1
    alphas = (0.0, 0.2, 1.0) if quick else ALPHAS
    known = {
        "SVM-RFE": SVMRFE(step=step),
        "Ens. SVM-RFE": SVMRFE(step=step, n_bootstraps=20),
        "SW SVM-RFE": SVMRFE(step=step, sample_weighting=True),
        "ReliefF": ReliefF(),
        "SW ReliefF": ReliefF(sample_weighting=True),
        "Fisher": Fisher(),
        "MutInf": MutualInformation(estimator="binned"),
        "FSV": FSV(),
        "Inf-FS": InfFSCV(alphas=alphas, grid=GRID, scoring=scoring),
        "Inf-FS, alpha 0.2": InfFS(alpha=0.2),
    }
    return {name: known[name] for name in names}
