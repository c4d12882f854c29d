"""Protocols: who is learned from and who is scored."""

import json

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold

from tamis.evaluation.protocols import (
    Folds,
    GroupFolds,
    LeaveOneOut,
    PublishedSplit,
    RepeatedSplits,
    Splitter,
    TimeOrder,
    as_protocol,
)
from tamis.exceptions import InputError

CLASSES = np.array(["a"] * 20 + ["b"] * 10 + ["c"] * 7)
EVERY = [
    RepeatedSplits(),
    Folds(),
    Folds(4, n_repeats=3),
    LeaveOneOut(),
    PublishedSplit(np.arange(20), np.arange(20, 37)),
    GroupFolds(np.arange(37) // 3),
    TimeOrder(),
    Splitter(StratifiedKFold(3)),
    Splitter([([0, 1], [2]), ([2, 3], [0, 5])]),
]


@pytest.mark.parametrize("protocol", EVERY, ids=lambda protocol: protocol.who)
@pytest.mark.parametrize("is_classes", [True, False])
def test_no_row_is_on_both_sides_and_the_same_call_gives_the_same_splits(protocol, is_classes):
    splits = protocol.splits(None, CLASSES, is_classes)
    again = protocol.splits(None, CLASSES, is_classes)
    assert len({split.name for split in splits}) == len(splits)
    for split, other in zip(splits, again, strict=True):
        assert split.train.size
        assert split.test.size
        assert not np.intersect1d(split.train, split.test).size
        assert split.name == other.name
        np.testing.assert_array_equal(split.train, other.train)
        np.testing.assert_array_equal(split.test, other.test)


@pytest.mark.parametrize("protocol", EVERY, ids=lambda protocol: protocol.who)
def test_a_protocol_tells_of_itself_in_a_sentence_and_in_json(protocol):
    assert protocol.describe().endswith(".")
    shown = protocol.as_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["protocol"] == protocol.who


def test_repeated_splits_have_two_thirds_of_every_class():
    splits = RepeatedSplits().splits(None, np.array(["a"] * 30 + ["b"] * 15), True)
    assert len(splits) == 20
    for split in splits:
        assert (split.train < 30).sum() == 20
        assert (split.train >= 30).sum() == 10
        assert split.test.size == 15
    assert len({split.train.tobytes() for split in splits}) == 20


def test_repeated_splits_of_numbers_are_plain_shuffles():
    splits = RepeatedSplits(200).splits(None, np.array([0.5, 1.5] * 15), False)
    in_train = np.mean([np.isin(np.arange(30), split.train) for split in splits], axis=0)
    assert {split.train.size for split in splits} == {20}
    # 200 draws of probability 2/3: four standard errors are 0.13.
    np.testing.assert_allclose(in_train, 2 / 3, atol=0.14)
    assert len({int((split.train % 2).sum()) for split in splits}) > 1


def test_a_class_of_two_is_on_both_sides_and_a_class_of_one_is_learned_from():
    y = np.array([0] * 20 + [1, 1] + [2])
    for split in RepeatedSplits(30).splits(None, y, True):
        assert (y[split.train] == 1).sum() == (y[split.test] == 1).sum() == 1
        assert (y[split.train] == 2).sum() == 1


def test_another_seed_gives_other_splits():
    for kind in (RepeatedSplits, Folds):
        first = kind(random_state=0).splits(None, CLASSES, True)[0]
        other = kind(random_state=1).splits(None, CLASSES, True)[0]
        assert first.train.tolist() != other.train.tolist()


def test_folds_score_every_row_once_per_repeat_with_equal_shares():
    splits = Folds(5, n_repeats=2).splits(None, CLASSES, True)
    for start in (0, 5):
        tests = [split.test for split in splits[start : start + 5]]
        np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(37))
        for label, size in (("a", 20), ("b", 10), ("c", 7)):
            counts = [(CLASSES[test] == label).sum() for test in tests]
            assert max(counts) - min(counts) <= 1
            assert sum(counts) == size
        assert max(map(len, tests)) - min(map(len, tests)) <= 1


def test_a_class_of_one_does_not_stop_folds():
    y = np.array([0] * 10 + [1])
    scored = [10 in split.test for split in Folds(3).splits(None, y, True)]
    assert sum(scored) == 1


def test_leave_one_out():
    splits = LeaveOneOut().splits(None, [1.0, 2.0, 3.0], False)
    assert [split.test.tolist() for split in splits] == [[0], [1], [2]]
    assert splits[1].train.tolist() == [0, 2]


def test_published_split_takes_masks_and_row_numbers():
    mask = np.array([True, False, True, False])
    (by_mask,) = PublishedSplit(mask, ~mask).splits(None, [0, 1, 0, 1], True)
    (by_rows,) = PublishedSplit([2, 0], [3, 1]).splits(None, [0, 1, 0, 1], True)
    assert by_mask.train.tolist() == by_rows.train.tolist() == [0, 2]
    assert by_mask.test.tolist() == by_rows.test.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ([0, 1, 2], [2, 3], "no row in both train and test, got 1, the first is row 2"),
        ([0, 1], [9], "row numbers from 0 to 3"),
        ([0, -1], [2], "row numbers from 0 to 3"),
        ([], [2], "at least one row"),
        ([True, False], [False, True], "a mask of 4 rows"),
        ([0.5], [1], "row numbers or a mask"),
    ],
)
def test_bad_given_splits_are_refused(train, test, message):
    with pytest.raises(InputError, match=message):
        PublishedSplit(train, test).splits(None, [0, 1, 0, 1], True)
    with pytest.raises(InputError, match=message):
        as_protocol([(train, test)]).splits(None, [0, 1, 0, 1], True)


@pytest.mark.parametrize("is_classes", [True, False])
def test_groups_stay_together(is_classes):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 100)
    y = (groups % 2) if is_classes else rng.normal(size=100)
    splits = GroupFolds(groups, n_folds=4).splits(None, y, is_classes)
    assert len(splits) == 4
    for split in splits:
        assert not np.intersect1d(groups[split.train], groups[split.test]).size
    np.testing.assert_array_equal(
        np.sort(np.concatenate([split.test for split in splits])), np.arange(100)
    )


def test_groups_with_a_rare_class_or_too_few_groups():
    groups = np.repeat(np.arange(6), 3)
    y = np.zeros(18)
    y[0] = 1
    assert len(GroupFolds(groups, n_folds=3).splits(None, y, True)) == 3
    with pytest.raises(InputError, match="at least 5 groups, got 2"):
        GroupFolds([0, 0, 1, 1]).splits(None, [0, 1, 0, 1], True)
    with pytest.raises(InputError, match="one entry per row"):
        GroupFolds([0, 1, 2], 2).splits(None, [0, 1, 0, 1], True)


def test_time_order_never_learns_from_the_future():
    when = np.random.default_rng(0).integers(0, 20, 50)
    splits = TimeOrder(4, time=when).splits(None, np.zeros(50), False)
    for split in splits:
        assert when[split.train].max() < when[split.test].min()
    plain = TimeOrder(4, gap=2).splits(None, np.zeros(50), False)
    assert all(split.train.max() == split.test.min() - 3 for split in plain)
    assert [split.test.size for split in plain] == [10] * 4


def test_scikit_learn_splitters_give_their_own_splits():
    y = np.arange(12) % 2
    splits = as_protocol(KFold(3)).splits(None, y, True)
    for split, (train, test) in zip(splits, KFold(3).split(y), strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)
    groups = np.repeat(np.arange(4), 3)
    for split in as_protocol(GroupKFold(2), groups).splits(None, y, True):
        assert not np.intersect1d(groups[split.train], groups[split.test]).size


def test_a_splitter_without_a_seed_gets_one_and_is_not_changed():
    splitter = ShuffleSplit(3)
    protocol = as_protocol(splitter)
    first, again = (protocol.splits(None, np.zeros(30), False) for _ in range(2))
    assert first[0].train.tolist() == again[0].train.tolist()
    assert splitter.random_state is None
    assert "random_state=0" in protocol.describe()


def test_as_protocol_reads_words_numbers_and_groups():
    assert isinstance(as_protocol("loo"), LeaveOneOut)
    assert isinstance(as_protocol("time"), TimeOrder)
    assert as_protocol(7).n_folds == 7
    protocol = Folds(3)
    assert as_protocol(protocol) is protocol
    grouped = as_protocol("splits", groups=[1, 1, 2, 2])
    assert isinstance(grouped, GroupFolds)
    assert as_protocol(3, groups=[1, 1, 2, 2, 3]).n_folds == 3
    with pytest.raises(InputError, match="Did you mean 'folds'"):
        as_protocol("fold")
    with pytest.raises(InputError, match="expected 'splits'"):
        as_protocol(2.5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RepeatedSplits(0),
        lambda: RepeatedSplits(train_size=1.0),
        lambda: Folds(1),
        lambda: Folds(n_repeats=0),
        lambda: TimeOrder(0),
        lambda: TimeOrder(gap=-1),
        lambda: GroupFolds([1, 2], n_folds=1),
        lambda: Folds(True),
    ],
)
def test_parameters_out_of_range(make):
    with pytest.raises(InputError, match="must be"):
        make()


@pytest.mark.parametrize("protocol", [Folds(5), TimeOrder(5), LeaveOneOut()])
def test_too_few_rows(protocol):
    with pytest.raises(InputError, match="at least"):
        protocol.splits(None, [0], True)
