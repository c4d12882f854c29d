"""The selectors by name: what there is, and how to make one."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import Any

from tamis.exceptions import InputError

__all__ = ["SelectorInfo", "list_selectors", "make_selector", "selector_info"]


@dataclass(frozen=True)
class SelectorInfo:
    """What a table of methods says about one selector.

    Parameters
    ----------
    name : str
        Short name for `make_selector` and the command line.
    module, class_name : str
        Where the class is.
    summary : str
        One line for a user who has not heard of it.
    supervised : bool
        Whether it needs a target.
    tasks : tuple of str
        "classification", "regression" or both.
    cost : str
        Time in samples T, features n, classes K, bins B.
    reference : str
        The paper.

    Examples
    --------
    >>> import tamis
    >>> tamis.selectors.selector_info("dft").cost
    'T n + n B K'
    """

    name: str
    module: str
    class_name: str
    summary: str
    supervised: bool
    tasks: tuple[str, ...]
    cost: str
    reference: str


_TABLE = (
    SelectorInfo(
        name="ilfs",
        module="tamis.graph",
        class_name="ILFS",
        summary="How often samples are close to their own class, as a latent topic of relevancy.",
        supervised=True,
        tasks=("classification",),
        cost="T n K",
        reference="Roffo et al. 2017",
    ),
    SelectorInfo(
        name="inffs",
        module="tamis.graph",
        class_name="InfFS",
        summary="Energy of all walks on a graph of columns that vary much and repeat little.",
        supervised=False,
        tasks=("classification", "regression"),
        cost="T n^2 / 2",
        reference="Roffo et al. 2015",
    ),
    SelectorInfo(
        name="inffscv",
        module="tamis.graph",
        class_name="InfFSCV",
        summary="Inf-FS with alpha and the number of columns chosen by cross-validation.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="folds (T n^2 / 2 + models)",
        reference="Roffo et al. 2015",
    ),
    SelectorInfo(
        name="dft",
        module="tamis.split",
        class_name="DFT",
        summary="Entropy of the classes left after the best single cut of each column.",
        supervised=True,
        tasks=("classification",),
        cost="T n + n B K",
        reference="Yang et al. 2022",
    ),
    SelectorInfo(
        name="rft",
        module="tamis.split",
        class_name="RFT",
        summary="Squared error of a numeric target left after the best single cut of each column.",
        supervised=True,
        tasks=("regression",),
        cost="T n + n B",
        reference="Yang et al. 2022",
    ),
)
_BY_NAME = {info.name: info for info in _TABLE}


def list_selectors() -> list[str]:
    """Names that `make_selector` accepts.

    Returns
    -------
    names : list of str
        Sorted.

    Examples
    --------
    >>> import tamis
    >>> "dft" in tamis.list_selectors()
    True
    """
    return sorted(_BY_NAME)


def selector_info(name: str) -> SelectorInfo:
    """Look up what is known about a selector.

    Parameters
    ----------
    name : str
        One of `list_selectors()`; upper and lower case are the same.

    Returns
    -------
    info : SelectorInfo
        Class, task, cost and reference.

    Examples
    --------
    >>> import tamis
    >>> tamis.selectors.selector_info("RFT").tasks
    ('regression',)
    """
    known = _BY_NAME.get(str(name).lower())
    if known is not None:
        return known
    close = difflib.get_close_matches(str(name).lower(), _BY_NAME, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InputError(
        f"make_selector: expected one of {', '.join(list_selectors())}, got {name!r}.{hint}"
    )


def make_selector(name: str, **params: Any) -> Any:
    """Make a selector from its short name.

    Parameters
    ----------
    name : str
        One of `list_selectors()`.
    **params
        Parameters of the selector.

    Returns
    -------
    selector : BaseSelector
        Not yet fitted.

    Examples
    --------
    >>> import tamis
    >>> tamis.make_selector("dft", n_bins=32)
    DFT(n_bins=32)
    """
    info = selector_info(name)
    selector = getattr(importlib.import_module(info.module), info.class_name)
    known = selector().get_params(deep=False)
    for param in params:
        if param not in known:
            close = difflib.get_close_matches(param, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise InputError(
                f"{info.class_name}: expected parameters among {', '.join(sorted(known))}, "
                f"got {param!r}.{hint}"
            )
    return selector(**params)
