"""All selectors on all data sets."""
