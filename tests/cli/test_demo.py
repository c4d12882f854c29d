import json
from dataclasses import replace

import numpy as np
import pytest

from report.test_answer import FOUND, NOTHING
from tamis.auto import AutoSelector
from tamis.cli.demo import compare_with_truth, demo_table
from tamis.data import read_table

FILES = ["answer.json", "genes.csv", "report.html"]


@pytest.fixture
def quick(monkeypatch):
    """Answers at once: two genes for the first table, nothing for the shuffled one."""
    seen = []

    def fit(self, X, y=None, **more):
        names = demo_table()[0].names
        features = [
            replace(each, feature=names[j]) for each, j in zip(FOUND.features, (0, 1), strict=True)
        ]
        self._answer = NOTHING if seen else replace(FOUND, features=tuple(features))
        seen.append((X, y))
        return self

    monkeypatch.setattr(AutoSelector, "fit", fit)
    return seen


def test_it_shows_both_answers_and_writes_its_files(run, tmp_path, quick):
    out = tmp_path / "deep" / "d"
    result = run("demo", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert sorted(path.name for path in out.iterdir()) == FILES
    text = result.stdout
    assert text.index("2 of 50 features") < text.index("The truth: ")
    assert text.index("labels shuffled") < text.index("Nothing here beats chance")
    (X, y), (same, shuffled) = quick
    np.testing.assert_array_equal(X, same)
    assert sorted(y) == sorted(shuffled)
    assert list(y) != list(shuffled)
    assert json.loads((out / "answer.json").read_text())["schema"] == "tamis-answer"
    table = read_table(out / "genes.csv")
    assert (table.n_rows, len(table.names)) == (90, 1001)
    assert set(table.arrow["sample"].to_pylist()) == {"healthy", "tumour"}


def test_the_next_commands_are_understood(run, tmp_path, quick):
    text = run("demo", "--out", tmp_path / "d").stdout
    commands = [line.split()[1:] for line in text.splitlines() if line.startswith("  tamis ")]
    assert [words[0] for words in commands] == ["answer", "rank", "select", "compare", "methods"]
    for words in commands:
        if words[0] in ("rank", "select", "methods"):  # the others take longer
            assert run(*words).exit_code == 0


def test_the_truth_counts_near_copies():
    _, truth = demo_table()
    strongest, second = truth.relevant[:2]
    mates = np.flatnonzero(truth.block == truth.block[second])
    copy = next(j for j in mates.tolist() if j != second)
    useless = np.flatnonzero(~np.isin(truth.block, truth.block[truth.relevant]))[0]
    names = truth.feature_names
    text = compare_with_truth([names[strongest], names[copy], names[useless]], truth)
    lines = text.split("\n")
    assert lines[0].startswith("The truth: 2 of 10 genes that matter were found")
    assert lines[0].endswith("1 of 3 genes selected do not matter.")
    assert lines[1].endswith(": found")
    assert lines[2].endswith(f": found by its near-copy {names[copy]}")
    assert all(line.endswith(": missed") for line in lines[3:])


def test_the_table_is_the_same_every_time():
    (first, _), (second, _) = demo_table(), demo_table()
    assert (first.matrix == second.matrix).all()
    assert (first.target == second.target).all()


def test_running_it_again_needs_force(run, refuse, tmp_path, quick):
    (tmp_path / "answer.json").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")
    code, message = refuse("demo", "--out", tmp_path)
    assert code == 1
    assert "--force" in message
    assert (tmp_path / "answer.json").read_text() == "mine"
    assert run("demo", "--out", tmp_path, "--force").exit_code == 0
    assert (tmp_path / "answer.json").read_text() != "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*FILES, "notes.txt"])


def test_interrupted_it_leaves_no_folder(run, tmp_path, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("tamis.cli.demo._answer", stop)
    result = run("demo", "--out", tmp_path / "d")
    assert result.exit_code == 1
    assert result.stderr == "tamis demo: interrupted; nothing was written\n"
    assert not (tmp_path / "d").exists()


def test_a_file_in_the_way(refuse, write):
    code, message = refuse("demo", "--out", write("mine", "d"))
    assert code == 1
    assert "it is a file; choose another with --out" in message


@pytest.mark.slow
def test_the_whole_of_it(run, tmp_path):
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "genes that matter were found" in result.stdout
    assert "Nothing here beats chance" in result.stdout
