import pytest


@pytest.fixture(scope="session")
def dask_client():
    """Client of two worker processes; `with dask_client.as_current()` makes Dask use it."""
    pytest.importorskip("distributed")
    from dask_workers import two_workers

    with two_workers() as client:
        yield client
