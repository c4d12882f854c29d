"""What filters, wrappers and OFW find among probes, for asv."""

import numpy as np

import tamis

NAMES = [name for name in tamis.list_selectors() if name not in ("rft", "inffscv")]


class Planted:
    """Ten columns of class means among 190 columns of noise, 100 rows."""

    params = NAMES
    param_names = ("name",)
    timeout = 300

    def track_recovered_share(self, name):
        rng = np.random.default_rng(0)
        y = np.arange(100) % 3
        X = rng.standard_normal((100, 200))
        X[:, :10] += rng.normal(size=(3, 10))[y]
        selector = tamis.make_selector(name, n_features_to_select=10)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=0)
        return float(selector.fit(X, y).get_support()[:10].mean())
