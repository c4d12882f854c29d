"""Store: rows stay, whole and once, whatever happens to whoever writes them."""

import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from tamis.evaluation.run.units import UnitResult
from tamis.evaluation.store import Store
from tamis.exceptions import InputError


def result(seed=0, n=50, error=None):
    rng = np.random.default_rng(seed)
    known = {"learner": "svm", "metric": "auc", "fit_seconds": 0.5}
    scores = [
        {"count": 5, "value": 0.1 + 0.2, "note": None, **known},
        {"count": 9, "value": float("nan"), "note": "why", **known},
    ]
    return UnitResult(
        order=rng.permutation(n).astype(np.int32),
        scores=scores,
        select_seconds=0.25,
        peak_bytes=1 << 40,
        probe_share={5: 0.2, 9: 1 / 3},
        best_n_features=7,
        error=error,
        warnings=("FutureWarning: soon",),
    )


def test_what_is_put_comes_back(tmp_path):
    put = result()
    with Store(tmp_path / "runs.sqlite") as store:
        store.put("k", {"method": "dft", "name": 'ü "\u202e<script>'}, put)
    with Store(tmp_path / "runs.sqlite") as store:
        (row,) = store.rows()
    assert row.key == "k"
    assert row.meta == {"method": "dft", "name": 'ü "\u202e<script>'}
    assert row.versions["numpy"] == np.__version__
    got = row.result
    assert got.order.dtype == np.int32
    np.testing.assert_array_equal(got.order, put.order)
    assert got.scores[0] == put.scores[0]  # floats to the bit
    assert np.isnan(got.scores[1]["value"])
    assert got[2:] == put[2:]


def test_a_failure_has_no_ranking_and_can_be_forgotten():
    store = Store()
    failed = UnitResult(np.empty(0, np.int32), [], 0.1, None, None, None, "Traceback ...")
    store.put("bad", {}, failed)
    store.put("good", {"seconds": 2.5}, result())
    assert store.finished(["bad", "good", "other"]) == {"bad": (None, True), "good": (2.5, False)}
    assert next(store.rows(["bad"])).result.error == "Traceback ..."
    assert store.forget_failures() == 1
    assert not store.has("bad")
    assert store.has("good")


def test_the_first_result_of_a_unit_stays():
    store = Store()
    store.put("k", {"n": 1}, result(1))
    store.put("k", {"n": 2}, result(2))
    assert len(store) == 1
    assert next(store.rows()).meta == {"n": 1}


def test_many_keys_at_once():
    store = Store()
    for i in range(1200):
        store.put(f"{i:05}", {}, result(n=3))
    wanted = [f"{i:05}" for i in range(0, 1300, 2)]
    assert [row.key for row in store.rows(wanted)] == [key for key in wanted if key < "01200"]


def test_it_is_in_write_ahead_mode(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        store.put("k", {}, result())
        assert (tmp_path / "runs.sqlite-wal").exists()
    assert not (tmp_path / "runs.sqlite-wal").exists()


def put_many(store):
    for i in range(100):
        store.put(f"k{i}", {}, result(n=2000))


def test_disk_full_loses_nothing(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = Store(path)
    store.put("first", {}, result(n=1000))
    store._connection.execute("PRAGMA max_page_count = 12")
    with pytest.raises(InputError, match=r"full.*Nothing that was stored is lost.*space"):
        put_many(store)
    n_stored = len(store)
    assert 1 <= n_stored < 100
    store.close()
    with Store(path) as again:  # as after freeing some space
        assert len(again) == n_stored
        np.testing.assert_array_equal(
            next(again.rows(["first"])).result.order, result(n=1000).order
        )
        again.put("later", {}, result())
        assert again.has("later")
        assert again._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_store_opened_for_reading_is_not_written(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        store.put("k", {}, result())
    with Store(path, read_only=True) as store:
        assert store.has("k")
        with pytest.raises(InputError, match=r"readonly.*Nothing that was stored is lost"):
            store.put("other", {}, result())
    with pytest.raises(InputError, match="existing folder"):
        Store(tmp_path / "missing.sqlite", read_only=True)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_without_permission(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        store.put("k", {}, result())
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    is_root = os.geteuid() == 0
    for folder in (tmp_path.parent, tmp_path.parent.parent) if is_root else ():
        folder.chmod(folder.stat().st_mode | 0o011)
    try:
        if is_root:  # who may do everything, so become somebody else for a moment
            os.seteuid(65534)
        if not os.access(path, os.R_OK, effective_ids=True):
            pytest.skip("the temporary folder is closed to other users")
        with pytest.raises(InputError, match="may write to"):
            Store(path).put("other", {}, result())
    finally:
        if is_root:
            os.seteuid(0)
        tmp_path.chmod(0o755)
        path.chmod(0o644)
    with Store(path) as store:
        assert len(store) == 1


@pytest.mark.parametrize("content", [b"a,b\n1,2\n" * 100, b"SQLite format 3\0" + b"x" * 4096])
def test_other_files_are_left_alone(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"table.csv.*another name"):
        Store(path)
    assert path.read_bytes() == content


def test_other_databases_are_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE people (name TEXT)")
    other.close()
    with pytest.raises(InputError, match="other tables"):
        Store(path)


def test_a_newer_store_is_refused(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        store._connection.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match=r"version 99.*Update tamis"):
        Store(path)


@pytest.mark.parametrize("name", ["", "missing/runs.sqlite"])
def test_folders_are_not_stores(tmp_path, name):
    with pytest.raises(InputError, match="name of a file"):
        Store(tmp_path / name)


_WRITER = """
import sys
import numpy as np
from tamis.evaluation.store import Store
from tamis.evaluation.run.units import UnitResult
store = Store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for i in range(300):
    order = np.roll(np.arange(100, dtype=np.int32), i)
    store.put(f"{i:04}", {"by": sys.argv[2]}, UnitResult(order, [], 0.0, None, None, None, None))
"""


@pytest.mark.slow
def test_two_processes_share_a_store(tmp_path):
    path = tmp_path / "runs.sqlite"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, path, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "ab"
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    with Store(path) as store:
        rows = list(store.rows())
    assert [row.key for row in rows] == [f"{i:04}" for i in range(300)]
    assert all(row.result.order[int(row.key) % 100] == 0 for row in rows)
