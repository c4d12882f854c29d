"""Records as Comparison.to_dict() gives them, made up but realistic: always the same numbers."""

import numpy as np

METHODS = [
    "inffs", "ilfs", "dft", "relieff", "mrmr", "fisher",
    "svmrfe", "mutual_information", "tree_importance", "ofw", "laplacian_score", "random",
]  # fmt: skip
COUNTS = [10, 50, 100, 150, 200]
HOSTILE = [
    "<script>window.hacked = 1; alert('hacked')</script>",
    "</script><img src=x onerror=\"window.hacked=2\">",
    "\"'><svg onload=window.hacked=3>",
    "gene\u202eevil\u2066\u200f‮",
    "العربية اسم العمود",
    "x" * 10_000,
    "{{ 7 * 7 }}{% raw %}",
    "]]>--><!--<title>",
    "=HYPERLINK(\"http://example.invalid\",\"x\")",
    "line\nbreak\x00nul\x1besc\ud800",
    "&lt;b&gt;&amp;",
    "javascript:alert(1)",
]  # fmt: skip


def make_summary(
    methods=METHODS,
    counts=COUNTS,
    n_splits=20,
    n_columns=2000,
    n_data=1,
    learners=("svm",),
    metrics=("accuracy",),
    names=None,
    seed=0,
):
    rng = np.random.default_rng(seed)
    methods, counts = list(methods), list(counts)
    titles = ["colon", "leukemia", "lymphoma", "prostate"]
    data, rows = [], []
    for position in range(n_data):
        name = titles[position] if position < 4 else f"data {position}"
        part, scores = make_data(
            name, rng, methods, counts, n_splits, n_columns, learners, metrics, names
        )
        data.append(part)
        rows += scores
    return {
        "schema": "tamis-comparison",
        "version": 2,
        "methods": methods,
        "learner": learners[0],
        "metric": metrics[0],
        "level": 0.95,
        "random_state": 0,
        "seeds": [
            {"data": part["name"], "method": method, "seeds": list(range(n_splits))}
            for part in data
            for method in methods
        ],
        "data": data,
        "significance": make_ranks(methods, rng, "nemenyi", n_data) if n_data > 1 else None,
        "table": {
            "fields": ["data", "method", "split", "count", "learner", "metric", "value"],
            "rows": rows,
        },
        "failures": [
            {
                "data": "colon",
                "method": methods[-1],
                "split": "split 7",
                "part": "selector",
                "error": "InputError: RandomRanking: expected at least one column with two "
                "different values, got 2000 constant or empty columns in 41 rows.",
                "details": "Traceback (most recent call last): ...",
            }
        ],
        "warnings": [
            {
                "data": "colon",
                "method": "svmrfe",
                "warning": "ConvergenceWarning: Liblinear failed to converge.",
                "n": 3,
            }
        ],
        "selectors": {method: f"{method.title()}()" for method in methods},
        "versions": {
            "tamis": "0.1.0", "python": "3.11.2", "numpy": "2.2.6",
            "scikit-learn": "1.9.1", "machine": "Linux x86_64, 2 cores",
        },
        "other_versions": [],
    }  # fmt: skip


def make_ranks(methods, rng, test, n_blocks):
    mean_ranks = np.sort(rng.uniform(1, len(methods), len(methods)))
    is_nemenyi = test == "nemenyi"
    groups = make_groups(methods, mean_ranks, 3.73) if is_nemenyi else [methods[:4]]
    p_values = [1.0, *np.linspace(0.9, 1e-6, len(methods) - 1).round(6).tolist()]
    friedman = {
        "chi_square": 61.2, "p_chi_square": 4.1e-8, "f_statistic": 9.7, "p_value": 3.1e-9,
        "average_ranks": [round(float(rank), 3) for rank in mean_ranks], "n_data": n_blocks,
    }  # fmt: skip
    return {
        "over": "data sets" if is_nemenyi else "splits",
        "metric": "accuracy",
        "learner": "svm",
        "count": None,
        "left_out": [],
        "reason": None,
        "methods": [
            {
                "method": method, "mean": 0.8, "average_rank": round(float(rank), 3),
                "p_value": p_value, "is_best": method == methods[0],
                "as_good_as_best": p_value > 0.05,
                "groups": [n for n, group in enumerate(groups, 1) if method in group],
            }
            for method, rank, p_value in zip(methods, mean_ranks, p_values, strict=True)
        ],
        "test": test,
        "best": methods[0],
        "as_good": methods[:4],
        "groups": groups,
        "critical_difference": 3.73 if is_nemenyi else None,
        "friedman": friedman if is_nemenyi else None,
        "test_level": 0.05,
        "n_blocks": n_blocks,
    }  # fmt: skip


def make_groups(methods, mean_ranks, difference):
    groups, last = [], 0
    for first, rank in enumerate(mean_ranks):
        end = int(np.searchsorted(mean_ranks, rank + difference, side="right"))
        if end - first > 1 and end > last:
            groups.append(methods[first:end])
            last = end
    return groups


def make_data(name, rng, methods, counts, n_splits, n_columns, learners, metrics, names):
    scores, rows = [], []
    for m, method in enumerate(methods):
        quality = 0.87 - 0.012 * m - (0.12 if method == "random" else 0)
        for learner in learners:
            for metric in metrics:
                for count in counts:
                    rise = 0.07 * np.exp(-count / (25 + 6 * m))
                    values = rng.normal(quality - rise, 0.05, n_splits).clip(0.3, 1)
                    if metric in ("mse", "balanced_error"):
                        values = 1 - values
                    mean = float(values.mean())
                    half = float(2.093 * values.std(ddof=1) / np.sqrt(n_splits))
                    scores.append({
                        "method": method, "learner": learner, "metric": metric,
                        "count": count, "mean": mean, "standard_error": half / 2.093,
                        "low": mean - half, "high": mean + half, "n": n_splits,
                    })  # fmt: skip
                    rows += [
                        [name, method, f"split {i}", count, learner, metric, round(float(v), 4)]
                        for i, v in enumerate(values)
                    ]
    stability = []
    for m, method in enumerate(methods):
        for count in counts:
            value = float(np.clip(0.8 - 0.05 * m + 0.04 * np.log(count / 10), 0.02, 1))
            stability.append({
                "method": method, "count": count, "nogueira": value,
                "low": max(value - 0.05, 0.0), "high": min(value + 0.05, 1.0),
                "jaccard": value / 2, "jensen_shannon": value, "n": n_splits,
            })  # fmt: skip
    return {
        "name": name,
        "fingerprint": "9f86d081884c7d659a2feaa0c55ad015",
        "n_rows": 62,
        "n_columns": n_columns,
        "task": "classification",
        "counts": counts,
        "learners": list(learners),
        "metrics": [
            {
                "name": metric,
                "greater_is_better": metric not in ("mse", "balanced_error"),
                "low": 0.0,
                "high": None if metric == "mse" else 1.0,
            }
            for metric in metrics
        ],
        "protocol": {
            "protocol": "RepeatedSplits",
            "description": f"{n_splits} random splits, each with 67% of the rows to learn from.",
            "n_splits": n_splits,
        },
        "splits": [f"split {i}" for i in range(n_splits)],
        "answer": make_answer(
            name, methods, counts, learners, metrics, scores, stability, names, rng
        ),
        "scores": scores,
        "baselines": make_baselines(counts, learners, metrics, n_columns, n_splits),
        "stability": stability,
        "frequencies": make_frequencies(methods, n_columns, names, rng),
        "correlation": make_correlation(min(n_columns, 30), names, rng),
        "times": [
            {
                "method": method,
                "select_seconds": float(10 ** rng.uniform(-2.5, 1.5)),
                "learn_seconds": float(rng.uniform(0.1, 0.6)),
                "peak_bytes": float(10 ** rng.uniform(6, 8.5)),
                "n": n_splits,
            }
            for method in methods
        ],
        "probes": [],
        "significance": make_ranks(methods, rng, "t over rows", n_splits),
    }, rows


def make_baselines(counts, learners, metrics, n_columns, n_splits):
    levels = {("guessing", 0): 0.5, ("all features", n_columns): 0.84}
    levels |= {("random features", count): 0.6 + 0.02 * np.log(count) for count in counts}
    return [
        {
            "method": name, "learner": learner, "metric": metric, "count": count,
            "mean": float(value), "standard_error": 0.02, "low": float(value) - 0.04,
            "high": float(value) + 0.04, "n": n_splits,
        }
        for learner in learners for metric in metrics
        for (name, count), value in levels.items()
    ]  # fmt: skip


def make_columns(n, names):
    columns = [names[i % len(names)] if names else f"gene_{37 * i % 2000:04d}" for i in range(n)]
    return {"indices": [37 * i % 2000 for i in range(n)], "columns": columns}


def make_answer(name, methods, counts, learners, metrics, scores, stability, names, rng):
    count = counts[min(1, len(counts) - 1)]
    score = next(row for row in scores if row["count"] == count)
    steady = next(row for row in stability if row["count"] == count)
    shares = np.round(np.sort(rng.beta(4, 2, min(count, 200)))[::-1], 2)
    return {
        "data": name,
        "method": methods[0], "learner": learners[0], "metric": metrics[0], "count": count,
        **make_columns(len(shares), names),
        "shares": shares.tolist(),
        "shares_low": np.maximum(shares - 0.12, 0.0).tolist(),
        "shares_high": np.minimum(shares + 0.12, 1.0).tolist(),
        "mean_ranks": [round(1 + 1.7 * i, 1) for i in range(len(shares))],
        "score": score["mean"], "low": score["low"], "high": score["high"],
        "measured": score["mean"] + 0.004, "random_score": 0.71, "all_score": 0.84,
        "guess_score": 0.5, "gain": score["mean"] - 0.71, "gain_low": 0.02, "gain_high": 0.2,
        "is_better_than_random": True,
        "stability": steady["nogueira"], "stability_low": steady["low"],
        "stability_high": steady["high"],
        "sentence": f"On {name}, use {methods[0]} with {count} columns.",
        "reasons": [
            "It has the best mean accuracy of all.",
            f"No method comes that close with fewer columns than {count}.",
        ],
        "rivals": methods[1:4],
    }  # fmt: skip


def make_frequencies(methods, n_columns, names, rng):
    n_shown = min(n_columns, 200)
    base = np.linspace(1, 0.03, n_shown)[:, None] ** 1.5
    shares = np.clip(base + rng.normal(0, 0.18, (n_shown, len(methods))), 0, 1)
    shares[:, -1] = rng.uniform(0, 0.08, n_shown)
    return {
        "count": 50,
        **make_columns(n_shown, names),
        "methods": methods,
        "shares": [[round(float(value), 2) for value in row] for row in shares],
        "mean_ranks": [[1.0 + i] * len(methods) for i in range(n_shown)],
    }


def make_correlation(n_columns, names, rng):
    noise = rng.normal(size=(60, n_columns))
    hidden = rng.normal(size=(60, 4))
    values = np.corrcoef((noise + 1.4 * hidden[:, np.arange(n_columns) % 4]).T)
    values = np.atleast_2d(values)
    return {
        "kind": "pearson",
        **make_columns(n_columns, names),
        "values": [[round(float(value), 3) for value in row] for row in values],
    }
