"""The page in a real browser: Chromium without a screen, driven by playwright."""

import csv
import io
import json
import shutil
from functools import cache
from itertools import pairwise

import pytest

from report.example import HOSTILE, METHODS, make_summary
from tamis.report import render

pytestmark = pytest.mark.slow  # a minute of a browser

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SUMMARIES = {
    "one": make_summary(),
    "several": make_summary(n_data=2, learners=("svm", "knn"), metrics=("accuracy", "auc")),
    "hostile": make_summary(names=HOSTILE, methods=[*HOSTILE[:5], *METHODS]),
    "wide": make_summary(n_columns=100_000),
}


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the browser tests need playwright (pip install playwright)"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("the browser tests need Chromium (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield browser
        browser.close()


@cache
def page_of(name):
    return render(SUMMARIES[name])


class Visit:
    """A page, and everything it did that it should not have done."""

    def __init__(self, browser, path, **settings):
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.console, self.requests, self.dialogs = [], [], []
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dismiss)
        self.page.goto(path.as_uri())

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def assert_quiet(self):
        assert self.console == []
        assert self.dialogs == []
        foreign = [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]
        assert foreign == []
        assert sum(url.startswith("file:") for url in self.requests) == 1


@pytest.fixture
def visit(browser, tmp_path):
    visits = []

    def start(page, **settings):
        path = tmp_path / "report.html"
        path.write_text(page if page.startswith("<") else page_of(page), "utf-8")
        visits.append(Visit(browser, path, **settings))
        return visits[-1]

    yield start
    for made in visits:
        made.context.close()


def sizes(seen, places):
    return seen.page.locator(places).evaluate_all(
        "nodes => nodes.map(n => n.getBoundingClientRect()).map(box => [box.width, box.height])"
    )


@pytest.mark.parametrize("name", list(SUMMARIES))
@pytest.mark.parametrize("width", [1280, 390])
def test_charts_are_drawn_in_silence(visit, name, width):
    seen = visit(name, viewport={"width": width, "height": 900})
    charts = sizes(seen, "figure:not(details figure) svg.chart")
    assert len(charts) >= 6
    assert all(width > 100 and height > 40 for width, height in charts)
    lines = sizes(seen, "#d0-score0 svg.chart polyline")
    # Beside the methods: all features, random ones and guessing.
    assert len(lines) == len(SUMMARIES[name]["methods"]) + 3
    assert all(width > 100 for width, _ in lines)
    # Wide charts scroll inside their box; the page itself never scrolls sideways.
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    seen.assert_quiet()


@pytest.mark.parametrize("name", ["one", "hostile"])
@pytest.mark.parametrize("width", [1280, 390])
def test_all_text_of_charts_lies_inside(visit, name, width):
    seen = visit(name, viewport={"width": width, "height": 900})
    outside = seen.page.evaluate(
        """() => [...document.querySelectorAll("svg.chart")].flatMap(svg => {
            const box = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].filter(text => {
                const own = text.getBoundingClientRect();
                return own.left < box.left - 1 || own.right > box.right + 1
                    || own.top < box.top - 1 || own.bottom > box.bottom + 1;
            }).map(text => text.textContent);
        })"""
    )
    assert outside == []


def test_charts_fit_a_phone_and_can_be_read(visit):
    seen = visit("one", viewport={"width": 390, "height": 900})
    charts = sizes(seen, "figure:not(details figure) svg.chart.roomy")
    assert len(charts) >= 3
    assert all(width <= 390 for width, _ in charts)
    letters = sizes(seen, "figure:not(details figure) svg.chart.roomy text")
    assert min(height for _, height in letters) > 9


def cells(seen, table, column):
    return seen.page.locator(f"#{table} tbody tr:not([hidden])").evaluate_all(
        "(rows, column) => rows.map(row => row.cells[column].textContent)", column
    )


def test_tables_sort_by_mouse_and_by_keyboard(visit):
    seen = visit("one")
    before = cells(seen, "d0-methods", 0)
    assert before[0] == "inffs"
    seen.page.locator("#d0-methods th button").nth(0).click()
    assert cells(seen, "d0-methods", 0) == sorted(before)
    head = seen.page.locator("#d0-methods th").nth(1)
    button = head.locator("button")
    button.focus()
    seen.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert cells(seen, "d0-methods", 1) == sorted(cells(seen, "d0-methods", 1), reverse=True)
    seen.page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"
    assert cells(seen, "d0-methods", 1) == sorted(cells(seen, "d0-methods", 1))
    assert seen.page.locator("#d0-methods th[aria-sort]").count() == 1
    seen.assert_quiet()


def test_times_sort_by_value_not_by_text(visit):
    seen = visit("one")
    seen.page.locator("#d0-methods th button").nth(6).click()
    values = seen.page.locator("#d0-methods tbody td:nth-child(7)").evaluate_all(
        "cells => cells.map(cell => Number(cell.dataset.v))"
    )
    assert values == sorted(values, reverse=True)


def test_tables_filter(visit):
    seen = visit("one")
    box = seen.page.locator('input[data-for="d0-methods"]')
    box.fill("FI")
    assert cells(seen, "d0-methods", 0) == ["fisher"]
    assert box.locator("xpath=../../output").inner_text() == "1 of 12 rows"
    box.fill("")
    assert len(cells(seen, "d0-methods", 0)) == 12
    seen.assert_quiet()


def test_legend_brings_out_a_method(visit):
    seen = visit("one")
    key = seen.page.locator('#d0-score0 .key[data-method="3"]')
    key.focus()
    assert seen.page.locator("#d0-score0 .series.lit").get_attribute("data-method") == "3"
    seen.page.keyboard.press("Enter")
    assert key.get_attribute("aria-pressed") == "true"
    seen.page.locator("h1").click()
    assert seen.page.locator("#d0-score0 .series.lit").count() == 1
    key.click()
    seen.page.mouse.move(0, 0)
    key.evaluate("key => key.blur()")
    assert seen.page.locator("#d0-score0 .series.lit").count() == 0


def download(seen, what):
    with seen.page.expect_download() as waiting:
        seen.page.locator(f'[data-download="{what}"]').click()
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def test_downloads_hold_what_the_page_shows(visit):
    seen = visit("one")
    summary = SUMMARIES["one"]
    name, text = download(seen, "json")
    assert name == "tamis-report.json"
    assert json.loads(text) == summary
    name, text = download(seen, "table")
    assert name == "tamis-report-table.csv"
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == summary["table"]["fields"]
    assert rows[1:] == [[str(value) for value in row] for row in summary["table"]["rows"]]
    _, text = download(seen, "scores")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [float(row["mean"]) for row in rows] == [
        row["mean"] for row in summary["data"][0]["scores"]
    ]
    seen.assert_quiet()


def test_downloads_of_hostile_names_are_exact_but_for_formulas(visit):
    seen = visit("hostile")
    _, text = download(seen, "columns")
    names = [row["name"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    for name in HOSTILE:
        if len(name) < 300 and "\ud800" not in name:
            assert ("'" + name if name.startswith("=") else name) in names
    seen.assert_quiet()


def test_hostile_names_do_nothing(visit):
    seen = visit("hostile")
    seen.page.wait_for_timeout(200)
    assert seen.page.evaluate("typeof window.hacked") == "undefined"
    assert seen.page.locator("img, iframe, main script, main style").count() == 0
    assert seen.page.title().startswith("Keep 50 of 2,000 columns")
    seen.assert_quiet()


def test_the_policy_stops_what_escaping_would_let_through(visit):
    # The control of the test above: the same names as markup do try, and are caught.
    attack = "".join(HOSTILE[:3]) + "<img src='http://example.invalid/a.png'>"
    page = render(SUMMARIES["one"]).replace("</main>", f"{attack}</main>")
    seen = visit(page)
    assert seen.page.evaluate("typeof window.hacked") == "undefined"
    assert any("Content Security Policy" in text for text in seen.console)
    free = page.replace('http-equiv="Content-Security-Policy"', 'name="nothing"')
    assert visit(free).page.evaluate("typeof window.hacked") == "number"


def test_without_scripts_everything_is_readable(visit):
    seen = visit("one", java_script_enabled=False)
    assert seen.page.locator("svg.chart").count() >= 6
    assert seen.page.locator("#d0-methods tbody tr").count() == 12
    assert not seen.page.locator("#downloads").is_visible()
    assert not seen.page.locator(".filter").first.is_visible()
    seen.page.locator("#d0-score0 summary").click()
    assert seen.page.locator("#d0-score0-table").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_reader(visit, scheme):
    seen = visit("one", color_scheme=scheme)

    def brightness(place, what):
        code = "(node, what) => getComputedStyle(node)[what].match(/[\\d.]+/g).map(Number)"
        red, green, blue = seen.page.locator(place).first.evaluate(code, what)[:3]
        return (red + green + blue) / 3

    paper, ink = brightness("body", "backgroundColor"), brightness("body", "color")
    chart = brightness("svg.chart .t.label", "fill")
    assert (paper > 200 > 100 > ink) if scheme == "light" else (paper < 60 < 150 < ink)
    assert abs(chart - ink) < 5
    seen.page.emulate_media(media="print")
    assert brightness("body", "backgroundColor") == 255
    assert not seen.page.locator("nav").is_visible()
    assert not seen.page.locator("#downloads").is_visible()
    assert seen.page.locator("#protocol li").first.is_visible()


def test_headings_and_controls_have_names(visit):
    seen = visit("several")
    nameless = seen.page.evaluate(
        """() => [...document.querySelectorAll("button, a, input, [role=region]")].filter(
            node => !(node.getAttribute("aria-label") || node.textContent.trim()
                || (node.labels && node.labels.length))).length"""
    )
    assert nameless == 0
    levels = seen.page.locator("h1, h2, h3").evaluate_all(
        "nodes => nodes.map(node => Number(node.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
