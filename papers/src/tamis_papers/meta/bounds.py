"""Section 7 of the meta-features paper: the numbers of its bounds."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.result import Claim, ExperimentResult, Measurement

N_STEPS = 50
# Pairs of numInputs and percentPos that exist, values of shiftInvLen, and of scatter if its range
# from 1 to 3.5 is cut into four.
N_META_VALUES = 44 * 8 * 4
PRINTED = 375_000
N_META = 4
SIZES = (100, 600, 1000, 10_000)
CANDIDATES = tuple(10.0**power for power in range(4, 10))


def run(run: ExperimentRun) -> ExperimentResult:
    """Compute every number of the section that can be computed."""
    tasks = [
        UnitTask("terms", terms),
        UnitTask("constants", constants),
        UnitTask("dimensions", dimensions),
        UnitTask("lemmas", reachable_sets, (4 if run.quick else 9, run.seed)),
    ]
    found = run.units(tasks, parallel=False)
    return ExperimentResult(
        measurements=_measurements(found),
        claims=_claims(found),
        figures={"dimensions": lambda figure: _draw(figure, found["dimensions"])},
        remarks=[
            "The paper prints neither n nor |MF|. Its formula J n ln(2n) gives 375,000 at "
            f"n = {found['terms']['n']}, which is used here; but with N = n 2^J, n ln N is "
            "n (ln n + J ln 2), not J n ln(2n). |MF| is 44 possible pairs of numInputs and "
            "percentPos times 8 values of shiftInvLen times 4 of scatter.",
            "The constants of Theorem 4 are found back from the values of our function; the scale "
            "32 of the margin only says at which margin the dimension is taken, and is an argument "
            "there.",
            "Lemmas 1 and 2 are checked by listing all sequences of acceptance and rejection of "
            "short runs on a line of points with fixed random steps.",
        ],
    )


def terms() -> dict[str, Any]:
    """What the choice of features adds, for Mufasa and for free choice."""
    from tamis.bounds import direct_selection_term, selection_term

    n = min(range(1, 10_000), key=lambda n: abs(N_STEPS * n * math.log(2 * n) - PRINTED))
    return {
        "n": n,
        "direct": float(direct_selection_term(n * 2.0**N_STEPS, n)),
        "mufasa": float(selection_term(N_STEPS, N_META_VALUES)),
        "any": float(selection_term(N_STEPS)),
    }


def constants() -> dict[str, float]:
    """The constants of Theorem 4 and of Lemma 7, from the values of the functions alone."""
    from tamis.bounds import bartlett_bound, vc_of_selections
    from tamis.exceptions import InputError

    m, margin, delta = 1000.0, 0.5, 0.05

    def inside(d: float) -> float:
        return m / 2 * float(bartlett_bound(0.0, m, d, margin, 1 - delta)) ** 2

    doubt = inside(1e-14)
    # d ln(34 e m / d) L has the value A at 1 and 2 A - 2 L ln 2 at 2.
    one, two = inside(1.0) - doubt, inside(2.0) - doubt
    logarithm = (2 * one - two) / (2 * math.log(2))
    smallest = 1
    while smallest < 100:
        try:
            vc_of_selections(smallest, 1.0)
            break
        except InputError:
            smallest += 1
    return {
        "doubt": math.exp(doubt) * margin * delta,
        "log2": 2**logarithm / m,
        "ln": math.exp(one / logarithm - 1) / m,
        "smallest": smallest,
        "needed": math.ceil(2 ** (2 + math.log2(math.e))),
    }


def dimensions() -> dict[str, dict[str, list[float]]]:
    """VC dimensions of free choice and of rules on meta-features, for numbers of candidates."""
    from tamis.bounds import direct_vc_dimension, joint_vc_dimension

    found = {}
    for n in SIZES:
        N = np.array([max(value, 10.0 * n) for value in CANDIDATES])
        binary = max(1, int(math.log2(n) / 2))  # much less than log n
        found[str(n)] = {
            "candidates": N.tolist(),
            "direct": np.asarray(direct_vc_dimension(n + 1, N, n)).tolist(),
            "linear": np.asarray(joint_vc_dimension(n + 1, N_META + 1, N)).tolist(),
            "binary": np.asarray(joint_vc_dimension(n + 1, 2**binary, N)).tolist(),
        }
    return found


def reachable_sets(most_steps: int, seed: int) -> list[list[int]]:
    """J, |MF|, number of sets that runs can end with, for fixed random steps; see the lemmas."""
    rng = np.random.default_rng([seed, 7])
    found = []
    for n_steps, n_points in product(range(1, most_steps + 1), range(1, 7)):
        for _ in range(5):
            steps = rng.normal(0, 0.4 * n_points, n_steps)
            start = int(rng.integers(n_points))
            ends = {
                end_of_run(accepted, steps, start, n_points)
                for accepted in product((False, True), repeat=n_steps - 1)
            }
            found.append([n_steps, n_points, len(ends)])
    return found


def end_of_run(
    accepted: tuple[bool, ...], steps: Any, start: int, n_points: int
) -> tuple[int, int]:
    """Step and point of the best set; with all draws fixed, these two say which set it is."""
    best = (0, start)  # the first set is always accepted
    for number, accept in enumerate(accepted, start=1):
        point = int(np.clip(round(best[1] + steps[number - 1]), 0, n_points - 1))
        best = (number, point) if accept else best
    return best


def _measurements(found: dict[str, Any]) -> list[Measurement]:
    terms, constants = found["terms"], found["constants"]
    theorem = {
        "constant inside ln(. e m / d)": constants["ln"],
        "constant inside log2(. m)": constants["log2"],
        "constant inside ln(. / (gamma delta))": constants["doubt"],
    }
    return [
        Measurement(
            {
                "method": "direct selection",
                "metric": "n ln N, printed as J n (ln 2n), J = 50",
            },
            [terms["direct"]],
            f"the printed number is a slip of arithmetic; n = {terms['n']}",
        ),
        Measurement(
            {"method": "Mufasa", "metric": "ln(J |MF|)"},
            [terms["mufasa"]],
            f"|MF| = {N_META_VALUES:,}",
        ),
        Measurement(
            {"method": "Theorem 8", "metric": "smallest d_c for which the bound is stated"},
            [constants["smallest"]],
        ),
        *(
            Measurement({"method": "Theorem 4", "metric": metric}, [value])
            for metric, value in theorem.items()
        ),
        Measurement({"method": "Mufasa", "metric": "J ln 2, for infinitely many |MF|"},
                    [terms["any"]]),
    ]  # fmt: skip


def _claims(found: dict[str, Any]) -> list[Claim]:
    terms, sets = found["terms"], found["lemmas"]
    first = sum(n_sets > steps * points for steps, points, n_sets in sets)
    second = sum(n_sets > 2 ** (steps - 1) for steps, _, n_sets in sets)
    return [
        Claim(
            "smaller",
            terms["mufasa"] < 0.01 * terms["direct"],
            f"{terms['mufasa']:.1f} against {terms['direct']:,.0f} nats, which the paper prints as "
            f"{PRINTED:,}",
        ),
        Claim(
            "independent-of-N",
            True,
            "g(J) has no N: it is "
            f"{terms['mufasa']:.1f} for any number of candidates, and at most {terms['any']:.1f} "
            "for infinitely many values of the meta-features",
        ),
        Claim("lemma1", first == 0, f"{first} of {len(sets)} listed runs have more than J |MF|"),
        Claim("lemma2", second == 0, f"{second} of {len(sets)} listed runs have more than 2^(J-1)"),
        _smaller("linear-linear", found["dimensions"], "linear", f"k = {N_META}"),
        _smaller("binary-meta", found["dimensions"], "binary", "k = log2(n) / 2"),
    ]


def _smaller(name: str, dimensions: dict[str, Any], kind: str, how: str) -> Claim:
    ratios = [
        free / rule
        for rows in dimensions.values()
        for free, rule in zip(rows["direct"], rows[kind], strict=True)
    ]
    n_cases = len(ratios)
    return Claim(
        name,
        min(ratios) > 1,
        f"with {how}, free choice has {min(ratios):.1f} to {max(ratios):.1f} times the dimension "
        f"in {n_cases} cases (n from {min(SIZES)} to {max(SIZES):,}, N up to 10^9)",
    )


def _draw(figure: Any, dimensions: dict[str, Any]) -> None:
    ax = figure.subplots()
    for colour, n in enumerate(("100", "600")):
        rows = dimensions[n]
        ax.plot(
            rows["candidates"], rows["direct"], f"C{colour}--", label=f"any {n} features, eq. 1"
        )
        ax.plot(
            rows["candidates"], rows["linear"], f"C{colour}-",
            label=f"{n} features by a linear rule on {N_META} meta-features, Theorem 8",
        )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="candidates N", ylabel="bound of the VC dimension")
    figure.legend(loc="outside lower center", fontsize="small")
