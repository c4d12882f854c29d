"""Figure 2 of the DFT paper: 16 bins against 64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.dft._features import (
    Deep,
    accuracies,
    deep_features,
    load_features,
    remarks_on_network,
)
from tamis_papers.dft._methods import fitted
from tamis_papers.result import Claim, ExperimentResult, Measurement

BINS = (8, 16, 32, 64)
FEW, MANY = 16, 64
METHODS = {"dft": "DFT", "rft": "RFT"}
TOP = (30, 100)
# Readings of vague words, fixed before the complete run. "Does not vary much": the loss
# changes by no more than this share of itself, and this share of what the cut gains.
SMALL_CHANGE, SMALL_LOSS_OF_GAIN = 0.01, 0.1
# "Fine enough": so many of the best features stay the best.
NEARLY_THE_SAME = 0.9
# "Smoothly": no step between neighbouring cuts of 64 bins is more than this share of the height.
SMALL_STEP = 0.25
NEARLY_ALL = 0.95
OUR_DATA = "fashion-mnist clean, all 400 features"

Floats = NDArray[np.float64]
Found = dict[str, dict[str, Any]]


def run(run: ExperimentRun) -> ExperimentResult:
    """Best cuts of all features with 8 to 64 bins, and the curves of the best feature."""
    deep = deep_features(run, "fashion-mnist")
    accuracies(run, [deep])
    tasks = [UnitTask(method, cuts_by_bins, (deep, method)) for method in METHODS]
    found = {
        method: {name: np.array(value) for name, value in result.items()}
        for method, result in run.units(tasks).items()
    }
    return ExperimentResult(
        measurements=_measurements(found),
        claims=_claims(found, losses_without_cut(load_features(deep).y)),
        figures={"loss": lambda figure: _draw(figure, found)},
        remarks=[
            *remarks_on_network(run),
            "The paper does not say which feature of which data it shows, so its two thresholds "
            "have no counterpart. Here: Fashion-MNIST, the feature with the lowest loss in the "
            "figure, and all features in the numbers. The target of RFT is the class as a number.",
            "What 'not much', 'fine enough' and 'smoothly' mean is our reading; the numbers it is "
            "judged by are in the evidence.",
        ],
    )


def cuts_by_bins(deep: Deep, method: str) -> dict[str, Any]:
    """Losses and thresholds (a row per number of bins), extents, steps, curves of the best."""
    features = load_features(deep)
    X, y = features.X.astype(np.float64), features.y
    varies = np.ptp(X, axis=0) > 0  # a map that never fires has no cut
    X = X[:, varies]
    selectors = [fitted(method, X, y, 0, n_bins=n_bins) for n_bins in BINS]
    best = int(selectors[BINS.index(FEW)].order_[0])
    curves: dict[str, list[float]] = {}
    for n_bins in (FEW, MANY):
        curve = selectors[BINS.index(n_bins)].loss_curve(X, y, feature=best)
        curves |= {
            f"cuts_{n_bins}": curve.thresholds.tolist(),
            f"curve_{n_bins}": curve.losses.tolist(),
        }
    return {
        "loss": [selector.loss_.tolist() for selector in selectors],
        "threshold": [selector.thresholds_.tolist() for selector in selectors],
        "extent": np.ptp(X, axis=0).tolist(),
        "step": [largest_step(column, y, method) for column in X.T],
        **curves,
    }


def losses_without_cut(y: NDArray[Any]) -> dict[str, float]:
    """Entropy of the classes in bits, and variance of their numbers."""
    shares = np.bincount(y) / y.size
    shares = shares[shares > 0]
    return {"dft": float(-(shares * np.log2(shares)).sum()), "rft": float(np.var(y))}


def largest_step(column: Floats, y: NDArray[Any], method: str) -> float:
    """Largest change of the loss between neighbouring cuts, as a share of its whole extent."""
    table = column[:, None]
    losses = fitted(method, table, y, 0, n_bins=MANY).loss_curve(table, y, feature=0).losses
    losses = losses[np.isfinite(losses)]
    return float(np.abs(np.diff(losses)).max() / max(np.ptp(losses), np.finfo(float).tiny))


def _between(found: dict[str, Any], name: str) -> Floats:
    """A row of 16 bins less that of 64."""
    values = found[name]
    return values[BINS.index(FEW)] - values[BINS.index(MANY)]


def _relative_change(found: dict[str, Any]) -> Floats:
    return _between(found, "loss") / found["loss"][BINS.index(MANY)]


def _share_of_gain(found: dict[str, Any], uncut: float) -> float:
    """Median share of what the best cut of 64 bins gains that 16 bins lose."""
    gain = uncut - found["loss"][BINS.index(MANY)]
    return float(np.median(_between(found, "loss") / np.maximum(gain, np.finfo(float).tiny)))


def _shift(found: dict[str, Any]) -> Floats:
    return np.abs(_between(found, "threshold")) / found["extent"]


def _overlap(found: dict[str, Any], count: int) -> float:
    """Share of the first features that both numbers of bins choose."""
    few, many = (
        set(np.argsort(found["loss"][BINS.index(n)], kind="stable")[:count]) for n in (FEW, MANY)
    )
    return len(few & many) / len(few)


def _agreement(found: dict[str, Any]) -> float:
    from scipy.stats import spearmanr

    few, many = (found["loss"][BINS.index(n_bins)] for n_bins in (FEW, MANY))
    return float(spearmanr(few, many).statistic)


def _measurements(found: Found) -> list[Measurement]:
    said = "one feature of LeNet-5 features (which is not said)"
    metric = "difference of the two thresholds over the range"
    shift = (100 * _shift(found["dft"])).tolist()
    measured = [
        Measurement(
            {"data": said, "method": "DFT", "metric": metric}, shift, "mean over all our features"
        )
    ]
    for method, name in METHODS.items():
        one = found[method]
        numbers = {
            "loss with 16 bins above that with 64 (%)": (100 * _relative_change(one)).tolist(),
            "rank correlation of 16 and 64 bins": [_agreement(one)],
            **{f"first {top} in common, 16 and 64 bins": [_overlap(one, top)] for top in TOP},
        }
        measured += [
            Measurement({"data": OUR_DATA, "method": name, "metric": metric}, values)
            for metric, values in numbers.items()
        ]
    return measured


def _claims(found: Found, uncut: dict[str, float]) -> list[Claim]:
    lost = {METHODS[method]: _share_of_gain(one, uncut[method]) for method, one in found.items()}
    change = {METHODS[method]: _relative_change(one) for method, one in found.items()}
    share = {name: float((values <= SMALL_CHANGE).mean()) for name, values in change.items()}
    rises = {
        METHODS[method]: int((np.diff(one["loss"], axis=0) > 1e-9 * one["loss"][:-1]).sum())
        for method, one in found.items()
    }
    common = {METHODS[m]: [_overlap(one, top) for top in TOP] for m, one in found.items()}
    smooth = {METHODS[m]: float((one["step"] <= SMALL_STEP).mean()) for m, one in found.items()}
    shift = {METHODS[m]: 100 * float(np.median(_shift(one))) for m, one in found.items()}
    return [
        Claim(
            "loss-stable",
            all(float(np.median(values)) <= SMALL_CHANGE for values in change.values())
            and all(value <= SMALL_LOSS_OF_GAIN for value in lost.values()),
            _by_method(change, lambda v: f"median change of the loss from 64 to 16 bins "
                       f"{100 * np.median(v):.2f} %, largest {100 * v.max():.2f} %")
            + "; of what the best cut gains, 16 bins lose "
            + " and ".join(f"{value:.1%} ({name})" for name, value in lost.items())
            + f" (median); not much is taken as {SMALL_CHANGE:.0%} and {SMALL_LOSS_OF_GAIN:.0%}",
        ),
        Claim(
            "fine-enough",
            all(min(values) >= NEARLY_THE_SAME for values in common.values()),
            _by_method(common, lambda v: f"{v[0]:.0%} of the first 30 and {v[1]:.0%} of the first "
                       "100 features are the same") + "; the median shift of the threshold is "
            + " and ".join(f"{value:.1f} % ({name})" for name, value in shift.items())
            + " of the range",
        ),
        Claim(
            "nested",
            not any(rises.values()),
            _by_method(rises, lambda v: f"{v} rises of the loss in three doublings from 8 to 64"),
        ),
        Claim(
            "smooth",
            all(value >= NEARLY_ALL for value in smooth.values()),
            _by_method(smooth, lambda v: f"in {v:.0%} of the features no step between cuts of 64 "
                       f"bins is more than {SMALL_STEP:.0%} of the curve's height"),
        ),
        Claim(
            "all-features",
            all(value >= NEARLY_ALL for value in share.values()),
            _by_method(share, lambda v: f"the loss changes by 1 % or less in {v:.0%} of the "
                       "features"),
        ),
    ]  # fmt: skip


def _by_method(values: dict[str, Any], words: Any) -> str:
    return "; ".join(f"{name}: {words(value)}" for name, value in values.items())


def _draw(figure: Any, found: Found) -> None:
    axes = figure.subplots(1, 2)
    units = {"dft": "entropy (bits)", "rft": "mean squared error"}
    for ax, (method, name) in zip(axes, METHODS.items(), strict=True):
        one = found[method]
        for n_bins, style in ((MANY, {"marker": ".", "linewidth": 1}), (FEW, {"marker": "o"})):
            cuts, losses = one[f"cuts_{n_bins}"], one[f"curve_{n_bins}"]
            line = ax.plot(cuts, losses, label=f"{n_bins} bins", **style)[0]
            lowest = int(np.nanargmin(losses))
            ax.axvline(cuts[lowest], color=line.get_color(), linestyle=":", linewidth=1)
        ax.set(title=f"{name}, feature of lowest loss", xlabel="threshold", ylabel=units[method])
        ax.legend()
