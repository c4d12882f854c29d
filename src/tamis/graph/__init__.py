"""Columns as nodes of a graph: infinite feature selection and its latent form."""

from tamis.graph.ilfs import ILFS
from tamis.graph.inffs import InfFS, inf_fs_path
from tamis.graph.inffs_cv import InfFSCV
from tamis.graph.walk import walk_scores

__all__ = ["ILFS", "InfFS", "InfFSCV", "inf_fs_path", "walk_scores"]
