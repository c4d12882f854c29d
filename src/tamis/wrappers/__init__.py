"""Wrappers and embedded methods: columns scored by what a trained model does with them."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

# File of every class; loaded when first used, for most users need one or two of them.
_FILES = {
    "FSV": "fsv",
    "L0SVM": "l0svm",
    "SVMRFE": "svmrfe",
    "TreeImportance": "tree_importance",
}
__all__ = [
    "FSV",
    "L0SVM",
    "SVMRFE",
    "TreeImportance",
]

if TYPE_CHECKING:
    from tamis.wrappers.fsv import FSV
    from tamis.wrappers.l0svm import L0SVM
    from tamis.wrappers.svmrfe import SVMRFE
    from tamis.wrappers.tree_importance import TreeImportance


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'tamis.wrappers' has no attribute {name!r}")
    value = getattr(_import_module(f"tamis.wrappers.{_FILES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
