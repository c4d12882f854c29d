"""Show that the numbers of a comparison hold, by simulation with known truth.

    python benchmarks/evaluation_coverage.py             100 tables of every design, about an hour
    python benchmarks/evaluation_coverage.py --tables 20  fewer

Writes docs/evaluation-evidence.md. Finished tables are kept in a JSON file (--store) and not
computed again. Every table is compared as a user would; its recommendation is then refitted on all
rows and scored on 5,000 fresh rows.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from tamis.evaluation import compare
from tamis.evaluation.intervals import gather
from tamis.evaluation.learners import make_learner
from tamis.evaluation.metrics import make_metric
from tamis.evaluation.significance import compare_rows
from tamis.selectors import make_selector

PAGE = Path(__file__).parents[1] / "docs" / "evaluation-evidence.md"
METHODS = {"classification": ["fisher", "dft", "mutualinformation"], "regression": ["correlation"]}
COUNTS = (1, 2, 5, 10, 20)
N_COLUMNS, N_FRESH = 60, 5000
# Name: task, rows, shift of the classes or slope of five columns, share of the second class.
DESIGNS = {
    "classes, null": ("classification", 100, 0.0, 0.5),
    "classes, weak": ("classification", 100, 0.6, 0.5),
    "classes, strong": ("classification", 100, 2.0, 0.5),
    "classes, weak, 60 rows": ("classification", 60, 0.8, 0.5),
    "classes, strong, 60 rows": ("classification", 60, 2.5, 0.5),
    "classes, weak, 300 rows": ("classification", 300, 0.4, 0.5),
    "classes 1:9, weak": ("classification", 200, 0.8, 0.1),
    "regression, null": ("regression", 100, 0.0, 0.0),
    "regression, weak": ("regression", 100, 0.3, 0.0),
    "regression, strong": ("regression", 100, 1.5, 0.0),
}


def draw(rng, design, n):
    """A table of a design; only the first five columns matter."""
    task, _, effect, share = DESIGNS[design]
    X = rng.normal(size=(n, N_COLUMNS))
    if task == "regression":
        return X, effect * X[:, :5].sum(axis=1) + rng.normal(size=n)
    y = rng.permutation(np.arange(n) < round(n * share)).astype(int)
    X[:, :5] += effect * (y[:, None] - 0.5)
    return X, y


def judge(design, seed):
    """What a comparison of one table said, and what was true."""
    task, n, _, _ = DESIGNS[design]
    rng = np.random.default_rng([seed, list(DESIGNS).index(design)])
    (X, y), (fresh, truth), (other, other_y) = (draw(rng, design, m) for m in (n, N_FRESH, n // 2))
    found = compare(METHODS[task], (X, y), counts=COUNTS, n_jobs=1, progress=False)
    answer = found.recommend()
    model = make_learner(answer.learner, task).estimator
    metric = make_metric(answer.metric, task)
    model.fit(X[:, answer.indices], y)
    true = metric.scorer(model, fresh[:, answer.indices], truth)
    half = rng.permutation(n)[: n // 2]
    selector = make_selector(answer.method)
    sets = [
        set(selector.fit(*table).order_[: answer.count])
        for table in ((X[half], y[half]), (other, other_y))
    ]
    k = answer.count
    agreement = (len(sets[0] & sets[1]) * N_COLUMNS - k**2) / (k * (N_COLUMNS - k))
    return {
        "score": answer.score,
        "low": answer.low,
        "high": answer.high,
        "measured": answer.measured,
        "true": float(true),
        "count": k,
        "stability": answer.stability,
        "stability_low": answer.stability_low,
        "stability_high": answer.stability_high,
        "agreement": agreement,
        "beats": answer.is_better_than_random,
    }


def equal_methods(seed, n_methods=20):
    """Whether any of 20 equally good methods is called worse: random rankings of one table."""
    rng = np.random.default_rng([seed, 999])
    X, y = draw(rng, "classes, weak", 100)
    methods = {f"m{i}": make_selector("randomranking", random_state=None) for i in range(n_methods)}
    found = compare(methods, (X, y), counts=(5,), n_jobs=1, progress=False)
    table = found.significance()
    return {"worse": int((~table["as_good_as_best"]).sum())}


def equal_models(seed, n_methods=20):
    """The same for models that differ by chance only and see the same rows."""
    rng = np.random.default_rng([seed, 998])
    n = 100
    skill = rng.normal(size=(n, 1)) + rng.normal(size=(n, n_methods))
    rows = np.arange(n).reshape(5, -1)
    parts = [(fold, (skill[fold] > -0.8).astype(float)) for fold in rows] * 4
    table = [values.mean(axis=0) for _, values in parts]
    found = compare_rows(gather(parts, n), table, [f"m{i}" for i in range(n_methods)])
    return {"worse": n_methods - len(found.as_good)}


def share(values):
    """A share with its standard error."""
    values = np.asarray(values, dtype=float)
    return f"{values.mean():.2f} ± {values.std() / np.sqrt(values.size):.2f}"


def mean(values):
    """A mean with its standard error."""
    values = np.asarray(values, dtype=float)
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(values.size):.4f}"


def page(done, n_tables):
    """The evidence as Markdown."""
    lines = [
        "# Evidence for the numbers of a comparison",
        "",
        "Made by `python benchmarks/evaluation_coverage.py`; every number with its standard error.",
        f"{n_tables} tables of every design, {N_COLUMNS} columns of which five matter (none in the",
        "null designs), compared as a user would (five folds, four times, the linear SVM, up to",
        f"three methods, {', '.join(map(str, COUNTS))} columns). The recommendation is refitted on",
        f"all rows and scored on {N_FRESH:,} fresh rows: that is the truth.",
        "",
        "## The expected score",
        "",
        "Optimism is the stated minus the true score; *uncorrected* is that of the mean over the",
        "splits. *Beats random* is the share of tables whose recommendation is called better than",
        "as many random columns.",
        "",
        "| design | true score | covered | width | optimism | uncorrected | beats random |",
        "|---|---|---|---|---|---|---|",
    ]
    for design in DESIGNS:
        rows = [row for key, row in done.items() if key.startswith(f"{design}/")]
        if rows:
            col = {key: np.array([row[key] for row in rows], float) for key in rows[0]}
            cells = [
                design,
                f"{col['true'].mean():.3f}",
                share((col["low"] <= col["true"]) & (col["true"] <= col["high"])),
                f"{np.mean(col['high'] - col['low']):.3f}",
                mean(col["score"] - col["true"]),
                mean(col["measured"] - col["true"]),
                share(np.nan_to_num(col["beats"])),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## Stability",
        "",
        "The stated agreement of disjoint halves, and the agreement of the columns of one half",
        "with those of an independent table of as many rows.",
        "",
        "| design | stated | independent tables | interval covers their mean |",
        "|---|---|---|---|",
    ]
    for design in DESIGNS:
        rows = [row for key, row in done.items() if key.startswith(f"{design}/")]
        rows = [row for row in rows if row["stability"] == row["stability"]]
        if rows:
            lines.append(f"| {design} | {' | '.join(_stability(rows))} |")
    lines += [
        "",
        "## Twenty equal methods",
        "",
        "Share of comparisons in which any of twenty equally good methods is called worse than the",
        "best, at level 0.05.",
        "",
        "| methods | called worse |",
        "|---|---|",
    ]
    for name in ("random rankings", "equal models"):
        rows = [row["worse"] > 0 for key, row in done.items() if key.startswith(f"{name}/")]
        if rows:
            lines.append(f"| {name} | {share(rows)} of {len(rows)} |")
    return "\n".join(lines) + "\n"


def _stability(rows):
    stated, found = (np.array([row[key] for row in rows]) for key in ("stability", "agreement"))
    covers = []
    for row in rows:  # the truth depends on the number of columns that was chosen
        truth = np.mean([other["agreement"] for other in rows if other["count"] == row["count"]])
        covers.append(row["stability_low"] <= truth <= row["stability_high"])
    return mean(stated), mean(found), share(covers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--store", type=Path, default=Path("evaluation_coverage.json"))
    options = parser.parse_args()
    done = json.loads(options.store.read_text()) if options.store.exists() else {}
    work = [
        (f"{design}/{seed}", lambda design=design, seed=seed: judge(design, seed))
        for seed in range(options.tables)
        for design in DESIGNS
    ]
    for name, run in (("random rankings", equal_methods), ("equal models", equal_models)):
        work += [(f"{name}/{seed}", lambda run=run, seed=seed: run(seed)) for seed in range(100)]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, (key, run) in enumerate(work):
            if key not in done:
                done[key] = run()
                if number % 10 == 0:
                    options.store.write_text(json.dumps(done))
                    print(f"{number} of {len(work)}", flush=True)
    options.store.write_text(json.dumps(done))
    PAGE.write_text(page(done, options.tables))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
