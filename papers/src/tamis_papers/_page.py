"""The page of all results, written from what is stored and from nothing else."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tamis.data import atomic_path
from tamis.exceptions import InputError

from tamis_papers import _shown
from tamis_papers._reproduce import stem_of
from tamis_papers.experiment import Experiment, list_experiments

HEAD = """# Reproduction of the papers

<!-- Written by `tamis reproduce --page`; do not edit. -->

Every table and figure below was run again by `tamis reproduce NAME`, and this page was written
from what the runs left behind.
"""
READING = """## How to read it

"same": the paper's number lies within what other random splits would change (95 %, both sides) and
the digits that it prints. "same ordering": the number differs, but no method that the paper puts
above or below is clearly on the other side here. "differs": it does. "quoted only": nobody can
measure it here. "not told": ours is only known to be larger than some smaller number, or is a
single repeat where the paper's protocol has several, so that nobody knows what another would give.
A question mark stands behind numbers whose place in the paper is doubtful. "95 %" is where the mean
of other repeats would lie, and in brackets how many there were; a single repeat has none. With few
repeats intervals are wide, and "same" says little. What differs from the paper's protocol is said
below every table, also where fewer repeats were run than `tamis reproduce NAME` takes by itself
("at most N of M repeats").
"""
TITLES = {
    "holds": "Held",
    "in part or unclear": "Held in part, or not clearly",
    "does not hold": "Did not hold",
}
REDUCED = (
    "**Reduced version** (`--quick`): fewer splits, rows, steps and methods, so that it takes less "
    "than two minutes. It shows that the experiment runs, and decides nothing."
)
FIGURES = Path("figures") / "reproduction"
# Longer tables are folded, so that a reader can get past them.
MOST_ROWS = 30

Result = dict[str, Any]


def write_page(folder: Path, page: Path) -> int:
    """Write the page and copy the figures beside it.

    Of an experiment without a complete run the reduced one is shown, and counts for nothing.

    Returns
    -------
    n : int
        Number of experiments on the page.
    """
    results = {one.name: found for one in list_experiments() if (found := _read(folder, one))}
    if all(result["quick"] for result in results.values()):
        raise InputError(
            f"reproduce: expected results of complete runs in {folder}, got none. Run "
            "`tamis reproduce NAME` first, or name the --folder where they are."
        )
    complete = {name: result for name, result in results.items() if not result["quick"]}
    reduced = [name for name in results if name not in complete]
    parts = [HEAD, *_summary(complete, reduced), READING]
    for experiment in list_experiments():
        parts += _section(experiment, results.get(experiment.name))
    _copy_figures(results.values(), folder, page.parent / FIGURES)
    page.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(page, force=True) as temporary:
        temporary.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
    return len(results)


def _read(folder: Path, experiment: Experiment) -> Result | None:
    """What was stored of an experiment: of its complete run, or else of the reduced one."""
    for quick in (False, True):
        file = folder / f"{stem_of(experiment.name, quick)}.json"
        if file.is_file():
            found: Result = json.loads(file.read_text(encoding="utf-8"))
            return found
    return None


def _copy_figures(results: Iterable[Result], folder: Path, target: Path) -> None:
    for result in results:
        for name in result["figures"]:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, target / name)


def _summary(results: dict[str, Result], reduced: Sequence[str]) -> list[str]:
    """What held and what did not: counts of every paper, then its sentences."""
    papers: dict[str, list[Experiment]] = {}
    for experiment in list_experiments():
        papers.setdefault(experiment.source, []).append(experiment)
    head = ["paper", "experiments run", "numbers compared", *_shown.VERDICTS, *_shown.WORDS]
    lines = ["## Summary", "", *_in_short(list(results.values())), ""]
    lines += [_line(head), "|---" * len(head) + "|"]
    for paper in filter(None, papers):
        found = [results[one.name] for one in papers[paper] if one.name in results]
        lines.append(_line([paper, f"{len(found)} of {len(papers[paper])}", *_counts(found)]))
    lines += [
        "",
        "The first counts are of numbers, those after them of sentences of the papers.",
        "",
    ]
    if reduced:
        names = ", ".join(f"[{name}](#{name})" for name in reduced)
        lines += [f"Run in the reduced version only, and not counted: {names}.", ""]
    for paper in filter(None, papers):
        lines += _sentences(paper, papers[paper], results, reduced)
    for experiment in papers.get("", []):
        if experiment.name in results:
            lines += [f"### {experiment.title}", ""]
            lines += [f"- {text}" for text in results[experiment.name]["findings"]] + [""]
    return lines


def _in_short(found: Sequence[Result]) -> list[str]:
    """All papers in two sentences."""
    numbers, *verdicts = map(int, _counts(found)[: 1 + len(_shown.VERDICTS)])
    words = list(map(int, _counts(found)[1 + len(_shown.VERDICTS) :]))
    told = zip(("held", "held in part or not clearly", "did not hold", "cannot be told"), words,
               strict=True)  # fmt: skip
    judged = zip(("are the same", "differ in the same ordering", "differ"), verdicts, strict=True)
    return [
        f"Of {sum(words)} sentences of the papers, "
        + ", ".join(f"{count} {word}" for word, count in told)
        + f". Of {numbers} numbers that could be compared, "
        + ", ".join(f"{count} {word}" for word, count in judged)
        + "."
    ]


def _counts(found: Sequence[Result]) -> list[str]:
    verdicts = Counter(row["verdict"] for result in found for row in result["rows"])
    words = Counter(claim["word"] for result in found for claim in result["claims"])
    numbers = [verdicts[word] for word in _shown.VERDICTS]
    return [str(count) for count in (sum(numbers), *numbers, *(words[w] for w in _shown.WORDS))]


def _sentences(
    paper: str,
    experiments: Sequence[Experiment],
    results: dict[str, Result],
    reduced: Sequence[str],
) -> list[str]:
    """What the paper says, by whether it held."""
    by_word: dict[str, list[str]] = {word: [] for word in _shown.WORDS}
    for experiment in experiments:
        for claim in results[experiment.name]["claims"] if experiment.name in results else ():
            link = f"[{experiment.name}](#{experiment.name})"
            by_word.setdefault(claim["word"], []).append(f"{_plain(claim['text'])} ({link})")
    counted = ", ".join(f"{len(texts)} {word}" for word, texts in by_word.items() if texts)
    lines = [f"### {paper}", ""]
    if counted:
        lines += [f"<details><summary>Its sentences: {counted}</summary>", ""]
    for word, texts in by_word.items():
        if texts:
            lines += [f"**{TITLES.get(word, word.capitalize())}**", ""]
            lines += [f"- {text}" for text in texts] + [""]
    lines += ["</details>", ""] if counted else []
    done = [*results, *reduced]
    missing = [experiment.name for experiment in experiments if experiment.name not in done]
    if missing:
        lines += [f"Not run: {', '.join(missing)}.", ""]
    return lines


def _section(experiment: Experiment, result: Result | None) -> list[str]:
    paper = f" {experiment.paper}." if experiment.paper else ""
    lines = [f"({experiment.name})=", f"## {experiment.name}", "", f"{experiment.title}.{paper}"]
    if result is None:
        return [*lines, "Not run.", ""]
    lines.append("")
    if result["quick"]:
        lines += [REDUCED, ""]
    if experiment.stand_in:
        lines += [f"**Stand-in**: {experiment.stand_in}", ""]
    for figure in result["figures"]:
        lines += [f"![{experiment.title}]({(FIGURES / figure).as_posix()})", ""]
    lines += [f"- {text}" for text in result["findings"]]
    lines += [""] if result["findings"] else []
    lines += _claims(result["claims"])
    for title, rows in result["tables"].items():
        lines += [f"{title}:", "", *_markdown(rows), ""]
    lines += _numbers(result["rows"])
    lines += [f"- {remark}" for remark in result["remarks"]]
    time = _shown.in_time(result["seconds"])
    packages = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    size = _shown.repeats_of(result["repeats"], result["planned"])
    facts = "; ".join(filter(None, [f"Seed {result['seed']}", size, f"{time} of computing"]))
    return [*lines, "", f"{facts}; {packages}.", ""]


def _claims(claims: Sequence[Result]) -> list[str]:
    if not claims:
        return []
    rows = [["the paper says", "here", "evidence"]]
    for claim in claims:
        quote = f' ("{claim["quote"]}")' if claim["quote"] else ""
        rows.append([claim["text"] + quote, claim["word"], claim["evidence"]])
    return [*_markdown(rows), ""]


def _numbers(rows: Sequence[Result]) -> list[str]:
    """Their numbers and ours; what is the same in all rows is said once, before the table."""
    if not rows:
        return []
    keys = list(dict.fromkeys(key for row in rows for key in row["case"]))
    values = {key: {str(row["case"].get(key, "")) for row in rows} for key in keys}
    common = [key for key in keys if len(values[key]) == 1 and len(rows) > 1]
    keys = [key for key in keys if key not in common]
    judged = _shown.is_judged(rows)
    head = ["paper", "ours", "95 %", "verdict"] if judged else ["value", "95 %", "note"]
    table = [[*(key.replace("_", " ") for key in keys), *head]]
    for row in rows:
        case = [_cell(row["case"].get(key)) for key in keys]
        table.append([*case, *_cells(row, judged)])
    said = ", ".join(f"{key.replace('_', ' ')}: {_cell(rows[0]['case'].get(key))}"
                     for key in common)  # fmt: skip
    lines = [f"In all rows, {said}.", ""] if said else []
    lines += [*_markdown(table), ""]
    if len(rows) <= MOST_ROWS:
        return lines
    summary = f"{len(rows)} numbers" + (f": {_shown.counted(rows)}" if judged else "")
    return [f"<details><summary>{summary}</summary>", "", *lines, "</details>", ""]


def _cells(row: Result, judged: bool) -> list[str]:
    ours, interval = _shown.ours_of(row), _shown.interval_of(row)
    if not judged:
        return [ours, interval, row["note"]]
    note = f" ({row['note']})" if row["note"] else ""
    return [_shown.theirs_of(row), ours, interval, _shown.verdict_of(row) + note]


def _cell(item: Any) -> str:
    return "" if item is None else str(item)


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = rows
    return [_line(head), "|---" * len(head) + "|", *map(_line, body)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_plain(cell).replace("|", "\\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    """Text of a paper with its stars and brackets as they are, on one line."""
    for mark in ("\\", "*", "<", "`"):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", " ")
