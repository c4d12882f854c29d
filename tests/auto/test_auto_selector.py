"""AutoSelector and answer: what is found, what is not, and what is said about it."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import tamis
from tamis import AutoSelector
from tamis.auto import expected, investigation
from tamis.exceptions import InputError, SelectionWarning

QUICK = {"time_limit": 0.2}  # the poorest plan
pytestmark = pytest.mark.filterwarnings("ignore:AutoSelector. no column was selected")


@pytest.fixture(autouse=True)
def never_late(monkeypatch):
    """A busy machine must not end the folds: plans are quick, the clock is not looked at."""
    monkeypatch.setattr(investigation.Investigation, "_is_late", lambda self, share: False)


def linear(seed=0, n=80, p=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 2 * X[:, 3] - 3 * X[:, -4] + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def regression():
    X, y = linear()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    frame["copy"] = frame["gene 8"] * 2 + 1e-3 * np.arange(80)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(investigation.Investigation, "_is_late", lambda self, share: False)
        return tamis.answer(frame, y, **QUICK)


def test_finds_what_matters(regression):
    assert regression.found
    assert {"gene 3"} < set(regression.columns) <= {"gene 3", "gene 8", "copy"}
    assert regression.expected_score > 0.95
    assert regression.low < regression.expected_score < regression.high <= 1.0
    assert regression.baseline("guessing").score < 0.1
    assert regression.task == "regression"


def test_every_feature_has_its_evidence(regression):
    features = {each.feature: each for each in regression.features}
    assert features["gene 3"].effect == "increasing"
    assert features["gene 3"].replaceable_by == []
    other = "copy" if "copy" in features else "gene 8"
    assert features[other].effect == "decreasing"
    (name, r), *_ = features[other].replaceable_by
    assert {name, other} == {"copy", "gene 8"}
    assert r > 0.99
    for each in regression.features:
        assert 0 <= each.frequency_low <= each.frequency <= each.frequency_high <= 1
        assert 0 < each.q_value <= 0.1
        assert each.e_value is None  # too few rows


def test_page_frame_and_dictionary_agree(regression):
    text = str(regression)
    assert text.startswith(" ".join(regression.verdict.split()[:5]))
    for name in regression.columns:
        assert name in text
    assert list(regression.to_frame()["feature"]) == regression.columns
    shown = json.loads(json.dumps(regression.to_dict(), allow_nan=False))
    assert shown["columns"] == regression.columns
    assert shown["expected_score"] == regression.expected_score


def test_selector_of_the_answer_goes_into_a_pipeline(regression):
    X, y = linear(1)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)]).assign(copy=X[:, 8])
    selector = regression.selector
    assert list(selector.get_feature_names_out()) == [
        name for name in frame.columns if name in regression.columns
    ]
    assert (
        LinearRegression().fit(selector.transform(frame), y).score(selector.transform(frame), y)
        > 0.95
    )


def test_noise_is_called_noise():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 20)), np.arange(60) % 2
    with pytest.warns(SelectionWarning, match="Nothing here beats chance"):
        selector = AutoSelector(**QUICK).fit(X, y)
    answer = selector.answer_
    assert not answer.found
    assert answer.columns == []
    assert answer.verdict.startswith("Nothing here beats chance")
    assert answer.p_value > 0.1
    assert answer.low < 0.5 < answer.high
    assert selector.n_selected_ == 0


@pytest.mark.slow
def test_interactions_without_marginal_effects():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    answer = tamis.answer(X, (X[:, 2] * X[:, 5] > 0).astype(int), time_limit=10)
    assert set(answer.columns) == {"2", "5"}
    assert answer.model == "kernel ridge"
    assert answer.expected_score > 0.9


def test_one_outlier_does_not_hide_the_feature():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 15))
    X[:, 4] += 3 * y
    X[17, 4] = 99999
    answer = tamis.answer(X, y, **QUICK)
    assert answer.columns[0] == "4"
    assert any("stretch" in text for text in answer.warnings)


def test_row_numbers_are_left_out_and_copies_of_the_target_reported():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(row=np.arange(80), leak=1.0 - y, one=1)
    answer = tamis.answer(frame, y, **QUICK)
    assert ("row", "they number the rows") in answer.left_out
    assert ("one", "they never vary") in answer.left_out
    assert answer.columns == ["leak"]
    assert any("leak" in text for text in answer.warnings)


def test_same_answer_again():
    X, y = linear(2, n=60, p=9)
    first, again = (AutoSelector(**QUICK).fit(X, y).answer_.to_dict() for _ in range(2))
    assert {**again, "seconds": 0} == {**first, "seconds": 0}


@pytest.mark.slow
def test_processes_change_nothing():
    X, y = linear(2, n=60, p=9)
    # Far more time than it takes, so that none of it ends early on a busy machine.
    one, two = (AutoSelector(n_jobs=n).fit(X, y).answer_.to_dict() for n in (1, 2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


@pytest.mark.slow
def test_groups_do_not_leak():
    # The target is that of the group, and so are the features: rows of a group give it away.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 5)
    y = rng.permutation(np.arange(20) % 2)[groups]
    X = np.repeat(rng.normal(size=(20, 6)), 5, axis=0) + 0.01 * rng.normal(size=(100, 6))
    assert tamis.answer(X, y, **QUICK).expected_score > 0.8
    fair = tamis.answer(X, y, groups=groups, **QUICK)
    assert fair.low < 0.5
    assert not fair.found


@pytest.mark.slow
def test_rows_of_weight_zero_are_not_there():
    X, y = linear(4, n=70, p=9)
    weight = np.ones(70)
    weight[60:] = 0
    with_them = AutoSelector(**QUICK).fit(X, y, sample_weight=weight).answer_
    without = AutoSelector(**QUICK).fit(X[:60], y[:60], sample_weight=weight[:60]).answer_
    assert {**with_them.to_dict(), "seconds": 0} == {**without.to_dict(), "seconds": 0}


@pytest.mark.slow
def test_sparse_table_and_own_estimator():
    X, y = linear(5, n=60, p=9)
    X[np.abs(X) < 0.3] = 0
    given = {"estimator": LinearRegression(), **QUICK}
    dense = tamis.answer(X, y, **given)
    assert dense.model == "LinearRegression"
    found = tamis.answer(sparse.csr_matrix(X), y, **given)
    assert found.columns == dense.columns
    assert found.expected_score == pytest.approx(dense.expected_score)


def test_interrupted_it_keeps_what_it_has(monkeypatch):
    X, y = linear(6, n=60, p=9)
    seen = []

    def stop_after_two(*arguments):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(1)
        return expected.run_fold(*arguments)

    monkeypatch.setattr(investigation, "run_fold", stop_after_two)
    selector = AutoSelector(**QUICK)
    with pytest.warns(SelectionWarning, match="stopped"), pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    answer = selector.answer_
    assert any("2 of" in text for text in answer.warnings)
    assert answer.columns
    assert np.isfinite(answer.expected_score)


def test_time_limit_ends_the_folds(monkeypatch):
    monkeypatch.setattr(investigation.Investigation, "_is_late", lambda self, share: True)
    X, y = linear(7, n=60, p=9)
    answer = tamis.answer(X, y, **QUICK)
    assert any("the time was up after 1 of" in text for text in answer.warnings)
    assert all(np.isnan(each.frequency) for each in answer.features)
    assert "not measured" in str(answer)


def test_in_a_pipeline_with_routed_weights_and_groups():
    from sklearn import config_context

    rng = np.random.default_rng(0)
    y = np.arange(60) // 2 % 2
    X = rng.normal(size=(60, 6))
    X[:, 1] += 3 * y
    with config_context(enable_metadata_routing=True):
        selector = AutoSelector(**QUICK).set_fit_request(groups=True, sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(selector, model)
        pipeline.fit(X, y, groups=np.arange(60) // 2, sample_weight=np.ones(60))
    assert pipeline.score(X, y) > 0.85
    assert pipeline[0].answer_.columns[0] == "1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 0.0}, "level must be a float in"),
        ({"metric": "precision"}, "metric"),
        ({"metric": "average_precision"}, "every row contributes"),
        ({"estimator": LogisticRegression}, "estimator must be None or an estimator"),
        ({"time_limit": -1}, "time_limit must be"),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(InputError, match=message):
        AutoSelector(**given).fit([[0.0, 1.0], [1.0, 0.0]] * 10, [0, 1] * 10)


def test_bad_groups():
    X, y = linear(0, n=30, p=9)
    with pytest.raises(InputError, match="one label per row"):
        AutoSelector().fit(X, y, groups=[1, 2])
    with pytest.raises(InputError, match="at least two groups"):
        AutoSelector().fit(X, y, groups=[1] * 30)


def test_before_fit_there_is_no_answer():
    with pytest.raises(AttributeError, match="before fit"):
        _ = AutoSelector().answer_


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks():
    from sklearn.utils.estimator_checks import check_estimator

    reason = "folds are dealt by rows, so that a weight of 2 is not the row twice"
    expected_failures = {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }
    check_estimator(AutoSelector(time_limit=0.5), expected_failed_checks=expected_failures)


@pytest.mark.slow
def test_noise_is_rarely_taken_for_signal():
    # At level 0.1, more than 8 of 30 tables of noise happen in 0.2% of runs.
    rng = np.random.default_rng(11)
    n_found = 0
    for _ in range(30):
        X, y = rng.normal(size=(50, 20)), rng.permutation(np.arange(50) % 2)
        n_found += AutoSelector(**QUICK).fit(X, y).answer_.found
    assert n_found <= 8


def test_too_few_rows_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(InputError, match="at least 3 rows of every class, got 2 of class 'b'"):
        AutoSelector().fit(X, ["a"] * 28 + ["b"] * 2)
    with pytest.raises(InputError, match="at least 6 rows, got 5"):
        AutoSelector().fit(X[:5], [0.5, 1.2, 3.1, 4.7, 9.2])


def test_three_rows_of_a_class_are_enough():
    X = np.random.default_rng(0).normal(size=(20, 4))
    answer = AutoSelector(**QUICK).fit(X, [0] * 17 + [1] * 3).answer_
    assert not answer.found


def test_the_only_feature_is_not_compared_with_itself():
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 1)) + 2 * y[:, None]
    verdict = AutoSelector(**QUICK).fit(X, y).answer_.verdict
    assert verdict.startswith("1 of 1 features carries the signal")
    assert "random" not in verdict
