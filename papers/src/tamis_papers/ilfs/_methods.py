"""The methods of the ILFS paper, by the names it gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TWELVE = (
    *("CFS", "Fisher", "FSV", "LLCFS", "LS", "MCFS"),
    *("MI", "ReliefF", "RFE", "UDFS", "Inf-FS", "ILFS"),
)


def methods(names: Sequence[str] = TWELVE, *, step: float = 1) -> dict[str, Any]:
    """Selectors by the paper's names; `step` is what SVM-RFE takes away at a time."""
    from tamis import (
        CFS,
        FSV,
        ILFS,
        LLCFS,
        MCFS,
        SVMRFE,
        UDFS,
        Fisher,
        InfFS,
        LaplacianScore,
        MutualInformation,
        ReliefF,
    )

    known = {
        "CFS": CFS(full_order=True),
        "Fisher": Fisher(),
        "FSV": FSV(),
        "LLCFS": LLCFS(),
        "LS": LaplacianScore(),
        "MCFS": MCFS(),
        "MI": MutualInformation(estimator="binned"),
        "ReliefF": ReliefF(),
        "RFE": SVMRFE(step=step),
        "UDFS": UDFS(),
        "Inf-FS": InfFS(alpha=0.2),
        "ILFS": ILFS(n_tokens=6),
        "ILFS, free topics": ILFS(n_tokens=6, topics="free"),
    }
    return {name: known[name] for name in names}
