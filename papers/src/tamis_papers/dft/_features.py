"""Deep features of MNIST and Fashion-MNIST, computed once and kept beside the results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tamis.data import atomic_path

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.dft import _network

FILES = {"mnist": "mnist", "fashion-mnist": "fashion_mnist"}
N_FEATURES = 400
# "Different standard deviation values": every image draws one of these, in units of the grey range.
NOISE = (0.1, 0.2, 0.3)
NOISE_REMARK = (
    "Noise: the paper says 'different standard deviation values' and no more. Here every image "
    "draws 0.1, 0.2 or 0.3 of the grey range, training and test images alike; values are cut to "
    "the range. The network is trained anew on the noisy images."
)


class NetworkSize(NamedTuple):
    """How many images the network learns from and how often; rows for selectors and learners."""

    network_rows: int
    epochs: int
    train_rows: int
    test_rows: int


FULL = NetworkSize(60_000, 10, 10_000, 10_000)
QUICK = NetworkSize(2_000, 5, 2_000, 2_000)


class Deep(NamedTuple):
    """Which features: everything they follow from, and the folder that keeps them."""

    folder: str
    data: str
    noisy: bool
    seed: int
    repeat: int
    size: NetworkSize

    @property
    def name(self) -> str:
        """The paper's name of the condition."""
        return f"{self.data} {'noisy' if self.noisy else 'clean'}"

    @property
    def path(self) -> Path:
        """Where the features are kept."""
        parts = (self.name.replace(" ", "-"), self.seed, self.repeat, *self.size)
        return Path(self.folder) / f"lenet-{'-'.join(map(str, parts))}.npz"

    def draws(self, purpose: int) -> np.random.Generator:
        """Random numbers for a purpose; clean and noisy images share their rows."""
        kind = list(FILES).index(self.data)
        return np.random.default_rng([self.seed, self.repeat, kind, purpose])


class Features(NamedTuple):
    """Training and test rows of 400 features, and the accuracy of the network itself."""

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]
    accuracy: float


def deep_features(run: ExperimentRun, data: str, *, noisy: bool = False, repeat: int = 0) -> Deep:
    """Say which features a run needs."""
    return Deep(str(run.folder), data, noisy, run.seed, repeat, QUICK if run.quick else FULL)


def remarks_on_network(run: ExperimentRun) -> list[str]:
    """What the paper leaves open of its network, and what a reduced run leaves out."""
    size = QUICK if run.quick else FULL
    remarks = [
        "Network: two convolutions of 5 x 5 (6 and 16 maps) with rectifiers and max-pooling, then "
        f"120, 84 and 10 units; Adam, rate 0.001, batches of 64, {size.epochs} epochs. The 400 "
        "features are the output of the second pooling: the paper says 'before the two FC layers', "
        "and only here are there 400 numbers.",
    ]
    if run.quick:
        remarks.append(
            f"Reduced: the network learns from {size.network_rows:,} images; there are "
            f"{size.train_rows:,} training and {size.test_rows:,} test rows."
        )
    return remarks


def number_of_networks(n: int) -> str:
    """What intervals mean in tables of several networks."""
    if n == 1:
        return "One network for every condition, so there are no intervals."
    return f"Intervals are over {n} networks from other random starts."


def accuracies(run: ExperimentRun, wanted: Iterable[Deep]) -> dict[Deep, float]:
    """Train every network that is needed; test accuracy of each in percent."""
    tasks = {deep: UnitTask(f"network/{deep.name}/{deep.repeat}", network_accuracy, (deep,))
             for deep in wanted}  # fmt: skip
    if any(not deep.path.is_file() for deep in tasks):
        _network.need_torch()  # say so before any work is done
    found = run.units(tasks.values())
    return {deep: found[task.name] for deep, task in tasks.items()}


def network_accuracy(deep: Deep) -> float:
    """Accuracy of the network in percent; its features are kept."""
    return 100 * load_features(deep).accuracy


def load_features(deep: Deep) -> Features:
    """Features from the file; computed where there is none."""
    if not deep.path.is_file():
        _save(deep.path, compute_features(deep))
    with np.load(deep.path) as file:
        arrays = {name: file[name] for name in Features._fields}
    return Features(**arrays | {"accuracy": float(arrays["accuracy"])})


def _save(path: Path, features: Features) -> None:
    with atomic_path(path, force=True) as temporary:
        np.savez_compressed(temporary, **features._asdict())


def compute_features(deep: Deep) -> Features:
    """Train the network and describe the rows that selectors and learners see."""
    from tamis import datasets

    bunch: Any = datasets.load(FILES[deep.data])
    labels, is_test = np.asarray(bunch.y, dtype=np.int64), np.asarray(bunch.split) == 1
    rng = deep.draws(0)
    learned = balanced_rows(labels, np.flatnonzero(~is_test), deep.size.network_rows, rng)
    tested = balanced_rows(labels, np.flatnonzero(is_test), deep.size.test_rows, rng)
    seen = balanced_rows(labels, learned, deep.size.train_rows, rng)
    images = (bunch.X / 255).astype(np.float32)
    if deep.noisy:
        images = with_noise(images, deep.draws(1))
    seed = int(deep.draws(2).integers(2**31))
    network = _network.train(images[learned], labels[learned], epochs=deep.size.epochs, seed=seed)
    test = network.describe(images[tested])
    accuracy = float((test.predicted == labels[tested]).mean())
    train = network.describe(images[seen]).features
    return Features(train, labels[seen], test.features, labels[tested], accuracy)


def balanced_rows(
    labels: NDArray[np.int64], rows: NDArray[np.intp], n: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """`n` of the rows with equal shares of the classes, or all of them; in rising order."""
    if n >= rows.size:
        return rows
    classes = np.unique(labels[rows])
    parts = [rng.permutation(rows[labels[rows] == label])[: n // classes.size] for label in classes]
    return np.sort(np.concatenate(parts))


def with_noise(images: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Images with Gaussian noise, of another strength each, cut to the grey range."""
    strength = rng.choice(np.array(NOISE, dtype=np.float32), size=(images.shape[0], 1))
    noise = rng.standard_normal(images.shape, dtype=np.float32)
    return np.clip(images + strength * noise, 0.0, 1.0)
