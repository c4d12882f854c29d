import copy
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from report.example import HOSTILE, METHODS, make_summary
from tamis.exceptions import InputError
from tamis.report import render, write_report
from tamis.report._limits import LARGEST

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Outline(HTMLParser):
    """What is in a page; fails where elements do not nest."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.text = [], [], [], []
        self.scripts = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names))
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data
        elif self.open[-1:] != ["style"]:
            self.text.append(data)


def embedded(page):
    return json.loads(Outline(page).scripts[0])


SUMMARIES = {
    "one": make_summary(),
    "several": make_summary(
        n_data=3, learners=("svm", "forest"), metrics=("accuracy", "balanced_error")
    ),
    "hostile": make_summary(names=HOSTILE, methods=[*HOSTILE[:5], HOSTILE[5], *METHODS]),
    "single method and count": make_summary(methods=["dft"], counts=[3], n_columns=4, n_splits=2),
}


@pytest.fixture(scope="module", params=list(SUMMARIES))
def page(request):
    return render(SUMMARIES[request.param])


@pytest.mark.sampled(1)
def test_page_is_well_formed(page):
    outline = Outline(page)
    assert page.startswith("<!DOCTYPE html>")
    assert len(outline.ids) == len(set(outline.ids))
    for tag, attributes in outline.tags:
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in outline.ids
        if tag == "svg" and attributes.get("role") == "img":
            assert set(attributes["aria-labelledby"].split()) <= set(outline.ids)
        if "data-for" in attributes:
            assert attributes["data-for"] in outline.ids


def test_page_asks_for_nothing_and_runs_only_its_own_script(page):
    outline = Outline(page)
    for tag, attributes in outline.tags:
        assert tag not in {"img", "iframe", "object", "embed", "audio", "video", "base", "form"}
        assert not {"src", "srcset", "style", "action", "xlink:href"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith(("#", "data:,"))
    assert len(outline.scripts) == 2
    policy = next(a["content"] for _, a in outline.tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_every_chart_has_a_title_a_description_and_its_numbers(page):
    outline = Outline(page)
    tags = [tag for tag, _ in outline.tags]
    charts = [a for tag, a in outline.tags if tag == "svg" and a.get("role") == "img"]
    figures = tags.count("figure")
    assert len(charts) == figures >= 5
    assert tags.count("desc") == figures
    assert page.count('<details class="numbers">') == figures


def test_page_is_the_same_every_time():
    assert render(SUMMARIES["one"]) == render(copy.deepcopy(SUMMARIES["one"]))


def test_rendering_leaves_the_summary_alone():
    summary = make_summary(names=HOSTILE)
    before = copy.deepcopy(summary)
    render(summary)
    assert summary == before


def test_the_answer_comes_first():
    page = render(SUMMARIES["one"])
    answer = SUMMARIES["one"]["data"][0]["answer"]
    text = " ".join(" ".join(Outline(page).text).split())
    start = text.index("Keep 50 of 2,000 columns, ranked by inffs", text.index("Skip"))
    assert start < 300
    for words in (f"{answer['score']:.3f}", f"{answer['low']:.3f} to {answer['high']:.3f}"):
        assert start < text.index(words) < text.index("Score against number of columns")
    assert text.index("gene_0037") < text.index("Score against number of columns")


def test_names_are_text_and_nothing_else():
    page = render(SUMMARIES["hostile"])
    text = "".join(Outline(page).text)
    assert "<script>window.hacked" in text
    assert "{{ 7 * 7 }}" in text
    assert "العربية" in text
    for character in "\u202e\u2066\u200f\x00\x1b\ud800":
        assert character not in page
    assert "⟨U+202E⟩" in text
    assert "x" * 600 not in page
    page.encode("utf-8")


def test_the_summary_inside_the_page_is_exact_where_it_is_short():
    names = embedded(render(make_summary(names=HOSTILE)))["data"][0]["answer"]["columns"]
    for name in HOSTILE:
        if len(name) < 600:
            assert name in names
    long = next(name for name in names if name.startswith("xxx"))
    assert len(long) <= 600
    assert "10,000 letters" in long
    assert embedded(render(SUMMARIES["one"])) == SUMMARIES["one"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "extreme",
    [
        {"n_columns": 100_000},
        {"n_columns": 100_000, "names": HOSTILE, "n_data": 3},
        {"n_columns": 100_000, "names": ["<" * 10_000 + str(i) for i in range(200)]},
        {"counts": list(range(1, 201)), "n_splits": 3},
        {"n_data": 25, "n_splits": 3, "learners": ("svm", "knn"), "metrics": ("accuracy", "auc")},
        {"methods": [f"method {i} {'y' * 400}" for i in range(60)], "n_splits": 3},
    ],
    ids=["wide", "wide, hostile", "long names", "all prefixes", "many data", "many methods"],
)
def test_page_stays_small(extreme):
    summary = make_summary(**extreme)
    page = render(summary)
    assert len(page.encode()) < LARGEST == 3_000_000
    for place, data in enumerate(summary["data"]):  # charts may go, the answers stay
        assert f'id="d{place}"' in page
        assert f"{data['answer']['score']:.3f}" in page


def test_what_is_left_out_is_said():
    summary = make_summary(n_splits=400)
    assert len(summary["table"]["rows"]) == 24_000
    page = render(summary)
    assert "first 10,000 of 24,000 rows" in " ".join(Outline(page).text)
    assert len(embedded(page)["table"]["rows"]) == 10_000


def test_unknown_numbers_are_dashes():
    summary = make_summary()
    data = summary["data"][0]
    for row in data["scores"] + data["stability"]:
        row.update(low=None, high=None)
    data["scores"][0]["mean"] = None
    data["answer"].update(low=None, high=None, stability=None)
    data["times"][0].update(select_seconds=None, peak_bytes=None)
    data["frequencies"]["shares"][0][0] = None
    data["correlation"]["values"][0][1] = None
    text = "".join(Outline(render(summary)).text)
    assert "None" not in text
    assert "nan" not in text.split()


def test_nothing_but_failures_gives_a_page():
    summary = make_summary()
    summary["data"][0].update(
        answer=None, scores=[], frequencies=None, correlation=None, times=[], stability=[],
    )  # fmt: skip
    summary["data"][0]["significance"]["methods"] = []
    summary["table"].update(rows=[])
    text = "".join(Outline(render(summary)).text)
    assert "No recommendation" in text
    assert "RandomRanking: expected at least one column" in text


def test_known_probes_get_a_chart():
    summary = make_summary()
    summary["data"][0]["probes"] = [
        {
            "method": "dft",
            "count": k,
            "mean": 0.1,
            "standard_error": 0.02,
            "low": 0.0,
            "high": 0.2,
            "n": 20,
        }
        for k in (10, 50)
    ]
    assert 'id="d0-probes"' in render(summary)


def test_files_are_whole_and_not_replaced_unasked(tmp_path):
    there = write_report(SUMMARIES["hostile"], tmp_path / "report.html")
    assert there.read_text(encoding="utf-8") == render(SUMMARIES["hostile"], "report")
    with pytest.raises(InputError, match="exists"):
        write_report(SUMMARIES["one"], there)
    write_report(SUMMARIES["one"], there, force=True)
    assert sorted(tmp_path.iterdir()) == [there]


def test_the_json_file_is_the_record(tmp_path):
    there = write_report(SUMMARIES["hostile"], tmp_path / "report.json")
    assert json.loads(there.read_text(encoding="utf-8")) == SUMMARIES["hostile"]


def test_jinja_is_asked_for_only_when_a_page_is_made():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from tamis.exceptions import MissingDependencyError\n"
        "from tamis.report import render\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from example import make_summary\n"
        "try: render(make_summary())\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    from pathlib import Path

    here = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, "-c", code, here], capture_output=True, text=True, check=True
    )
    assert "pip install 'tamis[cli]'" in run.stdout
