"""What a fitted selector shows in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

N_SHOWN = 10
LONGEST_NAME = 60


def top_features(selector: Any) -> str:
    """HTML table of the best columns with a bar per score."""
    ranking = selector.ranking_record()
    best = max(float(selector.scores_.max()), 0.0) or 1.0
    rows = []
    for j in selector.order_[:N_SHOWN]:
        share = 100 * max(float(selector.scores_[j]), 0.0) / best
        mark = "✓" if selector.support_[j] else ""
        rows.append(
            f"<tr><td>{selector.ranking_[j]}</td><td>{escape(_short(ranking.name(j)))}</td>"
            f"<td>{selector.scores_[j]:.4g}</td><td style='width:8em'><div style='background:"
            f"#4a7fb5;height:.7em;width:{share:.1f}%'></div></td><td>{mark}</td></tr>"
        )
    return (
        f"<table><caption>{selector.n_selected_:,} of {selector.scores_.size:,} columns selected"
        "</caption><thead><tr><th>rank</th><th>feature</th><th>score</th><th></th>"
        f"<th>selected</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
