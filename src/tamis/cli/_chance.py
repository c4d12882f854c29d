"""Whether a selection is distinguishable from noise, where the fit did not look."""

from __future__ import annotations

from typing import Any

from tamis._chance import N_PERMUTATIONS, warn_if_at_chance
from tamis.cli.console import Talk
from tamis.cutoff.fit_data import FitData
from tamis.data import PreparedTable

# Fits on permuted targets that are made unasked take so long at most.
MOST_SECONDS = 10.0


def compare_with_chance(selector: Any, prepared: PreparedTable, seconds: float, talk: Talk) -> None:
    """Permute the target and fit again, or say why not; `seconds` is what one fit took."""
    needed = N_PERMUTATIONS * seconds
    if needed <= MOST_SECONDS:
        warn_if_at_chance(FitData(selector, prepared.X, prepared.y), refit=True)
    else:
        talk.say(
            f"not compared with noise, which would take about {needed:,.0f} s; "
            "--select fwer:0.05 tests every column"
        )
