import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from reference import learners as plain
from tamis.exceptions import InputError
from tamis.weighting import _estimators

# Their kernels take long to compile; the default run has them in tests of the selectors.
pytestmark = pytest.mark.slow

WORDS = ("svm", "nn", "lda", "cart")
TIGHT = {"tol": 1e-10, "max_iter": 100_000}


def make_table(n_rows=80, n_columns=30, n_classes=2, seed=0, signal=1.0):
    """Centred columns of which the first third tell the classes apart, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes).astype(np.int32)
    X = rng.standard_normal((n_rows, n_columns))
    informative = max(1, n_columns // 3)
    X[:, :informative] += signal * rng.standard_normal((n_classes, informative))[y]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def make_draws(X, n_drawn, n_train, n_test, n_draws=40, seed=1):
    """Columns, training rows and test rows."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, X.shape[1], (n_draws, n_drawn)),
        rng.integers(0, X.shape[0], (n_draws, n_train)),
        rng.integers(0, X.shape[0], (n_draws, n_test)),
    )


def task_of(X, y, balanced=False, one_vs_all=False, n_classes=None):
    values = np.ascontiguousarray(X.T)
    return _estimators.Task(values, y, n_classes or int(y.max()) + 1, balanced, one_vs_all)


def run(estimator, task, draws, params=None, n_jobs=1):
    return _estimators.make_errors(estimator, params, task, n_jobs, "OFW")(*draws)


def run_plain(predict, task, draws):
    """Errors by a literal twin ``predict(X, y, asked)``."""
    X = task.values.T
    return np.array(
        [
            plain.evaluate(predict, X, task.codes, *draw, balanced=task.balanced)
            for draw in zip(*draws, strict=True)
        ]
    )


def svm_twin(loss, C=1.0):
    options = {"loss": loss, "C": C, "dual": True, "intercept_scaling": 1.0}
    return LinearSVC(**options, tol=1e-8, max_iter=1_000_000, random_state=0)


KINDS = pytest.mark.parametrize(
    ("n_classes", "balanced"), [(2, False), (2, True), (4, False), (4, True)]
)


# Linear SVM


@pytest.mark.sampled(6)
@KINDS
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("one_vs_all", [True, False])
def test_svm_is_that_of_liblinear(n_classes, balanced, loss, one_vs_all):
    X, y = make_table(n_rows=120, n_classes=n_classes)
    task, draws = task_of(X, y, balanced, one_vs_all), make_draws(X[:80], 12, 50, 45, n_draws=20)
    # Other rows: a support vector is at distance 1 from several machines, a true tie.
    draws[2][:] = 80 + draws[2] % 40
    found = run("svm", task, draws, {"loss": loss, **TIGHT})
    np.testing.assert_allclose(found, run(svm_twin(loss), task, draws), atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 3.0])
def test_svm_with_more_columns_than_rows(loss, C):
    X, y = make_table(n_rows=60, n_columns=200, signal=0.5)
    task, draws = task_of(X, y), make_draws(X, 100, 40, 40)
    found = run("svm", task, draws, {"loss": loss, "C": C, **TIGHT})
    np.testing.assert_allclose(found, run(svm_twin(loss, C), task, draws), atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_svm_of_many_rows_works_on_the_rows_themselves(loss):
    from tamis.linear_svm.descent_kernels import MOST_ROWS_OF_PRODUCTS

    X, y = make_table(n_rows=900, n_columns=5)
    task, draws = task_of(X, y), make_draws(X, 4, 1200, 100, n_draws=4)
    assert min(np.unique(rows).size for rows in draws[1]) > MOST_ROWS_OF_PRODUCTS
    params = {"loss": loss, "C": 0.01, **TIGHT}
    found = run("svm", task, draws, params)
    np.testing.assert_allclose(found, run(svm_twin(loss, 0.01), task, draws), atol=1e-12)


def test_svm_worked_by_hand():
    # Rows -1 and 1: w = 1 without intercept solves it, so the border is 0, and 0 is class 0.
    X, y = np.array([[-1.0], [1.0], [0.25], [-0.25], [0.0]]), np.array([0, 1, 1, 1, 0], np.int32)
    one_column, rows = np.array([[0]]), np.array([[0, 1]])
    for asked, wrong in (([2, 2, 2], 0.0), ([3, 2], 0.5), ([4, 4], 0.0)):
        draws = one_column, rows, np.array([asked])
        assert run("svm", task_of(X, y), draws, TIGHT) == [wrong]


def test_svm_loose_tolerance_changes_few_answers():
    X, y = make_table(n_rows=72, n_columns=500, signal=0.5)
    task, draws = task_of(X, y), make_draws(X, 100, 60, 60, n_draws=200)
    loose, tight = run("svm", task, draws), run("svm", task, draws, TIGHT)
    assert abs(loose.mean() - tight.mean()) < 0.002
    assert np.abs(loose - tight).max() <= 0.1


# Nearest neighbours


@pytest.mark.sampled(6)
@KINDS
@pytest.mark.parametrize("n_neighbors", [1, 4, 7])
def test_neighbours_are_those_of_scikit_learn(n_classes, balanced, n_neighbors):
    # Continuous columns: only rows drawn several times are equally near, and they are one class.
    X, y = make_table(n_classes=n_classes)
    task, draws = task_of(X, y, balanced), make_draws(X, 6, 50, 45)
    found = run("nn", task, draws, {"n_neighbors": n_neighbors})
    peer = KNeighborsClassifier(n_neighbors, algorithm="kd_tree")
    np.testing.assert_allclose(found, run(peer, task, draws), atol=1e-12)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("metric", ["mismatch", "euclidean"])
@pytest.mark.parametrize("n_neighbors", [1, 4, 200])
@pytest.mark.parametrize("balanced", [False, True])
def test_tied_neighbours_share_the_last_places(metric, n_neighbors, balanced):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 8)).astype(float), rng.integers(0, 3, 60).astype(np.int32)
    task, draws = task_of(X, y, balanced), make_draws(X, 5, 40, 30)
    found = run("nn", task, draws, {"n_neighbors": n_neighbors, "metric": metric})
    expected = run_plain(
        lambda *sample: plain.nearest_neighbours(*sample, n_neighbors, metric), task, draws
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_mismatches_against_hamming_distance():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (200, 12)).astype(float), rng.integers(0, 2, 200).astype(np.int32)
    X[:, :4] = np.where(rng.random((200, 4)) < 0.5, y[:, None], X[:, :4])
    task, draws = task_of(X, y), make_draws(X, 6, 60, 60, n_draws=200)
    ours = run("nn", task, draws, {"n_neighbors": 5, "metric": "mismatch"})
    theirs = run(KNeighborsClassifier(5, metric="hamming"), task, draws)
    # Ties, which they break by position, are all that sets the two apart.
    gap = ours - theirs
    assert np.abs(gap).max() > 0
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(gap.size) + 0.005


# Linear discriminant


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("shrinkage", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("n_drawn", [3, 12, 60])
def test_discriminant_is_that_of_scikit_learn(n_classes, balanced, shrinkage, n_drawn):
    X, y = make_table(n_columns=90, n_classes=n_classes)
    task, draws = task_of(X, y, balanced), make_draws(X, n_drawn, 40, 35, n_draws=20)
    found = run("lda", task, draws, {"shrinkage": shrinkage})
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)
    np.testing.assert_allclose(found, run(peer, task, draws), atol=1e-12)
    expected = run_plain(lambda *sample: plain.linear_discriminant(*sample, shrinkage), task, draws)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_discriminant_does_not_see_offset_and_scale(offset, scale):
    X, y = make_table(n_classes=3)
    draws = make_draws(X, 40, 30, 30)
    moved = run("lda", task_of(X * scale + offset * scale, y), draws)
    np.testing.assert_allclose(moved, run("lda", task_of(X, y), draws), atol=1e-12)


@pytest.mark.slow
def test_discriminant_without_variance_goes_to_the_nearest_mean():
    y = np.array([0, 0, 1, 1, 1, 2, 2], dtype=np.int32)
    X = np.array([[0.1, 0.3], [0.7, 0.3], [0.7, -1.1]])[y]
    one = np.arange(7)[None]
    for columns, wrong in (([[0, 1]], 0.0), ([[0]], 2 / 7), ([[1]], 2 / 7)):
        # Column 0 cannot tell class 2 from 1, nor column 1 class 0 from 1: the larger class wins.
        np.testing.assert_allclose(run("lda", task_of(X, y), (np.array(columns), one, one)), wrong)
    np.testing.assert_allclose(
        run("lda", task_of(np.ones((7, 2)), y), (np.array([[0, 1]]), one, one)), 4 / 7
    )


# Trees


@pytest.mark.sampled(2)
@KINDS
@pytest.mark.parametrize("least", [1, 5])
def test_tree_of_one_column_is_that_of_scikit_learn(n_classes, balanced, least):
    # One column: no ties between columns, which scikit-learn breaks at random. Single precision,
    # in which scikit-learn compares.
    X, y = make_table(n_rows=200, n_classes=n_classes, signal=2.0)
    X = X.astype(np.float32).astype(np.float64)
    task, draws = task_of(X, y, balanced), make_draws(X, 1, 150, 100)
    found = run("cart", task, draws, {"max_depth": 6, "min_samples_leaf": least})
    peer = DecisionTreeClassifier(max_depth=6, min_samples_leaf=least, random_state=0)
    np.testing.assert_allclose(found, run(peer, task, draws), atol=1e-12)


@KINDS
def test_tree_of_large_leaves_is_that_of_scikit_learn(n_classes, balanced):
    # Large nodes: hardly two cuts are equally good.
    X, y = make_table(n_rows=600, n_columns=8, n_classes=n_classes, signal=0.7)
    X = X.astype(np.float32).astype(np.float64)
    task, draws = task_of(X, y, balanced), make_draws(X, 5, 500, 300)
    found = run("cart", task, draws, {"max_depth": 3, "min_samples_leaf": 25})
    peer = DecisionTreeClassifier(max_depth=3, min_samples_leaf=25, random_state=0)
    differs = np.abs(found - run(peer, task, draws)) > 1e-12
    assert differs.mean() <= 0.05


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("max_depth", [1, 5, 50])
@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("n_values", [2, 4, None])
def test_tree_is_the_one_written_out(n_classes, max_depth, least, n_values):
    X, y = make_table(n_rows=60, n_columns=8, n_classes=n_classes, signal=0.7)
    if n_values is not None:
        X = np.floor(X * n_values / 4)
    task, draws = task_of(X, y), make_draws(X, 4, 40, 30, n_draws=8)
    found = run("cart", task, draws, {"max_depth": max_depth, "min_samples_leaf": least})
    expected = run_plain(lambda *sample: plain.tree(*sample, max_depth, least), task, draws)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_tree_learns_exclusive_or_though_the_first_cut_gains_nothing():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    y = np.array([0, 1, 1, 0], dtype=np.int32)
    rows = np.arange(4)[None]
    draws = np.array([[0, 1]]), rows, rows
    assert run("cart", task_of(X, y), draws, {"max_depth": 2}) == [0.0]
    assert run("cart", task_of(X, y), draws, {"max_depth": 1}) == [0.5]


# All learners


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("balanced", [False, True])
def test_sample_of_one_class_is_answered_by_that_class(word, balanced):
    X, y = make_table(n_classes=3)
    rows = np.flatnonzero(y == 1)[:10][None]
    asked = np.concatenate([np.flatnonzero(y == 1)[:6], np.flatnonzero(y == 2)[:3]])[None]
    task = task_of(X, y, balanced)
    draws = np.array([[0, 3, 7]]), rows, asked
    expected = 0.5 if balanced else 3 / 9
    np.testing.assert_allclose(run(word, task, draws), expected)
    np.testing.assert_allclose(run(LinearSVC(), task, draws), expected)


@pytest.mark.parametrize("word", WORDS)
def test_classes_that_were_not_drawn_are_not_answered(word):
    # Far rows of class 2: whatever is answered for them is wrong, and the others stay right.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20).astype(np.int32)
    X = rng.normal(size=(60, 4)) * 0.1 + np.array([-2.0, 2.0, 50.0])[y][:, None]
    rows, asked = np.arange(40)[None], np.arange(60)[None]
    draws = np.array([[0, 1, 2, 3]]), rows, asked
    np.testing.assert_allclose(run(word, task_of(X, y), draws), 1 / 3)
    np.testing.assert_allclose(run(word, task_of(X, y, balanced=True), draws), 1 / 3)


@pytest.mark.parametrize("word", WORDS)
def test_balanced_error_leaves_out_classes_that_are_not_tested(word):
    X, y = make_table(n_classes=3)
    asked = 40 + np.flatnonzero(y[40:] != 0)[None]
    draws = np.array([[1, 2, 5]]), np.arange(40)[None], asked
    twice = np.concatenate([asked, asked[:, y[asked[0]] == 1]], axis=1)
    more = draws[0], draws[1], twice
    balanced, again = (run(word, task_of(X, y, True), these)[0] for these in (draws, more))
    assert balanced == pytest.approx(again)
    assert 0 < balanced < 1


@pytest.mark.parametrize("word", WORDS)
def test_columns_are_a_set(word):
    X, y = make_table(n_classes=3)
    _, train, test = make_draws(X, 1, 40, 40)
    once, twice = np.full((40, 3), [4, 9, 2]), np.full((40, 5), [9, 9, 2, 4, 2])
    task = task_of(X, y)
    np.testing.assert_array_equal(
        run(word, task, (once, train, test)), run(word, task, (twice, train, test))
    )


@pytest.mark.parametrize("word", WORDS)
def test_order_of_the_sample_does_not_matter(word):
    X, y = make_table(n_classes=3)
    columns, train, test = make_draws(X, 5, 40, 40)
    task = task_of(X, y)
    np.testing.assert_array_equal(
        run(word, task, (columns, train, test)),
        run(word, task, (columns[:, ::-1].copy(), train[:, ::-1].copy(), test[:, ::-1].copy())),
    )


@pytest.mark.parametrize(
    ("word", "params", "peer"),
    [
        ("svm", TIGHT, svm_twin("hinge")),
        ("nn", {}, KNeighborsClassifier(1)),
        ("lda", {}, LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1)),
        ("cart", {}, DecisionTreeClassifier(max_depth=5, random_state=0)),
    ],
)
def test_draw_of_one_column(word, params, peer):
    X, y = make_table(n_rows=60, n_columns=6, signal=2.0)
    X = X.astype(np.float32).astype(np.float64)
    task, draws = task_of(X, y), make_draws(X, 1, 40, 40)
    np.testing.assert_allclose(run(word, task, draws, params), run(peer, task, draws), atol=1e-12)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_jobs_and_batches_do_not_change_a_bit(word, n_classes):
    X, y = make_table(n_classes=n_classes)
    task, draws = task_of(X, y), make_draws(X, 20, 40, 40, n_draws=9)
    one = run(word, task, draws)
    np.testing.assert_array_equal(one, run(word, task, draws, n_jobs=2))
    np.testing.assert_array_equal(one, run(word, task, draws, n_jobs=4))
    alone = [run(word, task, [part[d : d + 1] for part in draws])[0] for d in range(9)]
    np.testing.assert_array_equal(one, alone)


@pytest.mark.parametrize("word", ["nn", "lda", "cart"])
def test_learners_of_all_classes_know_no_one_vs_all(word):
    X, y = make_table(n_classes=4)
    draws = make_draws(X, 6, 40, 40)
    plain_task, other = task_of(X, y), task_of(X, y, one_vs_all=True)
    np.testing.assert_array_equal(run(word, plain_task, draws), run(word, other, draws))


@pytest.mark.parametrize("word", WORDS)
def test_errors_are_finite_on_constant_columns(word):
    X, y = np.zeros((30, 3)), (np.arange(30) % 2).astype(np.int32)
    found = run(word, task_of(X, y), make_draws(X, 2, 20, 20))
    assert np.isfinite(found).all()
    assert abs(found.mean() - 0.5) < 0.1


# The general path


@pytest.mark.slow
@pytest.mark.parametrize("one_vs_all", [False, True])
def test_any_classifier_is_trained_on_the_drawn_rows_and_columns(one_vs_all):
    X, y = make_table(n_classes=3)
    task, draws = task_of(X, y, balanced=True, one_vs_all=one_vs_all), make_draws(X, 5, 40, 40)
    pipeline = make_pipeline(StandardScaler(), RidgeClassifier())  # neither has predict_proba
    found = run(pipeline, task, draws)

    def expected(draw, train, test):
        columns = np.unique(draw)
        inside, outside = X[np.ix_(train, columns)], X[np.ix_(test, columns)]
        if not one_vs_all:
            return plain.error(pipeline.fit(inside, y[train]).predict(outside), y[test], True)
        rates = [
            plain.error(pipeline.fit(inside, y[train] == c).predict(outside), y[test] == c, True)
            for c in range(3)
        ]
        return np.mean(rates)

    np.testing.assert_allclose(found, [expected(*draw) for draw in zip(*draws, strict=True)])
    np.testing.assert_array_equal(found, run(pipeline, task, draws, n_jobs=2))


def test_general_path_leaves_the_classifier_as_it_was():
    X, y = make_table()
    classifier = KNeighborsClassifier(3)
    run(classifier, task_of(X, y), make_draws(X, 5, 40, 40, n_draws=2))
    assert not hasattr(classifier, "classes_")


# Words and settings


@pytest.mark.parametrize("word", WORDS)
def test_defaults_are_accepted(word):
    _estimators.check_estimator_choice(word, None, "OFW")
    assert _estimators.read_options(word, {}, "OFW").keys() == _estimators.OPTIONS[word].keys()


@pytest.mark.parametrize(
    ("estimator", "params", "message"),
    [
        ("tree", None, r"OFW: estimator must be .*'svm'.*'cart'.*got 'tree'"),
        (3, None, r"OFW: estimator must be .*classifier, got 3"),
        (LinearSVC, None, r"OFW: estimator must be .*classifier, got <class"),
        (object(), None, r"OFW: estimator must be .*classifier, got <object"),
        (StandardScaler(), None, r"classifier, got StandardScaler\(\)"),
        ("svm", {"gamma": 1}, r"estimator_params of 'svm' may hold C, loss, tol, max_iter, got 'g"),
        ("svm", {"C": 0.0}, r"estimator_params\['C'\] must be .*got 0.0"),
        ("svm", {"loss": "log"}, r"estimator_params\['loss'\] must be .*got 'log'"),
        ("nn", {"n_neighbors": 0}, r"estimator_params\['n_neighbors'\] must be .*got 0"),
        ("nn", {"metric": "hamming"}, r"'euclidean'.*'mismatch'.*got 'hamming'"),
        ("lda", {"shrinkage": 0.0}, r"estimator_params\['shrinkage'\] must be .*got 0.0"),
        ("lda", {"shrinkage": 1.5}, r"estimator_params\['shrinkage'\] must be .*got 1.5"),
        ("cart", {"max_depth": 2.5}, r"estimator_params\['max_depth'\] must be .*got 2.5"),
        (LinearSVC(), {"C": 2.0}, r"built-in estimators, got \{'C': 2.0\} with LinearSVC"),
    ],
)
def test_wrong_words_and_settings_are_named(estimator, params, message):
    with pytest.raises(InputError, match=message):
        _estimators.check_estimator_choice(estimator, params, "OFW")
