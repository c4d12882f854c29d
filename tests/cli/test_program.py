import os
import subprocess
import sys

import pytest

import tamis
from tamis.cli import main


def test_version(run):
    assert run("--version").stdout == f"tamis {tamis.__version__}\n"


@pytest.mark.parametrize(
    "command", [(), ("answer",), ("rank",), ("select",), ("demo",), ("methods",)]
)
def test_every_help_has_examples(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Examples:\n    tamis" in result.stdout
    assert result.stderr == ""


def test_no_command_shows_the_help(run):
    result = run()
    assert result.exit_code == 0
    assert result.stdout == run("--help").stdout


def test_an_unknown_command_is_usage(refuse):
    code, message = refuse("rnk")
    assert code == 2
    assert "rnk" in message


def test_main_returns_the_exit_code(capsys):
    assert main(["--version"]) == 0
    assert main(["rank"]) == 2
    assert "tamis rank: Missing argument 'DATA'" in capsys.readouterr().err


def test_without_click_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    assert main([]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "pip install 'tamis[cli]'" in captured.err


def run_closed(folder, *words):
    """The program in a shell that closes or redirects a stream."""
    path = folder / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(40)))
    command = " ".join([sys.executable, "-m", "tamis.cli", "rank", str(path), "--target y", *words])
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True)


@pytest.mark.slow
def test_a_closed_stdout_is_said(tmp_path):
    done = run_closed(tmp_path, ">&-")
    assert done.returncode == 1
    assert done.stderr.startswith("tamis: expected an open standard output, got a closed one")


@pytest.mark.slow
def test_a_closed_stderr_keeps_messages_out_of_the_data(tmp_path):
    done = run_closed(tmp_path, "2>&-")
    assert done.returncode == 0
    assert done.stdout.startswith("rank,feature,score,selected,p_value,q_value\n1,a,")
    assert done.stdout.count("\n") == 2


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_stdout_is_said(tmp_path):
    done = run_closed(tmp_path, "--quiet", "> /dev/full")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "expected to write all results, got: No space left on device" in done.stderr


@pytest.mark.parametrize("options", ["--report x --out x", "--store x --out x", "--out t.csv"])
def test_one_file_for_two_purposes(refuse, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n")
    code, message = refuse("compare", "t.csv", "--target", "y", *options.split())
    assert code == 2
    assert "must be different files" in message
