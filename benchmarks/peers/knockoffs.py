"""Print the time of Knockoffs as a ratio to knockpy and hidimstat, on the same table.

    python benchmarks/peers/knockoffs.py

One copy and the lasso statistic at 1,000 x 800, all defaults: covariance by Ledoit and Wolf, s by
minimum reconstructability (beside hidimstat, which offers nothing else: equicorrelated), penalty
cross-validated in 10 folds (hidimstat: 5). Then knockpy and we with the true covariance given.
Peers that are not installed are skipped.
"""

import argparse
import importlib.util
import json
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from measuring import best, peak_growth, run_cases  # noqa: E402


def table():
    from certainty_power import covariance, make_table

    X, y, truth = make_table("linear", 50, 1)
    return X, y, truth, covariance(X.shape[1])


def our_support(X, y, S, s="mrc"):
    import tamis
    from tamis.certainty import GaussianKnockoffs, Knockoffs

    sampler = "auto"
    if s != "mrc" or S is not None:
        sampler = GaussianKnockoffs(S, None if S is None else 0.0, s=s)
    rule = Knockoffs(0.1, sampler=sampler)
    return tamis.Correlation(n_features_to_select=rule).fit(X, y).support_


def knockpy_support(X, y, S):
    from knockpy.knockoff_filter import KnockoffFilter

    return KnockoffFilter(ksampler="gaussian", fstat="lasso").forward(X, y, Sigma=S, fdr=0.1) > 0


def hidimstat_support(X, y, S):
    from hidimstat import model_x_knockoff_importance

    return model_x_knockoff_importance(X, y, fdr=0.1, random_state=0)[0] > 0


def case_peer(peer, given):
    """Time of one copy, and how many features both sides find."""
    X, y, truth, S = table()
    kind = "equicorrelated" if peer == "hidimstat" else "mrc"
    S = S if given else None
    function = globals()[f"{peer}_support"]
    found = {}

    def run(name, support):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = support(X, y, S)

    ours, theirs = best(
        lambda: run("ours", lambda *data: our_support(*data, kind)),
        lambda: run("theirs", function),
        repeats=3,
    )
    hits = [int((found[name] & truth).sum()) for name in ("ours", "theirs")]
    given = ", covariance given" if given else ""
    label = f"{peer}{given}, 1,000 x 800, {hits[0]} and {hits[1]} of {truth.sum()} found"
    yield label, ours, theirs, 0.2


def case_wide(n_rows, n_columns):
    """Time and memory of one copy of a wide table with five factors."""
    import time

    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5)) @ rng.normal(size=(5, n_columns)) * 0.4
    X += rng.normal(size=X.shape)
    y = X[:, :15] @ np.full(15, 0.7) + rng.normal(size=n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        our_support(X[:, :300], y, None)
        memory = peak_growth(lambda: our_support(X, y, None))
        started = time.perf_counter()
        our_support(X, y, None)
        seconds = time.perf_counter() - started
    yield f"Knockoffs, {n_rows:,} x {n_columns:,}", seconds, None, None
    yield f"Knockoffs memory, {n_rows:,} x {n_columns:,}", memory, None, None


CASES = {"wide": ("case_wide", (200, 20_000)), "widest": ("case_wide", (200, 100_000))}
for peer in ("knockpy", "hidimstat"):
    if importlib.util.find_spec(peer):
        CASES[peer] = ("case_peer", (peer, False))
if "knockpy" in CASES:
    CASES["knockpy given"] = ("case_peer", ("knockpy", True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        function, options = CASES[arguments.case]
        for line in globals()[function](*options):
            print(json.dumps(line))
        return
    for peer in ("knockpy", "hidimstat"):
        if peer not in CASES:
            print(f"{peer} is skipped: it is not installed (pip install {peer})")
    run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
