"""Weights learned by trial: a probability over columns, and classifiers drawn from it."""

from tamis.weighting._learning import default_schedule
from tamis.weighting.ofw import OFW
from tamis.weighting.voting_subset_classifier import VotingSubsetClassifier

__all__ = ["OFW", "VotingSubsetClassifier", "default_schedule"]
