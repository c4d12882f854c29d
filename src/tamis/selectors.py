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
    SelectorInfo(
        name="anovaf",
        module="tamis.filters",
        class_name="AnovaF",
        summary="Variance between classes over variance within, or the F of a straight line.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="T n",
        reference="Fisher 1925",
    ),
    SelectorInfo(
        name="cfs",
        module="tamis.filters",
        class_name="CFS",
        summary="A set of columns that agree with the target and not with each other.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="n m (T + B^2), m searched",
        reference="Hall 2000",
    ),
    SelectorInfo(
        name="correlation",
        module="tamis.filters",
        class_name="Correlation",
        summary="Size of the linear or rank correlation with the target.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="T n",
        reference="Pearson 1895, Spearman 1904",
    ),
    SelectorInfo(
        name="fcbf",
        module="tamis.filters",
        class_name="FCBF",
        summary="Columns about which no better column says more than they say about the classes.",
        supervised=True,
        tasks=("classification",),
        cost="T n m, m kept",
        reference="Yu and Liu 2004",
    ),
    SelectorInfo(
        name="fisher",
        module="tamis.filters",
        class_name="Fisher",
        summary="Distance of the class means over the variances within the classes.",
        supervised=True,
        tasks=("classification",),
        cost="T n",
        reference="Gadat and Younes 2007",
    ),
    SelectorInfo(
        name="gflip",
        module="tamis.filters",
        class_name="GFlip",
        summary="Columns whose flipping in or out widens the margin of the nearest neighbour.",
        supervised=True,
        tasks=("classification",),
        cost="passes T^2 n",
        reference="Gilad-Bachrach et al. 2004",
    ),
    SelectorInfo(
        name="informationgain",
        module="tamis.filters",
        class_name="InformationGain",
        summary="Bits that a column tells about the classes, per cost if costs are given.",
        supervised=True,
        tasks=("classification",),
        cost="T n + n B K",
        reference="Quinlan 1986",
    ),
    SelectorInfo(
        name="laplacianscore",
        module="tamis.filters",
        class_name="LaplacianScore",
        summary="Whether neighbouring rows have similar values in a column.",
        supervised=False,
        tasks=("classification", "regression"),
        cost="T^2 n",
        reference="He et al. 2005",
    ),
    SelectorInfo(
        name="llcfs",
        module="tamis.filters",
        class_name="LLCFS",
        summary="Columns by which the clusters of neighbourhoods can be predicted.",
        supervised=False,
        tasks=("classification", "regression"),
        cost="rounds T^2 n",
        reference="Zeng and Cheung 2011",
    ),
    SelectorInfo(
        name="mcfs",
        module="tamis.filters",
        class_name="MCFS",
        summary="Columns that a sparse regression needs to follow the clusters of the rows.",
        supervised=False,
        tasks=("classification", "regression"),
        cost="T^2 n + clusters T d n",
        reference="Cai et al. 2010",
    ),
    SelectorInfo(
        name="mrmr",
        module="tamis.filters",
        class_name="MRMR",
        summary="Relevant columns that repeat little of those already chosen.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="T n m, m ordered",
        reference="Peng et al. 2005",
    ),
    SelectorInfo(
        name="mutualinformation",
        module="tamis.filters",
        class_name="MutualInformation",
        summary="Information shared by a column and the target: bins, neighbours or a posterior.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="T n + n B K; knn T log T n",
        reference="Zaffalon and Hutter 2002, Ross 2014",
    ),
    SelectorInfo(
        name="randomranking",
        module="tamis.filters",
        class_name="RandomRanking",
        summary="A random order, as a control that every method must beat.",
        supervised=False,
        tasks=("classification", "regression"),
        cost="n",
        reference="none",
    ),
    SelectorInfo(
        name="relieff",
        module="tamis.filters",
        class_name="ReliefF",
        summary="Difference of a column between near rows of other classes and of the same class.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="T^2 n",
        reference="Kononenko 1994",
    ),
    SelectorInfo(
        name="udfs",
        module="tamis.filters",
        class_name="UDFS",
        summary="Columns that tell neighbourhoods apart, found together under a row-sparse norm.",
        supervised=False,
        tasks=("classification", "regression"),
        cost="rounds of T^2 n, or n^3",
        reference="Yang et al. 2011",
    ),
    SelectorInfo(
        name="variance",
        module="tamis.filters",
        class_name="Variance",
        summary="How much a column varies, without a target.",
        supervised=False,
        tasks=("classification", "regression"),
        cost="T n",
        reference="none",
    ),
    SelectorInfo(
        name="ofw",
        module="tamis.weighting",
        class_name="OFW",
        summary="Probability with which columns should be drawn so that subsets err least.",
        supervised=True,
        tasks=("classification",),
        cost="steps (learner + n)",
        reference="Gadat and Younes 2007",
    ),
    SelectorInfo(
        name="fsv",
        module="tamis.wrappers",
        class_name="FSV",
        summary="Columns left in a separating plane that uses few, by linear programs.",
        supervised=True,
        tasks=("classification",),
        cost="linear programs with T rows",
        reference="Bradley and Mangasarian 1998",
    ),
    SelectorInfo(
        name="l0svm",
        module="tamis.wrappers",
        class_name="L0SVM",
        summary="Columns left when an SVM is trained again on columns scaled by its weights.",
        supervised=True,
        tasks=("classification",),
        cost="rounds of an SVM",
        reference="Weston et al. 2003",
    ),
    SelectorInfo(
        name="svmrfe",
        module="tamis.wrappers",
        class_name="SVMRFE",
        summary="Columns that a linear SVM misses most when the weakest are dropped one by one.",
        supervised=True,
        tasks=("classification",),
        cost="rounds (T^2 + T n)",
        reference="Guyon et al. 2002",
    ),
    SelectorInfo(
        name="treeimportance",
        module="tamis.wrappers",
        class_name="TreeImportance",
        summary="What splits on a column gain in a forest, or what shuffling it costs.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="trees T log T sqrt(n)",
        reference="Breiman 2001",
    ),
    SelectorInfo(
        name="consensus",
        module="tamis.consensus",
        class_name="Consensus",
        summary="Columns that several methods, or several draws of rows, agree upon.",
        supervised=True,
        tasks=("classification", "regression"),
        cost="sum over the lists",
        reference="Borda 1781, Kolde et al. 2012",
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
