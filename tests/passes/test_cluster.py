import copy
import os
import sys
from threading import get_ident

import numpy as np
import pytest

import tamis
from dask_workers import Broken, InRows, Noted, note, notes
from tamis.data.number_target import NumberSummary
from tamis.data.partitioned import is_cluster
from tamis.exceptions import ColumnTypeError, InputError, MissingDependencyError, WorkerError
from tamis.passes.dask.client import current_client, open_client
from tamis.passes.dask.cluster import FAN_IN, FirstLook, run_on_workers
from tamis.statistics import Ranges

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

N_ROWS, N_COLUMNS = 600, 7
# (name, selector) of every kind of walk: classes, numbers, none.
SELECTORS = [
    tamis.DFT(n_features_to_select=3),
    tamis.RFT(n_features_to_select=3),
    tamis.Fisher(n_features_to_select=3),
    tamis.Variance(n_features_to_select=3),
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 1]) + rng.normal(size=N_ROWS) > 0).astype(int)
    return X, y


@pytest.fixture(scope="module")
def collections(table):
    X, y = table
    return da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=250)


def agrees(selector, found, X, y):
    expected = copy.deepcopy(selector).fit(X, y)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10, atol=1e-12)
    assert (found.support_ == expected.support_).all()


def noted(X, folder):
    """The same cells, with a note of who had them in hand."""

    def noting(block):
        note(folder)
        return block

    return X.map_blocks(noting, meta=np.empty((0, 0)))


def processes(folder):
    """Who worked; somebody must have."""
    found = {process for _, process, _ in notes(folder)}
    assert found
    return found


class TestWhoDoesTheWork:
    @pytest.mark.slow
    @pytest.mark.parametrize("selector", SELECTORS, ids=lambda item: type(item).__name__)
    def test_current_client(self, selector, table, collections, dask_client, tmp_path):
        noting = noted(collections[0], tmp_path), collections[1]
        with dask_client.as_current():
            agrees(selector, copy.deepcopy(selector).fit(*noting), *table)
        assert processes(tmp_path) <= set(dask_client.run(os.getpid).values())

    @pytest.mark.parametrize("scheduler", ["threads", "sync"])
    def test_schedulers_of_dask(self, scheduler, table, collections, tmp_path):
        noting = noted(collections[0], tmp_path), collections[1]
        with dask.config.set(scheduler=scheduler):
            agrees(tamis.DFT(), tamis.DFT().fit(*noting), *table)
        assert processes(tmp_path) == {os.getpid()}
        in_this_thread = {thread == get_ident() for _, _, thread in notes(tmp_path)}
        assert in_this_thread == {scheduler == "sync"}

    @pytest.mark.slow
    @pytest.mark.parametrize("given", ["client", "address", "cluster"])
    def test_client_and_address_and_cluster(self, given, table, dask_client, tmp_path):
        address, cluster = dask_client.scheduler.address, dask_client.cluster
        means = {"client": dask_client, "address": address, "cluster": cluster}[given]
        agrees(tamis.DFT(), tamis.DFT().fit(Noted(*table, tmp_path, cluster=means)), *table)
        assert processes(tmp_path) <= set(dask_client.run(os.getpid).values())

    @pytest.mark.parametrize("cluster", ["threads", None])
    def test_threads_and_this_process(self, cluster, table, tmp_path):
        agrees(tamis.DFT(), tamis.DFT().fit(Noted(*table, tmp_path, cluster=cluster)), *table)
        assert processes(tmp_path) == {os.getpid()}

    @pytest.mark.slow
    def test_a_number_of_workers_starts_and_ends_them(self, table):
        with open_client(1, "test") as client:
            assert list(client.nthreads().values()) == [1]
            agrees(tamis.DFT(), tamis.DFT().fit(InRows(*table, cluster=client)), *table)
        assert client.status == "closed"
        assert client.cluster.status.name == "closed"

    def test_a_client_stays_open(self, dask_client):
        with open_client(dask_client, "test") as client:
            assert client is dask_client
        assert client.status == "running"

    def test_an_address_without_scheduler(self, table, monkeypatch):
        monkeypatch.setattr("tamis.passes.dask.client.CONNECT_SECONDS", 0.2)
        source = InRows(*table, cluster="tcp://127.0.0.1:1")
        with pytest.raises(WorkerError, match=r"a scheduler of Dask at 'tcp://127.0.0.1:1'"):
            tamis.DFT().fit(source)

    @pytest.mark.parametrize("cluster", [0, -1, True, 2.5, [], object()])
    def test_what_is_no_cluster(self, cluster, table):
        assert not is_cluster(cluster)
        with pytest.raises(InputError, match="cluster must be the address"):
            tamis.DFT().fit(InRows(*table, cluster=cluster))

    def test_no_current_client(self):
        assert current_client() is None

    @pytest.mark.parametrize("package", ["dask", "distributed"])
    def test_missing_package(self, package, table, monkeypatch):
        monkeypatch.setitem(sys.modules, package, None)
        cluster = "threads" if package == "dask" else "tcp://127.0.0.1:1"
        with pytest.raises(MissingDependencyError, match=r"pip install 'tamis\[dask\]'"):
            tamis.DFT().fit(InRows(*table, cluster=cluster))


class TestChunks:
    @pytest.mark.parametrize("chunks", [(1, 7), (64, 1), (5000, 7), ((1, 599), (3, 4))])
    def test_any_size(self, chunks, table):
        X, y = table[0][:120], table[1][:120]
        if chunks == ((1, 599), (3, 4)):
            chunks = ((1, 119), (3, 4))
        found = tamis.DFT().fit(da.from_array(X, chunks=chunks), da.from_array(y, chunks=50))
        agrees(tamis.DFT(), found, X, y)

    def test_target_in_memory_and_as_a_column(self, table, collections):
        X, y = table
        for target in (y, y.tolist(), collections[1][:, None]):
            agrees(tamis.DFT(), tamis.DFT().fit(collections[0], target), X, y)

    def test_weights(self, table, collections):
        X, y = table
        weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
        found = tamis.DFT().fit(*collections, sample_weight=da.from_array(weight, chunks=77))
        expected = tamis.DFT().fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10)

    def test_frame_with_text_target_and_missing_cells(self, table):
        pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
        X, y = table
        frame = pd.DataFrame(X, columns=list("abcdefg")).astype({"b": "Float64"})
        frame["count"] = np.arange(len(y)) % 5
        frame["kind"] = np.where(y, "yes", "no")
        lazy = dd.from_pandas(frame, npartitions=4)
        found = tamis.DFT().fit(lazy.drop(columns="kind"), lazy["kind"])
        assert list(found.feature_names_in_) == [*"abcdefg", "count"]
        agrees(tamis.DFT(), found, np.column_stack([X, np.arange(len(y)) % 5]), y)

    def test_unknown_sizes(self, table, collections):
        X, y = table
        keep = collections[1].rechunk(100) >= 0
        lazy = collections[0].rechunk((100, 7))[keep], collections[1].rechunk(100)[keep]
        assert np.isnan(lazy[0].shape[0])
        agrees(tamis.DFT(), tamis.DFT().fit(*lazy), X, y)
        with pytest.raises(InputError, match="Take y from the same Dask table"):
            tamis.DFT().fit(lazy[0], y)

    def test_chunks_that_do_not_match(self, collections):
        X, y = collections
        with pytest.raises(InputError, match="y with 600 values, one per row of X, got 500"):
            tamis.DFT().fit(X, y[:500])
        unknown = X[da.from_array(np.arange(600) % 2 == 0, chunks=100)]
        with pytest.raises(InputError, match=r"y in as many chunks as X \(6\), got 3"):
            tamis.DFT().fit(unknown, y)
        with pytest.raises(InputError, match=r"chunk \d: expected as many target as rows"):
            tamis.DFT().fit(unknown, y.rechunk(100))

    def test_not_a_table(self, collections):
        with pytest.raises(InputError, match="expected a 2-D table, got a Dask array of 1 axes"):
            tamis.DFT().fit(collections[1], collections[1])

    def test_text_column(self):
        pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
        words = [f"patient {j}" for j in range(12)]
        lazy = dd.from_pandas(pd.DataFrame({"a": np.arange(12.0), "b": words}), npartitions=2)
        with pytest.raises(ColumnTypeError, match="got column 'b' with identifier"):
            tamis.Variance().fit(lazy)

    def test_an_error_says_which_chunk(self, table, dask_client):
        X, y = table
        y = np.where(np.arange(len(y)) == 350, np.nan, y.astype(float))
        with dask_client.as_current(), pytest.raises(InputError, match=r"\(In chunk 3"):
            tamis.RFT().fit(da.from_array(X, chunks=(100, 7)), da.from_array(y, chunks=100))

    def test_the_target_alone_is_read_first(self, table):
        X, y = table
        n_read = []
        lazy = da.from_array(X, chunks=(100, 7)).map_blocks(lambda block: n_read.append(1) or block)
        with dask.config.set(scheduler="sync"):
            n_read.clear()
            tamis.DFT().fit(lazy, da.from_array(y, chunks=100))
        assert len(n_read) == 2 * 6  # ranges, then histograms


class TestTree:
    @pytest.mark.parametrize("n_parts", [0, 1, 2, FAN_IN, FAN_IN + 1, FAN_IN**2 + 1])
    def test_every_part_counts_once(self, n_parts):
        X = np.arange(2.0 * n_parts).reshape(n_parts, 2)
        source = InRows(X, np.zeros(n_parts), rows=1, cluster="threads")
        look = FirstLook(NumberSummary("test", "regression"), Ranges(2))
        found = run_on_workers(source, look, None, None)
        assert found.target.n_rows == found.ranges.n_rows == n_parts

    def test_the_result_does_not_depend_on_who_computes(self, table, dask_client):
        found = [
            tamis.DFT().fit(InRows(*table, rows=7, cluster=cluster)).scores_
            for cluster in ("threads", dask_client)
        ]
        assert (found[0] == found[1]).all()


class TestCheckpoint:
    def test_goes_on_after_a_failure(self, table, dask_client, tmp_path, monkeypatch):
        monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", -1.0)
        X, y = table
        source = InRows(X, y, rows=20, cluster=dask_client)
        source.checkpoint = tmp_path / "state"
        broken = Broken(X, y, rows=20, cluster=dask_client)
        broken.checkpoint = source.checkpoint
        with pytest.raises(InputError, match="rows from 500 on"):
            tamis.DFT().fit(broken)
        assert source.checkpoint.exists()
        agrees(tamis.DFT(), tamis.DFT().fit(source), X, y)
        assert not source.checkpoint.exists()


class TestBytes:
    """The data is made on the workers, 8 MB of it; what reaches this process is counted."""

    N_BYTES = 8_000_000

    @pytest.fixture
    def received(self, monkeypatch):
        from tornado.iostream import IOStream

        counts, read = [], IOStream.read_from_fd

        def counting(stream, buffer):
            n_bytes = read(stream, buffer)
            counts.append(n_bytes or 0)
            return n_bytes

        monkeypatch.setattr(IOStream, "read_from_fd", counting)
        return counts

    @pytest.fixture
    def made_there(self):
        state = da.random.default_rng(0)
        X = state.normal(size=(50_000, 20), chunks=(5_000, 20))
        return X, (X[:, 0] > 0).astype(int)

    @pytest.mark.parametrize("selector", SELECTORS, ids=lambda item: type(item).__name__)
    def test_only_summaries_travel(self, selector, dask_client, received, made_there):
        with dask_client.as_current():
            copy.deepcopy(selector).fit(*made_there)
        assert 0 < sum(received) < self.N_BYTES / 10

    def test_the_counter_counts(self, dask_client, received, made_there):
        dask_client.compute(made_there[0]).result()
        assert sum(received) > self.N_BYTES


def test_ranges_on_workers(table, dask_client):
    found = run_on_workers(
        InRows(*table, cluster=dask_client),
        Ranges(N_COLUMNS),
        tamis.data.target_blocks.Encoding("x"),
        None,
    ).finish()
    np.testing.assert_array_equal(found.high, np.nanmax(table[0], axis=0))
