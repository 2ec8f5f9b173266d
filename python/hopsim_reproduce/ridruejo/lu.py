"""Figure 5: what the ranks of LU do over time, and what §4.3 says of their messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from hopsim_reproduce.model import Entry, Experiment, Fact, Outcome, Results, Scale
from hopsim_reproduce.ridruejo.messages import (
    Message,
    by_source,
    entry,
    experiment,
    iterations,
    length,
    sent_in,
    share_of,
)

LU_16, LU_64, LU_SMALL = "LU.A.16.it5", "LU.A.64.it5", "LU.W.64.it5"
SIZEABLE = 0.25
"""Share of the time that is a sizeable portion of it."""


def entries() -> list[Entry]:
    """The figure."""
    return [entry(5, LU_16, (LU_16, LU_64, LU_SMALL), _experiments, _conclude)]


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    shown = experiment(LU_16, 16, seeds, ("messages", "operations"))
    return [shown, *(experiment(trace, 64, seeds, ("messages",)) for trace in (LU_64, LU_SMALL))]


def _conclude(scale: Scale, results: Results) -> Outcome:
    few, many, small = (sent_in(results, trace) for trace in (LU_16, LU_64, LU_SMALL))
    long, short = ([each.bytes for each in many if each.is_long is which] for which in (True, False))
    numbers = [length("messages of a cascade", short, 600), length("long messages", long, 40_000)]
    return Outcome(numbers, [*_facts(few, many), *_growth(small, many)])


def _facts(few: Sequence[Message], many: Sequence[Message]) -> Iterator[Fact]:
    for name, sent, side in ((LU_64, many, 8), (LU_16, few, 4)):
        yield _distances(f"{name}: messages go to distance 1 or {side}", sent, {1, side})
        orders = [_distances_of_long(each) for own in by_source(sent).values() for each in iterations(own)]
        yield share_of(
            f"{name}: the neighbours' interchange comes before that at distance {side}",
            1.0,
            [order == sorted(order) and set(order) == {1, side} for order in orders],
            "the iterations of all nodes",
        )
    first = min(many, key=lambda each: each.joined, default=None)
    yield _starts("the cascade downward begins at node 0", first, 0)
    up = [each for each in many if not each.is_long and each.destination < each.source]
    first = min(up, key=lambda each: each.joined, default=None)
    yield _starts("the cascade upward begins at node 63", first, 63)
    share = _time_of_cascades(many)
    criterion = f"at least {SIZEABLE:.0%} of an iteration of node 0"
    yield Fact(
        "the cascades take a sizeable portion of the time", criterion, f"{share:.0%}", share >= SIZEABLE
    )


def _distances(statement: str, sent: Sequence[Message], allowed: set[int]) -> Fact:
    found = Counter(each.distance for each in sent)
    others = sum(found.values()) - sum(found[each] for each in allowed)
    holds = others == 0 and all(found[each] for each in allowed)
    text = ", ".join(f"{found[each]} to {each}" for each in sorted(allowed))
    return Fact(statement, "all messages, and some to each", f"{text}, {others} to others", holds)


def _distances_of_long(iteration: Sequence[Message]) -> list[int]:
    return [each.distance for each in iteration if each.is_long]


def _starts(statement: str, first: Message | None, node: int) -> Fact:
    found = "no message" if first is None else f"node {first.source}"
    return Fact(
        statement, "the source of its first message", found, first is not None and first.source == node
    )


def _time_of_cascades(sent: Sequence[Message]) -> float:
    """The share of an iteration of node 0, from long message to long message, in which it is in cascades."""
    cascades, whole = 0, 0
    for one, other in pairwise(iterations(by_source(sent).get(0, []))):
        short = [each for each in one if not each.is_long]
        cascades += short[-1].matched - short[0].joined
        whole += other[0].joined - one[0].joined
    return cascades / whole if whole else 0.0


def _growth(small: Sequence[Message], large: Sequence[Message]) -> Iterator[Fact]:
    sizes = [[each.bytes for each in sent if not each.is_long] for sent in (small, large)]
    for what, values in (
        ("messages of cascades get longer", [fmean(each or [0]) for each in sizes]),
        ("there are more chains", [len(each) for each in sizes]),
    ):
        yield Fact(
            f"in the larger problem {what}",
            "class A above class W, in as many iterations",
            f"{values[1]:,.0f} and {values[0]:,.0f}",
            values[1] > values[0],
        )
