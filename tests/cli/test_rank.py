import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import tamis


def ranking(result):
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def names(result):
    return [row["feature"] for row in ranking(result)]


def chosen(result):
    return [row["feature"] for row in ranking(result) if row["selected"] == "true"]


def test_a_pipe_gets_csv_of_all_columns_best_first(run, table):
    rows = ranking(run("rank", table, "--target", "kind", "--exclude", "price"))
    assert list(rows[0]) == ["rank", "feature", "score", "selected", "p_value", "q_value"]
    assert [row["rank"] for row in rows] == [str(i) for i in range(1, 7)]
    assert [row["feature"] for row in rows[:2]] == ["strong", "weak"]
    assert {row["feature"] for row in rows} == {
        "strong", "weak", "noise", "flag", "colour", "day"
    }  # fmt: skip
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_scores_are_those_of_python(run, table):
    result = run("rank", table, "--target", "kind", "--columns", "noise,strong,weak")
    prepared = tamis.data.prepare(tamis.data.read_table(table), "kind")
    positions = [prepared.feature_names.index(name) for name in names(result)]
    selector = tamis.AnovaF().fit(prepared.X, prepared.y)
    scores = [float(row["score"]) for row in ranking(result)]
    assert scores == selector.scores_[positions].tolist()


def test_the_guess_and_the_default_method_are_said_aloud(run, table):
    result = run("rank", table, "--target", "kind")
    assert "target 'kind': 2 classes, so classification (set --task to change)" in result.stderr
    assert "method: anovaf, the default for classification" in result.stderr
    assert result.stderr.count("so classification") == 1


def test_a_numeric_target_has_the_same_default_method(run, table):
    result = run("rank", table, "--target", "price", "--exclude", "kind")
    assert "so regression" in result.stderr
    assert "method: anovaf, the default for regression" in result.stderr
    assert names(result)[0] == "strong"


def test_task_and_method_can_be_set(run, table):
    result = run("rank", table, "--target", "kind", "--task", "classification", "--method", "DFT")
    assert "classification as asked" in result.stderr
    assert "method: dft\n" in result.stderr


def test_left_out_and_encoded_columns_are_said(run, table):
    errors = run("rank", table, "--target", "kind").stderr
    assert "note: left out 'patient_id': identifier, all 60 values differ" in errors
    assert "note: left out 'comment'" in errors
    assert "colour" in errors
    assert "'day'" in errors


def test_quiet_says_nothing(run, table):
    result = run("rank", table, "--target", "kind", "--quiet")
    assert result.stderr == ""
    assert len(ranking(result)) == 7


def test_columns_include_and_exclude(run, table):
    base = ("rank", table, "--target", "kind", "--select", "all")
    assert set(names(run(*base, "--columns", "noise, weak"))) == {"noise", "weak"}
    assert "patient_id" in names(run(*base, "--include", "patient_id"))
    left = names(run(*base, "--exclude", "weak", "--exclude", "noise,flag"))
    assert set(left) == {"strong", "colour", "day", "price"}


def test_a_name_with_a_comma_is_given_alone(run, write):
    path = write(
        '"size, cm",a,b,y\n' + "".join(f"{i},{i % 3},{i % 5},{i // 6}\n" for i in range(12))
    )
    result = run("rank", path, "--target", "y", "--columns", "size, cm", "--columns", "a,b")
    assert set(names(result)) == {"size, cm", "a", "b"}


def test_keep_is_selected_whatever_its_score(run, table):
    result = run("rank", table, "--target", "kind", "--select", "2", "--keep", "noise")
    assert sorted(chosen(result)) == ["noise", "price"]


def test_keep_of_a_column_without_a_score_is_said(run, table):
    result = run("rank", table, "--target", "kind", "--select", "1", "--keep", "patient_id,kind")
    assert "note: kept without a score: 'patient_id'\n" in result.stderr
    assert "patient_id" not in names(result)


@pytest.mark.parametrize(("select", "count"), [("2", 2), ("0.5", 3), ("all", 7), ("1.0", 7)])
def test_select_a_number(run, table, select, count):
    result = run("rank", table, "--target", "kind", "--select", select)
    assert len(chosen(result)) == count


@pytest.mark.parametrize(
    ("select", "which"), [("elbow", "early"), ("early", "early"), ("late",) * 2]
)
def test_select_an_elbow(run, table, select, which):
    result = run("rank", table, "--target", "kind", "--select", select)
    scores = [float(row["score"]) for row in ranking(result)]
    early, late = tamis.cutoff.find_elbows(scores)
    assert len(chosen(result)) == (early if which == "early" else late)


def test_asking_for_more_than_there_is_gives_a_note(run, table):
    result = run("rank", table, "--target", "kind", "--select", "50")
    assert "note: TopK: asked for 50 columns, but there are 7; all are kept.\n" in result.stderr
    assert len(chosen(result)) == 7


def test_params_reach_the_selector(run, table):
    result = run(
        "rank", table, "--target", "kind", "--json", "--method", "dft",
        "--param", "n_bins=32", "--param", "class_weight=balanced", "--n-jobs", "1",
    )  # fmt: skip
    params = json.loads(result.stdout)["params"]
    expected = {"n_bins": 32, "class_weight": "balanced", "n_jobs": 1, "ranges": None}
    assert params == {**expected, "bins": "uniform"}


def test_json_holds_everything(run, table):
    options = ("--method", "dft", "--json", "--select", "late", "--keep", "day")
    result = run("rank", table, "--target", "kind", *options)
    found = json.loads(result.stdout)
    assert found["method"] == "dft"
    assert found["task"] == "classification"
    assert (found["n_rows"], found["n_columns"]) == (60, 7)
    assert found["n_selected"] == sum(row["selected"] for row in found["features"])
    assert found["cut"]["rule"] == "Elbow"
    assert (found["cut"]["which"], found["cut"]["keep"]) == ("late", ["day"])
    assert set(found["cut"]["details"]) == {
        "early", "late", "early_range", "late_range",
    }  # fmt: skip
    first = found["features"][0]
    assert (first["rank"], first["feature"], first["kind"]) == (1, "price", "numeric")
    assert isinstance(first["threshold"], float)
    assert {row["name"]: row["kind"] for row in found["left_out"]} == {
        "patient_id": "identifier",
        "comment": "identifier",
    }
    assert found["versions"]["tamis"] == tamis.__version__


def test_json_is_strict_about_nan(run, write):
    path = write("a,same,y\n" + "".join(f"{i / 4},5,{i // 5}\n" for i in range(10)))
    result = run("rank", path, "--target", "y", "--method", "dft", "--json")
    assert "NaN" not in result.stdout
    assert json.loads(result.stdout)["features"][1]["threshold"] is None


def test_top_limits_the_rows_of_the_csv(run, table):
    assert len(ranking(run("rank", table, "--target", "kind", "--top", "3"))) == 3


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.csv.gz", "r.parquet", "r.feather"])
def test_out_holds_the_ranking(run, table, tmp_path, name):
    out = tmp_path / name
    result = run("rank", table, "--target", "kind", "--out", out)
    written = tamis.data.read_table(out).arrow
    assert written.column_names == ["rank", "feature", "score", "selected", "p_value", "q_value"]
    assert written["feature"].to_pylist() == names(result)
    assert written["score"].to_pylist() == [float(row["score"]) for row in ranking(result)]
    assert written["selected"].type == pa.bool_()
    assert f"wrote {out}\n" in result.stderr


def test_out_json_is_what_json_prints(run, table, tmp_path):
    out = tmp_path / "r.json"
    printed = run("rank", table, "--target", "kind", "--out", out, "--json").stdout
    assert json.loads(out.read_text()) == json.loads(printed)


def test_existing_output_stays_without_force(run, refuse, table, write, folder_is_clean):
    out = write("precious", "r.csv")
    code, message = refuse("rank", table, "--target", "kind", "--out", out)
    assert (code, out.read_text()) == (1, "precious")
    assert message.startswith("tamis rank: ")
    assert "--force" in message
    assert run("rank", table, "--target", "kind", "--out", out, "--force").exit_code == 0
    assert out.read_text().startswith("rank,feature,score,selected,p_value,q_value\n")
    folder_is_clean("patients.csv", "r.csv")


def test_the_output_is_checked_before_the_data(refuse, write, tmp_path):
    out = write("precious", "r.csv")
    code, message = refuse("rank", tmp_path / "missing.csv", "--target", "y", "--out", out)
    assert code == 1
    assert "r.csv" in message
    assert "missing.csv" not in message


def test_the_ranking_never_replaces_the_table(refuse, table):
    before = table.read_bytes()
    code, message = refuse("rank", table, "--target", "kind", "--out", table, "--force")
    assert code == 2
    assert "--out must not be the table itself" in message
    assert table.read_bytes() == before


def test_names_may_hold_anything(run, write):
    odd = ["[red]x[/red]", "two\nlines", "\x1b[31mred", "日本", "q\"uote", "  "]  # fmt: skip
    rng = np.random.default_rng(0)
    rows = io.StringIO()
    writer = csv.writer(rows)
    writer.writerow([*odd, "y"])
    writer.writerows([[*rng.normal(size=6).round(3), i % 2] for i in range(20)])
    path = write(rows.getvalue())
    assert set(names(run("rank", path, "--target", "y", "--select", "all"))) == set(odd)
    found = json.loads(run("rank", path, "--target", "y", "--select", "2", "--json").stdout)
    assert {row["feature"] for row in found["features"]} == set(odd)


def test_an_npz_file_knows_its_target(run, tmp_path):
    y = np.arange(20) % 2
    X = np.column_stack([np.zeros(20), y + np.linspace(0, 0.1, 20), np.arange(20) % 3])
    np.savez(tmp_path / "m.npz", X=X, y=y, feature_names=np.array(["flat", "good", "bad"]))
    result = run("rank", tmp_path / "m.npz", "--select", "1")
    assert "target 'y': 2 classes" in result.stderr
    assert chosen(result) == ["good"]


def test_the_table_is_not_changed(run, table):
    before = table.read_bytes()
    assert run("rank", table, "--target", "kind").exit_code == 0
    assert table.read_bytes() == before


def test_methods_that_know_both_are_told_the_task(run, tmp_path):
    """Whole numbers are classes to `task="auto"`, and the user has said that they are not."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 200)
    path = tmp_path / "counts.csv"
    rows = np.column_stack([y + rng.normal(size=200), rng.normal(size=200), y])
    np.savetxt(path, rows, delimiter=",", header="signal,noise,visits", comments="")
    options = ("rank", path, "--target", "visits", "--method", "anovaf", "--json")
    told = json.loads(run(*options, "--task", "regression").stdout)
    assert told["params"]["task"] == "regression"
    expected = tamis.AnovaF(task="regression").fit(rows[:, :2], y).scores_[0]
    assert told["features"][0]["score"] == pytest.approx(expected)
    kept = json.loads(run(*options, "--param", "task=classification").stdout)
    assert kept["params"]["task"] == "classification"


@pytest.mark.slow
def test_a_method_may_choose_the_number_itself(run, table):
    result = run("rank", table, "--target", "kind", "--method", "fcbf", "--json")
    assert json.loads(result.stdout)["cut"]["rule"] == "BestCount"
    again = run("rank", table, "--target", "kind", "--method", "fcbf", "--select", "best")
    assert len(chosen(again)) == json.loads(result.stdout)["n_selected"]
