"""A table that comes in blocks of rows gives the result of the whole table."""

from collections.abc import Iterator

import numpy as np

from tamis import DFT

N_BLOCKS, ROWS, COLUMNS = 20, 1_000, 200


def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stand in for files that are read one after the other."""
    for number in range(N_BLOCKS):
        rng = np.random.default_rng(number)
        y = rng.integers(0, 4, ROWS)
        X = rng.normal(size=(ROWS, COLUMNS))
        X[:, :10] += np.linspace(0.3, 0.05, 10) * y[:, None]
        X[rng.random(X.shape) < 0.05] = np.nan
        yield X, y


selector = DFT(n_features_to_select=10)
for X, _ in blocks():  # first pass: where the cuts lie
    selector.learn_ranges(X)

print("rows seen  selected so far")
for number, (X, y) in enumerate(blocks(), start=1):  # second pass: count
    selector.partial_fit(X, y)
    if number in (1, 2, 5, 10, 20):
        print(f"{number * ROWS:9}  {selector.get_support(indices=True)}")

everything = list(blocks())
X = np.concatenate([X for X, _ in everything])
y = np.concatenate([y for _, y in everything])
whole = DFT(n_features_to_select=10).fit(X, y)
difference = np.abs(whole.scores_ - selector.scores_).max()
print(f"\nlargest difference from a fit on the whole table: {difference:.1e}")
assert difference < 1e-12

one_pass = DFT(n_features_to_select=10)
for X, y in blocks():  # the first block places the cuts
    one_pass.partial_fit(X, y)
difference = np.abs(whole.scores_ - one_pass.scores_).max()
print(f"with one pass, cuts placed by the first block:     {difference:.1e}")

known = DFT(n_features_to_select=10, ranges=(-5.0, 8.0))
for X, y in blocks():  # the ranges are known beforehand
    known.partial_fit(X, y)
same = (known.support_ == whole.support_).all()
print(f"with ranges given, the same columns are selected:  {same}")
