"""Print how long a comparison of twelve methods on colon takes, and what the harness costs.

    TAMIS_DATA=folder python benchmarks/compare.py             two processes, again, then one
    TAMIS_DATA=folder python benchmarks/compare.py --quick     five splits only

Twenty random splits with 2/3 of the rows, 10, 50, 100, 150 and 200 columns, a linear SVM whose C is
chosen by inner cross-validation. The first run with two processes also starts them; in the second
they are there. Shares of the time of all processes are printed: what is not fitting a selector or a
learner, and what is outside of units altogether (starting, sending, planning, storing, waiting).
With one process, the time in which learners predict test rows is taken, too, and the rest is the
harness.
"""

import argparse
import tempfile
import time
from pathlib import Path

import tamis
from tamis.evaluation import compare
from tamis.evaluation.protocols import RepeatedSplits
from tamis.evaluation.run import units
from tamis.evaluation.store import Store

METHODS = [
    "anovaf",
    "dft",
    "fisher",
    "ilfs",
    "inffs",
    "laplacianscore",
    "mrmr",
    "mutualinformation",
    "randomranking",
    "relieff",
    "svmrfe",
    "variance",
]


def run(n_splits, n_jobs, path):
    data = tamis.datasets.load("colon")
    start = time.perf_counter()
    found = compare(METHODS, data, protocol=RepeatedSplits(n_splits), n_jobs=n_jobs, store=path)
    seconds = time.perf_counter() - start
    with Store(path) as store:
        rows = list(store.rows())
    fits = sum(fit_seconds(row.result) for row in rows)
    return found, seconds, fits, sum(row.meta["seconds"] for row in rows)


def fit_seconds(result):
    models = {(row["count"], row["learner"]): row["fit_seconds"] for row in result.scores}
    return result.select_seconds + sum(models.values())


class Predictions:
    """Adds up the time in which learners answer for test rows."""

    def __enter__(self):
        self.seconds, self.answers = 0.0, units._Answers
        clock = self

        class Timed(units._Answers):
            def __getattr__(self, name):
                start = time.perf_counter()
                value = super().__getattr__(name)
                clock.seconds += time.perf_counter() - start
                return value

        units._Answers = Timed
        return self

    def __exit__(self, *_):
        units._Answers = self.answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="five splits")
    n_splits = 5 if parser.parse_args().quick else 20
    print("| processes | seconds | fits, s | units, s | not fitting | outside of units |")
    print("|---|---|---|---|---|---|")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, n_jobs in (("2, first", 2), ("2, again", 2), ("1", 1)):
            with Predictions() as predictions:
                results[name] = run(n_splits, n_jobs, Path(folder, f"{name}.sqlite"))
            _, seconds, fits, inside = results[name]
            shares = [100 * (1 - part / (n_jobs * seconds)) for part in (fits, inside)]
            cells = [
                f"{seconds:.1f}",
                f"{fits:.1f}",
                f"{inside:.1f}",
                *(f"{x:.1f}%" for x in shares),
            ]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    harness = seconds - fits - predictions.seconds
    print(
        f"\none process: predicting {predictions.seconds:.1f} s, harness {harness:.2f} s, "
        f"{100 * harness / seconds:.1f}% of all"
    )
    two, one = results["2, first"], results["1"]
    for name in ("2, first", "2, again"):
        print(f"\n{name}: {one[1] / results[name][1]:.2f} times as fast as one")
    print("same table:", two[0].table().equals(one[0].table()))
    print(one[0].recommend().sentence)
    print("\n| method | select, s | learn, s |\n|---|---|---|")
    for row in one[0].times().itertuples():
        print(f"| {row.method} | {row.select_seconds:.3g} | {row.learn_seconds:.3g} |")


if __name__ == "__main__":
    main()
