"""Products with the matrix of larger deviations; arrays in, arrays out."""

from tamis._runtime.compilation import kernel


@kernel
def larger_deviation_product(deviation, order, vectors, out):
    """``sum_j max(s_i, s_j) v_j`` for every column v of `vectors`, by two running sums.

    `order` sorts the deviations upwards: those before i count s_i each, the others their own.
    """
    n, n_vectors = vectors.shape
    for k in range(n_vectors):
        upper = 0.0
        for i in range(n):
            upper += deviation[i] * vectors[i, k]
        lower = 0.0
        for p in range(n):
            i = order[p]
            lower += vectors[i, k]
            upper -= deviation[i] * vectors[i, k]
            out[i, k] = deviation[i] * lower + upper
