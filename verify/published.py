"""Tables and figures of publications: the entries of `hopsim reproduce` at full scale.

A published statement or value that does not come out fails unless its sentence, in
`hopsim_reproduce/data/sentences`, says what is known of that.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopsim_reproduce import show
from hopsim_reproduce.entries import ENTRIES
from hopsim_reproduce.model import Entry
from hopsim_reproduce.run import run
from hopsim_reproduce.score import score
from verify.options import Options


def check(options: Options, publications: Sequence[str]) -> int:
    """Print every agreement of the selected entries of some publications; how many fail."""
    found = [entry for entry in ENTRIES if entry.name.partition("-")[0] in publications]
    return sum(_entry(options, entry) for entry in found if options.selects(entry.name))


def _entry(options: Options, entry: Entry) -> int:
    """Run an entry at full scale and print it."""
    seeds = min(options.seeds, entry.seeds["full"])
    directory = options.out / "published" / entry.name
    show.heading(options.console, entry, "full")
    outcome = entry.conclude("full", run(entry.experiments("full", seeds), directory, options.jobs))
    show.outcome(options.console, entry, "full", outcome)
    unexplained = 0
    for line in score(entry, "full", seeds, outcome).failed:
        unexplained += not line.cause
        options.console.print(f"{'Known' if line.cause else 'FAILS'}: {line.text}. {line.cause}")
    return unexplained
