"""Pictures of what a selector found; they need matplotlib, which is imported when drawing."""

from tamis.plots.score_curve import ScoreCurveDisplay
from tamis.plots.split import SplitDisplay

__all__ = ["ScoreCurveDisplay", "SplitDisplay"]
