"""Pictures of what a selector found; they need matplotlib, which is imported when drawing."""

from tamis.plots.alpha_path import AlphaPathDisplay
from tamis.plots.em_trace import EMTraceDisplay
from tamis.plots.energy import EnergyDisplay
from tamis.plots.feature_graph import FeatureGraphDisplay
from tamis.plots.score_curve import ScoreCurveDisplay
from tamis.plots.split import SplitDisplay
from tamis.plots.top_weights import TopWeightsDisplay
from tamis.plots.weights_path import WeightsPathDisplay

__all__ = [
    "AlphaPathDisplay",
    "EMTraceDisplay",
    "EnergyDisplay",
    "FeatureGraphDisplay",
    "ScoreCurveDisplay",
    "SplitDisplay",
    "TopWeightsDisplay",
    "WeightsPathDisplay",
]
