"""What somebody may have meant who wrote a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`; None if none is close."""
    return next(iter(difflib.get_close_matches(name, list(known), 1)), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing when no known name is close."""
    close = nearest(name, known)
    return f"; did you mean {close}?" if close else ""
