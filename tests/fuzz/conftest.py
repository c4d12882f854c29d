"""The number of tries, and a count of how they ended.

`make fuzz` makes 100,000 tries; `TAMIS_FUZZ_TRIES` sets the tries of every test.
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


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # a process of xdist
        session.config.workeroutput["fuzz"] = dict(COUNTS)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    COUNTS.update(getattr(node, "workeroutput", {}).get("fuzz", {}))


def pytest_terminal_summary(terminalreporter):
    ends = ", ".join(f"{n:,} {kind}" for kind, n in COUNTS.most_common())
    if ends:
        terminalreporter.write_line(f"{sum(COUNTS.values()):,} tries: {ends}")
