"""ILFS: tokens, topics, walks, streams and what users pass."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import tamis
from reference import ilfs as plain
from tamis.exceptions import InputError, SelectionWarning
from tamis.graph.ilfs import COLUMN_PRIOR, ILFS, walk_rank_one


def table(seed=0, n_rows=80, n_columns=14, n_classes=3, *, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, n_columns)) * rng.choice([1e-3, 1.0, 1e4], n_columns)
    X[:, 0] += y * np.abs(X[:, 0]).mean()
    X[:, 3] = 7.0
    X[:, 5] = X[:, 4]
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
        X[:, 9] = np.nan
        X[y > 0, 10] = np.nan
    return X, y


def everything(**options):
    return ILFS(n_features_to_select="all", **options)


def check_against_twin(fitted, X, y, *, weight=None, **options):
    """Compare with the plain algorithm after the same number of steps."""
    weight = np.ones(len(y)) if weight is None else weight
    n_classes = int(y.max()) + 1
    there = weight > 0
    counts = plain.token_counts(X[there], y[there], weight[there], n_classes, **options)[:, :-1]
    with np.errstate(invalid="ignore"):
        varies = np.array([np.unique(x[~np.isnan(x)]).size > 1 for x in X[there].T])
    inside = varies & counts.any(axis=1)
    if fitted.topics == "free":
        p, profile, path = plain.free_topics(counts[inside], fitted.n_iter_)
    else:
        p, profile, path = plain.anchored_topics(
            counts[inside], fitted.n_iter_, fitted.anchor, COLUMN_PRIOR
        )
    tokens = np.arange(profile.shape[1])
    if profile[0] @ tokens < profile[1] @ tokens:
        p, profile = 1 - p, profile[::-1]
    relevance, scores = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    relevance[inside], scores[inside] = p, plain.walk(p)
    np.testing.assert_allclose(fitted.relevance_, relevance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.scores_, scores, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(fitted.token_profile_, profile, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(fitted.log_likelihood_, path, rtol=1e-11)
    np.testing.assert_array_equal(fitted.constant_, ~varies)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("topics", ["anchored", "free"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("closeness", ["inverse", "complement"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_equals_the_plain_algorithm(topics, n_classes, closeness, missing):
    X, y = table(n_classes=n_classes, missing=missing)
    tol = 1e-4 if topics == "free" else 1e-7
    fitted = everything(topics=topics, closeness=closeness, tol=tol).fit(X, y)
    check_against_twin(fitted, X, y, closeness=closeness)


@pytest.mark.parametrize("n_tokens", [2, 6, 11])
def test_weights_and_tokens_equal_the_plain_algorithm(n_tokens):
    X, y = table(seed=1, missing=0.1)
    weight = np.random.default_rng(2).choice([0.0, 0.25, 1.0, 2.5], len(y))
    fitted = everything(n_tokens=n_tokens, anchor=2.0).fit(X, y, sample_weight=weight)
    assert fitted.token_profile_.shape == (2, n_tokens)
    check_against_twin(fitted, X, y, weight=weight, n_tokens=n_tokens)


@pytest.mark.parametrize(
    "p", [[0.3, 0.9, 0.5], [0.7], [1.0, 1.0], [1e-8, 0.5], [0.25] * 30], ids=str
)
def test_the_walk_in_closed_form_equals_the_inverse(p):
    p = np.array(p)
    np.testing.assert_allclose(walk_rank_one(p), plain.walk(p), rtol=1e-9, atol=1e-12)


def test_the_walk_never_reorders_and_knows_zero():
    p = np.random.default_rng(0).random(50)
    np.testing.assert_array_equal(np.argsort(walk_rank_one(p)), np.argsort(p))
    np.testing.assert_array_equal(walk_rank_one(np.zeros(3)), np.zeros(3))


def test_both_closeness_definitions_agree_for_two_classes():
    X, y = table(n_classes=2, missing=0.1)
    one, other = (everything(closeness=c).fit(X, y).scores_ for c in ("inverse", "complement"))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("topics", ["anchored", "free"])
def test_mirrored_labels_give_the_same_scores(topics):
    X, y = table(n_classes=2)
    one, other = everything(topics=topics).fit(X, y), everything(topics=topics).fit(X, 1 - y)
    np.testing.assert_allclose(other.scores_, one.scores_, rtol=1e-9)
    np.testing.assert_array_equal(other.order_, one.order_)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_a_perfect_column_is_best_and_a_constant_one_last(n_classes):
    rng = np.random.default_rng(3)
    y = np.arange(120) % n_classes
    X = rng.normal(size=(120, 10))
    X[:, 4] = y  # no variance within the classes
    X[:, 7] = 0.1
    fitted = everything().fit(X, y)
    assert fitted.order_[0] == 4
    assert fitted.order_[-1] == 7
    assert fitted.scores_[7] == fitted.relevance_[7] == 0.0
    assert (fitted.scores_[np.arange(10) != 7] > 0).all()
    assert fitted.constant_.tolist() == [j == 7 for j in range(10)]


def test_a_column_observed_in_one_class_is_not_in_the_graph():
    X, y = table(n_classes=2)
    X[y == 1, 8] = np.nan
    fitted = everything().fit(X, y)
    assert fitted.scores_[8] == fitted.relevance_[8] == 0.0
    assert not fitted.constant_[8]
    others = np.delete(np.arange(X.shape[1]), 8)
    alone = everything().fit(X[:, others], y)
    np.testing.assert_allclose(fitted.scores_[others], alone.scores_, rtol=1e-12)
    nothing = everything().fit(np.where(y[:, None] == 1, np.nan, X), y)
    np.testing.assert_array_equal(nothing.scores_, np.zeros(X.shape[1]))


def test_many_columns_of_noise_do_not_capture_the_topics():
    # Useless columns have all tokens in the middle, and a weak anchor lets a topic settle there.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 5000)
    X = rng.normal(size=(5000, 400))
    X[:, 0] += y
    X[:, 1] += 0.5 * y
    assert everything().fit(X, y).order_[:2].tolist() == [0, 1]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        sparse.csr_matrix,
        sparse.csr_array,
        sparse.csc_array,
    ],
    ids=["fortran", "strided", "csr_matrix", "csr", "csc"],
)
def test_layout_does_not_matter(layout, missing, weighted):
    X, y = table(seed=4, missing=missing)
    X[np.random.default_rng(5).random(X.shape) < 0.6] = 0.0
    weight = np.random.default_rng(6).random(len(y)) if weighted else None
    whole = everything().fit(X, y, sample_weight=weight)
    other = everything().fit(layout(X), y, sample_weight=weight)
    for name in ("scores_", "relevance_", "token_profile_", "log_likelihood_"):
        np.testing.assert_allclose(getattr(other, name), getattr(whole, name), rtol=1e-11)
    np.testing.assert_array_equal(other.constant_, whole.constant_)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
def test_types_of_numbers(dtype):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 100, size=(80, 6)).astype(dtype)
    y = rng.integers(0, 3, 80)
    check_against_twin(everything().fit(X, y), X.astype(np.float64), y)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_do_not_change_a_bit(order, n_classes, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X, y = table(seed=8, n_rows=700, n_columns=150, n_classes=n_classes, missing=0.05)
    X = np.asarray(X, order=order)
    one, many = (everything(n_jobs=n).fit(X, y) for n in (1, 5))
    for name in ("scores_", "relevance_", "token_profile_", "log_likelihood_", "order_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_blocks_equal_the_whole(size, make):
    X, y = table(seed=9, missing=0.1)
    labels = np.array(["m", "a", "z"])[y]
    weight = np.random.default_rng(10).choice([0.5, 1.0, 2.0], len(y))
    whole = ILFS(n_features_to_select=4).fit(X, labels, sample_weight=weight)
    stream = ILFS(n_features_to_select=4)
    blocks = [slice(start, start + size) for start in range(0, len(y), size)]
    for rows in blocks:
        stream.learn_moments(make(X[rows]), labels[rows], sample_weight=weight[rows])
    for rows in blocks[::-1]:
        stream.partial_fit(make(X[rows]), labels[rows], sample_weight=weight[rows])
    for name in ("scores_", "relevance_", "token_profile_", "log_likelihood_"):
        np.testing.assert_allclose(getattr(stream, name), getattr(whole, name), rtol=1e-12)
    for name in ("classes_", "support_", "constant_"):
        np.testing.assert_array_equal(getattr(stream, name), getattr(whole, name))


def test_the_first_block_gives_the_means_where_nothing_else_does():
    X, y = table(seed=11, n_rows=200)
    stream = everything().partial_fit(X[:90], y[:90]).partial_fit(X[90:], y[90:])
    learned = everything().learn_moments(X[:90], y[:90]).partial_fit(X, y)
    np.testing.assert_allclose(stream.scores_, learned.scores_, rtol=1e-12)
    np.testing.assert_array_equal(
        everything().partial_fit(X, y).scores_, everything().fit(X, y).scores_
    )


def test_a_stream_survives_pickling():
    X, y = table(seed=12)
    first = everything().learn_moments(X, y).partial_fit(X[:40], y[:40])
    resumed = pickle.loads(pickle.dumps(first)).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(resumed.scores_, first.partial_fit(X[40:], y[40:]).scores_)
    assert not hasattr(resumed.fit(X, y), "_gathered")


def test_order_of_calls_is_checked():
    X, y = table()
    with pytest.raises(InputError, match="learn_moments before partial_fit"):
        everything().partial_fit(X, y).learn_moments(X, y)
    with pytest.warns(SelectionWarning, match="starts again"):
        again = everything().fit(X, y).partial_fit(X[:60], y[:60])
    fresh = everything().partial_fit(X[:60], y[:60])
    np.testing.assert_array_equal(again.scores_, fresh.scores_)
    with pytest.raises(InputError, match=r"classes that have a mean.*got 2"):
        everything().partial_fit(X[y < 2], y[y < 2]).partial_fit(X, y)
    with pytest.raises(InputError, match="at least two classes"):
        everything().learn_moments(X[y < 1], y[y < 1]).partial_fit(X, y)
    with pytest.raises(InputError, match="PermutationNull"):
        ILFS(n_features_to_select=tamis.cutoff.PermutationNull()).partial_fit(X, y)


def test_rows_of_weight_zero_may_hold_unknown_classes():
    X, y = table()
    labels = np.where(np.arange(len(y)) == 5, 9, y)
    weight = np.where(labels == 9, 0.0, 1.0)
    fitted = everything().fit(X, labels, sample_weight=weight)
    kept = weight > 0
    assert fitted.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(fitted.scores_, everything().fit(X[kept], y[kept]).scores_)
    stream = everything().learn_moments(X[kept], y[kept])
    stream.partial_fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(stream.scores_, fitted.scores_, rtol=1e-12)


@pytest.mark.parametrize("method", ["fit", "partial_fit", "learn_moments"])
def test_infinite_and_huge_values_are_named(method):
    X, y = table()
    for value, message in ((np.inf, "inf in column 2"), (1e200, "finite variance.*column 2")):
        X[4, 2] = value
        with pytest.raises(InputError, match=message):
            getattr(everything(), method)(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_tokens": 1}, "n_tokens must be an int in"),
        ({"closeness": "far"}, "closeness must be 'inverse' or 'complement'"),
        ({"topics": "fixed"}, "topics must be 'anchored' or 'free'"),
        ({"anchor": 0.0}, "anchor must be a float above 0"),
        ({"max_iter": 0}, "max_iter must"),
        ({"tol": -1.0}, "tol must"),
        ({"n_jobs": 0}, "n_jobs must"),
    ],
)
def test_bad_parameters(options, message):
    X, y = table()
    with pytest.raises(InputError, match=message):
        ILFS(**options).fit(X, y)


def test_one_class_is_an_error():
    X, y = table()
    with pytest.raises(InputError, match="ILFS: expected a target with at least two classes"):
        ILFS().fit(X, np.zeros(len(y), int))


def test_unfinished_topics_warn():
    X, y = table()
    with pytest.warns(SelectionWarning, match="still changing after 1 steps"):
        fitted = everything(max_iter=1, tol=0.0).fit(X, y)
    assert fitted.n_iter_ == 1
    assert fitted.log_likelihood_.shape == (2,)


class Recorder:
    """A callback that writes down the steps and may interrupt one of them."""

    def __init__(self, interrupt=None):
        self.ended, self.interrupt = [], interrupt

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        if self.interrupt and self.ended.count(self.interrupt[0]) == self.interrupt[1]:
            raise KeyboardInterrupt


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of ten rows of the table."""
    monkeypatch.setattr("tamis.passes.memory.BLOCK_BYTES", 10 * 14 * 8)


@pytest.mark.usefixtures("small_blocks")
def test_callbacks_see_every_step():
    X, y = table()
    recorder = Recorder()
    fitted = everything().set_callbacks(recorder).fit(X, y)
    assert recorder.ended.count("class means step") == recorder.ended.count("tokens step") == 8
    assert recorder.ended.count("topics step") == fitted.n_iter_


@pytest.mark.usefixtures("small_blocks")
def test_interrupted_in_the_second_pass_keeps_the_rows_seen():
    X, y = table()
    selector = ILFS(n_features_to_select=3).set_callbacks(Recorder(("tokens step", 6)))
    with (
        pytest.warns(SelectionWarning, match="total weight of 60"),
        pytest.raises(KeyboardInterrupt),
    ):
        selector.fit(X, y)
    partial = everything().learn_moments(X, y).partial_fit(X[:60], y[:60])
    np.testing.assert_allclose(selector.scores_, partial.scores_, rtol=1e-12)
    assert selector.support_.all()


def test_interrupted_topics_keep_the_last_step():
    X, y = table()
    selector = ILFS(n_features_to_select=3).set_callbacks(Recorder(("topics step", 2)))
    with (
        pytest.warns(SelectionWarning, match="after 2 steps of the topics"),
        pytest.raises(KeyboardInterrupt),
    ):
        selector.fit(X, y)
    with pytest.warns(SelectionWarning, match="still changing"):
        two = everything(max_iter=2, tol=0.0).fit(X, y)
    np.testing.assert_array_equal(selector.scores_, two.scores_)
    assert selector.support_.all()


@pytest.mark.usefixtures("small_blocks")
def test_interrupted_in_the_first_pass_keeps_nothing():
    X, y = table()
    selector = ILFS().set_callbacks(Recorder(("class means step", 2)))
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert not hasattr(selector, "scores_")


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
def test_anchored_topics_beat_free_ones_on_prostate_ge():
    data = tamis.datasets.load("prostate_ge")
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    accuracy = {"anchored": [], "free": []}
    for train, test in StratifiedShuffleSplit(4, test_size=0.3, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        seen, unseen = scaler.transform(X[train]), scaler.transform(X[test])
        for topics, found in accuracy.items():
            order = everything(topics=topics).fit(X[train], y[train]).order_
            for k in (10, 50, 100, 200):
                machine = SVC(kernel="linear").fit(seen[:, order[:k]], y[train])
                found.append(machine.score(unseen[:, order[:k]], y[test]))
    assert np.mean(accuracy["anchored"]) > np.mean(accuracy["free"]) + 0.05
    assert np.mean(accuracy["anchored"]) > 0.85
