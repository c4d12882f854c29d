"""Pictures of what a selector found; they need matplotlib, which is imported when drawing."""

from tamis.plots.alpha_path import AlphaPathDisplay
from tamis.plots.bound import BoundDisplay
from tamis.plots.em_trace import EMTraceDisplay
from tamis.plots.energy import EnergyDisplay
from tamis.plots.feature_graph import FeatureGraphDisplay
from tamis.plots.knockoffs import KnockoffDisplay
from tamis.plots.p_values import PValueDisplay, QValueDisplay
from tamis.plots.quality_map import QualityMapDisplay
from tamis.plots.score_curve import ScoreCurveDisplay
from tamis.plots.search import SearchDisplay
from tamis.plots.shadows import ShadowDisplay
from tamis.plots.split import SplitDisplay
from tamis.plots.stability_path import StabilityPathDisplay
from tamis.plots.top_weights import TopWeightsDisplay
from tamis.plots.weights_path import WeightsPathDisplay

__all__ = [
    "AlphaPathDisplay",
    "BoundDisplay",
    "EMTraceDisplay",
    "EnergyDisplay",
    "FeatureGraphDisplay",
    "KnockoffDisplay",
    "PValueDisplay",
    "QValueDisplay",
    "QualityMapDisplay",
    "ScoreCurveDisplay",
    "SearchDisplay",
    "ShadowDisplay",
    "SplitDisplay",
    "StabilityPathDisplay",
    "TopWeightsDisplay",
    "WeightsPathDisplay",
]
