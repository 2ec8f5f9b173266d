"""The messages that the ranks of a trace send over a ring, which figures 4 and 5 draw over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from hopsim.results.result import Result
from hopsim_reproduce.model import (
    AGREES,
    Comparison,
    Document,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    slug,
)
from hopsim_reproduce.ridruejo.system import NOTE, RIDRUEJO, running

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG = 1_000
"""Bytes from which on a message is a long one."""
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 1}


@dataclass(frozen=True)
class Message:
    """A message of a program that is no part of a collective operation."""

    source: int
    destination: int
    bytes: int
    joined: int
    """Cycle in which it joins the queue of its node."""
    left: int
    arrived: int
    matched: int
    """Cycle in which its receiver has it."""

    @property
    def is_long(self) -> bool:
        """Whether it is one of the long ones."""
        return self.bytes >= LONG

    @property
    def distance(self) -> int:
        """Between the numbers of the nodes."""
        return abs(self.destination - self.source)


def messages(result: Result) -> list[Message]:
    """The messages of a run, each rank's in the order in which they are sent."""
    table = result.messages
    names = ("source", "destination", "bytes", "joined", "left", "arrived", "matched")
    columns = [table.column(name).to_numpy() for name in names]
    chosen = table.column("is_collective").to_numpy() == 0
    rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
    return sorted((Message(*row) for row in rows), key=lambda each: (each.source, each.joined))


def by_source(all_of_them: Sequence[Message]) -> dict[int, list[Message]]:
    """The messages of each rank that sends any."""
    found: dict[int, list[Message]] = {}
    for message in all_of_them:
        found.setdefault(message.source, []).append(message)
    return found


def iterations(sent: Sequence[Message]) -> list[list[Message]]:
    """What a rank sends, cut where a long message follows a short one, from the first such place on."""
    cuts = [at for at, (one, other) in enumerate(pairwise(sent), 1) if other.is_long and not one.is_long]
    return [list(sent[first:last]) for first, last in pairwise([*cuts, len(sent)])]


def experiment(trace: str, ranks: int, seeds: int, streams: Sequence[str]) -> Experiment:
    """A trace on a ring with a node per rank, at the recorded speed, with these record streams."""
    document: Document = running(
        {"ring": {"routers": ranks}}, "base", {"trace": {"file": f"traces/{trace}.mpt.xz"}}, streams
    )
    document["jobs"][0]["host"]["cpu_speed"] = 1
    return Experiment(slug(trace), document, (), seeds)


def sent_in(results: Results, trace: str) -> list[Message]:
    """The messages of the run of a trace."""
    return messages(results[slug(trace)][0])


def share_of(statement: str, least: float, holding: Sequence[bool], of: str) -> Fact:
    """A statement that holds if at least this share of the cases `of` something does."""
    share = fmean(holding) if holding else 0.0
    return Fact(statement, f"at least {least:.0%} of {of}", f"{share:.1%}", share >= least)


def length(which: str, sizes: Sequence[int], published: float) -> Comparison:
    """The mean length of some messages beside the published one, which is a round number."""
    mean = Measured.exactly(fmean(sizes)) if sizes else None
    return Comparison(which, "mean length [B]", mean, published, 0, allowed=AGREES * published)


def entry(
    number: int,
    shown: str,
    traces: Sequence[str],
    experiments: Callable[[Scale, int], list[Experiment]],
    conclude: Callable[[Scale, Results], Outcome],
) -> Entry:
    """The figure `number`, which draws an iteration of the trace `shown`; runs of `traces` judge it."""
    return Entry(
        name=f"ridruejo-figure-{number}",
        title=f"What the ranks of {shown.partition('.it')[0]} do over time",
        source=f"{RIDRUEJO}, figure {number} and §4.3",
        notes=partial(_notes, traces),
        seeds=SEEDS,
        experiments=experiments,
        conclude=conclude,
        draw=partial(_draw, shown, f"Figure {number}: one iteration of {shown}"),
    )


def _notes(traces: Sequence[str], scale: Scale) -> list[str]:
    return [
        f"Rings of as many nodes as ranks. {NOTE} Processors of the recorded speed, one cycle per ns.",
        f"Traces of NPB 3.3, recorded on another machine than the paper's: {', '.join(traces)}. What is "
        "judged is what the programs send; the figure shows one iteration of theirs.",
    ]


def _draw(trace: str, title: str, scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    result = results[slug(trace)][0]
    rounds = iterations(by_source(messages(result)).get(0, []))
    begin, end = (rounds[at][0].joined for at in (1, 2))
    return drawing.time_lines(title, result.operations, result.messages, (begin, end))
