"""Figures 6 to 8 of the meta-features paper, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis_papers.meta.digits import KINDS, METHODS
from tamis_papers.meta.digits_shown import META, DigitsView


def _deviation(values: Any) -> float:
    """Standard deviation of the repeats; none of a single one."""
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def draw_errors(view: DigitsView, figure: Any) -> None:
    """Figure 6: test error against the budget."""
    ax = figure.subplots()
    for method in METHODS:
        values = [view.errors(method, budget) for budget in view.plan.budgets]
        ax.errorbar(
            view.plan.budgets, [v.mean() for v in values], [_deviation(v) for v in values],
            label=method, capsize=2, marker=".",
        )  # fmt: skip
    level = view.kernel(2).mean()
    ax.axhline(level, color="black", linestyle="--", label="SVM, polynomial of degree 2")
    ax.set(
        xlabel="budget",
        ylabel="test error, % (1 standard deviation)",
        xscale="log",
        yscale="log",
    )
    ax.set_xticks(view.plan.budgets, [str(budget) for budget in view.plan.budgets])
    ticks = [tick for tick in (3, 4, 5, 7, 10, 15, 20, 30, 50) if tick > 0.8 * level]
    ax.set_yticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.legend(fontsize="small")


def draw_chosen(view: DigitsView, figure: Any) -> None:
    """Figure 7: chosen meta-features against the budget."""
    for ax, name in zip(figure.subplots(2, 2, sharex=True).ravel(), META, strict=True):
        chosen = view.chosen(name)
        means = chosen.mean(axis=1)
        low, high = np.quantile(chosen, (0.1, 0.9), axis=1)
        error = np.abs([means - low, high - means])
        ax.errorbar(view.plan.budgets, means, error, capsize=2, marker=".")
        ax.set(title=name)
    figure.supxlabel("budget")
    figure.supylabel("chosen value (80 % of the runs)")


def draw_places(view: DigitsView, figure: Any) -> None:
    """Figure 8: location against number of inputs."""
    ax = figure.subplots()
    for kind in KINDS:
        values = [view.place(kind, count) for count in view.plan.counts]
        error = [_deviation(v) / np.sqrt(v.size) for v in values]
        ax.errorbar(
            view.plan.counts, [v.mean() for v in values], error, label=kind, capsize=2,
            marker=".",
        )  # fmt: skip
    ax.set(xscale="log", xlabel="features", ylabel="test error of 4 against 9, % (1 std. error)")
    ax.set_xticks(view.plan.counts, [str(count) for count in view.plan.counts])
    ax.minorticks_off()
    ax.legend()
