"""Print what meta-features of image patches are worth: predicted quality, and MF-PFS against RFE.

    TAMIS_DATA=... python benchmarks/quality/meta_patches.py [--quick] [--repeats 10]

Section 5 of Krupka, Navot and Tishby (2008) on the images at hand: coil20 (20 objects, 32 x 32) and
cbcl_faces (faces or not, 19 x 19). A repeat draws training and test images and prototypes from the
training images, and measures all prototypes once; every method gets the same columns.

1. Quality of 500 prototypes is measured, that of 500 others predicted from their meta-features
   alone and compared with what is measured for them in their own company. "Repeatable" is the
   correlation of the quality of the same 500 prototypes between two halves of the images: a map
   cannot be expected to know more than that. Contribution: drop of the correlation without a
   meta-feature. Quality is "svm_weights" (standardised columns, trained to the optimum), the same
   from a soft machine on columns as they are, closer to the online learner of the paper, and
   information gain.
2. Accuracy of a linear machine on test images with n prototypes selected from N = 10 n by MF-PFS,
   by RFE on all N, by RFE on as many random ones as MF-PFS measured, and at random. The first two
   qualities serve, each with a classifier on columns of the same kind.
"""

import argparse
import sys
import time

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import tamis
from tamis.meta import (
    MFPFS,
    ArraySource,
    PatchPrototypes,
    QualityMap,
    SourceRandom,
    SourceRFE,
    measure_quality,
)

# Images of a class to train on and to test on.
DATA = {"coil20": (6, 30), "cbcl_faces": (300, 800)}
COUNTS = (10, 25, 50, 100, 200)
N_MAP = 500


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def soft_machine(X, y):
    """Squared weights of a soft linear machine on centred columns of any deviation."""
    machine = LinearSVC(C=0.1, tol=1e-3, max_iter=5000).fit(X - X.mean(axis=0), y)
    return (machine.coef_**2).sum(axis=0)


QUALITIES = {
    "svm_weights": "svm_weights",
    "soft machine, plain columns": soft_machine,
    "information_gain": "information_gain",
}
SELECTING = list(QUALITIES)[:2]


def split(y, name, random):
    """Training and test images, the same number of every class."""
    n_train, n_test = DATA[name]
    train, test = [], []
    for label in np.unique(y):
        rows = random.permutation(np.flatnonzero(y == label))
        train.append(rows[:n_train])
        test.append(rows[n_train : n_train + n_test])
    return np.concatenate(train), np.concatenate(test)


def correlation(a, b):
    return float(np.corrcoef(a, b)[0, 1])


def predict_quality(values, y, meta, quality, seed):
    """Correlation of predicted and measured quality, of two measurements, and contributions."""
    first, second = slice(N_MAP), slice(N_MAP, 2 * N_MAP)
    known = measure_quality(quality, values[:, first], y)
    hidden = measure_quality(quality, values[:, second], y)

    def agreement(columns):
        fitted = QualityMap(random_state=seed).fit(meta[first][:, columns], known)
        return correlation(fitted.predict(meta[second][:, columns]), hidden)

    everything = list(range(meta.shape[1]))
    found = agreement(everything)
    drops = [found - agreement([j for j in everything if j != k]) for k in everything]
    halves = [measure_quality(quality, values[i::2, second], y[i::2]) for i in (0, 1)]
    return [found, correlation(*halves), *drops]


def classifier(quality):
    if quality == "svm_weights":
        return make_pipeline(StandardScaler(), LinearSVC(C=0.1, tol=1e-3, random_state=0))
    scaler = StandardScaler(with_std=False)
    return make_pipeline(scaler, LinearSVC(C=10.0, tol=1e-3, max_iter=5000, random_state=0))


def accuracies(train, y_train, test, y_test, meta, count, quality, seed):
    """Accuracy and number measured of the four methods."""
    columns = slice(10 * count)
    options = {"n_features_to_select": count, "random_state": seed}
    methods = [
        MFPFS(quality=QUALITIES[quality], **options),
        SourceRFE(quality=QUALITIES[quality], **options),
        SourceRFE(quality=QUALITIES[quality], **options),
        SourceRandom(**options),
    ]
    found = []
    for k, method in enumerate(methods):
        if k == 2:
            method.set_params(n_measured=methods[0].n_measured_)
        method.fit(ArraySource(train[:, columns], meta[columns]), y_train)
        chosen = np.flatnonzero(method.support_)
        machine = classifier(quality).fit(train[:, chosen], y_train)
        # Prototypes drawn at random are measured when they are used.
        n_measured = max(method.n_measured_, count)
        found.append((machine.score(test[:, chosen], y_test), n_measured))
    return found


def repeat(name, X, y, counts, seed):
    """Numbers of one repeat: of the map for every quality, and of the methods for every n."""
    random = np.random.default_rng(seed)
    train, test = split(y, name, random)
    n_prototypes = max(2 * N_MAP, 10 * max(counts))
    patches = PatchPrototypes(n_prototypes=n_prototypes, random_state=seed).fit(X[train])
    on_train, on_test = patches.transform(X[train]), patches.transform(X[test])
    say(f"{name}, repeat {seed}: {n_prototypes} prototypes measured on {len(train)} + {len(test)}")
    # Halves of the images that are alike: every second image of every class.
    both, labels = np.vstack([on_train, on_test]), np.concatenate([y[train], y[test]])
    order = np.argsort(labels, kind="stable")
    maps = [
        predict_quality(both[order], labels[order], patches.meta_, quality, seed)
        for quality in QUALITIES.values()
    ]
    say(f"{name}, repeat {seed}: quality predicted")
    tables = on_train, y[train], on_test, y[test], patches.meta_
    chosen = [
        [accuracies(*tables, count, quality, seed) for count in counts] for quality in SELECTING
    ]
    say(f"{name}, repeat {seed}: methods compared")
    return maps, chosen, patches.meta_names_


def interval(values):
    """Mean and half of a 95 % interval of the mean (normal)."""
    values = np.asarray(values)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.2f} +- {1.96 * error:.2f}"


def show_maps(maps, names):
    maps = np.array(maps)
    print("\npredicted against measured quality of 500 prototypes (mean, 95 % interval)")
    print(f"{'quality':28} {'correlation':>14} {'repeatable':>14}   contribution of")
    for k, quality in enumerate(QUALITIES):
        drops = ", ".join(
            f"{name} {drop:+.3f}" for name, drop in zip(names, maps[:, k, 2:].mean(0), strict=True)
        )
        print(f"{quality:28} {interval(maps[:, k, 0]):>14} {interval(maps[:, k, 1]):>14}   {drops}")


def show_methods(chosen, counts, quality):
    chosen = np.array(chosen)
    names = ("MF-PFS", "RFE on all", "RFE, as many", "random")
    print(f"\naccuracy on test images in %, standard error; number measured; quality: {quality}")
    print(f"{'n':>4} {'N':>5}" + "".join(f"{name:>26}" for name in names))
    for i, count in enumerate(counts):
        cells = []
        for k in range(len(names)):
            scores = 100 * chosen[:, i, k, 0]
            error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
            cells.append(f"{scores.mean():6.1f} +- {error:3.1f} ({chosen[:, i, k, 1].mean():6.1f})")
        print(f"{count:4} {10 * count:5}" + "".join(f"{cell:>26}" for cell in cells))
    gains = 100 * (chosen[:, :, 0, 0] - chosen[:, :, 2, 0])
    print(
        "MF-PFS less RFE on as many, paired, 95 % interval: "
        + ", ".join(f"n={n}: {interval(gains[:, i])}" for i, n in enumerate(counts))
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two repeats, n up to 50")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    counts = COUNTS[:3] if options.quick else COUNTS
    n_repeats = 2 if options.quick else options.repeats
    for name, (n_train, n_test) in DATA.items():
        data = tamis.datasets.load(name)
        X, y = np.asarray(data.X), np.asarray(data.y)
        runs = [repeat(name, X, y, counts, seed) for seed in range(n_repeats)]
        print(
            f"\n{name}: {len(np.unique(y))} classes, {n_train} images of each to train and "
            f"{n_test} to test, {n_repeats} repeats"
        )
        show_maps([run[0] for run in runs], runs[0][2])
        for k, quality in enumerate(SELECTING):
            show_methods([run[1][k] for run in runs], counts, quality)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
