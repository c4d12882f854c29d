"""The experiments there are: a table or a figure of a paper each."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tamis.exceptions import InputError

__all__ = ["Experiment", "find_experiment", "list_experiments"]


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a paper that can be run again.

    Parameters
    ----------
    name : str
        Name for the command line.
    title : str
        What it shows, in one line.
    paper : str
        Where it is from.
    place : str
        Module below :mod:`tamis_papers` and function that runs it, with a colon between.
    data : tuple of str
        Data sets of :mod:`tamis.datasets` that it reads.
    stand_in : str
        What stands in for data that cannot be had; empty if the data are the paper's.
    packages : tuple of str
        Packages that it computes with beside those that Tamis needs anyway.
    minutes : float
        Estimate of what the complete run takes on one core, from the first repeats, which ran
        beside other work; slow methods that have fewer repeats are counted so.

    Examples
    --------
    >>> from tamis_papers import list_experiments
    >>> list_experiments()[0].name
    'inffs-fig1'
    """

    name: str
    title: str
    paper: str
    place: str
    data: tuple[str, ...] = ()
    stand_in: str = ""
    packages: tuple[str, ...] = ()
    minutes: float = 0.0

    @property
    def source(self) -> str:
        """The paper without the place in it; empty if it is not from a paper."""
        name, bracket, _ = self.paper.partition(")")
        return name + bracket

    def load(self) -> Callable[[Any], Any]:
        """Import the function that runs the experiment.

        Returns
        -------
        run : callable
            From a :class:`~tamis_papers._run.ExperimentRun` to an :class:`ExperimentResult`.
        """
        module, _, function = self.place.partition(":")
        return getattr(import_module(f"tamis_papers.{module}"), function)


_DFT = "Yang, Wang, Fu, Kuo 2022 (DFT and RFT)"
_DEEP = (
    "the deep features come from a network of our own, since the paper's is not published. The one "
    "for MNIST learns from all 60,000 training images, the one for Fashion-MNIST from the 10,000 "
    "that are at hand; selectors and learners see 10,000 training rows and all 10,000 test rows"
)
_ILFS = "Roffo, Melzi, Castellani, Vinciarelli 2017 (ILFS)"
_INFFS = "Roffo, Melzi, Cristani 2015 (Inf-FS)"
_META = "Krupka, Navot, Tishby 2008 (meta-features)"
_OFW = "Gadat, Younes 2007 (OFW)"
_ALL = (
    Experiment(
        name="inffs-fig1",
        title="Four columns of iris among 16 combinations of them, linear and periodic",
        paper=f"{_INFFS}, figure 1",
        place="inffs.iris:run",
        minutes=0.1,
    ),
    Experiment(
        name="inffs-table2",
        title="Time of every method on 10,000 x 1,000 uniform numbers, 20 classes",
        paper=f"{_INFFS}, table 2",
        place="inffs.times:run",
        minutes=17,
    ),
    Experiment(
        name="ilfs-table2",
        title="Time of every method on 10,000 x 5,000 uniform numbers, 2 classes",
        paper=f"{_ILFS}, table 2",
        place="ilfs.times:run",
        minutes=25,
    ),
    Experiment(
        name="inffs-table3",
        title="Colon: nine methods with 10 to 200 features",
        paper=f"{_INFFS}, table 3",
        place="inffs.colon:run",
        data=("colon",),
        minutes=3.6,
    ),
    Experiment(
        name="inffs-table4",
        title="Eight more data sets: five methods, mean over 10 to 200 features",
        paper=f"{_INFFS}, table 4",
        place="inffs.other_data:run",
        data=("lymphoma_45", "leukemia", "dlbcl", "lung181", "usps", "madelon", "mnist"),
        stand_in=(
            "GINA and Gisette are built from MNIST and USPS-241 from USPS as their authors "
            "describe; Madelon has the 2,600 rows whose labels are public"
        ),
        minutes=60,
    ),
    Experiment(
        name="inffs-table6",
        title="Precision and stability of five methods with ever fewer training rows",
        paper=f"{_INFFS}, table 6",
        place="inffs.shrinking:run",
        data=("fashion_mnist", "mnist"),
        stand_in=(
            "PASCAL VOC 2007 with features of a network is replaced by Fashion-MNIST with features "
            "from patches of MNIST digits: 1,024 columns, of which 250 are kept"
        ),
        minutes=107,
    ),
    Experiment(
        name="inffs-fig2",
        title="Normalised score against alpha, with 80 % of the columns",
        paper=f"{_INFFS}, figure 2",
        place="inffs.mixing:run",
        data=("colon", "lymphoma_45", "leukemia", "dlbcl", "lung181", "usps", "madelon", "mnist"),
        stand_in=(
            "GINA and Gisette are built from MNIST and USPS-241 from USPS; the four picture sets "
            "(Caltech, PASCAL VOC) are left out"
        ),
        minutes=35,
    ),
    Experiment(
        name="ilfs-table4",
        title="Twelve methods on eight data sets, with tests of significance",
        paper=f"{_ILFS}, table 4 and section 4.3",
        place="ilfs.precision:run",
        data=(
            *("colon", "leukemia", "prostate", "lymphoma_45", "lung181"),
            *("dexter", "movie_reviews", "mnist"),
        ),
        stand_in=(
            "GINA is built from MNIST as its authors describe; Dexter has the 600 rows whose "
            "labels are public; of Polarity the 3,000 most widespread words are taken"
        ),
        minutes=220,
    ),
    Experiment(
        name="dft-fig2",
        title="Loss of one cut with 16 and with 64 bins, DFT and RFT",
        paper=f"{_DFT}, figure 2",
        place="dft.bins:run",
        data=("fashion_mnist",),
        stand_in=_DEEP,
        packages=("torch",),
        minutes=1.2,
    ),
    Experiment(
        name="dft-fig3",
        title="Sorted scores and elbows of four methods for classes",
        paper=f"{_DFT}, figure 3",
        place="dft.curves:run_classes",
        data=("fashion_mnist",),
        stand_in=_DEEP,
        packages=("torch", "xgboost"),
        minutes=35,
    ),
    Experiment(
        name="dft-fig4",
        title="Sorted scores and elbows of four methods for numbers",
        paper=f"{_DFT}, figure 4",
        place="dft.curves:run_numbers",
        data=("fashion_mnist",),
        stand_in=_DEEP,
        packages=("torch", "xgboost"),
        minutes=3.6,
    ),
    Experiment(
        name="dft-table2-5",
        title="MNIST and Fashion-MNIST, clean and noisy: four methods, four learners, two elbows",
        paper=f"{_DFT}, tables 1 to 5",
        place="dft.elbows:run",
        data=("mnist", "fashion_mnist"),
        stand_in=_DEEP,
        packages=("torch", "xgboost"),
        minutes=98,
    ),
    Experiment(
        name="dft-table6",
        title="MultiFeat: four methods and four learners with 10 to 649 features",
        paper=f"{_DFT}, table 6",
        place="dft.multifeat:run",
        data=("mfeat",),
        packages=("xgboost",),
        minutes=98,
    ),
    Experiment(
        name="dft-table7",
        title="Colon: errors of leave-one-out with 5 to 2,000 features",
        paper=f"{_DFT}, table 7",
        place="dft.colon:run",
        data=("colon",),
        packages=("xgboost",),
        minutes=1.5,
    ),
    Experiment(
        name="dft-fig5-7",
        title="DFT against mRMR on MultiFeat, colon and ARR",
        paper=f"{_DFT}, figures 5 to 7",
        place="dft.redundancy:run",
        data=("mfeat", "colon", "arrhythmia"),
        packages=("xgboost",),
        minutes=6,
    ),
    Experiment(
        name="dft-table8",
        title="Running times on MultiFeat, colon and ARR",
        paper=f"{_DFT}, table 8",
        place="dft.times:run",
        data=("mfeat", "colon", "arrhythmia"),
        packages=("xgboost",),
        minutes=0.9,
    ),
    Experiment(
        name="dft-fig8",
        title="DFT on principal components of deep features",
        paper=f"{_DFT}, figures 8 and 9",
        place="dft.components:run",
        data=("mnist", "fashion_mnist"),
        stand_in=_DEEP,
        packages=("torch", "xgboost"),
        minutes=17,
    ),
    Experiment(
        name="dft-table9-10",
        title="RFT with class labels as numbers: errors at the elbows",
        paper=f"{_DFT}, tables 9 and 10",
        place="dft.regression:run",
        data=("mnist", "fashion_mnist"),
        stand_in=_DEEP,
        packages=("torch", "xgboost"),
        minutes=11,
    ),
    Experiment(
        name="ofw-fig6-9",
        title="Ternary variables: exact and stochastic gradients, weights by subset size",
        paper=f"{_OFW}, section 5.1.1, figures 6 to 9",
        place="ofw.synthetic:run",
        minutes=17,
    ),
    Experiment(
        name="ofw-iris",
        title="Iris: weights learned with a tree on two columns, and its test error",
        paper=f"{_OFW}, section 5.1.2",
        place="ofw.iris:run",
        minutes=0.3,
    ),
    Experiment(
        name="ofw-spam",
        title="Spam: 54 words, four nearest neighbours, against three selections",
        paper=f"{_OFW}, section 5.2.2",
        place="ofw.spam:run",
        data=("spambase",),
        minutes=14,
    ),
    Experiment(
        name="ofw-usps",
        title="Digits: votes of linear machines on drawn edge detectors",
        paper=f"{_OFW}, section 5.2.3",
        place="ofw.usps:run",
        data=("usps",),
        stand_in="The images are the paper's; the edge detectors, which it does not specify, are "
        "our own construction, as many as it has (2,418).",
        minutes=14,
    ),
    Experiment(
        name="ofw-faces",
        title="Faces: linear machines on edge detectors, against three selections and forests",
        paper=f"{_OFW}, section 5.2.1",
        place="ofw.faces:run",
        data=("cbcl_faces",),
        stand_in="The training images are the paper's; of the test part all 472 faces and 4,000 of "
        "the 23,573 others, weighted to the full number. The edge detectors, which the paper does "
        "not specify, are our own construction, as many as it has (1,926).",
        minutes=8,
    ),
    Experiment(
        name="ofw-leukemia",
        title="Leukemia: 3,859 genes, linear machines, ten folds",
        paper=f"{_OFW}, section 5.2.4",
        place="ofw.leukemia:run",
        data=("leukemia",),
        minutes=33,
    ),
    Experiment(
        name="ofw-table2-4",
        title="Sets of the NIPS 2003 challenge: balanced error, share of features and of probes",
        paper=f"{_OFW}, section 5.2.5, tables 2 to 4",
        place="ofw.challenge:run",
        data=("arcene", "dexter", "dorothea", "madelon", "mnist"),
        stand_in="Gisette is made from MNIST (4 against 9, pixel products, probes). The test "
        "labels of the challenge are not public: folds of training and validation rows "
        "stand in for table 3. Probes are known for Madelon and our Gisette; to the others we add "
        "our own.",
        minutes=86,
    ),
    Experiment(
        name="meta-fig3-5",
        title="Patches of images: quality, predicted quality, and MF-PFS against three baselines",
        paper=f"{_META}, figures 3 to 5",
        place="meta.patches:run",
        data=("coil20", "cbcl_faces"),
        stand_in="Caltech-101 is replaced by coil20 (beside the paper's numbers) and cbcl_faces.",
        minutes=17,
    ),
    Experiment(
        name="meta-fig6-8",
        title="Digits: Mufasa against budget, what it chose, and two kinds of meta-features",
        paper=f"{_META}, figures 6 to 8",
        place="meta.digits:run",
        data=("mnist",),
        minutes=54,
    ),
    Experiment(
        name="meta-bounds",
        title="The numbers of the bounds for selection by meta-features",
        paper=f"{_META}, section 7",
        place="meta.bounds:run",
        minutes=0.1,
    ),
    Experiment(
        name="arena",
        title="All selectors on all data sets: average rank, stability and time",
        paper="",
        place="arena.run:run",
        minutes=480,
    ),
)


def list_experiments() -> tuple[Experiment, ...]:
    """List the experiments, in the order of the papers.

    Returns
    -------
    experiments : tuple of Experiment
        Each has a `name` for :func:`~tamis_papers.reproduce`.

    Examples
    --------
    >>> from tamis_papers import list_experiments
    >>> {"inffs-fig1"} <= {experiment.name for experiment in list_experiments()}
    True
    """
    return _ALL


def find_experiment(name: str) -> Experiment:
    """Find an experiment by its name.

    Parameters
    ----------
    name : str
        As in :func:`list_experiments`.

    Returns
    -------
    experiment : Experiment
        The one of that name.

    Examples
    --------
    >>> from tamis_papers.experiment import find_experiment
    >>> find_experiment("inffs-fig1").data
    ()
    """
    names = [experiment.name for experiment in _ALL]
    if name in names:
        return _ALL[names.index(name)]
    near = difflib.get_close_matches(name, names, n=3)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise InputError(
        f"reproduce: expected the name of an experiment, got {name!r}. {hint}"
        "`tamis reproduce --list` shows all."
    )
