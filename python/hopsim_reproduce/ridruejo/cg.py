"""Figure 4: what the ranks of CG do over time, and what §4.3 says of their messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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

CG = "CG.A.64.it2"
MOST_NODES = 0.75
"""Share of the nodes that is most of them."""


def entries() -> list[Entry]:
    """The figure."""
    return [entry(4, CG, (CG,), _experiments, _conclude)]


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [experiment(CG, 64, seeds, ("messages", "operations"))]


def _conclude(scale: Scale, results: Results) -> Outcome:
    sent = sent_in(results, CG)
    long, short = ([each.bytes for each in sent if each.is_long is which] for which in (True, False))
    numbers = [length("long messages", long, 14_000), length("short messages", short, 8)]
    return Outcome(numbers, list(_facts(sent)))


def _facts(sent: Sequence[Message]) -> Iterator[Fact]:
    by_node = {node: iterations(own) for node, own in by_source(sent).items()}
    found = [each for own in by_node.values() for each in own]
    wanted = (True,) * 4 + (False,) * 6
    usual = [Counter(_kinds(each) for each in own).most_common(1)[0][0] for own in by_node.values() if own]
    # Nodes on the diagonal interchange the fourth message with themselves.
    yield share_of(
        "an iteration is an interchange of 4 long and 3 short messages and one of 3 short ones",
        MOST_NODES,
        [kind == wanted for kind in usual],
        "the nodes, in their most frequent iteration",
    )
    whole = [each for each in found if _kinds(each) == wanted]
    far = [fmean(each[at].distance for each in whole) if whole else 0.0 for at in range(7)]
    yield _nearer("the first two long messages go to nodes nearby, the other two further", far[:2], far[2:4])
    yield _nearer("the first short message goes to a distant node, the other two nearby", far[5:7], far[4:5])
    got: dict[int, list[Message]] = {}
    for message in sorted(sent, key=lambda each: each.matched):
        got.setdefault(message.destination, []).append(message)
    yield share_of(
        "a message is sent only when another one has been received",
        1.0,
        [
            last.joined >= answer.matched
            for own in by_source(sent).values()
            for last, answer in zip(own[1:], got.get(own[0].source, []), strict=False)
        ],
        "the messages of all nodes, each after the one received before",
    )


def _kinds(sent: Sequence[Message]) -> tuple[bool, ...]:
    """Which of some messages are long ones."""
    return tuple(message.is_long for message in sent)


def _nearer(statement: str, less: Sequence[float], more: Sequence[float]) -> Fact:
    found = [", ".join(f"{each:.1f}" for each in group) for group in (less, more)]
    criterion = "mean distance of each of the former below that of each of the latter"
    return Fact(statement, criterion, f"{found[0]} and {found[1]}", max(less) < min(more))
