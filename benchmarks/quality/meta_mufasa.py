"""Guided extraction of features of digits: sections 6.2 and 8 of Krupka, Navot and Tishby (2008).

    TAMIS_DATA=... python benchmarks/quality/meta_mufasa.py --repeats 5 --store mufasa.jsonl
    TAMIS_DATA=... python benchmarks/quality/meta_mufasa.py --experiment location --repeats 20

The first prints the test error on all 10,000 test images of Mufasa, random search and normalised
information gain at five budgets (their Figure 6), with an SVM with a polynomial kernel of degree 2
on the pixels for comparison, and the meta-features that Mufasa chose (Figure 7). The second
compares two choices of meta-features, the location and the number of inputs, telling 4 from 9
(Figure 8). Results go to the file given by --store, a line each; what is there is not done again.
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import tamis
from tamis.meta import AndOrFeatures, Mufasa, NormalizedInformationGain, RandomSearch
from tamis.meta._fast_svm import FastLinearSVM

BUDGETS = (1000, 2000, 3000, 4000, 5000)
COUNTS = (10, 20, 50, 100, 200, 400)
# Gray values of mnist go from 0 to 255.
MIDDLE = 127.5
# Settings of the polynomial kernel, of which two folds choose.
KERNELS = {"C": (0.1, 1.0, 10.0), "gamma": (0.01, 0.1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", choices=("budget", "location"), default="budget")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--step", type=float, default=Mufasa().step, help="size of a move")
    parser.add_argument("--decay", type=float, default=1.0, help="of that size, per step")
    parser.add_argument("--store", type=Path, help="JSON lines; a killed run goes on from it")
    parser.add_argument("--quick", action="store_true", help="one repeat, few budgets and steps")
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.steps = 1, 10
    store = Store(options.store)
    data = tamis.datasets.load("mnist")
    if options.experiment == "budget":
        budgets = BUDGETS[::2] if options.quick else BUDGETS
        by_budget(data, store, options, budgets)
        print_budgets(store, options, budgets)
    else:
        counts = COUNTS[::2] if options.quick else COUNTS
        by_location(data, store, options, counts)
        print_locations(store, options, counts)


class Store:
    """Results by their settings, kept in a file as they come."""

    def __init__(self, path):
        self.path = path
        self.results = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                try:
                    record = json.loads(line)
                except ValueError:  # the line that was being written when the run was killed
                    continue
                self.results[self.key(record)] = record

    @staticmethod
    def key(record):
        return json.dumps(record["setting"], sort_keys=True)

    def get(self, **setting):
        return self.results.get(json.dumps(setting, sort_keys=True))

    def need(self, make, **setting):
        """Make a result unless it is there."""
        if self.get(**setting) is not None:
            return
        start = time.perf_counter()
        record = {"setting": setting, **make(), "seconds": time.perf_counter() - start}
        self.results[self.key(record)] = record
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps(record) + "\n")
        words = ", ".join(f"{name} {value}" for name, value in setting.items())
        print(
            f"{words}: error {record['error']:.4f}, {record['seconds']:.1f} s",
            file=sys.stderr,
            flush=True,
        )


def by_budget(data, store, options, budgets):
    generator = AndOrFeatures(threshold=MIDDLE)
    train, test = np.flatnonzero(data.train), np.flatnonzero(data.test)
    packed_test = generator.pack(data.X[test])
    for repeat in range(options.repeats):
        rows = np.random.default_rng(repeat).choice(train, 2000, replace=False)
        X, y = data.X[rows], data.y[rows]
        packed = generator.pack(X)
        for budget in budgets:
            limit = {"generator": generator, "budget": float(budget), "random_state": repeat}
            searches = {
                "Mufasa": Mufasa(
                    n_steps=options.steps, step=options.step, decay=options.decay, **limit
                ),
                "RandomSearch": RandomSearch(n_steps=options.steps, **limit),
                "NormalizedInformationGain": NormalizedInformationGain(**limit),
            }
            for name, search in searches.items():
                store.need(
                    partial(tested, search, packed, y, packed_test, data.y[test]),
                    **setting(name, options, budget, repeat),
                )
        store.need(
            partial(polynomial, X, y, data.X[test], data.y[test]),
            method="polynomial SVM", repeat=repeat,
        )  # fmt: skip


def setting(name, options, budget, repeat):
    words = {"method": name, "budget": budget, "repeat": repeat}
    if name != "NormalizedInformationGain":
        words["steps"] = options.steps
    if name == "Mufasa":
        words["step"] = options.step
        if options.decay != 1.0:
            words["decay"] = options.decay
    return words


def tested(search, X, y, X_test, y_test):
    """Search on the training images, train on all of them, and test."""
    search.fit(X, y)
    machine = FastLinearSVM().fit(search.transform(X), y)
    return {
        "error": 1 - machine.score(search.transform(X_test), y_test),
        "cv_error": 1 - search.best_score_,
        "point": search.best_point_,
        "n_features": search.n_selected_,
        "cost": search.cost_,
        "mean_meta": search.meta_.mean(axis=0).tolist(),
    }


def polynomial(X, y, X_test, y_test):
    """SVM with (1 + gamma x x')^2 on binary pixels; price of slack and gamma by two folds."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    bits, bits_test = (np.asarray(part > MIDDLE, dtype=np.float64) for part in (X, X_test))
    machine = SVC(kernel="poly", degree=2, coef0=1.0)
    grid = GridSearchCV(machine, KERNELS, cv=2).fit(bits, y)
    return {"error": 1 - grid.score(bits_test, y_test), **grid.best_params_}


def by_location(data, store, options, counts):
    """Tell 4 from 9 with 200 images; no shift, scatter fixed."""
    fixed = {"shift": 1, "scatter": 2.0}
    generators = {
        "location": AndOrFeatures(threshold=MIDDLE, meta_features=("row", "column"), fixed=fixed),
        "num_inputs": AndOrFeatures(threshold=MIDDLE, meta_features=("num_inputs",), fixed=fixed),
    }
    either = np.isin(data.y, (4, 9))
    train, test = np.flatnonzero(data.train & either), np.flatnonzero(data.test & either)
    for repeat in range(options.repeats):
        rng = np.random.default_rng(repeat)
        rows, rows_test = (
            rng.choice(train, 200, replace=False),
            rng.choice(test, 200, replace=False),
        )
        parts = data.X[rows], data.y[rows], data.X[rows_test], data.y[rows_test]
        for count in counts:
            limit = {"n_features_to_select": count, "random_state": repeat}
            searches = {
                name: Mufasa(generator=generator, n_steps=options.steps, step=options.step, **limit)
                for name, generator in generators.items()
            }
            # Random selection: one set, drawn over all values.
            searches["random"] = RandomSearch(
                generator=generators["num_inputs"], n_steps=1, **limit
            )
            for name, search in searches.items():
                store.need(
                    partial(tested, search, *parts),
                    experiment="location", meta=name, count=count, repeat=repeat,
                    steps=options.steps,
                )  # fmt: skip


def print_budgets(store, options, budgets):
    methods = ("Mufasa", "RandomSearch", "NormalizedInformationGain")
    print(f"test error in percent, mean (standard deviation) of {options.repeats} repeats")
    print(f"{'budget':>7}" + "".join(f"{name:>28}" for name in methods) + f"{'polynomial SVM':>20}")
    line = spread([store.get(method="polynomial SVM", repeat=r) for r in range(options.repeats)])
    for budget in budgets:
        cells = [records(store, name, options, budget) for name in methods]
        print(f"{budget:>7}" + "".join(f"{spread(cell):>28}" for cell in cells) + f"{line:>20}")
    print("\ntimes that Mufasa has the smallest error, per budget")
    for budget in budgets:
        errors = np.array(
            [[r["error"] for r in records(store, name, options, budget)] for name in methods]
        )
        wins = [int((errors[0] < other).sum()) for other in errors[1:]]
        print(
            f"{budget:>7} against RandomSearch {wins[0]} of {options.repeats}, against "
            f"NormalizedInformationGain {wins[1]} of {options.repeats}"
        )
    print("\nmeta-features that Mufasa chose: mean (smallest to largest)")
    names = list(AndOrFeatures().space.names)
    print(
        f"{'budget':>7}"
        + "".join(f"{name:>22}" for name in [*names, "n_features", "cv error, %", "seconds"])
    )
    for budget in budgets:
        found = records(store, "Mufasa", options, budget)
        columns = [[r["point"][name] for r in found] for name in names]
        columns.append([r["n_features"] for r in found])
        columns.append([100 * r["cv_error"] for r in found])
        columns.append([r["seconds"] for r in found])
        print(f"{budget:>7}" + "".join(f"{extent(column):>22}" for column in columns))


def records(store, name, options, budget):
    return [store.get(**setting(name, options, budget, r)) for r in range(options.repeats)]


def print_locations(store, options, counts):
    kinds = ("location", "num_inputs", "random")
    print(f"4 against 9: test error in percent, mean (standard deviation) of {options.repeats}")
    print(f"{'features':>9}" + "".join(f"{kind:>18}" for kind in kinds))
    for count in counts:
        cells = [
            [
                store.get(experiment="location", meta=kind, count=count, repeat=r,
                          steps=options.steps)
                for r in range(options.repeats)
            ]
            for kind in kinds
        ]  # fmt: skip
        print(f"{count:>9}" + "".join(f"{spread(cell):>18}" for cell in cells))


def spread(found):
    errors = 100 * np.array([record["error"] for record in found])
    return f"{errors.mean():.2f} ({errors.std(ddof=1) if errors.size > 1 else 0:.2f})"


def extent(values):
    return f"{np.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


if __name__ == "__main__":
    # On a busy machine the threads of the BLAS mostly wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        main()
