"""Power and false discoveries of knockoffs beside published numbers (Ren and Barber 2023).

    python benchmarks/certainty_power.py                                 everything, many hours
    python benchmarks/certainty_power.py --setting linear --amplitude 50 --tables 20 --copies 1
    python benchmarks/certainty_power.py --published derandomized_knockoffs.csv

Level 0.1, rows of covariance 0.5^|i-j|, copies from the true covariance, lasso statistic. Every
table gives a row for one copy ("vanilla": the first one) and, with several, one for all of them
("multiple": e-values). Rows are appended to a file (``--store``), so that an interrupted run
resumes and a later one adds tables; the same table has the same seed, whatever ran before.

Coefficients are drawn once per setting, as published; theirs are not known, and power depends on
the draw. ``--fresh`` draws them anew for every table, so that only the published side has one draw.
"""

import argparse
import csv
import functools
import json
import sys
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

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
KEYS = ("setting", "amplitude", "distances", "fresh", "method", "table")


@functools.cache
def covariance(p):
    return 0.5 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))


@functools.cache
def distances(p, kind):
    """The distances do not depend on the table."""
    rows = np.zeros((2, p))
    return GaussianKnockoffs(covariance(p), 0.0, s=kind).prepare(rows, None).distances


def make_table(setting, amplitude, table, fresh):
    """One table, and which columns matter."""
    n, p, k, two_classes = SETTINGS[setting]
    once = np.random.default_rng(zlib.crc32(setting.encode()) + (table + 1) * fresh)
    beta = np.zeros(p)
    beta[9 : 10 * k : 10] = once.normal(amplitude / 10, 1, k) / np.sqrt(n)
    beta[19 : 10 * k : 20] *= -1
    rng = np.random.default_rng([zlib.crc32(f"{setting} {amplitude}".encode()), table])
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(covariance(p)).T
    eta = X @ beta
    if two_classes:
        return X, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int), beta != 0
    return X, eta + rng.standard_normal(n), beta != 0


def run_table(setting, amplitude, table, n_copies, kind, fresh):
    """Rows of one table: one copy, and all of them."""
    X, y, truth = make_table(setting, amplitude, table, fresh)
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
    supports = {"vanilla": W[0] >= tamis.certainty.knockoff_threshold(W[0], LEVEL)}
    if n_copies > 1:
        supports["multiple"] = selector.support_
    for method, support in supports.items():
        yield {
            "setting": setting,
            "amplitude": amplitude,
            "distances": kind,
            "fresh": fresh,
            "method": method,
            "table": table,
            "copies": n_copies if method == "multiple" else 1,
            "power": float((support & truth).sum() / truth.sum()),
            "fdp": float((support & ~truth).sum() / max(support.sum(), 1)),
            # All nulls together: at most the number of features is what e-BH needs.
            "null_e": float(selector.e_values_[~truth].sum() / p),
            "seconds": round(seconds / n_copies, 3),
        }


def run_unit(*unit):
    return list(run_table(*unit))


def read(store):
    if not store.exists():
        return []
    return [json.loads(line) for line in store.read_text().splitlines() if line.endswith("}")]


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
            line[f"{name}_se"] = float(values.std(ddof=1) / np.sqrt(values.size or 1))
        yield line


def published_numbers(path):
    with path.open() as file:
        return {
            (row["setting"], float(row["amplitude"]), row["method"]): row
            for row in csv.DictReader(file)
        }


def show(lines, published):
    """A Markdown table, the published numbers beside ours where they are given."""
    print("| setting | amplitude | method | s | tables | power | FDR | null e / p | s/copy |")
    print("|---|---|---|---|---|---|---|---|---|")
    for line in lines:
        theirs = published.get((line["setting"], float(line["amplitude"]), line["method"]))
        beside = {"power": "", "fdp": ""}
        if theirs:
            beside["power"] = f" ({float(theirs['power']):.3f} ± {float(theirs['power_se']):.3f})"
            beside["fdp"] = f" ({float(theirs['fdr']):.3f} ± {float(theirs['fdr_se']):.3f})"
        print(
            f"| {line['setting']} | {line['amplitude']} | {line['method']} | {line['distances']}"
            f"{', fresh' if line['fresh'] else ''} | {line['n_tables']} "
            f"| {line['power']:.3f} ± {line['power_se']:.3f}{beside['power']} "
            f"| {line['fdp']:.3f} ± {line['fdp_se']:.3f}{beside['fdp']} "
            f"| {line['null_e']:.2f} ± {line['null_e_se']:.2f} | {line['seconds']:.2f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--setting", choices=SETTINGS, action="append")
    parser.add_argument("--amplitude", type=int, action="append")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("--distances", choices=("mrc", "sdp", "equicorrelated"), default="sdp")
    parser.add_argument("--fresh", action="store_true", help="other coefficients in every table")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("certainty_power.jsonl"))
    parser.add_argument("--published", type=Path, help="CSV file with the published numbers")
    args = parser.parse_args()
    rows = read(args.store)
    done = {tuple(row[key] for key in KEYS) for row in rows}
    last = "multiple" if args.copies > 1 else "vanilla"
    todo = [
        (setting, amplitude, table, args.copies, args.distances, args.fresh)
        for setting in args.setting or SETTINGS
        for amplitude in args.amplitude or AMPLITUDES[setting]
        for table in range(args.tables)
        if (setting, amplitude, args.distances, args.fresh, last, table) not in done
    ]
    print(f"{len(rows)} rows are stored, {len(todo)} tables to go", file=sys.stderr)
    results = Parallel(n_jobs=args.jobs, return_as="generator")(
        delayed(run_unit)(*unit) for unit in todo
    )
    with args.store.open("a") as file:
        for found in results:
            for row in found:
                if tuple(row[key] for key in KEYS) not in done:
                    file.write(json.dumps(row) + "\n")
                    rows.append(row)
            file.flush()
    published = {} if args.published is None else published_numbers(args.published)
    show(summarize(rows), published)


if __name__ == "__main__":
    main()
