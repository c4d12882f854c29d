"""DFT on Dask: two workers against one, and against the fit in memory.

    python benchmarks/scale/cluster.py [--rows 8000000] [--columns 100] [--turns 7]

Workers are processes with one thread each. The table is made by them and stays in their memory, the
same number of chunks on each, so what is timed is the work: two walks over the rows, and the
merging of summaries.
"""

import argparse
import time
from contextlib import contextmanager

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


@contextmanager
def received():
    """Count the bytes that reach this process, which has the client and the scheduler."""
    from tornado.iostream import IOStream

    counts, read = [], IOStream.read_from_fd

    def counting(stream, buffer):
        n_bytes = read(stream, buffer)
        counts.append(n_bytes or 0)
        return n_bytes

    IOStream.read_from_fd = counting
    try:
        yield counts
    finally:
        IOStream.read_from_fd = read


def spread(client, X, y):
    """The table in the memory of the workers, the same number of chunks on each."""
    import dask.array as da

    workers = list(client.nthreads())
    n_each = X.numblocks[0] // len(workers)
    placed = []
    for whole in (X, y):
        parts = [
            client.persist(whole.blocks[i * n_each : (i + 1) * n_each], workers=[worker])
            for i, worker in enumerate(workers)
        ]
        placed.append(client.persist(da.concatenate(parts)))
    client.gather(client.compute([values.sum() for values in placed]))  # all of it is there
    return placed


def on_workers(n_workers, options):
    """Best seconds of a fit on that many workers, and the bytes that it sends here."""
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
        X, y = spread(client, *make_table(options.rows, options.columns, options.chunks))
        seconds = timed(lambda: tamis.DFT().fit(X, y), options.turns)
        with received() as counts:
            tamis.DFT().fit(X, y)
        return seconds, sum(counts)


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
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    print(f"{options.rows:,} x {options.columns} float64, {options.chunks} chunks")
    memory = in_memory(options)
    (one, bytes_one), (two, bytes_two) = on_workers(1, options), on_workers(2, options)
    print(f"in memory, one thread {memory:7.2f} s")
    held = one < 1.2 * memory
    print(f"one worker            {one:7.2f} s, {one / memory:.2f}x, below 1.2: {held}")
    speed = one / two
    held = speed >= 1.7
    print(f"two workers           {two:7.2f} s, {speed:.2f} times one, at least 1.7: {held}")
    print(f"bytes to client and scheduler: {bytes_one:,} and {bytes_two:,}")


if __name__ == "__main__":
    main()
