"""How sure is a selection? Three tables, three answers.

Needs the catalogued data sets (environment variable TAMIS_DATA); without them only the table of
noise is shown.
"""

import warnings

import numpy as np

import tamis
from tamis.certainty import FalseDiscoveries, FamilyWise, Knockoffs

warnings.simplefilter("ignore", tamis.exceptions.SelectionWarning)


def count(selector, rules, X, y):
    """Fit once, apply every rule, and print how many features it keeps."""
    selector.fit(X, y)
    for rule in rules:
        selector.recut(rule, X, y)
        method = ', method="by"' if getattr(rule, "method", "bh") == "by" else ""
        print(f"  {type(rule).__name__}({rule.level:g}{method}): {selector.n_selected_} features")
    return selector


# 60 rows of noise: every rule that states a level says that there is nothing.
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 2000)), rng.integers(0, 2, 60)
print("noise, 60 x 2,000")
print(f"  elbow: {tamis.Fisher(n_features_to_select='elbow').fit(X, y).n_selected_} features")
count(tamis.Fisher(), [FamilyWise(0.05), FalseDiscoveries(0.1), Knockoffs(0.1)], X, y)

try:
    tables = {name: tamis.datasets.load(name, return_X_y=True) for name in ("colon", "riboflavin")}
except (OSError, ValueError) as error:
    print(f"the other two tables are left out: {error}")
    tables = {}

# Colon: which genes differ between tumour and normal tissue? A marginal question.
if "colon" in tables:
    X, y = tables["colon"]
    print("colon, 62 x 2,000, tumour against normal")
    rules = [FamilyWise(0.05), FalseDiscoveries(0.1), FalseDiscoveries(0.1, method="by")]
    count(tamis.Fisher(), rules, np.log(np.asarray(X, float)), y)

# Riboflavin: which genes add something beyond all others? A conditional question, and with 71 rows
# and 4,088 strongly correlated genes a hard one.
if "riboflavin" in tables:
    X, y = tables["riboflavin"]
    print("riboflavin, 71 x 4,088, production rate")
    rules = [FalseDiscoveries(0.1), Knockoffs(0.1), Knockoffs(0.2)]
    count(tamis.Correlation(), rules, np.asarray(X, float), np.asarray(y, float))
