"""One call: which features, how many, how sure."""

from tamis.auto.auto_selector import AutoSelector
from tamis.auto.one_call import answer
from tamis.auto.record import Answer, Baseline, FeatureEvidence

__all__ = ["Answer", "AutoSelector", "Baseline", "FeatureEvidence", "answer"]
