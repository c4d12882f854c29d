"""Print the speed and memory of the graph family as ratios to the literal algorithms.

    python benchmarks/graph.py             all of them, some ten minutes
    python benchmarks/graph.py --only "62 x 2000"

The literal algorithm is scipy's spearmanr, numpy's eigvals and inv, as the papers print it.
"""

import argparse
import json
import time

import numpy as np
from measuring import best, run_cases, status

import tamis


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def table(n_rows, n_columns):
    return np.random.default_rng(0).uniform(0, 1000, size=(n_rows, n_columns))


def warm_up():
    tamis.InfFS(n_features_to_select=3).fit(table(50, 20))


def literal_parts(X):
    """Seconds for relations, spectral radius and inverse, done as printed."""
    from scipy.stats import spearmanr

    def graph():
        deviation = X.std(axis=0, ddof=1)
        deviation /= deviation.max()
        return 0.5 * np.maximum.outer(deviation, deviation) + 0.5 * (
            1 - np.abs(spearmanr(X).statistic)
        )

    relations, A = seconds(graph)
    spectrum, radius = seconds(lambda: np.abs(np.linalg.eigvals(A)).max())
    inverse, scores = seconds(
        lambda: np.linalg.inv(np.eye(len(A)) - 0.9 / radius * A).sum(axis=1) - 1
    )
    return relations, spectrum, inverse, scores


def case_inffs(n_rows, n_columns, limit, repeats, walk_limit):
    """Inf-FS against the literal algorithm, end to end."""
    X = table(n_rows, n_columns)
    warm_up()
    shape = f"{n_rows:,} x {n_columns:,}"
    turns = [one_turn(X) for _ in range(repeats)]
    literal = min(turn["literal"] for turn in turns)
    for precision, promise in (("auto", limit), ("double", None)):
        name = f"InfFS {precision} / literal, {shape} (differ by {turns[0][precision][1]:.0e})"
        yield name, min(turn[precision][0] for turn in turns), literal, promise
    yield from time_split(X, shape, walk_limit)


def one_turn(X):
    """Seconds of every side, each run once, and how far our scores are from the literal ones."""
    *parts, scores = literal_parts(X)
    turn = {"literal": sum(parts)}
    for precision in ("auto", "double"):
        selector = tamis.InfFS(precision=precision, n_features_to_select="all")
        time_taken, _ = seconds(lambda selector=selector: selector.fit(X))
        turn[precision] = time_taken, float(np.abs(selector.scores_ / scores - 1).max())
    return turn


def time_split(X, shape, walk_limit):
    """Where the time of a fit goes, and the share of the machine's rate of products."""
    from tamis.graph import feature_graph, relations

    n_rows, n_columns = X.shape
    settings = feature_graph.GraphSettings("spearman", "auto", None, None, "benchmark")
    varies = np.ones(n_columns, dtype=bool)
    build, graph = seconds(
        lambda: feature_graph.memory_graph(X, varies, None, settings, lambda _, items, n: items)
    )
    dtype = graph.relations.plan.dtype
    ranks, factors = seconds(lambda: relations.rank_factors(X, np.ones(n_rows), dtype, None))
    walk, _ = seconds(lambda: graph.walk([0.5], 0.9))
    total = build + walk
    yield f"  ranks / all, {shape}", ranks, total, None
    yield f"  products of ranks / all, {shape}", build - ranks, total, None
    yield f"  walk / all, {shape}", walk, total, walk_limit
    other = np.ascontiguousarray(factors.vectors[::-1][:2048])
    gemm, _ = seconds(lambda: factors.vectors[:2048] @ other.T)
    ideal = gemm * (n_columns / 2048) ** 2 / 2
    name = f"  half a product at the machine's {dtype} rate / products, {shape}"
    yield name, ideal, build - ranks, None


def case_extrapolated(n_rows, n_columns, limit, measured):
    """Inf-FS at a size where the literal algorithm takes hours: cubes of a measured size."""
    warm_up()
    ours, _ = seconds(lambda: tamis.InfFS(n_features_to_select="all").fit(table(n_rows, n_columns)))
    relations, spectrum, inverse, _ = literal_parts(table(n_rows, measured))
    growth = n_columns / measured
    theirs = relations * growth**2 + (spectrum + inverse) * growth**3
    name = f"InfFS / literal extrapolated from {measured:,}, {n_rows:,} x {n_columns:,}"
    yield name, ours, theirs, limit


def case_wide():
    """100 x 100,000 on this machine: the relations are never kept."""
    X = np.random.default_rng(0).standard_normal((100, 100_000))
    warm_up()
    selector = tamis.InfFS(n_features_to_select=100)
    ours, _ = seconds(lambda: selector.fit(X))
    plan = selector.plan_
    name = f"InfFS, 100 x 100,000, {plan.kind} {plan.dtype}, {selector.n_products_} products"
    yield name, ours, None, None
    yield "peak memory of the process / 6 GiB, 100 x 100,000", status("VmHWM"), 6 * 2**30, 1.0


def case_ilfs(n_rows, n_columns):
    """ILFS against f_classif."""
    from sklearn.feature_selection import f_classif

    X = table(n_rows, n_columns)
    y = np.random.default_rng(1).integers(0, 2, n_rows)
    ours, theirs = best(
        lambda: tamis.ILFS(n_features_to_select=10).fit(X, y), lambda: f_classif(X, y), 5
    )
    yield f"ILFS / f_classif, {n_rows:,} x {n_columns:,}, 2 classes", ours, theirs, 4.0


def case_ilfs_blocks(n_rows, n_columns, block_rows):
    """ILFS over row blocks that are made on the spot, twice."""
    y = np.arange(n_rows) % 2

    def blocks():
        for start in range(0, n_rows, block_rows):
            rng = np.random.default_rng(start)
            X = rng.standard_normal((block_rows, n_columns), dtype=np.float32)
            yield X, y[start : start + block_rows]

    def fit():
        selector = tamis.ILFS(n_features_to_select=10)
        for X, target in blocks():
            selector.learn_moments(X, target)
        for X, target in blocks():
            selector.partial_fit(X, target)

    ours, _ = seconds(fit)
    making, _ = seconds(lambda: [None for _ in blocks()])
    shape = f"{n_rows:,} x {n_columns:,} in blocks of {block_rows}"
    yield f"ILFS, {shape} / making the blocks twice", ours, 2 * making, None
    whole = 8 * n_rows * n_columns
    yield f"peak memory of the process / table as float64, {shape}", status("VmHWM"), whole, 1.0


CASES = {
    "InfFS 62 x 2000": ("case_inffs", (62, 2_000, 1 / 20, 3, None)),
    "InfFS 10000 x 5000": ("case_inffs", (10_000, 5_000, 1 / 15, 1, 0.05)),
    "InfFS 200 x 20000": ("case_extrapolated", (200, 20_000, 1 / 100, 2_500)),
    "InfFS 100 x 100000": ("case_wide", ()),
    "ILFS 10000 x 5000": ("case_ilfs", (10_000, 5_000)),
    "ILFS 500 x 1000000": ("case_ilfs_blocks", (500, 1_000_000, 50)),
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
