"""A fit that compares columns goes on where it was stopped, in whatever walk that was."""

import os
import signal
import sys

import numpy as np
import pytest

import tamis
from passes.array_source import ArraySource
from tamis._runtime.checkpoint import Checkpoint
from tamis.exceptions import InputError
from tamis.filters import _source_pairs
from tamis.passes.memory import open_table

N_ROWS, N_COLUMNS = 60, 9


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 0.8 * y[:, None] * (np.arange(N_COLUMNS) % 3 == 0)
    X[:, 1] = 0.7 * X[:, 0] + 0.3 * X[:, 1]
    X[:, 4] = rng.integers(0, 3, N_ROWS)  # few values
    X[:, 5] = 4.0
    X[:, 7] = X[:, 3] * 1e-140  # scaled up, which takes one more walk
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.fixture(autouse=True)
def many_walks(monkeypatch):
    """Every part is stored, and a walk compares two columns."""
    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", 0.0)
    monkeypatch.setattr(_source_pairs, "MOST_LINEAR", 2)
    monkeypatch.setattr(_source_pairs, "MOST_CODED", 2)


class Counting(ArraySource):
    """Counts the parts whose cells are read, and stops before one of them."""

    def __init__(self, X, y, weight=None, *, checkpoint=None, stops_at=None, error=None):
        super().__init__(X, y, weight, part_rows=12, block_rows=5, checkpoint=checkpoint)
        self.stops_at, self.error = stops_at, error or KeyboardInterrupt()
        self.parts = []  # the same in all copies, which is what workers read

    @property
    def n_read(self):
        return len(self.parts)

    def blocks(self, part, columns=None):
        if columns is None or len(columns):
            if self.stops_at is not None and self.n_read >= self.stops_at:
                raise self.error
            self.parts.append(part)
        yield from super().blocks(part, columns)


def binned(strategy, **options):
    return tamis.MRMR(measure="mutual_information", strategy=strategy, **options)


IN_ROWS = [
    tamis.MRMR(),
    tamis.MRMR(combine="difference"),
    binned("uniform"),
    tamis.FCBF(strategy="uniform", n_bins=4),
]
IN_COLUMNS = [binned("quantile"), binned("mdl", combine="difference"), tamis.FCBF()]
by_rows = pytest.mark.parametrize("selector", IN_ROWS, ids=repr)
every_method = pytest.mark.parametrize("selector", [*IN_ROWS, *IN_COLUMNS], ids=repr)


def learned(selector):
    return {name: value for name, value in vars(selector).items() if name.endswith("_")}


def identical(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def stop(selector, source):
    with pytest.raises(KeyboardInterrupt):
        selector.fit(source)
    return source.n_read


@pytest.mark.sampled(1)
@every_method
def test_stopped_before_any_part(selector, table, tmp_path):
    whole = Counting(*table)
    expected = learned(selector.fit(whole))
    assert whole.n_read >= 5 * 4  # several walks over pairs
    for stops_at in range(1, whole.n_read, 3):  # there are five parts: each comes to be the one
        file = tmp_path / f"{stops_at}.state"
        stop(selector, Counting(*table, checkpoint=file, stops_at=stops_at))
        again = Counting(*table, checkpoint=file)
        identical(learned(selector.fit(again)), expected)
        # Whole columns are read anew if the last of their parts is missing.
        twice = 0 if selector in IN_ROWS else again.n_parts - 1
        assert again.n_read <= whole.n_read - stops_at + twice
        if selector in IN_ROWS:
            assert again.n_read == whole.n_read - stops_at
        assert not file.exists()


class Interrupting(Counting):
    """Presses Ctrl-C before one of the parts is read."""

    def blocks(self, part, columns=None):
        if columns is not None and self.n_read == self.stops_at:
            self.stops_at = None
            os.kill(os.getpid(), signal.SIGINT)
        yield from super().blocks(part, columns)


@pytest.mark.sampled(2)
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal for one process")
@by_rows
def test_ctrl_c(selector, table, tmp_path):
    X, y = np.hstack([table[0], table[0][:, ::-1] ** 2]), table[1]
    file, whole = tmp_path / "fit.state", Counting(X, y)
    expected = learned(selector.fit(whole))
    stops_at = whole.n_read - 8  # in the last walk but one
    stop(selector, Interrupting(X, y, checkpoint=file, stops_at=stops_at))
    assert file.exists()
    again = Counting(X, y, checkpoint=file)
    identical(learned(selector.fit(again)), expected)
    # What was being worked on at that moment is read again.
    assert again.n_read <= whole.n_read - stops_at + 2


@pytest.mark.sampled(1)
@by_rows
def test_stopped_again_and_again(selector, table, tmp_path):
    weight = np.random.default_rng(0).integers(0, 3, N_ROWS) * 0.75
    whole = Counting(*table, weight)
    expected = learned(selector.fit(whole))
    file, n_read = tmp_path / "fit.state", 0
    while True:
        source = Counting(*table, weight, checkpoint=file, stops_at=4)
        try:
            selector.fit(source)
        except KeyboardInterrupt:
            n_read += source.n_read
            continue
        break
    identical(learned(selector), expected)
    assert n_read + source.n_read == whole.n_read


@pytest.mark.sampled(1)
@every_method
def test_little_memory(selector, table, tmp_path):
    """Rows that found no room are found again, in the walks that there would have been."""

    def source(**options):
        made = Counting(*table, **options)
        made.memory_limit = 8000
        return made

    whole = source()
    expected = learned(selector.fit(whole))
    for stops_at in range(whole.n_read // 3, whole.n_read, 11):
        file = tmp_path / f"{stops_at}.state"
        stop(selector, source(checkpoint=file, stops_at=stops_at))
        again = source(checkpoint=file)
        identical(learned(selector.fit(again)), expected)
        assert again.n_read <= whole.n_read - stops_at + again.n_parts


@pytest.mark.sampled(2)
@every_method
def test_on_workers(selector, table, tmp_path):
    pytest.importorskip("dask")
    file = tmp_path / "fit.state"

    def source(**options):
        made = Counting(*table, checkpoint=file, **options)
        made.cluster = "threads"
        return made

    whole = source()
    expected = learned(selector.fit(whole))
    assert whole.n_read >= 20
    for stops_at in range(whole.n_read // 2, whole.n_read, 5):
        error = OSError("the disk is gone")
        with pytest.raises(OSError, match="disk is gone"):
            selector.fit(source(stops_at=stops_at, error=error))
        again = source()
        identical(learned(selector.fit(again)), expected)
        assert again.n_read <= whole.n_read - stops_at + again.n_parts


def test_started_here_and_ended_on_workers(table, tmp_path):
    pytest.importorskip("dask")
    file, whole = tmp_path / "fit.state", Counting(*table)
    expected = learned(tamis.MRMR().fit(whole))
    n_read = stop(tamis.MRMR(), Counting(*table, checkpoint=file, stops_at=whole.n_read - 7))
    again = Counting(*table, checkpoint=file)
    again.cluster = "threads"
    found = learned(tamis.MRMR().fit(again))
    np.testing.assert_array_equal(found["order_"], expected["order_"])
    np.testing.assert_allclose(found["criterion_"], expected["criterion_"], rtol=1e-10)
    assert n_read + again.n_read == whole.n_read


def walks(file, selector, table):
    """What is in a checkpoint that this fit may use."""
    source = Counting(*table, checkpoint=file)
    return open_table(selector, source, None, None, "auto").engine.checkpoint.passes


# Before the end, in parts of the table: with "mdl" some columns have one level and are not read.
@pytest.mark.parametrize(
    ("selector", "early"), [(IN_ROWS[0], 17), (IN_ROWS[2], 17), (IN_COLUMNS[1], 7)], ids=repr
)
def test_only_the_last_pass_is_kept(selector, early, table, tmp_path):
    whole = Counting(*table)
    selector.fit(whole)
    sizes = []
    for stops_at in (whole.n_read - early, whole.n_read - 2):
        file = tmp_path / f"{stops_at}.state"
        stop(selector, Counting(*table, checkpoint=file, stops_at=stops_at))
        names = list(walks(file, selector, table))
        assert names[-2:] == ["search", "pairs"]
        assert names.count("pairs") == 1
        sizes.append(file.stat().st_size)
    assert sizes[1] < 1.2 * sizes[0]


@every_method
def test_other_data_and_settings_are_refused(selector, table, tmp_path):
    X, y = table
    file, whole = tmp_path / "fit.state", Counting(X, y)
    selector.fit(whole)
    stop(selector, Counting(X, y, checkpoint=file, stops_at=whole.n_read - 3))
    kept = file.read_bytes()
    other = type(selector)(**{**selector.get_params(), "n_bins": 7})
    for one, cells in ((other, X), (selector, X + 1)):
        with pytest.raises(InputError, match="belongs to a fit with other data or parameters"):
            one.fit(Counting(cells, y, checkpoint=file))
    assert file.read_bytes() == kept


def test_results_are_remembered(tmp_path):
    file = tmp_path / "fit.state"
    checkpoint = Checkpoint(file, "a fit", "MRMR", lambda n_parts: [n_parts])
    checkpoint.remember("search", 3, {"rows": [np.arange(3.0)], "order": [1, 2]})
    again = Checkpoint(file, "a fit", "MRMR", lambda n_parts: [n_parts])
    found = again.recall("search")
    assert found["order"] == [1, 2]
    np.testing.assert_array_equal(found["rows"][0], np.arange(3.0))
    assert again.recall("cuts") == {}
    with pytest.raises(InputError, match="belongs to a fit with other data"):
        Checkpoint(file, "a fit", "MRMR", lambda n_parts: ["other files"])


class TestFiles:
    @pytest.fixture
    def folder(self, table, tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        X, y = table
        for number, rows in enumerate(np.array_split(np.arange(N_ROWS), 3)):
            frame = pandas.DataFrame(X[rows], columns=[f"c{j}" for j in range(N_COLUMNS)])
            frame.assign(kind=y[rows]).to_parquet(tmp_path / f"{number}.parquet")
        return tmp_path

    @pytest.fixture
    def damaged(self, folder, monkeypatch):
        """A file that is damaged when the second walk over pairs begins; its time stays."""
        victim = folder / "1.parquet"
        good, when = victim.read_bytes(), victim.stat().st_mtime_ns
        walk, n_walks = _source_pairs.LinearPairs._correlations, []

        def write(content):
            victim.write_bytes(content)
            os.utime(victim, ns=(when, when))

        def watched(pairs, batch):
            n_walks.append(len(batch))
            if len(n_walks) == 2:
                write(good[:4] + bytes(len(good) // 2) + good[4 + len(good) // 2 :])
            return walk(pairs, batch)

        monkeypatch.setattr(_source_pairs.LinearPairs, "_correlations", watched)
        return lambda: write(good)

    def fit(self, folder):
        state = folder / "state"
        source = tamis.scan(f"{folder}/*.parquet", target="kind", checkpoint=state)
        return tamis.MRMR().fit(source)

    def test_a_damaged_file_that_is_mended(self, folder, damaged, table, monkeypatch):
        from tamis.statistics import WithRanges

        with pytest.raises(InputError, match=r"1\.parquet"):
            self.fit(folder)
        assert (folder / "state").exists()
        damaged()
        monkeypatch.setattr(WithRanges, "update", None)  # the moments are known
        found = learned(self.fit(folder))
        monkeypatch.undo()
        expected = learned(tamis.MRMR().fit(*table))
        np.testing.assert_array_equal(found["order_"], expected["order_"])
        np.testing.assert_allclose(found["criterion_"], expected["criterion_"], rtol=1e-10)
        assert not (folder / "state").exists()

    def test_one_that_is_written_anew_was_counted_already(self, folder, damaged):
        with pytest.raises(InputError, match=r"1\.parquet"):
            self.fit(folder)
        damaged()
        os.utime(folder / "1.parquet")
        with pytest.raises(InputError, match="belongs to a fit with other data"):
            self.fit(folder)
