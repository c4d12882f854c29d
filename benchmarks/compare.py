"""Print how long a comparison of twelve methods on colon takes, and what the harness costs.

    TAMIS_DATA=folder python benchmarks/compare.py             two processes, again, then one
    TAMIS_DATA=folder python benchmarks/compare.py --quick     five splits only

Twenty random splits with 2/3 of the rows, 10, 50, 100, 150 and 200 columns, a linear SVM whose C is
chosen by inner cross-validation. The first run with two processes also starts them; in the second
they are there. Units are selectors, learners and the prediction of test rows; the overhead is the
time of all processes outside of units: starting, sending, planning, storing, waiting.
"""

import argparse
import tempfile
import time
from pathlib import Path

import tamis
from tamis.evaluation import compare
from tamis.evaluation.protocols import RepeatedSplits
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


def run(n_splits, n_jobs, folder):
    data = tamis.datasets.load("colon")
    path = Path(folder, f"{n_jobs}.sqlite")
    start = time.perf_counter()
    found = compare(METHODS, data, protocol=RepeatedSplits(n_splits), n_jobs=n_jobs, store=path)
    seconds = time.perf_counter() - start
    with Store(path) as store:
        busy = sum(busy_seconds(row.result) for row in store.rows())
    return found, seconds, busy


def busy_seconds(result):
    models = {(row["count"], row["learner"]): row["fit_seconds"] for row in result.scores}
    return result.select_seconds + sum(models.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="five splits")
    n_splits = 5 if parser.parse_args().quick else 20
    print("| processes | seconds | selectors and learners | overhead |")
    print("|---|---|---|---|")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for n_jobs in (2, 1):
            results[n_jobs] = run(n_splits, n_jobs, folder)
            _, seconds, busy = results[n_jobs]
            overhead = 1 - busy / (n_jobs * seconds)
            print(f"| {n_jobs} | {seconds:.1f} | {busy:.1f} | {100 * overhead:.1f}% |", flush=True)
    two, one = results[2], results[1]
    print(f"\ntwo processes against one: {one[1] / two[1]:.2f} times as fast")
    print("same table:", two[0].table().equals(one[0].table()))
    print(one[0].recommend().sentence)
    print("\n| method | select, s | learn, s |\n|---|---|---|")
    for row in one[0].times().itertuples():
        print(f"| {row.method} | {row.select_seconds:.3g} | {row.learn_seconds:.3g} |")


if __name__ == "__main__":
    main()
