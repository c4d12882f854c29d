"""Figure of the page on Mufasa."""

from sklearn.datasets import load_digits

from tamis import AndOrFeatures, Mufasa
from tamis.plots import SearchDisplay

X, y = load_digits(return_X_y=True)
generator = AndOrFeatures(image_shape=(8, 8), threshold=7.5, max_shift=3, max_inputs=4)
search = Mufasa(generator=generator, budget=200, n_steps=30, random_state=0)
SearchDisplay.from_estimator(search.fit(X[:600], y[:600]))
