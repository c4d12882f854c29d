"""``tamis compare`` with workers: the numbers of one process, and what is refused."""

import pytest

pytest.importorskip("distributed")

WORDS = ("--target", "kind", "--exclude", "price", "--protocol", "3", "--counts", "1,2")


@pytest.fixture
def options(table):
    return ("compare", table, *WORDS, "--methods", "dft,randomranking", "--quiet")


@pytest.fixture
def alone(run, options):
    result = run(*options, "--n-jobs", "1")
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_a_scheduler(run, options, alone, dask_client, monkeypatch):
    from tamis.evaluation.run import workers

    sent, submit = [], workers.run_on_cluster

    def noted(plan, next_job, client):
        sent.append(client.scheduler.address)
        return submit(plan, next_job, client)

    monkeypatch.setattr(workers, "run_on_cluster", noted)
    address = dask_client.scheduler.address
    result = run(*options, "--cluster", address)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == alone
    assert sent == [address]
    assert dask_client.status == "running"


@pytest.mark.slow
def test_a_store_and_a_report(run, options, alone, dask_client, tmp_path):
    files = ("--store", tmp_path / "runs.sqlite", "--report", tmp_path / "r.html")
    result = run(*options, *files, "--cluster", dask_client.scheduler.address)
    assert result.stdout == alone
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    # What the workers found is in the store: nothing is left to do without them.
    again = run(*options, "--store", tmp_path / "runs.sqlite", "--n-jobs", "1")
    assert again.stdout == alone


@pytest.mark.slow
def test_threads_mean_this_process(run, options, alone):
    assert run(*options, "--cluster", "threads").stdout == alone


@pytest.mark.slow
def test_processes_of_its_own(run, options, alone):
    result = run(*options, "--workers", 2)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == alone


def test_one_of_the_two(refuse, options):
    code, message = refuse(*options, "--cluster", "tcp://x:1", "--workers", 2)
    assert code == 2
    assert "--cluster and --workers: give one of the two" in message


def test_no_workers(refuse, options):
    code, message = refuse(*options, "--workers", 0)
    assert code == 2
    assert "--workers" in message


def test_no_scheduler(refuse, options, monkeypatch):
    monkeypatch.setattr("tamis.passes.dask.client.CONNECT_SECONDS", 0.2)
    code, message = refuse(*options, "--cluster", "tcp://127.0.0.1:1")
    assert code == 1
    assert "--cluster: expected a scheduler of Dask at 'tcp://127.0.0.1:1'" in message


def test_the_same_options_as_rank():
    from tamis.cli.compare import compare
    from tamis.cli.rank import rank

    for name in ("cluster", "workers"):
        ours, theirs = (
            next(one for one in command.params if one.name == name).to_info_dict()
            for command in (compare, rank)
        )
        assert ours == theirs
