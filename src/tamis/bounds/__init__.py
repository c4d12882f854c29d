"""Generalisation bounds for features chosen by meta-features: section 7 of Krupka et al. (2008).

Choosing features by a search of few meta-features can overfit far less than choosing them one by
one, because far fewer sets of features are within reach. These functions say how much less.
Every argument may be an array; arguments broadcast, and scalars give a float. In Theorems 4 and 5,
ln is the natural logarithm and log that to base 2; in section 7.2 every log is to base 2.

An error above 1 says nothing (the bound is vacuous); it is returned as it is, because it may still
be compared with another one. With a few thousand samples most of these bounds are vacuous. The page
:doc:`/families/bounds` lists all functions with their formulas.

References
----------
Krupka, E., Navot, A., Tishby, N. (2008). Learning to Select Features using their Properties.
Journal of Machine Learning Research 9, 2349-2376.

Examples
--------
The terms that section 7.1 compares for the digits of section 6.2, with J = 50 steps, about 1,000
features and 352 points of the meta-feature space times three to five values of scatter:

>>> from tamis.bounds import direct_selection_term, selection_term
>>> round(direct_selection_term(1000 * 2**50, 1000))  # n (ln n + J ln 2)
41565
>>> selection_term(50, [352 * n_scatter for n_scatter in (3, 4, 5)]), selection_term(50)
(array([10.9, 11.2, 11.4]), 34.7)
"""

from tamis.bounds._errors import bartlett_bound, direct_bound, mufasa_bound, union_bound
from tamis.bounds._selections import (
    direct_selection_term,
    direct_vc_dimension,
    induced_selections,
    joint_vc_dimension,
    selection_count_any,
    selection_count_finite,
    selection_term,
    vc_of_selections,
)

__all__ = [
    "bartlett_bound",
    "direct_bound",
    "direct_selection_term",
    "direct_vc_dimension",
    "induced_selections",
    "joint_vc_dimension",
    "mufasa_bound",
    "selection_count_any",
    "selection_count_finite",
    "selection_term",
    "union_bound",
    "vc_of_selections",
]
