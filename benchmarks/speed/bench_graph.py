"""Speed and peak memory of the graph family over growing tables, for asv."""

import numpy as np

import tamis


class InfFS:
    params = ([60, 1_000], [200, 1_000, 3_000], ["double", "single"])
    param_names = ("n_samples", "n_features", "precision")

    def setup(self, n_samples, n_features, precision):
        self.X = np.random.default_rng(0).standard_normal((n_samples, n_features))
        self.selector = tamis.InfFS(precision=precision, n_features_to_select=10)
        self.selector.fit(self.X[:, :20])  # compile

    def time_fit(self, *parameters):
        self.selector.fit(self.X)

    def peakmem_fit(self, *parameters):
        self.selector.fit(self.X)

    def time_path(self, *parameters):
        tamis.inf_fs_path(self.X, np.linspace(0, 1, 5))


class ILFS:
    params = ([60, 1_000], [200, 3_000], [2, 10])
    param_names = ("n_samples", "n_features", "n_classes")

    def setup(self, n_samples, n_features, n_classes):
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((n_samples, n_features))
        self.y = np.arange(n_samples) % n_classes
        self.selector = tamis.ILFS(n_features_to_select=10).fit(self.X, self.y)

    def time_fit(self, *parameters):
        self.selector.fit(self.X, self.y)

    def peakmem_fit(self, *parameters):
        self.selector.fit(self.X, self.y)
