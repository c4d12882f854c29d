"""Choose the number of columns by cross-validation, with selection inside the folds.

The weights of the rows go to the selector, the model and the score by metadata routing.
"""

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from tamis import DFT

rng = np.random.default_rng(0)
y = np.arange(120) % 2
X = rng.normal(size=(120, 2000))
X[:, :5] += 1.1 * y[:, None]  # only the first five columns matter
weight = rng.choice([1.0, 3.0], size=120)

with sklearn.config_context(enable_metadata_routing=True):
    pipeline = Pipeline(
        [
            ("select", DFT().set_fit_request(sample_weight=True)),
            ("model", LogisticRegression().set_fit_request(sample_weight=True)),
        ]
    )
    search = GridSearchCV(
        pipeline,
        {"select__n_features_to_select": [1, 3, 5, 10, 30, 2000]},
        scoring=make_scorer(accuracy_score).set_score_request(sample_weight=True),
    )
    search.fit(X, y, sample_weight=weight)

print("columns  accuracy on held-out rows")
for tried, mean in zip(
    search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
):
    print(f"{tried['select__n_features_to_select']:7}  {mean:.3f}")
best = search.best_estimator_["select"]
print(f"best: {best.n_selected_} columns, {best.get_support(indices=True)}")

shuffled = rng.permutation(y)
honest = make_pipeline(DFT(n_features_to_select=10), LogisticRegression())
inside = cross_val_score(honest, X, shuffled).mean()
chosen_before = DFT(n_features_to_select=10).fit_transform(X, shuffled)
outside = cross_val_score(LogisticRegression(), chosen_before, shuffled).mean()
print("\nWith a shuffled target, where nothing can be learned:")
print(f"  columns selected inside the folds:   {inside:.2f}")
print(f"  columns selected once, on all rows:  {outside:.2f}   (this is the mistake)")
