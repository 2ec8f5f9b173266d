"""Text for terminals that lack characters: other characters stand in for them, rather than an error."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Any

DEGRADE = "hopsim.degrade"
"""Name of the error handler that writes what an encoding lacks in other characters."""

_STAND_INS = {
    "±": "+-",
    "·": "*",
    "×": "x",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "²": "^2",
    "Σ": "sum ",
    "§": "sec. ",
    "¼": "1/4",
    "½": "1/2",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
}


def encodable(text: str, encoding: str) -> str:
    """`text` in the characters that `encoding` has."""
    try:
        return text.encode(encoding, DEGRADE).decode(encoding)
    except LookupError:
        return text.encode("ascii", DEGRADE).decode("ascii")


# What moves the cursor, colours, rings or turns the direction of writing; lines may end.
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """`text` with control characters as Python writes them: names from files do nothing to a terminal."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def degrade(*streams: Any) -> None:
    """Let streams write other characters for those that their encoding lacks, rather than fail."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=DEGRADE)


def _degraded(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_stand_in(character, error.encoding) for character in lacking), error.end


def _stand_in(character: str, encoding: str) -> str:
    if character in _STAND_INS:
        return _STAND_INS[character]
    # The letter without its accent.
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
    return letters or "?"


codecs.register_error(DEGRADE, _degraded)
