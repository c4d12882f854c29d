"""Draws from a probability over columns, and one step of it, from the errors of some draws.

`excess` is the error of every draw less the baseline; the gradient of a draw is its excess times
the number of times that a column occurs in it; several draws are averaged.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@kernel
def draw_columns(P, uniforms, cumulative, out):
    """Columns drawn from `P` by inverting its cumulative sum, which is left in `cumulative`."""
    total = 0.0
    for j in range(P.size):
        total += P[j]
        cumulative[j] = total
    n_draws, k = uniforms.shape
    for d in range(n_draws):
        for i in range(k):
            wanted = uniforms[d, i] * total
            low, high = 0, P.size - 1
            while low < high:
                middle = (low + high) // 2
                if cumulative[middle] > wanted:
                    high = middle
                else:
                    low = middle + 1
            out[d, i] = low


@kernel
def riemannian_step(P, draws, excess, step):
    """``P exp(-step (g - kappa P)) / norm`` with ``kappa = sum g P / sum P^2`` (Eq. 12 and 14)."""
    gradient = np.zeros(P.size)
    n_draws, k = draws.shape
    for d in range(n_draws):
        for i in range(k):
            gradient[draws[d, i]] += excess[d] / n_draws
    along, square = 0.0, 0.0
    for j in range(P.size):
        along += gradient[j] * P[j]
        square += P[j] * P[j]
    kappa = along / square
    total = 0.0
    for j in range(P.size):
        P[j] *= np.exp(-step * (gradient[j] - kappa * P[j]))
        total += P[j]
    for j in range(P.size):
        P[j] /= total


@kernel
def project_on_simplex(x):
    """Nearest point of the simplex, in place: lower the entries that stay positive alike.

    Taking the largest entry off first changes nothing but keeps the 1 from being rounded away.
    Rounding may also bring an entry back, so the search ends when the active set stops shrinking.
    """
    x -= x.max()
    n_active = x.size
    total = x.sum()
    while True:
        threshold = (total - 1.0) / n_active
        n_above, above = 0, 0.0
        for j in range(x.size):
            if x[j] > threshold:
                n_above += 1
                above += x[j]
        if n_above >= n_active:
            break
        n_active, total = n_above, above
    for j in range(x.size):
        x[j] = max(x[j] - threshold, 0.0)


@kernel
def diffusion_step(P, draws, excess, step, noise):
    """``P - step g / P + noise``, then the nearest point of the simplex (Figure 5)."""
    n_draws, k = draws.shape
    moved = P + noise
    for d in range(n_draws):
        for i in range(k):
            j = draws[d, i]
            moved[j] -= step * excess[d] / (n_draws * P[j])
    project_on_simplex(moved)
    P[:] = moved


# The Euclidean step moves the drawn columns, and all columns alike: P = stored + shift. Sums and
# smallest entries of `stored` are kept in two trees (leaves from n_leaves on, children of i at 2 i
# and 2 i + 1), so that a draw and a step cost O(k log n).


@inline
def set_leaf(sums, smallest, j, value):
    """Change one entry and its parents in the trees."""
    i = sums.size // 2 + j
    sums[i] = value
    smallest[i] = value
    i //= 2
    while i >= 1:
        sums[i] = sums[2 * i] + sums[2 * i + 1]
        smallest[i] = min(smallest[2 * i], smallest[2 * i + 1])
        i //= 2


@kernel
def build_trees(P, sums, smallest):
    """Trees of sums and of smallest entries; leaves beyond the last column hold nothing."""
    n_leaves = sums.size // 2
    sums[:] = 0.0
    smallest[:] = np.inf
    for j in range(P.size):
        sums[n_leaves + j] = P[j]
        smallest[n_leaves + j] = P[j]
    for i in range(n_leaves - 1, 0, -1):
        sums[i] = sums[2 * i] + sums[2 * i + 1]
        smallest[i] = min(smallest[2 * i], smallest[2 * i + 1])


@kernel
def set_leaves(sums, smallest, columns, values):
    """Change some entries."""
    for i in range(columns.size):
        set_leaf(sums, smallest, columns[i], values[i])


@kernel
def draw_from_tree(sums, shift, n, uniforms, out):
    """Columns drawn from ``stored + shift`` by walking down the tree of sums."""
    n_leaves = sums.size // 2
    total = sums[1] + n * shift
    n_draws, k = uniforms.shape
    for d in range(n_draws):
        for i in range(k):
            wanted = uniforms[d, i] * total
            node, first, width = 1, 0, n_leaves
            while width > 1:
                width //= 2
                n_left = min(max(n - first, 0), width)
                left = sums[2 * node] + n_left * shift
                n_right = min(max(n - first - width, 0), width)
                if wanted < left or n_right == 0:
                    node = 2 * node
                else:
                    wanted -= left
                    node = 2 * node + 1
                    first += width
            out[d, i] = first


@kernel
def euclidean_step(sums, smallest, shift, n, draws, excess, step):
    """``P - step (g / P - mean(g / P))`` (Figure 3); the new shift, which may make P negative."""
    n_leaves = sums.size // 2
    n_draws, k = draws.shape
    amounts = np.empty((n_draws, k))
    mean = 0.0
    for d in range(n_draws):
        for i in range(k):
            P = sums[n_leaves + draws[d, i]] + shift
            amounts[d, i] = step * excess[d] / (n_draws * P)
            mean += amounts[d, i] / n
    for d in range(n_draws):
        for i in range(k):
            j = draws[d, i]
            set_leaf(sums, smallest, j, sums[n_leaves + j] - amounts[d, i])
    return shift + mean
