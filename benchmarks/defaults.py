"""Compare default cutoffs: the elbow (or a method's own number) and "auto".

    python benchmarks/defaults.py                    all designs and real tables
    python benchmarks/defaults.py --seeds 5          fewer tables of every design
    python benchmarks/defaults.py --page docs/defaults-evidence.md

Results of single tables are appended to a file (``--store``), so that an interrupted run resumes.
The page is written from what is stored. Real tables are those of TAMIS_DATA.
"""

import argparse
import json
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
from defaults_designs import DESIGNS, NOISE
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamis
from tamis.selectors import make_selector, selector_info

QUICK = ("dft", "rft", "fisher", "anovaf", "correlation", "spearman", "mutualinformation", "mrmr")
SLOW = ("relieff", "treeimportance")
# Chosen before any result was seen: two wide, two long, two for regression.
REAL = ("colon", "arcene", "madelon", "spambase", "riboflavin", "gasoline")
CUTOFFS = ("elbow", "auto")
N_REPEATS, N_FOLDS = 2, 5
SEEDS = 20
WARNINGS = tamis.exceptions.SelectionWarning


def selector_for(method, cutoff, seed):
    """A selector with the old default or the new one."""
    name, params = method, {}
    if method == "spearman":
        name, params = "correlation", {"kind": "spearman"}
    if method == "treeimportance":
        params = {"random_state": seed}
    cutoff = "best" if (method, cutoff) == ("mrmr", "elbow") else cutoff
    return make_selector(name, n_features_to_select=cutoff, **params)


def suits(method, task):
    return task in selector_info("correlation" if method == "spearman" else method).tasks


def support_of(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.perf_counter()
        support = selector.fit(X, y).support_
    return support, time.perf_counter() - begun


def on_design(name, seed, wanted):
    """Features kept, true and false, of the methods and cutoffs that are still to be done."""
    task, make = DESIGNS[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    X, y, related = make(rng)
    for method, cutoff in wanted:
        if suits(method, task):
            support, seconds = support_of(selector_for(method, cutoff, seed), X, y)
            true = int((support & related).sum())
            yield {
                "method": method, "cutoff": cutoff, "kept": int(support.sum()), "true": true,
                "false": int(support.sum()) - true, "seconds": seconds,
            }  # fmt: skip


def on_real(name, split, wanted):
    """Score on held-out rows of a fixed model, and the number of features."""
    X, y = tamis.datasets.load(name, return_X_y=True)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    y = np.asarray(y)
    task = tamis.data.infer_task(y)
    folds = RepeatedStratifiedKFold if task == "classification" else RepeatedKFold
    train, test = list(folds(n_splits=N_FOLDS, n_repeats=N_REPEATS, random_state=0).split(X, y))[
        split
    ]
    for method, cutoff in wanted:
        if suits(method, task):
            selector = selector_for(method, cutoff, split)
            support, seconds = support_of(selector, X[train], y[train])
            yield {
                "method": method, "cutoff": cutoff, "kept": int(support.sum()),
                "score": held_out(X[:, support], y, train, test, task), "seconds": seconds,
            }  # fmt: skip


def held_out(X, y, train, test, task):
    """Balanced accuracy, or the share of the variance that is explained; guessing for no column."""
    if task == "classification":
        model, metric = LogisticRegression(max_iter=2000), balanced_accuracy_score
        guess = DummyClassifier()
    else:
        model, metric = RidgeCV(np.logspace(-2, 4, 13)), r2_score
        guess = DummyRegressor()
    if not X.shape[1]:
        X, model = np.zeros((len(y), 1)), guess
    fitted = make_pipeline(StandardScaler(), model).fit(X[train], y[train])
    return float(metric(y[test], fitted.predict(X[test])))


def units(n_seeds):
    """Tables to do, so that an interrupted run has some of every kind."""
    for number in range(max(n_seeds, N_REPEATS * N_FOLDS)):
        if number < n_seeds:
            yield from (("design", name, number) for name in DESIGNS)
        if number < N_REPEATS * N_FOLDS:
            yield from (("real", name, number) for name in REAL)


def run(store, n_seeds):
    for methods in (QUICK, SLOW):
        run_methods(methods, store, n_seeds)


def run_methods(methods, store, n_seeds):
    done = {key_of(row) for row in read(store)}
    pairs = [(method, cutoff) for method in methods for cutoff in CUTOFFS]
    for kind, name, number in units(n_seeds):
        wanted = [pair for pair in pairs if (kind, name, number, *pair) not in done]
        work = on_design if kind == "design" else on_real
        for row in work(name, number, wanted):
            with store.open("a", encoding="utf-8") as stream:
                key = {"kind": kind, "name": name, "number": number}
                stream.write(json.dumps(key | row) + "\n")


def key_of(row):
    return row["kind"], row["name"], row["number"], row["method"], row["cutoff"]


def read(store):
    if not store.exists():
        return []
    lines = store.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, default=Path("benchmarks/results/defaults.jsonl"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.page is not None:
        from defaults_page import page

        options.page.write_text(page(read(options.store), NOISE), encoding="utf-8")
        return
    options.store.parent.mkdir(parents=True, exist_ok=True)
    run(options.store, options.seeds)


if __name__ == "__main__":
    main()
