"""DFT from Parquet against a bare Arrow scan, and its peak memory on a table of 10 GiB.

    python benchmarks/scale/files.py [--gigabytes 10] [--folder FOLDER] [--keep]

A table of 200 columns of float64 and a target is made on the spot, in files of about 256 MiB, and
removed afterwards. Everything that is measured runs in a process of its own, and takes turns:

bare    Arrow's own scanner (pyarrow.dataset) over all columns
groups  row groups read one by one, all columns
fit     DFT
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from measuring import status

N_COLUMNS = 200
FILE_BYTES = 256 * 2**20
ROW_GROUP = 131_072
LIMIT = 512 * 2**20


def make_table(folder, n_bytes):
    """Files of random numbers; the first columns know something of the target."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    rows = FILE_BYTES // (8 * N_COLUMNS)
    n_files = max(1, round(n_bytes / FILE_BYTES))
    for number in range(n_files):
        y = rng.integers(2, size=rows)
        columns = {}
        for j in range(N_COLUMNS):
            # 14 digits of a normal number: nothing that a dictionary could make shorter.
            columns[f"c{j}"] = rng.standard_normal(rows) + y * max(0.0, 1.0 - j / 10)
        table = pa.table({**columns, "label": y})
        parquet.write_table(table, folder / f"part-{number:04}.parquet", row_group_size=ROW_GROUP)
    return n_files * rows


def bare(pattern):
    """Read all columns with Arrow's own scanner, and do nothing with them."""
    from pyarrow import dataset

    files = sorted(str(file) for file in Path(pattern).parent.glob(Path(pattern).name))
    n_rows = 0
    for batch in dataset.dataset(files).to_batches():
        n_rows += batch.num_rows
    return n_rows


def groups(pattern):
    """Read one row group after the other, all columns; the fastest bare reading that we found."""
    from pyarrow import parquet

    n_rows = 0
    for file in sorted(Path(pattern).parent.glob(Path(pattern).name)):
        opened = parquet.ParquetFile(file)
        for group in range(opened.num_row_groups):
            n_rows += opened.read_row_group(group).num_rows
    return n_rows


def fit(pattern):
    """Rank all columns."""
    import tamis

    scan = tamis.scan(pattern, target="label", memory_limit=LIMIT)
    return tamis.DFT().fit(scan).order_[:10].tolist()


def measured(what, pattern):
    """Seconds and peak memory of one of the two, in this process."""
    if what == "fit":  # compile first
        import tamis

        tamis.DFT().fit(np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2)
        tamis.DFT().fit(
            np.asfortranarray(np.random.default_rng(0).normal(size=(50, 3))), np.arange(50) % 2
        )
    before = status("VmHWM")
    start = time.perf_counter()
    found = {"bare": bare, "groups": groups, "fit": fit}[what](pattern)
    seconds = time.perf_counter() - start
    peak = status("VmHWM")
    return {"seconds": seconds, "peak": peak, "before": before, "found": found}


def apart(what, pattern):
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--measure", what, "--pattern", pattern]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--measure", choices=("bare", "groups", "fit"))
    parser.add_argument("--pattern")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure, options.pattern)))
        return
    folder = Path(tempfile.mkdtemp(prefix="tamis-scale-", dir=options.folder))
    try:
        start = time.perf_counter()
        n_rows = make_table(folder, options.gigabytes * 2**30)
        on_disk = sum(file.stat().st_size for file in folder.iterdir())
        n_bytes = n_rows * N_COLUMNS * 8
        print(
            f"{n_rows:,} x {N_COLUMNS} float64, {n_bytes / 2**30:.2f} GiB ({on_disk / 2**30:.2f} "
            f"on disk), made in {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        pattern = str(folder / "*.parquet")
        times = {"bare": [], "groups": [], "fit": []}
        for _ in range(options.turns):
            for what in times:
                result = apart(what, pattern)
                times[what].append(result["seconds"])
                rate = n_bytes / 2**30 / result["seconds"]
                print(
                    f"{what:6} {result['seconds']:8.2f} s, {rate:.2f} GiB/s, "
                    f"peak memory {result['peak'] / 2**20:.0f} MiB "
                    f"({result['before'] / 2**20:.0f} before)",
                    flush=True,
                )
        for what in ("bare", "groups"):
            ratio = min(times[what]) / min(times["fit"])
            print(f"rate of DFT / rate of {what}: {ratio:.2f}, at least 0.6: {ratio >= 0.6}")
    finally:
        if not options.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
