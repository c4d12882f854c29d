"""``tamis rank`` on many files, and with workers."""

import json

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("distributed")

from pyarrow import csv, parquet  # noqa: E402


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 120)
    return {
        "noise": rng.normal(size=120),
        "strong": kind * 4 + rng.normal(size=120),
        "weak": kind * 1.5 + rng.normal(size=120),
        "row_id": rng.permutation(120),
        "comment": [f"seen on visit {i}" for i in range(120)],
        "kind": np.array(["no", "yes"])[kind],
        "price": kind * 10 + rng.normal(size=120),
        "level": kind + 1,
    }


@pytest.fixture(scope="module")
def folder(columns, tmp_path_factory):
    """Four Parquet files, the same rows in one CSV file beside the folder."""
    folder = tmp_path_factory.mktemp("tables") / "parts"
    folder.mkdir()
    table = pa.table(columns)
    for part in range(4):
        parquet.write_table(
            table.slice(30 * part, 30), folder / f"part-{part}.parquet", row_group_size=11
        )
    csv.write_csv(table, folder.parent / "whole.csv")
    return folder


def scores(result):
    assert result.exit_code == 0, result.stderr
    lines = [line.split(",") for line in result.stdout.splitlines()[1:]]
    return {name: float(score) for _, name, score, *_ in lines}


OPTIONS = ("--target", "kind", "--exclude", "row_id,comment")


@pytest.fixture(scope="module")
def expected(folder):
    from click.testing import CliRunner

    from tamis.cli.console import program

    return scores(CliRunner().invoke(program, ["rank", str(folder.parent / "whole.csv"), *OPTIONS]))


class TestManyFiles:
    def test_folder_and_pattern(self, run, folder, expected):
        for data in (folder, folder / "*.parquet"):
            assert scores(run("rank", data, *OPTIONS)) == pytest.approx(expected, rel=1e-10)

    def test_text_and_identifiers_are_left_out_as_of_one_file(self, run, folder):
        result = run("rank", folder, "--target", "kind")
        assert set(scores(result)) == {"strong", "price", "level", "weak", "noise"}
        for name in ("comment", "row_id"):
            assert f"left out '{name}': identifier, all 120 values differ; " in result.stderr
        assert result.stderr == run("rank", folder.parent / "whole.csv", "--target", "kind").stderr
        assert "target 'kind': 2 classes, so classification" in result.stderr
        assert "method: anovaf, the default for classification" in result.stderr

    def test_json(self, run, folder):
        result = run("rank", folder, *OPTIONS, "--json", "--quiet")
        found = json.loads(result.stdout)
        assert found["n_rows"] == 120
        assert found["task"] == "classification"
        assert {item["name"] for item in found["left_out"]} == {"row_id", "comment"}

    @pytest.mark.parametrize(
        ("target", "task"), [("price", "regression"), ("level", "classification")]
    )
    def test_task_is_guessed_from_numbers(self, run, folder, target, task):
        result = run("rank", folder, "--target", target, "--columns", "strong,noise")
        assert f"so {task} (set --task to change)" in result.stderr
        assert list(scores(result)) == ["strong", "noise"]

    def test_task_that_is_told(self, run, folder):
        columns = ("--columns", "strong,noise")
        result = run("rank", folder, "--target", "level", "--task", "regression", *columns)
        assert "target 'level': regression as asked" in result.stderr
        result = run("rank", folder, "--target", "kind", "--method", "fisher", *columns)
        assert "classification, which fisher is for" in result.stderr

    def test_keep_and_out(self, run, folder, tmp_path):
        out = tmp_path / "ranking.csv"
        result = run("rank", folder, *OPTIONS, "--select", "2", "--keep", "noise", "--out", out)
        assert result.exit_code == 0
        assert out.read_text().count("true") == 2

    def test_no_target(self, run, folder):
        result = run("rank", folder, "--method", "variance", "--columns", "strong,noise")
        assert set(scores(result)) == {"strong", "noise"}

    def test_files_with_other_columns(self, run, folder, tmp_path):
        for name in ("a", "b"):
            table = pa.table({name: [1.0, 2.0], "y": [0, 1]})
            parquet.write_table(table, tmp_path / f"{name}.parquet")
        result = run("rank", tmp_path, "--target", "y")
        assert result.exit_code == 1
        assert "b.parquet" in result.stderr


class TestRefusals:
    def test_a_method_that_needs_all_rows(self, refuse, folder):
        code, message = refuse("rank", folder, "--target", "kind", "--method", "relieff")
        assert code == 2
        assert "--method relieff needs the whole table in memory" in message
        assert "dft" in message

    def test_text_that_is_asked_for(self, run, folder):
        result = run("rank", folder, "--target", "kind", "--include", "comment")
        assert "comment" in scores(result)

    def test_unknown_names(self, refuse, folder):
        code, message = refuse("rank", folder, "--target", "kinds")
        assert code == 2
        assert "did you mean 'kind'?" in message

    def test_no_target(self, refuse, folder):
        code, message = refuse("rank", folder)
        assert code == 2
        assert "--target is needed" in message

    def test_only_text(self, refuse, folder):
        code, message = refuse("rank", folder, "--target", "kind", "--exclude",
                               "noise,strong,weak,row_id,price,level")  # fmt: skip
        assert code == 1
        assert "expected at least one column to use, got none ('comment': identifier" in message

    def test_nothing_there(self, refuse, tmp_path):
        code, message = refuse("rank", tmp_path / "*.parquet", "--target", "y")
        assert code == 1
        assert "expected files of this pattern, got none" in message

    def test_a_method_for_another_task(self, refuse, folder):
        code, message = refuse(
            "rank", folder, "--target", "kind", "--task", "classification", "--method", "rft"
        )
        assert code == 2
        assert "--method rft is for regression" in message

    def test_cluster_and_workers(self, refuse, folder):
        code, message = refuse(
            "rank", folder, "--target", "kind", "--cluster", "tcp://x:1", "--workers", 2
        )
        assert code == 2
        assert "give one of the two" in message

    def test_no_scheduler(self, refuse, folder, monkeypatch):
        monkeypatch.setattr("tamis.passes.dask.client.CONNECT_SECONDS", 0.2)
        address = "tcp://127.0.0.1:1"
        code, message = refuse("rank", folder, "--target", "kind", "--cluster", address)
        assert code == 1
        assert f"--cluster: expected a scheduler of Dask at '{address}'" in message

    def test_select_needs_a_file(self, refuse, folder, tmp_path):
        code, message = refuse(
            "select", folder, "--target", "kind", "--out", tmp_path / "few.parquet"
        )
        assert code == 1
        assert "expected one file, got a folder" in message


class TestWorkers:
    @pytest.mark.slow
    def test_cluster(self, run, folder, expected, dask_client):
        address = dask_client.scheduler.address
        for data in (folder, folder.parent / "whole.csv"):
            result = run("rank", data, *OPTIONS, "--cluster", address)
            assert scores(result) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.slow
    def test_a_relative_path(self, run, folder, expected, dask_client, monkeypatch):
        monkeypatch.chdir(folder.parent)
        result = run("rank", "parts", *OPTIONS, "--cluster", dask_client.scheduler.address)
        assert scores(result) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.slow
    def test_workers(self, run, folder, expected):
        result = run("rank", folder, *OPTIONS, "--workers", 1)
        assert scores(result) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.slow
    def test_a_method_with_a_cluster_of_its_own(self, run, folder, dask_client):
        options = (*OPTIONS, "--method", "ofw", "--select", 2)
        params = ("--param", "max_iter=20", "--param", "random_state=0")
        data = folder.parent / "whole.csv"
        alone = run("rank", data, *options, *params)
        shared = run("rank", data, *options, *params, "--cluster", dask_client.scheduler.address)
        assert shared.exit_code == 0, shared.stderr
        assert shared.stdout == alone.stdout
