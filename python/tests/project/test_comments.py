"""Doc comments of the Rust crates can be read alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[3] / "crates"

pytestmark = pytest.mark.skipif(not CRATES.is_dir(), reason="needs the sources of the crates")

READ = [
    "hopsim-c",
    "hopsim-core",
    "hopsim-cycles",
    "hopsim-experiment",
    "hopsim-infiniband",
    "hopsim-infiniband-reference",
    "hopsim-measure",
    "hopsim-memory",
    "hopsim-network",
    "hopsim-programs",
    "hopsim-py",
    "hopsim-random",
    "hopsim-reference",
    "hopsim-routing",
    "hopsim-traffic",
]
"""Crates whose comments begin with their noun."""

_PRONOUN = re.compile(
    r"(?:That|Those|These|The same|Its?|They|Theirs?|Likewise|Both|(?:The )?[Oo]thers?|All of (?:them|it))\b"
)
_DOC = re.compile(r"\s*(///|//!)\s?(.*)")


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """The first lines of doc comments, with their numbers from 1."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        found = _DOC.match(line)
        if found and not inside:
            yield number, found[2]
        inside = found is not None


def test_a_comment_is_known_by_its_first_line() -> None:
    text = (
        "//! Its crate.\n\n/// One.\n/// It goes on.\nfn f() {}\n    /// The same.\n    g: u8,\n// Those.\n"
    )
    assert list(_comments(text)) == [(1, "Its crate."), (3, "One."), (6, "The same.")]
    begins = [bool(_PRONOUN.match(line)) for _, line in _comments(text)]
    assert begins == [True, False, True]


@pytest.mark.parametrize("crate", READ)
def test_no_doc_comment_begins_with_a_pronoun_whose_noun_stands_elsewhere(crate: str) -> None:
    found = [
        f"{path.relative_to(CRATES)}:{number}: {line}"
        for path in sorted((CRATES / crate / "src").rglob("*.rs"))
        for number, line in _comments(path.read_text("utf-8"))
        if _PRONOUN.match(line)
    ]
    assert not found, "\n".join(found)
