"""What the runs on the challenge sets say: tables 2 to 4, claims, figures 27 and 28."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis_papers._sure import all_sure, surely
from tamis_papers.ofw.challenge import MOST_SEARCHED
from tamis_papers.ofw.challenge_data import N_PROBES, TEST_COUNTS
from tamis_papers.ofw.learning import STEP_REMARK, percent
from tamis_papers.result import Claim, Measurement

VALIDATION = "validation set"
TEST = "test set (labels not public: cannot be repeated)"
PROBES = "selection of Table 3"
FILTERS = "filters (with the number of features of OFW)"
# "Few" probes: no larger share than the paper's own largest, 19.47 % on Dexter.
FEW = 0.2
# The filters' SVM "completely misses" a class at the paper's balanced error of 41.33 %.
MISSED = 0.4
STAND_IN = {"gisette": "stand-in made from MNIST"}


def error(found: dict[str, Any], key: str, part: str = "errors") -> float:
    """Balanced error on the validation rows, in percent."""
    return 100.0 * float(np.mean(found[key][part]))


def measurements(
    found: dict[str, Any], counts: dict[str, int], settings: dict[str, Any]
) -> list[Measurement]:
    """The rows of tables 2, 3 and 4 that can be run."""
    rows = []
    for name in settings["sets"]:
        ofw = f"final/{name}/preselected"
        rows += [
            _row(name, "SVM", found[f"linear/{name}"]["errors"]),
            _row(name, "OFW", found[ofw]["errors"]),
            _row(name, "Fisher + SVM", found[f"fisher/{name}"]["errors"]),
            _share(name, "OFW and Fisher + SVM", counts[name], found[ofw]["n_columns"]),
        ]
        plain = f"final/{name}/all columns"
        if plain in found:
            rows.append(_row(name, "OFW without preselection", found[plain]["errors"]))
        rows += _other_rows(name, found, found[ofw]["n_columns"])
        rows += _table_3(name, found, settings["n_outer"]) + _table_4(name, found)
    return rows


def _row(
    name: str, method: str, errors: Any, part: str = VALIDATION, note: str = ""
) -> Measurement:
    case = {"data": name, "method": method, "metric": "balanced error", "part": part}
    return Measurement(case, percent(errors), "; ".join(filter(None, (STAND_IN.get(name), note))))


def _share(name: str, method: str, count: int, n_columns: int) -> Measurement:
    case = {"data": name, "method": method, "metric": "features selected", "part": VALIDATION}
    note = "; ".join(filter(None, (STAND_IN.get(name), f"{count} features")))
    return Measurement(case, [100.0 * count / n_columns], note)


def _other_rows(name: str, found: dict[str, Any], n_columns: int) -> list[Measurement]:
    rows = []
    if f"flip/{name}" in found:
        flip = found[f"flip/{name}"]
        rows += [
            _row(name, "G-flip", flip["errors"]),
            _share(name, "G-flip", flip["count"], n_columns),
        ]
    if f"fcbf/{name}" in found:
        fcbf = found[f"fcbf/{name}"]
        for method, key, note in (
            ("FCBF+NBC", "bayes", ""),
            ("FCBF+C4.5", "tree", "CART in the place of C4.5"),
        ):
            rows.append(_row(name, method, fcbf[key], note=note))
            rows.append(_share(name, method, fcbf["count"], n_columns))
    return rows


def _table_3(name: str, found: dict[str, Any], n_outer: int) -> list[Measurement]:
    folds = [unit for key, unit in found.items() if key.startswith(f"outer/{name}/")]
    if not folds:
        return []
    some = f"{len(folds)} of {n_outer}" if len(folds) < n_outer else str(n_outer)
    note = f"stand-in: {some} folds of training and validation rows, number of features given"
    return [
        _row(name, method, [fold[key] for fold in folds], TEST, note)
        for method, key in (("OFW", "OFW"), (FILTERS, "Fisher"))
    ]


def _table_4(name: str, found: dict[str, Any]) -> list[Measurement]:
    if f"probes/{name}" not in found:
        return []
    added = f"stand-in: {N_PROBES[name]} probes added by us" if name in N_PROBES else ""
    note = "; ".join(filter(None, (STAND_IN.get(name), added)))
    return [
        Measurement(
            {"data": name, "method": method, "metric": "probes among selected", "part": PROBES},
            percent([found[f"probes/{name}"][key]]),
            note,
        )
        for method, key in (("OFW", "OFW"), (FILTERS, "Fisher"))
    ]


def claims(found: dict[str, Any], learned: dict[str, Any], settings: dict[str, Any]) -> list[Claim]:
    """What the paper says of the tables and of figure 27."""
    names = settings["sets"]
    ofw = {name: error(found, f"final/{name}/preselected") for name in names}
    linear = {name: error(found, f"linear/{name}") for name in names}
    fisher = {name: error(found, f"fisher/{name}") for name in names}
    plain = {
        name: error(found, f"final/{name}/all columns")
        for name in names
        if f"final/{name}/all columns" in found
    }

    def less(name: str, other: str) -> bool | None:
        """Whether OFW surely has fewer errors, by the parts of the validation rows."""
        ours = found[f"final/{name}/preselected"]["errors"]
        return surely(np.subtract(found[other]["errors"], ours))

    return [
        Claim(
            "preselection-helps",
            all_sure([less(n, f"final/{n}/all columns") for n in plain]),
            "with and without preselection: " + _pairs(ofw, plain),
        ),
        _competitive(ofw, found),
        Claim(
            "gisette-good",
            all_sure([less("gisette", "linear/gisette"), less("gisette", "fisher/gisette")])
            if "gisette" in ofw else None,
            f"OFW {ofw['gisette']:.2f} %, linear SVM {linear['gisette']:.2f} %, Fisher "
            f"{fisher['gisette']:.2f} % (stand-in)" if "gisette" in ofw else "Gisette was not run",
            "gisette" in ofw,
        ),
        Claim(
            "fisher-alone-worse", all_sure([less(n, f"fisher/{n}") for n in names]),
            "OFW and Fisher: " + _pairs(ofw, fisher),
        ),
        Claim(
            "better-than-no-selection", all_sure([less(n, f"linear/{n}") for n in names]),
            "OFW and linear SVM on all: " + _pairs(ofw, linear),
        ),
        _falls(learned, names),
        *_probe_claims(found, names),
    ]  # fmt: skip


def _pairs(one: dict[str, float], other: dict[str, float]) -> str:
    return ", ".join(f"{name} {one[name]:.1f} and {other[name]:.1f} %" for name in other)


def _competitive(ofw: dict[str, float], found: dict[str, Any]) -> Claim:
    """Within one standard error of the best of what was run on a set, which is our reading."""
    near, told = {}, []
    for name, value in ofw.items():
        keys = [f"linear/{name}", f"fisher/{name}", f"flip/{name}"]
        rivals = [error(found, key) for key in keys if key in found]
        if f"fcbf/{name}" in found:
            rivals += [error(found, f"fcbf/{name}", part) for part in ("bayes", "tree")]
        parts = np.array(found[f"final/{name}/preselected"]["errors"])
        margin = 100 * float(parts.std(ddof=1)) / np.sqrt(parts.size)
        near[name] = bool(value <= min(rivals) + margin)
        told.append(f"{name} {value:.1f} +- {margin:.1f}, best other {min(rivals):.1f} %")
    others = [good for name, good in near.items() if name != "dorothea"]
    said = [*others, not near["dorothea"]] if "dorothea" in near else others
    holds = True if all(said) else None if any(others) else False
    return Claim(
        "competitive",
        holds,
        "within one standard error of the best of the others that were run here (the challenge's "
        f"own entries are not): {'; '.join(told)}",
    )


def _falls(learned: dict[str, Any], names: Any) -> Claim:
    falls = {
        name: 100 * (unit["before"] - unit["after"])
        for name in names
        for unit in [learned[f"{name}/preselected"]]
    }
    shown = ", ".join(
        f"{name} {100 * learned[f'{name}/preselected']['before']:.1f} to "
        f"{100 * learned[f'{name}/preselected']['after']:.1f} %"
        for name in names
    )
    first = [falls[name] for name in names if name in ("gisette", "arcene")]
    last = [falls[name] for name in names if name not in ("gisette", "arcene")]
    return Claim(
        "fast-arcene-gisette",
        bool(min(first) > max(last)),
        f"balanced error in learning, one run: {shown}; a larger fall in points than on every "
        "other set is wanted",
    )


def _probe_claims(found: dict[str, Any], names: Any) -> list[Claim]:
    shares = {name: found[f"probes/{name}"] for name in names if f"probes/{name}" in found}
    told = ", ".join(
        f"{name} {100 * one['OFW']:.1f} % (Fisher {100 * one['Fisher']:.1f} %)"
        for name, one in shares.items()
    )
    outer = [unit["Fisher"] for key, unit in found.items() if key.startswith("outer/dorothea/")]
    return [
        Claim("few-probes", all_sure([one["OFW"] <= FEW for one in shares.values()]),
              f"{told}; few is taken as up to {FEW:.0%}, the paper's own largest share"),
        Claim(
            "dorothea-svm-misses-class",
            surely(np.array(outer) - MISSED),
            f"Fisher with {TEST_COUNTS['dorothea']} features, classes weighed the same: balanced "
            f"error {100 * np.mean(outer):.1f} % (folds: {len(outer)}), wanted: above {MISSED:.0%}"
            if outer else "Dorothea was not run",
            bool(outer),
        ),
    ]  # fmt: skip


def remarks(settings: dict[str, Any]) -> list[str]:
    """What is decided here."""
    return [
        "Validation errors are means of ten parts of the validation rows with equal shares of the "
        "classes; the interval tells what other validation rows would change, and claims are "
        "decided by it. Weights are learned once for a table, so what other runs would change is "
        "not known.",
        "OFW: exponential gradient, linear SVM (nearest neighbours on Madelon, as table 1 of the "
        "paper says against its text), the root of the number of columns a step, balanced error, "
        "Fisher score above 0.01 except on Arcene. On Madelon 11 columns pass, fewer than the 14 "
        f"that the paper selects. {STEP_REMARK}",
        "The final classifier is an SVM with a Gaussian kernel on standardised columns, classes "
        "weighing the same; C, gamma and the number of columns by cross-validation on at most "
        f"{MOST_SEARCHED} training rows. As in the paper, that search sees an order of columns "
        "learned from all training rows, so its own errors are too good; validation rows are not "
        "touched.",
        "TSVM, F+SVM, FS+SVM, IBFS, the challenge entries and Guyon et al. are numbers that the "
        "paper cites; they are not run. G-flip selects on at most 600 rows. The paper's filter of "
        "table 3 is unknown; here it is the Fisher score.",
    ]


def draw_energy(figure: Any, learned: dict[str, Any], names: Any) -> None:
    """Figure 27: balanced error on samples of the training rows during learning."""
    ax = figure.subplots()
    for name in names:
        evaluations, energy = learned[f"{name}/preselected"]["energy"]
        ax.plot(evaluations, percent(energy), label=name)
    ax.set(xlabel="classifiers trained", ylabel="mean balanced error in learning, percent")
    ax.set(ylim=(0, None))
    ax.legend()


def draw_errors(figure: Any, found: dict[str, Any], names: Any) -> None:
    """Figure 28: balanced errors on the validation rows."""
    ax = figure.subplots()
    kinds = {"linear/{}": "linear SVM, all", "final/{}/preselected": "OFW", "fisher/{}": "Fisher"}
    places = np.arange(len(names))
    for number, (key, label) in enumerate(kinds.items()):
        parts = [100 * np.array(found[key.format(name)]["errors"]) for name in names]
        means = [part.mean() for part in parts]
        sure = [part.std(ddof=1) / np.sqrt(part.size) for part in parts]
        ax.bar(places + 0.27 * (number - 1), means, width=0.25, yerr=sure, label=label)
    ax.set_xticks(places, names)
    ax.set(ylabel="balanced error on the validation rows, percent")
    ax.legend()
