"""Whether the numbers of `tamis.answer` hold: chance, coverage, optimism, and real data.

    python benchmarks/answer.py                     run what is missing, then print the page
    python benchmarks/answer.py --tables 20 --only null
    python benchmarks/answer.py --page docs/answer-evidence.md

Tables have a seed each; results are appended to a file (``--store``), so that an interrupted run
resumes. No clock ends a fit.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import tamis
from tamis.auto.investigation import Investigation
from tamis.auto.models import RidgeModel
from tamis.evaluation.metrics import make_metric

N_FRESH = 5_000
# Rows, features, features that matter, their effect, task.
DESIGNS = {
    "null, classes": (60, 100, 0, 0.0, "classification"),
    "null, regression": (60, 100, 0, 0.0, "regression"),
    "weak, classes": (100, 100, 5, 0.5, "classification"),
    "weak, regression": (100, 100, 5, 0.4, "regression"),
    "strong, classes": (100, 100, 3, 2.0, "classification"),
}
REAL = (
    "allaml", "arcene", "dlbcl", "leukemia", "lung181", "madelon", "prostate_ge", "spambase",
)  # fmt: skip
MOST_ROWS = 400


def make_table(design, n_rows, rng):
    """A table of a design, the target of which depends on its first features."""
    _, n_features, n_true, effect, task = DESIGNS[design]
    X = rng.normal(size=(n_rows, n_features))
    signal = effect * X[:, :n_true].sum(axis=1) + rng.normal(size=n_rows)
    return X, (signal > 0).astype(int) if task == "classification" else signal


def run_table(design, table):
    """One table: what the answer states, and the score on fresh rows."""
    Investigation._is_late = lambda self, share: False
    rng = np.random.default_rng([table, list(DESIGNS).index(design)])
    X, y = make_table(design, DESIGNS[design][0], rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = tamis.AutoSelector(random_state=table).fit(X, y)
    answer = selector.answer_
    # The score is about the features that were chosen, whether or not they beat chance.
    task, columns = DESIGNS[design][4], selector.order_[: answer.n_best]
    fresh, target = make_table(design, N_FRESH, rng)
    kernel = "linear" if answer.model == "ridge" else "gaussian"
    model = RidgeModel(2 if task == "classification" else 0, kernel)
    seen, unseen = model.prepare(X[:, columns], np.ones(len(X)), fresh[:, columns])
    votes = model.votes(seen, y, np.ones(len(X)), unseen)
    true = score(votes, target, answer.metric, task)
    columns = columns[: selector.n_selected_]
    return {
        "design": design,
        "table": table,
        "found": answer.found,
        "score": answer.expected_score,
        "low": answer.low,
        "high": answer.high,
        "true": true,
        "n_selected": int(columns.size),
        "n_true": int((columns < DESIGNS[design][2]).sum()),
    }


def score(votes, target, metric, task):
    """Score of votes for fresh rows."""
    from tamis.auto.problem import Predicted

    model = Predicted(votes, 2 if task == "classification" else 0)
    return make_metric(metric, task).scorer(model, None, target)


def run_real(name):
    """A real table: held-out score of the answer beside every single method of `compare`."""
    Investigation._is_late = lambda self, share: False
    data = tamis.datasets.load(name)
    X, y = np.asarray(data.X), np.asarray(data.y)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y = X[rows], y[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = tamis.answer(X, y, time_limit=60.0)
        again = tamis.answer(X, y, time_limit=60.0)
        found = tamis.compare(
            ["anovaf", "mutualinformation", "mrmr", "relieff", "svmrfe", "treeimportance"],
            {name: (X, y)},
            protocol=5,
            metrics=[first.metric],
        )
    best = max(found.curve_rows(), key=lambda row: row["mean"])
    single = found.recommend()
    return {
        "data": name,
        "answer": first.expected_score,
        "answer_low": first.low,
        "answer_high": first.high,
        "n_selected": len(first.features),
        "best": best["mean"],
        "best_method": f"{best['method']}, {best['count']}",
        "single": single.score,
        "single_method": f"{single.method}, {single.count}",
        "identical": {**first.to_dict(), "seconds": 0} == {**again.to_dict(), "seconds": 0},
    }


def page(rows):
    """Lines of the page of evidence."""
    yield "# Evidence: the answer"
    yield ""
    yield (
        "Tables of known truth; the score of the final features on 5,000 fresh rows is compared "
        "with the expected score and the 95% interval that the answer states, also where they do "
        "not beat chance. ± is a standard error. "
        "Command: `python benchmarks/answer.py`."
    )
    yield ""
    yield "| design | tables | found | interval covers | mean optimism | features, true ones |"
    yield "|---|---|---|---|---|---|"
    for design, (n, p, k, _, _) in DESIGNS.items():
        some = [row for row in rows if row.get("design") == design]
        if some:
            found = share([row["found"] for row in some])
            covers = share([row["low"] <= row["true"] <= row["high"] for row in some])
            gap = np.array([row["score"] - row["true"] for row in some])
            optimism = f"{gap.mean():+.3f} ± {gap.std(ddof=1) / len(gap) ** 0.5:.3f}"
            kept = np.mean([row["n_selected"] for row in some])
            right = np.mean([row["n_true"] for row in some])
            yield (
                f"| {design}, {n} x {p}, {k} matter | {len(some)} | {found} | {covers} "
                f"| {optimism} | {kept:.1f}, {right:.1f} |"
            )
    real = [row for row in rows if "data" in row]
    if real:
        yield ""
        yield (
            "Real tables (at most 400 rows): expected AUC of the whole procedure beside what "
            "`compare` of six methods on five folds recommends. Its expected score is corrected "
            "for the choice; the largest score of any method and number of features is optimistic, "
            "for it is the best of many. *Close* means that the answer is behind by at most one of "
            "its standard errors (a quarter of the interval)."
        )
        yield ""
        yield (
            "| data | answer (95% interval) | features | best single method | close to it "
            "| largest score | close to it | same again |"
        )
        yield "|---|---|---|---|---|---|---|---|"
    for row in real:
        reached = row["answer"] + (row["answer_high"] - row["answer_low"]) / 4
        same = "yes" if row["identical"] else "no"
        cells = [
            f"{row['data']} | {row['answer']:.3f} ({row['answer_low']:.3f} to "
            f"{row['answer_high']:.3f}) | {row['n_selected']}"
        ]
        for name in ("single", "best"):
            close = "yes" if reached >= row[name] else "no"
            cells.append(f"{row[name]:.3f} ({row[f'{name}_method']}) | {close}")
        yield f"| {' | '.join(cells)} | {same} |"


def share(flags):
    """A share with its standard error."""
    mean = np.mean(flags)
    return f"{mean:.2f} ± {np.sqrt(mean * (1 - mean) / len(flags)):.2f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--only", default="", help="designs or data sets whose name begins so")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("answer.jsonl"))
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.store.open()] if args.store.exists() else []
    done = {(row.get("design", row.get("data")), row.get("table")) for row in rows}
    work = [
        (run_table, (design, table))
        for table in range(args.tables)
        for design in DESIGNS
        if design.startswith(args.only) and (design, table) not in done
    ]
    if "TAMIS_DATA" in os.environ:
        work += [
            (run_real, (name,))
            for name in REAL
            if name.startswith(args.only) and (name, None) not in done
        ]
    found = Parallel(n_jobs=args.jobs, return_as="generator_unordered")(
        delayed(function)(*given) for function, given in work
    )
    with args.store.open("a") as store:
        for row in found:
            store.write(json.dumps(row) + "\n")
            store.flush()
            rows.append(row)
    text = "\n".join(page(rows)) + "\n"
    if args.page is None:
        print(text)
    else:
        args.page.write_text(text)


if __name__ == "__main__":
    main()
