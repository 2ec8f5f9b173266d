"""Puts the score card of a run into the documentation: `python docs/scorecard.py DIR`.

DIR is what `hopsim reproduce all --out DIR` has written. Without it the page is made again from the card that
is there, with entries that are new marked as not run yet.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hopsim_reproduce import score
from hopsim_reproduce.batch import in_order

DOCS = Path(__file__).resolve().parent
CARD, PAGE = DOCS / score.FILE, DOCS / "published.md"
BEGIN, END = "<!-- The score card: docs/scorecard.py writes it. -->\n\n", "\n<!-- End of the score card. -->"


def main(directory: Path) -> None:
    """Copy the card and write its table."""
    found = in_order(score.read(directory / score.FILE))
    score.write(CARD, found)
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{score.markdown(found)}{END}{after}", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
