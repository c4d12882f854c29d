"""Rank the same columns by several methods, and see how far they agree."""

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer

import tamis

data = load_breast_cancer()
names = ["dft", "fisher", "mutualinformation", "relieff", "svmrfe", "treeimportance"]
names += ["randomranking"]  # the control
ranks = {}
for name in names:
    selector = tamis.make_selector(name, n_features_to_select="all")
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    if "scale" in selector.get_params():
        selector.set_params(scale=True)
    ranks[name] = selector.fit(data.data, data.target).ranking_

print("rank correlation with dft:")
for name in names[1:]:
    print(f"{spearmanr(ranks['dft'], ranks[name]).statistic:6.2f}  {name}")

mean = np.mean([ranks[name] for name in names[:-1]], axis=0)
print("best by mean rank:", ", ".join(data.feature_names[np.argsort(mean)[:4]]))

# Methods that look for a set, and say how many columns it has.
for name in ("fcbf", "cfs", "fsv"):
    selector = tamis.make_selector(name).fit(data.data, data.target)
    print(f"{name}: {selector.n_selected_} columns, first {data.feature_names[selector.order_[0]]}")
