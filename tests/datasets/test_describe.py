import dataclasses
import pickle

import pytest

from tamis.datasets import DatasetInfo, describe, list_datasets
from tamis.exceptions import InputError


def test_names_are_sorted_and_each_is_described():
    names = list_datasets()
    assert names == sorted(set(names))
    assert len(names) == 37
    assert [describe(name).name for name in names] == names


@pytest.mark.parametrize("name", list_datasets())
def test_the_record_agrees_with_itself(name):
    info = describe(name)
    assert isinstance(info, DatasetInfo)
    assert info.task == ("regression" if info.domain == "regression" else "classification")
    assert info.has_split == (info.split_sizes is not None)
    assert info.classes is None or sum(info.classes.values()) == info.n_samples
    assert info.split_sizes is None or sum(info.split_sizes) == info.n_samples
    assert info.note.endswith(".")
    assert pickle.loads(pickle.dumps(info)) == info


@pytest.mark.parametrize("name", list_datasets())
def test_overlap_goes_both_ways(name):
    others = describe(name).overlap
    assert name not in others
    assert all(name in describe(other).overlap for other in others)


def test_overlapping_families():
    assert set(describe("leukemia").overlap) == {"allaml", "leukemia_3571", "leukemia_disc"}
    assert set(describe("lymphoma_62").overlap) == {"lymphoma_45", "lymphoma_96_disc"}
    assert describe("colon").overlap == ("colon_disc",)
    assert describe("prostate_ge").overlap == ("prostate",)
    assert describe("mnist").overlap == ()


def test_openml_twins_can_be_translated():
    twins = {name: describe(name) for name in list_datasets() if describe(name).openml}
    assert {name: info.openml.data_id for name, info in twins.items()} == {
        "arcene": 1458,
        "arrhythmia": 5,
        "leukemia": 1104,
        "madelon": 1485,
        "mnist": 554,
        "spambase": 44,
        "usps": 41082,
    }
    for info in twins.values():
        if info.openml.labels is None:
            counts = list(info.classes.values())
            assert len(set(counts)) == len(counts), "equal counts cannot tell classes apart"
        else:
            assert sorted(info.openml.labels.values()) == sorted(info.classes)


def test_a_caller_cannot_change_the_catalogue():
    info = describe("colon")
    info.classes[0] = 999
    with pytest.raises(dataclasses.FrozenInstanceError):
        info.n_samples = 1
    assert describe("colon").classes == {0: 22, 1: 40}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("leukaemia", "did you mean 'leukemia'"),
        ("MNIST", "did you mean 'mnist'"),
        ("zzzzzz", "none is close"),
        (3, "got 3"),
        (["colon"], "got ['colon']"),
    ],
)
def test_unknown_name(wrong, hint):
    with pytest.raises(InputError) as caught:
        describe(wrong)
    assert hint in str(caught.value)
    assert "list_datasets()" in str(caught.value)
