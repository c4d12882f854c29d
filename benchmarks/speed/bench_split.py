"""Speed and peak memory of DFT and RFT over growing tables, for asv."""

import numpy as np

import tamis


class Split:
    params = ([100, 1_000, 10_000], [100, 1_000], ["DFT", "RFT"], ["float32", "float64"])
    param_names = ("n_samples", "n_features", "selector", "dtype")

    def setup(self, n_samples, n_features, selector, dtype):
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((n_samples, n_features)).astype(dtype)
        self.y = rng.integers(0, 5, n_samples)
        self.selector = tamis.make_selector(selector.lower())
        self.selector.fit(self.X[:50], self.y[:50])  # compile

    def time_fit(self, *parameters):
        self.selector.fit(self.X, self.y)

    def peakmem_fit(self, *parameters):
        self.selector.fit(self.X, self.y)


class Bins:
    """Bins of equal shares against bins of equal width, on the same table in one run."""

    params = (
        [(62, 2_000), (10_000, 1_000)],
        ["DFT", "RFT", "MutualInformation", "InformationGain"],
    )
    param_names = ("shape", "selector")

    def setup(self, shape, selector):
        rng = np.random.default_rng(0)
        self.X, self.y = rng.standard_normal(shape), rng.integers(0, 2, shape[0])
        made = (tamis.make_selector(selector.lower(), bins=b) for b in ("uniform", "quantile"))
        self.uniform, self.quantile = (one.fit(self.X[:50], self.y[:50]) for one in made)

    def track_ratio(self, shape, selector):
        return self.seconds(self.quantile) / self.seconds(self.uniform)

    def seconds(self, selector):
        from timeit import repeat

        return min(repeat(lambda: selector.fit(self.X, self.y), number=1, repeat=7))


class Sparse:
    params = (0.001, 0.01, 0.1)
    param_names = ("density",)

    def setup(self, density):
        from scipy import sparse

        self.X = sparse.random_array((2_000, 20_000), density=density, format="csr", rng=0)
        self.y = np.random.default_rng(0).integers(0, 2, 2_000)
        tamis.DFT().fit(self.X[:50], self.y[:50])

    def time_fit(self, density):
        tamis.DFT().fit(self.X, self.y)


class ColdStart:
    """What a new process pays: import, and kernels loaded from the cache."""

    timeout = 60

    def time_import(self):
        self.run("import tamis")

    def time_first_fit(self):
        self.run("import tamis; tamis.DFT().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])")

    def run(self, code):
        import subprocess
        import sys

        subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
