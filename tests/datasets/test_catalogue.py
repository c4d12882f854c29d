"""Every real file loads and is what it is known to be. Needs TAMIS_DATA."""

import numpy as np
import pytest
from scipy import sparse

from tamis.datasets import describe, list_datasets, load

# name: rows, columns, type after loading, number of classes, smallest class, train rows
KNOWN = {
    "colon": (62, 2000, "float32", 2, 22, None),
    "colon_disc": (62, 2000, "float32", 2, 22, None),
    "leukemia": (72, 7129, "float64", 2, 25, 38),
    "allaml": (72, 7129, "float32", 2, 25, None),
    "leukemia_3571": (72, 3571, "float32", 2, 25, None),
    "leukemia_disc": (72, 7070, "float32", 2, 25, None),
    "prostate": (102, 6033, "float32", 2, 50, None),
    "prostate_ge": (102, 5966, "float32", 2, 50, None),
    "lymphoma_45": (45, 4026, "float32", 2, 22, None),
    "lymphoma_62": (62, 4026, "float32", 3, 9, None),
    "lymphoma_96_disc": (96, 4026, "float32", 9, 2, None),
    "nci9_disc": (60, 9712, "float32", 9, 2, None),
    "lung_small_disc": (73, 325, "float32", 7, 5, None),
    "lung181": (181, 12533, "float32", 2, 31, None),
    "dlbcl": (77, 7129, "float64", 2, 19, None),
    "madelon": (2600, 500, "float32", 2, 1300, 2000),
    "arcene": (200, 10000, "float32", 2, 88, 100),
    "dexter": (600, 20000, "float32", 2, 300, 300),
    "dorothea": (1150, 100000, "float32", 2, 112, 800),
    "usps": (9298, 256, "float32", 10, 708, 7291),
    "mnist": (70000, 784, "float32", 10, 6313, 60000),
    "fashion_mnist": (20000, 784, "float32", 10, 2000, 10000),
    "cbcl_faces": (11449, 361, "float32", 2, 2901, 6977),
    "coil20": (1440, 1024, "float32", 20, 72, None),
    "orl": (400, 1024, "float32", 40, 10, None),
    "yale": (165, 1024, "float32", 15, 11, None),
    "warpar10p": (130, 2400, "float32", 10, 13, None),
    "mfeat": (2000, 649, "float32", 10, 200, None),
    "arrhythmia": (452, 279, "float32", 13, 2, None),
    "spambase": (4601, 57, "float32", 2, 1813, None),
    "movie_reviews": (2000, 19478, "float32", 2, 1000, None),
    "basehock": (1993, 4862, "float32", 2, 994, None),
    "relathe": (1427, 4322, "float32", 2, 648, None),
    "communities_crime": (1994, 122, "float32", None, None, None),
    "riboflavin": (71, 4088, "float32", None, None, None),
    "gasoline": (60, 401, "float32", None, None, None),
    "pumadyn32nm": (8192, 32, "float32", None, None, None),
}
NON_ZEROS = {
    "dexter": 56167,
    "dorothea": 1045512,
    "movie_reviews": 636059,
    "basehock": 134253,
    "relathe": 120000,
}


def test_the_table_above_covers_the_catalogue():
    assert sorted(KNOWN) == list_datasets()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_load(data_folder, name):
    n_samples, n_features, dtype, n_classes, smallest, n_train = KNOWN[name]
    data = load(name, download=False)
    assert data.name == name
    assert data.X.shape == (n_samples, n_features)
    assert data.X.dtype == dtype
    assert data.y.shape == (n_samples,)
    assert len(data.feature_names) == n_features
    assert {type(feature) for feature in data.feature_names} == {str}
    assert sparse.issparse(data.X) == (name in NON_ZEROS) == describe(name).sparse
    if n_classes is None:
        assert data.y.dtype == np.float32
        assert data.class_names is None
    else:
        labels, counts = np.unique(data.y, return_counts=True)
        assert (len(labels), counts.min()) == (n_classes, smallest)
        assert data.class_names is None or len(data.class_names) == n_classes
    if n_train is None:
        assert (data.split, data.train, data.test) == (None, None, None)
    else:
        assert data.train.sum() == n_train
        assert np.array_equal(data.test, ~data.train)


@pytest.mark.parametrize("name", sorted(NON_ZEROS))
def test_sparse_sets_are_csr(data_folder, name):
    X, _ = load(name, return_X_y=True, download=False)
    assert isinstance(X, sparse.csr_array)
    assert X.nnz == NON_ZEROS[name]
    assert X.data.min() > 0


@pytest.mark.parametrize(("name", "n_missing"), [("arrhythmia", 408), ("communities_crime", 36851)])
def test_missing_cells_stay_missing(data_folder, name, n_missing):
    X, _ = load(name, return_X_y=True, download=False)
    assert np.isnan(X).sum() == n_missing


def test_arrays_of_single_sets(data_folder):
    madelon = load("madelon", download=False)
    assert len(madelon.relevant) == 20
    assert madelon.relevant[[0, -1]].tolist() == [28, 493]
    mfeat = load("mfeat", download=False)
    assert [mfeat.view_names[number] for number in (0, 5)] == ["fou", "mor"]
    assert np.bincount(mfeat.view).tolist() == [76, 216, 64, 240, 47, 6]
    assert load("dlbcl", download=False).gems5469.sum() == 5469
    crime = load("communities_crime", download=False)
    assert crime.complete.sum() == 99
    assert not np.isnan(crime.X[:, crime.complete]).any()
    assert set(crime.fold.tolist()) == set(range(1, 11))
    assert load("movie_reviews", download=False).class_names == ["neg", "pos"]


def test_published_parts(data_folder):
    train, test = (load("leukemia", split=part, download=False) for part in ("train", "test"))
    assert np.bincount(train.y).tolist() == [27, 11]
    assert np.bincount(test.y).tolist() == [20, 14]
    X, y = load("madelon", split="test", return_X_y=True, download=False)
    assert X.shape == (600, 500)
    assert y.shape == (600,)


def test_repeated_gene_names_become_unique_columns(data_folder):
    pytest.importorskip("pandas")
    plain, framed = (load("colon", as_frame=frame, download=False) for frame in (False, True))
    assert len(set(plain.feature_names)) == 1911
    assert framed.X.columns.is_unique
    assert framed.X.columns[[1, 2]].tolist() == ["Hsa.13491", "Hsa.13491.1"]
    assert np.array_equal(framed.X.to_numpy(), plain.X)


def test_the_catalogue_notes_that_count(data_folder):
    colon = load("colon", download=False)
    assert len(colon.feature_names) - len(set(colon.feature_names)) == 89
    X = load("arrhythmia", download=False).X
    assert (np.nanmin(X, axis=0) == np.nanmax(X, axis=0)).sum() == 17
    assert np.isnan(X).any(axis=0).sum() == 5
