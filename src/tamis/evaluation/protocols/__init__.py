"""Protocols: which rows are learned from, and which are kept for scoring.

::

    RepeatedSplits    two thirds to learn from, drawn at random, twenty times
    Folds             every row is scored once per repeat
    LeaveOneOut       every row is scored alone
    PublishedSplit    the split that others used
    GroupFolds        rows of one group (patient, batch) stay together
    TimeOrder         the rows scored come after those learned from
    Splitter          any scikit-learn splitter, or pairs of row numbers
"""

from tamis.evaluation.protocols._as_protocol import as_protocol
from tamis.evaluation.protocols._folds import Folds
from tamis.evaluation.protocols._group_folds import GroupFolds
from tamis.evaluation.protocols._leave_one_out import LeaveOneOut
from tamis.evaluation.protocols._protocol import Protocol, Split
from tamis.evaluation.protocols._published_split import PublishedSplit
from tamis.evaluation.protocols._repeated_splits import RepeatedSplits
from tamis.evaluation.protocols._splitter import Splitter
from tamis.evaluation.protocols._time_order import TimeOrder

__all__ = [
    "Folds",
    "GroupFolds",
    "LeaveOneOut",
    "Protocol",
    "PublishedSplit",
    "RepeatedSplits",
    "Split",
    "Splitter",
    "TimeOrder",
    "as_protocol",
]
