"""One test body: memory, files and two workers give the same, whatever the size of the blocks."""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

import tamis
from reference import codes as plain_codes
from reference import graph as plain_graph
from reference import greedy as plain_greedy
from reference import ilfs as plain_ilfs
from reference import moments as plain
from reference.information import information_of, table_of
from reference.split import balanced, entropy, mean_squared_error, split_test
from tamis.exceptions import InputError
from tamis.graph.ilfs import COLUMN_PRIOR

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

N_ROWS, N_COLUMNS = 30, 8
NAMES = [f"c{j}" for j in range(N_COLUMNS)]
# Where files end that are not cut by a number of rows; one class is in the last of them only.
ENDS = [5, 18]
# Bytes in which one column of 30 rows can be worked on, and no two.
LITTLE = 3_400


@cache
def table():
    """Cells, classes and numbers as targets, weights."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 2, N_ROWS)
    kind[ENDS[1] :: 2] = 2
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * np.linspace(0.5, 3.0, N_COLUMNS)
    X += 2.0 * kind[:, None] * (np.arange(N_COLUMNS) % 4 == 0)
    X[:, 1] += X[:, 0]
    X[:, 3] = rng.integers(0, 4, N_ROWS)
    X[:, 6] += 1e4
    X[:, 7] = -2.5  # never varies
    labels = np.array(["low", "medium", "high"])[kind]
    weight = rng.choice([0.0, 0.5, 1.0, 2.25], N_ROWS)
    return X, {"label": labels, "value": kind + rng.normal(size=N_ROWS), None: None}, weight


# Twins: what a fit must find by the definition, from cells, codes or numbers, and weights.


def split_twin(impurity, fitted, X, y, weight):
    if getattr(fitted, "class_weight", None) == "balanced":
        weight = balanced(y, weight)
    return {"scores_": split_test(X, y, impurity, n_bins=fitted.n_bins, weight=weight)[2]}


def moment_twin(function, fitted, X, y, weight, **options):
    return {"scores_": np.abs(plain.per_column(function, X, y, weight, **options))}


def f_twin(function, fitted, X, y, weight):
    return moment_twin(lambda *column: function(*column)[0], fitted, X, y, weight)


def information_twin(name, unit, fitted, X, y, weight):
    found = np.zeros(N_COLUMNS)
    for j in np.flatnonzero(np.ptp(X, axis=0)):
        cells = table_of(X[:, j], y, weight, fitted.n_bins, y.max() + 1)
        found[j] = information_of(cells) / unit
    return {name: found}


def ilfs_twin(fitted, X, y, weight):
    counts = plain_ilfs.token_counts(X, y, weight, y.max() + 1)[:, :-1]
    inside = np.ptp(X, axis=0) > 0
    p, profile, _ = plain_ilfs.anchored_topics(
        counts[inside], fitted.n_iter_, fitted.anchor, COLUMN_PRIOR
    )
    tokens = np.arange(profile.shape[1])
    p = p if profile[0] @ tokens >= profile[1] @ tokens else 1 - p
    scores = np.zeros(N_COLUMNS)
    scores[inside] = plain_ilfs.walk(p)
    return {"scores_": scores}


def coded(fitted, X, y, weight):
    return plain_codes.code_table(X, fitted.strategy, fitted.n_bins, classes=y, weight=weight)


def mrmr_twin(fitted, X, y, weight):
    varies = np.flatnonzero(np.ptp(X, axis=0))
    if fitted.measure == "f":
        f = plain_greedy.f_of_line if y.dtype.kind == "f" else plain_greedy.f_of_classes
        columns, relation = X.T[varies], plain_greedy.correlation
        relevance = np.array([f(x, y, weight) for x in columns])
    else:
        columns, relation = coded(fitted, X, y, weight)[varies], plain_greedy.shared_bits
        relevance = np.array([relation(x, y, weight) for x in columns])
    redundancy = plain_greedy.pairwise(columns, relation, weight)
    order, _ = plain_greedy.mrmr(relevance, redundancy, fitted.combine, len(varies))
    scores, all_relevance = np.zeros(N_COLUMNS), np.zeros(N_COLUMNS)
    scores[varies[order]] = N_COLUMNS - np.arange(len(varies))
    all_relevance[varies] = relevance
    return {"relevance_": all_relevance, "ranking_": plain_ranks(scores)}


def plain_ranks(scores):
    return np.argsort(np.argsort(-scores, kind="stable")) + 1


def fcbf_twin(fitted, X, y, weight):
    kept, shared = plain_greedy.fcbf(coded(fitted, X, y, weight), y, weight, fitted.threshold)
    return {"criterion_": shared, "support_": np.isin(np.arange(N_COLUMNS), kept)}


def graph_twin(fitted, X, y, weight):
    relation = getattr(plain_graph, fitted.relation)
    return {"scores_": plain_graph.inf_fs(X, fitted.alpha, weight=weight, relation=relation)}


class Case(NamedTuple):
    """A selector, its target, and what the definition says; None where no twin is written down."""

    selector: Any
    target: str | None
    twin: Any
    weighted: bool = False
    tolerance: float = 1e-10


GRAPH = 1e-6
BITS = np.log(2)
CASES = {
    "dft": Case(tamis.DFT(), "label", partial(split_twin, entropy)),
    "dft balanced": Case(
        tamis.DFT(class_weight="balanced", n_bins=7), "label", partial(split_twin, entropy), True
    ),
    "rft": Case(tamis.RFT(), "value", partial(split_twin, mean_squared_error), True),
    "ilfs": Case(tamis.ILFS(), "label", ilfs_twin),
    "fisher": Case(tamis.Fisher(), "label", partial(moment_twin, plain.fisher)),
    "fisher weighted": Case(
        tamis.Fisher(form="weighted"),
        "label",
        partial(moment_twin, plain.fisher, form="weighted"),
        True,
    ),
    "anova": Case(tamis.AnovaF(), "label", partial(f_twin, plain.anova)),
    "line": Case(tamis.AnovaF(), "value", partial(f_twin, plain.line), True),
    "correlation": Case(tamis.Correlation(), "value", partial(moment_twin, plain.pearson)),
    "multiple": Case(tamis.Correlation(), "label", partial(moment_twin, plain.multiple), True),
    "variance": Case(tamis.Variance(), None, partial(moment_twin, plain.variance)),
    "information": Case(
        tamis.MutualInformation(), "label", partial(information_twin, "scores_", 1.0), True
    ),
    "information of numbers": Case(tamis.MutualInformation(n_bins=5), "value", None),
    "posterior mean": Case(tamis.MutualInformation(estimator="posterior_mean"), "label", None),
    "lower credible": Case(
        tamis.MutualInformation(estimator="lower_credible"), "label", None, True
    ),
    "gain": Case(tamis.InformationGain(), "label", partial(information_twin, "gain_", BITS)),
    "mrmr": Case(tamis.MRMR(full_order=True), "label", mrmr_twin),
    "mrmr of numbers": Case(tamis.MRMR(combine="difference"), "value", mrmr_twin, True),
    "mrmr quantile": Case(
        tamis.MRMR(measure="mutual_information", combine="difference"), "label", mrmr_twin
    ),
    "mrmr uniform": Case(
        tamis.MRMR(measure="mutual_information", strategy="uniform"), "label", mrmr_twin, True
    ),
    "fcbf": Case(tamis.FCBF(), "label", fcbf_twin),
    "fcbf uniform": Case(tamis.FCBF(strategy="uniform", n_bins=4), "label", fcbf_twin, True),
    "inffs": Case(tamis.InfFS(), None, graph_twin, tolerance=GRAPH),
    "inffs pearson": Case(
        tamis.InfFS(alpha=0.2, relation="pearson"), None, graph_twin, True, tolerance=GRAPH
    ),
}


def test_every_selector_that_takes_sources_is_here():
    able = {name for name in tamis.list_selectors() if tamis.make_selector(name)._streams}
    assert {type(case.selector).__name__.lower() for case in CASES.values()} == able


def given(case):
    X, targets, weight = table()
    return X, targets[case.target], weight if case.weighted else None


def learned(selector):
    """All arrays and numbers that a fit has left; not how it came by them, or what it was told."""
    left_out = ("feature_names_in_", "n_products_")
    kinds = (np.ndarray, float, int)
    return {
        name: np.asarray(value)
        for name, value in vars(selector).items()
        if name.endswith("_") and name not in left_out and isinstance(value, kinds)
    }


@cache
def truth(name):
    """What a fit on an array finds."""
    X, y, weight = given(CASES[name])
    return scores_only(clone(CASES[name].selector)).fit(X, y, sample_weight=weight)


def scores_only(selector):
    """No test against chance, for which rows read in blocks cannot always be permuted."""
    auto = selector.get_params()["n_features_to_select"] == "auto"
    return selector.set_params(n_features_to_select="elbow") if auto else selector


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.twin])
def test_the_truth_is_what_the_definition_says(name):
    case = CASES[name]
    X, y, weight = given(case)
    weight = np.ones(N_ROWS) if weight is None else weight
    y = np.unique(y, return_inverse=True)[1] if case.target == "label" else y
    there = weight > 0
    y = np.zeros(there.sum()) if y is None else y[there]
    for attribute, value in case.twin(truth(name), X[there], y, weight[there]).items():
        found = getattr(truth(name), attribute)
        np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-10, err_msg=attribute)


# Places: each fits a selector on the table, cut into blocks of so many rows or into columns.


class Cut(NamedTuple):
    """Rows of a part, None where parts end as they like; whether columns are taken one by one."""

    rows: int | None
    by_column: bool = False


CUTS = {
    "one row": Cut(1),
    "one column": Cut(None, by_column=True),
    "odd": Cut(11),
    "larger than the table": Cut(1000),
}


class Setup(NamedTuple):
    """What places need besides a case and a cut."""

    folder: Any
    client: Any
    monkeypatch: Any


def fit_array(selector, case, cut, setup):
    X, y, weight = given(case)
    if cut.by_column:
        X = np.asfortranarray(X)
    else:
        for name in ("BLOCK_BYTES", "COPY_BYTES"):
            setup.monkeypatch.setattr(f"tamis.passes.memory.{name}", 8 * N_COLUMNS * cut.rows)
    return selector.fit(X, y, sample_weight=weight)


def fit_files(ending, selector, case, cut, setup, on_workers=False):
    folder = file_folder(setup, ending, cut)
    weight = "weight" if case.weighted else None
    options = {"target": case.target, "weight": weight, "columns": NAMES}
    if ending == "npy":
        _, y, weight = given(case)
        options = {"target": y, "weight": weight}
    scan = tamis.scan(
        folder / f"*.{ending}",
        memory_limit=LITTLE if cut.by_column else None,
        cluster=setup.client if on_workers else None,
        **options,
    )
    assert scan.n_parts >= (N_ROWS // cut.rows if cut.rows else len(ENDS) + 1)
    return selector.fit(scan)


def fit_dask_array(selector, case, cut, setup):
    X, y, weight = given(case)
    rows, columns = (N_ROWS, 1) if cut.by_column else (cut.rows, 5 if cut.rows == 11 else N_COLUMNS)
    X = da.from_array(X, chunks=(rows, columns))
    y, weight = (None if one is None else da.from_array(one, chunks=13) for one in (y, weight))
    with setup.client.as_current():
        return selector.fit(X, y, sample_weight=weight)


def fit_dask_frame(selector, case, cut, setup):
    X, targets, weight = table()
    frame = pd.DataFrame(X, columns=NAMES).assign(
        label=targets["label"], value=targets["value"], weight=weight
    )
    lazy = dd.from_pandas(frame, chunksize=cut.rows or 11, sort=False)
    # Every partition has categories of its own.
    lazy["label"] = lazy["label"].astype("category")
    y = None if case.target is None else lazy[case.target]
    with setup.client.as_current():
        return selector.fit(lazy[NAMES], y, lazy["weight"] if case.weighted else None)


PLACES = {
    "array": fit_array,
    "parquet": partial(fit_files, "parquet"),
    "csv": partial(fit_files, "csv"),
    "npy": partial(fit_files, "npy"),
    "parquet on workers": partial(fit_files, "parquet", on_workers=True),
    "dask array": fit_dask_array,
    "dask frame": fit_dask_frame,
}


def file_folder(setup, ending, cut):
    """Where the files of a cut are, written when they are first asked for."""
    folder = setup.folder / f"{ending} {cut.rows}"
    if not folder.exists():
        folder.mkdir()
        write_files(folder, ending, cut)
    return folder


def write_files(folder, ending, cut):
    """Parquet has row groups of the cut in three files; other formats a file for every block.

    Every second file has its columns in reverse, and every third one has categories, in an order
    of its own, instead of text.
    """
    X, targets, weight = table()
    ends = ENDS if ending == "parquet" or not cut.rows else range(cut.rows, N_ROWS, cut.rows)
    for number, rows in enumerate(np.split(np.arange(N_ROWS), list(ends))):
        path = folder / f"{number:02}.{ending}"
        if ending == "npy":
            np.save(path, X[rows])
            continue
        columns = dict(zip(NAMES, X[rows].T, strict=True))
        columns |= {"label": targets["label"][rows], "value": targets["value"][rows]}
        columns["weight"] = weight[rows]
        write_file(path, columns, number, cut)


def write_file(path, columns, number, cut=CUTS["odd"]):
    if number % 2:
        columns = dict(reversed(columns.items()))
    if path.suffix == ".csv":
        pd.DataFrame(columns).to_csv(path, index=False)
        return
    if number % 3 == 2:
        categories = sorted(set(columns["label"]))[:: 1 if number % 2 else -1]
        columns["label"] = pa.array(pd.Categorical(columns["label"], categories))
    pa.parquet.write_table(pa.table(columns), path, row_group_size=cut.rows or 1000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def setup(folder, dask_client, monkeypatch):
    return Setup(folder, dask_client, monkeypatch)


# One of each way to work: rows, pairs of columns, whole columns, blocks of relations.
EVERY_WAY = ("dft", "mrmr", "fcbf", "inffs")
# What frames are good for beyond arrays: a target of numbers, weights, neither.
IN_FRAMES = (*EVERY_WAY, "dft balanced", "rft", "variance")


def runs():
    """All cases in all places but frames; all cuts where they are quick, or the way is another."""
    for name in CASES:
        for place in PLACES:
            every_cut = place in ("array", "parquet") or name in EVERY_WAY
            if place == "dask frame":
                every_cut = name == "dft"
                if name not in IN_FRAMES:
                    continue
            yield from ((name, place, cut) for cut in CUTS if every_cut or cut == "odd")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "place", "cut"), list(runs()))
def test_same(name, place, cut, setup):
    selector = scores_only(clone(CASES[name].selector))
    if CUTS[cut].by_column and hasattr(selector, "memory_limit"):
        selector.set_params(memory_limit=LITTLE)
    found = learned(PLACES[place](selector, CASES[name], CUTS[cut], setup))
    assert list(getattr(selector, "feature_names_in_", NAMES)) == NAMES
    expected = learned(truth(name))
    assert found.keys() == expected.keys()
    for attribute, value in expected.items():
        # Ranks, masks, labels and counts are equal; only fractions are rounded.
        tolerance = CASES[name].tolerance if value.dtype.kind == "f" else 0
        same = partial(np.testing.assert_allclose, rtol=tolerance, atol=tolerance)
        same = same if tolerance else np.testing.assert_array_equal
        same(found[attribute], value, err_msg=attribute)


@pytest.mark.parametrize("on_workers", [False, True], ids=["here", "on workers"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("column", ["c4", "label", "weight"])
def test_a_column_that_a_file_does_not_have(column, ending, on_workers, tmp_path, setup):
    cut, case = CUTS["odd"], CASES["dft balanced"]
    setup = setup._replace(folder=tmp_path)
    folder = file_folder(setup, ending, cut)
    name = sorted(folder.iterdir())[1].name
    columns = {each: np.ones(3) for each in [*NAMES, "label", "value", "weight"] if each != column}
    write_file(folder / name, columns, 1)
    with pytest.raises(InputError, match=rf"^{name}: expected a column '{column}', as in 00\."):
        fit_files(ending, tamis.DFT(), case, cut, setup, on_workers)
