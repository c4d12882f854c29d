"""Verdicts, store, page and command of the reproduction, on made-up experiments."""

from __future__ import annotations

import io
import json
import os
import signal
from queue import Queue
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from tamis.evaluation import make_progress
from tamis.exceptions import InputError

from tamis_papers import _apart, _everything, _page, _reproduce, _shown, experiment, reproduce
from tamis_papers._page import write_pages
from tamis_papers._published import DESCRIPTION, Paper, Published, Statement, published
from tamis_papers._records import read_records
from tamis_papers._reproduce import _pairs
from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers._unit_store import UnitStore
from tamis_papers._verdict import claim_word
from tamis_papers.cli import reproduce as program
from tamis_papers.experiment import Experiment, list_experiments
from tamis_papers.result import Claim, ExperimentResult, Measurement


def printed(value, method="a", *, unit="percent", rounding=0.05, **more):
    case = {"data": "d", "method": method}
    return Published(case, value, unit, rounding, "", "", False, False, **more)


def ours(*values, method="a", **more):
    return Measurement({"data": "d", "method": method}, values, **more)


@pytest.mark.parametrize(
    ("holds", "tested", "quick", "word"),
    [
        (True, True, True, "holds"),
        (False, True, False, "does not hold"),
        (None, True, True, "in part or unclear"),
        (None, False, True, "not tested in the reduced version"),
        (None, False, False, "cannot be told"),
    ],
)
def test_words_for_claims(holds, tested, quick, word):
    assert claim_word(holds, tested, quick) == word


def test_pairs_match_by_case():
    values = [printed(1.0, "a"), printed(2.0, "b")]
    extra = Measurement({"data": "other", "method": "a"}, [3.0])
    pairs = _pairs(values, [ours(2.5, method="b"), extra])
    assert [pair.ours and pair.ours.mean for pair in pairs] == [None, 2.5, 3.0]


def test_every_published_file_belongs_to_an_experiment():
    names = {one.name for one in list_experiments()}
    folder = _reproduce.Path(_reproduce.__file__).parent / "values"
    assert {file.stem for file in folder.glob("*.toml")} <= names
    for name in names - {"arena"}:
        paper = published(name)
        assert paper.values or paper.statements
        assert not any(set(value.case) & DESCRIPTION for value in paper.values)
        ids = [statement.name for statement in paper.statements]
        assert len(ids) == len(set(ids))


def test_experiments_can_be_imported_and_name_their_paper():
    for one in list_experiments():
        assert callable(one.load())
        assert one.source.endswith(")") or one.name == "arena"


# The store: a run that was stopped goes on.

CALLS = []


def square(number, fails_at=None):
    CALLS.append(number)
    if number == fails_at:
        raise RuntimeError("killed")
    return {"value": number**2}


def tasks(fails_at=None):
    return [UnitTask(f"unit/{number}", square, (number, fails_at)) for number in range(5)]


def make_run(store, folder, **more):
    settings = {"quick": False, "seed": 0, "n_jobs": 1, "progress": make_progress(False)} | more
    return ExperimentRun("test", store, folder, **settings)


def test_a_run_that_was_killed_goes_on(tmp_path):
    CALLS.clear()
    with UnitStore(tmp_path / "u.sqlite") as store, pytest.raises(RuntimeError):
        make_run(store, tmp_path).units(tasks(fails_at=3))
    assert CALLS == [0, 1, 2, 3]
    CALLS.clear()
    with UnitStore(tmp_path / "u.sqlite") as store:
        found = make_run(store, tmp_path).units(tasks())
    assert CALLS == [3, 4]
    assert [found[f"unit/{n}"]["value"] for n in range(5)] == [0, 1, 4, 9, 16]


def test_lines_of_progress_name_the_command(tmp_path, monkeypatch):
    stream = io.StringIO()
    shown = make_progress(True, stream, command="reproduce")
    shown.seconds = 0.0
    with UnitStore(tmp_path / "u.sqlite") as store:
        run = make_run(store, tmp_path, progress=shown)
        run.units(tasks())
        X = np.random.default_rng(0).normal(size=(30, 4))
        run.compare(["fisher"], (X, X[:, 0] > 0), protocol=2, counts=[2])
    lines = stream.getvalue().splitlines()
    assert len(lines) > 6
    assert all(line.startswith("tamis reproduce: ") for line in lines)


def test_quick_and_full_and_seeds_do_not_mix(tmp_path):
    CALLS.clear()
    with UnitStore(tmp_path / "u.sqlite") as store:
        for more in ({"quick": True}, {}, {"seed": 1}, {"quick": True}):
            make_run(store, tmp_path, **more).units(tasks())
    assert len(CALLS) == 15


def draw(seed, number):
    return float(np.random.default_rng([seed, number]).normal())


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    from tamis_papers.inffs.iris import ranks_of_originals  # a process must find it

    found = []
    for n_jobs in (1, 2):
        with UnitStore(tmp_path / f"{n_jobs}.sqlite") as store:
            work = [
                UnitTask(f"unit/{number}", ranks_of_originals, ("linear", 0.5, 1, number))
                for number in range(4)
            ]
            found.append(make_run(store, tmp_path, n_jobs=n_jobs).units(work))
    assert found[0] == found[1]


def test_seconds_of_stored_units_are_counted(tmp_path):
    with UnitStore(tmp_path / "u.sqlite") as store:
        store.put("test/full/0/unit/0", {"value": 0}, 12.0)
        run = make_run(store, tmp_path)
        run.units(tasks()[:1])
    assert run.seconds == 12.0


# Made-up experiments, from the command to the page.

PAPERS = {
    "one": Paper(
        (printed(90.0), printed(60.0, "b"), printed(50.0, "c"), printed(1.0, "d", quoted=True)),
        (
            Statement("best", "a is best", "a | wins"),
            Statement("part", "holds here and there", "partly"),
            Statement("wrong", "b is worst", "*b* loses"),
            Statement("big", "needs all data", "big"),
        ),
    ),
    "broken": Paper((), (Statement("x", "never seen", "q"),)),
}


def run_one(run):
    work = [UnitTask(f"v/{n}", draw, (run.seed, n)) for n in range(run.at_most(3))]
    values = run.units(work, parallel=False)
    noise = [0.1 * value for value in values.values()]
    return ExperimentResult(
        measurements=[
            Measurement({"data": "d", "method": "a"}, [90 + one for one in noise]),
            Measurement({"data": "d", "method": "b"}, [40.0], "stand-in: x"),
            Measurement({"data": "d", "method": "z"}, [12345.6]),
        ],
        claims=[
            Claim("best", True, "90 and 40"),
            Claim("part", None, "1 of 2"),
            Claim("wrong", False, "c is"),
            Claim("big", None, "no data", tested=False),
        ],
        figures={"bars": lambda figure: figure.subplots().bar([0, 1], [90, 40])},
        remarks=["A remark."],
    )


def run_free(run):
    return ExperimentResult(
        measurements=[Measurement({"data": "d", "method": m}, [1.0, 2.0]) for m in "ab"],
        findings=["a is as good as b."],
        tables={"Methods": [["method", "rank"], ["a", "1.5"]]},
    )


def run_broken(run):
    raise InputError("reproduce: expected data, got none. Get them.")


@pytest.fixture
def made_up(monkeypatch):
    import sys
    import types

    module = types.ModuleType("tamis_papers.made_up")
    module.__dict__.update(one=run_one, free=run_free, broken=run_broken)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    paper = "Maker, Upper 1999 (MU)"
    everything = (
        Experiment(
            "one",
            "The first",
            f"{paper}, table 1",
            "made_up:one",
            packages=("numba", "no-such-x"),
            minutes=2,
        ),
        Experiment("broken", "The second", f"{paper}, table 2", "made_up:broken"),
        Experiment("free", "Of no paper", "", "made_up:free"),
    )
    monkeypatch.setattr(experiment, "_ALL", everything)
    monkeypatch.setattr(_reproduce, "published", lambda name: PAPERS.get(name, Paper((), ())))


@pytest.fixture
def command():
    def invoke(*arguments):
        return CliRunner().invoke(program, list(map(str, arguments)))

    return invoke


def test_a_reproduction_from_end_to_end(made_up, tmp_path):
    found = reproduce("one", folder=tmp_path, progress=False, n_jobs=1)
    words = [row["verdict"] for row in found.rows]
    assert words == [
        "same",
        "differs, same order",
        "quoted only",
        "quoted only",
        "not in the paper",
    ]
    assert [claim["word"] for claim in found.claims][-1] == "cannot be told"
    assert found.versions["no-such-x"] == "not installed"
    assert found.versions["numba"] != "not installed"
    assert (tmp_path / "one-bars.png").is_file()
    assert json.loads((tmp_path / "one.json").read_text())["rows"] == found.rows


def test_the_reduced_version_says_what_it_left_out(made_up, tmp_path):
    found = reproduce("one", quick=True, folder=tmp_path, progress=False, n_jobs=1)
    words = [row["verdict"] for row in found.rows]
    assert words[2:4] == ["not run", "quoted only"]
    assert found.claims[-1]["word"] == "not tested in the reduced version"
    assert [file.name for file in tmp_path.glob("*.json")] == ["one-quick.json"]


def test_fewer_repeats_are_the_first_of_more(made_up, tmp_path, command):
    few = reproduce("one", folder=tmp_path, progress=False, n_jobs=1, repeats=2)
    assert few.rows[0]["repeats"] == 2
    assert "at most 2 of 3 repeats" in command("one", "--repeats", 2, "--folder", tmp_path).stdout
    write_pages(tmp_path, tmp_path / "pages")
    assert "Seed 0; at most 2 of 3 repeats;" in (tmp_path / "pages" / "one.md").read_text()
    with UnitStore(tmp_path / "units.sqlite") as store:
        first = store.read(["one/full/0/v/0", "one/full/0/v/1", "one/full/0/v/2"])
    assert len(first) == 2
    done = json.loads(command("all", "--folder", tmp_path, "--n-jobs", 1, "--json").stdout)
    assert done[0]["status"] == "finished"  # those with fewer repeats did not count
    assert done[0]["result"]["rows"][0]["repeats"] == 3
    with UnitStore(tmp_path / "units.sqlite") as store:
        assert store.read(first) == first  # seconds too: they were not computed again


def test_no_repeats_are_refused(made_up, tmp_path):
    with pytest.raises(ValueError, match="repeats must be"):
        reproduce("one", folder=tmp_path, repeats=0)


def test_pages_and_csv_files_are_written_from_what_is_stored(made_up, tmp_path):
    for name in ("one", "free"):
        reproduce(name, folder=tmp_path, progress=False, n_jobs=1)
    pages = tmp_path / "docs" / "papers"
    assert write_pages(tmp_path, pages) == 2
    index = (pages / "index.md").read_text()
    counts = "2 | 1 | 1 | 0 | 0 | 4 | 1 | 1 | 1 | 1 |"
    assert f"| [Maker, Upper 1999 (MU)](one.md) | {counts}" in index
    assert f"| all | {counts}" in index
    page = (pages / "one.md").read_text()
    assert f"| [one](#one) | The first | {counts}" in page
    assert "| b is worst | does not hold | c is |" in page
    assert "In all rows, data: d." in page
    assert "| b | 40 (60) ≈ |" in page
    assert "In the CSV file only: 2 quoted only, 1 not in the paper." in page
    assert "- A remark." in page
    assert (pages / "figures" / "one-bars.png").is_file()
    free = (pages / "free.md").read_text()
    assert "- a is as good as b." in free
    assert "| a | 1.5 |" in free
    assert "(paper)" not in free


def test_pages_can_be_written_from_the_csv_files_alone(made_up, tmp_path):
    for name in ("one", "free"):
        reproduce(name, folder=tmp_path, progress=False, n_jobs=1)
    write_pages(tmp_path, tmp_path / "pages")
    before = {file.name: file.read_text() for file in (tmp_path / "pages").glob("*.*")}
    assert len(before) > 6
    for file in (tmp_path / "pages").glob("*.md"):
        file.unlink()
    assert write_pages(tmp_path / "nothing", tmp_path / "pages") == 2
    after = {file.name: file.read_text() for file in (tmp_path / "pages").glob("*.*")}
    assert after == before


def test_a_new_run_replaces_its_old_lines_and_keeps_the_others(made_up, tmp_path):
    for name in ("one", "free"):
        reproduce(name, folder=tmp_path, progress=False, n_jobs=1, repeats=2)
    write_pages(tmp_path, tmp_path / "pages")
    free = (tmp_path / "pages" / "free.csv").read_text()
    (tmp_path / "free.json").unlink()
    reproduce("one", folder=tmp_path, progress=False, n_jobs=1)
    assert write_pages(tmp_path, tmp_path / "pages") == 2
    assert (tmp_path / "pages" / "free.csv").read_text() == free
    records = read_records(tmp_path / "pages")
    assert [row["repeats"] for row in records["one"]["rows"]] == [3, 1, 0, 0, 1]


def test_records_come_back_as_they_were(made_up, tmp_path):
    found = reproduce("one", folder=tmp_path, progress=False, n_jobs=1)
    write_pages(tmp_path, tmp_path / "pages")
    back = read_records(tmp_path / "pages")["one"]
    for mine, read in zip(found.rows, back["rows"], strict=True):
        mine = {key: item for key, item in mine.items() if key != "where"}
        assert _rounded(mine) == _rounded(read)
    for key in ("seed", "repeats", "planned", "versions", "figures", "remarks", "findings"):
        assert back[key] == getattr(found, key)


def _rounded(row):
    return {key: round(item, 5) if isinstance(item, float) else item for key, item in row.items()}


def test_reduced_runs_are_not_on_the_pages(made_up, tmp_path):
    reproduce("free", folder=tmp_path, progress=False, n_jobs=1)
    reproduce("one", quick=True, folder=tmp_path, progress=False, n_jobs=1)
    assert write_pages(tmp_path, tmp_path / "pages") == 1
    assert "not run" in (tmp_path / "pages" / "one.md").read_text()


def test_values_are_put_side_by_side_where_they_fit():
    def column_key(cases, n=None):
        rows = [{"case": one} for one in cases][:n]
        return _page._column_key(rows, ["data", "method"], _values(cases))

    case = [{"data": d, "method": m} for d in "xyz" for m in "abcd"]
    assert column_key(case) == "data"  # four lines of three, rather than three of four
    wide = [{"data": f"{n}", "method": m} for m in "ab" for n in range(13)]
    assert column_key(wide) == "method"
    assert column_key(wide + wide) is None
    assert column_key(wide, 4) is None


def _values(cases):
    return {key: {case[key] for case in cases} for key in cases[0]}


def test_a_page_of_nothing_is_refused(made_up, tmp_path, command):
    reproduce("one", quick=True, folder=tmp_path, progress=False, n_jobs=1)
    result = command("--page", tmp_path / "pages", "--folder", tmp_path)
    assert result.exit_code == 1
    assert "got none" in result.stderr
    assert not (tmp_path / "pages").exists()


def test_all_goes_on_after_a_failure_and_finishes_later(made_up, tmp_path, command):
    result = command("all", "--folder", tmp_path, "--n-jobs", 1)
    assert result.exit_code == 1
    assert "1 of 3 failed: broken" in result.stderr
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert "1 same, 1 differs, same order" in lines["one"]
    assert "1 of 4 hold" in lines["one"]
    assert "expected data, got none" in lines["broken"]
    again = command("all", "--folder", tmp_path, "--n-jobs", 1, "--json")
    assert [one["status"] for one in json.loads(again.stdout)] == [
        "was finished",
        "failed",
        "was finished",
    ]
    other = command("all", "--folder", tmp_path, "--n-jobs", 1, "--json", "--seed", 1)
    assert json.loads(other.stdout)[0]["status"] == "finished"


def test_a_damaged_result_is_not_finished(tmp_path):
    (tmp_path / "one.json").write_text("{")
    assert _everything.stored_result(tmp_path, "one", False, 0, None) is None


def test_the_command_prints_numbers_and_verdicts(made_up, tmp_path, command):
    result = command("one", "--folder", tmp_path, "--n-jobs", 1)
    assert result.exit_code == 0
    assert "d, b  60     40     " in result.stdout
    assert "differs, same order: 20.0 points lower" in result.stdout
    assert "does not hold: c is" in result.stdout
    assert "figure: " in result.stderr
    free = command("free", "--folder", tmp_path, "--n-jobs", 1).stdout
    assert "verdict" not in free
    assert "a is as good as b." in free


def test_json_is_one_object(made_up, tmp_path, command):
    result = command("one", "--quick", "--folder", tmp_path, "--json", "--n-jobs", 1)
    assert json.loads(result.stdout)["quick"] is True


def test_every_experiment_knows_its_time():
    assert all(one.minutes > 0 for one in experiment.list_experiments())


def test_a_complete_run_states_its_time(made_up, tmp_path, command):
    arguments = ("one", "--folder", tmp_path, "--n-jobs", 1)
    assert "one: 2 min on one core" in command(*arguments).stderr
    assert "on one core" not in command(*arguments, "--quick").stderr


def test_the_list(made_up, command):
    assert command("--list").stdout.splitlines()[0] == "one      2 min  The first"
    assert [one["name"] for one in json.loads(command("--list", "--json").stdout)][-1] == "free"
    assert command().stdout == command("--list").stdout


def test_wrong_commands(made_up, tmp_path, command):
    result = command("onne")
    assert result.exit_code == 2
    assert "Did you mean one?" in result.stderr
    assert "--list" in result.stderr
    for arguments in (("one", "--list"), ("one", "--page", "x"), ("--list", "--page", "x")):
        assert command(*arguments).exit_code == 2
    failed = command("broken", "--folder", tmp_path)
    assert failed.exit_code == 1
    assert "Traceback" not in failed.stderr


def test_numbers_in_few_digits():
    assert [_shown.number(value) for value in (None, 0.12345, 12.345, 41565.4, 9999.0, 3e15)] == [
        "",
        "0.1235",
        "12.35",
        "41,565",
        "9999",
        "3e+15",
    ]
    assert [_shown.in_time(value) for value in (5, 600, 7200)] == ["5 s", "10 min", "2.0 h"]


# Work in a process of its own.


def count_up(n, sleeps_at=None, fails_at=None, works_at=None):
    if n < 0:
        raise InputError("negative")

    def make():
        import time

        for number in range(n):
            if number == sleeps_at:
                time.sleep(60)
            if number == fails_at:
                raise ValueError("two\nlines")
            while number == works_at:
                pass
            yield {"number": number}

    return make


def lines_of(*texts):
    lines = Queue()
    for text in texts:
        lines.put(text)
    return lines


def test_items_until_the_end_an_error_or_silence():
    item = _apart.ITEM + '{"n": 1}'
    collect = _apart._collect
    assert collect(lines_of(_apart.READY, item, "tamis done"), 1.0) == ([{"n": 1}], True, False, "")
    assert collect(lines_of(_apart.READY, item, _apart.ERROR + "bad"), 1.0).error == "bad"
    assert collect(lines_of(_apart.READY, item, _apart.END), 1.0).error
    stopped = collect(lines_of(_apart.READY, item), 0.01)
    assert stopped == ([{"n": 1}], True, True, "stopped after 0.01 s")
    assert collect(lines_of(_apart.ERROR + "no data"), 1.0).ready is False


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((2,), (2, True, False, "")),
        ((3, 1), (1, True, True, "stopped after 0.5 s")),
        ((3, None, 1), (1, True, False, "ValueError: two lines")),
        ((3, None, None, 1), (1, True, True, "stopped after 0.5 s")),
        ((-1,), (0, False, False, "InputError: negative")),
    ],
)
def test_work_apart(arguments, wanted, tmp_path, monkeypatch):
    (tmp_path / "made_up_work.py").write_text(
        "from tamis.exceptions import InputError\n" + _source(count_up)
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    from importlib import import_module

    work = import_module("made_up_work").count_up
    found = _apart.work_apart(work, arguments, seconds=0.5, gigabytes=4.0)
    assert (len(found.items), *found[1:]) == wanted


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of computing here")
def test_computing_is_limited_and_waiting_is_not():
    done = _apart.Apart([], True, False, _apart.ENDED)
    ended = SimpleNamespace(wait=lambda: -signal.SIGPROF)
    assert _apart._named(done, ended, 7.0) == ([], True, True, "stopped after 7 s")
    killed = SimpleNamespace(wait=lambda: -signal.SIGKILL)
    assert _apart._named(done, killed, 7.0) == done
    assert _apart._on_the_clock(7.0) > 7.0


def _source(function):
    import inspect

    return inspect.getsource(function)
