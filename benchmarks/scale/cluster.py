"""DFT on Dask: two workers against one, and against the fit in memory.

    python benchmarks/scale/cluster.py [--rows 8000000] [--columns 100] [--turns 3]

Workers are processes with one thread each. The table is made by them and stays in their memory, so
what is timed is the work: two walks over the rows, and the merging of summaries.
"""

import argparse
import time

import tamis


def make_table(n_rows, n_columns, n_chunks):
    import dask.array as da

    rows = n_rows // n_chunks
    state = da.random.default_rng(0)
    y = state.integers(2, size=n_chunks * rows, chunks=rows)
    X = state.normal(size=(n_chunks * rows, n_columns), chunks=(rows, n_columns))
    return X + 0.3 * y[:, None], y


def timed(function, turns):
    function()
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def on_workers(n_workers, options):
    """Best seconds of a fit on that many workers."""
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
        X, y = client.persist(make_table(options.rows, options.columns, options.chunks))
        client.gather(client.compute([X.sum(), y.sum()]))  # the table is there
        return timed(lambda: tamis.DFT().fit(X, y), options.turns)


def in_memory(options):
    """Best seconds of a fit on one thread."""
    X, y = make_table(options.rows, options.columns, options.chunks)
    X, y = X.compute(), y.compute()
    return timed(lambda: tamis.DFT(n_jobs=1).fit(X, y), options.turns)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--chunks", type=int, default=32)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print(f"{options.rows:,} x {options.columns} float64, {options.chunks} chunks")
    memory = in_memory(options)
    one, two = on_workers(1, options), on_workers(2, options)
    print(f"in memory, one thread {memory:7.2f} s")
    print(
        f"one worker            {one:7.2f} s, {one / memory:.2f}x, below 1.2: {one < 1.2 * memory}"
    )
    speed = one / two
    print(
        f"two workers           {two:7.2f} s, {speed:.2f} times one, at least 1.7: {speed >= 1.7}"
    )


if __name__ == "__main__":
    main()
