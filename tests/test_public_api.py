"""What `import tamis` offers, and what it costs."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import tamis

MODULES = [
    module.name
    for module in pkgutil.walk_packages(tamis.__path__, "tamis.")
    if not module.name.endswith("__main__")
]


def public_objects():
    for name in ["tamis", *MODULES]:
        if "._" in name:
            continue
        module = importlib.import_module(name)
        for word in getattr(module, "__all__", []):
            yield f"{name}.{word}", getattr(module, word)


def test_names_are_unique_and_exist():
    assert len(set(tamis.__all__)) == len(tamis.__all__)  # ruff keeps them sorted
    for name in tamis.__all__:
        assert hasattr(tamis, name)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for(name):
    assert importlib.import_module(name).__doc__


@pytest.mark.parametrize(("name", "thing"), list(public_objects()))
def test_every_public_name_has_an_example(name, thing):
    if inspect.isclass(thing) or inspect.isfunction(thing):
        if name.endswith((".Statistic", ".CutRule", ".main")):
            assert thing.__doc__
        else:
            assert ">>>" in inspect.getdoc(thing), name


def test_import_stays_light():
    # rich, pandas and pyarrow are not here: scikit-learn imports them where they are installed.
    heavy = {"numba", "matplotlib", "dask", "click", "jinja2", "polars"}
    code = f"import sys, tamis; print(sorted({heavy!r} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_versions_agree():
    from importlib.metadata import version

    assert version("tamis") == tamis.__version__
