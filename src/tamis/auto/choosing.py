"""The choice of a method, a model and a number of features, by folds of the given rows only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.seeds import seed_of, stream
from tamis.auto.methods import Method, related_features
from tamis.auto.models import Model
from tamis.auto.problem import Floats, Problem, Rows
from tamis.evaluation.intervals import RowScores, gather
from tamis.exceptions import TamisError

# Numbers of features that are tried, as far as there are so many; all of them if they are few.
COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 32, 40, 50, 65, 80)
FEW_FEATURES = 30
# Fewer features are preferred up to a loss of so many standard errors of the difference.
SLACK = 0.5


class Choice(NamedTuple):
    """A method, a model, and a number of features."""

    method: Method
    model: Model
    n_features: int


class Inner(NamedTuple):
    """How choices are compared: folds, and how often they are dealt."""

    n_folds: int
    n_repeats: int


def counts_for(problem: Problem) -> tuple[int, ...]:
    """Numbers of features to try: small ones closely, and no more than half of the rows."""
    n_rows, n_columns = problem.rows.size, problem.X.shape[1]
    most = min(n_columns, max(n_rows // 2, COUNTS[2]))
    counts = {count for count in COUNTS if count <= most}
    return tuple(sorted(counts | {n_columns} if n_columns <= FEW_FEATURES else counts))


def choose(problem: Problem, methods: tuple[Method, ...], inner: Inner, seed: int) -> Choice:
    """Choose by repeated cross-validation within the rows of the problem."""
    counts = counts_for(problem)
    tried = [
        (model, count)
        for model, count in product(problem.models, counts)
        if count <= model.most_features
    ]
    parts: list[tuple[Rows, dict[Method, list[Floats]]]] = []
    failed: dict[Method, TamisError] = {}
    for repeat in range(inner.n_repeats):
        for k, (train, test) in enumerate(problem.folds(inner.n_folds, stream(seed, repeat))):
            values: dict[Method, list[Floats]] = {}
            related = related_features(problem, train)
            for method in methods:
                try:
                    own = seed_of(seed, repeat, k)
                    order = method.rank(problem, train, counts[-1], own, related)
                except TamisError as error:  # a few rows may not do for it
                    failed[method] = error
                    continue
                votes = _votes_of_all(problem, order, tried, train, test)
                values[method] = [problem.by_row(each, test) for each in votes]
            parts.append((test, values))
    usable = [method for method in methods if method not in failed]
    if not usable:
        raise failed[methods[0]]
    found = gather(
        [(test, np.column_stack([v for m in usable for v in values[m]])) for test, values in parts],
        problem.y.size,
    )
    return pick([Choice(method, *each) for method, each in product(usable, tried)], found)


def pick(choices: list[Choice], found: RowScores) -> Choice:
    """The fewest features that do about as well as the best, by whichever method and model."""
    best = int(np.argmax(found.scores))
    enough = [
        i
        for i in range(len(choices))
        if found.scores[best] - found.scores[i] <= SLACK * found.difference(best, i).standard_error
    ]
    return choices[min(enough, key=lambda i: (choices[i].n_features, -found.scores[i]))]


def _votes_of_all(
    problem: Problem,
    order: NDArray[np.intp],
    tried: list[tuple[Model, int]],
    train: Rows,
    test: Rows,
) -> Iterator[Floats]:
    """Votes for the test rows by models on the first features of an order."""
    y, weight = problem.y[train], problem.weight[train]
    seen, unseen = problem.models[0].prepare(
        problem.cells(train, order), weight, problem.cells(test, order)
    )
    for model, count in tried:
        yield model.votes(seen[:, :count], y, weight, unseen[:, :count])


def votes_of(problem: Problem, model: Model, columns: Rows, train: Rows, test: Rows) -> Floats:
    """Votes for the test rows by a model on some features."""
    weight = problem.weight[train]
    seen, unseen = model.prepare(
        problem.cells(train, columns), weight, problem.cells(test, columns)
    )
    return model.votes(seen, problem.y[train], weight, unseen)
