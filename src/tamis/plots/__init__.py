"""Pictures of what a selector found; they need matplotlib, which is imported when drawing."""

from tamis.plots.alpha_path import AlphaPathDisplay
from tamis.plots.em_trace import EMTraceDisplay
from tamis.plots.feature_graph import FeatureGraphDisplay
from tamis.plots.score_curve import ScoreCurveDisplay
from tamis.plots.split import SplitDisplay

__all__ = [
    "AlphaPathDisplay",
    "EMTraceDisplay",
    "FeatureGraphDisplay",
    "ScoreCurveDisplay",
    "SplitDisplay",
]
