"""Figures 3 to 5 of the meta-features paper, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis_papers.meta.patches import METHODS
from tamis_papers.meta.patches_shown import IMAGES, MAIN, PatchesView


def draw_shape(view: PatchesView, figure: Any) -> None:
    """Figure 3: quality against the deviation of the patch, by size."""
    axes = np.atleast_1d(figure.subplots(1, len(view.plan.data)))
    for ax, data in zip(axes, view.plan.data, strict=True):
        for size in sorted(view.rank_correlations(data)):
            places, heights = _tenths(view, data, size)
            ax.plot(places, heights, marker=".", label=f"{size} x {size}")
        ax.set(title=data, xlabel="standard deviation of the patch")
        ax.legend(title="patch", fontsize="small")
    axes[0].set_ylabel("quality (mean of a tenth), best = 1")


def _tenths(view: PatchesView, data: str, size: int) -> tuple[list[float], list[float]]:
    """Mean deviation and mean quality of tenths of the patches of a size, all repeats."""
    deviations, qualities = [], []
    for one in view.map_of(data):
        rows = np.array(one["size"]) == size
        quality = np.array(one[MAIN]["known"] + one[MAIN]["hidden"])
        deviations.append(np.array(one["deviation"])[rows])
        qualities.append(quality[rows] / quality.mean())
    deviation, quality = np.concatenate(deviations), np.concatenate(qualities)
    parts = np.array_split(np.argsort(deviation, kind="stable"), 10)
    heights = np.array([quality[part].mean() for part in parts])
    return [float(deviation[part].mean()) for part in parts], (heights / heights.max()).tolist()


def draw_map(view: PatchesView, figure: Any) -> None:
    """Figure 4: predicted against measured quality, and the mean of the k best."""
    one = view.map_of(IMAGES)[0]
    left, right = figure.subplots(1, 2)
    hidden, predicted = np.array(one[MAIN]["hidden"]), np.array(one[MAIN]["predicted"])
    left.plot(predicted, hidden, ".", markersize=3)
    left.set(
        title=f"coil20, correlation {one[MAIN]['correlation']:.2f} (paper 0.94)",
        xlabel="predicted quality", ylabel="measured quality",
    )  # fmt: skip
    k = np.arange(1, hidden.size + 1)
    for label, order in (("measured", -hidden), ("predicted", -predicted)):
        best = hidden[np.argsort(order, kind="stable")]
        right.plot(k, np.cumsum(best) / k, label=f"ranked by {label} quality")
    right.set(xlabel="k", ylabel="mean quality of the k best", ylim=(0, None))
    right.legend(fontsize="small")


def draw_selection(view: PatchesView, figure: Any) -> None:
    """Figure 5: accuracy against the number of prototypes."""
    axes = np.atleast_1d(figure.subplots(1, len(view.plan.data)))
    for ax, data in zip(axes, view.plan.data, strict=True):
        for method in (name for name in METHODS if name != "MF-PFS, alpha 0.6"):
            values = view.curve(method, data)[:, :, 0]
            several = values.shape[1] > 1
            error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1]) if several else None
            ax.errorbar(view.plan.counts, values.mean(axis=1), error, label=method, capsize=2)
        ax.set(title=data, xscale="log", xlabel="prototypes selected, n")
        ax.set_xticks(view.plan.counts, [str(count) for count in view.plan.counts])
        ax.minorticks_off()
    axes[0].set_ylabel("accuracy on test images, % (1 standard error)")
    axes[0].legend(fontsize="small")
