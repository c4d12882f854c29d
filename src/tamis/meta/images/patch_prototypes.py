"""PatchPrototypes: how near an image comes to patches of other images, anywhere, at any scale."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from tamis._base import BaseSelector
from tamis._runtime.threads import effective_jobs, run_parts
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Custom, Number, check_parameters
from tamis.exceptions import InputError
from tamis.meta.images import _patches
from tamis.meta.images._patches import Bands, Floats, GaborLayer, group_by_size, squared_distances
from tamis.meta.sources.feature_source import FeatureSource

# An automatic beta gives exp(-0.3) at the median distance of so many images and prototypes.
# Accuracy on objects and faces was flat from 0.1 to 0.3 and fell beyond 1.
EXPONENT_AT_MEDIAN = 0.3
BETA_IMAGES, BETA_PROTOTYPES = 64, 256


def _are_sizes(value: Any) -> bool:
    many = isinstance(value, tuple | list | np.ndarray) and len(value) > 0
    return many and all(Number(int, 1).allows(size) for size in value)


def _is_beta(value: Any) -> bool:
    number = Number(float, 0, open_low=True, open_high=True)
    return value in ("auto", "size") if isinstance(value, str) else number.allows(value)


@dataclass(kw_only=True, eq=False, repr=False)
class PatchPrototypes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features of images: likeness to prototype patches, wherever and however large.

    Images are filtered with Gabor filters of several orientations and scales, and the absolute
    responses replaced by their maximum over neighbouring places and two adjacent scales. A
    prototype is a square patch of this representation, drawn from a random image. Its value on an
    image is ``exp(-beta d^2)``, where d is the Euclidean distance to the nearest patch of that
    image. Prototypes are many, expensive to measure and easy to describe: see `source`.

    Parameters
    ----------
    n_prototypes : int, default=1000
        Prototypes to draw. Sizes take turns, so each has its equal share of them.
    patch_sizes : tuple of int, default=(4, 8, 12, 16)
        Sides of the prototypes, in places of the representation. Sizes too large for the images
        are left out with a warning.
    n_orientations : int, default=4
        Orientations of the filters.
    n_scales : int or None, default=None
        Sizes of filters, an even number: two of them make a band. ``None`` takes as many as stay
        within two thirds of the image, 2 to 16 (8 for 32 x 32, 4 for 19 x 19 pixels).
    filter_size : int or None, default=None
        Side of the smallest filter, odd; each scale adds 2. ``None`` is 7, below 64 pixels 5.
    pool_size : int or None, default=None
        Side of the square over which the first band takes its maximum; each band adds 2. Squares
        overlap by half, so a band has ``1 / (pool // 2)`` of the resolution of the image. ``None``
        is 8, or less where the first band would not be twice as wide as the largest patch.
    normalize : bool, default=False
        Divide responses by the norm of the pixels, so that faint and strong contrast count alike.
    beta : float, "auto" or "size", default="auto"
        Sharpness, for squared distances of the representation of images divided by `scale_`.
        ``"auto"`` is 0.3 over the median squared distance of training images to prototypes,
        ``"size"`` one such number for every patch size.
    image_shape : tuple of int or None, default=None
        Rows and columns of an image given as a line of pixels; ``None``: images are square.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawing.
    n_jobs : int or None, default=None
        Threads; ``None`` means all cores. The result does not depend on it.

    Attributes
    ----------
    prototypes_ : list of ndarray of shape (size, size, n_orientations)
        The patches, float32.
    origins_ : ndarray of shape (n_prototypes, 4)
        Image, band, row and column each was taken from.
    meta_, meta_names_ : ndarray of shape (n_prototypes, 6), list of str
        Size, mean, deviation, peak, quantiles 0.3 and 0.7 of every prototype, and their names.
    cost_, beta_ : ndarray of shape (n_prototypes,)
        Multiplications to measure a prototype on one image, and its sharpness.
    scale_ : float
        Standard deviation of the training pixels, the unit of images.
    image_shape_, n_features_in_ : tuple of int, int
        Rows and columns of an image, and its pixels.
    filter_sizes_, pool_sizes_ : tuple of int
        The filters used, and the squares of the maxima of every band.

    See Also
    --------
    MFPFS : Choose prototypes while measuring few of them.
    AndOrFeatures : Cheap features of black and white images.

    Notes
    -----
    A column costs images times places times values of a patch, as a matrix product in single
    precision: values are right to about six digits. It takes about 12 MiB a thread besides the
    bands of a block; a source keeps the bands of all its images (23 kB for one of 32 x 32 pixels,
    with the defaults). Missing and infinite pixels are an error.

    Where the paper [1]_ (section 5) gives no numbers, those of Serre et al. [2]_ are taken. The
    paper says nothing on beta. With a large one, or one for all sizes, the values of large detailed
    patches are near 0 for most images, those of small plain ones near 1. See
    :doc:`/families/images` for the filters and for departures from the paper.

    References
    ----------
    .. [1] E. Krupka, A. Navot, N. Tishby, "Learning to Select Features using their Properties",
       Journal of Machine Learning Research 9, 2349-2376, 2008.
    .. [2] T. Serre, L. Wolf, S. Bileschi, M. Riesenhuber, T. Poggio, "Robust Object Recognition
       with Cortex-like Mechanisms", IEEE PAMI 29(3), 411-426, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import PatchPrototypes
    >>> images = np.random.default_rng(0).random((20, 256))
    >>> patches = PatchPrototypes(n_prototypes=6, patch_sizes=(4, 8), random_state=0)
    >>> patches.fit_transform(images).shape
    (20, 6)
    >>> patches.source(images).measure([0, 5]).shape
    (20, 2)
    """

    n_prototypes: int = 1000
    patch_sizes: tuple[int, ...] = (4, 8, 12, 16)
    n_orientations: int = 4
    n_scales: int | None = None
    filter_size: int | None = None
    pool_size: int | None = None
    normalize: bool = False
    beta: float | str = "auto"
    image_shape: tuple[int, int] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_prototypes": Number(int, 1),
        "patch_sizes": Custom(_are_sizes, "one or more ints of at least 1"),
        "n_orientations": Number(int, 1),
        "n_scales": Custom(
            lambda value: value is None or (Number(int, 2).allows(value) and value % 2 == 0),
            "an even int of at least 2, or None",
        ),
        "filter_size": Custom(
            lambda value: value is None or (Number(int, 3).allows(value) and value % 2 == 1),
            "an odd int of at least 3, or None",
        ),
        "pool_size": Number(int, 1, or_none=True),
        "normalize": Custom(lambda value: isinstance(value, bool | np.bool_), "True or False"),
        "beta": Custom(_is_beta, "a float above 0, 'auto' or 'size'"),
        "image_shape": Custom(
            lambda value: value is None or (_are_sizes(value) and len(value) == 2),
            "two ints (rows, columns) of at least 1, or None",
        ),
        "n_jobs": N_JOBS,
    }

    _forget = BaseSelector._forget

    def fit(self, X: Any, y: Any = None) -> PatchPrototypes:
        """Draw prototypes from images.

        Parameters
        ----------
        X : array-like of shape (n_images, n_pixels) or (n_images, rows, columns)
            Grey values.
        y : None
            Ignored.
        """
        check_parameters(self, self._constraints)
        random = check_random_state(self.random_state)
        self._forget()
        images = self._check_images(X, reset=True)
        self._choose_sizes()
        layer = self._layer()
        sizes = np.resize(self._fitting_sizes(layer), self.n_prototypes)
        self.scale_ = _patches.pixel_deviation(images, layer.block)
        origins = _patches.draw_origins(sizes, layer.shapes, len(images), random)
        with _one_blas_thread():
            found = _patches.cut_out(layer, images, self.scale_, origins, sizes)
        self.prototypes_, self.origins_ = found, origins
        self.meta_ = _patches.describe(found)
        self.meta_names_ = list(_patches.META_NAMES)
        n_places = {size: _patches.count_places(layer.shapes, size) for size in np.unique(sizes)}
        n_values = sizes.astype(float) ** 2 * self.n_orientations
        self.cost_ = n_values * [n_places[size] for size in sizes]
        # Mean of every orientation over all values of all prototypes.
        lines = np.concatenate([one.reshape(-1, self.n_orientations) for one in found])
        self._centre = lines.mean(axis=0, dtype=np.float64).astype(np.float32)
        self.beta_ = self._sharpness(images, sizes, random)
        return self

    def transform(self, X: Any) -> Floats:
        """Values of all prototypes on images, of shape (n_images, n_prototypes).

        They are in [0, 1]; 1 where the patch itself is found.

        Parameters
        ----------
        X : array-like
            Images as in `fit`.
        """
        check_is_fitted(self, "beta_")
        images = self._check_images(X, reset=False)
        return np.exp(-self.beta_ * self._distances_to(images, len(self.prototypes_)))

    def source(self, X: Any) -> FeatureSource:
        """Make a :class:`FeatureSource` of the prototypes, measured on `X` when asked for.

        Parameters
        ----------
        X : array-like
            Images as in `fit`. They are filtered at once, and the representation is kept.
        """
        check_is_fitted(self, "beta_")
        images = self._check_images(X, reset=False)
        layer = self._layer()
        shapes = [(len(images), *shape, self.n_orientations) for shape in layer.shapes]
        bands = [np.empty(shape, dtype=np.float32) for shape in shapes]

        def filter_block(some: slice) -> None:
            for whole, band in zip(bands, self._bands(layer, images[some]), strict=True):
                whole[some] = band

        self._in_blocks(filter_block, len(images))
        # A copy, so that another fit does not change what this source measures.
        return PatchSource(copy.copy(self), bands)

    def _check_images(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Images of shape (n_images, rows, columns), of the type they came in."""
        lines, shape = _patches.as_lines(X)
        lines = np.asarray(validate_data(self, lines, dtype="numeric", reset=reset))
        wanted: Any = self.image_shape if reset else self.image_shape_  # type: ignore[has-type]
        found = _patches.shape_of(lines.shape[1], shape, wanted)
        if reset:
            self.image_shape_ = found
        return lines.reshape(len(lines), *found)

    def _choose_sizes(self) -> None:
        """Fix the sizes of filters and squares that were left open."""
        side = min(self.image_shape_)
        smallest = self.filter_size or _patches.default_filter_size(side)
        n_scales = self.n_scales or _patches.default_n_scales(side, smallest)
        pool = self.pool_size or _patches.default_pool_size(side, int(max(self.patch_sizes)))
        self.filter_sizes_ = tuple(int(smallest + 2 * i) for i in range(n_scales))
        self.pool_sizes_ = tuple(int(pool + 2 * i) for i in range(n_scales // 2))

    def _fitting_sizes(self, layer: GaborLayer) -> list[int]:
        asked = list(dict.fromkeys(map(int, self.patch_sizes)))
        largest = max(min(shape) for shape in layer.shapes)
        fitting = [size for size in asked if size <= largest]
        if not fitting:
            raise InputError(
                f"PatchPrototypes: expected a patch size of at most {largest}, the side of the "
                f"largest band of images of {self.image_shape_} pixels, got patch_sizes={asked}. "
                "Pass smaller sizes or a smaller pool_size."
            )
        if len(fitting) < len(asked):
            left_out = [size for size in asked if size > largest]
            warn(
                f"PatchPrototypes: patch sizes {left_out} are left out: the largest band of images "
                f"of {self.image_shape_} pixels has {largest} places a side."
            )
        return fitting

    def _layer(self) -> GaborLayer:
        sizes = self.filter_sizes_, self.pool_sizes_
        return GaborLayer(self.image_shape_, self.n_orientations, *sizes, bool(self.normalize))

    def _bands(self, layer: GaborLayer, images: NDArray[Any]) -> Bands:
        bands = layer.bands(images.astype(np.float64) / self.scale_)
        return [np.subtract(band, self._centre, out=band) for band in bands]

    def _sharpness(self, images: NDArray[Any], sizes: NDArray[Any], random: Any) -> Floats:
        if not isinstance(self.beta, str):
            return np.full(sizes.size, float(self.beta))
        n_images = min(BETA_IMAGES, len(images))
        chosen = np.sort(random.choice(len(images), n_images, replace=False))
        n_prototypes = min(BETA_PROTOTYPES, sizes.size)
        squared = self._distances_to(images[chosen], n_prototypes)
        # A prototype is at distance 0 of the image it was taken from, which tells nothing.
        others = chosen[:, None] != self.origins_[:n_prototypes, 0]
        groups = [sizes == size for size in np.unique(sizes)]
        beta = np.ones(sizes.size)
        for group in groups if self.beta == "size" else [np.ones(sizes.size, dtype=bool)]:
            some = group[:n_prototypes]
            known = squared[:, some][others[:, some]]
            middle = np.median(known) if known.size else 0.0
            beta[group] = EXPONENT_AT_MEDIAN / middle if middle > 0 else 1.0
        return beta

    def _distances(self, bands_of: Callable[[slice], Bands], n_images: int, chosen: Any) -> Floats:
        """Squared distances of images to chosen prototypes, a block of images at a time."""
        groups = group_by_size([self.prototypes_[j] for j in chosen], self._centre)
        out = np.empty((n_images, len(chosen)))
        self._in_blocks(lambda some: squared_distances(bands_of(some), groups, out[some]), n_images)
        return out

    def _distances_to(self, images: NDArray[Any], n_prototypes: int) -> Floats:
        """Squared distances of the first prototypes to images that are filtered on the way."""
        layer = self._layer()
        chosen = range(n_prototypes)
        return self._distances(lambda some: self._bands(layer, images[some]), len(images), chosen)

    def _in_blocks(self, function: Callable[[slice], None], n_images: int) -> None:
        block = self._layer().block
        parts = [(slice(start, start + block),) for start in range(0, n_images, block)]
        with _one_blas_thread():
            run_parts(function, parts, effective_jobs(self.n_jobs))

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _one_blas_thread() -> Any:
    """The threads work on blocks of images; others inside a product would be in their way."""
    return threadpool_limits(limits=1, user_api="blas")


class PatchSource(FeatureSource):
    """Prototypes to be measured on images that were filtered once, when the source was made."""

    def __init__(self, prototypes: PatchPrototypes, bands: Bands) -> None:
        self._prototypes, self._bands = prototypes, bands
        self.meta, self.cost = prototypes.meta_, prototypes.cost_
        self.meta_names = list(prototypes.meta_names_)
        self.feature_names = list(prototypes.get_feature_names_out())

    def measure(self, indices: Any) -> Floats:
        """Values of some prototypes on all images, (n_images, len(indices))."""
        chosen, of = np.asarray(indices, dtype=np.intp), self._prototypes
        n_images = len(self._bands[0])
        squared = of._distances(lambda some: [b[some] for b in self._bands], n_images, chosen)
        return np.exp(-of.beta_[chosen] * squared)
