import numpy as np
import pytest
from click.testing import CliRunner

from tamis.cli.console import program


@pytest.fixture
def run():
    """Run the program in this process and return click's result."""

    def invoke(*args):
        return CliRunner().invoke(program, [str(arg) for arg in args])

    return invoke


@pytest.fixture
def refuse(run):
    """Run a command that must fail, and return its exit code and the message."""

    def invoke(*args):
        result = run(*args)
        assert isinstance(result.exception, SystemExit)
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return result.exit_code, result.stderr

    return invoke


@pytest.fixture
def write(tmp_path):
    """Write a file in a folder of its own and return its path."""

    def put(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def make_columns(n_rows=60):
    """Columns of every kind; ``strong`` tells the classes of ``kind`` apart, ``weak`` less so."""
    rng = np.random.default_rng(0)
    kind = np.arange(n_rows) % 2
    return {
        "noise": rng.normal(size=n_rows).round(3),
        "strong": (kind * 4 + rng.normal(size=n_rows)).round(3),
        "weak": (kind * 1.5 + rng.normal(size=n_rows)).round(3),
        "flag": np.where(rng.random(n_rows) < 0.5, "true", "false"),
        "colour": np.array(["blue", "green", "red"])[rng.integers(0, 3, n_rows)],
        "day": [f"2024-01-{1 + i % 28:02d}" for i in range(n_rows)],
        "patient_id": 1000 + rng.permutation(n_rows),
        "comment": [f"seen on visit {i}" for i in range(n_rows)],
        "kind": np.array(["no", "yes"])[kind],
        "price": (kind * 10 + rng.normal(size=n_rows)).round(3),
    }


def as_csv(columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def table(write):
    """Write a CSV file with columns of every kind, two targets: ``kind`` and ``price``."""
    return write(as_csv(make_columns()), "patients.csv")


@pytest.fixture
def folder_is_clean(tmp_path):
    """Check that a folder holds exactly these files, so nothing temporary."""

    def check(*names):
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)

    return check
