"""Fixtures of the data set tests: the real files, and a tiny set that stands in for them."""

import os
from pathlib import Path

import numpy as np
import pytest

from tamis.datasets import _catalogue
from tamis.datasets._catalogue import DatasetInfo, OpenMLTwin

TINY_X = np.array(
    [[3, 10, -4], [0, 20, 7], [5, 10, 1], [2, 20, -9], [8, 10, 0], [1, 20, 6]], dtype=np.int16
)
TINY_Y = np.array([-1, 1, 1, -1, 1, 1], dtype=np.int8)


@pytest.fixture
def data_folder():
    folder = os.environ.get("TAMIS_DATA")
    if not folder:
        pytest.skip("TAMIS_DATA is not set: the real data files are needed")
    return Path(folder)


@pytest.fixture
def tiny(monkeypatch):
    """A catalogued set of six rows and three columns; its OpenML twin codes the labels anew."""
    info = DatasetInfo(
        name="tiny",
        n_samples=6,
        n_features=3,
        domain="tables",
        stored="int16",
        magnitude=float(np.abs(TINY_X.astype(float)).sum()),
        classes={-1: 2, 1: 4},
        split_sizes=(4, 2),
        openml=OpenMLTwin(7, "Tiny", labels={"no": -1, "yes": 1}),
    )
    monkeypatch.setitem(_catalogue.CATALOGUE, "tiny", info)
    return info


@pytest.fixture
def tiny_arrays():
    return {
        "X": TINY_X.copy(),
        "y": TINY_Y.copy(),
        "split": np.array([0, 0, 1, 0, 1, 0], dtype=np.int8),
        "fold": np.arange(6, dtype=np.int8),
        "feature_names": np.array(["a", "b", "a"]),
        "class_names": np.array(["low", "high"]),
        "relevant": np.array([True, False, True]),
        "view": np.array([0, 0, 1]),
    }


@pytest.fixture
def tiny_file(tmp_path, monkeypatch, tiny, tiny_arrays):
    """The tiny set as a file, in the folder that TAMIS_DATA names."""
    path = tmp_path / "data" / "tiny.npz"
    path.parent.mkdir()
    np.savez_compressed(path, **tiny_arrays)
    monkeypatch.setenv("TAMIS_DATA", str(path.parent))
    return path
