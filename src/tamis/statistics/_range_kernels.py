"""Loop that finds the ranges of the columns of a row-major block."""

from tamis._runtime.compilation import kernel


@kernel
def ranges_rows(X, start, stop, low, high):
    """Smallest and largest value of every column; four rows at a time spare memory traffic."""
    n = X.shape[1]
    i = start
    while i + 4 <= stop:
        a, b, c, d = X[i], X[i + 1], X[i + 2], X[i + 3]
        for j in range(n):
            lo, hi = low[j], high[j]
            lo = a[j] if a[j] < lo else lo
            hi = a[j] if a[j] > hi else hi
            lo = b[j] if b[j] < lo else lo
            hi = b[j] if b[j] > hi else hi
            lo = c[j] if c[j] < lo else lo
            hi = c[j] if c[j] > hi else hi
            lo = d[j] if d[j] < lo else lo
            hi = d[j] if d[j] > hi else hi
            low[j] = lo
            high[j] = hi
        i += 4
    while i < stop:
        row = X[i]
        for j in range(n):
            low[j] = row[j] if row[j] < low[j] else low[j]
            high[j] = row[j] if row[j] > high[j] else high[j]
        i += 1
