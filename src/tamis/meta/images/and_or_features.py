"""AndOrFeatures: ANDs of pixels, ORed over shifts, of 64 images at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from tamis._validation import N_JOBS, Constraint, Custom, Number, check_parameters, check_value
from tamis.data.labels import check_classes, check_two_classes
from tamis.exceptions import InputError
from tamis.meta.images import _and_or_set as _bits
from tamis.meta.images._and_or_set import MOST_INPUTS, AndOrSet, PackedImages, cost_of
from tamis.meta.search.dimensions import Dimension, Integer, Real
from tamis.meta.search.generators import check_one_limit
from tamis.meta.search.meta_space import MetaSpace, Rng

# The four meta-features of the paper, and the place of a feature in the image.
FOUR = ("num_inputs", "percent_pos", "shift", "scatter")
NAMES = (*FOUR, "row", "column")


def _are_two(number: Number, value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and all(map(number.allows, value))


def _is_range(value: Any) -> bool:
    return _are_two(Number(float, 0.0, open_high=True), value) and value[0] <= value[1]


@dataclass(kw_only=True, eq=False, repr=False)
class AndOrFeatures(BaseEstimator):  # type: ignore[misc]
    """Features of binary images: AND of some pixels or their negation, OR over shifts.

    A feature asks whether a small pattern of ink and paper is there, somewhere in a square of
    ``shift * shift`` places. They are drawn at random with given properties (how many pixels, how
    many of them ink, how much shift, how far apart), and :class:`~tamis.meta.Mufasa` looks for the
    properties of good ones. It is a :class:`~tamis.meta.Generator`; its samples X are images.

    Parameters
    ----------
    image_shape : tuple of two ints, default=(28, 28)
        Height and width.
    threshold : float, default=0.5
        A pixel is ink (1) if its value is above the threshold, else background (0): 0.5 suits
        values from 0 to 1, 127.5 those from 0 to 255. Images of bools are taken as they are.
    max_inputs : int, default=8
        Most pixels of a feature, 1 to 8.
    max_shift : int, default=8
        Largest side of the square of shifts.
    scatter : tuple of two floats, default=(1.0, 3.5)
        Range of the mean distance of the inputs from their centre of gravity, in pixels.
    meta_features : tuple of str, default=("num_inputs", "percent_pos", "shift", "scatter")
        Names that span `space`; ``"row"`` and ``"column"``, the place of the centre of gravity, are
        possible too. Every feature draws those that are neither here nor in `fixed` for itself.
    fixed : dict or None, default=None
        Values of meta-features that all features have, such as ``{"shift": 1, "scatter": 2.0}``.
    window : int, default=4
        With ``"row"`` or ``"column"``: how many places around the given one the centre of gravity
        may have, ``row - window / 2 <= centre < row + window / 2``.
    min_share : float, default=0.05
        Share of the images in which a feature must be 1, and 0, at least; 0 asks only that it
        varies. Searches leave out the others, see `telling` and ``redraw_constant`` of Mufasa.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    space : MetaSpace
        The points that `draw` takes: `num_inputs` 1 to `max_inputs`, `percent_pos` 0 to 100,
        `shift` 1 to `max_shift`, `scatter` in its range, or those named in `meta_features`.

    Notes
    -----
    The value of a feature with inputs (row, column) and shift a is the OR, over all moves by 0 to
    a - 1 rows and 0 to a - 1 columns, of the AND of the moved inputs. What lies outside of the
    image is background, so a negated input is 1 there. NaN is background. An image gets the same
    values whatever other images come with it.

    Measuring takes ``n_inputs * a**2`` operations on words of 64 images; the cost that the paper
    counts is ``0.5 * (1 + a**2)``.

    A draw is uniform over the features that have the wanted properties: sets of different pixels
    inside of the image (the moved ones may leave it) whose scatter is at most 0.15 from the one
    asked for, ``floor(percent_pos * num_inputs / 100 + 0.5)`` of them positive. Where no such set
    exists, the nearest scatter that was met is taken. Draws are independent: a feature may come
    twice. See :doc:`/families/images` for how they are made, and for the choice of `min_share`.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376. Section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import AndOrFeatures
    >>> images = np.array([[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]]])
    >>> generator = AndOrFeatures(image_shape=(2, 3), max_inputs=2, max_shift=2)
    >>> features = generator.features([[(0, 0), (1, 1)], [(0, 0), (1, 1)]], shift=[1, 2])
    >>> generator.measure(images, features)
    array([[1, 1],
           [0, 1]], dtype=uint8)
    >>> generator.cost(features)
    array([1. , 2.5])
    """

    image_shape: tuple[int, int] = (28, 28)
    threshold: float = 0.5
    max_inputs: int = MOST_INPUTS
    max_shift: int = 8
    scatter: tuple[float, float] = (1.0, 3.5)
    meta_features: tuple[str, ...] = FOUR
    fixed: Mapping[str, Any] | None = None
    window: int = 4
    min_share: float = 0.05
    n_jobs: int | None = None

    _constraints: ClassVar[dict[str, Constraint]] = {
        "image_shape": Custom(
            lambda value: _are_two(Number(int, 1), value), "(height, width) in ints of at least 1"
        ),
        "threshold": Custom(Number(float, open_low=True, open_high=True).allows, "a finite number"),
        "max_inputs": Number(int, low=1, high=MOST_INPUTS),
        "max_shift": Number(int, low=1, high=64),
        "min_share": Number(float, low=0, high=0.5),
        "scatter": Custom(_is_range, "two numbers (low, high) of at least 0, low <= high"),
        "meta_features": Custom(
            lambda value: (
                isinstance(value, tuple | list)
                and len(set(value)) == len(value) > 0
                and set(value) <= set(NAMES)
            ),
            f"one or several of {', '.join(map(repr, NAMES))}",
        ),
        "fixed": Custom(
            lambda value: (
                value is None or (isinstance(value, Mapping) and set(value) <= set(NAMES))
            ),
            f"a dict with values of some of {', '.join(map(repr, NAMES))}, or None",
        ),
        "window": Number(int, low=1),
        "n_jobs": N_JOBS,
    }

    @property
    def space(self) -> MetaSpace:
        """The points that `draw` takes."""
        dimensions = self._dimensions()
        return MetaSpace({name: dimensions[name] for name in self.meta_features})

    def draw(
        self,
        point: Mapping[str, Any],
        rng: Rng = None,
        *,
        n_features: int | None = None,
        budget: float | None = None,
    ) -> AndOrSet:
        """Draw random features with the properties of a point of `space`.

        Exactly one of `n_features` and `budget` is given; the total cost is never above the budget.
        `rng` may be a seed. See :meth:`.Generator.draw`.
        """
        return self._draw(self.space.check(point), rng, n_features, budget)

    def draw_any(
        self, rng: Rng = None, *, n_features: int | None = None, budget: float | None = None
    ) -> AndOrSet:
        """Draw random features from the whole space: each has a random point of its own.

        Limits as for `draw`; a feature that costs more than the rest of the budget is drawn again.
        """
        return self._draw({}, rng, n_features, budget)

    def features(self, inputs: Iterable[Any], shift: ArrayLike = 1) -> AndOrSet:
        """Make features by hand, or again of what ``to_dict()`` of a set gave.

        Parameters
        ----------
        inputs : iterable with a list of inputs for each feature
            Every input is ``(row, column)``, or ``(row, column, positive)`` with 0 or False for a
            negated pixel.
        shift : int or sequence of int, default=1
            Side of the square of shifts, one for all features or one each.
        """
        return self._check_features(AndOrSet.from_inputs(inputs, shift))

    def cost(self, features: AndOrSet) -> NDArray[np.float64]:
        """Cost of each feature, ``0.5 * (1 + shift**2)``, whatever its number of inputs."""
        return np.asarray(cost_of(self._check_kind(features).shift))

    def meta(self, features: AndOrSet) -> NDArray[np.float64]:
        """Meta-features of each feature, one column for each name in `meta_features`.

        The percentage is rounded; the scatter of a single input is 0; row and column are those of
        the centre of gravity.
        """
        check_parameters(self, self._constraints)
        centre = self._check_kind(features).centre()
        share = features.positive.sum(axis=1) / features.n_inputs
        columns = {
            "num_inputs": features.n_inputs,
            "percent_pos": np.floor(100 * share + 0.5),
            "shift": features.shift,
            "scatter": features.scatter(),
            "row": centre[:, 0],
            "column": centre[:, 1],
        }
        return np.column_stack([columns[name] for name in self.meta_features]).astype(np.float64)

    def measure(self, images: Any, features: AndOrSet) -> NDArray[np.uint8]:
        """Values of the features on images: 0 and 1, uint8 of shape (n_images, n_features).

        The values of a feature lie side by side in memory (Fortran order).

        Parameters
        ----------
        images : array-like of shape (n_images, height * width) or (n_images, height, width)
            Numbers or bools; or what `pack` gave, which saves the packing.
        features : AndOrSet
            The features.
        """
        images = self._packed(images)
        octets = self.measure_packed(images, features).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=len(images), bitorder="little").T

    def telling(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which features vary enough to tell images apart, without a look at any target.

        `values` are those of `measure`. True where at least `min_share` of the images have a 1 and
        at least as many a 0, and at least one image each.
        """
        check_parameters(self, self._constraints)
        ones = np.count_nonzero(values, axis=0)
        fewest = np.minimum(ones, len(values) - ones)
        return np.asarray((fewest > 0) & (fewest >= self.min_share * len(values)))

    def measure_packed(self, images: Any, features: AndOrSet) -> NDArray[np.uint64]:
        """Values of the features as bits, uint64 of shape (n_features, ceil(n_images / 64)).

        Bit ``i % 64`` of word ``i // 64`` belongs to image i; bits beyond the last are 0.
        """
        images, features = self._packed(images), self._check_features(features)
        return _bits.measure_words(images, features, self.n_jobs)

    def information_gain(self, images: Any, y: ArrayLike, features: AndOrSet) -> Any:
        """Information gain of each feature in bits, counted on packed images.

        `images` and `features` as for `measure`, `y` the class of each image. The result is that of
        :class:`tamis.InformationGain` for the measured columns.
        """
        from tamis.filters.information import plug_in

        images, who = self._packed(images), type(self).__name__
        classes, codes = check_classes(y, len(images), who)
        check_two_classes(classes, who)
        words = self.measure_packed(images, features)
        ones = _bits.count_ones(words, codes, classes.size, self.n_jobs)
        zeros = np.bincount(codes, minlength=classes.size)[:, None] - ones
        return plug_in(np.stack([zeros, ones], axis=2).astype(np.float64)) / np.log(2)

    def pack(self, images: Any) -> PackedImages:
        """Binarise images and pack them, 64 to a word; the other methods take the result as X."""
        check_parameters(self, self._constraints)
        array, (height, width), who = np.asarray(images), self.image_shape, type(self).__name__
        if array.dtype.kind not in "buif":
            raise InputError(f"{who}: expected images of numbers, got dtype {array.dtype}.")
        if array.shape[1:] not in ((height * width,), (height, width)):
            raise InputError(
                f"{who}: expected images of shape (n_images, {height * width}) or (n_images, "
                f"{height}, {width}), got {array.shape}. Set image_shape to that of the images."
            )
        array = array.reshape(len(array), height * width)
        if array.dtype.kind != "b":
            # Whole numbers are compared with a whole number, which needs no conversion of them.
            whole = array.dtype.kind in "iu"
            array = array > (math.floor(self.threshold) if whole else self.threshold)
        binary = np.ascontiguousarray(array).view(np.uint8)
        return _bits.pack_images(binary, (height, width), self.max_shift - 1, self.n_jobs)

    def join(self, features: AndOrSet, chosen: ArrayLike) -> AndOrSet:
        """Subset of a set of features, by mask or indices, in the order of the indices."""
        return self._check_kind(features)[np.asarray(chosen)]

    def _dimensions(self) -> dict[str, Dimension]:
        check_parameters(self, self._constraints)
        height, width = self.image_shape
        return {
            "num_inputs": Integer(1, min(self.max_inputs, height * width)),
            "percent_pos": Integer(0, 100),
            "shift": Integer(1, self.max_shift),
            "scatter": Real(*self.scatter),
            "row": Integer(0, height - 1),
            "column": Integer(0, width - 1),
        }

    def _draw(self, point: Mapping[str, Any], rng: Rng, n_features: Any, budget: Any) -> AndOrSet:
        dimensions, rng = self._dimensions(), np.random.default_rng(rng)
        # Places of the space that the point leaves open are drawn too, not only the four.
        drawn = {name: dimensions[name] for name in (*FOUR, *self.meta_features)}
        fixed = self._checked_fixed(dimensions)
        wanted = {"row": None, "column": None, **drawn, **fixed, **point}
        side, who = wanted["shift"], type(self).__name__
        cheapest = float(cost_of(side.low if isinstance(side, Integer) else side))
        check_one_limit(n_features, budget, who)
        if budget is None:
            check_value(n_features, Number(int, low=1), who=who, name="n_features")
        elif not Number(float, cheapest, open_high=True).allows(budget):
            raise InputError(
                f"{who}: budget must be a finite number of at least {cheapest:g}, the cost of the "
                f"cheapest feature here, got {budget!r}."
            )
        shift = _bits.shifts_for(side, rng, n_features, budget)
        shape = (int(self.image_shape[0]), int(self.image_shape[1]))
        return _bits.draw_set(wanted, shift, rng, shape, self.window, self.n_jobs)

    def _checked_fixed(self, dimensions: Mapping[str, Dimension]) -> dict[str, Any]:
        fixed = dict(self.fixed or {})
        both = sorted(set(fixed) & set(self.meta_features))
        if both:
            raise InputError(
                f"{type(self).__name__}: fixed must not hold what meta_features names, got "
                f"{', '.join(map(repr, both))} in both. Leave it out of one of them."
            )
        for name, value in fixed.items():
            try:
                fixed[name] = dimensions[name].check(value)
            except InputError as error:
                message = f"{type(self).__name__}: fixed[{name!r}] is wrong. {error}"
                raise InputError(message) from None
        return fixed

    def _packed(self, images: Any) -> PackedImages:
        if not isinstance(images, PackedImages):
            return self.pack(images)
        check_parameters(self, self._constraints)
        if images.image_shape != tuple(self.image_shape) or images.padding < self.max_shift - 1:
            raise InputError(
                f"{type(self).__name__}: expected images packed with image_shape="
                f"{tuple(self.image_shape)} and max_shift={self.max_shift}, got {images!r} for "
                f"shifts up to {images.padding + 1}. Pack them with this generator."
            )
        return images

    def _check_kind(self, features: Any) -> AndOrSet:
        if not isinstance(features, AndOrSet):
            raise InputError(
                f"{type(self).__name__}: expected features made by draw, draw_any or features, got "
                f"{features!r}."
            )
        return features

    def _check_features(self, features: Any) -> AndOrSet:
        """The features, or an error if they do not fit the images."""
        check_parameters(self, self._constraints)
        features, (height, width) = self._check_kind(features), self.image_shape
        bottom, right = features.rows.max(initial=0), features.columns.max(initial=0)
        if bottom >= height or right >= width:
            raise InputError(
                f"{type(self).__name__}: expected inputs inside of images of {height} x {width} "
                f"pixels, got row {bottom} and column {right}. Set image_shape to that of the "
                "features."
            )
        if features.shift.max(initial=1) > self.max_shift:
            raise InputError(
                f"{type(self).__name__}: expected features with shifts up to max_shift="
                f"{self.max_shift}, got {features.shift.max()}. Raise max_shift."
            )
        return features
