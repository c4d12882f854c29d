"""The number of tries, and a count of how they ended.

`make fuzz` runs for about an hour; `TAMIS_FUZZ_TRIES` sets the tries of every test.
"""

import os

import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, settings

from fuzz.outcomes import COUNTS

settings.register_profile(
    "tamis",
    max_examples=int(os.environ.get("TAMIS_FUZZ_TRIES", "60")),
    deadline=None,
    database=None,
    derandomize="TAMIS_FUZZ_TRIES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("tamis")


@pytest.fixture(autouse=True, scope="session")
def report_counts():
    yield
    total = sum(COUNTS.values())
    print(f"\n{total} tries: " + ", ".join(f"{n} {kind}" for kind, n in COUNTS.most_common()))
