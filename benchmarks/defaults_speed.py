"""Time of a fit with the default cutoff "auto" against the elbow, as a Markdown table.

    python benchmarks/defaults_speed.py

A tenth of the features differs between the classes by one standard deviation. The best of three
fits counts, after one to compile.
"""

import time
import warnings

import numpy as np

import tamis

SIZES = ((62, 2_000), (10_000, 1_000), (200, 20_000))
METHODS = ("DFT", "Fisher", "AnovaF", "ReliefF", "MutualInformation", "TreeImportance")


def table(n, p):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, p))
    X[:, : p // 10] += y[:, None]
    return X, y


def seconds(method, cutoff, X, y, n_fits=3):
    made = getattr(tamis, method)
    options = {"random_state": 0} if method == "TreeImportance" else {}
    times = []
    for _ in range(n_fits):
        begun = time.perf_counter()
        made(n_features_to_select=cutoff, **options).fit(X, y)
        times.append(time.perf_counter() - begun)
    return min(times)


def main():
    warnings.simplefilter("ignore")
    print("| method | " + " | ".join(f"{n:,} x {p:,}" for n, p in SIZES) + " |")
    print("|---|" + "---|" * len(SIZES))
    for method in METHODS:
        seconds(method, "auto", *table(40, 30), n_fits=1)
        cells = []
        for n, p in SIZES:
            X, y = table(n, p)
            old, new = (seconds(method, cutoff, X, y) for cutoff in ("elbow", "auto"))
            cells.append(f"{old:.3f} → {new:.3f}")
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
