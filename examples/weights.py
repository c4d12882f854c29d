"""Learn how often columns should be drawn, look at the weights, and let drawn subsets vote."""

import matplotlib

matplotlib.use("agg")

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from tamis import OFW, VotingSubsetClassifier
from tamis.cutoff import Mass
from tamis.plots import EnergyDisplay, TopWeightsDisplay

data = load_breast_cancer(as_frame=True)
train, test, y_train, y_test = train_test_split(
    data.data, data.target, random_state=0, stratify=data.target
)

selector = OFW(subset_size=4, draws_per_step=8, max_iter=2000, n_restarts=2, random_state=0)
selector.fit(train, y_train)
print(f"error of the draws: {selector.energy_[0]:.3f} at first, {selector.energy_[-1]:.3f} at last")
print(f"entropy of the weights: {selector.entropy_:.1f} bits, {selector.status_}")
for j in selector.order_[:5]:
    weight, spread = selector.weights_[j], selector.weights_spread_[j]
    print(f"{weight:.3f} +- {spread:.3f}  {data.data.columns[j]}")

few = selector.recut(Mass(0.8))
print(f"{few.n_selected_} of {train.shape[1]} columns hold 80% of the weight")

for name, weights in (("uniform", None), ("learned", selector.weights_)):
    vote = VotingSubsetClassifier(weights=weights, n_subsets=50, subset_size=4, random_state=0)
    accuracy = vote.fit(train, y_train).score(test, y_test)
    print(f"vote of 50 classifiers, {name} weights: {accuracy:.3f}")

EnergyDisplay.from_estimator(selector).figure_.savefig("energy.png")
TopWeightsDisplay.from_estimator(selector).figure_.savefig("top-weights.png")
