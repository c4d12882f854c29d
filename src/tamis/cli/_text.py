"""Text from files and users, made safe to show."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Write characters that would move the cursor, or not show at all, as escapes.

    Column names come from files of others: they may hold line breaks, terminal commands or marks
    that reverse the direction of writing.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The same, on one line, with escapes such as ``\n`` and ``\x1b``.

    Examples
    --------
    >>> from tamis.cli._text import printable
    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(text: str) -> str:
    """Make every line of a message of ours printable, and keep the lines."""
    return "\n".join(printable(line) for line in text.split("\n"))
