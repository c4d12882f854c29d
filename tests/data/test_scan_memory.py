"""The memory limit of a scan is a promise, so it is measured."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tamis.data import scan

N_ROWS, N_COLUMNS = 240_000, 100
# Six times less than the table. A page and a dictionary of all columns would be 200 MiB, so reading
# them side by side would be seen, too.
LIMIT = 32 * 2**20
PROGRAM = """
import json, pathlib, sys
import numpy as np
import tamis

def peak():  # of this program alone; getrusage begins with that of the one which started it
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

path, method, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
selector = tamis.make_selector(method, n_jobs=1)
rng = np.random.default_rng(0)
small = rng.normal(size=(200, 4)), np.arange(200) % 2
selector.fit(*small)
selector.fit(np.asfortranarray(small[0]), small[1])  # both layouts are compiled
before = peak()
table = tamis.scan(path, target=path.rpartition("/")[0] + "/y.npy", memory_limit=limit)
next(table.blocks(0, np.empty(0, int)))  # packages that reading needs are loaded
loaded = peak()
selector.fit(table)
print(json.dumps({"before": before, "loaded": loaded, "after": peak()}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import pyarrow as pa
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N_ROWS)
    X = rng.standard_normal((N_ROWS, N_COLUMNS))  # 183 MiB
    np.save(folder / "y.npy", y)
    np.save(folder / "X.npy", X)
    table = pa.table({f"c{j}": X[:, j] for j in range(N_COLUMNS)})
    parquet.write_table(table, folder / "X.parquet", row_group_size=N_ROWS)
    options = {"use_dictionary": False, "row_group_size": N_ROWS}
    parquet.write_table(table, folder / "plain.parquet", **options)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("name", ["X.parquet", "plain.parquet", "X.npy"])
@pytest.mark.parametrize("method", ["dft", "fisher"])
def test_a_fit_stays_below_the_limit(folder, name, method):
    command = [sys.executable, "-c", PROGRAM, f"{folder}/{name}", method, str(LIMIT)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(out.stdout.splitlines()[-1])
    assert found["after"] - found["loaded"] < LIMIT
    # The table itself is larger, so reading all of it would be seen.
    assert scan(folder / name).n_rows * N_COLUMNS * 8 > 1.9 * LIMIT
