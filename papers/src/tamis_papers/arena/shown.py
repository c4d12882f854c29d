"""The arena as tables, sentences and a critical-difference diagram."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis_papers.arena.ranks import Cells, Standing, duel, is_complete, scores_of
from tamis_papers.arena.unit import TRAIN_SHARE

# The five systems, as far as they rank the columns of a table.
SYSTEMS = {
    "dft": "DFT", "rft": "RFT", "inffs": "Inf-FS", "inffscv": "Inf-FS with its alpha chosen",
    "ilfs": "ILFS", "ofw": "OFW",
}  # fmt: skip
# One column at a time, one pass over the table.
SIMPLE = ("anovaf", "correlation", "fisher", "informationgain", "mutualinformation", "variance")
TITLES = {"classification": "Classes", "regression": "Numbers"}


@dataclass(frozen=True)
class ArenaView:
    """Everything that was found, ready to be shown."""

    cells: Cells
    standings: dict[str, Standing]
    plan: dict[str, Any]

    def tables(self) -> dict[str, list[list[str]]]:
        """A table of the methods for every task, and one of the sets."""
        found = {
            f"{TITLES[task]}, {len(self.plan[task])} tables, methods by average rank": self.methods(
                task
            )
            for task in self.standings
        }
        for task in self.standings:
            found[f"{TITLES[task]}, table by table"] = self.sets(task)
        return found

    def methods(self, task: str) -> list[list[str]]:
        """Rank, best places, stability, time, and how often it was stopped."""
        rows = [
            ["method", "average rank", "best on", "stability", "median seconds", "not finished"]
        ]
        best = [self.winners(task, data) for data in self.plan[task]]
        for method, rank in zip(*self.standings[task][:2], strict=True):
            cells = [self.cells[data, method] for data in self.plan[task]]
            done = [cell for cell in cells if self.finished(cell)]
            seconds = [np.mean([split["seconds"] for split in cell["splits"]]) for cell in done]
            found = (self.stability(data, method) for data in self.plan[task])
            stable = [value for value in found if value is not None]
            rows.append([
                SYSTEMS.get(method, method), f"{rank:.2f}",
                str(sum(method in names for names in best)),
                f"{np.mean(stable):.2f}" if stable else "",
                f"{np.median(seconds):.2g}" if seconds else "",
                str(len(cells) - len(done)) if len(done) < len(cells) else "",
            ])  # fmt: skip
        return rows

    def sets(self, task: str) -> list[list[str]]:
        """For every table the best method, the systems, the best simple filter, and who failed."""
        systems = [name for name in SYSTEMS if name in self.plan["methods"][task]]
        simple = self.best_simple(task)
        columns = [*systems, *([simple] if simple else [])]
        rows = [["table", "best", "score", *(SYSTEMS.get(n, n) for n in columns), "not finished"]]
        for data in self.plan[task]:
            winners = self.winners(task, data)
            score = self.mean(data, winners[0]) if winners else ""
            failed = [
                f"{method} ({self.cells[data, method]['error']})"
                for method in self.plan["methods"][task]
                if not self.finished(self.cells[data, method])
            ]
            best = ", ".join(winners[:3]) + (" ..." if len(winners) > 3 else "")
            means = [self.mean(data, name) for name in columns]
            rows.append([data, best, score, *means, "; ".join(failed)])
        return rows

    def findings(self) -> list[str]:
        """Where the systems win, and where a simple filter is as good."""
        texts = []
        for task, found in self.standings.items():
            texts.append(self._verdict(task, found))
            simple = self.best_simple(task)
            for name in SYSTEMS:
                if name in found.methods and simple:
                    texts.append(self._duel(task, name, simple))
        return texts

    def _verdict(self, task: str, found: Standing) -> str:
        best, rest = found.as_good[0], found.as_good[1:]
        told = f"{len(rest)} others are not shown to be worse: {', '.join(rest)}"
        return (
            f"{TITLES[task]}: over {found.n_sets} independent tables and {len(found.methods)} "
            f"methods, {best} has the best average rank ({found.ranks[0]:.2f}; Friedman test "
            f"p = {found.p_value:.2g}, critical difference {found.difference:.2f}); "
            + (told if rest else "all others are worse")
            + "."
        )

    def _duel(self, task: str, name: str, simple: str) -> str:
        found = self.standings[task]
        place = found.methods.index(name) + 1
        fight = duel(
            self.cells, self.plan[task], name, simple, self.plan["n_splits"], 1 - TRAIN_SHARE
        )
        level = "as good as the best" if name in found.as_good else "worse than the best"
        return (
            f"{SYSTEMS[name]}, {TITLES[task].lower()}: average rank {found.ranks[place - 1]:.2f}, "
            f"place {place} of {len(found.methods)}, by the critical difference {level}. Against "
            f"{simple}, the simple filter with the best average rank, it is better on "
            f"{_named(fight.better)}, worse on {_named(fight.worse)}, and on {len(fight.equal)} of "
            f"{len(self.plan[task])} tables the simple filter is as good {self._how()}."
        )

    def _how(self) -> str:
        if self.plan["n_splits"] < 2:
            return "as far as a single split can tell"
        return "(paired over the splits, 5 %)"

    def best_simple(self, task: str) -> str:
        """The simple filter with the best average rank; empty if there is none."""
        return next((name for name in self.standings[task].methods if name in SIMPLE), "")

    def winners(self, task: str, data: str) -> list[str]:
        """The methods with the largest mean score on a table."""
        means = {
            method: float(np.mean(scores_of(self.cells[data, method])))
            for method in self.plan["methods"][task]
            if self.finished(self.cells[data, method])
        }
        return [method for method, mean in means.items() if mean >= max(means.values())]

    def mean(self, data: str, method: str) -> str:
        """Mean score as text."""
        cell = self.cells[data, method]
        return f"{np.mean(scores_of(cell)):.3f}" if self.finished(cell) else ""

    def finished(self, cell: Any) -> bool:
        """Whether all splits are there."""
        return is_complete(cell, self.plan["n_splits"])

    def stability(self, data: str, method: str) -> float | None:
        """How far the same columns come again; None if it was stopped, or of a single split."""
        from tamis.evaluation.stability import nogueira

        cell = self.cells[data, method]
        if not self.finished(cell) or self.plan["n_splits"] < 2:
            return None
        tops = [split["top"] for split in cell["splits"]]
        return float(nogueira(tops, cell["splits"][0]["n_columns"]).value)

    def figures(self) -> dict[str, Callable[[Any], None]]:
        """A critical-difference diagram for every task."""

        def drawing(task: str) -> Callable[[Any], None]:
            return lambda figure: draw_ranks(figure, self.standings[task], TITLES[task])

        return {task: drawing(task) for task in self.standings}


def _named(sets: tuple[str, ...]) -> str:
    if not sets:
        return "none"
    return f"{len(sets)} ({', '.join(sets)})"


def draw_ranks(figure: Any, found: Standing, title: str) -> None:
    """Average ranks on a line; a bar joins methods that are not shown to differ."""
    n = len(found.methods)
    half = (n + 1) // 2
    figure.set_size_inches(8.0, 1.6 + 0.24 * half + 0.12 * len(found.groups))
    ax = figure.subplots()
    low, high = 1.0, float(n)
    top = 0.5 * len(found.groups) + 1.0
    for index, (method, rank) in enumerate(zip(found.methods, found.ranks, strict=True)):
        left = index < half
        y = -(top + (index if left else n - 1 - index))
        edge = low - 0.03 * n if left else high + 0.03 * n
        colour = "C3" if method in SYSTEMS else "black"
        ax.plot([rank, rank, edge], [0, y, y], color=colour, linewidth=0.8)
        ax.text(
            edge, y, f"{SYSTEMS.get(method, method)} {rank:.1f} " if left
            else f" {SYSTEMS.get(method, method)} {rank:.1f}",
            ha="right" if left else "left", va="center", color=colour, fontsize="small",
        )  # fmt: skip
    for level, group in enumerate(found.groups):
        ends = [found.ranks[group[0]] - 0.05, found.ranks[group[-1]] + 0.05]
        ax.plot(ends, [-0.5 * (level + 1)] * 2, color="grey", linewidth=3, solid_capstyle="butt")
    ax.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in (t for t in range(1, n + 1) if n <= 12 or t % 5 == 0 or t == 1):
        ax.plot([tick, tick], [0, 0.25], color="black", linewidth=1)
        ax.text(tick, 0.35, str(tick), ha="center", va="bottom", fontsize="small")
    length = min(found.difference, high - low)
    ax.plot([low, low + length], [2.0, 2.0], color="black", marker="|")
    ax.text(low, 2.3, f"critical difference {found.difference:.2f}", fontsize="small")
    ax.set(
        xlim=(low - 0.35 * n, high + 0.35 * n),
        ylim=(-(top + half), 3.4),
        title=f"{title}: average rank over {found.n_sets} tables (1 is best; the systems in red)",
    )
    ax.set_axis_off()
