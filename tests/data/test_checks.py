"""From what a user passes to arrays, or a message that helps."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import tamis
from tamis.data import checks, labels, target
from tamis.data.values import check_weight
from tamis.exceptions import ColumnTypeError, InputError

NAN = np.nan
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def table(X):
    """The checked table, and the names that were found."""
    selector = tamis.DFT()
    checked = checks.check_table(selector, X)
    return checked, checks.names_of(selector)


def assert_table(X, expected, names=None):
    checked, found = table(X)
    np.testing.assert_array_equal(checked, expected)
    assert checked.dtype.kind == "f"
    assert (None if found is None else list(found)) == names


class TestTable:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, bool])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_arrays_of_numbers_are_not_copied(self, dtype, order):
        X = np.array([[0, 1], [1, 1], [0, 0]], dtype=dtype, order=order)
        assert np.shares_memory(table(X)[0], X)
        assert table(X)[0].dtype == dtype

    def test_infinite_values_are_left_to_the_scoring(self):
        assert_table(np.array([[np.inf, NAN]]), [[np.inf, NAN]])

    def test_lists_are_fine(self):
        np.testing.assert_array_equal(table([[1, 2], [3, 4]])[0], [[1, 2], [3, 4]])

    @pytest.mark.parametrize("missing", [None, NAN, pd.NA, pd.NaT, decimal.Decimal("nan")])
    def test_missing_objects_become_nan(self, missing):
        assert_table(np.array([[1, missing], [True, 2.5]], dtype=object), [[1, NAN], [1, 2.5]])

    def test_none_in_a_list_becomes_nan(self):
        assert_table([[1, None], [2, 3]], [[1, NAN], [2, 3]])

    def test_numbers_that_are_objects_become_floats(self):
        X = np.array([[decimal.Decimal("0.5"), np.int8(3)], [7, True]], dtype=object)
        assert_table(X, [[0.5, 3], [7, 1]])

    @pytest.mark.parametrize(
        "column",
        [
            pd.array([1, None, 0], dtype="Int64"),
            pd.array([1, None, 0], dtype="Float64"),
            pd.array([True, None, False], dtype="boolean"),
            pd.array([1, None, 0], dtype="int64[pyarrow]"),
            pd.array([True, None, False], dtype="bool[pyarrow]"),
            pd.array([1, None, 0], dtype=object),
            pd.array([1, pd.NA, 0], dtype=object),
            pd.array([True, None, False], dtype=object),
        ],
        ids=lambda column: str(column.dtype),
    )
    def test_pandas_columns_with_missing_values(self, column):
        frame = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": column})
        assert_table(frame, [[1.5, 1], [2.5, NAN], [3.5, 0]], ["a", "b"])
        assert_table(frame[["b"]], [[1], [NAN], [0]], ["b"])

    @pytest.mark.parametrize("frame", [pl.DataFrame, pa.table], ids=["polars", "arrow"])
    def test_nulls_become_nan_and_names_are_kept(self, frame):
        X = frame({"n": [1, None, 3], "x": [0.5, None, 1.5], "b": [True, None, False]})
        assert_table(X, [[1, 0.5, 1], [NAN, NAN, NAN], [3, 1.5, 0]], ["n", "x", "b"])

    @pytest.mark.parametrize(
        "X",
        [
            pd.DataFrame({"a": [1, 2], "z": [None, None]}),
            pd.DataFrame({"a": [1, 2], "z": pd.array([None, None], dtype="str")}),
            pl.DataFrame({"a": [1, 2], "z": [None, None]}),
            pl.DataFrame({"a": [1, 2], "z": [None, None]}, schema={"a": pl.Int8, "z": pl.String}),
            pa.table({"a": [1, 2], "z": pa.nulls(2)}),
            pa.table({"a": [1, 2], "z": pa.nulls(2, pa.string())}),
        ],
        ids=["pandas", "pandas text", "polars", "polars text", "arrow", "arrow text"],
    )
    def test_a_column_of_nothing_but_nulls(self, X):
        assert_table(X, [[1, NAN], [2, NAN]], ["a", "z"])

    @every_frame
    def test_whole_numbers_and_booleans(self, frame):
        checked, names = table(frame({"n": [1, 2], "b": [True, False]}))
        np.testing.assert_array_equal(np.asarray(checked, dtype=float), [[1, 1], [2, 0]])
        assert list(names) == ["n", "b"]

    def test_pandas_columns_without_text_names_have_none(self):
        assert table(pd.DataFrame([[1.0, 2.0]]))[1] is None

    def test_a_csr_matrix_is_not_copied(self):
        X = sparse.csr_array(np.eye(3))
        assert np.shares_memory(table(X)[0].data, X.data)

    @pytest.mark.parametrize("form", [sparse.csc_array, sparse.coo_matrix, sparse.lil_array])
    def test_other_sparse_matrices_become_csr(self, form):
        checked, _ = table(form(np.eye(3)))
        assert checked.format == "csr"
        np.testing.assert_array_equal(checked.toarray(), np.eye(3))

    def test_a_cell_that_is_stored_twice_is_the_sum(self):
        data, indices, indptr = np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])
        X = sparse.csr_array((data, indices, indptr), shape=(2, 2))
        checked, _ = table(X)
        assert checked.data.tolist() == [3.0, 5.0]
        assert X.data.tolist() == [1.0, 2.0, 5.0]
        dense = tamis.DFT(n_features_to_select="all").fit(X.toarray(), [0, 1])
        np.testing.assert_array_equal(
            tamis.DFT(n_features_to_select="all").fit(X, [0, 1]).thresholds_, dense.thresholds_
        )


class TestBadTable:
    @every_frame
    @pytest.mark.parametrize(
        ("words", "shown"),
        [
            ([f"comment {j % 20}" for j in range(24)], "free text, 20 different values in 24 rows"),
            ([f"patient {j}" for j in range(24)], "identifier, all 24 values differ"),
        ],
    )
    def test_text_is_named_with_the_remedy(self, frame, words, shown):
        X = frame({"age": np.arange(24.0), "note": words})
        with pytest.raises(ColumnTypeError) as caught:
            tamis.DFT().fit(X, np.arange(24) % 2)
        message = str(caught.value)
        assert message.startswith("DFT: expected columns of numbers, categories or dates, got")
        assert f"column 'note' with {shown}" in message
        assert "OrdinalEncoder" in message

    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (pd.array([1, "b"], dtype=object), "'b'"),
            (pd.period_range("2020", periods=2), "period"),
            (pl.Series([[1], [2]]), "List"),
            (pl.Series([b"a", b"b"]), "Binary"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_other_kinds_of_columns(self, column, kind):
        frame = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
        with pytest.raises(ColumnTypeError, match=f"DFT: .* got column 'when' with .*{kind}"):
            table(frame({"x": [1.0, 2.0], "when": column}))

    @pytest.mark.parametrize(
        ("X", "column", "value"),
        [
            (np.array([[1, "a"], [2, "b"]], dtype=object), 1, "'a'"),
            (np.array([[1, 2, 3], [None, "4x", 5]], dtype=object), 1, "'4x'"),
            ([[1.0, "a"], [2.0, "b"]], 1, "'a'"),
            (np.array([["1", "x"], ["2", "3"]]), 1, "'x'"),
            (np.array([["1", "2"]]), 0, "'1'"),
            (np.array([[b"1", b"2"]]), 0, "b'1'"),
            (np.array([["2020", "NaT"]], dtype="datetime64[s]"), 0, "datetime64"),
            (np.array([[1, 2]], dtype="timedelta64[s]"), 0, "timedelta64"),
        ],
    )
    def test_text_in_arrays_is_named_by_its_column(self, X, column, value):
        with pytest.raises(ColumnTypeError, match=f"DFT: .* got column {column} with .*{value}"):
            table(X)

    @pytest.mark.parametrize(
        "X",
        [  # polars refuses duplicate names by itself
            pd.DataFrame(np.ones((2, 3)), columns=["age", "x", "age"]),
            pa.Table.from_arrays([pa.array([1, 2])] * 3, names=["age", "x", "age"]),
        ],
        ids=["pandas", "arrow"],
    )
    def test_duplicate_names(self, X):
        with pytest.raises(InputError, match="DFT: expected every column name once, got 'age' 2 t"):
            table(X)

    def test_infinite_values_name_the_column(self):
        X = pd.DataFrame({"a": [1.0, 2.0], "b": [np.inf, 1.0], "c": [-np.inf, 2.0]})
        with pytest.raises(InputError) as caught:
            tamis.DFT().fit(X, [0, 1])
        message = str(caught.value)
        assert message.startswith("DFT: expected finite values or NaN, got inf in column 'b'")
        assert " and 1 more. Replace infinite values by NaN" in message

    @pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
    def test_infinite_values_without_names(self, form):
        with pytest.raises(InputError, match=r"RFT: .* got inf in column 1\. Replace"):
            tamis.RFT().fit(form([[1.0, -np.inf], [2.0, 3.0]]), [0.0, 1.0])

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.ones(3), "Expected 2D array, got 1D"),
            (np.ones((2, 2, 2)), "dim 3, while dim <= 2 is required by DFT"),
            (np.ones((0, 3)), "0 sample.* minimum of 1 is required by DFT"),
            (np.ones((3, 0)), "0 feature.* minimum of 1 is required by DFT"),
            (sparse.csr_array((0, 3)), "0 sample.* minimum of 1 is required by DFT"),
            (pd.DataFrame({"a": []}), "0 sample.* minimum of 1 is required by DFT"),
            (np.array([[1j, 2], [3, 4]]), "Complex data not supported"),
            (sparse.csr_array(np.array([[1j, 2]])), "Complex data not supported"),
            (pd.Series([1.0, 2.0]), "Expected a 2-dimensional container"),
            (None, "Expected 2D array"),
            ("table.csv", "Expected 2D array"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_is_no_table(self, X, message):
        with pytest.raises(ValueError, match=message):
            table(X)

    def test_names_must_agree_later(self):
        X = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
        selector = tamis.DFT(n_features_to_select=1).fit(X, [0, 1])
        with pytest.raises(ValueError, match="feature names"):
            selector.transform(X.rename(columns={"b": "c"}))


class TestTarget:
    @pytest.mark.parametrize(
        "y",
        [
            [1, 2, 1],
            (1, 2, 1),
            np.array([1, 2, 1]),
            pd.Series([1, 2, 1], index=[5, 6, 7]),
            pd.array([1, 2, 1], dtype="Int64"),
            pl.Series([1, 2, 1]),
            pa.array([1, 2, 1]),
            pa.chunked_array([[1, 2], [1]]),
        ],
        ids=lambda y: type(y).__module__ + "." + type(y).__name__,
    )
    def test_anything_that_is_one_column(self, y):
        np.testing.assert_array_equal(labels.check_target(y, 3, "DFT"), [1, 2, 1])

    def test_a_column_vector_is_flattened_with_a_warning(self):
        with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
            y = labels.check_target(np.array([[1], [2]]), 2, "DFT")
        assert y.shape == (2,)

    def test_none(self):
        with pytest.raises(InputError, match=r"DFT: requires y to be passed.*second argument"):
            tamis.DFT().fit([[0.0], [1.0]])

    def test_wrong_length(self):
        message = "DFT: expected a target with 2 values, one per row of X, got 3"
        with pytest.raises(InputError, match=message):
            tamis.DFT().fit([[0.0], [1.0]], [0, 1, 0])

    @pytest.mark.parametrize("y", [np.zeros((2, 2)), np.zeros((2, 1, 1)), 1.0])
    def test_wrong_shape(self, y):
        with pytest.raises(InputError, match=r"DFT: expected a 1d target, got shape"):
            labels.check_target(y, 2, "DFT")

    @pytest.mark.parametrize(
        "y",
        [
            [0.0, NAN, 1.0],
            np.array(["a", None, "b"], dtype=object),
            np.array(["a", NAN, "b"], dtype=object),
            np.array([1, pd.NA, 2], dtype=object),
            pd.Series([1, None, 2], dtype="Int64"),
            pd.Series(["a", None, "b"]),
            pd.Series([True, None, False], dtype="boolean"),
            pd.Series(["a", None, "b"], dtype="category"),
            pl.Series(["a", None, "b"]),
            pl.Series([1, None, 2]),
            pa.array(["a", None, "b"]),
            np.array(["2020", "NaT", "2021"], dtype="datetime64[D]"),
        ],
    )
    def test_missing_values_say_how_many_and_where(self, y):
        with pytest.raises(InputError, match=r"in 1 of 3 rows, the first in row 1\. Drop these"):
            labels.check_target(y, 3, "DFT")


class TestClasses:
    @pytest.mark.parametrize(
        ("y", "classes", "codes"),
        [
            ([3, 1, 3], [1, 3], [1, 0, 1]),
            ([-5, 7, -5], [-5, 7], [0, 1, 0]),
            ([10**12, 0, 10**12], [0, 10**12], [1, 0, 1]),
            ([2.0, 0.0, 2.0], [0.0, 2.0], [1, 0, 1]),
            ([True, False, True], [False, True], [1, 0, 1]),
            (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
            (np.array(["b", "a", "b"], dtype=object), ["a", "b"], [1, 0, 1]),
            (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"], [1, 0, 1]),
            (pa.array(["b", "a", "b"]), ["a", "b"], [1, 0, 1]),
            (pa.array([True, False, True]), [False, True], [1, 0, 1]),
            (np.array([2**63 + 1, 5, 5], dtype=np.uint64), [5, 2**63 + 1], [1, 0, 0]),
            (np.array([6, 5, 6], dtype=np.uint64) + 2**63, [2**63 + 5, 2**63 + 6], [1, 0, 1]),
            (np.array([1, 0, 1], dtype=np.uint64), [0, 1], [1, 0, 1]),
            (np.array([-(2**63), -(2**63) + 2, -(2**63)]), [-(2**63), -(2**63) + 2], [0, 1, 0]),
        ],
    )
    def test_labels_and_codes(self, y, classes, codes):
        found, coded = labels.check_classes(y, 3, "DFT")
        assert found.tolist() == classes
        assert coded.tolist() == codes
        assert coded.dtype == np.int32

    def test_codes_are_those_of_unique(self):
        rng = np.random.default_rng(0)
        for low, high in [
            (0, 3),
            (-100, 100),
            (10**6, 10**6 + 50),
            (0, 10**9),
            (-(10**15), 10**15),
        ]:
            for dtype in (np.int64, np.int32, np.uint16, np.int8):
                y = rng.integers(low, high, 80).astype(dtype)
                classes, codes = np.unique(y, return_inverse=True)
                found, coded = checks.encode_labels(y)
                assert found.dtype == dtype
                np.testing.assert_array_equal(found, classes)
                np.testing.assert_array_equal(coded, codes)

    @pytest.mark.parametrize(
        "y", [[3, 1, 3], [True, False, True], ["b", "a", "c"], [b"x", b"y", b"x"]]
    )
    def test_plain_labels_are_read_as_any_others(self, y):
        y = np.array(y)
        expected = target.Target.of(y.astype(object), "classification", None, 3, "DFT")
        classes, codes, values = checks.plain_classes(y, "classification", None, 3)
        assert classes.tolist() == expected.classes.tolist()
        np.testing.assert_array_equal(codes, expected.codes)
        assert values is None

    @pytest.mark.parametrize(
        "y", [[1, 1, 1], [1, 2], [[1], [2], [3]], [0.0, 1.0, 0.0], [None, 1, 2], None]
    )
    def test_other_targets_are_not_plain(self, y):
        y = y if y is None else np.array(y)
        assert checks.plain_classes(y, "classification", None, 3) is None

    def test_continuous_numbers_are_for_regression(self):
        with pytest.raises(InputError, match=r"got continuous numbers such as .*0\.5.*tamis\.RFT"):
            tamis.DFT().fit([[0.0], [1.0]], [0.5, 1.0])

    def test_infinity_is_no_class(self):
        with pytest.raises(InputError, match="DFT: expected a target of classes, got inf in row 1"):
            tamis.DFT().fit([[0.0], [1.0]], [0.0, np.inf])

    def test_mixed_labels(self):
        y = np.array([1, "a", 2.5], dtype=object)
        message = "DFT: expected labels of one type, got float and int and str. Convert them with"
        with pytest.raises(InputError, match=message):
            tamis.DFT().fit([[0.0], [1.0], [2.0]], y)

    @pytest.mark.parametrize("dtype", ["datetime64[D]", "timedelta64[D]", complex])
    def test_other_kinds(self, dtype):
        with pytest.raises(InputError, match="DFT: expected a target of classes, got dtype"):
            labels.check_classes(np.array([1, 2]).astype(dtype), 2, "DFT")

    @pytest.mark.parametrize("y", [[7, 7], ["a", "a"], [True, True]])
    def test_one_class(self, y):
        with pytest.raises(
            InputError, match="DFT: expected a target with at least two classes, go"
        ):
            tamis.DFT().fit([[0.0], [1.0]], y)

    def test_one_class_with_weight(self):
        with pytest.raises(InputError, match="at least two classes, got one class"):
            tamis.DFT().fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[0, 1, 1])


class TestNumbers:
    @pytest.mark.parametrize(
        "y",
        [
            [1, 0, 1],
            [True, False, True],
            np.array([1, 0, 1], dtype=np.float32),
            np.array([decimal.Decimal(1), 0, 1.0], dtype=object),
            pd.Series([1.0, 0.0, 1.0], dtype="Float64"),
            pl.Series([1, 0, 1]),
        ],
    )
    def test_numbers_become_float64(self, y):
        values = target.check_numbers(y, 3, "RFT")
        assert values.dtype == np.float64
        assert values.tolist() == [1.0, 0.0, 1.0]

    @pytest.mark.parametrize("y", [["a", "b"], [1j, 2j]])
    def test_other_kinds(self, y):
        with pytest.raises(InputError, match=r"RFT: expected a numeric target, got dtype .*DFT"):
            tamis.RFT().fit([[0.0], [1.0]], y)

    def test_text_among_objects_is_shown(self):
        y = np.array([1.0, "lots"], dtype=object)
        with pytest.raises(InputError, match="RFT: expected a numeric target, got 'lots' among"):
            tamis.RFT().fit([[0.0], [1.0]], y)

    @pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200, -1e151])
    def test_values_without_a_finite_square(self, value):
        with pytest.raises(InputError, match="RFT: expected finite target values below 1e150, got"):
            tamis.RFT().fit([[0.0], [1.0]], [0.0, value])

    def test_a_target_that_does_not_vary(self):
        with pytest.raises(InputError, match="RFT: expected a target that varies, got"):
            tamis.RFT().fit([[0.0], [1.0]], [3.0, 3.0])


class TestWeight:
    def test_none_stays_none(self):
        assert check_weight(None, 3, "DFT") is None

    @pytest.mark.parametrize(
        "weight",
        [
            [1, 0, 2.5],
            np.array([1, 0, 2.5], dtype=np.float32),
            pd.Series([1, 0, 2.5], index=[7, 8, 9]),
            pd.array([1, 0, 2.5], dtype="Float64"),
            pl.Series([1.0, 0.0, 2.5]),
            pa.array([1, 0, 2.5]),
        ],
        ids=lambda weight: type(weight).__module__,
    )
    def test_numbers_become_float64(self, weight):
        checked = check_weight(weight, 3, "DFT")
        assert checked.dtype == np.float64
        assert checked.tolist() == [1.0, 0.0, 2.5]

    def test_a_single_number_counts_for_all(self):
        assert check_weight(2, 3, "DFT").tolist() == [2.0, 2.0, 2.0]

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            ([1, 2], r"one sample_weight per row of X \(3\), got shape \(2,\)"),
            ([[1], [2], [3]], r"one sample_weight per row of X \(3\), got shape \(3, 1\)"),
            ([1, -0.5, 1], r"sample_weight to be finite and not negative, got .*-0\.5"),
            ([1, NAN, 1], r"sample_weight to be finite and not negative, got .*nan"),
            ([1, np.inf, 1], r"sample_weight to be finite and not negative, got .*inf"),
            ([1, None, 1], r"sample_weight to be finite and not negative, got .*nan"),
            (
                pd.array([1, None, 1], dtype="Int64"),
                r"sample_weight to be finite and not negative, got .*nan",
            ),
            ([0, 0, 0], r"a positive sample_weight somewhere, got only zeros"),
            (0, r"a positive sample_weight somewhere, got only zeros"),
            (["a", "b", "c"], r"sample_weight to be one number per row, got \['a', 'b', 'c'\]"),
            ([{}, {}, {}], r"sample_weight to be one number per row"),
        ],
    )
    def test_bad_weights(self, weight, message):
        with pytest.raises(InputError, match=f"DFT: expected {message}"):
            tamis.DFT().fit([[0.0], [1.0], [2.0]], [0, 1, 0], sample_weight=weight)


@pytest.mark.parametrize("value", [5.0, NAN])
def test_all_columns_constant_or_empty(value):
    with pytest.raises(InputError, match="DFT: expected at least one column with two different"):
        tamis.DFT().fit(np.full((4, 3), value), [0, 1, 0, 1])


def test_the_callers_table_and_target_are_never_changed():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [0.5, 1.0, NAN]})
    y, weight = np.array(["u", "v", "u"], dtype=object), np.array([1.0, 2.0, 0.0])
    before = frame.copy(deep=True), y.copy(), weight.copy()
    tamis.DFT(n_features_to_select=1).fit(frame, y, sample_weight=weight)
    pd.testing.assert_frame_equal(frame, before[0])
    np.testing.assert_array_equal(y, before[1])
    np.testing.assert_array_equal(weight, before[2])
