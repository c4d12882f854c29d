"""Errors of linear SVMs trained on one bootstrap sample and tested on another."""

import numpy as np

from tamis._runtime.compilation import kernel
from tamis.linear_svm.descent_kernels import lines_of, train
from tamis.statistics.dense_kernels import add_multiples
from tamis.weighting._sample_kernels import distinct, error_of, gather


@kernel
def svm_errors(
    values, codes, n_classes, draws, train_rows, test_rows, settings, balanced, one_vs_all, out,
    first, last,
):  # fmt: skip
    """Errors of linear SVMs; `settings` are C, the loss, the tolerance and the most epochs.

    With `one_vs_all` (and with two classes) the error is the average over the problems of one class
    against the rest; without, a row gets the class with the largest decision value.
    """
    n_problems = 1 if n_classes == 2 else n_classes
    for d in range(first, last):
        columns, _ = distinct(draws[d])
        rows, times = distinct(train_rows[d])
        others, weights = distinct(test_rows[d])
        inside, outside = gather(values, columns, rows, 1), gather(values, columns, others, 1)
        labels, truth = codes[rows], codes[others]
        lines = lines_of(inside, settings[1])
        surest, winner = np.full(others.size, -np.inf), np.zeros(others.size, np.int64)
        average = 0.0
        for problem in range(n_problems):
            positive = 1 if n_problems == 1 else problem
            signs = np.where(labels == positive, 1.0, -1.0)
            decisions = np.full(others.size, np.inf * signs[0])
            if signs.min() < signs.max():
                w = train(inside, lines, times, signs, settings)
                decisions[:] = 0.0
                add_multiples(w, w.size, outside, others.size, decisions)
            average += error_of(decisions > 0.0, truth == positive, weights, 2, balanced)
            for i in range(others.size):
                if decisions[i] > surest[i]:
                    surest[i], winner[i] = decisions[i], problem
        out[d] = average / n_problems
        if n_problems > 1 and not one_vs_all:
            out[d] = error_of(winner, truth, weights, n_classes, balanced)
