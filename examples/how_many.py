"""One fit, every rule: how many columns are enough?"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from tamis import DFT
from tamis.cutoff import (
    Budget,
    CrossValidated,
    Elbow,
    Fraction,
    Mass,
    PermutationNull,
    Threshold,
    TopK,
)

data = load_breast_cancer(as_frame=True)
rng = np.random.default_rng(0)
X = data.data.join(data.data.apply(rng.permutation).add_prefix("shuffled "))
y = data.target
selector = DFT().fit(X, y)

prices = {name: 5.0 if name.startswith("worst") else 1.0 for name in data.data}
rules = {
    "TopK(10)": TopK(10),
    "Fraction(0.1)": Fraction(0.1),
    "Threshold(0.3)": Threshold(0.3),
    'Elbow("early")': Elbow("early"),
    'Elbow("late")': Elbow("late"),
    "Mass(0.9)": Mass(0.9),
    "Budget(prices, 12)": Budget(prices | dict.fromkeys(X.columns[30:], 1.0), 12),
    "PermutationNull(0.05)": PermutationNull(0.05),
    "CrossValidated(model)": CrossValidated(GaussianNB()),
}

noise = X.columns.str.startswith("shuffled")
print(f"{X.shape[1]} columns, {noise.sum()} of them shuffled, so useless for certain\n")
print(f"{'rule':24}columns  shuffled  what the rule found out")
for name, rule in rules.items():
    selector.recut(rule, X, y)
    found = ", ".join(
        f"{k} {v:.3g}" for k, v in selector.cut_details_.items() if isinstance(v, int | float)
    )
    n_noise = int((selector.support_ & noise).sum())
    print(f"{name:24}{selector.n_selected_:7}  {n_noise:8}  {found}".rstrip())

sizes = ["worst radius", "worst perimeter", "worst area"]
for title, rule in {
    "TopK(4)": TopK(4),
    "with mean texture whatever its score": TopK(4, keep=["mean texture"]),
    "with the three sizes standing or falling together": TopK(4, groups=[sizes]),
}.items():
    print(f"\n{title}:\n ", ", ".join(selector.recut(rule).get_feature_names_out()))
