"""compare: all that was asked for, in the same numbers however it is computed."""

import io
import os
import signal
import sys
import types

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression, LogisticRegression

import tamis
from reference.failing import Broken, Stopped
from tamis._runtime import progress as progress_
from tamis._runtime.fingerprint import canonical, data_fingerprint
from tamis._runtime.seeds import seed_of
from tamis.evaluation import compare
from tamis.evaluation.protocols import Folds, RepeatedSplits
from tamis.evaluation.run import workers as _workers
from tamis.evaluation.run.compare import Timing
from tamis.evaluation.run.plan import make_plan, read_tables
from tamis.evaluation.store import Store
from tamis.exceptions import InputError, SelectionWarning

QUIET = {"progress": False, "learners": LogisticRegression(), "n_jobs": 1}


def made(seed=0, n=40, columns=12):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, columns)), np.arange(n) % 2
    X[:, :3] += y[:, None]
    return X, y


@pytest.fixture(scope="module", autouse=True)
def no_processes_left():
    yield
    _workers.drop_processes()


@pytest.mark.slow
def test_every_combination_is_there_once():
    learners = {"a": LogisticRegression(), "b": "knn"}
    found = compare(
        ["dft", tamis.Fisher(), tamis.DFT(n_bins=4), "fisher"],
        {"one": made(0), "two": made(1)},
        protocol=3,
        counts=[2, 5],
        learners=learners,
        metrics=["accuracy", "auc"],
        n_jobs=1,
        progress=False,
    )
    table = found.table()
    assert list(table) == ["data", "method", "split", "count", "learner", "metric", "value"]
    assert found.methods == ["dft", "Fisher", "DFT(n_bins=4)", "fisher"]
    assert len(table) == 4 * 2 * 3 * 2 * 2 * 2
    assert not table.drop(columns="value").duplicated().any()
    assert table["value"].between(0, 1).all()
    assert set(table["learner"]) == {"a", "b"}


def test_the_value_is_that_of_the_top_columns_on_the_test_rows():
    X, y = made()
    found = compare(["fisher"], (X, y), protocol=Folds(4), counts=[3], **QUIET)
    table = found.table()
    for i, split in enumerate(Folds(4).splits(X, y, True)):
        order = tamis.Fisher(n_features_to_select="all").fit(X[split.train], y[split.train]).order_
        np.testing.assert_array_equal(found.rankings("data", "fisher")[i], order)
        model = LogisticRegression().fit(X[split.train][:, order[:3]], y[split.train])
        expected = model.score(X[split.test][:, order[:3]], y[split.test])
        mine = table[(table["split"] == split.name) & (table["metric"] == "accuracy")]
        assert mine["value"].tolist() == [expected]


@pytest.mark.slow
def test_jobs_do_not_change_the_numbers():
    methods = ["dft", "randomranking", tamis.TreeImportance(n_estimators=5)]
    data = {"dense": made(), "csr": (sparse.csr_array(made(3)[0].round()), made(3)[1])}
    options = {"protocol": RepeatedSplits(3), "counts": [2, 4], **QUIET, "learners": "svm"}
    one = compare(methods, data, **options)
    two = compare(methods, data, **{**options, "n_jobs": 2})
    pd.testing.assert_frame_equal(one.table(), two.table(), check_exact=True)
    for method in one.methods:
        np.testing.assert_array_equal(one.rankings("csr", method), two.rankings("csr", method))


def test_the_callers_tables_are_not_changed():
    X, y = made()
    before = X.copy(), y.copy()
    X.flags.writeable = False
    compare(["inffs", "dft"], (X, y), protocol=2, counts=[2], **QUIET)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("how", "n_jobs"), [("raise", 1), ("raise", 2), ("exit", 1), ("exit", 2)])
def test_a_broken_selector_does_not_stop_the_others(how, n_jobs):
    with pytest.warns(SelectionWarning, match=r"bad on data \(3x\).*failures"):
        found = compare(
            {"good": tamis.Fisher(), "bad": Broken(how=how), "better": "dft"},
            made(),
            protocol=3,
            counts=[2],
            **{**QUIET, "n_jobs": n_jobs},
        )
    assert set(found.table()["method"]) == {"good", "better"}
    failures = found.failures()
    assert failures["method"].tolist() == ["bad"] * 3
    assert failures["part"].tolist() == ["selector"] * 3
    word = "broken on purpose" if how == "raise" else "SystemExit"
    assert all(word in error for error in failures["error"])
    assert all("Traceback" in details for details in failures["details"])
    assert found.recommend().method in {"good", "better"}


@pytest.mark.slow
def test_a_selector_that_kills_its_process_does_not_stop_the_others():
    with pytest.warns(SelectionWarning, match=r"bad on data \(2x\)"):
        found = compare(
            {"good": tamis.Fisher(), "bad": Broken(how="die"), "better": "dft"},
            made(),
            protocol=2,
            counts=[2],
            **{**QUIET, "n_jobs": 2},
        )
    assert len(found.table()) == 2 * 2 * 3
    assert found.failures()["error"].str.contains("process").all()


@pytest.mark.slow
def test_selectors_that_processes_cannot_import(monkeypatch):
    # Not a class of this file: whether other processes find that depends on what else is installed
    # and on how pytest was started.
    module = types.ModuleType("made_while_running")
    exec("import tamis\nclass Lost(tamis.Fisher): pass", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    two = {**QUIET, "n_jobs": 2}
    with pytest.raises(InputError, match=r"No module named 'made_while_running'.*use n_jobs=1"):
        compare(["dft", module.Lost()], made(), protocol=2, counts=[2], **two)
    found = compare(["dft", module.Lost()], made(), protocol=2, counts=[2], **QUIET)
    assert found.methods == ["dft", "Lost"]


@pytest.mark.slow
def test_selectors_of_a_function_reach_the_processes():
    class Nested(tamis.Fisher):
        """Can be imported from nowhere, so all of it is sent, as from a notebook."""

        def _score(self, X, y, weight):
            scores, constant = super()._score(X, y, weight)
            return 1 / (1 + scores), constant

    options = {"protocol": 2, "counts": [2], **QUIET}
    one = compare([Nested()], made(), **options)
    two = compare([Nested()], made(), **{**options, "n_jobs": 2})
    pd.testing.assert_frame_equal(one.table(), two.table(), check_exact=True)


def test_a_learner_that_fails_leaves_holes():
    found = compare(["fisher"], made(), protocol=2, counts=[2], **{**QUIET, "learners": Unable()})
    assert found.table()["value"].isna().all()
    failures = found.failures()
    assert set(failures["part"]) == {"Unable"}
    assert failures["error"].str.contains("unable on purpose").all()
    with pytest.raises(InputError, match="failures"):
        found.recommend()


class Unable(LogisticRegression):
    def fit(self, X, y):
        raise RuntimeError("unable on purpose")


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal; what runs in the background of a shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_a_swallowed_interrupt_is_noticed(tmp_path):
    path = tmp_path / "runs.sqlite"
    with pytest.raises(KeyboardInterrupt):
        compare({"fine": "dft", "stopped": Stopped()}, made(), protocol=3, store=path, **QUIET)
    with Store(path) as store:  # the half-made ranking is not a result
        assert not [row for row in store.rows() if row.meta["method"] == "stopped"]


def test_stored_units_are_not_computed_again(tmp_path):
    path = tmp_path / "runs.sqlite"
    first = compare(["dft", "fisher"], made(), protocol=3, counts=[2], store=path, **QUIET)
    stamp = path.stat().st_mtime_ns
    again = compare(["fisher", "dft"], made(), protocol=3, counts=[2], store=path, **QUIET)
    assert path.stat().st_mtime_ns == stamp
    assert again.methods == ["fisher", "dft"]
    pd.testing.assert_frame_equal(
        first.table().query("method == 'dft'").reset_index(drop=True),
        again.table().query("method == 'dft'").reset_index(drop=True),
    )


def test_a_store_holds_many_comparisons(tmp_path):
    options = {"protocol": 2, "counts": [2], "store": tmp_path / "runs.sqlite", **QUIET}
    results = [
        compare(["dft"], made(0), **options),
        compare(["dft"], made(1), **options),
        compare([tamis.DFT(n_bins=3)], made(0), **options),
        compare(["dft"], made(0), **{**options, "counts": [3]}),
        compare(["dft"], made(0), random_state=1, **options),
        compare(["dft"], made(0), **{**options, "learners": LogisticRegression(C=2)}),
        compare(["dft"], made(0), **{**options, "protocol": RepeatedSplits(2)}),
    ]
    with Store(tmp_path / "runs.sqlite") as store:
        # Two splits and the halves of one pair, which do not depend on the estimator; and of two
        # splits the random features, which do not depend on the method.
        halves = {job.key for found in results for job in found._results.plan.jobs}
        assert len(store) == len(halves) < 6 * len(results)
    again = compare(["dft"], made(0), **options)
    pd.testing.assert_frame_equal(again.table(), results[0].table())


def test_an_open_store_stays_open():
    with Store() as store:
        compare(["dft"], made(), protocol=2, counts=[2], store=store, **QUIET)
        assert len(store) == 6  # two splits, two of random features, two halves


def test_disk_full_keeps_what_is_stored(tmp_path):
    X, y = made(columns=3000)
    options = {"protocol": 4, "counts": [2], **QUIET}
    with Store(tmp_path / "runs.sqlite") as store:
        store._connection.execute("PRAGMA max_page_count = 14")
        with pytest.raises(InputError, match="disk is full"):
            compare(["dft", "fisher"], (X, y), store=store, **options)
        assert 0 < len(store) < 8
    resumed = compare(["dft", "fisher"], (X, y), store=tmp_path / "runs.sqlite", **options)
    whole = compare(["dft", "fisher"], (X, y), **options)
    pd.testing.assert_frame_equal(resumed.table(), whole.table())


def test_units_have_different_seeds_that_do_not_depend_on_the_others():
    tables = read_tables({"a": made(0), "b": made(1)})
    arguments = ("svm", None, 0)
    plan = make_plan(tables, ["dft", "fisher"], 3, [2], *arguments)
    assert len({job.seed for job in plan.jobs}) == len(plan.jobs)
    smaller = make_plan(tables[1:], ["fisher"], 3, [2], *arguments)
    known = {job.key: job.seed for job in plan.jobs}
    assert all(known[job.key] == job.seed for job in smaller.jobs)
    found = compare(["randomranking"], made(), protocol=4, counts=[2], **QUIET)
    assert np.unique(found.rankings("data", "randomranking"), axis=0).shape[0] == 4


def test_fingerprints():
    X, y = made()
    assert data_fingerprint(X, y) == data_fingerprint(np.asfortranarray(X), y)
    changed = X.copy()
    changed[-1, -1] += 1e-12
    assert data_fingerprint(X, y) != data_fingerprint(changed, y)
    assert data_fingerprint(X, y) != data_fingerprint(X, 1 - y)
    assert data_fingerprint(X, y) != data_fingerprint(X[:, ::-1], y)
    assert data_fingerprint(X, y) != data_fingerprint(sparse.csr_array(X), y)
    names = np.array(["a", "b"] * 20)
    assert data_fingerprint(X, names) == data_fingerprint(X, names.astype(object))
    assert seed_of(0, "a") != seed_of(1, "a")
    assert 0 <= seed_of("anything") < 2**31


def test_parameters_that_matter_are_in_the_text():
    same = canonical(tamis.DFT(n_bins=8))
    assert same == canonical(tamis.DFT(n_bins=np.int64(8)))
    assert same != canonical(tamis.DFT(n_bins=9))
    forest = tamis.TreeImportance(n_estimators=10)
    assert canonical(forest) == canonical(forest.set_params(n_jobs=2))
    long = LogisticRegression(class_weight={i: i / 3 for i in range(500)})
    other = LogisticRegression(class_weight={i: i / 3 + (i == 499) for i in range(500)})
    assert repr(long) == repr(other) or len(repr(long)) < 2000  # shortened by scikit-learn
    assert canonical(long) != canonical(other)
    assert canonical(lambda model, X, y: 1.0) != canonical(lambda model, X, y: 2.0)
    assert "0x" not in canonical([object(), np.random.RandomState(0), len])


def test_all_forms_of_data():
    X, y = made()
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)]).assign(
        label=np.array(list("ab"))[y]
    )
    bunch = load_breast_cancer()
    for data, target, names in [
        ((X, y), None, ["data"]),
        ([X, y], None, ["data"]),
        (X, y, ["data"]),
        (frame, "label", ["data"]),
        (bunch, None, ["data"]),
        ({"a": (X, y), "b": bunch}, None, ["a", "b"]),
        ({"a": frame, "b": frame}, "label", ["a", "b"]),
    ]:
        tables = read_tables(data, target)
        assert [table.name for table in tables] == names
    assert read_tables(frame, "label")[0].columns[0] == "g0"
    assert read_tables(bunch)[0].columns[0] == "mean radius"
    assert read_tables((X, y + 0.5))[0].task == "regression"
    assert read_tables((X, y + 0.0))[0].task == "classification"


@pytest.mark.skipif("TAMIS_DATA" not in os.environ, reason="TAMIS_DATA is not set")
def test_data_sets_by_name():
    (table,) = read_tables(["madelon"])
    assert table.name == "madelon"
    assert table.probes.sum() == 480


@pytest.mark.parametrize(
    ("data", "target", "message"),
    [
        ({}, None, "at least one table"),
        (3, None, "must be .*got int"),
        (pd.DataFrame({"a": [1, 2]}), "b", "column of 'data', got 'b'"),
        (pd.DataFrame({"a": [1, 2]}), None, "expected a target"),
        ((np.ones((3, 2)), [0, 1]), None, "compare on 'data'.*3 values"),
        ((pd.DataFrame({"a": [f"{i} x" for i in range(20)]}), [0, 1] * 10), None, "column 'a'"),
    ],
)
def test_data_that_cannot_be_used(data, target, message):
    with pytest.raises(InputError, match=message):
        compare(["dft"], data, target=target)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"selectors": []}, "got none"),
        ({"selectors": ["dfd"]}, "Did you mean 'dft'"),
        ({"selectors": [tamis.DFT]}, "expected a selector"),
        ({"counts": [0]}, "counts"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": None}, "random_state must be"),
        ({"task": "both"}, "task must be"),
        ({"metrics": "mse"}, "metric for classification"),
        ({"learners": "svn"}, "svm"),
        ({"protocol": {"other": 3}}, "entry for every data set"),
    ],
)
def test_parameters_that_cannot_be_used(change, message):
    options = {"selectors": ["dft"], "data": made(), **change}
    with pytest.raises(InputError, match=message):
        compare(**options)


def test_counts_beyond_the_columns_mean_all():
    found = compare(["dft"], made(), protocol=2, **QUIET)
    assert found.counts() == (1, 2, 3, 5, 10, 12)
    found = compare(["dft"], made(), protocol=2, counts="grid", **QUIET)
    assert found.counts()[0] == 1
    assert found.counts()[-1] == 12


def test_regression():
    X, _ = made()
    y = X[:, 4] * 2 + 0.3 * np.random.default_rng(1).standard_normal(X.shape[0])
    found = compare(
        ["rft", "correlation", "variance"],
        (X, y),
        protocol=4,
        counts=[1, 12],
        **{**QUIET, "learners": LinearRegression()},
    )
    best = found.recommend()
    assert best.columns == ["x4"]
    assert best.score > 0.9
    assert best.metric == "r2"


def test_progress_goes_to_stderr_only(capfd, monkeypatch):
    monkeypatch.setattr("tamis._runtime.progress.SECONDS_BETWEEN_LINES", 0.0)
    lines = progress_.Lines(io.StringIO(), seconds=0.0)
    lines.update(3, 10, 1, 125.0)
    assert lines.stream.getvalue() == (
        "tamis compare: 3 of 10 units done, 1 failed; about 2 min left\n"
    )
    options = {**QUIET, "progress": True}
    compare(["dft"], made(), protocol=2, counts=[2], **options)
    assert capfd.readouterr().out == ""


def test_a_bar_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    bar = progress_.make_progress(True, stream)
    bar.update(5, 10, 0, 30.0)
    bar.close()
    assert "5 of 10 units done; about 30 s left" in stream.getvalue()
    assert type(progress_.make_progress(False, stream)) is progress_.Silence
    assert type(progress_.make_progress(True, io.StringIO())) is progress_.Lines


@pytest.mark.slow
def test_the_estimate_knows_slow_methods():
    timing = Timing()
    assert timing.remaining([(0, "slow")], [], 1) is None
    timing.add((0, "quick"), 1.0)
    timing.add((0, "slow"), 99.0)
    for seconds in (100.0, 101.0):
        timing.add((0, "slow"), seconds)
    # A plain average would say 75 s each.
    assert timing.remaining([(0, "quick")] * 10, [], 1) == pytest.approx(10)
    assert timing.remaining([(0, "slow")] * 4, [((0, "slow"), 40.0)], 2) == pytest.approx(230)
    # Nothing ends before its longest piece.
    assert timing.remaining([(0, "slow")], [], 8) == pytest.approx(100)
    # On other data: quick takes 20 times as long, so slow will, too.
    timing.add((1, "quick"), 20.0)
    assert timing.expected((1, "slow")) > timing.expected((1, "quick")) * 1.5
    timing.tell((2, "quick"), 7.0)
    assert timing.expected((2, "quick")) == 7.0
    timing.add((2, "quick"), 8.0)
    assert timing.expected((2, "quick")) == 8.0
