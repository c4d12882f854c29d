"""Print the speed of patch distances against loops of scipy cross-correlations.

    python benchmarks/meta/patches.py

Both sides start from the same filtered images and do the same work: the smallest squared distance
of every image and prototype. The peer is what one would write with scipy: a valid correlation
(`method="auto"`) for every image, prototype, band and orientation, or one over three axes for all
orientations at once; box sums of squares are made once for an image, a band and a size. One thread
on both sides, the best of several turns each; then the rate with all cores on more images, in the
share of a plain single-precision matrix product measured in the same run.
"""

import sys
import time
from pathlib import Path

import numpy as np
from scipy import signal
from threadpoolctl import threadpool_limits

from tamis.meta import PatchPrototypes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import best

TURNS = 3


def images_of(n_images, side):
    """Smooth random images."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n_images, side + 4, side + 4))
    return sum(noise[:, i : i + side, i : i + side] for i in range(5))


def correlations(bands, prototypes, *, all_axes):
    """Smallest squared distances by correlations, one call each."""
    n_images = len(bands[0])
    found = np.full((n_images, len(prototypes)), np.inf)
    for i in range(n_images):
        boxes = {}
        for j, prototype in enumerate(prototypes):
            size = len(prototype)
            for b, band in enumerate(bands):
                image = band[i]
                if min(image.shape[:2]) < size:
                    continue
                if (b, size) not in boxes:
                    ones = np.ones((size, size))
                    boxes[b, size] = signal.correlate((image**2).sum(axis=-1), ones, mode="valid")
                if all_axes:
                    product = signal.correlate(image, prototype, mode="valid")[..., 0]
                else:
                    product = sum(
                        signal.correlate(image[..., k], prototype[..., k], mode="valid")
                        for k in range(image.shape[-1])
                    )
                squared = boxes[b, size] - 2 * product + (prototype**2).sum()
                found[i, j] = min(found[i, j], squared.min())
    return found


def compare(side, n_images, n_prototypes):
    images = images_of(n_images, side)
    model = PatchPrototypes(n_prototypes=n_prototypes, random_state=0, beta=0.01, n_jobs=1)
    model.fit(images)
    source = model.source(images)
    bands = [band.astype(np.float64) for band in source._bands]
    prototypes = [p.astype(np.float64) - model._centre for p in model.prototypes_]
    wanted = np.arange(n_prototypes)

    def ours():
        return source.measure(wanted)

    for all_axes in (False, True):

        def theirs(all_axes=all_axes):
            return correlations(bands, prototypes, all_axes=all_axes)

        np.testing.assert_allclose(ours(), np.exp(-0.01 * theirs()), rtol=1e-5, atol=1e-7)
        fast, slow = best(ours, theirs, repeats=TURNS)
        kind = "over three axes" if all_axes else "per orientation"
        print(
            f"{side:4} x {side:<4} {n_images:4} images x {n_prototypes:4} prototypes, correlations "
            f"{kind}: {1e3 * fast:8.1f} ms {1e3 * slow:9.1f} ms  {slow / fast:6.1f}x   at least "
            f"10x: {'yes' if slow >= 10 * fast else 'NO'}",
            flush=True,
        )


def product_rate(n_threads):
    """GFLOP/s of a product of the shape of one step."""
    rng = np.random.default_rng(0)
    a, b = (rng.random(s, dtype=np.float32) for s in ((2048, 1025), (1025, 2048)))
    with threadpool_limits(n_threads, user_api="blas"):
        return 2 * 2048 * 1025 * 2048 / fastest(lambda: a @ b) / 1e9


def fastest(function):
    times = []
    for _ in range(TURNS + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def rates(side, n_images, n_prototypes):
    images = images_of(n_images, side)
    for n_jobs in (1, None):
        model = PatchPrototypes(n_prototypes=n_prototypes, random_state=0, n_jobs=n_jobs)
        model.fit(images)
        filtering = fastest(lambda model=model: model.source(images))
        source = model.source(images)
        took = fastest(lambda s=source: s.measure(np.arange(n_prototypes)))
        rate = 2 * model.cost_.sum() * n_images / took / 1e9
        peak = product_rate(n_jobs)
        print(
            f"{side:4} x {side:<4} {n_images:4} images x {n_prototypes:4} prototypes, "
            f"{'1 thread ' if n_jobs else 'all cores'}: filtering {n_images / filtering:6.0f} "
            f"images/s, distances {n_images * n_prototypes / took:9.0f} prototypes x images/s, "
            f"{rate:5.1f} GFLOP/s of {peak:5.1f} of a matrix product ({rate / peak:.0%})",
            flush=True,
        )


def main():
    compare(19, 40, 100)
    compare(32, 20, 100)
    compare(140, 2, 40)
    rates(19, 1000, 1000)
    rates(32, 300, 1000)
    rates(140, 8, 400)


if __name__ == "__main__":
    main()
