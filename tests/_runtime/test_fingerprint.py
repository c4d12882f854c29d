"""Fingerprints: equal things have equal ones, in every process; others do not."""

import dataclasses
import functools
import hashlib
import json
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tamis import DFT, Fisher
from tamis._runtime import fingerprint as module
from tamis._runtime.fingerprint import (
    canonical,
    data_fingerprint,
    fingerprint,
    key_of,
    table_fingerprint,
)
from tamis.exceptions import InputError

X = np.array([[1.0, 0.0, 3.0], [4.0, 5.0, 0.0], [0.0, 8.0, 9.0]])
Y = np.array([0, 1, 1])


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@dataclasses.dataclass
class Setting:
    depth: int
    model: object = None


class Plain:
    def __init__(self, value):
        self.value = value


class Stubborn:
    """Cannot be pickled, but says what it is."""

    def __init__(self, text):
        self.text = text

    def __reduce__(self):
        raise TypeError("no")

    def __repr__(self):
        return self.text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        ("é", '"\\u00e9"'),
        (0.1, '{"float": "0.1"}'),
        (float("nan"), '{"float": "nan"}'),
        (np.float64(0.5), '{"float": "0.5"}'),
        (np.float32(0.5), '{"float": "0.5"}'),
        (np.int8(3), "3"),
        ((1, [2, "x"]), '[1, [2, "x"]]'),
        ({"b": 1, "a": 2}, '{"map": [["\\"a\\"", 2], ["\\"b\\"", 1]]}'),
        ({2, 1}, '{"set": ["1", "2"]}'),
        (DFT, '{"class": "tamis.split.dft.DFT"}'),
        (len, '{"function": "builtins.len"}'),
        (
            functools.partial(max, 1, default=2),
            '{"partial": [{"function": "builtins.max"}, [1], {"map": [["\\"default\\"", 2]]}]}',
        ),
    ],
)
def test_text_of_values(value, text):
    assert canonical(value) == text


def test_hashes_are_of_the_text():
    assert fingerprint(1, "x") == sha256(b'[1, "x"]')
    assert key_of(a=1) == sha256(b'{"map": [["\\"a\\"", 1]]}')


def test_arrays_by_shape_type_and_content():
    content = struct.pack("<2d", 1.5, 2.0)
    assert json.loads(canonical(np.array([1.5, 2.0]))) == {"array": f"(2,) <f8 {sha256(content)}"}
    words = sha256(b'["a", "b"]')
    for text in (np.array(["a", "b"]), np.array(["a", "b"], dtype=object)):
        assert json.loads(canonical(text)) == {"array": f"(2,) text {words}"}


def test_estimators_by_their_parameters_without_those_of_speed():
    assert canonical(Fisher(n_jobs=2)) == canonical(Fisher(n_jobs=1))
    assert canonical(Fisher(n_features_to_select=2)) != canonical(Fisher(n_features_to_select=3))
    found = json.loads(canonical(Setting(3, DFT(n_bins=7))))
    assert found["class"].endswith(".Setting")
    assert '["\\"depth\\"", 3]' in json.dumps(found["params"]).replace('\\\\"', '\\"')
    assert canonical(Setting(3, DFT(n_bins=7))) != canonical(Setting(3, DFT(n_bins=8)))


def adding(number):
    return lambda value: value + number


def test_functions_without_a_name_count_by_their_content():
    one, other = (lambda value: value + 1), (lambda value: value + 2)
    assert canonical(one) != canonical(other)
    assert canonical(adding(1)) == canonical(adding(1))
    assert canonical(adding(1)) != canonical(adding(2))
    assert json.loads(canonical(adding(5)))["closure"] == [5]


def test_other_objects_count_by_their_state():
    assert canonical(Plain(1)) == canonical(Plain(1))
    assert canonical(Plain(1)) != canonical(Plain(2))
    assert json.loads(canonical(Stubborn("me")))["state"] == sha256(b"me")


def test_data_by_hand():
    digest = hashlib.sha256(b"(3, 3) <f8 dense")
    digest.update(X.tobytes())
    digest.update(f"(3,) <i8 {sha256(struct.pack('<3q', 0, 1, 1))}".encode())
    assert data_fingerprint(X, Y) == digest.hexdigest()


def test_data_in_any_layout(monkeypatch):
    expected = data_fingerprint(X, Y)
    assert data_fingerprint(np.asfortranarray(X), Y) == expected
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)  # row by row
    assert data_fingerprint(X, Y) == expected
    assert data_fingerprint(X.astype(np.float32), Y) != expected
    assert data_fingerprint(X, Y[::-1]) != expected


def test_sparse_data_by_what_is_stored():
    matrix = sparse.csr_matrix(X)
    expected = data_fingerprint(matrix, Y)
    assert expected != data_fingerprint(X, Y)
    wide = sparse.csr_matrix(
        (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64))
    )
    assert data_fingerprint(wide, Y) == expected
    for part in ("data", "indices"):
        other = matrix.copy()
        getattr(other, part)[:2] = getattr(other, part)[1::-1]
        assert data_fingerprint(other, Y) != expected


def test_table_by_hand():
    column = hashlib.sha256(struct.pack("<2d", 1.0, 2.0)).digest()
    content, names = sha256(column), sha256(b'["x0"]')
    whole = sha256(json.dumps([2, 1, names, content]).encode())
    assert table_fingerprint([[1], [2]]) == {
        "n_rows": 2, "n_columns": 1, "names_sha256": names, "content_sha256": content,
        "sha256": whole,
    }  # fmt: skip


def test_the_same_numbers_in_any_table(monkeypatch):
    expected = table_fingerprint(X)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    same = [X.astype(np.int8), np.asfortranarray(X), sparse.csr_matrix(X), frame, X.tolist()]
    assert all(table_fingerprint(table) == expected for table in same)
    monkeypatch.setattr(module, "TILE", 2)
    assert all(table_fingerprint(table) == expected for table in same)
    assert table_fingerprint(X + 1)["sha256"] != expected["sha256"]
    named = table_fingerprint(X, names=["a", "b", "c"])
    assert named["content_sha256"] == expected["content_sha256"]
    assert named["names_sha256"] == sha256(b'["a", "b", "c"]')


def test_missing_cells_and_zeros_have_one_form():
    holes = np.array([[np.nan, 1.0], [2.0, -0.0]])
    frame = pd.DataFrame({"x0": pd.array([None, 2], dtype="Int64"), "x1": [True, False]})
    assert table_fingerprint(holes) == table_fingerprint(frame)


def test_text_cells():
    content = hashlib.sha256(hashlib.sha256(b'["a", null]').digest()).hexdigest()
    words = ["a", None]
    for frame in (pd.DataFrame({"a": words}), pl.DataFrame({"a": words}), pa.table({"a": words})):
        assert table_fingerprint(frame)["content_sha256"] == content
    for dtype in ("string", "object", "category"):
        frame = pd.DataFrame({"a": pd.Series(words, dtype=dtype)})
        assert table_fingerprint(frame)["content_sha256"] == content
    content = hashlib.sha256(hashlib.sha256(b'["a", "b"]').digest()).hexdigest()
    assert table_fingerprint(np.array([["a"], ["b"]]))["content_sha256"] == content


def test_a_table_has_two_dimensions():
    with pytest.raises(InputError, match=r"two dimensions, got shape \(3,\)"):
        table_fingerprint(np.arange(3))
