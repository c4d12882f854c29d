"""What the documentation shows is true: its Python runs, its examples run, its links lead on."""

import doctest
import re
import runpy
import shlex
import sys
import types
from pathlib import Path

import pytest

import tamis
from tamis import data, passes, statistics

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONG = {"graph.py", "how_sure.py", "many_methods.py", "meta_features.py", "plots.py", "weights.py"}

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def in_repository(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


class NumberChecker(doctest.OutputChecker):
    """Numbers need to agree to the digits that the page shows."""

    def check_output(self, want, got, optionflags):
        shown, found = NUMBER.findall(want), NUMBER.findall(got)
        if len(shown) == len(found):
            agreed = iter([w if self.agree(w, g) else g for w, g in zip(shown, found, strict=True)])
            got = NUMBER.sub(lambda _: next(agreed), got)
        return super().check_output(want, got, optionflags)

    @staticmethod
    def agree(want, got):
        mantissa, _, exponent = want.partition("e")
        digits = len(mantissa.partition(".")[2])
        return abs(float(want) - float(got)) <= 0.51 * 10.0 ** (int(exponent or 0) - digits)


def sessions(page):
    """The `>>>` blocks of a page, on the lines where they stand; all else is blank."""
    text = page.read_text(encoding="utf-8")
    blank = re.sub(r"[^\n]", "", text)
    lines, kept = text.split("\n"), blank.split("\n")
    for block in FENCE.finditer(text):
        if ">>> " in block[2]:
            first = text.count("\n", 0, block.start(2))
            n_lines = block[2].count("\n")
            kept[first : first + n_lines] = lines[first : first + n_lines]
    return "\n".join(kept)


@pytest.mark.sampled(2)
@in_repository(PAGES)
def test_python_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    session = doctest.DocTestParser().get_doctest(sessions(page), {}, page.name, str(page), 0)
    module = types.ModuleType("page")  # classes defined on a page can then be pickled
    monkeypatch.setitem(sys.modules, "page", module)
    session.globs = vars(module)
    complaints = []
    runner = doctest.DocTestRunner(NumberChecker(), optionflags=FLAGS)
    runner.run(session, out=complaints.append, clear_globs=False)
    assert not complaints, "".join(complaints)


@pytest.mark.slow
def test_commands_on_the_page_run(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from tamis.cli.console import program

    monkeypatch.chdir(tmp_path)
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    blocks = [block[2] for block in FENCE.finditer(page) if block[1] == "console"]
    for command, want in re.findall(
        r"^\$ tamis (.*)\n((?:[^$].*\n|\n)*)", "".join(blocks), re.MULTILINE
    ):
        line, _, comment = command.partition("  # exit code ")
        result = CliRunner().invoke(program, shlex.split(line))
        assert result.exit_code == int(comment or 0), result.output
        assert NumberChecker().check_output(want, result.stdout, FLAGS), result.stdout


@in_repository(PAGES)
def test_python_on_the_page_is_tested(page):
    untested = [
        block[2]
        for block in FENCE.finditer(page.read_text(encoding="utf-8"))
        if block[1] in ("python", "py", "pycon") and ">>> " not in block[2]
    ]
    assert not untested


@in_repository(PAGES)
def test_links_lead_to_files(page):
    links = LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


@in_repository(
    [pytest.param(page, marks=[pytest.mark.slow] * (page.name in LONG)) for page in EXAMPLES]
)
def test_example_runs(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    runpy.run_path(str(page), run_name="__main__")
    assert capsys.readouterr().out.count("\n") >= 3


def test_reference_names_everything_public():
    text = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    modules = [tamis, tamis.cutoff, tamis.datasets, tamis.exceptions, tamis.plots, tamis.selectors]
    modules += [passes, statistics, data]
    public = {name for module in modules for name in module.__all__}
    missing = [name for name in sorted(public) if not re.search(rf"\b{name}$", text, re.MULTILINE)]
    assert not missing
