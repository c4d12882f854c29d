"""FeatureSource: every candidate measured at most once, failures found, nothing corrupted."""

import copy
import dataclasses
import pickle
import threading
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tamis.exceptions import InputError, MeasurementError, TamisError
from tamis.meta import FeatureSource, as_source

TABLE = np.arange(24.0).reshape(4, 6) ** 2


class Plain(FeatureSource):
    """Six candidates; what was asked for is in `calls`."""

    meta = np.arange(12.0).reshape(6, 2)

    def __init__(self):
        self.calls = []

    def measure(self, indices):
        self.calls.append(indices.tolist())
        return TABLE[:, indices]


class Answering(Plain):
    """Answers with whatever a function makes of the indices."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def measure(self, indices):
        self.calls.append(indices.tolist())
        return self.answer(indices)


class Broken(Plain):
    """Some candidates raise, alone or in a batch."""

    def __init__(self, bad, error=None):
        super().__init__()
        self.bad, self.error = set(bad), error or OSError("the lamp is off")

    def measure(self, indices):
        super().measure(indices)
        if self.bad.intersection(indices.tolist()):
            raise self.error
        return TABLE[:, indices]


class Flaky(Plain):
    """Fails the first few calls."""

    def __init__(self, n_failures):
        super().__init__()
        self.n_failures = n_failures

    def measure(self, indices):
        super().measure(indices)
        if len(self.calls) <= self.n_failures:
            raise TimeoutError("try again")
        return TABLE[:, indices]


def test_each_candidate_is_measured_once_and_order_is_kept():
    source = Plain()
    np.testing.assert_array_equal(source.columns([4, 1, 4]), TABLE[:, [4, 1, 4]])
    np.testing.assert_array_equal(source.columns([1, 0, 4, 5]), TABLE[:, [1, 0, 4, 5]])
    source.columns([5, 0])
    assert source.calls == [[4, 1], [0, 5]]
    assert source.measured.tolist() == [4, 1, 0, 5]
    assert (source.n_measured, source.spent, source.failures) == (4, 4.0, {})


@pytest.mark.parametrize("indices", [[], np.array([], dtype=int), (), np.zeros(6, dtype=bool)])
def test_no_candidates(indices):
    source = Plain()
    for expected_calls in ([[]], [[], [0]]):  # unknown length at first, known later
        empty = source.columns(indices)
        assert (empty.shape, empty.dtype) == ((4, 0), np.float64)
        source.columns([0])
        assert source.calls[: len(expected_calls)] == expected_calls
    assert source.available(indices).dtype == np.int64


def test_no_candidates_of_a_source_that_cannot_measure_nothing():
    source = Answering(lambda indices: np.column_stack([TABLE[:, i] for i in indices]))
    assert source.columns([]).shape == (0, 0)
    source.columns([1])
    assert source.columns([]).shape == (4, 0)
    assert source.n_samples == 4


def test_mask_scalar_and_other_indices():
    source = Plain()
    mask = np.array([False, True, False, True, False, False])
    np.testing.assert_array_equal(source.columns(mask), TABLE[:, mask])
    np.testing.assert_array_equal(source.columns(2), TABLE[:, [2]])
    np.testing.assert_array_equal(source.columns(range(2)), TABLE[:, :2])
    np.testing.assert_array_equal(source.columns(np.array([5], np.uint8)), TABLE[:, [5]])


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 6], "expected indices between 0 and 5, got 6"),
        ([-1], "expected indices between 0 and 5, got -1"),
        ([0.5], "expected indices to be a list of ints"),
        (["a"], "expected indices to be a list of ints"),
        ([[0]], "of shape"),
        ([True, False], "a mask of 6 bools"),
    ],
)
def test_bad_indices(indices, message):
    source = Plain()
    with pytest.raises(InputError, match=message):
        source.columns(indices)
    assert source.calls == []


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda part: part.astype(np.float32),
        lambda part: part.astype(np.int16),
        lambda part: part.astype(object),
        lambda part: part.tolist(),
        np.asfortranarray,
        np.ma.asarray,
        sparse.csr_matrix,
        sparse.csc_array,
        lambda part: pd.DataFrame(part).astype("Int64"),
        lambda part: pd.DataFrame(part, columns=["twice"] * part.shape[1]),
        lambda part: pl.DataFrame(part, schema=[str(i) for i in range(part.shape[1])]),
        lambda part: pl.DataFrame(part, schema=[str(i) for i in range(part.shape[1])]).to_arrow(),
    ],
)
def test_results_of_many_kinds(convert):
    source = Answering(lambda indices: convert(TABLE[:, indices]))
    columns = source.columns([3, 0])
    assert columns.dtype == np.float64
    np.testing.assert_array_equal(columns, TABLE[:, [3, 0]])


@pytest.mark.parametrize(
    "column",
    [
        [1.0, None, 3.0],
        np.array([1.0, np.nan, 3.0]),
        np.ma.masked_values([1.0, -9.0, 3.0], -9.0),
        pd.Series([1, pd.NA, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype=object),
        pl.Series([1, None, 3]),
        pd.DataFrame({"a": [1, None, 3]}),
        [[1], [pd.NA], [3]],
    ],
)
def test_missing_values_and_one_dimension_for_one_candidate(column):
    source = Answering(lambda indices: column)
    np.testing.assert_array_equal(source.columns([2]), [[1.0], [np.nan], [3.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda n: np.zeros((4, n + 1)), "expected an array of shape (n_samples, 1), got (4, 2)"),
        (lambda n: np.zeros((0, n)), "got (0, 1)"),
        (lambda n: np.zeros((4, n, 1)), "got (4, 1, 1)"),
        (lambda n: np.zeros((n, 4)), "got (1, 4)"),
        (lambda n: None, "got ()"),
        (lambda n: 3.0, "got ()"),
        (lambda n: np.full((4, n), "3"), "expected numbers, got values of dtype"),
        (lambda n: np.full((4, n), "red", dtype=object), "expected numbers, got 'red'"),
        (lambda n: pd.DataFrame({str(i): ["a"] for i in range(n)}), "expected numbers"),
        (lambda n: pl.DataFrame({str(i): ["a"] for i in range(n)}), "expected numbers"),
        (lambda n: np.zeros((4, n), dtype=complex), "complex128"),
        (lambda n: np.zeros((4, n), dtype="datetime64[s]"), "datetime64"),
        (lambda n: [[1.0] * n, [1.0] * (n + 1)], "ValueError"),
        (lambda n: np.full((4, n), {}, dtype=object), "expected numbers, got dict"),
    ],
)
def test_bad_results_never_enter(make, message):
    source = Answering(lambda indices: make(len(indices)))
    with pytest.raises(MeasurementError) as caught:
        source.columns([0, 1])
    assert set(caught.value.failures) == {0, 1}
    assert message in caught.value.failures[0]
    assert source.n_measured == 0
    assert source.n_samples is None


def test_one_dimension_for_two_candidates_is_wrong_and_for_one_alone_right():
    source = Answering(lambda indices: TABLE[:, indices[0]])
    np.testing.assert_array_equal(source.columns([0, 1]), TABLE[:, :2])
    assert source.calls == [[0, 1]] * 3 + [[0], [1]]


def test_infinite_columns_fail_alone():
    table = TABLE.copy()
    table[1, 2], table[3, 4] = np.inf, -np.inf
    source = Answering(lambda indices: table[:, indices])
    assert source.available([1, 2, 3, 4]).tolist() == [1, 3]
    assert source.failures == {
        2: "expected finite values or NaN, got inf",
        4: "expected finite values or NaN, got -inf",
    }
    # The good ones were stored at once, the bad ones retried.
    assert source.calls == [[1, 2, 3, 4], [2, 4], [2, 4]]


def test_number_too_large_for_float64_is_infinite():
    source = Answering(lambda indices: np.array([np.finfo(np.longdouble).max, 1]))
    with pytest.raises(MeasurementError, match="got inf"):
        source.columns([0])


def test_other_number_of_rows_than_before_fails():
    source = Answering(lambda indices: TABLE[: (4 if 0 in indices else 3), indices])
    source.columns([0])
    with pytest.raises(MeasurementError, match="expected 4 rows, one per sample, got 3"):
        source.columns([1])
    assert source.measured.tolist() == [0]


def test_n_samples_may_be_told():
    source = Answering(lambda indices: TABLE[: (4 if 0 in indices else 3), indices])
    source.n_samples = 4
    assert source.available([1]).size == 0
    assert source.available([0]).tolist() == [0]


def test_nobody_can_change_the_cache():
    buffer = np.zeros((4, 2))

    def answer(indices):
        buffer[:] = TABLE[:, indices]
        return buffer

    source = Answering(answer)
    first = source.columns([0, 1])
    buffer[:] = -1
    first[:] = -2
    np.testing.assert_array_equal(source.columns([0, 1]), TABLE[:, :2])

    class Vandal(Plain):
        def measure(self, indices):
            result = TABLE[:, indices]
            indices[:] = 5
            return result

    np.testing.assert_array_equal(Vandal().columns([0, 1]), TABLE[:, :2])


def test_a_passing_failure_is_retried():
    source = Flaky(2)
    np.testing.assert_array_equal(source.columns([1, 2]), TABLE[:, [1, 2]])
    assert source.calls == [[1, 2]] * 3
    assert source.failures == {}


def test_guilty_candidates_are_found_and_the_others_kept():
    source = Broken([2])
    with pytest.raises(MeasurementError) as caught:
        source.columns([0, 2, 1, 2])
    text = str(caught.value)
    for part in (
        "Broken",
        "3 candidates",
        "candidate 2: OSError: the lamp is off",
        "2 are measured",
    ):
        assert part in text
    assert caught.value.failures == {2: "OSError: the lamp is off"}
    assert isinstance(caught.value.__cause__, OSError)
    assert source.calls == [[0, 2, 1]] * 3 + [[0], [2], [2], [2], [1]]
    assert source.measured.tolist() == [0, 2, 1][::2]
    assert source.spent == 2.0


def test_a_failed_candidate_is_not_tried_again_until_told():
    source = Broken([2])
    source.retries = 0
    assert source.available([2, 0]).tolist() == [0]
    before = list(source.calls)
    with pytest.raises(MeasurementError, match="the lamp is off"):
        source.columns([2])
    np.testing.assert_array_equal(source.columns([2, 0, 2], skip_failed=True), TABLE[:, [0]])
    assert source.columns([2], skip_failed=True).shape == (4, 0)
    assert source.calls == before
    source.bad.clear()
    np.testing.assert_array_equal(source.columns(source.retry_failed()), TABLE[:, [2]])
    assert source.failures == {}
    assert source.n_measured == 2


def test_many_failures_are_summed_up_with_names():
    source = Broken(range(6), ValueError())
    source.feature_names = list("abcdef")
    with pytest.raises(MeasurementError, match=r"candidate 0 \('a'\): ValueError; .*and 1 more"):
        source.columns(range(6))
    assert len(source.failures) == 6


def test_measurement_error_is_a_runtime_error_and_pickles():
    error = pickle.loads(pickle.dumps(MeasurementError("no", {3: "why"})))
    assert (str(error), error.failures) == ("no", {3: "why"})
    assert isinstance(error, TamisError)
    assert isinstance(error, RuntimeError)


def test_interrupt_stops_at_once_and_keeps_what_is_measured():
    source = Broken([3], KeyboardInterrupt())
    source.batch_size = 1
    with pytest.raises(KeyboardInterrupt):
        source.columns(range(6))
    assert source.calls == [[0], [1], [2], [3]]
    assert source.measured.tolist() == [0, 1, 2]
    assert source.failures == {}
    source.bad.clear()
    np.testing.assert_array_equal(source.columns(range(6)), TABLE)
    assert source.calls[4:] == [[3], [4], [5]]


def test_batch_size():
    source = Plain()
    source.batch_size = 4
    np.testing.assert_array_equal(source.columns(range(6)), TABLE)
    assert source.calls == [[0, 1, 2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("retries", -1, "retries must be an int of at least 0, got -1"),
        ("retries", 1.5, "retries must be an int"),
        ("batch_size", 0, "batch_size must be an int of at least 1 or None, got 0"),
    ],
)
def test_bad_settings(name, value, message):
    source = Plain()
    setattr(source, name, value)
    with pytest.raises(InputError, match=message):
        source.columns([0])


def test_measure_may_ask_for_other_candidates_but_not_for_itself():
    class Derived(Plain):
        def measure(self, indices):
            self.calls.append(indices.tolist())
            if indices.tolist() == [5]:
                return self.columns([0]) + self.columns([1])
            if indices.tolist() == [4]:
                return self.columns([4])
            return TABLE[:, indices]

    source = Derived()
    np.testing.assert_array_equal(source.columns([5])[:, 0], TABLE[:, 0] + TABLE[:, 1])
    assert source.n_measured == 3
    with pytest.raises(MeasurementError, match="candidate 4, which it is measuring itself"):
        source.columns([4])


def test_costs():
    source = Plain()
    assert source.costs().tolist() == [1.0] * 6
    source.cost = [3, 0, 1, 1, 1, 0.5]
    source.columns([0, 5])
    assert source.spent == 3.5
    source.cost = 2
    assert source.spent == 4.0
    assert source.costs().dtype == np.float64
    given = np.ones(6)
    source.cost = given
    source.costs()[:] = 7
    assert given.tolist() == [1.0] * 6


def test_a_failure_costs_nothing():
    source = Broken([1])
    source.cost = [1, 10, 100, 1, 1, 1]
    source.available([0, 1, 2])
    assert source.spent == 101.0
    assert source.costs()[list(source.failures)].sum() == 10.0


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([1, 2], r"shape \(6,\), got shape \(2,\)"),
        ([1, 1, -1, 1, 1, 1], "not negative, got -1.0 for candidate 2"),
        ([1, np.nan, 1, 1, 1, 1], "got nan for candidate 1"),
        ([1, np.inf, 1, 1, 1, 1], "got inf for candidate 1"),
        (-2, "got -2.0 for candidate 0"),
        ("dear", "one number per candidate, got 'dear'"),
        (np.ones((6, 1)), "got shape"),
    ],
)
def test_bad_costs(cost, message):
    source = Plain()
    source.cost = cost
    with pytest.raises(InputError, match=message):
        source.costs()


def test_meta_as_a_table():
    meta = pd.DataFrame(
        {"size": [1.0, np.nan, 3.0], "kind": pd.Categorical(["a", "b", None])},
        index=["gene1", "gene2", "gene3"],
    )
    source = Plain()
    source.meta = meta
    assert source.n_candidates == 3
    assert source.meta_names == ["size", "kind"]
    assert source.candidate_names() == ["gene1", "gene2", "gene3"]
    source.meta = pl.from_pandas(meta)
    assert source.n_candidates == 3
    assert source.meta_names == ["size", "kind"]
    assert source.feature_names is None
    assert source.candidate_names() == ["x0", "x1", "x2"]
    source.meta = meta.reset_index(drop=True)[[True, False, True]]  # numbers are no names
    assert source.candidate_names() == ["x0", "x1"]
    source.meta = [[1, 2], [3, 4]]
    assert source.n_candidates == 2
    assert source.meta_names is None
    source.feature_names = ["one", 2]
    assert source.candidate_names() == ["one", "2"]
    source.feature_names = ["one"]
    with pytest.raises(InputError, match=r"one name per candidate \(2\), got 1"):
        source.candidate_names()


@pytest.mark.parametrize("meta", [[1, 2, 3], np.zeros(4), np.zeros((0, 2)), None, [[1], [2, 3]]])
def test_bad_meta(meta):
    source = Plain()
    source.meta = meta
    with pytest.raises(InputError, match="expected meta"):
        source.columns([0])


def test_definition_as_property_attribute_or_field():
    class WithProperty(FeatureSource):
        @property
        def meta(self):
            return np.eye(6)

        def measure(self, indices):
            return TABLE[:, indices]

    @dataclasses.dataclass(frozen=True)
    class Frozen(FeatureSource):
        meta: object
        table: object

        def measure(self, indices):
            return self.table[:, indices]

    class Slotted(WithProperty):
        __slots__ = ("extra",)

    on_object = FeatureSource()
    on_object.meta, on_object.measure = np.eye(6), lambda indices: TABLE[:, indices]
    for source in (WithProperty(), Frozen(np.eye(6), TABLE), Slotted(), on_object):
        np.testing.assert_array_equal(as_source(source).columns([1]), TABLE[:, [1]])
        assert copy.copy(source).n_measured == 1


def test_attributes_of_a_subclass_may_have_our_names():
    class Counting(FeatureSource):
        def __init__(self):
            self.meta = np.eye(6)
            self.measured = []
            self.n_measured = self.n_candidates = self.n_samples = self.spent = 0
            self.failures = None

        def measure(self, indices):
            self.measured.extend(indices.tolist())
            return TABLE[:, indices]

    source = as_source(Counting())
    source.columns([3, 1])
    np.testing.assert_array_equal(source.columns([1, 3]), TABLE[:, [1, 3]])
    assert source.measured == [3, 1]


def test_incomplete_definitions():
    class NoMeasure(FeatureSource):
        meta = np.eye(3)

    class NoMeta(FeatureSource):
        def measure(self, indices):
            return TABLE[:, indices]

    class Hidden(Plain):
        columns = ("a", "b")

    for call in (lambda source: source.columns([0]), as_source):
        with pytest.raises(InputError, match=r"NoMeasure: expected a method measure\(indices\)"):
            call(NoMeasure())
        with pytest.raises(InputError, match="NoMeta: expected an attribute meta"):
            call(NoMeta())
    with pytest.raises(InputError, match="Hidden: expected columns to be the method"):
        as_source(Hidden())


def test_as_source_wraps_what_has_meta_and_measure():
    class Own:
        meta = np.eye(6)
        cost = (2, 2, 2, 2, 2, 2)
        feature_names = tuple("abcdef")
        batch_size = 2

        def __init__(self):
            self.calls = []

        def measure(self, indices):
            self.calls.append(indices.tolist())
            return TABLE[:, indices]

    own = Own()
    source = as_source(own)
    assert isinstance(source, FeatureSource)
    np.testing.assert_array_equal(source.columns([2, 0, 1]), TABLE[:, [2, 0, 1]])
    assert own.calls == [[2, 0], [1]]
    assert source.spent == 6.0
    assert source.candidate_names()[1] == "b"
    assert as_source(own) is source  # and so nothing is measured again
    assert as_source(source) is source
    other = copy.copy(own)
    assert as_source(other) is not source
    assert pickle.loads(pickle.dumps(SimpleNamespace(a=1))).a == 1
    own.measure = lambda indices: 1 / 0
    with pytest.raises(MeasurementError, match="Own: expected columns of 1 candidates"):
        source.columns([5])


@pytest.mark.parametrize(
    ("thing", "what"),
    [
        (TABLE, "ndarray"),
        (None, "None"),
        (Plain, "the class Plain"),
        (SimpleNamespace(meta=TABLE), "SimpleNamespace"),
        (SimpleNamespace(measure=abs), "SimpleNamespace"),
        (SimpleNamespace(meta=TABLE, measure=3), "SimpleNamespace"),
    ],
)
def test_as_source_refuses_the_rest(thing, what):
    with pytest.raises(InputError, match=f"expected a FeatureSource.*{what}.*ArraySource"):
        as_source(thing)


@pytest.mark.parametrize(
    "twin_of", [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))]
)
def test_a_copy_knows_the_past_and_is_independent(twin_of):
    source = Broken([5])
    source.available([0, 1, 5])
    twin = twin_of(source)
    twin.calls = []
    np.testing.assert_array_equal(twin.columns([1, 0]), TABLE[:, [1, 0]])
    assert twin.calls == []
    assert twin.failures == source.failures
    twin.columns([2])
    source.columns([3])
    twin.retry_failed()
    assert twin.measured.tolist() == [0, 1, 2]
    assert source.measured.tolist() == [0, 1, 3]
    assert list(source.failures) == [5]
    fresh = twin_of(Plain())
    assert fresh.n_measured == 0


def test_forget():
    source = Broken([1])
    source.available([0, 1])
    assert source.forget() is source
    assert (source.n_measured, source.failures, source.spent) == (0, {}, 0.0)
    source.columns([0])
    assert source.calls[-1] == [0]


def test_threads_measure_each_candidate_once():
    class Slow(Plain):
        at_work = 0

        def measure(self, indices):
            self.at_work += 1
            assert self.at_work == 1
            time.sleep(0.01)
            self.at_work -= 1
            return super().measure(indices)

    source = Slow()
    results = {}
    gate = threading.Barrier(6)

    def work(number):
        gate.wait()
        results[number] = source.columns([number, (number + 1) % 6, 0])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(index for call in source.calls for index in call) == list(range(6))
    for number, found in results.items():
        np.testing.assert_array_equal(found, TABLE[:, [number, (number + 1) % 6, 0]])


def test_known_columns_do_not_wait():
    class Waiting(Plain):
        go = threading.Event()
        started = threading.Event()

        def measure(self, indices):
            if 1 in indices:
                self.started.set()
                assert self.go.wait(10)
            return super().measure(indices)

    source = Waiting()
    source.columns([0])
    thread = threading.Thread(target=source.columns, args=([1],))
    thread.start()
    try:
        assert source.started.wait(10)
        np.testing.assert_array_equal(source.columns([0]), TABLE[:, [0]])
        assert source.n_measured == 1
    finally:
        source.go.set()
        thread.join()
    assert source.n_measured == 2
