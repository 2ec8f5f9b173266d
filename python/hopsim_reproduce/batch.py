"""Running entries: one, or all of them with the score card, which is kept up to date after each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hopsim.errors import ConfigError, RunError
from hopsim_reproduce import page, score, show
from hopsim_reproduce.entries import ENTRIES
from hopsim_reproduce.model import Entry, Outcome, Results, Scale
from hopsim_reproduce.run import run
from hopsim_reproduce.score import Score


@dataclass(frozen=True)
class How:
    """How entries are run."""

    scale: Scale
    jobs: int | None
    seeds: int | None
    """Runs per point; None: as many as the entry has."""

    def seeds_of(self, entry: Entry) -> int:
        """Runs per point of an entry."""
        return self.seeds or entry.seeds[self.scale]


def run_entry(entry: Entry, how: How, directory: Path) -> tuple[Outcome, list[Path]]:
    """Run or resume an entry; what it concludes, and the files it has written."""
    from hopsim_reproduce import drawing  # loads matplotlib, which a listing does not need

    results = run(entry.experiments(how.scale, how.seeds_of(entry)), directory, how.jobs)
    outcome = _conclude(entry, how.scale, results)
    written = show.write(directory, entry, how.scale, outcome)
    return outcome, written + drawing.save(entry.draw(how.scale, results), directory, entry.name)


def _conclude(entry: Entry, scale: Scale, results: Results) -> Outcome:
    """What an entry concludes. Raises `RunError` where its statements divide by what nobody got."""
    try:
        return entry.conclude(scale, results)
    except (ArithmeticError, ValueError) as error:
        reason = "what its statements compare is missing in these results, or nobody got anything of it"
        raise RunError(f"{entry.name}: {reason} ({error}); valid: longer runs, or more seeds") from error


def run_all(entries: Iterable[Entry], how: How, directory: Path, told: Callable[[Score], None]) -> list[Path]:
    """Run or resume entries, each in a directory of its own; the card and the page that were written.

    An entry that cannot be run has no verdict and stops no other. Cards of entries that are not among these
    stay as they were.
    """
    file = directory / score.FILE
    found = {each.entry: each for each in score.read(file)} if file.exists() else {}
    for entry in entries:
        found[entry.name] = _scored(entry, how, directory / entry.name)
        score.write(file, in_order(found.values()))
        told(found[entry.name])
    return [file, page.write(directory, in_order(found.values()))]


def _scored(entry: Entry, how: How, directory: Path) -> Score:
    try:
        outcome, _ = run_entry(entry, how, directory)
    except (ConfigError, RunError) as error:
        return score.pending(entry.name, str(error).partition("\n")[0])
    return score.score(entry, how.scale, how.seeds_of(entry), outcome)


def in_order(found: Iterable[Score]) -> Sequence[Score]:
    """A score of every entry, in the order of the list, also of those that were not run."""
    by_name = {each.entry: each for each in found}
    return [by_name.get(entry.name) or score.pending(entry.name) for entry in ENTRIES]
