"""Power and false discoveries of knockoffs beside published numbers (Ren and Barber 2023).

    python benchmarks/certainty_power.py                                 everything, many hours
    python benchmarks/certainty_power.py --published numbers.csv --copies 1 --tables 20
    python benchmarks/certainty_power.py --published numbers.csv --tables 0 --page PAGE

Level 0.1, rows of covariance 0.5^|i-j|, copies from the true covariance, lasso statistic. Every
table gives a row for one copy ("vanilla": the mean over all copies, each by itself) and, with
several, one for all of them ("multiple": e-values). Rows are appended to a CSV file (``--store``),
so that an interrupted run resumes and a later one adds tables; tables go round all amplitudes, so
that a run that is stopped has about as many of each.

The published means are of one draw of the coefficients and of tables 1 to 100, all made by R's
generator from known seeds. The coefficients here are the same numbers (they agree with those in the
authors' result files to all digits), and so are the tables, and the distances between features and
copies ("asdp"). Two means are the same if they differ by at most two standard errors of their
difference, each over its own tables. So one in twenty would miss by chance if the tables were
independent.
"""

import argparse
import csv
import functools
import sys
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtri

import tamis
from tamis.certainty import GaussianKnockoffs, Knockoffs

LEVEL = 0.1
# Rows, columns, columns that matter, two classes.
SETTINGS = {
    "linear": (1_000, 800, 80, False),
    "highdim": (800, 1_000, 100, False),
    "binom": (1_000, 600, 50, True),
}
AMPLITUDES = {
    "linear": (30, 40, 50, 60, 70, 80),
    "highdim": (40, 50, 60, 70, 80, 90),
    "binom": (100, 150, 200, 250, 300, 350),
}
DISTANCES = ("asdp", "sdp", "mrc", "equicorrelated")
KEYS = ("setting", "amplitude", "distances", "method", "table")
NUMBERS = ("copies", "power", "fdp", "null_e", "seconds")
DOCS = Path(__file__).parents[1] / "docs"
# Seed of the published coefficients; that of a table is its number.
COEFFICIENTS = 24_601
# Fewer tables have no standard error to speak of.
FEWEST = 10
# Columns of a semidefinite program at most, in the R package.
LARGEST_BLOCK = 500


HEADING = "## Power of knockoffs"
TEXT = """\
The settings of Ren and Barber (2023, doi:10.1093/jrsssb/qkad085) at level 0.1, with copies from the
true covariance and the difference of lasso coefficients; "vanilla" is one copy, "multiple" are 50
copies with e-values. Tables and coefficients are theirs: they follow from the seeds of their
programs. The copies, and the folds that choose the penalty, are ours. Published means are over 100
tables and 20 draws of the copies for each; ours are over the number of tables that is stated, with
one draw each. "Same" means that two means differ by at most two standard errors of their
difference, as 19 in 20 do if nothing differs; fewer than ten tables have no verdict. Command:
`python benchmarks/certainty_power.py --published FILE --page docs/certainty-evidence.md`, which
resumes from the raw rows, [certainty-power.csv](certainty-power.csv); FILE has the published
ones."""
ABOUT = {
    "asdp": (
        "With the distances between features and copies of the published runs. These solve the "
        "semidefinite program block by block, which leaves 0.78 of the distances of the whole:"
    ),
    "sdp": (
        'With the distances of the whole semidefinite program (`s="sdp"`), as Tamis solves it. '
        "Copies are less similar to their features, so more is found at the same level:"
    ),
}


@functools.cache
def covariance(p):
    return 0.5 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))


@functools.cache
def distances(p, kind):
    """The distances do not depend on the table.

    "asdp" are the published ones: the semidefinite program of every block, shrunk together until
    copies exist (to 0.78 of those of the whole program).
    """
    if kind == "asdp":
        kind = np.concatenate([distances(size, "sdp") for size in published_blocks(p)])
    rows = np.zeros((2, p))
    return GaussianKnockoffs(covariance(p), 0.0, s=kind).prepare(rows, None).distances


def published_blocks(p):
    """Sizes of the blocks of columns that the R package knockoff 0.3 solves one by one.

    It cuts the weakest links between neighbours, all 0.5 but for noise that follows the draw of the
    coefficients, until no block has more than 500 columns, and merges neighbours from the left.
    """
    rng = RGenerator(COEFFICIENTS)
    rng.standard_normal(next(k for _, columns, k, _ in SETTINGS.values() if columns == p))
    noise = rng.standard_normal(p * p).reshape(p, p)
    weakest = np.argsort(np.diagonal(noise, offset=1), kind="stable") + 1
    for n_cuts in range(p):
        sizes = np.diff([0, *np.sort(weakest[:n_cuts]), p])
        if sizes.max() <= LARGEST_BLOCK:
            break
    blocks = [0]
    for size in sizes:
        if blocks[-1] + size > LARGEST_BLOCK:
            blocks.append(0)
        blocks[-1] += int(size)
    return blocks


class RGenerator:
    """The generator of R: Mersenne Twister, normal numbers by inversion."""

    def __init__(self, seed):
        words = np.empty(675, dtype=np.uint32)
        for i in range(words.size):
            seed = (69_069 * seed + 1) % 2**32
            words[i] = seed
        self.bits = np.random.MT19937()
        state = self.bits.state
        state["state"] = {"key": words[51:], "pos": 624}
        self.bits.state = state

    def random(self, count):
        return self.bits.random_raw(count) * 2.3283064365386963e-10

    def standard_normal(self, count):
        uniform = self.random(2 * count)
        return ndtri((np.floor(2.0**27 * uniform[::2]) + uniform[1::2]) / 2.0**27)


def make_table(setting, amplitude, table):
    """One table, and which columns matter."""
    n, p, k, two_classes = SETTINGS[setting]
    beta, step = np.zeros(p), p // k
    beta[step - 1 :: step] = (amplitude / 10 + RGenerator(COEFFICIENTS).standard_normal(k)) / n**0.5
    beta[2 * step - 1 :: 2 * step] *= -1
    rng = RGenerator(table)
    X = rng.standard_normal(n * p).reshape(p, n).T @ np.linalg.cholesky(covariance(p)).T
    eta = X @ beta
    if not two_classes:
        return X, eta + rng.standard_normal(n), beta != 0
    share = 1 / (1 + np.exp(-eta))
    is_rarer = rng.random(n) >= np.maximum(share, 1 - share)
    return X, (is_rarer == (share <= 0.5)).astype(int), beta != 0


def run_table(setting, amplitude, table, n_copies, kind):
    """Rows of one table: one copy, and all of them."""
    X, y, truth = make_table(setting, amplitude, table)
    p = X.shape[1]
    sampler = GaussianKnockoffs(covariance(p), 0.0, s=distances(p, kind))
    seed = zlib.crc32(f"{setting} {amplitude} {table} copies".encode())
    rule = Knockoffs(LEVEL, n_copies=n_copies, sampler=sampler, random_state=seed, n_jobs=1)
    selector = tamis.Correlation if y.dtype.kind == "f" else tamis.Fisher
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.exceptions.SelectionWarning)
        selector = selector(n_features_to_select=rule, n_jobs=1).fit(X, y)
    seconds = time.process_time() - started
    W = selector.cut_details_["W"]
    supports = {"vanilla": [w >= tamis.certainty.knockoff_threshold(w, LEVEL) for w in W]}
    if n_copies > 1:
        supports["multiple"] = [selector.support_]
    for method, found in supports.items():
        chosen = np.array(found)
        true, false = (chosen & truth).sum(axis=1), (chosen & ~truth).sum(axis=1)
        yield {
            "setting": setting,
            "amplitude": amplitude,
            "distances": kind,
            "method": method,
            "table": table,
            "copies": n_copies,
            "power": round(float((true / truth.sum()).mean()), 5),
            "fdp": round(float((false / np.maximum(true + false, 1)).mean()), 5),
            # All nulls together: at most the number of features is what e-BH needs.
            "null_e": round(float(selector.e_values_[~truth].sum() / p), 5),
            "seconds": round(seconds / n_copies, 3),
        }


def run_unit(*unit):
    return list(run_table(*unit))


def read(store):
    """Rows of the store; a last line that an interruption cut short is left out."""
    if not store.exists():
        return []
    with store.open() as file:
        found = [row for row in csv.DictReader(file) if row["seconds"]]
    whole = ("amplitude", "table", "copies")
    return [
        {
            **row,
            **{name: (int if name in whole else float)(row[name]) for name in (*whole, *NUMBERS)},
        }
        for row in found
    ]


def summarize(rows):
    """Mean and standard error over the tables of every setting, amplitude and method."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in KEYS[:-1]), []).append(row)
    for key, mine in sorted(groups.items()):
        line = dict(zip(KEYS[:-1], key, strict=True)) | {"n_tables": len(mine)}
        for name in ("power", "fdp", "null_e", "seconds"):
            values = np.array([row[name] for row in mine])
            line[name] = float(values.mean())
            spread = values.std(ddof=1) if values.size > 1 else np.nan
            line[f"{name}_se"] = float(spread / np.sqrt(values.size))
        yield line


def published_numbers(path):
    with path.open() as file:
        return {
            (row["setting"], float(row["amplitude"]), row["method"]): {
                name: float(row[name]) for name in ("power", "power_se", "fdr", "fdr_se")
            }
            for row in csv.DictReader(file)
        }


def section(lines, published):
    """Lines of Markdown: ours beside the published numbers, and whether they are the same."""
    yield f"{HEADING}\n\n{TEXT}"
    for kind, about in ABOUT.items():
        mine = [line for line in lines if line["distances"] == kind]
        if not mine:
            continue
        yield f"\n{about}\n"
        yield "| setting | amplitude | method | tables | power | published | | FDR | published | |"
        yield "|---|---|---|---|---|---|---|---|---|---|"
        for line in mine:
            theirs = published[line["setting"], float(line["amplitude"]), line["method"]]
            cells = [line[name] for name in ("setting", "amplitude", "method", "n_tables")]
            for name, key in (("power", "power"), ("fdp", "fdr")):
                own, other = (line[name], line[f"{name}_se"]), (theirs[key], theirs[f"{key}_se"])
                error = f" ± {own[1]:.3f}" if line["n_tables"] > 1 else ""
                cells += [f"{own[0]:.3f}{error}", f"{other[0]:.3f} ± {other[1]:.3f}"]
                few = line["n_tables"] < FEWEST
                cells.append("too few tables" if few else verdict(*own, *other))
            yield f"| {' | '.join(map(str, cells))} |"


def verdict(own, own_error, other, other_error):
    """Whether two means differ by more than two standard errors of their difference."""
    gap = (own - other) / np.hypot(own_error, other_error)
    return "same" if abs(gap) <= 2 else f"{'higher' if gap > 0 else 'lower'}, {abs(gap):.1f} errors"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--setting", choices=SETTINGS, action="append")
    parser.add_argument("--amplitude", type=int, action="append")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("--distances", choices=DISTANCES, default="asdp")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, default=DOCS / "certainty-power.csv")
    parser.add_argument(
        "--published", type=Path, required=True,
        help="CSV: setting, amplitude, method, power, power_se, fdr, fdr_se",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, help="put the tables at the end of this page, too")
    args = parser.parse_args()
    rows = read(args.store)
    done = {tuple(row[key] for key in KEYS) for row in rows}
    last = "multiple" if args.copies > 1 else "vanilla"
    todo = [
        (setting, amplitude, table, args.copies, args.distances)
        for table in range(1, args.tables + 1)
        for setting in args.setting or SETTINGS
        for amplitude in AMPLITUDES[setting]
        if not args.amplitude or amplitude in args.amplitude
        if (setting, amplitude, args.distances, last, table) not in done
    ]
    print(f"{len(rows)} rows are stored, {len(todo)} tables to go", file=sys.stderr)
    results = Parallel(n_jobs=args.jobs, return_as="generator")(
        delayed(run_unit)(*unit) for unit in todo
    )
    with args.store.open("a", newline="") as file:
        writer = csv.DictWriter(file, (*KEYS, *NUMBERS), lineterminator="\n")
        if not rows:
            writer.writeheader()
        for found in results:
            new = [row for row in found if tuple(row[key] for key in KEYS) not in done]
            writer.writerows(new)
            rows += new
            file.flush()
    published = published_numbers(args.published)
    text = "\n".join(section(list(summarize(rows)), published)) + "\n"
    print(text)
    if args.page:
        page = args.page.read_text(encoding="utf-8").partition(HEADING)[0]
        args.page.write_text(page + text, encoding="utf-8")


if __name__ == "__main__":
    main()
