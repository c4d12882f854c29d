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

from tamis.evaluation.protocols.base import Protocol, Split
from tamis.evaluation.protocols.kinds import (
    Folds,
    GroupFolds,
    LeaveOneOut,
    PublishedSplit,
    RepeatedSplits,
    Splitter,
    TimeOrder,
    as_protocol,
)

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
