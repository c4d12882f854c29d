"""Methods that compare columns with each other give the same from memory, files and Dask."""

import numpy as np
import pytest

import tamis
from passes.array_source import ArraySource
from tamis.exceptions import InputError
from tamis.filters import _source_pairs

dask_array = pytest.importorskip("dask.array")

N_ROWS, N_COLUMNS = 90, 13


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 0.8 * y[:, None] * (np.arange(N_COLUMNS) % 3 == 0)
    X[:, 1] = 0.7 * X[:, 0] + 0.3 * X[:, 1]
    X[:, 4] = rng.integers(0, 3, N_ROWS)  # few values
    X[:, 5] = 4.0
    X[:, 7] = X[:, 3] * 1e-140
    X[:, 8] = X[:, 6] + 1e4
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def in_parts(X, y=None, weight=None, *, part_rows=7, block_rows=3):
    return ArraySource(X, y, weight, part_rows=part_rows, block_rows=block_rows)


ROWS = {
    "parts": (7, 3),
    "single rows": (1, 1),
    "one block": (N_ROWS, N_ROWS),
    "block larger than the table": (1000, 1000),
}


def fit_dask(selector, X, y, weight, rows=20, columns=4):
    """Fit on a Dask array cut both ways, with threads of Dask."""
    import dask

    table = dask_array.from_array(X, chunks=(rows, columns))
    rest = [None if one is None else dask_array.from_array(one, chunks=rows) for one in (y, weight)]
    with dask.config.set(scheduler="threads"):
        return selector.fit(table, *rest)


def same(found, expected, names, tolerance=1e-10):
    np.testing.assert_array_equal(found["order_"], expected["order_"])
    for name in names:
        np.testing.assert_allclose(found[name], expected[name], rtol=tolerance, atol=tolerance)


def learned(selector):
    return {name: value for name, value in vars(selector).items() if name.endswith("_")}


CODED = [
    tamis.MRMR(measure="mutual_information", strategy=strategy, combine=combine)
    for strategy in ("uniform", "quantile", "mdl")
    for combine in ("quotient", "difference")
]
PAIRWISE = [
    tamis.MRMR(),
    tamis.MRMR(combine="difference"),
    *CODED,
    tamis.FCBF(),
    tamis.FCBF(strategy="uniform", n_bins=4),
    tamis.FCBF(strategy="quantile", threshold=0.05),
]
CHECKED = {"MRMR": ("criterion_", "relevance_", "scores_"), "FCBF": ("criterion_", "n_levels_")}
every_method = pytest.mark.parametrize("selector", PAIRWISE, ids=repr)


def agree(selector, X, y, weight=None, **cut):
    names = CHECKED[type(selector).__name__]
    expected = learned(selector.fit(X, y, weight))
    found = learned(selector.fit(in_parts(X, y, weight, **cut)))
    same(found, expected, names)
    same(learned(fit_dask(selector, X, y, weight)), expected, names)
    assert found["n_selected_"] == expected["n_selected_"]
    return found


@pytest.mark.sampled(8)
@pytest.mark.parametrize("selector", [PAIRWISE[0], *CODED[::2], PAIRWISE[-1]], ids=repr)
@pytest.mark.parametrize("cut", ROWS)
def test_any_blocks(selector, cut, table):
    X, y = table
    part_rows, block_rows = ROWS[cut]
    names = CHECKED[type(selector).__name__]
    expected = learned(selector.fit(X, y))
    found = selector.fit(in_parts(X, y, part_rows=part_rows, block_rows=block_rows))
    same(learned(found), expected, names)


@pytest.mark.sampled(2)
@every_method
def test_text_targets(selector, table):
    X, y = table
    labels = np.array(["no", "yes", "maybe"])[y]
    found = agree(selector, X, labels)
    assert found["classes_"].tolist() == ["maybe", "no", "yes"]


@pytest.mark.sampled(8)
@every_method
@pytest.mark.parametrize("kind", ["whole", "fractions"])
def test_weights(selector, kind, table):
    X, y = table
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, N_ROWS).astype(float)
    agree(selector, X, y, weight if kind == "whole" else weight * rng.uniform(0.5, 1.5, N_ROWS))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "selector",
    [s for s in PAIRWISE if isinstance(s, tamis.MRMR) and s.strategy != "mdl"],
    ids=repr,
)
def test_numeric_targets(selector, table):
    X, y = table
    z = 1e6 + y + np.linspace(0, 1, N_ROWS)
    assert "classes_" not in agree(selector, X, z)
    agree(selector, X, z, np.random.default_rng(0).integers(0, 3, N_ROWS).astype(float))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("selector", PAIRWISE, ids=repr)
def test_single_precision(selector, table):
    X, y = table
    X = np.where(np.arange(N_COLUMNS) == 7, 0.0, X).astype(np.float32)
    agree(selector, X, y)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("selector", [tamis.MRMR(), CODED[0], tamis.FCBF(strategy="uniform")])
def test_few_columns_per_walk_change_nothing(selector, most, table, monkeypatch):
    monkeypatch.setattr(_source_pairs, "MOST_LINEAR", most)
    monkeypatch.setattr(_source_pairs, "MOST_CODED", most)
    agree(selector, *table)


@pytest.mark.slow
def test_little_memory_changes_nothing(table):
    X, y = table
    for selector in (tamis.MRMR(), CODED[0], CODED[2], tamis.FCBF()):
        expected = learned(selector.fit(X, y))
        source = in_parts(X, y)
        source.memory_limit = 10_000
        names = CHECKED[type(selector).__name__]
        same(learned(selector.fit(source)), expected, names)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_files(form, table, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from tamis.data import scan

    X, y = table
    labels = np.array(["no", "yes", "maybe"])[y]
    for number, rows in enumerate(np.array_split(np.arange(N_ROWS), 3)):
        frame = pandas.DataFrame(X[rows], columns=[f"c{j}" for j in range(N_COLUMNS)])
        frame["kind"] = labels[rows]
        path = tmp_path / f"{number}.{form}"
        frame.to_parquet(path) if form == "parquet" else frame.to_csv(path, index=False)
    source = scan(tmp_path, target="kind", memory_limit=20_000)
    for selector in (tamis.MRMR(), CODED[0], CODED[2], tamis.FCBF()):
        expected = learned(selector.fit(X, labels))
        same(learned(selector.fit(source)), expected, CHECKED[type(selector).__name__])
        assert selector.feature_names_in_[0] == "c0"
    expected = tamis.InfFS().fit(X).scores_
    np.testing.assert_allclose(tamis.InfFS().fit(source).scores_, expected, rtol=1e-6, atol=1e-7)


def test_frames_of_dask(table):
    import dask

    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = frames.from_pandas(pandas.DataFrame(X).add_prefix("c").assign(y=y), npartitions=4)
    for selector in (tamis.MRMR(), CODED[2], tamis.FCBF()):
        expected = learned(selector.fit(X, y))
        with dask.config.set(scheduler="threads"):
            selector.fit(frame.drop(columns="y"), frame["y"])
        same(learned(selector), expected, CHECKED[type(selector).__name__])


def test_a_checkpoint_keeps_the_first_walk(table, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", 0.0)
    X, y = table
    X = X[:, :4]  # no constant column, so that all walks are over all columns
    file = tmp_path / "scan.state"
    expected = learned(tamis.MRMR().fit(X, y))
    with pytest.raises(OSError, match="disk is gone"):
        tamis.MRMR().fit(ArraySource(X, y, checkpoint=file, fails_at=4))
    again = ArraySource(X, y, checkpoint=file)
    same(learned(tamis.MRMR().fit(again)), expected, CHECKED["MRMR"])
    assert [part for part, cells in again.reads if cells][:9] == list(range(4, 13))
    assert not file.exists()


def walks(source):
    """How often all parts were read, by whether all columns were wanted."""
    return len(source.reads) / source.n_parts


def test_walks_are_few(table):
    X, y = table
    source = in_parts(X[:, :5], y)
    tamis.MRMR(full_order=True).fit(source)
    assert walks(source) == 3  # target, moments, products of all columns
    source = in_parts(X[:, :5], y)
    tamis.MRMR(measure="mutual_information", strategy="uniform", full_order=True).fit(source)
    assert walks(source) == 4  # target, values, counts with the target, counts of all pairs


def test_a_column_that_does_not_fit_says_so(table):
    X, y = table
    source = in_parts(X, y)
    source.memory_limit = 1000
    with pytest.raises(InputError, match=r"FCBF with strategy='mdl': expected room for whole col"):
        tamis.FCBF().fit(source)
    with pytest.raises(InputError, match="strategy='uniform', which needs no whole columns"):
        CODED[2].fit(source)
    source.memory_limit = 3000
    with pytest.raises(InputError, match="joint counts that fit the memory of 3,"):
        tamis.MRMR(measure="mutual_information", strategy="uniform", n_bins=80).fit(source)


def test_settings_that_do_not_go_together(table):
    X, y = table
    with pytest.raises(InputError, match="expected class labels for strategy='mdl'"):
        CODED[4].fit(in_parts(X, y + 0.5))
    infinite = X.copy()
    infinite[88, 2] = np.inf
    for selector in (tamis.MRMR(), CODED[0], CODED[2], tamis.FCBF(n_features_to_select=1)):
        with pytest.raises(InputError, match="got inf in column 2"):
            selector.fit(in_parts(infinite, y))
        with pytest.raises(InputError, match="13 constant or empty columns"):
            selector.fit(in_parts(np.ones_like(X), y))


def test_no_predominant_column_warns(table):
    X, y = table
    with pytest.warns(tamis.exceptions.SelectionWarning, match="at least 0.9 with the classes"):
        tamis.FCBF(threshold=0.9).fit(in_parts(X, y))


INFFS = [
    tamis.InfFS(),
    tamis.InfFS(alpha=0.2, relation="pearson"),
    tamis.InfFS(precision="single"),
    tamis.InfFS(precision="double", damping=0.5),
]
every_graph = pytest.mark.parametrize("selector", INFFS, ids=repr)


def agree_graph(selector, X, weight=None, **cut):
    expected = learned(selector.fit(X, sample_weight=weight))
    source = in_parts(X, None, weight, **cut)
    for found in (
        learned(selector.fit(source)),
        learned(fit_dask(selector, X, None, weight)),
    ):
        np.testing.assert_allclose(found["scores_"], expected["scores_"], rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(found["constant_"], expected["constant_"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("cut", ROWS)
def test_graphs_from_any_blocks(cut, table):
    part_rows, block_rows = ROWS[cut]
    agree_graph(INFFS[0], table[0], part_rows=part_rows, block_rows=block_rows)


@pytest.mark.sampled(1)
@every_graph
def test_graphs(selector, table):
    agree_graph(selector, table[0])


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [(1, N_COLUMNS), (45, 1), (N_ROWS, N_COLUMNS)])
def test_any_chunks_of_dask(chunks, table):
    X, y = table
    for selector in (tamis.MRMR(), tamis.FCBF()):
        expected = learned(selector.fit(X, y))
        names = CHECKED[type(selector).__name__]
        same(learned(fit_dask(selector, X, y, None, *chunks)), expected, names)
    expected = tamis.InfFS().fit(X).scores_
    found = fit_dask(tamis.InfFS(), X, None, None, *chunks).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.sampled(1)
@every_graph
def test_graphs_with_weights(selector, table):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, N_ROWS) * rng.uniform(0.5, 1.5, N_ROWS)
    agree_graph(selector, table[0], weight)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Counts the temporary files that are made, and knows where they would be."""
    from tamis.graph import _source_graph

    files = []
    make = _source_graph.tempfile.TemporaryFile

    def noted(*args, **options):
        if options.get("prefix") != "tamis-":  # numba, looking for a place
            return make(*args, **options)
        files.append(make(*args, dir=tmp_path, **options))
        return files[-1]

    monkeypatch.setattr(_source_graph.tempfile, "TemporaryFile", noted)
    yield files
    assert all(file.closed for file in files)
    assert not list(tmp_path.iterdir())


LITTLE = 12_000  # bytes: one column at a time, factors in a file


@pytest.mark.sampled(2)
@every_graph
@pytest.mark.parametrize("limit", ["source", "selector"])
def test_little_memory_uses_a_file(selector, limit, table, temporary):
    X, y = table
    expected = selector.fit(X).scores_
    source = in_parts(X, y)
    little = tamis.InfFS(**selector.get_params())
    if limit == "source":
        source.memory_limit = LITTLE
    else:
        little.set_params(memory_limit=LITTLE)
    found = little.fit(source)
    np.testing.assert_allclose(found.scores_, expected, rtol=1e-6, atol=1e-7)
    assert len(temporary) == 1
    assert found.plan_.side < N_COLUMNS or found.plan_.kind == "dense"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_relations_that_do_not_fit_are_made_anew(precision, temporary):
    X = np.random.default_rng(1).normal(size=(6, 60))
    expected = tamis.InfFS(precision=precision).fit(X).scores_
    selector = tamis.InfFS(precision=precision, memory_limit=3000)
    for found in (selector.fit(in_parts(X)), fit_dask(selector, X, None, None)):
        assert found.plan_.kind == "blocks"
        np.testing.assert_allclose(found.scores_, expected, rtol=1e-6)
    assert len(temporary) == 1


def test_enough_memory_uses_none(table, temporary):
    tamis.InfFS().fit(in_parts(table[0]))
    assert not temporary


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["reading", "product"])
def test_the_file_goes_when_the_fit_fails(error, where, table, temporary, monkeypatch):
    from tamis.graph import _source_graph

    class Failing(ArraySource):
        def blocks(self, part, columns=None):
            # The second block of columns, that is, once factors were written.
            if where == "reading" and columns is not None and columns[0] > 0:
                raise error("enough")
            yield from super().blocks(part, columns)

    def broken(self, rows, columns):
        raise error("enough")

    if where == "product":
        monkeypatch.setattr(_source_graph.FactorFile, "block", broken)
    source = Failing(table[0])
    source.memory_limit = LITTLE
    with pytest.raises(error, match="enough"):
        tamis.InfFS().fit(source)
    assert len(temporary) == 1


def test_graphs_that_need_all_rows_say_so(table):
    X, _ = table
    with pytest.raises(InputError, match="relation='mutual_information' expected a table in mem"):
        tamis.InfFS(relation="mutual_information").fit(in_parts(X))
    with pytest.raises(InputError, match=r"relation=<function .* expected a table in memory"):
        tamis.InfFS(relation=lambda a, b: a.T @ b).fit(in_parts(X))
    with pytest.raises(InputError, match="relation='mutual_information' expected a table in mem"):
        tamis.inf_fs_path(in_parts(X), relation="mutual_information")
    source = in_parts(X)
    source.memory_limit = 1000
    with pytest.raises(InputError, match="InfFS: expected room for whole columns"):
        tamis.InfFS().fit(source)
    with pytest.raises(InputError, match="13 constant or empty columns"):
        tamis.InfFS().fit(in_parts(np.ones_like(X)))


def test_a_callback_that_ends_the_factors_ends_the_fit(table, monkeypatch):
    monkeypatch.setattr(
        tamis.InfFS, "steps", lambda self, name, items, total: [] if name == "factors" else items
    )
    with pytest.raises(tamis.exceptions.TamisError, match="got 0 of 12 before a callback"):
        tamis.InfFS().fit(in_parts(table[0]))


@pytest.mark.slow
class TestTwoWorkers:
    """Processes of their own: collections of Dask, and files that every worker can read."""

    @pytest.mark.slow
    @pytest.mark.parametrize("selector", [tamis.MRMR(), CODED[0], CODED[2], tamis.FCBF()], ids=repr)
    def test_pairs(self, selector, table, dask_client):
        X, y = table
        names = CHECKED[type(selector).__name__]
        expected = learned(selector.fit(X, y))
        source = in_parts(X, y, part_rows=20)
        source.cluster = dask_client
        same(learned(selector.fit(source)), expected, names)
        with dask_client.as_current():
            chunks = dask_array.from_array(X, chunks=(30, 5)), dask_array.from_array(y, chunks=30)
            same(learned(selector.fit(*chunks)), expected, names)

    @pytest.mark.slow
    @pytest.mark.parametrize("memory_limit", [None, 20_000])
    def test_graphs(self, memory_limit, table, dask_client):
        X, _ = table
        selector = tamis.InfFS(memory_limit=memory_limit)
        expected = tamis.InfFS().fit(X).scores_
        source = in_parts(X, part_rows=20)
        source.cluster = dask_client
        found = selector.fit(source)
        np.testing.assert_allclose(found.scores_, expected, rtol=1e-6, atol=1e-7)
        with dask_client.as_current():
            found = selector.fit(dask_array.from_array(X, chunks=(30, 5)))
        np.testing.assert_allclose(found.scores_, expected, rtol=1e-6, atol=1e-7)

    def test_columns_that_do_not_fit_a_worker_say_so(self, table, dask_client):
        X, _ = table
        with dask_client.as_current(), pytest.raises(InputError, match="room for whole columns"):
            tamis.InfFS(memory_limit=1000).fit(dask_array.from_array(X, chunks=(30, 5)))

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("selector", [tamis.MRMR(), CODED[2], tamis.FCBF(), tamis.InfFS()])
    def test_the_data_stays_there(self, selector, dask_client, monkeypatch):
        from tornado.iostream import IOStream

        received, read = [], IOStream.read_from_fd

        def counting(stream, buffer):
            n_bytes = read(stream, buffer)
            received.append(n_bytes or 0)
            return n_bytes

        monkeypatch.setattr(IOStream, "read_from_fd", counting)
        X = dask_array.random.default_rng(0).normal(size=(20_000, 20), chunks=(5_000, 20))
        with dask_client.as_current():
            selector.fit(X, (X[:, 0] > 0).astype(int))
        assert 0 < sum(received) < X.nbytes / 10
