"""Who may import whom, and that the lists in pyproject.toml name what there is."""

import ast
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [ROOT / "src", ROOT / "papers" / "src"]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def modules():
    """Dotted name and file of every module of the package and of the papers."""
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


def imports(name, tree, is_package):
    """Dotted names that a module imports, at any depth of its code."""
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) + 1 - node.level]
            origin = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            for alias in node.names:
                below = f"{origin}.{alias.name}"
                yield below if below in MODULES else origin


def private_parts(imported):
    """Packages whose private modules are on the way to `imported`."""
    parts = imported.split(".")
    return [
        ".".join(parts[:depth])
        for depth, part in enumerate(parts)
        if part.startswith("_") and not part.startswith("__")
    ]


def violations(name, source, is_package=False):
    tree = ast.parse(source)
    return [
        f"{name} imports {imported}"
        for imported in sorted(set(imports(name, tree, is_package)))
        if imported.split(".")[0] in {"tamis", "tamis_papers"}
        for package in private_parts(imported)
        if not f"{name}.".startswith(f"{package}.")
    ]


def test_private_modules_are_imported_in_their_own_package_only():
    found = []
    for name, path in MODULES.items():
        source = path.read_text(encoding="utf-8")
        found += violations(name, source, is_package=path.name == "__init__.py")
    assert found == []


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("from tamis.graph._walk import x", True),
        ("import tamis.graph._walk", True),
        ("from tamis.graph import InfFS", False),
        ("from tamis._runtime.seeds import x", False),
        ("from tamis.filters._codes import x", False),
        ("from ._codes import x", False),
        ("from ..graph._walk import x", True),
        ("def f():\n    from tamis.graph._walk import x", True),
        ("from sklearn.utils._param_validation import x", False),
    ],
)
def test_a_private_import_is_found(line, is_wrong):
    assert bool(violations("tamis.filters.fisher", line)) is is_wrong


def test_every_part_of_the_package_has_a_layer():
    (contract,) = SETTINGS["tool"]["importlinter"]["contracts"]
    layers = {name.strip() for layer in contract["layers"] for name in layer.split("|")}
    parts = {".".join(name.split(".")[:2]) for name in MODULES if name.startswith("tamis.")}
    assert parts - layers - {"tamis.__main__"} == set()
    assert layers - parts == set()


def test_kernels_are_those_that_types_and_coverage_leave_out():
    """Compiled functions are neither typed nor traced, and are in files named `*_kernels.py`."""
    kernels = {name for name in MODULES if name.endswith("_kernels") and name.startswith("tamis.")}
    overrides = SETTINGS["tool"]["mypy"]["overrides"]
    (untyped,) = [entry["module"] for entry in overrides if entry.get("ignore_errors")]
    assert {name for name in kernels if not any(fnmatch(name, p) for p in untyped)} == set()
    assert [p for p in untyped if not any(fnmatch(name, p) for name in kernels)] == []
    assert SETTINGS["tool"]["coverage"]["run"]["omit"] == ["*_kernels.py"]


def test_oldest_versions_are_the_floors():
    script = ROOT / ".ci" / "oldest.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert run.stdout == script.with_suffix(".txt").read_text(encoding="utf-8")
