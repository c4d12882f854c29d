import json

import click
import pytest

from tamis.cli._errors import Misuse
from tamis.cli._ranking_file import as_csv, as_json, print_data, ranking_format

SUMMARY = {
    "features": [
        {"rank": 1, "feature": "a,\n\"b\"", "score": 0.1 + 0.2, "selected": True},
        {"rank": 2, "feature": "c", "score": 1e-9, "selected": False},
    ]
}  # fmt: skip


def test_csv_is_quoted_and_exact():
    assert as_csv(SUMMARY) == (
        'rank,feature,score,selected\n1,"a,\n""b""",0.30000000000000004,true\n2,c,1e-09,false\n'
    )


def test_csv_of_the_top():
    assert as_csv(SUMMARY, top=1).endswith("true\n")


def test_json_refuses_nan():
    assert json.loads(as_json({"name": "é"})) == {"name": "é"}
    with pytest.raises(ValueError):
        as_json({"score": float("nan")})


def test_data_is_utf8_whatever_the_locale():
    from click.testing import CliRunner

    @click.command()
    def show():
        print_data("é \udc80\n")

    result = CliRunner(charset="latin-1").invoke(show)
    assert result.stdout_bytes == "é \\udc80\n".encode()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("r.json", "json"),
        ("R.JSON", "json"),
        ("r.csv", "csv"),
        ("r.tsv.gz", "tsv"),
        ("r.pq", "parquet"),
    ],
)
def test_ranking_format(name, kind, tmp_path):
    assert ranking_format(tmp_path / name) == kind


@pytest.mark.parametrize("name", ["r.npz", "r.html", "json"])
def test_other_formats_are_usage(name, tmp_path):
    with pytest.raises(Misuse, match=r"--out must end in \.csv"):
        ranking_format(tmp_path / name)
