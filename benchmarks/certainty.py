"""Show that every stated level holds, by simulation with standard errors.

    python benchmarks/certainty.py                          everything, some hours of computing
    python benchmarks/certainty.py --claim family-wise      one claim
    python benchmarks/certainty.py --tables 20              fewer tables of each case
    python benchmarks/certainty.py --page docs/certainty-evidence.md

Results of single tables are appended to a file (``--store``), so that an interrupted run resumes
and a later one adds tables. The same table has the same seed, whatever ran before.
"""

import argparse
import json
import sys
import warnings
import zlib
from pathlib import Path

import certainty_power
import numpy as np
from certainty_designs import CONDITIONAL, MARGINAL, NOISE
from joblib import Parallel, delayed

import tamis
from tamis.certainty import (
    FalseDiscoveries,
    FamilyWise,
    GaussianKnockoffs,
    Knockoffs,
    Shadows,
    StabilitySelection,
)

REAL = (
    "colon", "leukemia_disc", "lymphoma_45", "lung_small_disc", "madelon", "spambase", "riboflavin",
    "gasoline", "dlbcl", "communities_crime",
)  # fmt: skip
# Rows of a real table at most: the claim is about the level, not about size.
MOST_ROWS, MOST_COLUMNS = 400, 1000


HEADER = """# Evidence: do the stated levels hold?

Every rule of {py:mod}`tamis.certainty` states a level. This page shows, by simulation, that it
holds. It is written by `python benchmarks/certainty.py --page docs/certainty-evidence.md`; the
designs are in `benchmarks/certainty_designs.py`. Each number is a mean over tables with its
standard error, and "holds" means that it is at most two standard errors above the level. "any" is
the share of tables on which anything was selected, "fdp" the share of false discoveries, "power"
the share of true features found, and "null_e" the sum of the e-values of the nulls over the
number of features, which e-BH needs to be at most 1. [How sure](certainty.md) explains the rules.
"""


def kept(selector, X, y):
    """Mask of the selected features; selecting nothing is an answer here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.exceptions.SelectionWarning)
        return selector.fit(X, y).support_


def discoveries(support, truth):
    """Share of false discoveries, and power."""
    n = support.sum()
    return {
        "fdp": float((support & ~truth).sum() / max(n, 1)),
        "power": float((support & truth).sum() / max(truth.sum(), 1)),
        "any": float(n > 0),
    }


# A claim: cases by name, each a function of a seed that gives numbers of one table.


def family_wise():
    """Share of noise tables on which anything is selected."""
    selectors = {"fisher": tamis.Fisher, "dft": tamis.DFT, "correlation": tamis.Correlation}
    for noise, make in NOISE.items():
        for name, selector in selectors.items():

            def run(seed, make=make, selector=selector):
                X, y = make(np.random.default_rng(seed))
                rule = FamilyWise(0.05, random_state=seed % 2**32)
                return {"any": float(kept(selector(n_features_to_select=rule), X, y).any())}

            yield f"{noise}, {name}", run, {"any": 0.05}


def false_discoveries():
    """Share of false discoveries, by marginal truth."""
    for design, make in MARGINAL.items():
        by_permutations = tamis.DFT if design == "classes" else tamis.RFT
        for name, selector in (("law", tamis.Correlation), ("permutations", by_permutations)):

            def run(seed, make=make, selector=selector):
                X, y, related, _ = make(np.random.default_rng(seed))
                rule = FalseDiscoveries(0.1, random_state=seed % 2**32)
                return discoveries(kept(selector(n_features_to_select=rule), X, y), related)

            yield f"{design}, {name}", run, {"fdp": 0.1}


def conditional():
    """Share of false discoveries, by conditional truth, with an estimated covariance."""
    for design, make in CONDITIONAL.items():
        for n_copies in (1, 10):

            def run(seed, make=make, n_copies=n_copies):
                X, y, _, needed = make(np.random.default_rng(seed))
                rule = Knockoffs(0.1, n_copies=n_copies, random_state=seed % 2**32)
                selector = tamis.Correlation(n_features_to_select=rule)
                support = kept(selector, X, y)
                return {**discoveries(support, needed), "null_e": null_share(selector, needed)}

            copies = "one copy" if n_copies == 1 else f"{n_copies} copies"
            yield f"{design}, {copies}", run, {"fdp": 0.1}


def e_values():
    """E-values of the nulls with copies from the true covariance, which their law assumes."""
    chain = 0.5 ** np.abs(np.subtract.outer(np.arange(150), np.arange(150)))
    blocks = np.kron(np.eye(30), np.full((5, 5), 0.7)) + 0.3 * np.eye(150)
    for design, covariance in (("chain 0.5", chain), ("blocks 0.7", blocks), ("logistic", chain)):

        def run(seed, design=design, covariance=covariance):
            X, y, _, needed = CONDITIONAL[design](np.random.default_rng(seed))
            sampler = GaussianKnockoffs(covariance, 0.0)
            rule = Knockoffs(0.1, n_copies=10, sampler=sampler, random_state=seed % 2**32)
            selector = tamis.Correlation(n_features_to_select=rule)
            found = discoveries(kept(selector, X, y), needed)
            return {**found, "null_e": null_share(selector, needed)}

        yield f"{design}, 10 copies", run, {"fdp": 0.1, "null_e": 1.0}


def null_share(selector, needed):
    """Sum of the e-values of the nulls over the number of features."""
    return float(selector.e_values_[~needed].sum() / needed.size)


def shuffled():
    """Share of shuffled real targets on which anything is selected."""
    yield from on_shuffled("family-wise 0.05", FamilyWise(0.05))
    yield from on_shuffled("false discoveries 0.1", FalseDiscoveries(0.1))


def shuffled_knockoffs():
    """Share of shuffled real targets on which knockoffs select anything."""
    yield from on_shuffled("knockoffs 0.1", Knockoffs(0.1))


def on_shuffled(name, rule):
    for data in REAL:

        def run(seed, data=data):
            rng = np.random.default_rng(seed)
            X, y = real_table(data, rng)
            selector = tamis.Correlation if len(np.unique(y)) > 20 else tamis.AnovaF
            support = kept(selector(n_features_to_select=rule), X, rng.permutation(y))
            return {"any": float(support.any())}

        yield f"{data}, {name}", run, {"any": rule.level}


def real_table(name, rng):
    """A part of a real table: rows and features at random where there are very many."""
    X, y = tamis.datasets.load(name, return_X_y=True)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    rows = rng.permutation(len(X))[:MOST_ROWS]
    usable = np.flatnonzero(~np.isnan(X.astype(float)).any(axis=0))
    columns = rng.permutation(usable)[:MOST_COLUMNS]
    return X[np.ix_(rows, columns)].astype(float), np.asarray(y)[rows]


def shadows():
    """Share of noise tables on which any feature is confirmed."""
    for noise, make in NOISE.items():

        def run(seed, make=make):
            X, y = make(np.random.default_rng(seed), p=100)
            rule = Shadows(0.05, n_rounds=50, random_state=seed % 2**32)
            return {"any": float(kept(tamis.Fisher(n_features_to_select=rule), X, y).any())}

        yield noise, run, {"any": 0.05}


def stability():
    """Number of selected noise features against the bound that the rule states."""
    for name, make in {"independent": NOISE["independent"], "heavy": NOISE["heavy-tailed"]}.items():

        def run(seed, make=make):
            X, y = make(np.random.default_rng(seed), p=200)
            rule = StabilitySelection(random_state=seed % 2**32)
            selector = tamis.Fisher(n_features_to_select=rule)
            n_selected = float(kept(selector, X, y).sum())
            return {"n_selected": n_selected, "bound": selector.cut_details_["expected_false"]}

        yield name, run, {}


CLAIMS = {
    "family-wise": (family_wise, 500),
    "false discoveries": (false_discoveries, 200),
    "conditional": (conditional, 200),
    "e-values": (e_values, 200),
    "shuffled": (shuffled, 100),
    "shuffled, knockoffs": (shuffled_knockoffs, 50),
    "shadows": (shadows, 200),
    "stability": (stability, 200),
}


def seed_of(claim, case, table):
    """A seed of its own for every table."""
    return zlib.crc32(f"{claim}|{case}".encode()) * 100_000 + table


def one(claim, case, run, table):
    return {"claim": claim, "case": case, "table": table, **run(seed_of(claim, case, table))}


def read(store):
    if not store.exists():
        return []
    return [json.loads(line) for line in store.read_text().splitlines() if line.endswith("}")]


def summarize(rows, promised):
    """Mean and standard error of every number, with what was promised."""
    names = [name for name in rows[0] if name not in ("claim", "case", "table")]
    found = {}
    for name in names:
        values = np.array([row[name] for row in rows])
        error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
        found[name] = float(values.mean()), float(error), promised.get(name)
    return found


def verdict(found):
    """Whether what is promised holds within two standard errors."""
    broken = [
        name
        for name, (mean, error, limit) in found.items()
        if limit is not None and mean > limit + 2 * np.nan_to_num(error)
    ]
    return f"exceeded: {', '.join(broken)}" if broken else "holds"


def table_of(claims, rows):
    """Lines of a Markdown table for every claim that has rows."""
    for claim, (make, _) in claims.items():
        lines = []
        for case, _, promised in make():
            mine = [row for row in rows if (row["claim"], row["case"]) == (claim, case)]
            if not mine:
                continue
            found = summarize(mine, promised)
            numbers = "; ".join(
                f"{name} {mean:.3f} ± {error:.3f}" + ("" if limit is None else f" (≤ {limit:g})")
                for name, (mean, error, limit) in found.items()
            )
            lines.append(f"| {case} | {len(mine)} | {numbers} | {verdict(found)} |")
        if lines:
            yield f"\n## {claim.capitalize()}\n\n{make.__doc__}\n"
            yield "| case | tables | mean ± standard error | |\n|---|---|---|---|"
            yield from lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--claim", choices=CLAIMS, action="append")
    parser.add_argument("--tables", type=int, help="tables per case [default: as many as stated]")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("certainty.jsonl"))
    parser.add_argument("--page", type=Path, help="write the tables to this Markdown file, too")
    args = parser.parse_args()
    chosen = {name: CLAIMS[name] for name in args.claim or CLAIMS}
    rows = read(args.store)
    done = {(row["claim"], row["case"], row["table"]) for row in rows}
    todo = [
        (claim, case, run, table)
        for claim, (make, n_tables) in chosen.items()
        for case, run, _ in make()
        for table in range(n_tables if args.tables is None else min(args.tables, n_tables))
        if (claim, case, table) not in done
    ]
    print(f"{len(done)} tables are stored, {len(todo)} to go", file=sys.stderr)
    results = Parallel(n_jobs=args.jobs, return_as="generator")(
        delayed(one)(*unit) for unit in todo
    )
    with args.store.open("a") as file:
        for row in results:
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(row)
    text = "\n".join(table_of(chosen, rows))
    print(text)
    if args.page:
        old = args.page.read_text(encoding="utf-8") if args.page.exists() else ""
        power = "".join(old.partition(certainty_power.HEADING)[1:])  # stays
        args.page.write_text(f"{HEADER}{text}\n\n{power}", encoding="utf-8")


if __name__ == "__main__":
    main()
