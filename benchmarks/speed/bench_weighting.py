"""Evaluations of OFW and their memory over growing tables, for asv."""

import numpy as np

import tamis


class OFW:
    params = (["svm", "nn", "lda", "cart"], [(60, 1_000), (60, 10_000), (2_000, 100)])
    param_names = ("estimator", "shape")

    def setup(self, estimator, shape):
        self.X = np.random.default_rng(0).standard_normal(shape)
        self.y = np.arange(shape[0]) % 2
        self.X[:, :5] += self.y[:, None]
        self.selector = tamis.OFW(estimator=estimator, max_iter=500, tol=0.0, random_state=0)
        self.selector.fit(self.X[:, :20], self.y)  # compile

    def time_500_evaluations(self, *parameters):
        self.selector.fit(self.X, self.y)

    def peakmem_500_evaluations(self, *parameters):
        self.selector.fit(self.X, self.y)
