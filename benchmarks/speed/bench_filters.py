"""Speed and peak memory of filters and wrappers over growing tables, for asv."""

import numpy as np

import tamis

QUICK = [
    "anovaf", "correlation", "fcbf", "fisher", "informationgain", "mrmr", "mutualinformation",
    "randomranking", "variance",
]  # fmt: skip
SLOW = [
    "cfs", "fsv", "gflip", "l0svm", "laplacianscore", "llcfs", "mcfs", "relieff", "svmrfe",
    "treeimportance", "udfs",
]  # fmt: skip


class Selector:
    def setup(self, name, shape):
        n_samples, n_features = shape
        rng = np.random.default_rng(0)
        self.X, self.y = rng.standard_normal((n_samples, n_features)), np.arange(n_samples) % 2
        self.X[:, :5] += self.y[:, None]
        self.selector = tamis.make_selector(name, n_features_to_select=10)
        if "random_state" in self.selector.get_params():
            self.selector.set_params(random_state=0)
        self.selector.fit(self.X[:, :20], self.y)  # compile

    def time_fit(self, *parameters):
        self.selector.fit(self.X, self.y)

    def peakmem_fit(self, *parameters):
        self.selector.fit(self.X, self.y)


class Quick(Selector):
    params = (QUICK, [(60, 2_000), (1_000, 1_000), (10_000, 1_000)])
    param_names = ("name", "shape")


class Slow(Selector):
    params = (SLOW, [(60, 500), (60, 2_000), (500, 200)])
    param_names = ("name", "shape")
    timeout = 300
