"""Print the speed of MRMR, FCBF and CFS as ratios to their peers, each measured in one run.

    python benchmarks/peers/greedy.py            all of them, a few minutes
    python benchmarks/peers/greedy.py --only MRMR

Set TAMIS_DATA to a folder with the colon data; without it, made-up data of that size are used.
The peer, mrmr-selection, is a program under the GPL: it is called as a black box.
"""

import argparse
import importlib.util
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measuring import run_cases

TURNS = 2
FORMS = {
    "FCQ": {"measure": "f", "combine": "quotient"},
    "FCD": {"measure": "f", "combine": "difference"},
    "MIQ": {"measure": "mutual_information", "combine": "quotient"},
    "MID": {"measure": "mutual_information", "combine": "difference"},
}


def make(n_rows, n_columns):
    """Two classes; the first hundredth of the columns leans towards one of them, in groups."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.standard_normal((n_rows, n_columns))
    told = n_columns // 100
    X[:, :told] += (
        y[:, None] * rng.random(told)
        + np.repeat(rng.standard_normal((n_rows, -(-told // 5))), 5, axis=1)[:, :told]
    )
    return X, y


def quickest(function, repeats, warm=True):
    if warm:
        function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def case_mrmr(n_rows, n_columns, count):
    """MRMR against mrmr_classif, whose form is FCQ; how many of the chosen columns are the same."""
    import tamis

    X, y = make(n_rows, n_columns)
    chosen, theirs = ask_peer(X, y, count)
    for form, options in FORMS.items():
        selector = tamis.MRMR(n_features_to_select=count, **options)
        seconds = quickest(lambda s=selector: s.fit(X, y), TURNS)
        name = f"MRMR {form}, {count} of {n_columns:,}, {n_rows} rows"
        if chosen is None:
            name += ", no peer: mrmr-selection is missing"
        else:
            common = len({*chosen} & {*selector.order_[:count].tolist()})
            name += f" / mrmr_classif, {common} columns in common"
        yield name, seconds, theirs, 1 / 200 if form == "FCQ" and theirs else None


def ask_peer(X, y, count):
    """Columns chosen by mrmr_classif, and its seconds in as many turns as ours get."""
    if importlib.util.find_spec("mrmr") is None:
        return None, None
    import pandas as pd
    from mrmr import mrmr_classif

    frame, target = pd.DataFrame(X), pd.Series(y)
    chosen = []

    def ask():
        chosen[:] = mrmr_classif(frame, target, K=count, show_progress=False, n_jobs=1)

    return chosen, quickest(ask, TURNS, warm=False)


def case_subsets(n_rows, n_columns):
    """FCBF and CFS; no peer under a permissive licence installs beside current packages."""
    import numpy as np

    import tamis

    X, y = make(n_rows, n_columns)
    where = f"{n_rows} x {n_columns:,}"
    if n_rows == 62 and "TAMIS_DATA" in os.environ:
        data = tamis.datasets.load("colon")
        X, y, where = data.X, np.asarray(data.y), "colon, 62 x 2,000"
    for selector in (tamis.FCBF(), tamis.CFS()):
        seconds = quickest(lambda s=selector: s.fit(X, y), 5)
        name = f"{type(selector).__name__}, {where}, {selector.n_selected_} columns found"
        yield name, seconds, None, None


CASES = {
    "MRMR 200 x 2,000": ("case_mrmr", (200, 2_000, 50)),
    "FCBF and CFS on colon": ("case_subsets", (62, 2_000)),
    "FCBF and CFS, wide": ("case_subsets", (200, 20_000)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        function, shape = CASES[arguments.case]
        for line in globals()[function](*shape):
            print(json.dumps(line))
    else:
        run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
