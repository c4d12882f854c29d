import datetime
import decimal
import uuid

import numpy as np
import pyarrow as pa
import pytest

from tamis.data import RawTable, prepare
from tamis.exceptions import ColumnTypeError


def column(values, kind=None, name="c", **choice):
    """Prepare one column beside a plain one; return its role, its numbers and the notes."""
    array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values, kind)
    arrow = pa.table([array, pa.array(np.zeros(len(array)))], names=[name, "other"])
    prepared = prepare(RawTable.from_arrow(arrow), **choice)
    role = prepared.roles[0]
    return role, prepared.X[:, 0] if role.used else None, prepared.notes


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()])
def test_numbers(kind):
    role, x, _ = column(np.array([3, 1, 2], dtype=kind.to_pandas_dtype()), kind)
    assert (role.kind, role.used, role.n_missing) == ("numeric", True, 0)
    np.testing.assert_array_equal(x, [3, 1, 2])


def test_null_and_nan_are_missing():
    role, x, _ = column([1.0, None, float("nan")])
    assert role.n_missing == 2
    np.testing.assert_array_equal(x, [1, np.nan, np.nan])
    role, x, _ = column([1, None, 3])
    assert role.n_missing == 1
    np.testing.assert_array_equal(x, [1, np.nan, 3])


def test_infinite_values_leave_the_column_out():
    role, x, _ = column([1.0, np.inf, -np.inf])
    assert x is None
    assert not role.used
    assert "inf" in role.reason


def test_all_null_is_kept():
    role, x, _ = column([None, None])
    assert (role.kind, role.used, role.n_missing) == ("numeric", True, 2)
    assert np.isnan(x).all()


def test_large_integers_are_rounded_not_refused():
    _, x, _ = column([2**62 + 1, 5])
    assert x.tolist() == [float(2**62 + 1), 5.0]


def test_decimals():
    role, x, _ = column([decimal.Decimal("1.25"), None])
    assert role.kind == "numeric"
    np.testing.assert_array_equal(x, [1.25, np.nan])


def test_booleans():
    role, x, _ = column([True, None, False])
    assert (role.kind, role.n_missing) == ("boolean", 1)
    np.testing.assert_array_equal(x, [1, np.nan, 0])


@pytest.mark.parametrize(
    ("values", "kind", "role_kind", "expected"),
    [
        ([datetime.date(1970, 1, 3), None], pa.date32(), "date", [2, np.nan]),
        ([datetime.date(1970, 1, 3), None], pa.date64(), "date", [2, np.nan]),
        ([datetime.datetime(1970, 1, 2, 12), None], pa.timestamp("ms"), "date", [1.5, np.nan]),
        ([datetime.datetime(1970, 1, 2, 12)], pa.timestamp("ns"), "date", [1.5]),
        ([datetime.datetime(1970, 1, 2, 12)], pa.timestamp("us", "UTC"), "date", [1.5]),
        ([datetime.time(1, 0, 1), None], pa.time32("s"), "time", [3601, np.nan]),
        ([datetime.time(1, 0, 1)], pa.time64("us"), "time", [3601]),
        ([datetime.timedelta(days=1), None], pa.duration("ms"), "duration", [86400, np.nan]),
    ],
)
def test_dates_and_times(values, kind, role_kind, expected):
    role, x, notes = column(values, kind)
    assert (role.kind, role.used) == (role_kind, True)
    np.testing.assert_array_equal(x, expected)
    assert any(f"1 {role_kind} column used as" in note for note in notes)


def test_time_zone_does_not_move_an_instant():
    noon = datetime.datetime(1970, 1, 2, 12, tzinfo=datetime.UTC)
    _, x, _ = column([noon], pa.timestamp("s", "Asia/Tokyo"))
    assert x.tolist() == [1.5]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_few_strings_are_categories(kind):
    role, x, notes = column(["red", None, "blue", "red"], kind)
    assert (role.kind, role.used, role.n_missing, role.n_distinct) == ("category", True, 1, 2)
    assert role.categories == ("blue", "red")
    np.testing.assert_array_equal(x, [1, np.nan, 0, 1])
    assert any(note.startswith("1 category column used as codes") for note in notes)


def test_dictionary_codes_follow_sorted_values_not_storage():
    chunks = [pa.array(["z", "a"]).dictionary_encode(), pa.array(["m", None]).dictionary_encode()]
    role, x, _ = column(pa.chunked_array(chunks))
    assert role.categories == ("a", "m", "z")
    np.testing.assert_array_equal(x, [2, 0, 1, np.nan])


def test_unused_dictionary_entries_get_no_code():
    array = pa.DictionaryArray.from_arrays([1, 2], ["a", "b", "c"])
    role, x, _ = column(array)
    assert role.categories == ("b", "c")
    assert x.tolist() == [0, 1]


def test_null_inside_a_dictionary_is_missing():
    array = pa.DictionaryArray.from_arrays([0, 1, 0], pa.array(["a", None]))
    role, x, _ = column(array)
    assert (role.n_missing, role.categories) == (1, ("a",))
    np.testing.assert_array_equal(x, [0, np.nan, 0])


def test_ordered_dictionary_keeps_its_order():
    array = pa.DictionaryArray.from_arrays([2, 0, 1], ["small", "medium", "large"], ordered=True)
    role, x, _ = column(array)
    assert role.categories == ("small", "medium", "large")
    assert "given order" in role.reason
    assert x.tolist() == [2, 0, 1]


def test_dictionary_of_numbers_is_a_category():
    role, x, _ = column(pa.array([30, 4, 30]).dictionary_encode())
    assert (role.kind, role.categories) == ("category", ("4", "30"))
    assert x.tolist() == [1, 0, 1]


def test_dictionary_with_many_values_is_still_a_category():
    values = [f"v{j % 60}" for j in range(100)]
    assert column(pa.array(values).dictionary_encode())[0].kind == "category"
    assert column(values)[0].kind == "text"


@pytest.mark.parametrize(
    ("n_rows", "n_distinct", "kind"),
    [(11, 10, "category"), (12, 11, "text"), (1000, 200, "category"), (1000, 201, "text")],
)
def test_where_categories_end_and_text_begins(n_rows, n_distinct, kind):
    role, _, _ = column([f"v{j % n_distinct}" for j in range(n_rows)])
    assert (role.kind, role.used) == (kind, kind == "category")


def test_more_than_a_thousand_values_is_text():
    role, _, _ = column([f"v{j % 1001}" for j in range(20_000)])
    assert role.kind == "text"


def test_free_text_note():
    role, _, notes = column([f"comment {j % 812}" for j in range(1000)], name="comment")
    assert (role.n_distinct, role.categories) == (812, ())
    assert (
        "left out 'comment': free text, 812 different values in 1,000 rows; "
        "name it in --include to encode it as categories"
    ) in notes


def test_distinct_strings_are_identifiers():
    role, _, notes = column([f"patient {j}" for j in range(10)], name="p")
    assert (role.kind, role.used) == ("identifier", False)
    assert "left out 'p': identifier, all 10 values differ; name it in --include to use it" in notes


def test_few_rows_are_not_identifiers():
    assert column([f"patient {j}" for j in range(9)])[0].kind == "category"
    assert column(list(range(9)), name="id")[0].kind == "numeric"


NAMES = ["id", "ID", "patient_id", "patientId", "patientID", "Patient Id", "uuid", "guid", "index"]
NAMES += ["rowid", "row_number", "Unnamed: 0", "", "__index_level_0__", "sample-id", "Idx"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_identifiers(name):
    values = np.random.default_rng(0).permutation(50) * 3
    assert column(values, name=name)[0].kind == "identifier"


@pytest.mark.parametrize("name", ["grid", "paid", "humid", "width", "idea", "covid", "age"])
def test_other_names(name):
    values = np.random.default_rng(0).permutation(50) * 3
    assert column(values, name=name)[0].kind == "numeric"


def test_identifier_with_gaps():
    assert column([*range(0, 30, 3), None], name="id")[0].kind == "identifier"


def test_repeated_ids_are_kept():
    assert column([*range(0, 30, 3), 0], name="id")[0].kind == "numeric"


@pytest.mark.parametrize("start", [0, 1, 1998, -4])
def test_consecutive_integers_are_identifiers(start):
    role, _, _ = column(list(range(start, start + 12)), pa.int16())
    assert (role.kind, role.reason) == ("identifier", "identifier, all 12 values differ")


@pytest.mark.parametrize("values", [range(0, 24, 2), range(12, 0, -1), [1, 0, *range(2, 12)]])
def test_other_integers_are_numbers(values):
    assert column(list(values))[0].kind == "numeric"


def test_consecutive_reals_are_numbers():
    assert column([float(j) for j in range(12)])[0].kind == "numeric"


def test_asked_for_columns_are_used():
    words = [f"comment {j}" for j in range(12)]
    role, x, _ = column(words, include=["c"])
    assert (role.kind, role.used, len(role.categories)) == ("category", True, 12)
    assert sorted(x) == list(range(12))
    role, x, _ = column(list(range(12)), columns=["c"])
    assert (role.kind, x.tolist()) == ("numeric", list(range(12)))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, None]),
        pa.array([b"x", b"y"]),
        pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes], pa.binary(16)),
        pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval()),
    ],
)
def test_nested_types(values):
    role, _, notes = column(values, name="n")
    assert (role.kind, role.used) == ("nested", False)
    assert f"left out 'n': holds {values.type}, which is not a number" in notes
    with pytest.raises(ColumnTypeError, match="do not name it"):
        column(values, name="n", include=["n"])


def test_hidden_types_are_unwrapped():
    import pyarrow.compute as pc

    _, x, _ = column(pc.run_end_encode(pa.array([5, 5, 7])))
    assert x.tolist() == [5, 5, 7]
    if hasattr(pa, "bool8"):
        storage = pa.array([1, 0], pa.int8())
        _, x, _ = column(pa.ExtensionArray.from_storage(pa.bool8(), storage))
        assert x.tolist() == [1, 0]


def test_spoilt_numbers_are_pointed_out():
    _, _, notes = column(["1.5", "2", "unknown", "1e3", "unknown", "2", None], name="dose")
    assert (
        "'dose' is taken as text: 2 of 6 values are not numbers, e.g. 'unknown'; "
        "empty those cells to use it as numbers"
    ) in notes


def test_numbers_as_text_are_pointed_out():
    assert any("'c' holds numbers stored as text" in note for note in column(["1", "2"])[2])


def test_words_get_no_note_about_numbers():
    assert not any("numbers" in note for note in column(["a", "b", "1"])[2])
