"""Search of a space of meta-features for a good set of features: Mufasa and baselines."""
