"""What DFT finds: recovered columns, accuracy on rows not seen, stability; for asv."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamis


class Ternary:
    """The nine relevant columns of the OFW paper's mixture, among a hundred."""

    def setup(self):
        self.data = tamis.datasets.make_ofw_ternary(n_samples=2_000, random_state=0)

    def track_recovered_share(self):
        selector = tamis.DFT(n_features_to_select=9).fit(self.data.X, self.data.y)
        return float(np.isin(selector.order_[:9], self.data.relevant).mean())


class BreastCancer:
    params = (3, 10, "elbow")
    param_names = ("n_features_to_select",)

    def setup(self, rule):
        from sklearn.datasets import load_breast_cancer

        self.X, self.y = load_breast_cancer(return_X_y=True)

    def splits(self):
        for seed in range(10):
            yield train_test_split(self.X, self.y, test_size=1 / 3, random_state=seed)

    def track_accuracy(self, rule):
        scores = []
        for X, X_test, y, y_test in self.splits():
            selector = tamis.DFT(n_features_to_select=rule)
            model = make_pipeline(StandardScaler(), selector, LogisticRegression())
            scores.append(model.fit(X, y).score(X_test, y_test))
        return float(np.mean(scores))

    def track_mean_jaccard(self, rule):
        supports = [
            tamis.DFT(n_features_to_select=rule).fit(X, y).support_ for X, _, y, _ in self.splits()
        ]
        pairs = [(a, b) for i, a in enumerate(supports) for b in supports[:i]]
        return float(np.mean([(a & b).sum() / (a | b).sum() for a, b in pairs]))
