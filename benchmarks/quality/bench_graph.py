"""What Inf-FS and ILFS find, for asv."""

import numpy as np

import tamis


class Ternary:
    """The nine relevant columns of the OFW paper's mixture, among a hundred."""

    def setup(self):
        self.data = tamis.datasets.make_ofw_ternary(n_samples=2_000, random_state=0)

    def track_recovered_share(self):
        selector = tamis.ILFS(n_features_to_select=9).fit(self.data.X, self.data.y)
        return float(np.isin(selector.order_[:9], self.data.relevant).mean())


class IrisCombinations:
    """Mean rank of iris's own columns among combinations of them."""

    params = ("linear", "sine")
    param_names = ("kind",)

    def track_mean_rank(self, kind):
        ranks = [
            tamis.InfFS(alpha=0.0, n_features_to_select="all").fit(data.X).ranking_[:4].mean()
            for data in (
                tamis.datasets.make_iris_combinations(kind=kind, random_state=seed)
                for seed in range(20)
            )
        ]
        return float(np.mean(ranks))
