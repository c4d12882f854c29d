"""Print the oldest allowed version of every dependency, as pip constraints.

After changing a floor in pyproject.toml: `python .ci/oldest.py > .ci/oldest.txt`. A test compares
the two.
"""

import itertools
import re
import tomllib
from pathlib import Path

# What tests compare results with is not a dependency, and is taken as new as it comes.
PEERS = {"skrebate", "lightgbm", "statsmodels", "scikit-posthocs", "playwright"}


def floors():
    """Name and oldest allowed version of what tamis, its extras for users and its tests need."""
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lists = [project["dependencies"], *(extras[name] for name in ("cli", "plot", "dask", "test"))]
    found = {}
    for requirement in itertools.chain(*lists):
        name, _, floor = re.fullmatch(r"([\w-]+)(\[.*\])?(?:>=([\w.]+))?", requirement).groups()
        if name != "tamis" and name not in PEERS:
            found[name] = floor
    return found


if __name__ == "__main__":
    print("# Generated from pyproject.toml by .ci/oldest.py.")
    for name, floor in floors().items():
        print(f"{name}=={floor}")
