"""Linear support vector machines, for problems on which scikit-learn's solvers are too slow.

- `hinge`: hinge loss and a free intercept, as LIBSVM. An active-set method on the Gram matrix,
  which resumes from the last solution and so serves recursive elimination; an interior-point method
  where rows far outnumber features.
- `squared_hinge`: squared hinge or epsilon-insensitive loss, as LIBLINEAR. Newton's method, exact
  after a few steps, for several classes and several strengths of regularisation at once.
- `descent_kernels`: the same two losses for thousands of tiny samples inside a compiled loop.
"""

from tamis.linear_svm.squared_hinge import FastLinearSVM

__all__ = ["FastLinearSVM"]
