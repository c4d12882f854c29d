"""Products and Cholesky factors of small dense matrices, inside compiled loops."""

import numpy as np

from tamis._runtime.compilation import inline


@inline
def add_products(lines, n_lines, size, out):
    """Write the upper triangle of the sum of ``outer(line, line)``, four lines at a time."""
    for i in range(size):
        out[i, :size] = 0.0
    whole = n_lines - n_lines % 4
    for j in range(0, whole, 4):
        for i in range(size):
            a, b, c, d = lines[j, i], lines[j + 1, i], lines[j + 2, i], lines[j + 3, i]
            first, second = lines[j, i:size], lines[j + 1, i:size]
            third, fourth = lines[j + 2, i:size], lines[j + 3, i:size]
            target = out[i, i:size]
            for m in range(size - i):
                target[m] += (a * first[m] + b * second[m]) + (c * third[m] + d * fourth[m])
    for j in range(whole, n_lines):
        for i in range(size):
            a, line, target = lines[j, i], lines[j, i:size], out[i, i:size]
            for m in range(size - i):
                target[m] += a * line[m]


@inline
def add_multiples(factors, n_factors, lines, size, out):
    """Add the lines, each times its factor, to `out`."""
    whole = n_factors - n_factors % 4
    for j in range(0, whole, 4):
        a, b, c, d = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        first, second, third, fourth = lines[j], lines[j + 1], lines[j + 2], lines[j + 3]
        for m in range(size):
            out[m] += (a * first[m] + b * second[m]) + (c * third[m] + d * fourth[m])
    for j in range(whole, n_factors):
        a, line = factors[j], lines[j]
        for m in range(size):
            out[m] += a * line[m]


@inline
def factorise(matrix, size):
    """Replace the upper triangle of a positive definite matrix by R, where R'R is the matrix."""
    for j in range(size):
        pivot = matrix[j, j:size]
        root = np.sqrt(pivot[0])
        for m in range(size - j):
            pivot[m] /= root
        for i in range(1, size - j):
            factor, above, target = pivot[i], pivot[i:], matrix[j + i, j + i : size]
            for m in range(size - j - i):
                target[m] -= factor * above[m]


@inline
def solve(factor, size, b):
    """Solve ``R'R x = b`` in place."""
    for j in range(size):
        b[j] /= factor[j, j]
        line, rest, value = factor[j, j + 1 : size], b[j + 1 : size], b[j]
        for m in range(size - j - 1):
            rest[m] -= value * line[m]
    for p in range(size):
        j = size - 1 - p
        line, rest, value = factor[j, j + 1 : size], b[j + 1 : size], b[j]
        for m in range(p):
            value -= line[m] * rest[m]
        b[j] = value / factor[j, j]
