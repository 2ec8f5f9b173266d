"""What somebody may have meant who wrote a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, of equals one that begins like it; None if none is close."""
    lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), lower, 5)
    likeness = difflib.SequenceMatcher(b=name.lower())

    def rank(candidate: str) -> tuple[float, bool]:
        likeness.set_seq1(candidate)
        return likeness.ratio(), candidate[:1] == name[:1].lower()

    return lower[max(close, key=rank)] if close else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing when no known name is close."""
    close = nearest(name, known)
    return f"; did you mean {close}?" if close else ""
