"""Print what weights learned by OFW bring on spambase, for one classifier and for a vote.

    TAMIS_DATA=... python benchmarks/quality/spambase.py

54 columns as in the paper, 3,450 messages to learn from and 1,151 held out, four nearest
neighbours on 15 columns; means over four random splits.
"""

import numpy as np
from sklearn.model_selection import train_test_split

import tamis

LEARNER = {"estimator": "nn", "estimator_params": {"n_neighbors": 4}}
OPTIONS = {**LEARNER, "subset_size": 15}


def errors(X, y, seed):
    train, test, y_train, y_test = train_test_split(
        X, y, train_size=3450, random_state=seed, stratify=y
    )
    learned = tamis.OFW(**OPTIONS, sample_size=400, random_state=seed).fit(train, y_train)
    found = []
    for n_subsets in (1, 100):
        for weights in (None, learned.weights_):
            machine = tamis.VotingSubsetClassifier(
                weights=weights, n_subsets=n_subsets, random_state=seed, **OPTIONS
            )
            if n_subsets == 1:  # the mean of many single ones
                machine.set_params(n_subsets=40).fit(train, y_train)
                found.append(single_errors(machine, test, y_test))
            else:
                found.append(1 - machine.fit(train, y_train).score(test, y_test))
    return found


def single_errors(machine, X, y):
    """Mean error of the classifiers of a vote, each by itself."""
    wrong = []
    for columns, estimator in zip(machine.subsets_, machine.estimators_, strict=True):
        found = machine.classes_[estimator.predict(machine._prepared(X, columns)).astype(int)]
        wrong.append(np.mean(found != y))
    return float(np.mean(wrong))


def main():
    data = tamis.datasets.load("spambase")
    X, y = np.asarray(data.X)[:, :54], np.asarray(data.y)
    table = 100 * np.array([errors(X, y, seed) for seed in range(4)])
    names = ["one, uniform", "one, learned", "vote, uniform", "vote, learned"]
    for name, column in zip(names, table.T, strict=True):
        print(f"{name:14} {column.mean():5.1f}%   {' '.join(f'{value:.1f}' for value in column)}")


if __name__ == "__main__":
    main()
