"""PatchSource: prototypes as candidates whose columns are computed when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.meta._gabor import Bands
from tamis.meta.feature_source import FeatureSource

if TYPE_CHECKING:
    from tamis.meta.patch_prototypes import PatchPrototypes


class PatchSource(FeatureSource):
    """Prototypes of a fitted `PatchPrototypes`, to be measured on some images.

    The images are filtered once, when the source is made; every call of `measure` then costs the
    patch distances of the prototypes asked for and nothing else.

    Parameters
    ----------
    prototypes : PatchPrototypes
        The fitted prototypes.
    bands : list of ndarray
        The representation of the images, as the prototypes compute it.
    """

    def __init__(self, prototypes: PatchPrototypes, bands: Bands) -> None:
        self._prototypes = prototypes
        self._bands = bands
        self.meta = prototypes.meta_
        self.cost = prototypes.cost_
        self.meta_names = list(prototypes.meta_names_)
        self.feature_names = list(prototypes.get_feature_names_out())

    def measure(self, indices: Any) -> NDArray[np.float64]:
        """Values of some prototypes on all images.

        Parameters
        ----------
        indices : array-like of int of shape (n_asked,)
            Which prototypes.

        Returns
        -------
        columns : ndarray of shape (n_images, n_asked)
            One column for every index.
        """
        return self._prototypes._values(self._bands, np.asarray(indices, dtype=np.intp))
