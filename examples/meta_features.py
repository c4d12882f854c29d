"""Features that are not measured yet: learn from a few what good ones look like.

Each candidate is the product of two pixels of a digit, 2,016 in all, and we pretend that a
product is expensive. Where the two pixels lie is known for nothing.
"""

from itertools import combinations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from tamis import MFPFS, AndOrFeatures, FeatureSource, Mufasa
from tamis.meta import SourceRandom

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
PAIRS = np.array(list(combinations(range(64), 2)))


class Products(FeatureSource):
    """Products of two pixels of 8 x 8 images; row, column and distance of the pixels are known."""

    def __init__(self, images):
        self.images = images
        rows, columns = PAIRS // 8, PAIRS % 8
        distance = np.hypot(np.ptp(rows, axis=1), np.ptp(columns, axis=1))
        self.meta = np.column_stack([rows.mean(axis=1), columns.mean(axis=1), distance])

    def measure(self, indices):
        first, second = PAIRS[indices].T
        return self.images[:, first] * self.images[:, second] / 256


def accuracy(selector, source):
    """Of a linear SVM on the selected candidates."""
    model = LinearSVC(C=0.1).fit(selector.transform(source), y_train)
    return model.score(selector.transform(Products(X_test)), y_test)


source = Products(X_train)
chosen = MFPFS(n_features_to_select=60, random_state=0).fit(source, y_train)
print(f"MFPFS: measured {chosen.n_measured_} of {len(PAIRS)}; {accuracy(chosen, source):.3f}")
for entry in chosen.history_:
    print(f"  {entry['n_candidates']} candidates, map correlates {entry['correlation']:.2f}")

chance = [
    accuracy(SourceRandom(n_features_to_select=60, random_state=seed).fit(source, y_train), source)
    for seed in range(5)
]
print(f"random products: {np.mean(chance):.3f} (five draws)")

# Without a list of candidates: a search among the properties of pixel patterns.
generator = AndOrFeatures(image_shape=(8, 8), threshold=7.5, max_shift=3, max_inputs=4)
search = Mufasa(generator=generator, budget=400, n_steps=25, random_state=0).fit(X_train, y_train)
model = LinearSVC(C=0.1).fit(search.transform(X_train), y_train)
print(f"Mufasa: {search.n_selected_} patterns for {search.cost_:.0f}, best at {search.best_point_}")
test = model.score(search.transform(X_test), y_test)
print(f"  in the search {search.best_score_:.3f}, on test {test:.3f}")
