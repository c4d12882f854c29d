"""The pages of all results, written from the CSV files beside them and from nothing else."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from tamis.data import atomic_path
from tamis.exceptions import InputError

from tamis_papers import _shown
from tamis_papers._records import Record, paper_of, read_records, write_records
from tamis_papers._reproduce import stem_of
from tamis_papers._verdict import DIFFERS, ORDERED, SAME, TOO_FEW
from tamis_papers.experiment import Experiment, list_experiments

WRITTEN = "<!-- Written by `tamis reproduce --page` from the CSV files beside it; do not edit. -->"
FIGURES = "figures"
MARKS = {SAME: "✓", ORDERED: "≈", DIFFERS: "✗", TOO_FEW: "?"}
LEGEND = (
    "In the tables, `ours ± half of its 95 % interval (paper)`, then ✓ same, ≈ differs in the same "
    "order, ✗ differs, ? too few repeats; a star marks a number whose place in the paper is "
    "doubtful. [The rule](index.md#verdicts)."
)
VERDICTS = """## Verdicts

A number of a paper and ours are

- **same** if the difference is within chance, and the measurement could have contradicted: at
  least 3 repeats, and chance allows at most a quarter of the scale of the number;
- **different** if the difference is beyond chance; "in the same order" if at least one other
  method is clearly on the side where the paper has it, and none on the other;
- undecided for **too few repeats** in all other cases. Two splits with an interval of -77 to 235
  contain the paper's number, and every other one.

Chance allows √2 times the half-width of our 95 % interval (the paper's mean varies, too), plus
half of the last digit printed. The scale of a percentage or fraction is its distance from the
nearer end, within 4 to 20 points, so the margin is 1 to 5 points; that of other numbers is their
size. With two repeats a difference must also exceed the margin, and a single time must be off by a
factor of 2. What the complete protocol computes once (leave-one-out, a formula) is compared to the
printed digits. The rule was fixed before the results were judged by it. "Quoted only" numbers
cannot be measured here, and are not counted.
"""
# Tables with more lines are left to the CSV file; up to a few lines nothing is put side by side.
MOST_LINES, FEW_LINES = 60, 6
MOST_COLUMNS = 12


def write_pages(folder: Path, target: Path) -> int:
    """Add the complete runs of a folder to the CSV files of the target, and write its pages.

    Returns
    -------
    n : int
        Number of experiments on the pages.
    """
    records = read_records(target)
    for experiment in list_experiments():
        file = folder / f"{stem_of(experiment.name, quick=False)}.json"
        if file.is_file():
            found: Record = json.loads(file.read_text(encoding="utf-8"))
            records[experiment.name] = found
            for name in found["figures"]:
                (target / FIGURES).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / name, target / FIGURES / name)
    if not records:
        raise InputError(
            f"reproduce: expected CSV files in {target} or results of complete runs in {folder}, "
            "got none. Run `tamis reproduce NAME` first, or name the --folder where they are."
        )
    known = [one.name for one in list_experiments()]
    records = {name: records[name] for name in known if name in records}
    write_records(target, records)
    for name, text in render_pages(read_records(target)).items():
        with atomic_path(target / name, force=True) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return len(records)


def render_pages(records: dict[str, Record]) -> dict[str, str]:
    """Text of every page by file name: the index, and one per paper."""
    papers: dict[str, list[Experiment]] = {}
    for experiment in list_experiments():
        papers.setdefault(paper_of(experiment.name), []).append(experiment)
    pages = {"index.md": _index(papers, records)}
    for paper, experiments in papers.items():
        pages[f"{paper}.md"] = _paper(paper, experiments, records)
    return {name: "\n".join(lines).rstrip() + "\n" for name, lines in pages.items()}


def _index(papers: dict[str, list[Experiment]], records: dict[str, Record]) -> list[str]:
    every = list(records.values())
    lines = ["# Reproduction of the papers", "", WRITTEN, ""]
    lines += [
        "Every table and figure of the papers that can be run again was, by `tamis reproduce NAME` "
        f"of the package tamis-papers. {_in_short(every)} The raw results are the CSV files beside "
        "the pages.",
        "",
    ]
    head = ["paper", "numbers", *_shown.VERDICTS, "claims", *_shown.WORDS]
    table = [head]
    for paper, experiments in papers.items():
        found = [records[one.name] for one in experiments if one.name in records]
        if experiments[0].source:
            table.append([f"[{experiments[0].source}]({paper}.md)", *_counts(found)])
    table.append(["all", *_counts(every)])
    lines += [*_markdown(table, escape=False), ""]
    for paper, experiments in papers.items():
        if not experiments[0].source:
            lines += [f"[{experiments[0].title}]({paper}.md): the same protocol for all.", ""]
    names = "\n".join(papers)
    return [*lines, VERDICTS, "```{toctree}", ":hidden:", "", names, "```"]


def _in_short(found: Sequence[Record]) -> str:
    numbers, *verdicts = _counts(found)[: 1 + len(_shown.VERDICTS)]
    claims, *words = _counts(found)[1 + len(_shown.VERDICTS) :]
    return (
        f"{numbers} numbers compared: {_listed(verdicts, _shown.VERDICTS)}. "
        f"{claims} claims checked: {_listed(words, _shown.WORDS)}."
    )


def _listed(counts: Sequence[str], words: Sequence[str]) -> str:
    return "; ".join(f"{count} {word}" for count, word in zip(counts, words, strict=True))


def _counts(found: Sequence[Record]) -> list[str]:
    verdicts = Counter(row["verdict"] for record in found for row in record["rows"])
    words = Counter(claim["word"] for record in found for claim in record["claims"])
    numbers = [verdicts[word] for word in _shown.VERDICTS]
    claims = [words[word] for word in _shown.WORDS]
    return [str(count) for count in (sum(numbers), *numbers, sum(claims), *claims)]


def _paper(paper: str, experiments: Sequence[Experiment], records: dict[str, Record]) -> list[str]:
    source = experiments[0].source
    found = [records[one.name] for one in experiments if one.name in records]
    lines = [f"# {source or experiments[0].title}", "", WRITTEN, ""]
    raw = f"Raw results: [{paper}.csv]({paper}.csv)"
    if source:
        lines += [f"{_in_short(found)} {raw}, [claims.csv](claims.csv).", "", LEGEND, ""]
        head = ["experiment", "", "numbers", *_shown.VERDICTS, "claims", *_shown.WORDS]
        table = [head]
        for one in experiments:
            counts = _counts([records[one.name]]) if one.name in records else ["not run"]
            counts += [""] * (len(head) - 2 - len(counts))
            table.append([f"[{one.name}](#{one.name})", one.title, *counts])
        lines += [*_markdown(table, escape=False), ""]
    elif found:
        lines += [f"{raw}.", ""]
    return lines + list(
        chain.from_iterable(_section(one, records[one.name]) for one in experiments
                            if one.name in records)
    )  # fmt: skip


def _section(experiment: Experiment, record: Record) -> list[str]:
    where = experiment.paper.removeprefix(experiment.source).lstrip(", ")
    lines = [f"({experiment.name})=", f"## {experiment.name}", ""]
    lines += [f"{experiment.title}{f' ({where})' if where else ''}.", ""]
    if experiment.stand_in:
        lines += [f"**Stand-in**: {experiment.stand_in}", ""]
    lines += [f"- {_plain(text)}" for text in record["findings"]]
    lines += [""] if record["findings"] else []
    claims = [["the paper says", "here", "evidence"]]
    claims += [[claim["text"], claim["word"], claim["evidence"]] for claim in record["claims"]]
    lines += [*_markdown(claims), ""] if record["claims"] else []
    for title, rows in record["tables"].items():
        lines += [f"{title}:", "", *_markdown(rows), ""]
    lines += _numbers(record["rows"])
    for figure in record["figures"]:
        lines += [f"![{experiment.title}]({FIGURES}/{figure})", ""]
    if record["remarks"]:
        lines += ["<details><summary>Protocol and departures from the paper</summary>", ""]
        lines += [f"- {_plain(remark)}" for remark in record["remarks"]]
        lines += ["", "</details>", ""]
    size = _shown.repeats_of(record["repeats"], record["planned"])
    facts = [f"Seed {record['seed']}", size, f"{_shown.in_time(record['seconds'])} of computing"]
    packages = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return [*lines, f"{'; '.join(filter(None, facts))}; {packages}.", ""]


def _numbers(rows: Sequence[Record]) -> list[str]:
    """The numbers that can be compared, or all of them if the paper prints none."""
    judged = [row for row in rows if row["verdict"] in MARKS]
    shown = judged or [row for row in rows if row["ours"] is not None]
    if not shown:
        return []
    keys = list(dict.fromkeys(key for row in shown for key in row["case"]))
    values = {key: {str(row["case"].get(key, "")) for row in shown} for key in keys}
    common = [key for key in keys if len(values[key]) == 1 and len(shown) > 1]
    keys = [key for key in keys if key not in common]
    table = _pivot(shown, keys, values)
    if len(table) > MOST_LINES:
        return [f"In the CSV file only: {len(rows)} numbers.", ""]
    said = ", ".join(f"{_words(key)}: {shown[0]['case'][key]}" for key in common)
    lines = [f"In all rows, {_plain(said)}.", ""] if said else []
    left = Counter(row["verdict"] for row in rows if row not in shown)
    more = ", ".join(f"{count} {word}" for word, count in left.items())
    lines += [*_markdown(table), ""]
    return [*lines, f"In the CSV file only: {more}.", ""] if more else lines


def _pivot(
    rows: Sequence[Record], keys: Sequence[str], values: dict[str, set[str]]
) -> list[list[str]]:
    """A line per case, or per case without the key whose values become columns."""
    across = _column_key(rows, keys, values)
    down = [key for key in keys if key != across]
    heads = list(dict.fromkeys(str(r["case"].get(across, "")) for r in rows)) if across else [""]
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        line = cells.setdefault(tuple(str(row["case"].get(key, "")) for key in down), {})
        line[str(row["case"].get(across, "")) if across else ""] = _cell(row)
    single = "value" if all(row["theirs"] is None for row in rows) else "ours (paper)"
    titles = [head or _words(across or single) for head in heads]
    table = [[*map(_words, down), *titles]]
    table += [[*case, *(line.get(head, "") for head in heads)] for case, line in cells.items()]
    return table


def _column_key(
    rows: Sequence[Record], keys: Sequence[str], values: dict[str, set[str]]
) -> str | None:
    """The key whose values side by side give the smallest table, with one number in each cell."""
    if len(rows) <= FEW_LINES or len(_cases(rows, keys)) < len(rows):
        return None

    def size(key: str) -> tuple[int, int]:
        n_lines = len(_cases(rows, [one for one in keys if one != key]))
        return n_lines + len(values[key]), len(values[key])

    fits = [key for key in keys if len(values[key]) <= MOST_COLUMNS and len(keys) > 1]
    return min(fits, key=size, default=None)


def _cases(rows: Sequence[Record], keys: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(str(row["case"].get(key, "")) for key in keys) for row in rows}


def _cell(row: Record) -> str:
    ours = _shown.ours_of(row)
    if row["repeats"] > 1 and row["high"] is not None:
        ours += f" ± {_shown.number((row['high'] - row['low']) / 2, 2)}"
    if row["theirs"] is None:
        return ours
    star = "*" if row["doubtful"] else ""
    return f"{ours} ({_shown.number(row['theirs'])}{star}) {MARKS[row['verdict']]}"


def _words(key: str) -> str:
    return key.replace("_", " ")


def _markdown(rows: Sequence[Sequence[str]], *, escape: bool = True) -> list[str]:
    head, *body = rows
    lines = [_line(head, escape), "|---" * len(head) + "|"]
    return lines + [_line(row, escape) for row in body]


def _line(cells: Iterable[str], escape: bool = True) -> str:
    return "| " + " | ".join(_plain(cell) if escape else cell for cell in cells) + " |"


def _plain(text: Any) -> str:
    """Text of a paper with its stars and brackets as they are, on one line."""
    text = str(text)
    for mark in ("\\", "*", "<", "`", "|"):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", " ")
