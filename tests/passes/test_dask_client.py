"""What becomes of the errors of Dask, and of workers that do not come; with clients that are none.

`test_cluster.py` and `test_faults.py` have real ones.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import tamis  # noqa: E402
from passes.array_source import ArraySource  # noqa: E402
from tamis.exceptions import InputError, MissingDependencyError, WorkerError  # noqa: E402
from tamis.passes import DaskTable  # noqa: E402
from tamis.passes.columns import persist, room_of  # noqa: E402
from tamis.passes.dask import chunks, client, cluster, shared  # noqa: E402


class Future:
    """Ends at once, well or not."""

    def __init__(self, value=None, error=None):
        self.value, self.error = value, error
        self.status = "finished" if error is None else "error"
        self.is_released = False

    def add_done_callback(self, function):
        function(self)

    def release(self):
        self.is_released = True


class Client:
    """A client without workers, that answers what it was told."""

    def __init__(self, status="running", versions=None, threads=None):
        self.status, self.scheduler = status, SimpleNamespace(address="tcp://here:1")
        self.versions, self.threads, self.n_asked = versions or {}, threads or {}, 0
        self.workers = [{"status": "running"} for _ in self.threads]

    def run(self, function, on_error):
        self.n_asked += 1
        return self.versions

    def nthreads(self):
        return self.threads

    def gather(self, futures):
        for future in futures:
            if future.error is not None:
                raise future.error
        return [future.value for future in futures]

    def map(self, function, *arguments, pure, retries):
        self.retries = retries
        return [Future(function(*call)) for call in zip(*arguments, strict=True)]

    def scheduler_info(self, n_workers):
        assert n_workers == -1
        return {"workers": dict(enumerate(self.workers))}


def error_of(name, text="", **attributes):
    """An error with a name of Dask's."""
    error = type(name, (Exception,), {})(text)
    vars(error).update(attributes)
    return error


LOST = [
    (
        error_of("KilledWorker", task="a-1", allowed_failures=2),
        r"me: expected workers that live until the work is done, but 3 died at part a-1\. Most",
    ),
    (error_of("FutureCancelledError", "gone\nmore"), r"or its client was closed \(gone\)\. Start"),
    (error_of("CommClosedError"), r"the connection is closed \(CommClosedError\)"),
    (RuntimeError("Client is not running"), r"the connection is closed \(Client is not running\)"),
    (ValueError("ConnectionPool is closed"), "expected a scheduler that answers"),
]


@pytest.mark.parametrize(("error", "message"), LOST)
def test_errors_of_dask_say_what_to_do(error, message):
    with pytest.raises(WorkerError, match=message), client.lost_workers("me", "part {}".format):
        raise error


@pytest.mark.parametrize("error", [ValueError("x"), OSError("Client is not running")])
def test_other_errors_stay_as_they_are(error):
    with pytest.raises(type(error), match=str(error)), client.lost_workers("me", str, Client()):
        raise error
    with (
        pytest.raises(WorkerError, match="the connection is closed"),
        client.lost_workers("me", str, Client("closed")),
    ):
        raise error


def test_results_of_futures():
    futures = [Future(1), Future(2)]
    assert client.results(Client(), futures, "me", str) == [1, 2]
    assert not any(future.is_released for future in futures)


def test_all_futures_are_given_up_if_one_fails():
    futures = [Future(1), Future(error=ZeroDivisionError("no")), Future(3)]
    with pytest.raises(ZeroDivisionError):
        client.results(Client(), futures, "me", str)
    assert all(future.is_released for future in futures)


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when somebody waits."""
    now = [100.0]

    class Queue(client.SimpleQueue):
        def get(self, timeout):
            if self.empty():
                now[0] += timeout
                raise client.Empty
            return super().get()

    monkeypatch.setattr(client, "SimpleQueue", Queue)
    monkeypatch.setattr(client.time, "monotonic", lambda: now[0])
    return now


def test_workers_that_never_come(clock):
    waiting = client.Waiting(Client(), "me")
    with pytest.raises(WorkerError, match="me: expected workers at tcp://here:1, got none for 320"):
        waiting.next()


def test_workers_that_are_paused(clock):
    asked = Client(threads={"v": 1, "w": 1})
    asked.workers = [{"status": "paused"}, {"status": "paused"}]
    message = "me: expected workers that take work, but Dask has paused all of them for 80 seconds"
    with pytest.raises(WorkerError, match=message):
        client.Waiting(asked, "me").next()
    asked.workers[1]["status"] = "running"
    assert client.Waiting(asked, "me").next(1000.0) is None


def test_workers_that_are_slow(clock):
    late = Future()
    waiting = client.Waiting(Client(threads={"w": 1}), "me")
    assert waiting.next(1000.0) is None
    assert waiting.next(5.0) is None
    waiting.add(late)
    assert waiting.next() is late
    assert clock == [125.0]


def test_versions_are_asked_for_once():
    here = client.version_here()
    asked = Client(versions={"a": here, "b": OSError("died")})
    for _ in range(2):
        client.check_workers(asked, "me")
    assert asked.n_asked == 1


@pytest.mark.parametrize(
    ("version", "words"), [("0.0.1", "got 0.0.1 on b"), (ImportError("x"), r"got none \(x\) on b")]
)
def test_other_versions_are_refused(version, words):
    versions = {"a": client.version_here(), "b": version}
    with pytest.raises(InputError, match=f"on every worker, {words}"):
        client.check_workers(Client(versions=versions), "me")


def test_a_client_that_was_closed():
    with pytest.raises(WorkerError, match="the client of Dask is closed"):
        client.check_workers(Client("closed"), "me")


def test_addresses():
    assert client.as_address("tcp://there:1") == "tcp://there:1"
    assert client.as_address(Client()) == "tcp://here:1"
    assert client.as_address(SimpleNamespace(scheduler_address="tcp://x:2")) == "tcp://x:2"
    closed = Client("closed")
    closed.scheduler = None
    assert client.as_address(closed) is None


def test_calls_are_sent_together():
    asked = Client(threads={"a": 2, "b": 1})
    found = client.submit_all(asked, divmod, [(7, 2), (9, 4)])
    assert [future.value for future in found] == [(3, 1), (2, 1)]
    assert asked.retries == client.RETRIES
    assert client.submit(asked, divmod, 7, 2).value == (3, 1)
    assert client.threads_of(asked, "me") == [2, 1]
    assert client.threads_of(Client(), "me") == [1]


def test_the_tasks_that_workers_died_at():
    def task(key, state, suspicious):
        return SimpleNamespace(key=key, state=state, suspicious=suspicious)

    tasks = [task("a", "erred", 4), task("b", "erred", 3), task("c", "waiting", 9)]
    tasks.append(task("d", "erred", 5))
    scheduler = SimpleNamespace(allowed_failures=3, tasks={task.key: task for task in tasks})
    asked = Client()
    assert client.killed_with(asked, "a") == ["a"]  # it refuses to run anything
    asked.run_on_scheduler = lambda function: function(scheduler)
    assert client.killed_with(asked, "a") == ["a", "d"]
    assert client.killed_with(asked, "b") == ["b"]


@pytest.mark.parametrize("package", ["dask", "distributed"])
def test_packages_that_are_missing(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=f"the package {package}, got none. Run pip"):
        client._imported(package)


def test_the_smallest_worker_decides_how_much_room_there_is():
    source = ArraySource(np.ones((4, 2)), [0, 1, 0, 1])
    source.cluster = asked = Client()
    source.memory_limit = 50
    asked.workers = [{"nthreads": 1, "memory_limit": 90}, {"nthreads": 3, "memory_limit": 60}]
    assert room_of(source, True, None) == (20, 4)
    asked.workers[1]["memory_limit"] = 0  # no limit: that of the source
    assert room_of(source, True, None) == (16, 4)
    asked.workers = []
    assert room_of(source, True, None) == room_of(source, False, None) == (50, 1)
    assert room_of(source, True, 7) == (7, 1)


def test_calls_that_stay_where_they_are():
    source = ArraySource(np.ones((4, 2)), [0, 1, 0, 1])
    calls = [dask.delayed(abs)(-number) for number in range(3)]
    for source.cluster in (None, "threads"):
        assert list(dask.compute(*persist(source, calls), scheduler="sync")) == [0, 1, 2]


# Passes: who takes which parts, and which parts a message names.


def test_a_task_takes_several_parts_once_there_are_many(monkeypatch):
    source = ArraySource(np.ones((4, 2)), [0, 1, 0, 1])
    assert cluster._shares(source, range(3, 6)) == [range(3, 4), range(4, 5), range(5, 6)]
    monkeypatch.setattr(cluster, "MOST_TASKS", 4)
    assert cluster._shares(source, range(1, 12)) == [
        range(1, 3), range(3, 5), range(5, 7), range(7, 9), range(9, 11), range(11, 12)
    ]  # fmt: skip
    monkeypatch.setattr(cluster, "MOST_PARTS", 1)
    assert len(cluster._shares(source, range(11))) == 11
    monkeypatch.setattr(cluster, "MOST_PARTS", 64)
    source.is_read_by_workers = False
    assert len(cluster._shares(source, range(11))) == 11


def test_parts_are_found_from_what_makes_their_data():
    def join(*parts): ...

    tasks = cluster.Tasks()
    loads = [dask.delayed(abs, name="load")(-part) for part in range(3)]
    leaves = [tasks.call(join, load) for load in loads]
    last = tasks.delayed(tasks.call(join, *leaves))
    known = {leaf.key: [10 * part, 10 * part + 1] for part, leaf in enumerate(leaves)}
    assert cluster._parts_of([loads[2].key, leaves[0].key], known, last) == [0, 1, 20, 21]
    assert cluster._parts_of([last.key, "nothing of ours"], known, last) == []


def test_calls_with_values_results_and_what_dask_computes():
    tasks = cluster.Tasks()
    shared_value = tasks.value([1, 2])
    whole = tasks.call(lambda values, pair: (values, pair), shared_value, (dask.delayed(7), 3))
    last = tasks.delayed(tasks.call(list, whole))
    assert last.compute(scheduler="sync") == [[1, 2], (7, 3)]


class Dying(Client):
    """A client whose workers die at a task."""

    def __init__(self, task):
        super().__init__(versions={"a": client.version_here()})
        self.task = task

    def submit(self): ...

    def compute(self, delayed, retries):
        error = error_of("KilledWorker", task=self.task, allowed_failures=1)
        return [Future(error=error) for _ in delayed]


def test_messages_name_the_parts_at_which_workers_died():
    source = ArraySource(np.ones((4, 2)), [0, 1, 0, 1])
    source.cluster = Dying("leaf")
    calls = [dask.delayed(abs)(1)]
    with pytest.raises(WorkerError, match="but 2 died at part of leaf"):
        cluster.compute(source, calls, lambda keys: f"part of {keys[0]}")
    for name in (None, lambda keys: ""):
        with pytest.raises(WorkerError, match="but 2 died at the task 'leaf'"):
            cluster.compute(source, calls, name)


def test_a_part_that_does_not_fit_a_worker():
    class Large:
        reader = SimpleNamespace(where=lambda part: f"rows of part {part}")

        def summary(self, parts, piece):
            raise MemoryError

    with pytest.raises(WorkerError, match="rows of part 3: expected enough memory on the worker"):
        cluster.summarise(Large(), [3, 4], None)


def test_a_table_without_parts_is_left_alone():
    source = ArraySource(np.ones((0, 2)), [])
    statistic = object()
    assert cluster.run_on_workers(source, statistic, None, None) is statistic


# Chunks in the memory of workers.


def test_columns_of_one_name_are_refused():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = dd.from_pandas(pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "a"]), npartitions=1)
    with pytest.raises(InputError, match="DFT: expected every column name once, got 'a' more"):
        DaskTable(frame, None, None, "DFT")


def test_columns_that_are_no_numbers():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    words = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "x"]})
    table = DaskTable(dd.from_pandas(words, npartitions=2), None, None, "Variance")
    assert list(table.codes) == ["b"]
    found = [next(table.reader().pieces(part, (words[part::2], None, None))) for part in (0, 1)]
    assert [raw.X[:, 0].tolist() for raw in found] == [[1.0, 3.0], [2.0, 4.0]]
    first, second = found[0].X[:, 1].tolist(), found[1].X[:, 1].tolist()
    assert first == [second[1]] * 2 != [second[0]] * 2


class Holder:
    """A client whose workers hold some chunks."""

    def __init__(self, held, threads):
        self.held, self.threads = held, threads

    def who_has(self, futures):
        return {future.key: self.held[future.key] for future in futures if future.key in self.held}

    def nthreads(self):
        return self.threads


def test_chunks_of_one_worker_are_in_groups():
    keys = [f"k{part}" for part in range(7)]
    futures = [SimpleNamespace(key=key) for key in keys]
    held = {key: ["b"] if part in (2, 5) else ["a", "b"] for part, key in enumerate(keys)}
    holder = Holder(held, {"a": 1, "b": 1})
    found = chunks._groups_at_home(holder, futures, keys, range(10, 17))
    assert found == [[10, 11, 13], [14, 16], [12], [15]]  # two for the one thread of each
    assert chunks._groups_at_home(holder, futures[1:], keys, range(7)) is None
    held["k3"] = []
    assert chunks._groups_at_home(holder, futures, keys, range(7)) is None


def test_groups_are_merged_in_the_tree_of_single_chunks():
    class Sum:
        def __init__(self, text):
            self.text = text

        def merge(self, other):
            self.text = f"({self.text}{other.text})"

    letters = [Sum(letter) for letter in "abcdefghij"]
    expected = cluster.in_tree(letters, cluster.merged).text
    numbered = list(enumerate(letters))
    assert cluster.merge_each(numbered[5:], numbered[:5]).text == expected
    assert expected == "((((((((ab)c)d)e)f)g)h)(ij))"
    assert [letter.text for letter in letters] == list("abcdefghij")


# One cluster of threads, which starts in no time.


@pytest.fixture(scope="module")
def threads():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as local,
        distributed.Client(local, set_as_default=False) as opened,
    ):
        yield opened


X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.where(X[:, 1] > 0, "b", "a")


def test_chunks_in_memory_give_the_same_to_the_last_bit(threads):
    lazy = da.from_array(X, chunks=(6, 4)), da.from_array(Y, chunks=6)
    expected = tamis.Fisher().fit(*lazy).scores_
    with threads.as_current():
        there = threads.persist(lazy[0])
        distributed.wait(there)
        table = DaskTable(there, lazy[1], None, "Fisher")
        groups = table.groups_in_place(range(10))
        assert sorted(part for group in groups for part in group) == list(range(10))
        assert table.groups_in_place(range(10)) is groups
        assert table.groups_in_place(range(4)) is None
        np.testing.assert_array_equal(tamis.Fisher().fit(there, lazy[1]).scores_, expected)


def test_values_are_held_as_long_as_they_are_needed(threads):
    with shared.shared(threads, {"a": 7}, "me") as name:
        assert name.startswith(f"{shared.PREFIX}{threads.id}-")
        assert threads.submit(lambda: shared.held(name)["a"]).result() == 7
        with shared.shared(threads, 8, "me") as other:  # sweeping leaves what is in use
            assert threads.submit(lambda: (shared.held(name), shared.held(other))).result() == (
                {"a": 7},
                8,
            )
    assert not shared._held


def test_what_clients_left_behind_is_removed(threads):
    threads.register_plugin(shared.Holding(f"{shared.PREFIX}gone-1", 1), f"{shared.PREFIX}gone-1")
    assert shared.held(f"{shared.PREFIX}gone-1") == 1
    with shared.shared(threads, 2, "me") as name:
        assert list(shared._held) == [name]


class Refusing:
    """A client whose workers cannot take a value, at first or at all."""

    id, status = "me", "running"

    def __init__(self, *errors):
        self.errors = list(errors)

    def register_plugin(self, plugin, name):
        if self.errors:
            raise self.errors.pop(0)


def test_a_worker_that_dies_meanwhile_is_no_reason_to_give_up(monkeypatch):
    monkeypatch.setattr(shared, "PAUSE_SECONDS", 0.0)
    with shared.shared(Refusing(OSError("x"), OSError("x")), 1, "me"):
        pass
    with (
        pytest.raises(OSError, match="third"),
        shared.shared(Refusing(OSError("x"), OSError("x"), OSError("third")), 1, "me"),
    ):
        pass
    with (
        pytest.raises(InputError, match="that workers can load, got ImportError: xgb"),
        shared.shared(Refusing(ImportError("xgb")), 1, "me"),
    ):
        pass
