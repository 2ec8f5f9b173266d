"""Puts the score card of a run into the documentation, and every sentence into the page of its publication:
`python docs/scorecard.py DIR`.

DIR is what `hopsim reproduce all --out DIR` has written. Without it the page is made again from the card that
is there, with entries that are new marked as not run yet.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hopsim_reproduce import papers, score
from hopsim_reproduce.batch import in_order

DOCS = Path(__file__).resolve().parent
CARD, PAGE = DOCS / score.FILE, DOCS / "published.md"
BEGIN, END = "<!-- docs/scorecard.py writes what follows. -->\n\n", "\n<!-- End of what it writes. -->"


def main(directory: Path) -> None:
    """Copy the card, and write its table and the pages of the publications."""
    found = in_order(score.read(directory / score.FILE))
    score.write(CARD, found)
    _write(PAGE, score.markdown(found))
    for name in papers.publications(found):
        _write(DOCS / "papers" / f"{name}.md", papers.markdown(name, found))


def _write(page: Path, text: str) -> None:
    """Put a text between the two marks of a page."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}{text}{END}{after}", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
