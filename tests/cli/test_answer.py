import csv
import json
from dataclasses import replace

import pytest

from report.test_answer import FOUND
from tamis.auto import AutoSelector


@pytest.fixture
def quick(monkeypatch):
    """A fit that finds a known answer at once, and remembers what it was given."""
    given = {}

    def fit(self, X, y=None, **more):
        given.update(X=X, y=y, params=self.get_params(), **more)
        self._answer = replace(FOUND, left_out=())
        return self

    monkeypatch.setattr(AutoSelector, "fit", fit)
    return given


def test_the_page_goes_to_stdout_and_notes_to_stderr(run, table, quick):
    result = run("answer", table, "--target", "kind")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("2 of 50 features carry the signal")
    assert "target 'kind': 2 classes" in result.stderr
    assert "left out 'patient_id'" in result.stderr
    assert "Left out because they look like identifiers" in result.stdout
    assert quick["X"].shape[0] == 60
    assert quick["params"]["n_jobs"] == -1
    assert quick["params"]["task"] == "classification"


def test_groups_leave_the_features(run, table, quick):
    result = run("answer", table, "--target", "kind", "--groups", "colour", "--quiet")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert set(quick["groups"]) == {"blue", "green", "red"}
    assert "Left out because it holds the groups: colour." in result.stdout
    plain = run("answer", table, "--target", "kind", "--exclude", "colour")
    assert plain.exit_code == 0
    assert "they are named in --exclude: colour" in plain.stdout


def test_groups_follow_the_rows_that_have_a_target(run, write, quick):
    rows = "\n".join(f"{i * 7 % 10}.5,g{i // 2},{'' if i == 3 else 'ab'[i % 2]}" for i in range(12))
    result = run("answer", write(f"x,group,y\n{rows}\n"), "--target", "y", "--groups", "group")
    assert result.exit_code == 0, result.stderr
    assert list(quick["groups"]) == [f"g{i // 2}" for i in range(12) if i != 3]


def test_a_missing_group_is_refused(refuse, write, quick):
    rows = "\n".join(f"{i}.5,{'' if i == 3 else 'g'},{'ab'[i % 2]}" for i in range(12))
    code, message = refuse("answer", write(f"x,g,y\n{rows}\n"), "--target", "y", "--groups", "g")
    assert code == 1
    assert "expected a group for every row in column 'g', got 1 missing" in message


def test_files(run, table, tmp_path, quick):
    for name in ("a.json", "f.csv", "f.tsv"):
        paths = ("--out", tmp_path / name, "--report", tmp_path / f"{name}.html")
        assert run("answer", table, "--target", "kind", *paths).exit_code == 0
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["columns"] == ["petal", "stem"]
    assert found["features"][1]["frequency"] is None
    rows = list(csv.DictReader((tmp_path / "f.csv").read_text().splitlines()))
    assert [row["feature"] for row in rows] == ["petal", "stem"]
    assert rows[0]["replaceable_by"] == "leaf (r = 0.97)"
    assert (tmp_path / "f.tsv").read_text().startswith("feature\tindex\t")
    assert "<h1>2 of 50" in (tmp_path / "a.json.html").read_text(encoding="utf-8")


def test_json_is_the_record(run, table, quick):
    found = json.loads(run("answer", table, "--target", "kind", "--json").stdout)
    assert (found["schema"], found["version"]) == ("tamis-answer", 1)
    assert found["expected_score"] == 0.9


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--target", "kin"), "did you mean 'kind'?"),
        ((), "--target is needed"),
        (("--target", "kind", "--groups", "paint"), "expected a column named 'paint'"),
        (("--target", "kind", "--groups", "kind"), "expected the target 'kind'"),
        (("--target", "kind", "--metric", "r2"), "--metric"),
        (("--target", "kind", "--level", "0"), "--level"),
        (("--target", "kind", "--out", "a.xlsx"), "--out must end in"),
    ],
)
def test_mistakes_are_usage(refuse, table, quick, words, part):
    code, message = refuse("answer", table, *words)
    assert code == 2
    assert part in message


def test_an_existing_file_is_kept_and_checked_first(refuse, table, write, monkeypatch):
    monkeypatch.setattr(AutoSelector, "fit", lambda *args, **more: pytest.fail("too early"))
    code, message = refuse("answer", table, "--target", "kind", "--report", write("mine", "r.html"))
    assert code == 1
    assert "--force" in message


def test_stopped_it_says_what_it_has(run, table, monkeypatch):
    def stop(self, *args, **more):
        self._answer = FOUND
        raise KeyboardInterrupt

    monkeypatch.setattr(AutoSelector, "fit", stop)
    result = run("answer", table, "--target", "kind", "--quiet")
    assert result.exit_code == 130
    assert result.stdout.startswith("2 of 50 features carry the signal")


def test_stopped_too_early_it_says_so(run, table, monkeypatch):
    def stop(self, *args, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(AutoSelector, "fit", stop)
    result = run("answer", table, "--target", "kind", "--quiet")
    assert result.exit_code == 1
    assert result.stderr == "tamis answer: interrupted; nothing was written\n"


@pytest.mark.slow
def test_the_whole_of_it(run, table):
    result = run("answer", table, "--target", "kind", "--exclude", "price", "--n-jobs", "1")
    assert result.exit_code == 0, result.stderr
    assert "carr" in result.stdout.split("\n")[0]
    assert "\nstrong " in result.stdout


def test_one_file_for_two_purposes_is_refused_at_once(refuse, table, tmp_path, monkeypatch):
    monkeypatch.setattr(AutoSelector, "fit", lambda *args, **more: pytest.fail("too early"))
    path = tmp_path / "a.json"
    code, message = refuse("answer", table, "--target", "kind", "--report", path, "--out", path)
    assert code == 2
    assert "--report and --out must be different files" in message
    code, message = refuse("answer", table, "--target", "kind", "--out", table)
    assert code == 2
    assert "--out and DATA must be different files" in message


def test_a_wrong_memory_limit_is_refused(refuse, table):
    code, message = refuse("answer", table, "--target", "kind", "--memory-limit", "much")
    assert code == 2
    assert "--memory-limit" in message
