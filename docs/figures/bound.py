"""Figure of the page on bounds."""

import matplotlib.pyplot as plt

from tamis.plots import BoundDisplay

_, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for against, ax in zip(("n_steps", "n_meta_values", "n_selected"), axes, strict=True):
    BoundDisplay.from_parameters(
        n_samples=1_000_000,
        n_selected=100,
        n_meta_values=1408,
        against=against,
        quantity="nats",
        ax=ax,
    )
    ax.set_title("")
