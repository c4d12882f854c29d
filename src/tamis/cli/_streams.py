"""Standard streams that were closed before the program started."""

from __future__ import annotations

import os
import sys


def mend_streams() -> bool:
    """Put the null device where a stream is closed; return whether results can be printed.

    Otherwise, the next file that is opened would take its number, and messages would go there.
    """
    can_print = sys.stdout is not None
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))
    if not can_print:
        print(
            "tamis: expected an open standard output, got a closed one; redirect it to a file, "
            "or to /dev/null.",
            file=sys.stderr,
        )
    return can_print
