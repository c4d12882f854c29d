"""The expected score of the whole procedure, its choices included, beside what is trivial.

Everything is chosen anew on the training rows of outer folds and scored on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tamis._runtime.seeds import seed_of, stream
from tamis.auto.choosing import Choice, Inner, choose, votes_of
from tamis.auto.methods import Method
from tamis.auto.models import RidgeModel, Scale, ridge_by_gradients, ridge_from_products
from tamis.auto.problem import Floats, Problem, Rows
from tamis.evaluation.intervals import RowScores, gather

# What every outer fold is scored with, in this order.
SELECTED, ALL, GUESS, RANDOM = range(4)
# Draws of random features in every fold.
N_DRAWS = 5
# Columns of which inner products are taken at once.
COLUMNS_AT_ONCE = 1024
# Rows up to which all features are judged by inner products of the rows, at a cost of their cube.
MOST_PRODUCTS = 1500


class Fold(NamedTuple):
    """One outer fold of one repeat."""

    repeat: int
    number: int
    train: Rows
    test: Rows


class FoldResult(NamedTuple):
    """What every test row of a fold says about the procedures, and what was chosen."""

    rows: Rows
    values: Floats
    method: str
    model: str
    n_features: int
    tried_all: bool  # else the values of all features are those of guessing


def outer_folds(problem: Problem, n_folds: int, n_repeats: int, seed: int) -> list[Fold]:
    """All folds of all repeats."""
    return [
        Fold(repeat, number, *parts)
        for repeat in range(n_repeats)
        for number, parts in enumerate(problem.folds(n_folds, stream(seed, 1, repeat)))
    ]


def run_fold(
    problem: Problem,
    methods: tuple[Method, ...],
    inner: Inner,
    fold: Fold,
    seed: int,
    room: float,
) -> FoldResult:
    """Choose on the training rows, and score all procedures on the others."""
    own, (_, _, train, test) = seed_of(seed, fold.repeat, fold.number), fold
    choice = choose(problem.part(train), methods, inner, own)
    order = choice.method.rank(problem, train, choice.n_features, own)
    choice = choice._replace(n_features=order.size)
    guesses, of_all = (
        _guesses(problem, train, test),
        _votes_of_all(problem, choice, train, test, room),
    )
    votes = [
        votes_of(problem, choice.model, order, train, test),
        guesses if of_all is None else of_all,
        guesses,
    ]
    values = [problem.by_row(each, test) for each in votes]
    values.append(_random_features(problem, choice, fold, own))
    return FoldResult(
        rows=test,
        values=np.column_stack(values),
        method=choice.method.name,
        model=choice.model.name,
        n_features=choice.n_features,
        tried_all=of_all is not None,
    )


def expected_scores(problem: Problem, results: list[FoldResult]) -> RowScores:
    """Scores of all procedures over the folds that are done."""
    return gather([(each.rows, each.values) for each in results], problem.y.size)


def _random_features(problem: Problem, choice: Choice, fold: Fold, seed: int) -> Floats:
    """What the test rows say about as many features drawn at random, over some draws."""
    random, n_columns = stream(seed, 2), problem.X.shape[1]
    draws = (random.permutation(n_columns)[: choice.n_features] for _ in range(N_DRAWS))
    votes = (votes_of(problem, choice.model, drawn, fold.train, fold.test) for drawn in draws)
    return np.mean([problem.by_row(each, fold.test) for each in votes], axis=0)


def _guesses(problem: Problem, train: Rows, test: Rows) -> Floats:
    """Votes without features: class shares, or the mean."""
    y, weight = problem.y[train], problem.weight[train]
    if problem.n_classes:
        votes = np.bincount(y, weights=weight, minlength=problem.n_classes)
        return np.tile(votes, (test.size, 1))
    return np.full((test.size, 1), np.average(y, weights=weight))


def _votes_of_all(
    problem: Problem, choice: Choice, train: Rows, test: Rows, room: float
) -> Floats | None:
    """Votes by all features, or None without `room` for a copy of the table in single precision.

    With few rows, a wide table is not copied as a whole.
    """
    n_columns, model = problem.X.shape[1], choice.model
    if not isinstance(model, RidgeModel) or n_columns <= COLUMNS_AT_ONCE:
        return votes_of(problem, model, np.arange(n_columns), train, test)
    if train.size > MOST_PRODUCTS and 4.0 * (train.size + test.size) * n_columns > room:
        return None
    targets, weight = model.targets(problem.y[train], problem.weight[train])
    blocks = _scaled_blocks(problem, train, test)
    if train.size <= MOST_PRODUCTS:
        products = np.zeros((train.size + test.size, train.size))
        for block in blocks:
            products += block @ block[: train.size].T
        return model.as_votes(ridge_from_products(products, targets, weight))
    scaled = np.empty((train.size + test.size, n_columns), dtype=np.float32)
    start = 0
    for block in blocks:
        scaled[:, start : start + block.shape[1]] = block
        start += block.shape[1]
    found = ridge_by_gradients(scaled[: train.size], targets, weight, scaled[train.size :])
    return model.as_votes(found)


def _scaled_blocks(problem: Problem, train: Rows, test: Rows) -> Iterator[Floats]:
    """All features of rows to learn from and to predict, some at a time, standardised."""
    both, n_columns = np.concatenate([train, test]), problem.X.shape[1]
    for start in range(0, n_columns, COLUMNS_AT_ONCE):
        cells = problem.cells(both, np.arange(start, min(start + COLUMNS_AT_ONCE, n_columns)))
        yield Scale.of(cells[: train.size], problem.weight[train])(cells)
