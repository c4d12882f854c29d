"""Errors of linear SVMs trained on one bootstrap sample and tested on another."""

import numpy as np

from tamis._runtime.compilation import kernel
from tamis.linear_svm.descent_kernels import (
    SQUARED_HINGE,
    bounds_of,
    train_by_newton,
    train_on_products,
    train_on_rows,
    weights_from,
)
from tamis.statistics.dense_kernels import add_multiples, add_products
from tamis.weighting._sample_kernels import distinct, error_of, error_rate, gather_columns

# Up to so many distinct rows the products of all pairs of rows are kept: a step of the descent then
# moves the margins of all rows, and rows that do not move cost nothing. More would leave the cache.
MOST_ROWS_OF_PRODUCTS = 500


@kernel
def svm_errors(
    values, codes, n_classes, draws, train, test, settings, balanced, one_vs_all, out, first, last
):  # fmt: skip
    """Errors of linear SVMs; `settings` are C, the loss, the tolerance and the most epochs.

    The intercept is the weight of one more column of ones and penalised like the others. With
    `one_vs_all` (and with two classes) the error is the average of those of the problems of one
    class against the rest; without, a row gets the class with the largest decision value. A model
    trained on one side only always predicts that side.
    """
    C, loss, tolerance, max_epochs = settings
    k, n_train, n_test = draws.shape[1], train.shape[1], test.shape[1]
    columns, counts = np.empty(k, np.int64), np.empty(k)
    rows, times = np.empty(n_train, np.int64), np.empty(n_train)
    others, weights = np.empty(n_test, np.int64), np.empty(n_test)
    inside, outside = np.empty((k + 1, n_train)), np.empty((k + 1, n_test))
    inside_rows = np.empty((0, 0))
    products = np.empty((0, 0))
    alpha, margins = np.empty(n_train), np.empty(n_train)
    upper, ridge = np.empty(n_train), np.empty(n_train)
    signs, w = np.empty(n_train), np.empty(k + 1)
    n_problems = 1 if n_classes == 2 else n_classes
    decisions, surest = np.empty(n_test), np.empty(n_test)
    winner = np.empty(n_test, np.int64)
    wrong, total = np.empty(2), np.empty(2)
    for d in range(first, last):
        n_columns = distinct(draws[d], columns, counts)
        n_rows = distinct(train[d], rows, times)
        n_others = distinct(test[d], others, weights)
        gather_columns(values, columns, n_columns, rows, n_rows, inside)
        gather_columns(values, columns, n_columns, others, n_others, outside)
        inside[n_columns, :n_rows] = 1.0
        outside[n_columns, :n_others] = 1.0
        n_columns += 1
        bounds_of(times, n_rows, C, loss, upper, ridge)
        by_newton = loss == SQUARED_HINGE and n_columns < n_rows
        by_products = n_rows <= MOST_ROWS_OF_PRODUCTS and not by_newton
        if by_products:
            if products.shape[0] < n_rows:
                products = np.empty((n_rows, n_rows))
            add_products(inside, n_columns, n_rows, products)
            for i in range(n_rows):
                for m in range(i):
                    products[i, m] = products[m, i]
        else:
            if inside_rows.shape[0] == 0:
                inside_rows = np.empty((n_train, k + 1))
            for j in range(n_columns):
                for i in range(n_rows):
                    inside_rows[i, j] = inside[j, i]
        surest[:] = -np.inf
        average = 0.0
        for problem in range(n_problems):
            positive = 1 if n_problems == 1 else problem
            n_positive = 0
            for i in range(n_rows):
                is_positive = codes[rows[i]] == positive
                signs[i] = 1.0 if is_positive else -1.0
                n_positive += is_positive
            if n_positive == 0:
                decisions[:n_others] = -np.inf
            elif n_positive == n_rows:
                decisions[:n_others] = np.inf
            else:
                if by_products:
                    train_on_products(
                        products, upper, ridge, signs, n_rows, tolerance, max_epochs, alpha,
                        margins,
                    )  # fmt: skip
                    weights_from(alpha, inside, n_rows, n_columns, w)
                elif by_newton:
                    train_by_newton(
                        inside, inside_rows, times, signs, n_rows, n_columns, C, tolerance,
                        max_epochs, w, margins, alpha,
                    )  # fmt: skip
                else:
                    train_on_rows(
                        inside_rows, upper, ridge, signs, n_rows, n_columns, tolerance,
                        max_epochs, alpha, margins, w,
                    )  # fmt: skip
                decisions[:n_others] = 0.0
                add_multiples(w, n_columns, outside, n_others, decisions)
            wrong[:] = 0.0
            total[:] = 0.0
            for i in range(n_others):
                truth = 1 if codes[others[i]] == positive else 0
                total[truth] += weights[i]
                if (decisions[i] > 0.0) != (truth == 1):
                    wrong[truth] += weights[i]
                if decisions[i] > surest[i]:
                    surest[i], winner[i] = decisions[i], problem
            average += error_rate(wrong, total, balanced)
        out[d] = average / n_problems
        if n_problems > 1 and not one_vs_all:
            out[d] = error_of(winner, codes, others, weights, n_others, n_classes, balanced)
