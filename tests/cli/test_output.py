import csv
import io
import json

import click
import pytest
from rich.cells import cell_len
from rich.console import Console

from tamis.cli._output import cut_sentence, fit, ranking_format, show_ranking
from tamis.cli.console import Misuse, as_csv, as_json, print_data
from tamis.cli.rank import COLUMNS

ROWS = [
    {"rank": 1, "feature": "a,\n\"b\"", "score": 0.1 + 0.2, "selected": True, "kind": "numeric"},
    {"rank": 2, "feature": "c", "score": 1e-9, "selected": False, "kind": "numeric"},
]  # fmt: skip


def test_csv_is_quoted_and_exact():
    assert as_csv(ROWS, COLUMNS) == (
        'rank,feature,score,selected\n1,"a,\n""b""",0.30000000000000004,true\n2,c,1e-09,false\n'
    )


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


def summary(scores, n_selected, names=None, keep=(), cut=None):
    names = names or [f"c{j}" for j in range(len(scores))]
    features = [
        {
            "rank": i + 1,
            "feature": name,
            "score": score,
            "selected": i < n_selected or name in keep,
        }
        for i, (name, score) in enumerate(zip(names, scores, strict=True))
    ]
    cut = cut or {"rule": "TopK", "k": n_selected, "details": {}}
    return {
        "n_selected": sum(row["selected"] for row in features),
        "n_columns": len(scores),
        "cut": {"keep": list(keep), **cut},
        "features": features,
    }


def shown(ranking, top=None, width=80, **console):
    screen = io.StringIO()
    options = {"markup": False, "highlight": False, "emoji": False, "soft_wrap": True}
    show_ranking(ranking, top, Console(file=screen, width=width, **options, **console))
    return screen.getvalue().splitlines()


def test_rows_bars_and_the_cut():
    lines = shown(summary([0.8, 0.4, 0.1], 2))
    assert lines[0].split() == ["rank", "feature", "score"]
    assert lines[1].split() == ["1", "✓", "c0", "0.8000", "█" * 24]
    assert lines[2].split() == ["2", "✓", "c1", "0.4000", "█" * 12]
    assert lines[3].startswith("─── 2 of 3 selected: the best 2 ──")
    assert lines[4].split() == ["3", "c2", "0.1000", "███"]
    assert len(lines) == 5


def test_twenty_rows_and_how_many_more():
    scores = [1 - i / 2000 for i in range(2000)]
    lines = shown(summary(scores, 5))
    assert len(lines) == 1 + 20 + 1 + 1
    assert lines[-1].split() == ["…", "1,980", "more"]


def test_a_cut_below_the_last_row_shown_is_still_said():
    lines = shown(summary([3.0, 2.0, 1.0, 0.5], 3), top=2)
    assert lines[3].split() == ["…", "2", "more,", "1", "of", "them", "selected"]
    assert "3 of 4 selected" in lines[4]


def test_columns_kept_by_name_are_marked_below_the_cut():
    lines = shown(summary([3.0, 2.0, 1.0], 1, keep=["c2"]))
    assert "2 of 3 selected: the best 1, 1 kept by name" in lines[2]
    assert "✓" not in lines[3]
    assert "✓ c2" in lines[4]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    names = ["x" * 300, "日本語" * 60, "a\nb\x1b[31m"]
    lines = shown(summary([0.9, 0.5, 0.1], 1, names), width=width)
    assert max(map(cell_len, lines)) <= width
    assert "…" in lines[1]
    assert "…" in lines[3]
    assert "a\\nb\\x1b[31m" in lines[4]
    # Scores stand under each other, also beside letters that take two cells.
    rows = {"0.9000": lines[1], "0.5000": lines[3], "0.1000": lines[4]}
    ends = {cell_len(line[: line.index(score)]) for score, line in rows.items()}
    assert len(ends) == 1


def test_markup_in_names_is_only_text():
    lines = shown(summary([1.0], 1, ["[red]x[/red] :smile: [link=http://a]"]))
    assert "[red]x[/red] :smile: [link=http://a]" in lines[1]


def test_colour_only_on_terminals():
    assert "\x1b" not in "".join(shown(summary([2.0, 1.0], 1)))
    assert "\x1b[2m" in "".join(shown(summary([2.0, 1.0], 1), force_terminal=True))


def test_a_narrow_terminal_has_no_bars():
    assert "█" not in "".join(shown(summary([2.0, 1.0], 1), width=40))


@pytest.mark.parametrize(
    ("scores", "texts"),
    [
        ([0.0, 0.0], ["0.0000", "0.0000"]),
        ([1e-7, 5e-8], ["1.000e-07", "5.000e-08"]),
        ([2e6, 1.0], ["2.000e+06", "1.000e+00"]),
        ([1.0, -3.0], ["1.0000", "-3.0000"]),
    ],
)
def test_scores_of_any_size(scores, texts):
    lines = shown(summary(scores, 1))
    assert [lines[1].split()[3], lines[3].split()[2]] == texts


def test_the_worst_of_negative_scores_has_no_bar():
    lines = shown(summary([1.0, -1.0, -3.0], 1))
    assert lines[1].count("█") == 24
    assert lines[3].count("█") == 12
    assert lines[4].count("█") == 0


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        ({"rule": "Elbow", "which": "early", "details": {"early": 1, "late": 2}},
         "early elbow (late: 2)"),
        ({"rule": "Elbow", "which": "late", "details": {"early": 1, "late": 2}},
         "late elbow (early: 1)"),
        ({"rule": "Elbow", "which": "early", "details": {"early": 1, "late": 1}}, "the elbow"),
        ({"rule": "Fraction", "f": 0.1, "details": {}}, "the best 10%"),
        ({"rule": "Fraction", "f": 0.125, "details": {}}, "the best 12.500%"),
        ({"rule": "Fraction", "f": 1.0, "details": {}}, "all"),
        ({"rule": "Mass", "m": 0.5, "details": {}}, "Mass"),
    ],
)  # fmt: skip
def test_cut_sentence(cut, words):
    assert cut_sentence(summary([2.0, 1.0], 1, cut=cut)) == f"1 of 2 selected: {words}"


def test_fit_counts_cells():
    assert fit("日本語", 5) == "日本…"
    assert fit("abc", 5) == "abc  "
    assert fit("abcdefgh", 6, dots="...") == "abc..."


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-x", "@sum", "\ttab"])
def test_names_are_no_formulas_for_a_spreadsheet(name):
    text = as_csv([{"feature": name, "score": -0.5}])
    assert list(csv.reader(io.StringIO(text)))[1] == [f"'{name}", "-0.5"]
