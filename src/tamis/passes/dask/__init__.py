"""Passes over the data on a Dask cluster."""
