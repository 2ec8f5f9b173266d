"""How many of the mutants that a tool made were caught."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import click
from rich.console import Console
from rich.table import Table

from mutants.changes import Change


class Fate(Enum):
    """What became of a mutant."""

    CAUGHT = "caught"
    ENDLESS = "caught at the time limit"
    MISSED = "missed"
    UNVIABLE = "does not compile"


@dataclass(frozen=True)
class Outcome:
    """A mutant that was tried."""

    place: str
    """The folder or module that it is counted under."""
    name: str
    """What its tool calls it."""
    change: Change
    fate: Fate


@dataclass(frozen=True)
class Score:
    """A place's mutants."""

    caught: int
    viable: int
    """Those that compile and change something."""

    @property
    def share(self) -> float:
        """Caught over viable; 1 if there were none."""
        return self.caught / self.viable if self.viable else 1.0


def scores(outcomes: Sequence[Outcome], equivalent: Mapping[Change, str]) -> dict[str, Score]:
    """Place -> its score, in order of their first mutants."""
    found: dict[str, Score] = {}
    for place in dict.fromkeys(outcome.place for outcome in outcomes):
        fates = [
            outcome.fate
            for outcome in outcomes
            if outcome.place == place
            and outcome.fate is not Fate.UNVIABLE
            and outcome.change not in equivalent
        ]
        found[place] = Score(len(fates) - fates.count(Fate.MISSED), len(fates))
    return found


def report(outcomes: Sequence[Outcome], equivalent: Mapping[Change, str], target: float) -> int:
    """Print scores and what was missed; the exit status: 1 if a place is below the target."""
    table = Table("where", "caught", "viable", "score", f"target {target:.0%}")
    found = scores(outcomes, equivalent)
    for place, score in found.items():
        verdict = "reached" if score.share >= target else "BELOW"
        table.add_row(place, str(score.caught), str(score.viable), f"{score.share:.1%}", verdict)
    for outcome in outcomes:
        if outcome.fate is Fate.MISSED and outcome.change not in equivalent:
            click.echo(f"missed: {outcome.name}\n{outcome.change.text()}", nl=False)
    Console().print(table)
    counts = ", ".join(
        f"{sum(outcome.fate is fate for outcome in outcomes)} {fate.value}"
        for fate in (Fate.ENDLESS, Fate.UNVIABLE)
    )
    left_out = sum(outcome.change in equivalent for outcome in outcomes)
    click.echo(f"{len(outcomes)} mutants; of these {counts}; {left_out} equivalent ones not counted")
    return 0 if all(score.share >= target for score in found.values()) else 1
