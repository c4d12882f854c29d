"""Linear support vector machines, for problems on which scikit-learn's solvers are too slow.

- `hinge`: hinge loss and a free intercept, as LIBSVM: an active-set method that resumes from the
  last solution, or an interior-point method where rows far outnumber features.
- `squared_hinge`: squared hinge or epsilon-insensitive loss, as LIBLINEAR, by Newton's method, for
  several classes and several strengths of regularisation at once.
- `descent_kernels`: the same two losses for thousands of tiny samples inside a compiled loop.
"""

from tamis.linear_svm.squared_hinge import FastLinearSVM

__all__ = ["FastLinearSVM"]
