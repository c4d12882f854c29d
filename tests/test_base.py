"""The path from data to support, progress, interruption and bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import tamis
from tamis.exceptions import ColumnTypeError, InputError, SelectionWarning

X, Y = load_iris(return_X_y=True)


class Recorder:
    """A callback that writes down the steps, and may stop or interrupt the fit."""

    def __init__(self, interrupt_at=None, stop_at=None):
        self.begun, self.ended = [], []
        self.interrupt_at, self.stop_at = interrupt_at, stop_at
        self.set_up = self.torn_down = 0

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        if self.ended.count("cuts step") == self.interrupt_at:
            raise KeyboardInterrupt
        return self.ended.count("cuts step") == self.stop_at


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of ten rows of iris."""
    monkeypatch.setattr("tamis.passes.memory.BLOCK_BYTES", 10 * 4 * 8)


@pytest.mark.usefixtures("small_blocks")
def test_callbacks_see_every_block():
    recorder = Recorder()
    tamis.DFT().set_callbacks(recorder).fit(X, Y)
    assert recorder.begun.count("ranges step") == recorder.ended.count("cuts step") == 15
    assert recorder.begun[0] == recorder.ended[-1] == "fit"
    assert (recorder.set_up, recorder.torn_down) == (1, 1)


def test_callbacks_see_permutations_and_folds():
    recorder = Recorder()
    rule = tamis.cutoff.PermutationNull(level=0.1, n_permutations=9)
    # Weighted classes take a fit per permutation; else all are scored at once.
    selector = tamis.DFT(class_weight="balanced", n_features_to_select=rule)
    selector.set_callbacks(recorder).fit(X, Y)
    assert recorder.ended.count("permutations step") == 9
    at_once = Recorder()
    tamis.DFT(n_features_to_select=rule).set_callbacks(at_once).fit(X, Y)
    assert at_once.ended.count("permutations step") == 1
    assert recorder.ended.count("cuts step") == 1  # the fits inside the rule report to nobody
    recorder = Recorder()
    rule = tamis.cutoff.CrossValidated(DecisionTreeClassifier(random_state=0), cv=3)
    tamis.DFT(n_features_to_select=rule).set_callbacks(recorder).fit(X, Y)
    assert recorder.ended.count("folds step") == 3


@pytest.mark.usefixtures("small_blocks")
def test_scikit_learn_progress_bar(capsys):
    from sklearn.callback import ProgressBar

    tamis.RFT(n_features_to_select=2).set_callbacks(ProgressBar()).fit(X, Y)
    assert "RFT - cuts" in capsys.readouterr().out


@pytest.mark.usefixtures("small_blocks")
def test_interrupted_fit_keeps_the_rows_seen():
    shuffled = np.random.default_rng(0).permutation(len(Y))
    x, y = X[shuffled], Y[shuffled]
    selector = tamis.DFT().set_callbacks(Recorder(interrupt_at=6))
    with pytest.warns(SelectionWarning, match="weight of 60"), pytest.raises(KeyboardInterrupt):
        selector.fit(x, y)
    ranges = (x.min(axis=0), x.max(axis=0))
    part = tamis.DFT(ranges=ranges, n_features_to_select="all").fit(x[:60], y[:60])
    np.testing.assert_array_equal(selector.scores_, part.scores_)
    assert selector.support_.all()
    assert selector.transform(x).shape == x.shape


@pytest.mark.usefixtures("small_blocks")
def test_interrupted_in_the_first_pass_leaves_nothing_behind():
    class Early(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise KeyboardInterrupt

    selector = tamis.DFT().fit(X[:, :3], Y).set_callbacks(recorder := Early())
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, Y)
    assert not hasattr(selector, "scores_")
    assert recorder.torn_down == 1


@pytest.mark.usefixtures("small_blocks")
def test_a_callback_may_end_the_walk():
    shuffled = np.random.default_rng(1).permutation(len(Y))
    x, y = X[shuffled], Y[shuffled]
    selector = tamis.DFT(n_features_to_select="all").set_callbacks(Recorder(stop_at=5)).fit(x, y)
    ranges = (x.min(axis=0), x.max(axis=0))
    part = tamis.DFT(ranges=ranges, n_features_to_select="all").fit(x[:50], y[:50])
    np.testing.assert_array_equal(selector.scores_, part.scores_)


@pytest.mark.slow
def test_grid_search_over_the_cut():
    pipeline = make_pipeline(tamis.DFT(), DecisionTreeClassifier(random_state=0))
    grid = {"dft__n_features_to_select": [1, 0.5, "elbow", tamis.cutoff.Threshold(0.2)]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, Y)
    assert search.best_score_ > 0.9


def test_recut_needs_no_data_and_no_second_fit(monkeypatch):
    selector = tamis.DFT().fit(X, Y)
    monkeypatch.setattr(tamis.DFT, "_score", None)
    assert selector.recut(1) is selector
    assert selector.transform(X).shape == (150, 1)
    assert selector.recut("all").n_selected_ == 4
    rule = tamis.cutoff.TopK(2, keep=["x1"])
    np.testing.assert_array_equal(selector.recut(rule).get_support(True), [1, 2])


def test_recut_with_a_rule_that_looks_at_the_data():
    selector = tamis.DFT().fit(X, Y)
    rule = tamis.cutoff.PermutationNull(level=0.1)
    with pytest.raises(InputError, match=r"recut\(rule, X, y\)"):
        selector.recut(rule)
    assert selector.recut(rule, X, Y).support_.all()
    again = tamis.DFT(n_features_to_select=rule).fit(X, Y)
    np.testing.assert_array_equal(selector.cut_details_["p_values"], again.cut_details_["p_values"])


def test_repr_in_a_notebook():
    frame = pd.DataFrame(X, columns=["a", "b", "<script>", "d"])
    html = tamis.DFT(n_features_to_select=2).fit(frame, Y)._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>c" not in html.replace("<script>\n", "")
    assert "2 of 4 columns selected" in html
    assert "columns selected" not in tamis.DFT()._repr_html_()


def test_warnings_point_at_the_caller():
    with pytest.warns(SelectionWarning) as caught:
        tamis.DFT(n_features_to_select=9).fit(X, Y)
    assert caught[0].filename == __file__


BAD_PARAMETERS = [
    ({"n_features_to_select": 0}, "n_features_to_select must be an int of at least 1.*got 0"),
    ({"n_features_to_select": -3}, "got -3"),
    ({"n_features_to_select": 1.5}, r"a float in \(0, 1\].*got 1.5"),
    ({"n_features_to_select": "elbw"}, "got 'elbw'"),
    ({"n_features_to_select": True}, "got True"),
    ({"n_features_to_select": None}, "got None"),
    ({"n_bins": 1}, "n_bins must be an int in .2, 1e.06., got 1"),
    ({"n_bins": 16.0}, "n_bins must be an int"),
    ({"n_bins": True}, "got True"),
    ({"n_jobs": 0}, "n_jobs must be"),
    ({"n_jobs": "two"}, "n_jobs must be"),
]


@pytest.mark.parametrize("selector", [tamis.DFT, tamis.RFT])
@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters(selector, parameters, message):
    with pytest.raises(InputError, match=f"^{selector.__name__}: .*{message}"):
        selector(**parameters).fit(X, Y)


def frame_with(column):
    return pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(bad=column)


INFINITE = X.copy()
INFINITE[3, 1] = -np.inf
BAD_DATA = [
    (X, Y[:-1], "expected a target with 150 values.*got 149"),
    (X, np.zeros(150, int), "one class|a target that varies"),
    (INFINITE, Y, "got inf in column 1.*NaN"),
    (frame_with([f"comment {j % 90}" for j in range(150)]), Y, "got column 'bad' with free text"),
    (frame_with([f"patient {j}" for j in range(150)]), Y, "got column 'bad' with identifier"),
    (frame_with([[j] for j in range(150)]), Y, "got column 'bad' with object"),
    (np.ones((150, 3)), Y, "expected at least one column with two different values"),
    (np.full((150, 3), np.nan), Y, "expected at least one column with two different values"),
    (np.empty((0, 3)), np.empty(0), "minimum of 1 is required"),
    (np.empty((150, 0)), Y, "minimum of 1 is required"),
    (X, None, "requires y to be passed"),
    (X, np.where(np.arange(150) == 4, np.nan, Y), "missing values.*row 4"),
    (X, np.stack([Y, Y], axis=1), "1d target"),
    (pd.DataFrame(X, columns=list("abca")), Y, "'a' 2 times"),
    (np.array([[-1.5e308], [1.5e308]] * 75), Y, "inf in column 0"),
]


@pytest.mark.parametrize("selector", [tamis.DFT, tamis.RFT])
@pytest.mark.parametrize(("x", "y", "message"), BAD_DATA)
def test_bad_data(selector, x, y, message):
    with pytest.raises(ValueError, match=message) as caught:
        selector().fit(x, y)
    assert selector.__name__ in str(caught.value)


def test_text_is_a_column_type_error():
    with pytest.raises(ColumnTypeError, match="OrdinalEncoder"):
        tamis.DFT().fit(frame_with([f"patient {j}" for j in range(150)]), Y)
    with pytest.raises(ColumnTypeError, match="column 1 with 'oops'"):
        tamis.DFT().fit(np.array([[1.0, "2"], [3.0, "oops"]], dtype=object), [0, 1])


def test_targets_of_the_wrong_kind():
    with pytest.raises(InputError, match=r"continuous numbers such as .*tamis\.RFT"):
        tamis.DFT().fit(X, X[:, 0])
    with pytest.raises(InputError, match=r"numeric target.*tamis\.DFT"):
        tamis.RFT().fit(X, Y.astype(str))
    with pytest.raises(InputError, match="1e150"):
        tamis.RFT().fit(X, np.where(Y == 0, 1e200, 0.0))


def test_asking_for_more_than_exist_keeps_all_and_warns():
    with pytest.warns(SelectionWarning, match="asked for 9 columns, but there are 4"):
        assert tamis.DFT(n_features_to_select=9).fit(X, Y).n_selected_ == 4
