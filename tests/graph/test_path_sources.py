"""inf_fs_path of tables that are not in memory: the scores of single fits, in their memory."""

import json
import subprocess
import sys

import numpy as np
import pytest

from passes.array_source import ArraySource
from tamis import InfFS, inf_fs_path
from tamis.exceptions import InputError
from tamis.graph import feature_graph

ALPHAS = [0.0, 0.2, 0.5, 1.0]
LITTLE = 12_000  # bytes: factors in a file, and one walk at a time
OPTIONS = {
    "plain": {},
    "pearson": {"relation": "pearson", "damping": 0.5},
    "single": {"precision": "single"},
    "little memory": {"memory_limit": LITTLE},
    "blocks": {"memory_limit": 7_000, "precision": "double"},
}
every_setting = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def table(n_rows=40, n_columns=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)) * rng.choice([0.1, 1.0, 20.0], n_columns)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 3.0
    return X


def close(found, expected, tolerance=1e-6):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance / 10)


@pytest.mark.sampled(4)
@every_setting
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_the_scores_of_single_fits(options, weighted):
    X = table()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    found = inf_fs_path(ArraySource(X, None, weight), ALPHAS, **options)
    close(found, inf_fs_path(X, ALPHAS, sample_weight=weight, **options))
    for alpha, row in zip(ALPHAS, found, strict=True):
        fitted = InfFS(alpha=alpha, **options).fit(ArraySource(X, None, weight))
        close(row, fitted.scores_, 1e-6 if fitted.plan_.dtype == "float32" else 1e-10)


@pytest.mark.sampled(2)
@every_setting
def test_chunks_of_dask(options):
    dask_array = pytest.importorskip("dask.array")
    import dask

    X = table()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0], len(X))
    chunks = dask_array.from_array(X, chunks=(15, 7))
    with dask.config.set(scheduler="threads"):
        found = InfFS(**options).path(chunks, ALPHAS, sample_weight=weight)
    close(found, inf_fs_path(X, ALPHAS, sample_weight=weight, **options))


@pytest.mark.slow
def test_two_workers(dask_client):
    dask_array = pytest.importorskip("dask.array")
    X = table()
    source = ArraySource(X, part_rows=15)
    source.cluster = dask_client
    close(inf_fs_path(source, ALPHAS), inf_fs_path(X, ALPHAS))
    with dask_client.as_current():
        found = inf_fs_path(dask_array.from_array(X, chunks=(15, 7)), ALPHAS)
    close(found, inf_fs_path(X, ALPHAS))


def test_the_table_is_read_as_often_as_for_one_alpha():
    X = table()
    one, many = ArraySource(X), ArraySource(X)
    InfFS().fit(one)
    inf_fs_path(many, ALPHAS)
    assert many.reads == one.reads


def test_alphas_have_room_or_wait(monkeypatch):
    source, together = ArraySource(table()), []
    walk = feature_graph.FeatureGraph.walk

    def watched(graph, alphas, damping):
        together.append(len(alphas))
        return walk(graph, alphas, damping)

    monkeypatch.setattr(feature_graph.FeatureGraph, "walk", watched)
    inf_fs_path(source, ALPHAS)
    inf_fs_path(source, ALPHAS, memory_limit=3 * 2 * 8 * 19 * feature_graph.WALK_VECTORS)
    source.memory_limit = LITTLE
    inf_fs_path(source, ALPHAS)
    assert together == [4, 2, 2, 1, 1, 1, 1]


def test_a_checkpoint_goes_on_and_goes_away(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", 0.0)
    X, file = table(), tmp_path / "path.state"
    with pytest.raises(OSError, match="disk is gone"):
        inf_fs_path(ArraySource(X, checkpoint=file, fails_at=3), ALPHAS)
    assert file.exists()
    again = ArraySource(X, checkpoint=file)
    np.testing.assert_array_equal(inf_fs_path(again, ALPHAS), inf_fs_path(ArraySource(X), ALPHAS))
    assert [part for part, cells in again.reads if cells] == [3, 4, 5]
    assert not file.exists()


def test_nothing_is_learned():
    selector = InfFS()
    before = vars(selector).copy()
    selector.path(ArraySource(table()), ALPHAS)
    assert vars(selector) == before


def test_columns_that_never_vary():
    found = inf_fs_path(ArraySource(np.ones((9, 3))), [0.5])
    np.testing.assert_array_equal(found, np.zeros((1, 3)))


def test_what_is_refused():
    X = table()
    with pytest.raises(InputError, match="inside the scan, got sample_weight beside it"):
        inf_fs_path(ArraySource(X), sample_weight=np.ones(len(X)))
    with pytest.raises(InputError, match="relation='mutual_information' expected a table in mem"):
        inf_fs_path(ArraySource(X), relation="mutual_information")
    with pytest.raises(InputError, match="InfFS: expected room for whole columns"):
        inf_fs_path(ArraySource(X), memory_limit=1000)
    X[0, 2] = np.inf
    with pytest.raises(InputError, match="got inf in column 2"):
        inf_fs_path(ArraySource(X))


PROGRAM = """
import json, pathlib, sys
import numpy as np
import tamis

def peak():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

path, limit = sys.argv[1], int(sys.argv[2])
tamis.inf_fs_path(np.random.default_rng(0).normal(size=(20, 40)), precision="single")
tamis.inf_fs_path(tamis.scan(path, columns=list(range(20))), precision="single")
before = peak()
scores = tamis.inf_fs_path(tamis.scan(path, memory_limit=limit), precision="single")
print(json.dumps({"grown": peak() - before, "shape": scores.shape}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_many_alphas_stay_below_the_limit(tmp_path):
    limit, shape = 32 * 2**20, (60, 12_000)
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=shape))
    # The matrix of relations alone would take 549 MiB.
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "X.npy"), str(limit)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(out.stdout.splitlines()[-1])
    assert found["shape"] == [11, shape[1]]
    assert found["grown"] < limit
