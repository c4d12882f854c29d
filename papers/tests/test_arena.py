"""The arena: ranks and duels by hand, one unit for real, and the reduced version."""

from __future__ import annotations

import numpy as np
import pytest
from tamis import datasets
from tamis.exceptions import InputError

from tamis_papers import reproduce
from tamis_papers.arena import ranks, run, shown, tables, unit


def cell(*scores, seconds=1.0, error=""):
    splits = [
        {"score": score, "seconds": seconds, "top": [0, 1], "n_columns": 10} for score in scores
    ]
    return {"splits": splits, "stopped": bool(error), "error": error, "limit": 1.0}


CELLS = {
    ("x", "dft"): cell(0.9, 0.92, 0.91), ("x", "fisher"): cell(0.7, 0.72, 0.715),
    ("x", "ofw"): cell(0.8, error="stopped after 1 s"),
    ("y", "dft"): cell(0.5, 0.6, 0.7), ("y", "fisher"): cell(0.6, 0.5, 0.7),
    ("y", "ofw"): cell(0.8, 0.8, 0.8),
    ("z", "dft"): cell(error="stopped after 1 s"), ("z", "fisher"): cell(0.6, 0.5, 0.7),
    ("z", "ofw"): cell(error="needs more than 8 GB"),
}  # fmt: skip
METHODS = ("dft", "fisher", "ofw")


def test_who_does_not_finish_shares_the_last_places():
    assert ranks.ranks_on(CELLS, "x", METHODS, 3).tolist() == [1, 2, 3]
    assert ranks.ranks_on(CELLS, "y", METHODS, 3).tolist() == [2.5, 2.5, 1]
    assert ranks.ranks_on(CELLS, "z", METHODS, 3).tolist() == [2.5, 1, 2.5]


def test_average_ranks_over_groups_of_sets():
    found = ranks.standing(CELLS, [("x",), ("y",), ("z",)], METHODS, 3)
    assert found.methods == ("fisher", "dft", "ofw")
    assert found.ranks == pytest.approx((5.5 / 3, 2.0, 6.5 / 3))
    assert found.groups == ((0, 1, 2),)
    assert found.as_good == found.methods
    # y and z as one: mean ranks 2.5, 1.75, 1.75.
    together = ranks.standing(CELLS, [("x",), ("y", "z")], METHODS, 3)
    assert dict(zip(together.methods, together.ranks, strict=True)) == pytest.approx(
        {"dft": 2.0, "fisher": 1.75, "ofw": 2.25}
    )
    assert together.n_sets == 2


def test_duels():
    assert ranks.duel(CELLS, "xyz", "dft", "fisher", 3, 1 / 3) == (("x",), ("z",), ("y",))
    assert ranks.duel(CELLS, "xz", "ofw", "dft", 3, 1 / 3) == ((), ("x",), ("z",))


def view():
    plan = {
        "methods": {"classification": METHODS, "regression": ()},
        "classification": ("x", "y", "z"), "regression": (), "n_splits": 3, "rows": 1000,
        "limit": 60.0,
    }  # fmt: skip
    standing = ranks.standing(CELLS, [("x",), ("y",), ("z",)], METHODS, 3)
    return shown.ArenaView(CELLS, {"classification": standing}, plan)


def test_sentences_say_where_a_simple_filter_is_as_good():
    first, dft, ofw = view().findings()
    assert "fisher has the best average rank" in first
    assert "2 others are not shown to be worse: dft, ofw" in first
    assert "better on 1 (x), worse on 1 (z), and on 1 of 3 tables" in dft
    assert ofw.startswith("OFW, classes: average rank 2.17, place 3 of 3")


def test_a_single_split_tells_no_stability_and_no_winner():
    cells = {key: cell(0.5 + 0.1 * len(key[1])) for key in CELLS}
    plan = view().plan | {"n_splits": 1}
    standing = ranks.standing(cells, [("x",), ("y",), ("z",)], METHODS, 1)
    alone = shown.ArenaView(cells, {"classification": standing}, plan)
    assert alone.tables()["Classes, 3 tables, methods by average rank"][1][3] == ""
    dft = alone.findings()[1]
    assert "better on none, worse on none, and on 3 of 3 tables" in dft
    assert dft.endswith("as far as a single split can tell.")


def test_tables():
    methods, sets = view().tables().values()
    assert methods[1] == ["fisher", "1.83", "1", "1.00", "1", ""]
    assert methods[3] == ["OFW", "2.17", "1", "1.00", "1", "2"]
    assert sets[0] == ["table", "best", "score", "DFT", "OFW", "fisher", "not finished"]
    assert sets[3][-1] == "dft (stopped after 1 s); ofw (needs more than 8 GB)"


def test_sets_with_the_same_patients_count_once():
    names = tuple(datasets.list_datasets())
    groups = tables.families(names)
    assert sorted(name for group in groups for name in group) == sorted(names)
    assert ("colon", "colon_disc") in groups
    classes, numbers = tables.split_by_task(names)
    assert "riboflavin" in numbers
    assert len(classes) + len(numbers) == len(names)


def test_counts_keep_at_most_half_of_the_columns():
    assert unit.counts_for(2000) == (10, 50, 200)
    assert unit.counts_for(60) == (10, 30)
    assert unit.counts_for(4) == (2,)


def test_rows_are_cut_with_the_shares_of_the_classes():
    table = tables.load_table("breast_cancer", 0, 100)
    assert table.X.shape == (100, 30)
    assert table.y.mean() == pytest.approx(357 / 569, abs=0.01)


def test_missing_cells_are_at_the_median_of_the_training_rows():
    X = np.array([[1.0], [3.0], [np.nan], [100.0]])
    assert unit._filled(X, np.array([0, 1])).ravel().tolist() == [1, 3, 2, 100]


@pytest.mark.slow
def test_splits_of_a_table():
    table = tables.load_table("wine", 0)
    items = [unit.score_split(table, "dft", number, 0) for number in range(2)]
    assert [item["error"] for item in items] == ["", ""]
    assert all(0.7 < item["score"] <= 1 for item in items)
    assert len(items[0]["top"]) == 6
    random = [unit.score_split(table, "randomranking", number, 0) for number in range(2)]
    assert random[0]["top"] != random[1]["top"]
    failed = unit.score_split(table._replace(y=table.y * 0), "dft", 0, 0)
    assert "Error" in failed["error"]


def test_fewer_splits_are_the_first_of_more():
    from tamis.evaluation.protocols import RepeatedSplits

    table = tables.load_table("wine", 0)
    few, more = (
        RepeatedSplits(n, 2 / 3, 0).splits(table.X, table.y, table.is_classes) for n in (2, 5)
    )
    for one, other in zip(few, more, strict=False):
        assert (one.train == other.train).all()


def test_who_fails_in_a_split_is_not_asked_again():
    asked = []

    class Units:
        seed = 0

        def units(self, tasks):
            tasks = list(tasks)
            asked.append([task.name for task in tasks])
            return {task.name: result(*task.arguments[1:3]) for task in tasks}

    def result(method, split):
        good = method == "dft" or split == 0
        splits = [{"score": 0.5, "split": split}] if good else []
        return {"splits": splits, "stopped": not good, "error": "" if good else "slow", "limit": 1}

    plan = {
        "classification": ("wine",), "regression": (), "n_splits": 3, "rows": 9, "limit": 1.0,
        "methods": {"classification": ("dft", "ofw"), "regression": ()},
    }  # fmt: skip
    cells = run.run_splits(Units(), plan)
    assert [len(names) for names in asked] == [2, 2, 1]
    assert [item["split"] for item in cells["wine", "dft"]["splits"]] == [0, 1, 2]
    assert cells["wine", "ofw"]["stopped"]
    assert len(cells["wine", "ofw"]["splits"]) == 1


@pytest.mark.slow
def test_missing_data_are_not_the_fault_of_a_method(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="colon"):
        unit.run_selector("colon", "dft", 2, 100, 0, 5.0)


def test_the_plan_has_every_selector_and_every_set():
    plan = run.make_plan(quick=False)
    assert "rft" in plan["methods"]["regression"]
    assert "rft" not in plan["methods"]["classification"]
    assert len(plan["classification"]) + len(plan["regression"]) == len(datasets.list_datasets())


@pytest.mark.slow
def test_reduced_version(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "BUNDLED", ("wine", "breast_cancer"))
    monkeypatch.setattr(run, "QUICK_METHODS", ("dft", "fisher"))
    found = reproduce("arena", quick=True, folder=tmp_path, n_jobs=1, progress=False)
    assert len(found.rows) == 4
    assert all(row["verdict"] == "not in the paper" for row in found.rows)
    assert len(found.findings) == 2
    assert found.figures == ["arena-quick-classification.png"]
