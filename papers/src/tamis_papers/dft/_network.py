"""A network like LeNet-5: the 400 numbers before its fully connected layers are the features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tamis.exceptions import MissingDependencyError

SIDE = 28
BATCH = 64
RATE = 1e-3
# Rows that go through the network at a time when nothing is learned.
BLOCK = 2000


class Described(NamedTuple):
    """What a network makes of images: 400 features and a class each."""

    features: NDArray[np.float32]
    predicted: NDArray[np.int64]


class Network:
    """A trained network.

    Parameters
    ----------
    convolutions, classifier : torch modules
        From images to features, and from features to classes.
    """

    def __init__(self, convolutions: Any, classifier: Any):
        self.convolutions, self.classifier = convolutions, classifier

    def describe(self, images: NDArray[np.float32]) -> Described:
        """Features and predicted classes of images."""
        torch = need_torch()
        features, predicted = [], []
        with torch.no_grad(), _one_thread(torch):
            for start in range(0, images.shape[0], BLOCK):
                block = self.convolutions(_as_tensor(torch, images[start : start + BLOCK]))
                features.append(block.numpy())
                predicted.append(self.classifier(block).argmax(dim=1).numpy())
        return Described(np.concatenate(features), np.concatenate(predicted))


def need_torch() -> Any:
    """The package torch, or an error that says how to get it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise MissingDependencyError(
            f"reproduce: expected the package torch for the deep features of the DFT paper, got "
            f"{error}. Run pip install 'tamis-papers[repro]'."
        ) from error


def train(
    images: NDArray[np.float32], labels: NDArray[np.int64], *, epochs: int, seed: int
) -> Network:
    """Train the network on images of 28 x 28 values in [0, 1].

    On one thread, so that the result does not depend on the number of cores.
    """
    torch = need_torch()
    with torch.random.fork_rng(devices=[]), _one_thread(torch):
        torch.manual_seed(seed)
        convolutions, classifier = _layers(torch.nn)
        network = torch.nn.Sequential(convolutions, classifier)
        optimiser = torch.optim.Adam(network.parameters(), RATE)
        loss = torch.nn.CrossEntropyLoss()
        X, y = _as_tensor(torch, images), torch.from_numpy(labels)
        for _ in range(epochs):
            for rows in torch.randperm(y.shape[0]).split(BATCH):
                optimiser.zero_grad()
                loss(network(X[rows]), y[rows]).backward()
                optimiser.step()
    return Network(convolutions, classifier)


def _layers(nn: Any) -> tuple[Any, Any]:
    """Sizes of LeNet-5; rectifiers and largest values in place of its sigmoids and means."""
    convolutions = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    )  # fmt: skip
    classifier = nn.Sequential(
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)
    )
    return convolutions, classifier


def _as_tensor(torch: Any, images: NDArray[np.float32]) -> Any:
    return torch.from_numpy(np.ascontiguousarray(images).reshape(-1, 1, SIDE, SIDE))


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
