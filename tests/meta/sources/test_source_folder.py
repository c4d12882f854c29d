"""FeatureSource.keep_in: whole files or none, found again by the next process."""

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tamis._runtime import checkpoint
from tamis.exceptions import InputError, MeasurementError, SelectionWarning
from tamis.meta import ArraySource, FeatureSource, FunctionSource
from tamis.meta.sources import _folder

resource = pytest.importorskip("resource", reason="needs signals and limits of Unix")

N = 150
TABLE = np.random.default_rng(0).normal(size=(5, N))
PAGE = "tamis-source.json"

# Processes that count every measurement in a file, killed by their parent. All of it is a program
# of its own, because a process without threads can be forked, which spares most of the time.
PROGRAM = """
import json, os, random, signal, sys, time
import numpy as np
from tamis.meta import FeatureSource
from tamis.meta.sources import _folder

_folder.SMALL_FILES = 7  # join files often, so that some kills fall into it
N = 150
table = np.random.default_rng(0).normal(size=(5, N))

class Source(FeatureSource):
    meta = np.arange(float(N))[:, None]
    batch_size = 1
    def measure(self, indices):
        os.write(self.log, f"{indices[0]}\\n".encode())
        time.sleep(0.001)
        return table[:, indices]

def start(folder, log, order):
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        source = Source()
        source.log = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        wanted = np.random.default_rng(order).permutation(N)
        found = source.keep_in(folder).columns(wanted)
        code = 0 if np.array_equal(found, table[:, wanted]) else 2
    finally:
        os._exit(code)

def lines(log):
    return [int(line) for line in open(log)] if os.path.exists(log) else []

def killed(folder, log):
    child, n_lines = start(folder, log, 0), random.randint(0, 30)
    while len(lines(log)) < n_lines and os.waitid(
        os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT
    ) is None:
        time.sleep(0.0005)
    time.sleep(random.uniform(0, 0.004))
    os.kill(child, signal.SIGKILL)
    return child

def code_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

folder, log = sys.argv[1:]
runs = []
for run in range(8):
    child = killed(folder, f"{log}{run}") if run < 7 else start(folder, f"{log}{run}", 0)
    code = code_of(child)
    stored = Source().keep_in(folder).measured.tolist()
    runs.append({"code": code, "measured": lines(f"{log}{run}"), "stored": stored})
sharing = [start(f"{folder}_shared", log, order) for order in (1, 2, 3)]
print(json.dumps([runs, [code_of(child) for child in sharing]]))
"""


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """A folder, what killed processes did, and how processes that share a folder ended."""
    folder = tmp_path_factory.mktemp("processes")
    # A warning of Tamis is an error; later Pythons warn of threads that BLAS may have.
    options = ["-W", "error", "-W", "ignore::DeprecationWarning", "-c", PROGRAM]
    command = [sys.executable, *options, folder / "kept", folder / "log"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return folder, *json.loads(output)


class Source(FeatureSource):
    """Counts what is measured."""

    meta = np.arange(float(N))[:, None]

    def __init__(self):
        self.calls = []

    def measure(self, indices):
        self.calls += indices.tolist()
        return TABLE[:, indices]


def files(folder):
    return sorted(Path(folder).glob("columns-*.tamis"))


@pytest.mark.slow
def test_killed_at_random_moments_nothing_stored_is_measured_again(processes):
    folder, runs, _ = processes
    stored = set()
    for run in runs:
        measured = run["measured"]
        assert not stored.intersection(measured)
        assert len(set(measured)) == len(measured)
        before, stored = stored, set(run["stored"])
        assert stored >= before
        assert len(set(measured) - stored) <= 1  # only what was under way is lost
    assert [run["code"] for run in runs].count(-signal.SIGKILL) >= 2
    assert runs[-1]["code"] == 0
    source = Source().keep_in(folder / "kept")
    np.testing.assert_array_equal(source.columns(range(N)), TABLE)
    np.testing.assert_array_equal(source.measured, np.random.default_rng(0).permutation(N))
    assert source.calls == []


@pytest.mark.slow
def test_processes_share_a_folder(processes):
    folder, _, codes = processes
    assert codes == [0, 0, 0]
    source = Source().keep_in(folder / "kept_shared")
    np.testing.assert_array_equal(source.columns(range(N)), TABLE)
    assert source.calls == []
    assert [path.name for path in (folder / "kept_shared").glob(".*")] == []


def test_found_again_whatever_holds_the_meta(tmp_path):
    first = Source()
    assert first.keep_in(tmp_path / "new" / "kept") is first
    first.columns([7, 3])
    first.columns([3, 9])
    again = Source().keep_in(str(tmp_path / "new" / "kept"))
    assert again.measured.tolist() == [7, 3, 9]
    assert (again.n_measured, again.spent, again.n_samples) == (3, 3.0, 5)
    np.testing.assert_array_equal(again.columns([9, 3, 0]), TABLE[:, [9, 3, 0]])
    assert again.calls == [0]

    def named(meta):
        source = Source()
        source.meta = meta
        return source

    table = {"a": [1.0, None, 3.0], "kind": ["x", None, "z"], "n": [1, 2, 3]}
    named(pd.DataFrame(table)).keep_in(tmp_path / "frame").columns([1])
    assert named(pl.DataFrame(table)).keep_in(tmp_path / "frame").n_measured == 1
    assert (
        named(pd.DataFrame(table).astype({"kind": "category"}))
        .keep_in(tmp_path / "frame")
        .n_measured
        == 1
    )


def test_what_was_measured_before_is_written_too(tmp_path):
    source = Source()
    source.columns([5, 4])
    Source().keep_in(tmp_path).columns([4, 1])
    source.keep_in(tmp_path)
    assert source.measured.tolist() == [5, 4, 1]
    assert Source().keep_in(tmp_path).n_measured == 3
    source.keep_in(tmp_path / "other")
    assert Source().keep_in(tmp_path / "other").measured.tolist() == [5, 4, 1]


def test_what_another_process_stored_meanwhile_is_used(tmp_path):
    source, other = Source().keep_in(tmp_path), Source().keep_in(tmp_path)
    other.columns([1, 2])
    source.columns([2, 3])
    assert source.calls == [3]


def _with(**changes):
    source = Source()
    for name, value in changes.items():
        setattr(source, name, value)
    return source


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (_with(meta=np.zeros((3, 1))), "columns for 150 candidates instead of 3"),
        (_with(meta=np.arange(N)[:, None] + 0.5), "other values or names in meta"),
        (_with(meta=pd.DataFrame({"a": np.arange(float(N))})), "other values or names in meta"),
        (_with(feature_names=[f"f{i}" for i in range(N)]), "other values or names in meta"),
    ],
)
def test_folder_of_another_source(tmp_path, other, message):
    Source().keep_in(tmp_path).columns([0])
    for page in (True, False):
        with pytest.raises(InputError, match=message if page else "columns of another source"):
            other.keep_in(tmp_path)
        assert other.n_measured == 0
        other.columns([0])  # it goes on without the folder
        other.forget()
        (tmp_path / PAGE).unlink(missing_ok=True)
    assert len(files(tmp_path)) == 1


def test_key_names_the_samples(tmp_path):
    Source().keep_in(tmp_path, key="spring").columns([0])
    assert Source().keep_in(tmp_path, key="spring").n_measured == 1
    for key in ("autumn", None):
        with pytest.raises(InputError, match=f"the key 'spring' instead of {key!r}"):
            Source().keep_in(tmp_path, key=key)
    with pytest.raises(InputError, match="key must be a str or None, got 3"):
        Source().keep_in(tmp_path, key=3)


def test_other_number_of_samples(tmp_path):
    Source().keep_in(tmp_path).columns([0])
    shorter = Source()
    shorter.measure = lambda indices: TABLE[:3, indices]
    shorter.columns([1])
    with pytest.raises(InputError, match="columns of 5 samples instead of 3"):
        shorter.keep_in(tmp_path)
    later = Source().keep_in(tmp_path)
    later.measure = shorter.measure
    with pytest.raises(MeasurementError, match="expected 5 rows, one per sample, got 3"):
        later.columns([1])
    # Two processes that both began before anything was there.
    first, second = Source().keep_in(tmp_path / "new"), Source().keep_in(tmp_path / "new")
    second.measure = shorter.measure
    first.columns([0])
    with pytest.raises((InputError, MeasurementError), match="5"):
        second.columns([1])
    assert Source().keep_in(tmp_path / "new").measured.tolist() == [0]


def test_another_program_s_page(tmp_path):
    (tmp_path / PAGE).write_text('{"format": "other"}')
    with pytest.raises(InputError, match="from another program or version"):
        Source().keep_in(tmp_path)
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="expected a folder or a place to create one"):
            Source().keep_in(path)


def _cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path):
    path.write_bytes(b"")


def _flip(path):
    """Change one bit of the numbers: only a checksum can tell."""
    content = bytearray(path.read_bytes())
    place = content.index(TABLE[:, 1].tobytes())
    content[place] ^= 1
    path.write_bytes(content)


def _text(path):
    path.write_text("no columns")


def _folder_instead(path):
    path.unlink()
    path.mkdir()


def _infinite(path):
    owner, content = checkpoint.read(path, _folder.KIND)
    content["columns"][:] = np.inf
    checkpoint.save(path, _folder.KIND, owner, content)


def _elsewhere(path):
    owner, content = checkpoint.read(path, _folder.KIND)
    content["indices"][:] = N
    checkpoint.save(path, _folder.KIND, owner, content)


def _objects(path):
    with path.open("wb") as file:
        np.savez(file, columns=np.array([{}], dtype=object))


@pytest.mark.parametrize(
    "damage",
    [_cut, _empty, _flip, _text, _folder_instead, _infinite, _elsewhere, _objects],
)
def test_damaged_files_are_ignored_and_measured_again(tmp_path, damage):
    source = Source().keep_in(tmp_path)
    source.columns([0])
    source.columns([1])
    damage(files(tmp_path)[1])
    again = Source()
    with pytest.warns(SelectionWarning, match="no whole columns of this source: columns-"):
        again.keep_in(tmp_path)
    np.testing.assert_array_equal(again.columns([0, 1]), TABLE[:, :2])
    assert again.calls == [1]


def test_foreign_files_and_a_damaged_page(tmp_path):
    Source().keep_in(tmp_path).columns([0])
    for name in ("notes.txt", "columns-1.tamis", "x.npz", "y.npy"):
        (tmp_path / name).write_text("mine")
    (tmp_path / ".hidden").write_text("")
    with pytest.warns(SelectionWarning, match=r"notes.txt .*and 1 more") as caught:
        assert Source().keep_in(tmp_path).n_measured == 1
    assert len(caught) == 1
    assert (tmp_path / "notes.txt").read_text() == "mine"
    for name in ("notes.txt", "columns-1.tamis", "x.npz", "y.npy"):
        (tmp_path / name).unlink()
    (tmp_path / PAGE).write_text("{")
    with pytest.warns(SelectionWarning, match=PAGE):
        assert Source().keep_in(tmp_path).n_measured == 1
    assert json.loads((tmp_path / PAGE).read_text())["n_samples"] == 5
    Source().keep_in(tmp_path)


def test_every_truncation_is_noticed(tmp_path):
    Source().keep_in(tmp_path).columns([0])
    (path,) = files(tmp_path)
    content = path.read_bytes()
    for length in range(0, len(content), 37):
        path.write_bytes(content[:length])
        again = Source()
        with pytest.warns(SelectionWarning, match="no whole columns"):
            again.keep_in(tmp_path)
        assert again.n_measured == 0


def test_few_files_and_those_of_a_killed_process_are_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(_folder, "SMALL_FILES", 10)
    for part in range(4):
        source = _with(batch_size=1).keep_in(tmp_path)
        source.columns(range(30 * part, 30 * part + 29))
        assert len(files(tmp_path)) <= 10
    again = Source().keep_in(tmp_path)
    assert again.measured.tolist() == [i for i in range(120) if i % 30 != 29]
    np.testing.assert_array_equal(again.columns(range(29)), TABLE[:, :29])


def test_large_files_are_not_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(_folder, "SMALL_FILES", 3)
    monkeypatch.setattr(_folder, "SMALL_BYTES", 40)  # a column has 5 x 8 bytes
    _with(batch_size=1).keep_in(tmp_path).columns(range(20))
    assert len(files(tmp_path)) == 20


def test_files_that_are_joined_while_they_are_read(tmp_path, monkeypatch):
    writer = _with(batch_size=1).keep_in(tmp_path)
    writer.columns(range(9))
    read_file, names = _folder._read_file, [path.name for path in files(tmp_path)]

    def joined_meanwhile(path):
        if path.name == names[4]:  # the rest vanishes now, and comes back as another file
            monkeypatch.setattr(_folder, "SMALL_FILES", 3)
            writer.columns([9])
        return read_file(path)

    monkeypatch.setattr(_folder, "_read_file", joined_meanwhile)
    assert Source().keep_in(tmp_path).measured.tolist() == list(range(10))


def test_unfinished_files_are_removed_when_old(tmp_path):
    Source().keep_in(tmp_path).columns([0])
    old, new = tmp_path / ".tamis-old.npz", tmp_path / ".tamis-new.npz"
    old.write_text("half")
    new.write_text("half")
    os.utime(old, (0, 0))
    assert Source().keep_in(tmp_path).n_measured == 1
    assert (old.exists(), new.exists()) == (False, True)


def _fail(*args, **kwargs):
    raise OSError(28, "No space left on device")


def test_full_disk(tmp_path, monkeypatch):
    source = Source().keep_in(tmp_path)
    source.columns([0])
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", _fail)
        with pytest.raises(InputError, match=r"No space left.*1 measured columns are kept in mem"):
            source.columns([1])
        # In memory it is, and on disk is what was there, whole.
        np.testing.assert_array_equal(source.columns([1]), TABLE[:, [1]])
        assert Source().keep_in(tmp_path).measured.tolist() == [0]
    source.columns([2])
    assert source.calls == [0, 1, 2]
    assert Source().keep_in(tmp_path).measured.tolist() == [0, 1, 2]


def test_full_disk_while_joining_harms_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(_folder, "SMALL_FILES", 3)
    source = _with(batch_size=1).keep_in(tmp_path)
    with monkeypatch.context() as full:
        full.setattr(_folder.Folder, "_join_small", lambda *_: _full())
        source.columns(range(6))
    assert len(files(tmp_path)) == 6
    source.columns([6])
    assert len(files(tmp_path)) == 1
    assert Source().keep_in(tmp_path).n_measured == 7


def _full():
    raise InputError("disk full")


def test_limit_of_the_system_on_file_size(tmp_path):
    source = Source().keep_in(tmp_path)
    source.columns([0])
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        with pytest.raises(InputError, match="kept in memory only"):
            source.columns([1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert len(files(tmp_path)) == 1
    assert list(tmp_path.glob(".tamis-*")) == []
    source.keep_in(tmp_path)
    assert Source().keep_in(tmp_path).measured.tolist() == [0, 1]


def test_folder_that_cannot_be_written_is_told_before_measuring(tmp_path, monkeypatch):
    Source().keep_in(tmp_path).columns([0])
    source = Source().keep_in(tmp_path)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tamis._runtime.atomic.os.open", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        source.columns([1])
    assert source.calls == []
    np.testing.assert_array_equal(source.columns([0]), TABLE[:, [0]])


def test_interrupt_while_writing(tmp_path, monkeypatch):
    source = Source().keep_in(tmp_path)
    save, stopped = checkpoint.save, []

    def interrupted(*args, **kwargs):
        if not stopped:
            stopped.append(True)
            raise KeyboardInterrupt
        save(*args, **kwargs)

    monkeypatch.setattr(checkpoint, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        source.columns([0, 1])
    assert Source().keep_in(tmp_path).measured.tolist() == [0, 1]
    source.columns([1, 0])
    assert source.calls == [0, 1]


def test_failures_are_not_stored(tmp_path):
    source = Source().keep_in(tmp_path)
    source.measure = lambda indices: TABLE[:, indices] / (0 if 2 in indices else 1)
    with np.errstate(divide="ignore"):
        assert source.available([1]).tolist() == [1]
        assert source.available([2]).size == 0
    again = Source().keep_in(tmp_path)
    assert again.failures == {}
    np.testing.assert_array_equal(again.columns([1, 2]), TABLE[:, [1, 2]])
    assert again.calls == [2]


def test_forget_leaves_the_files(tmp_path):
    source = Source().keep_in(tmp_path)
    source.columns([3])
    source.forget()
    source.columns([4])
    assert source.n_measured == 1
    assert Source().keep_in(tmp_path).measured.tolist() == [3]


def test_a_copy_uses_the_same_folder(tmp_path):
    source = Source().keep_in(tmp_path)
    source.columns([3])
    twin = pickle.loads(pickle.dumps(source))
    twin.columns([4])
    source.columns([4])
    assert source.calls == [3]
    assert Source().keep_in(tmp_path).measured.tolist() == [3, 4]


def test_results_of_a_function_are_written_as_they_arrive(tmp_path):
    meta = np.arange(float(N))[:, None]

    def function(index):
        if index == 20:
            raise KeyboardInterrupt
        return TABLE[:, index]

    source = FunctionSource(function, meta, n_jobs=1).keep_in(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        source.columns(range(30))
    assert Source().keep_in(tmp_path).measured.tolist() == list(range(20))


def test_relative_path_survives_a_change_of_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Source().keep_in("kept")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    source.columns([1])
    assert Source().keep_in(tmp_path / "kept").n_measured == 1


def test_names_of_properties_may_come_twice(tmp_path):
    meta = pd.DataFrame([[0.0, 1.0], [2.0, 3.0]], columns=["a", "a"])
    ArraySource(np.eye(2), meta).keep_in(tmp_path).columns([1])
    assert ArraySource(np.eye(2), meta.copy()).keep_in(tmp_path).n_measured == 1
    with pytest.raises(InputError, match="other values or names in meta"):
        ArraySource(np.eye(2), meta + 1).keep_in(tmp_path)
