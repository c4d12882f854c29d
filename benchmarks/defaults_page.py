"""The page that `defaults.py` writes: tables of designs and of real data."""

from collections import defaultdict

import numpy as np

HEADER = """# Evidence: the default cutoff

`n_features_to_select="auto"` keeps the features beyond chance at a false discovery rate of 10%.
This page compares it with the former default, the elbow of the scores (for MRMR the elbow of the
relevances, `"best"`). It is written by `python benchmarks/defaults.py --page
docs/defaults-evidence.md`; the designs are in `benchmarks/defaults_designs.py`. "anovaf",
"correlation" and so on are the names of `tamis methods`; "spearman" is `correlation` with
`kind="spearman"`. Each cell of the designs is a mean over tables; the number of tables is in
brackets. [How sure](certainty.md) explains the rule.
"""
NOISE = """
## Noise

Share of tables of noise on which anything is selected. The elbow always selects. "auto" should stay
at 0.1; the standard error of a share of 0.1 is 0.07 with 20 tables.

"""
TRUTH = """
## Truth

Features that are related to the target, and others, among those kept: true / false, elbow → auto.

"""
REAL = """
## Real data

Score on held-out rows (five folds, twice) of a fixed model: balanced accuracy of a logistic
regression, or R² of a ridge regression; number of features in brackets. Elbow → auto. Where nothing
is selected, the model guesses.

"""


def page(rows, noise_names):
    """Markdown of all that is stored."""
    cells = defaultdict(list)
    for row in rows:
        cells[row["kind"], row["name"], row["method"], row["cutoff"]].append(row)
    designs = list(dict.fromkeys(row["name"] for row in rows if row["kind"] == "design"))
    others = [name for name in designs if name not in noise_names]
    real = list(dict.fromkeys(row["name"] for row in rows if row["kind"] == "real"))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    parts = [
        HEADER,
        NOISE,
        table(cells, "design", [n for n in designs if n in noise_names], methods, share),
        TRUTH,
        table(cells, "design", others, methods, true_and_false),
        REAL,
        table(cells, "real", real, methods, score),
        verdict(cells, others, methods),
    ]
    return "".join(parts)


def table(cells, kind, names, methods, cell):
    """One line per method, one column per table."""
    lines = ["| method | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for method in methods:
        found = []
        for name in names:
            old = cells.get((kind, name, method, "elbow"), [])
            new = cells.get((kind, name, method, "auto"), [])
            found.append(cell(old, new) if old and new else "")
        lines.append(f"| {method} | " + " | ".join(found) + " |")
    return "\n".join(lines) + "\n"


def mean(rows, key):
    return float(np.mean([row[key] for row in rows]))


def share(old, new):
    return f"{np.mean([row['kept'] > 0 for row in new]):.2f} ({len(new)})"


def true_and_false(old, new):
    def pair(rows):
        return f"{mean(rows, 'true'):.1f} / {mean(rows, 'false'):.1f}"

    return f"{pair(old)} → {pair(new)} ({len(new)})"


def score(old, new):
    def one(rows):
        return f"{mean(rows, 'score'):.2f} ({mean(rows, 'kept'):,.0f})"

    return f"{one(old)} → {one(new)}"


def verdict(cells, names, methods):
    """Where the new default has fewer true features, or more false ones, than the elbow."""
    fewer, more = [], []
    for name in names:
        for method in methods:
            old = cells.get(("design", name, method, "elbow"), [])
            new = cells.get(("design", name, method, "auto"), [])
            if old and new:
                if mean(new, "true") < mean(old, "true"):
                    fewer.append(f"{method} on {name}")
                if mean(new, "false") > mean(old, "false"):
                    more.append(f"{method} on {name}")
    return (
        "\n## Where it does not do better\n\nFewer true features than the elbow: "
        + ("; ".join(fewer) or "nowhere")
        + ".\n\nMore false features than the elbow: "
        + ("; ".join(more) or "nowhere")
        + ".\n"
    )
