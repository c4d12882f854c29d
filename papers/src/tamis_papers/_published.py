"""What the papers printed, read from ``values/<name>.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

# Keys of an entry that describe the number; the others say what was measured.
DESCRIPTION = {
    *("value", "unit", "spread", "min", "max", "where", "doubtful", "approximate", "printed"),
    *("derived", "note", "favours", "bound", "hardware", "selector", "quoted"),
}


@dataclass(frozen=True)
class Published:
    """A number of a paper.

    Parameters
    ----------
    case : dict
        What was measured: `data`, `method`, `learner`, `n_features`, `metric`, ...
    value : float
        The number.
    unit : str
        "percent", "fraction", "seconds" or "count".
    rounding : float
        Half of the last digit that was printed.
    where : str
        Table, row and column.
    note : str
        What is odd about it.
    doubtful : bool
        Whether the text of the paper leaves open which cell the number belongs to.
    approximate : bool
        Whether the paper says "about".
    quoted : bool
        Whether nobody can measure it here, such as a value that the paper took from elsewhere.
    """

    case: dict[str, Any]
    value: float
    unit: str
    rounding: float
    where: str
    note: str
    doubtful: bool
    approximate: bool
    quoted: bool = False

    def is_of(self, case: Mapping[str, Any]) -> bool:
        """Whether this is the number of a case; keys that the case does not name may be any."""
        return all(self.case.get(key) == item for key, item in case.items())

    @property
    def label(self) -> str:
        """The method, or what else tells the number from its neighbours."""
        return str(self.case.get("method", " ".join(map(str, self.case.values()))))


@dataclass(frozen=True)
class Statement:
    """A sentence of a paper that can be checked."""

    name: str
    text: str
    quote: str


@dataclass(frozen=True)
class Paper:
    """Numbers and sentences of one table or figure."""

    values: tuple[Published, ...]
    statements: tuple[Statement, ...]


def published(name: str) -> Paper:
    """What the paper says of this experiment; nothing if it is not from a paper."""
    file = files("tamis_papers") / "values" / f"{name}.toml"
    if not file.is_file():
        return Paper((), ())
    content = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=str)
    values = tuple(_value(entry) for entry in content.get("value", []))
    statements = tuple(_statement(entry) for entry in content.get("claim", []))
    return Paper(values, statements)


def _value(entry: dict[str, Any]) -> Published:
    digits = str(entry["value"])  # floats are read as they are written, for their digits count
    decimals = len(digits.partition(".")[2])
    return Published(
        case={key: item for key, item in entry.items() if key not in DESCRIPTION},
        value=float(digits),
        unit=entry.get("unit", "fraction"),
        rounding=0.5 * 10.0**-decimals,
        where=entry.get("where", ""),
        note=entry.get("note", ""),
        doubtful=bool(entry.get("doubtful", False)),
        approximate=bool(entry.get("approximate", False)),
        quoted=bool(entry.get("quoted", False)),
    )


def _statement(entry: dict[str, Any]) -> Statement:
    return Statement(entry["id"], entry["text"], entry.get("quote", ""))
