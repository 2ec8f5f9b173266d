"""Tables and figures of publications: the entries of `hopsim reproduce` at full scale.

A statement that does not hold, or a value that does not agree, fails unless `verify.disagreements` says what
is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hopsim_reproduce import show
from hopsim_reproduce.entries import ENTRIES
from hopsim_reproduce.model import Entry, Outcome
from hopsim_reproduce.run import run
from verify.disagreements import known
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
    show.outcome(options.console, entry, outcome)
    unexplained = 0
    for text in disagreements(outcome):
        reason = known(entry.name, text)
        unexplained += reason is None
        options.console.print(f"{'Known' if reason else 'FAILS'}: {text}. {reason or ''}")
    return unexplained


def disagreements(outcome: Outcome) -> Iterator[str]:
    """What does not agree and what does not hold."""
    for value in outcome.comparisons:
        if value.agrees is False:
            yield f"{value.row}, {value.quantity}"
    for fact in outcome.facts:
        if not fact.holds:
            yield fact.statement
