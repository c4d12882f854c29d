import csv
import json
import sys

import pytest

from tamis.cli.demo import NOISE, demo_table, evaluate
from tamis.data import read_table
from tamis.selectors import make_selector

FILES = ["breast_cancer.csv", "ranking.csv", "ranking.json", "report.html", "score_curve.png"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    from click.testing import CliRunner

    from tamis.cli.console import program

    out = tmp_path_factory.mktemp("demo") / "deep" / "tamis-demo"
    with pytest.MonkeyPatch.context() as patch:
        make_short(patch)
        return out, CliRunner().invoke(program, ["demo", "--out", str(out)])


def make_short(patch):
    """Fewer methods and splits: the whole comparison runs in CI and on the documentation page."""
    patch.setattr("tamis.cli.demo.METHODS", ("dft", "randomranking"))
    patch.setattr("tamis.cli.demo.N_SPLITS", 3)


@pytest.fixture
def short(monkeypatch):
    make_short(monkeypatch)


def test_it_writes_its_files(demo):
    out, result = demo
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert sorted(path.name for path in out.iterdir()) == FILES


def test_the_picture_is_a_picture(demo):
    picture = (demo[0] / "score_curve.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n")
    assert len(picture) > 5000


def test_the_ranking_has_no_noise_above_the_cut(demo):
    with open(demo[0] / "ranking.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60
    chosen = [row["feature"] for row in rows if row["selected"] == "true"]
    assert chosen
    assert not any(name.startswith(NOISE) for name in chosen)
    found = json.loads((demo[0] / "ranking.json").read_text())
    assert [row["feature"] for row in found["features"]] == [row["feature"] for row in rows]


def test_it_shows_the_table_the_cut_and_the_accuracy(demo):
    text = demo[1].stdout
    assert "✓ worst perimeter" in text
    assert "selected: early elbow (late: " in text
    assert "█████" in text
    for line in ("all columns", "early elbow", "late elbow"):
        assert f"\n  {line} " in text
    assert f"Saved in {demo[0]}: breast_cancer.csv" in text


def test_it_ends_with_a_report(demo):
    out, result = demo
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "breast_cancer" in page
    assert "2 methods on 3 splits" in result.stdout
    assert "accuracy with " in result.stdout


def test_the_next_commands_work(demo, run):
    out, result = demo
    commands = [
        line.split()[1:] for line in result.stdout.splitlines() if line.startswith("  tamis ")
    ]
    assert [words[0] for words in commands] == ["rank", "select", "compare", "methods"]
    for words in commands:
        if words[0] != "compare":  # takes a minute; tests/cli/test_compare.py has shorter ones
            assert run(*words).exit_code == 0
    assert read_table(out / "reduced.parquet").n_rows == 569


def test_running_it_again_needs_force(demo, refuse):
    out, _ = demo
    (out / "ranking.csv").write_text("mine")
    code, message = refuse("demo", "--out", out)
    assert code == 1
    assert "--force" in message
    assert (out / "ranking.csv").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_force_leaves_other_files_alone(run, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.cli.demo._print_evaluation", lambda *args: None)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "ranking.csv").write_text("old")
    assert run("demo", "--out", tmp_path, "--force").exit_code == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "ranking.csv").read_text() != "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*FILES, "notes.txt"])


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_without_matplotlib_it_goes_on(run, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.cli.demo._print_evaluation", lambda *args: None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo", "--out", tmp_path / "d")
    assert result.exit_code == 0
    assert "pip install 'tamis[plot]'" in result.stderr
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == FILES[:4]


def test_interrupted_it_leaves_no_folder(run, tmp_path, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("tamis.cli.demo._print_evaluation", stop)
    result = run("demo", "--out", tmp_path / "d")
    assert result.exit_code == 1
    assert result.stderr == "tamis demo: interrupted; nothing was written\n"
    assert not (tmp_path / "d").exists()


def test_a_file_in_the_way(refuse, write):
    code, message = refuse("demo", "--out", write("mine", "d"))
    assert code == 1
    assert "it is a file; choose another with --out" in message


def test_the_table_is_the_same_every_time():
    first, second = demo_table(), demo_table()
    assert (first.matrix == second.matrix).all()
    assert set(first.target) == {"benign", "malignant"}
    assert sorted(first.matrix[:, 0]) == sorted(first.matrix[:, 30])
    assert (first.matrix[:, 0] != first.matrix[:, 30]).any()


@pytest.mark.slow
def test_evaluation_selects_inside_the_folds():
    found = evaluate(demo_table(), make_selector("dft", n_features_to_select=5))
    assert found.n_columns.tolist() == [5] * 5
    assert found.n_noise.tolist() == [0] * 5
    assert ((found.accuracy > 0.8) & (found.accuracy <= 1)).all()
