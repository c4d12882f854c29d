"""Time of one run of Mufasa, and of its linear SVM beside LinearSVC.

    TAMIS_DATA=... python benchmarks/meta/mufasa.py [--budget 3000] [--images 2000] [--steps 50]

A run draws AND/OR features of digits at 50 points and scores each set by two folds of a linear
SVM with ten classes. Both SVMs are trained on the same tables, taking turns.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measuring import best

import tamis
from tamis.linear_svm.squared_hinge import FastLinearSVM
from tamis.meta import AndOrFeatures, Mufasa


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=3000)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    X, y = digits(options.images)
    generator = AndOrFeatures(threshold=127.5)
    time_runs(X, y, generator, options)
    time_models(X, y, generator, options)


def digits(count):
    data = tamis.datasets.load("mnist")
    rows = np.random.default_rng(0).choice(np.flatnonzero(data.train), count, replace=False)
    return data.X[rows], data.y[rows]


def time_runs(X, y, generator, options):
    limit = {"generator": generator, "budget": options.budget, "random_state": 0}
    Mufasa(n_steps=1, **limit).fit(X, y)  # compiles the kernels
    for n_jobs in (1, None):
        start = time.perf_counter()
        search = Mufasa(n_steps=options.steps, n_jobs=n_jobs, **limit).fit(X, y)
        seconds = time.perf_counter() - start
        print(
            f"Mufasa, {options.steps} steps, budget {options.budget:g}, {options.images} images, "
            f"n_jobs={n_jobs}: {seconds:.1f} s, {search.n_measured_:,} features measured, "
            f"quality {search.best_score_:.4f}",
            flush=True,
        )


def time_models(X, y, generator, options):
    from sklearn.svm import LinearSVC

    print(
        f"\ntraining on {options.images // 2} rows, seconds{'FastLinearSVM':>22}{'LinearSVC':>12}"
    )
    half = np.arange(options.images) < options.images // 2
    for shift, inputs in ((1, 3), (2, 5), (3, 5), (7, 6)):
        point = {"num_inputs": inputs, "percent_pos": 30, "shift": shift, "scatter": 2.0}
        features = generator.draw(point, np.random.default_rng(0), budget=options.budget)
        bits = generator.measure(X, features)[half]
        fitted = FastLinearSVM().fit(bits, y[half])
        scaled = np.where(np.isinf(fitted.scale_), 0, (bits - fitted.mean_) / fitted.scale_)

        def ours(bits=bits):
            FastLinearSVM().fit(bits, y[half])

        def theirs(scaled=scaled):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                LinearSVC(C=1.0, random_state=0).fit(scaled, y[half])

        a, b = best(ours, theirs, options.repeats)
        print(f"{len(features):6} features {a:30.3f}{b:12.3f}   {b / a:.2f}x", flush=True)


if __name__ == "__main__":
    # As in the search, which gives every fold a thread of its own.
    with threadpool_limits(limits=1, user_api="blas"):
        main()
