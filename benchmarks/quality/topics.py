"""How strongly ILFS should hold on to its topics: the evidence for the default of `anchor`.

    TAMIS_DATA=... python benchmarks/quality/topics.py

A linear SVM on columns scaled by the training part; mean accuracy over 10, 50, 100, 150 and 200
columns and 20 stratified splits with 30% held out. Selection sees the training part only.
"""

import numpy as np
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import tamis

SIZES = (10, 50, 100, 150, 200)
# Name, and how many of the classes are used (None: all).
SETS = {
    "prostate_ge": None,
    "lymphoma_45": None,
    "colon": None,
    "leukemia": None,
    "lung_small_disc": None,
    "orl": 12,
    "warpar10p": None,
}
METHODS = {
    "f_classif": None,
    "free": tamis.ILFS(topics="free", max_iter=5000),
    **{f"anchor {a:g}": tamis.ILFS(anchor=a) for a in (0.1, 1.0, 10.0, 100.0, np.inf)},
}


def order(method, X, y):
    if method is None:
        return np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")
    return method.set_params(n_features_to_select="all").fit(X, y).order_


def accuracy(method, X, y, train, test):
    scaler = StandardScaler().fit(X[train])
    A, B = scaler.transform(X[train]), scaler.transform(X[test])
    best = order(method, X[train], y[train])
    scores = [
        SVC(kernel="linear").fit(A[:, best[:k]], y[train]).score(B[:, best[:k]], y[test])
        for k in SIZES
    ]
    return float(np.mean(scores))


def load(name, n_classes):
    data = tamis.datasets.load(name)
    X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    used = y < (n_classes or y.max() + 1)
    return X[used], y[used]


def main():
    table = {label: [] for label in METHODS}
    errors = []
    for name, n_classes in SETS.items():
        X, y = load(name, n_classes)
        splits = StratifiedShuffleSplit(20, test_size=0.3, random_state=1)
        for label, method in METHODS.items():
            scores = [accuracy(method, X, y, *split) for split in splits.split(X, y)]
            table[label].append(100 * np.mean(scores))
            errors.append(100 * np.std(scores, ddof=1) / np.sqrt(len(scores)))
    print("| method |", " | ".join(SETS), "| mean |")
    print("|---" * (len(SETS) + 2) + "|")
    for label, row in table.items():
        print(f"| {label} |", " | ".join(f"{v:.1f}" for v in row), f"| {np.mean(row):.1f} |")
    print(f"Standard error of one number over the splits: {min(errors):.1f} to {max(errors):.1f}.")


if __name__ == "__main__":
    main()
