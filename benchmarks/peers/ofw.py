"""Print what OFW learns on leukemia, how long it takes, and where the time goes.

    TAMIS_DATA=... python benchmarks/peers/ofw.py

The paper: above 15% error with random subsets of 100 genes, below 1% after learning, one hour.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import run_cases


def run(data, **options):
    import tamis

    selector = tamis.OFW(subset_size=100, sample_size=60, random_state=0, **options)
    selector.fit(data.X[:, :200], data.y)  # compile
    start = time.perf_counter()
    selector.fit(data.X, data.y)
    return selector, time.perf_counter() - start


def case_leukemia(tol):
    """A run to the stopping rule, and the mean error of the first and last 2,000 evaluations."""
    import tamis

    data = tamis.datasets.load("leukemia")
    selector, seconds = run(data, max_iter=1_000_000, tol=tol)
    rate = selector.n_evaluations_ / seconds
    ended = selector.status_
    before, after = selector.energy_[:10].mean(), selector.energy_[-10:].mean()
    shape = f"{data.X.shape[0]} x {data.X.shape[1]:,}"
    yield (
        f"OFW leukemia {shape}, tol {tol}, {selector.n_evaluations_:,} evaluations "
        f"({rate:,.0f} a second), {ended}, error {100 * before:.2f}% -> {100 * after:.2f}%",
        seconds, None, None,
    )  # fmt: skip


def case_update(method):
    """Share of the time that is not spent on training and testing."""
    import numpy as np

    import tamis
    from tamis.weighting._learning import PROCESSES

    n, k = tamis.datasets.load("leukemia").X.shape[1], 100
    rng = np.random.default_rng(0)
    process = PROCESSES[method](np.full(n, 1 / n))
    uniforms, noise = rng.random((1, k)), np.zeros(n)

    def steps(count=300):
        start = time.perf_counter()
        for _ in range(count):
            process.step(process.draw(uniforms), np.array([1e-4]), 1e-12, noise)
        return (time.perf_counter() - start) / count

    steps()
    update = min(steps() for _ in range(5))
    _, seconds = run(tamis.datasets.load("leukemia"), max_iter=2_000, tol=0.0, method=method)
    yield f"draw and update / whole step, {method}, n = {n:,}", update, seconds / 2_000, None


CASES = {
    "leukemia 0.05": ("case_leukemia", (0.05,)),
    "leukemia 0.01": ("case_leukemia", (0.01,)),
    **{f"update {m}": ("case_update", (m,)) for m in ("riemannian", "euclidean", "diffusion")},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if "TAMIS_DATA" not in os.environ:
        raise SystemExit("set TAMIS_DATA to the folder of the data sets")
    if arguments.case:
        function, parameters = CASES[arguments.case]
        for line in globals()[function](*parameters):
            print(json.dumps(line))
    else:
        run_cases(CASES, __file__, arguments.only)


if __name__ == "__main__":
    main()
