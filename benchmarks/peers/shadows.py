"""Print the speed of Shadows as a ratio to Boruta's in Python, and of half samples to one fit.

    python benchmarks/peers/shadows.py           all of them, some minutes
    python benchmarks/peers/shadows.py --only pairs

Every case runs in a process of its own, with warm kernels. Both sides of Shadows run 100 rounds
with forests of the same number of trees, depth, columns per split and threads, one turn each, and
the time is that of the processor, so that a busy machine does not matter.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import run_cases

SHAPE = (500, 300)
N_TREES, DEPTH, N_ROUNDS = 100, 5, 100
AT_MOST, AT_MOST_HALVES = 1 / 3, 60


def make(n_rows, n_columns):
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    return X, (X[:, :5].sum(axis=1) + rng.standard_normal(n_rows) > 0).astype(int)


def seconds(function, repeats=1):
    """Best time of the processor, of all threads together."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def case_shadows(estimator):
    """Shadows of a forest against BorutaPy; the names of the columns found are in the line."""
    import tamis
    from tamis.certainty import Shadows

    X, y = make(*SHAPE)
    name = f"Shadows, {estimator}, {N_TREES} trees of depth {DEPTH} / BorutaPy"
    forest = tamis.TreeImportance(
        estimator=estimator, n_estimators=N_TREES, max_depth=DEPTH, n_jobs=1, random_state=0
    )
    forest.fit(X, y)  # compile
    rule = Shadows(n_rounds=N_ROUNDS, n_jobs=1)
    ours = seconds(lambda: forest.recut(rule, X, y))
    found = forest.get_support(indices=True).tolist()
    try:
        from boruta import BorutaPy
    except ImportError as error:
        yield f"{name}: skipped, {error}; ours alone", ours, None, None
        return
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(N_TREES, max_depth=DEPTH, max_features="sqrt", n_jobs=1)
    peer = BorutaPy(model, N_TREES, max_iter=N_ROUNDS, random_state=0)
    theirs = seconds(lambda: peer.fit(X, y))
    limit = AT_MOST if estimator == "fast" else None
    yield f"{name}: {found}, {peer.support_.nonzero()[0].tolist()}", ours, theirs, limit


def case_pairs(n_rows, n_columns):
    """Fifty pairs on one thread against one fit on half of the rows on one thread."""
    import tamis
    from tamis.certainty import StabilitySelection

    X, y = make(n_rows, n_columns)
    half = X[::2].copy(), y[::2]
    rule = StabilitySelection(n_jobs=1)
    for cls in (tamis.AnovaF, tamis.Fisher, tamis.Correlation, tamis.DFT, tamis.InformationGain):
        selector = cls(n_features_to_select=10, n_jobs=1).fit(X, y)
        selector.recut(StabilitySelection(n_jobs=1, n_pairs=1), X, y)
        plain = cls(n_features_to_select="all", n_jobs=1)  # without a look at chance
        theirs = seconds(lambda plain=plain: plain.fit(*half), 30)
        ours = seconds(lambda selector=selector: selector.recut(rule, X, y), 3)
        name = f"50 pairs / one fit on a half, {cls.__name__}, {n_rows:,} x {n_columns:,}"
        yield f"{name}, one thread", ours, theirs, AT_MOST_HALVES


CASES = {
    "shadows fast": ("case_shadows", ("fast",)),
    "shadows forest": ("case_shadows", ("forest",)),
    "pairs small": ("case_pairs", (500, 300)),
    "pairs wide": ("case_pairs", (200, 20_000)),
    "pairs tall": ("case_pairs", (5_000, 1_000)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        warnings.simplefilter("ignore")
        function, parameters = CASES[arguments.case]
        for line in globals()[function](*parameters):
            print(json.dumps(line))
    else:
        run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
