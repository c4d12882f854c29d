"""Checkpoints, folders, stores, manifests: damaged ones are refused, crafted ones run nothing."""

import hashlib
import io
import json
import os
import pickle
import tracemalloc
import warnings
import zlib

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import tamis
from tamis._runtime import checkpoint
from tamis.evaluation.run.units import UnitResult
from tamis.evaluation.store import _COLUMNS, Store, _checksum
from tamis.exceptions import InputError, SelectionWarning
from tamis.manifest import read_manifest
from tamis.meta import ArraySource, FeatureSource, Mufasa

MEBIBYTE = 2**20
RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 8)) + np.outer(Y, np.arange(8) / 8)


class StopAfter:
    """A callback that presses Ctrl-C after some steps."""

    def __init__(self, steps):
        self.left = steps

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.left -= context.parent is not None
        if self.left == 0:
            raise KeyboardInterrupt


class Scans:
    """Fits of files that were interrupted, by the kind of statistics that they keep."""

    selectors = (
        tamis.Fisher(), tamis.DFT(n_bins=4), tamis.ILFS(), tamis.MRMR(n_bins=3, strategy="uniform"),
        tamis.Correlation(),
    )  # fmt: skip

    def __init__(self, folder):
        self.path = folder / "scan.state"
        for part in range(4):
            rows = slice(15 * part, 15 * part + 15)
            lines = [",".join(f"f{j}" for j in range(8)) + ",kind"]
            for row, label in zip(X[rows].tolist(), Y[rows], strict=True):
                lines.append(f"{','.join(map(repr, row))},k{label}")
            (folder / f"part{part}.csv").write_text("\n".join(lines) + "\n")
        self.pattern = str(folder / "part*.csv")
        self.whole = [self.fit(selector, None) for selector in self.selectors]
        self.files = []
        for selector in self.selectors:
            stopped = tamis.make_selector(type(selector).__name__.lower(), **selector.get_params())
            stopped.set_callbacks(StopAfter(3))
            with pytest.raises(KeyboardInterrupt):
                self.fit(stopped, self.path)
            self.files.append(self.path.read_bytes())
            self.path.unlink()

    def fit(self, selector, path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scan = tamis.scan(self.pattern, target="kind", checkpoint=path)
            return selector.fit(scan).scores_.copy()

    def resumed(self, number, content):
        self.path.write_bytes(content)
        return self.fit(self.selectors[number], self.path)


class Weights:
    """Runs of OFW that were half as long."""

    def __init__(self, folder):
        self.path = folder / "ofw.state"
        self.fit(150)
        self.files = [self.path.read_bytes()]
        self.path.unlink()
        self.whole = [self.fit(300)]

    def fit(self, max_iter):
        selector = tamis.OFW(
            estimator="nn", subset_size=2, n_restarts=2, max_iter=max_iter, random_state=0,
            checkpoint=self.path,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return selector.fit(X, Y).scores_.copy()

    def resumed(self, number, content):
        self.path.write_bytes(content)
        return self.fit(300)


class Searches:
    """Searches of Mufasa that were half as long."""

    def __init__(self, folder):
        self.path = folder / "mufasa.state"
        self.fit(2)
        self.files = [self.path.read_bytes()]
        self.path.unlink()
        self.whole = [self.fit(4)]

    def fit(self, n_steps):
        search = Mufasa(
            n_features_to_select=2, n_steps=n_steps, cv=2, random_state=0, n_jobs=1,
            checkpoint=self.path,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(ArraySource(X, np.arange(8.0)[:, None]), Y)
        return np.array([record["quality"] for record in search.history_])

    def resumed(self, number, content):
        self.path.write_bytes(content)
        return self.fit(4)


@pytest.fixture(scope="module")
def often():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tamis._runtime.checkpoint.EVERY", -1.0)
        yield


@pytest.fixture(scope="module")
def scans(tmp_path_factory, often):
    return Scans(tmp_path_factory.mktemp("scans"))


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return Weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def searches(tmp_path_factory):
    return Searches(tmp_path_factory.mktemp("searches"))


def damaged(content, rng):
    """The bytes with one of the accidents that happen to files."""
    content = bytearray(content)
    a, b = sorted(rng.integers(0, len(content), 2).tolist())
    match rng.integers(7):
        case 0:
            content[a] ^= 1 << int(rng.integers(8))
        case 1:
            del content[a:]
        case 2:
            content[a], content[b] = content[b], content[a] ^ 1
        case 3:
            content[a : b + 1] = bytes(b + 1 - a)
        case 4:
            del content[a : b + 1]
        case 5:
            content[a:a] = content[a : b + 1]
        case 6:
            content[a:a] = rng.bytes(int(rng.integers(1, 40)))
    return bytes(content)


def check_accidents(work, count, seed):
    """Every damaged file is refused and left as it is, or the result is the same."""
    rng = np.random.default_rng(seed)
    messages = []
    for i in range(count):
        number = i % len(work.files)
        content = damaged(work.files[number], rng)
        try:
            found = work.resumed(number, content)
        except InputError as error:
            assert work.path.read_bytes() == content
            messages.append(str(error))
        else:
            np.testing.assert_array_equal(found, work.whole[number])
        work.path.unlink(missing_ok=True)
    assert len(messages) > 0.9 * count
    assert all("got something else" in text and "remove the file" in text for text in messages)


@pytest.mark.parametrize("count", [30, pytest.param(600, marks=pytest.mark.slow)])
def test_damaged_scans_are_refused_or_identical(scans, count):
    check_accidents(scans, count, count)


@pytest.mark.parametrize("count", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_damaged_runs_of_ofw_are_refused_or_identical(weights, count):
    check_accidents(weights, count, count)


@pytest.mark.parametrize("count", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_damaged_searches_are_refused_or_identical(searches, count):
    check_accidents(searches, count, count)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scans", "weights", "searches"])
def test_a_whole_checkpoint_resumes_to_the_same_result(kind, request):
    work = request.getfixturevalue(kind)
    for number, content in enumerate(work.files):
        np.testing.assert_array_equal(work.resumed(number, content), work.whole[number])
        work.path.unlink(missing_ok=True)


# Crafted files: what somebody writes who knows the format.


def parts_of(content):
    """Header and bytes of the arrays."""
    line = content.split(b"\n", 2)[1]
    length = int(line.split()[0])
    start = len(checkpoint.MAGIC) + len(line) + 1
    return json.loads(content[start : start + length]), content[start + length :]


def sealed(header, data):
    """A file with checksums that are right."""
    header = {**header, "sha256": hashlib.sha256(data).hexdigest()}
    text = json.dumps(header).encode()
    line = f"{len(text)} {hashlib.sha256(text).hexdigest()}\n".encode()
    return checkpoint.MAGIC + line + text + data


def leaves(tree, place=()):
    """Places of all values in JSON."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*place, key))


def crafted(content, rng):
    """The file with one value of another kind, or some other numbers, and right checksums."""
    header, data = parts_of(content)
    places = list(leaves(header))
    place = places[rng.integers(len(places))]
    parent = header
    for key in place[:-1]:
        parent = parent[key]
    strange = [None, True, -1, 2**62, 10**400, 1.5, float("nan"), "x", [], {}, [[1]], "\ud800"]
    if rng.random() < 0.2:
        parent.pop(place[-1])
    elif rng.random() < 0.2:
        data = rng.bytes(len(data))
    else:
        parent[place[-1]] = strange[rng.integers(len(strange))]
    return sealed(header, data)


@pytest.mark.parametrize("kind", ["scans", "weights", "searches"])
@pytest.mark.parametrize("count", [30, pytest.param(400, marks=pytest.mark.slow)])
def test_crafted_files_never_break_a_fit(kind, count, request):
    """A result or an error of ours: no other exception, and no kernel that writes elsewhere."""
    work = request.getfixturevalue(kind)
    rng = np.random.default_rng(count)
    refused = 0
    for i in range(count):
        number = i % len(work.files)
        try:
            work.resumed(number, crafted(work.files[number], rng))
        except InputError:
            refused += 1
        work.path.unlink(missing_ok=True)
    assert refused > 0.3 * count


LIES = {
    "a shape of terabytes": {"shape": [2**39, 2**39]},
    "a shape below 0": {"shape": [-8]},
    "a shape that is text": {"shape": "8"},
    "many dimensions": {"shape": [1] * 70},
    "an empty shape of many rows": {"shape": [0, 10**9]},
    "objects": {"dtype": "|O8"},
    "records": {"dtype": "|V8"},
    "text without end": {"dtype": "<U99999999"},
    "dates": {"dtype": "<M8[s]"},
    "a type that is a list": {"dtype": [["a", "<f8"]]},
    "no such type": {"dtype": "<f3"},
    "a place that is not there": {"at": ["passes", 99, 1]},
    "a place before the first": {"at": [-1]},
    "a place that is a number": {"at": 7},
    "a place that is taken": {"at": ["taken"]},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_what_arrays_claim_is_checked_before_it_is_believed(lie, tmp_path):
    path = tmp_path / "state"
    checkpoint.save(path, "a test", "me", {"gap": np.arange(8.0), "taken": 1})
    header, data = parts_of(path.read_bytes())
    header["arrays"][0].update(lie)
    path.write_bytes(sealed(header, data))
    tracemalloc.start()
    with pytest.raises(InputError, match="expected a checkpoint of a test"):
        checkpoint.load(path, "a test", "test")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEBIBYTE


@pytest.mark.parametrize(
    "content",
    [
        b"",
        checkpoint.MAGIC,
        checkpoint.MAGIC + b"9999999999 " + b"0" * 64 + b"\n",
        checkpoint.MAGIC + b"1" * 4000,
        b"tamis statistics 1\n" + b"0" * 64 + b"\n",
        b"PK\x03\x04 an npz file of OFW",
        b'{"version": 1, "search": "x", "seed": 1, "history": []}',
    ],
)
def test_other_files_and_older_formats_are_refused(content, scans, weights, searches):
    for work in (scans, weights, searches):
        with pytest.raises(InputError, match=r"expected a checkpoint of .* got something else"):
            work.resumed(0, content)
        assert work.path.read_bytes() == content
        work.path.unlink()


def test_lists_in_lists_too_deep(tmp_path):
    path = tmp_path / "state"
    text = b'{"kind": "a test", "content": ' + b"[" * 10**5 + b"]" * 10**5 + b"}"
    line = f"{len(text)} {hashlib.sha256(text).hexdigest()}\n".encode()
    path.write_bytes(checkpoint.MAGIC + line + text)
    with pytest.raises(InputError, match="got something else"):
        checkpoint.load(path, "a test", "test")


def test_pipes_folders_and_devices_are_refused_at_once(tmp_path):
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="not a regular file"):
            checkpoint.load(tmp_path / "pipe", "a test", "test")
        with pytest.raises(InputError, match="not a regular file"):
            checkpoint.load("/dev/zero", "a test", "test")
    with pytest.raises(InputError, match="got something else"):
        checkpoint.load(tmp_path, "a test", "test")


def test_kind_and_fingerprint_are_checked(tmp_path):
    path = tmp_path / "state"
    content = {"numbers": [1, 2.5, None, "x", True, float("inf")], "table": np.eye(2, dtype="f4")}
    checkpoint.save(path, "a test", "me", content)
    found = checkpoint.load(path, "a test", "test", "me").content
    assert found["numbers"] == content["numbers"]
    np.testing.assert_array_equal(found["table"], content["table"])
    assert found["table"].dtype == np.float32
    with pytest.raises(
        InputError, match=r"test: .* of another in .* got something else .* of a test"
    ):
        checkpoint.load(path, "another", "test", "me")
    with pytest.raises(InputError, match="other data or parameters"):
        checkpoint.load(path, "a test", "test", "you")


@pytest.mark.parametrize("wrong", [np.array([{}]), np.array(["x"]), {1: 2}, {3, 4}, object()])
def test_only_plain_content_is_written(wrong, tmp_path):
    with pytest.raises(TypeError):
        checkpoint.save(tmp_path / "state", "a test", "me", {"wrong": wrong})
    assert list(tmp_path.iterdir()) == []


# Exploits: pickles in all the places where something is loaded.


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def dotted(marker):
    """A pickle that reaches os.system through a module of ours, as a filter by module allows."""
    module, name, command = b"tamis._runtime.atomic", b"os.system", f"touch {marker}".encode()

    def text(value):
        return b"\x8c" + bytes([len(value)]) + value

    return b"\x80\x04" + text(module) + text(name) + b"\x93" + text(command) + b"\x85R."


def exploits(marker):
    """Contents of files that run a command where something unpickles them."""
    objects = io.BytesIO()
    np.savez(objects, header=np.array([Evil(marker)], dtype=object))
    array = io.BytesIO()
    np.save(array, np.array([Evil(marker)], dtype=object))
    older = b"tamis statistics 1\n" + b"0" * 64 + b"\n"
    plain, other = pickle.dumps(Evil(marker), protocol=4), dotted(marker)
    whole = [plain, other, older + plain, older + other, objects.getvalue(), array.getvalue()]
    header = {"kind": "a scan", "fingerprint": "", "content": None, "arrays": []}
    wrapped = [sealed({**header, "arrays": [{"at": [], "dtype": "|O8", "shape": [1]}]}, plain)]
    return whole + wrapped


@pytest.fixture
def marker(tmp_path):
    marker = tmp_path / "ran"
    pickle.loads(dotted(marker))  # the exploit works where something unpickles it
    assert marker.exists()
    marker.unlink()
    yield marker
    assert not marker.exists()


@pytest.mark.parametrize("kind", ["scans", "weights", "searches"])
def test_no_checkpoint_runs_code(kind, marker, request):
    work = request.getfixturevalue(kind)
    for content in exploits(marker):
        with pytest.raises(InputError, match="got something else"):
            work.resumed(0, content)
        work.path.unlink()


class Source(FeatureSource):
    """Eight candidates that are columns of the table."""

    meta = np.arange(8.0)[:, None]

    def measure(self, indices):
        return X[:, indices]


def test_no_file_in_a_folder_of_columns_runs_code(marker, tmp_path):
    folder = tmp_path / "kept"
    Source().keep_in(folder).columns([0, 1])
    for i, content in enumerate(exploits(marker)):
        (folder / f"columns-{i}.tamis").write_bytes(content)
        (folder / f"columns-{i}.npz").write_bytes(content)
    source = Source()
    with pytest.warns(SelectionWarning, match="They are ignored"):
        source.keep_in(folder)
    assert source.measured.tolist() == [0, 1]
    np.testing.assert_array_equal(source.columns(range(8)), X)
    (folder / "tamis-source.json").write_bytes(pickle.dumps(Evil(marker)))
    with pytest.warns(SelectionWarning, match="tamis-source.json"):
        Source().keep_in(folder)


def test_no_manifest_runs_code(marker, tmp_path):
    path = tmp_path / "choice.json"
    for content in exploits(marker):
        path.write_bytes(content)
        with pytest.raises(InputError, match="expected a selection manifest"):
            read_manifest(path)


SCORE = {
    "count": 3, "learner": "a", "metric": "auc", "value": 0.5, "fit_seconds": 0.1, "note": None
}  # fmt: skip
RESULT = UnitResult(
    np.arange(50, dtype=np.int32), [SCORE], 0.1, 4, {5: 0.2}, 7, None, ("soon",),
    np.arange(6, dtype=np.float32).reshape(1, 6),
)  # fmt: skip
COLUMNS = [name for name in _COLUMNS if name != "sha256"]


def replace_in_store(path, name, value, *, seal=True, where="k"):
    """Put a value into a row of a store, with a checksum that is right."""
    with Store(path) as store:
        execute = store._connection.execute
        execute(f"UPDATE units SET {name} = ? WHERE key = ?", (value, where))
        if seal:
            row = execute(
                f"SELECT {', '.join(COLUMNS)} FROM units WHERE key = ?",
                (value if name == "key" else where,),
            ).fetchone()
            execute("UPDATE units SET sha256 = ? WHERE key = ?", (_checksum(row), row[0]))


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        store.put("k", {"seconds": 2.0}, RESULT)
    return tmp_path / "runs.sqlite"


def read_store(path):
    with Store(path) as store:
        return list(store.rows()), store.finished(["k"])


@pytest.mark.slow
def test_no_row_of_a_store_runs_code(marker, store):
    before = store.read_bytes()
    for content in exploits(marker):
        for name in COLUMNS:
            replace_in_store(store, name, content)
            with pytest.raises(InputError, match="damaged one"):
                read_store(store)
            store.write_bytes(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranking", "by_row"])
def test_a_bomb_in_a_store_is_not_unpacked(store, monkeypatch, name):
    monkeypatch.setattr("tamis.evaluation.store.free_memory", lambda: 64 * MEBIBYTE)
    replace_in_store(store, "scores", json.dumps([SCORE] * 100))
    replace_in_store(store, name, zlib.compress(bytes(300 * MEBIBYTE)))
    tracemalloc.start()
    with pytest.raises(InputError, match="damaged one"):
        read_store(store)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * MEBIBYTE


# Rows that somebody made who knows the form and the checksum: what a comparison makes of them.


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A comparison that reads a store, and the bytes of the store."""
    path = tmp_path_factory.mktemp("compared") / "runs.sqlite"

    def run():
        return tamis.evaluation.compare(
            ["dft", "fisher"], {"made": (X, Y % 2)}, counts=[1, 3], progress=False, store=path,
            protocol=tamis.evaluation.protocols.RepeatedSplits(2),
            learners=LogisticRegression(),
        )  # fmt: skip

    run()
    return run, path, path.read_bytes()


def other_rows(store):
    """Changes of one row: a column, and a value of another kind, size or range."""
    with Store(store) as opened:
        (key, scores, meta), *_ = opened._connection.execute(
            "SELECT key, scores, meta FROM units WHERE meta LIKE '%split 1%'"
        )
    for name in COLUMNS[2:]:
        yield from ((key, name, value) for value in STRANGE)
    for column, tree in (("scores", json.loads(scores)), ("meta", json.loads(meta))):
        for place in leaves(tree):
            for value in (None, "x", float("nan"), -5, 1e308, [], {}):
                changed = json.loads(json.dumps(tree))
                parent = changed
                for step in place[:-1]:
                    parent = parent[step]
                parent[place[-1]] = value
                yield key, column, json.dumps(changed)
    n_scores = len(json.loads(scores))
    for n in (0, 1, 5, 19, 2000):
        for value in (0.5, np.nan, np.inf):
            packed = zlib.compress(np.full(n * n_scores, value, dtype="<f4").tobytes())
            yield key, "by_row", packed
        yield key, "ranking", zlib.compress(np.arange(n, dtype="<i4").tobytes())
    yield from ((key, "best_n_features", n) for n in (0, -1, 7, 10**6))


@pytest.mark.filterwarnings("ignore:compare. some selectors failed")
@pytest.mark.parametrize("step", [40, pytest.param(3, marks=pytest.mark.slow)])
def test_crafted_rows_never_break_a_comparison(compared, step):
    run, path, before = compared
    messages = []
    changes = list(other_rows(path))[::step]
    for key, name, value in changes:
        path.write_bytes(before)
        replace_in_store(path, name, value, where=key)
        try:
            found = run()
            found.table()
            found.to_dict()
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 0.3 * len(changes)
    assert all("store" in text for text in messages)


STRANGE = [3, 2.5, "x", "[]", "{}", "[1]", '{"1": "x"}', b"", b"x", "[" * 10**5, "NaN"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("value", STRANGE, ids=range(len(STRANGE)))
def test_rows_with_other_values_are_refused_or_read(value, store):
    before = store.read_bytes()
    for name in COLUMNS[1:]:
        for seal in (True, False):
            try:
                replace_in_store(store, name, value, seal=seal)
                rows, _ = read_store(store)
            except InputError:
                pass
            else:
                assert seal
                assert isinstance(rows[0].result, UnitResult)
            store.write_bytes(before)


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_damaged_stores_are_refused_or_identical(store, count):
    """A row that is gone is computed again; one that is there is as it was."""
    rng = np.random.default_rng(count)
    before = store.read_bytes()
    (expected,), _ = read_store(store)
    refused = 0
    for _ in range(count):
        store.write_bytes(damaged(before, rng))
        try:
            rows, _ = read_store(store)
        except InputError:
            refused += 1
        else:
            for row in rows:
                np.testing.assert_equal(tuple(row.result), tuple(expected.result))
                assert (row.key, row.meta) == (expected.key, expected.meta)
        for file in store.parent.glob("runs.sqlite*"):
            file.unlink()
    assert refused > 0.2 * count


# Claims of small files: what they would take in memory is compared with what is free.


def test_a_file_of_holes_is_refused_before_memory_is_taken(tmp_path):
    path, n = tmp_path / "state", 2**40
    lie = {"at": [], "dtype": "<f8", "shape": [n // 8]}
    header = {"kind": "a test", "fingerprint": "", "content": None, "arrays": [lie]}
    content = sealed(header, b"")
    path.write_bytes(content)
    try:
        os.truncate(path, len(content) + n)
    except OSError:
        pytest.skip("files here have no holes")
    with pytest.raises(InputError, match="larger than the free memory"):
        checkpoint.load(path, "a test", "test")


def test_a_header_that_outgrows_its_text_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "state"
    checkpoint.save(path, "a test", "me", [[]] * 1000)
    text = path.read_bytes().split(b"\n", 2)[2]
    needed = 10 * len(text) + 200 * 1003  # with the list of lists, that of arrays, and the header
    monkeypatch.setattr(checkpoint, "free_memory", lambda: needed)
    assert checkpoint.load(path, "a test", "test").content == [[]] * 1000
    monkeypatch.setattr(checkpoint, "free_memory", lambda: needed - 1)
    with pytest.raises(InputError, match="larger than the free memory"):
        checkpoint.load(path, "a test", "test")


@pytest.mark.parametrize(
    "unit", ["[],", "{},", "[[[[[0]]]]],", '{"":{"":{"":0}}},', "257,", "1e9,", '"a",', "null,"]
)
def test_json_takes_no_more_than_it_is_given(unit):
    text = "[" + unit * (300_000 // len(unit)) + "0]"
    tracemalloc.start()
    json.loads(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_lists = text.count("[") + text.count("{")
    assert peak < checkpoint.PER_BYTE * len(text) + checkpoint.PER_LIST * n_lists


def test_memory_that_ends_all_the_same(tmp_path, monkeypatch):
    def fail(*args):
        raise MemoryError

    checkpoint.save(tmp_path / "state", "a test", "me", np.arange(3))
    monkeypatch.setattr(checkpoint.np, "fromfile", fail)
    with pytest.raises(InputError, match="larger than the free memory"):
        checkpoint.load(tmp_path / "state", "a test", "test")


def test_numbers_of_numpy_and_arrays_of_every_form(tmp_path):
    content = [
        np.int16(3), np.float32(0.5), np.bool_(True), np.array(7.5), np.empty((0, 3), dtype="<c8"),
        np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)), np.array([[True], [False]]),
    ]  # fmt: skip
    checkpoint.save(tmp_path / "state", "a test", "me", content)
    found = checkpoint.load(tmp_path / "state", "a test", "test").content
    assert found[:3] == [3, 0.5, True]
    for array, expected in zip(found[3:], content[3:], strict=True):
        assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(array, expected)


def test_arrays_and_places_that_were_changed_are_refused(tmp_path):
    path = tmp_path / "state"
    checkpoint.save(path, "a test", "me", {"gap": np.arange(8.0)})
    header, data = parts_of(path.read_bytes())
    for other, reason in (
        ({**header, "content": {"gap": 0}}, "in the place of something else"),
        ({**header, "arrays": [{**header["arrays"][0], "note": 1}]}, "a header of another form"),
        ({**header, "arrays": []}, "arrays of other sizes than stated"),
    ):
        path.write_bytes(sealed(other, data))
        with pytest.raises(InputError, match=reason):
            checkpoint.load(path, "a test", "test")
    path.write_bytes(sealed(header, data)[:-1] + b"?")
    with pytest.raises(InputError, match="damaged: the checksum differs"):
        checkpoint.load(path, "a test", "test")


def test_bools_are_true_or_false(tmp_path):
    path = tmp_path / "state"
    checkpoint.save(path, "a test", "me", np.array([True, False]))
    header, _ = parts_of(path.read_bytes())
    path.write_bytes(sealed(header, b"\x01\x02"))
    with pytest.raises(InputError, match="neither true nor false"):
        checkpoint.load(path, "a test", "test")


# Passes: which of the stored states are used.


class Count:
    """A statistic that counts parts."""

    def __init__(self, n=0):
        self.n = n

    def state(self):
        return {"n": self.n}

    def restore(self, state):
        if type(state.get("n")) is not int:
            raise ValueError("no count")
        self.n = state["n"]


class Fit:
    """A fit of two files with two parts each, whose times can change."""

    def __init__(self, folder, times=(1, 1)):
        self.path, self.times = folder / "state", list(times)

    def stamps(self, n_parts):
        return self.times[: -(-n_parts // 2)]

    def open(self):
        return checkpoint.Checkpoint(self.path, "a fit", "Fisher", self.stamps)

    def count(self, name, stop):
        """Count the parts of a pass, from where it was to `stop`; how many were new."""
        kept, count = self.open(), Count()
        first = kept.resume(name, count, 4)
        assert count.n == first
        for part in range(first, stop):
            count.n += 1
            kept.keep(name, part + 1, 4, count)
        return stop - first


@pytest.fixture
def fit(tmp_path, often):
    return Fit(tmp_path)


def test_a_pass_resumes_after_its_last_part(fit):
    assert fit.count("ranges", 3) == 3
    assert fit.count("ranges", 4) == 1
    assert fit.count("moments", 1) == 1
    assert fit.count("ranges", 4) == 0
    assert fit.count("moments", 4) == 3


def test_a_replaced_file_costs_its_own_parts_only(fit):
    fit.count("ranges", 3)
    fit.times[1] = 2
    assert fit.count("ranges", 4) == 2


def test_passes_after_one_that_must_be_made_again_are_dropped(fit):
    fit.count("ranges", 4)
    fit.count("moments", 2)
    fit.times[1] = 2
    kept = fit.open()
    assert list(kept.passes) == ["ranges"]
    assert kept.resume("ranges", Count(), 4) == 2


def test_nothing_is_left_when_the_first_file_is_another(fit):
    fit.count("ranges", 3)
    fit.times[0] = 2
    with pytest.raises(InputError, match="a fit with other data or parameters"):
        fit.open()


def test_nothing_is_stored_before_some_seconds_have_passed(fit, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 3600.0)
    kept = fit.open()
    assert not kept.is_due
    kept.keep("ranges", 3, 4, Count(3))
    kept.remember("cuts", 4, {"bins": np.arange(2)})
    assert not fit.path.exists()
    kept.keep("ranges", 4, 4, Count(4))
    assert fit.open().recall("cuts")["bins"].tolist() == [0, 1]
    kept.remember("cuts", 4, {}, instead_of="ranges")
    assert list(kept.passes) == ["cuts"]


@pytest.mark.parametrize(
    "passes",
    [
        None,
        [["ranges", [[-1, "[]", {}]]]],
        [["ranges", [[True, "[]", {}]]]],
        [["ranges", [[1, "[]", []]]]],
        [["ranges", [[1, "[]"]]]],
        [["ranges"]],
        7,
    ],
)
def test_states_of_another_form_are_refused(passes, fit):
    content = {} if passes is None else {"passes": passes}
    checkpoint.save(fit.path, "a scan", "a fit", content)
    with pytest.raises(InputError, match=r"Fisher: expected a checkpoint of a scan .* else"):
        fit.open()


@pytest.mark.parametrize(("n_parts", "state"), [(5, {"n": 5}), (2, {"n": "two"})])
def test_states_that_no_pass_has_are_refused(n_parts, state, fit):
    stamp = json.dumps(fit.stamps(n_parts))
    checkpoint.save(
        fit.path, "a scan", "a fit", {"passes": [["ranges", [[n_parts, stamp, state]]]]}
    )
    with pytest.raises(InputError, match="got something else"):
        fit.count("ranges", 4)
