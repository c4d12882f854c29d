"""Whether a selection is distinguishable from noise, where the fit did not look."""

from __future__ import annotations

from typing import Any

from tamis._chance import AT_CHANCE, N_PERMUTATIONS, warn_if_at_chance
from tamis.certainty.chance import warn_by_law
from tamis.cli.console import Talk
from tamis.cutoff.fit_data import FitData
from tamis.data import PreparedTable

# Fits on permuted targets that are made unasked take so long at most.
MOST_SECONDS = 10.0


def compare_with_chance(selector: Any, prepared: PreparedTable, seconds: float, talk: Talk) -> None:
    """Permute the target and fit again, or say why not; `seconds` is what one fit took."""
    needed = N_PERMUTATIONS * seconds
    if prepared.y is None:  # rows were read block by block
        if not warn_by_law(selector, AT_CHANCE):
            talk.say(
                "not compared with noise, because the rows are read block by block and the scores "
                "of this method have no known law; --method anovaf or correlation is compared"
            )
    elif needed <= MOST_SECONDS:
        warn_if_at_chance(FitData(selector, prepared.X, prepared.y), refit=True)
    else:
        talk.say(
            f"not compared with noise, which would take about {needed:,.0f} s; "
            "--select fwer:0.05 tests every column"
        )
