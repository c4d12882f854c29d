"""Wrappers and embedded methods: features scored by what a trained model does with them."""

from tamis.wrappers.fsv import FSV
from tamis.wrappers.l0svm import L0SVM
from tamis.wrappers.lasso_path import LassoPath
from tamis.wrappers.svmrfe import SVMRFE
from tamis.wrappers.tree_importance import TreeImportance

__all__ = ["FSV", "L0SVM", "SVMRFE", "LassoPath", "TreeImportance"]
