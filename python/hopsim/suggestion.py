"""What somebody may have meant who wrote a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable

from hopsim import _core


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` by the rule of the document's messages, or nothing when no known name is close."""
    close = _core.closest(name, list(known))
    return f"; did you mean {close}?" if close else ""
