"""The same numbers from memory and from a table that is read block by block."""

import numpy as np
import pytest
from sklearn.base import clone

import tamis
from passes.array_source import ArraySource
from tamis.exceptions import InputError
from tamis.passes.stream import read_ahead

N_ROWS, N_COLUMNS = 90, 11


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 0.8 * y[:, None] * (np.arange(N_COLUMNS) % 3 == 0)
    X[:, 5] = 4.0
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


CLASSES = {
    "dft": tamis.DFT(),
    "dft balanced": tamis.DFT(class_weight="balanced"),
    "ilfs": tamis.ILFS(),
    "fisher": tamis.Fisher(),
    "fisher weighted": tamis.Fisher(form="weighted"),
    "anovaf": tamis.AnovaF(),
    "correlation": tamis.Correlation(),
    "variance": tamis.Variance(),
    "mutual information": tamis.MutualInformation(),
    "posterior mean": tamis.MutualInformation(estimator="posterior_mean"),
    "information gain": tamis.InformationGain(),
}
NUMBERS = {
    "rft": tamis.RFT(),
    "anovaf": tamis.AnovaF(),
    "correlation": tamis.Correlation(),
    "mutual information": tamis.MutualInformation(n_bins=5),
    "as told": tamis.MutualInformation(n_bins=5, task="regression"),
}
CUTS = [(1, 1), (7, 3), (N_ROWS, N_ROWS), (200, 7)]


def agree(selector, memory, source):
    if selector.n_features_to_select == "auto":  # rows read in blocks cannot always be permuted
        selector = clone(selector).set_params(n_features_to_select="elbow")
    expected = selector.fit(*memory).scores_.copy()
    order = selector.order_.copy()
    found = selector.fit(source)
    np.testing.assert_allclose(found.scores_, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(found.order_, order)
    return found


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("part_rows", "block_rows"), CUTS)
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, part_rows, block_rows, table):
    X, y = table
    labels = np.array(["no", "yes", "maybe"])[y]
    cut = {"part_rows": part_rows, "block_rows": block_rows}
    found = agree(CLASSES[name], (X, labels), ArraySource(X, labels, **cut))
    if hasattr(found, "classes_"):
        assert found.classes_.tolist() == ["maybe", "no", "yes"]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name, table):
    X, y = table
    z = 1e6 + y + np.linspace(0, 1, N_ROWS)
    agree(NUMBERS[name], (X, z), ArraySource(X, z))


@pytest.mark.parametrize("name", CLASSES)
def test_weights(name, table):
    X, y = table
    weight = np.random.default_rng(0).integers(0, 3, N_ROWS).astype(float)
    agree(CLASSES[name], (X, y, weight), ArraySource(X, y, weight))


def test_whole_numbers_are_classes_and_fractions_are_not(table):
    X, y = table
    assert tamis.AnovaF().fit(ArraySource(X, y)).classes_.tolist() == [0, 1, 2]
    # The fraction is in the last block only.
    z = y + 0.5 * (np.arange(N_ROWS) == N_ROWS - 1)
    found = agree(tamis.AnovaF(), (X, z), ArraySource(X, z, part_rows=5))
    assert not hasattr(found, "classes_")


def test_single_precision_stays(table):
    X, y = table
    X = X.astype(np.float32)
    agree(tamis.DFT(), (X, y), ArraySource(X, y))


def test_names_and_narrower_results(table):
    X, y = table
    names = tuple(f"c{j}" for j in range(N_COLUMNS))
    selector = tamis.DFT(n_features_to_select=2).fit(ArraySource(X, y, names=names))
    assert selector.n_features_in_ == N_COLUMNS
    assert set(selector.get_feature_names_out()) <= set(names)
    source = ArraySource(X, y, names=names)
    np.testing.assert_array_equal(selector.transform(source).X, X[:, selector.support_])
    with pytest.raises(InputError, match="the 11 columns that were fitted"):
        selector.transform(ArraySource(X[:, ::-1], y, names=names[::-1]))


def test_reading_is_as_often_as_needed(table):
    X, y = table
    source = ArraySource(X, y, part_rows=45)
    tamis.Fisher().fit(source)
    assert source.reads == [(0, False), (1, False), (0, True), (1, True)]


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (tamis.ReliefF(), "expected a table in memory, got ArraySource"),
        (tamis.MutualInformation(estimator="knn"), "estimator='knn' expected a table in memory"),
        (tamis.Correlation(kind="spearman"), "kind='spearman' expected a table in memory"),
        (
            tamis.DFT(n_features_to_select=tamis.cutoff.PermutationNull(0.1)),
            "expected a rule that needs only scores",
        ),
    ],
)
def test_what_needs_all_rows_says_so(selector, message, table):
    with pytest.raises(InputError, match=message):
        selector.fit(ArraySource(*table))


def test_target_and_weights_belong_to_the_source(table):
    X, y = table
    with pytest.raises(InputError, match="requires a target, but the scan has none"):
        tamis.DFT().fit(ArraySource(X))
    with pytest.raises(InputError, match="got y beside it"):
        tamis.DFT().fit(ArraySource(X, y), y)
    with pytest.raises(InputError, match="got sample_weight beside it"):
        tamis.DFT().fit(ArraySource(X, y), sample_weight=np.ones(N_ROWS))


def test_bad_cells_are_found_and_named(table):
    X, y = table
    missing = y.astype(object)
    missing[25] = None
    with pytest.raises(
        InputError, match=r"first in row 1.*In array, part 3, counted from its row 3"
    ):
        tamis.DFT().fit(ArraySource(X, missing))
    with pytest.raises(InputError, match=r"not negative, got -1.0 in row 0. .In array, part 12"):
        tamis.DFT().fit(ArraySource(X, y, np.where(np.arange(N_ROWS) == 84, -1.0, 1.0)))
    with pytest.raises(InputError, match="at least two classes, got one class"):
        tamis.DFT().fit(ArraySource(X, np.zeros(N_ROWS, int)))
    with pytest.raises(InputError, match="a target that varies"):
        tamis.RFT().fit(ArraySource(X, np.full(N_ROWS, 0.5)))
    infinite = X.copy()
    infinite[88, 2] = np.inf
    with pytest.raises(InputError, match="got inf in column 2"):
        tamis.DFT().fit(ArraySource(infinite, y))
    mixed = np.array([1] * 50 + ["a"] * 40, dtype=object)
    with pytest.raises(InputError, match="labels of one type"):
        tamis.DFT().fit(ArraySource(X, mixed))


class Stopped(Exception):
    pass


def test_a_checkpoint_goes_on_and_ends_the_same(table, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", 0.0)
    X, y = table
    file = tmp_path / "scan.state"
    expected = tamis.ILFS().fit(ArraySource(X, y)).scores_
    broken = ArraySource(X, y, checkpoint=file, fails_at=4)
    with pytest.raises(OSError, match="disk is gone"):
        tamis.ILFS().fit(broken)
    assert file.exists()
    again = ArraySource(X, y, checkpoint=file)
    found = tamis.ILFS().fit(again).scores_
    np.testing.assert_array_equal(found, expected)
    first_walk = [part for part, cells in again.reads if cells][: 13 - 4]
    assert first_walk == list(range(4, 13))
    assert not file.exists()


def test_a_checkpoint_of_another_fit_or_file_is_refused(table, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", 0.0)
    X, y = table
    file = tmp_path / "scan.state"
    with pytest.raises(OSError, match="disk is gone"):
        tamis.DFT().fit(ArraySource(X, y, checkpoint=file, fails_at=4))
    with pytest.raises(InputError, match="belongs to a fit with other data or parameters"):
        tamis.DFT(n_bins=8).fit(ArraySource(X, y, checkpoint=file))
    with pytest.raises(InputError, match="belongs to a fit with other data or parameters"):
        tamis.DFT().fit(ArraySource(X + 1, y, checkpoint=file))
    file.write_bytes(b"something else")
    with pytest.raises(InputError, match="got something else"):
        tamis.DFT().fit(ArraySource(X, y, checkpoint=file))
    assert file.read_bytes() == b"something else"


def test_an_interrupted_walk_keeps_whole_blocks(table):
    X, y = table

    class Interrupted(ArraySource):
        def blocks(self, part, columns=None):
            if part == 4 and columns is None and len(self.reads) > 20:
                raise KeyboardInterrupt
            yield from super().blocks(part, columns)

    selector = tamis.Fisher()
    with (
        pytest.warns(tamis.exceptions.SelectionWarning, match="stopped before the last row"),
        pytest.raises(KeyboardInterrupt),
    ):
        selector.fit(Interrupted(X, y, part_rows=5))
    np.testing.assert_allclose(selector.scores_, tamis.Fisher().fit(X[:20], y[:20]).scores_)


def test_the_reader_ends_when_nobody_listens(table):
    import threading

    X, y = table
    items = read_ahead(ArraySource(X, y, part_rows=1), 0, None)
    next(items)
    items.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("tamis-read")]
