"""Figures 4 and 5: what the ranks of CG and LU do over time, and what §4.3 says of their messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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

CG, LU_16, LU_64, LU_SMALL = "CG.A.64.it2", "LU.A.16.it5", "LU.A.64.it5", "LU.W.64.it5"
LONG = 1_000
"""Bytes from which on a message is a long one."""
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 1}
MOST_NODES = 0.75
"""Share of the nodes that is most of them."""
SIZEABLE = 0.25
"""Share of the time that is a sizeable portion of it."""


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


def _by_source(all_of_them: Sequence[Message]) -> dict[int, list[Message]]:
    found: dict[int, list[Message]] = {}
    for message in all_of_them:
        found.setdefault(message.source, []).append(message)
    return found


def iterations(sent: Sequence[Message]) -> list[list[Message]]:
    """What a rank sends, cut where a long message follows a short one, from the first such place on."""
    cuts = [at for at, (one, other) in enumerate(pairwise(sent), 1) if other.is_long and not one.is_long]
    return [list(sent[first:last]) for first, last in pairwise([*cuts, len(sent)])]


def _experiment(trace: str, ranks: int, seeds: int, streams: Sequence[str]) -> Experiment:
    document: Document = running(
        {"ring": {"routers": ranks}}, "base", {"trace": {"file": f"traces/{trace}.mpt.xz"}}, streams
    )
    document["jobs"][0]["host"]["cpu_speed"] = 1
    return Experiment(slug(trace), document, (), seeds)


def _of(results: Results, trace: str) -> list[Message]:
    return messages(results[slug(trace)][0])


def _share(statement: str, least: float, holding: Sequence[bool], of: str) -> Fact:
    share = fmean(holding) if holding else 0.0
    return Fact(statement, f"at least {least:.0%} of {of}", f"{share:.1%}", share >= least)


# Figure 4: CG.


def _cg_experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [_experiment(CG, 64, seeds, ("messages", "operations"))]


def _cg(scale: Scale, results: Results) -> Outcome:
    sent = _of(results, CG)
    long, short = ([each.bytes for each in sent if each.is_long is which] for which in (True, False))
    numbers = [_bytes("long messages", long, 14_000), _bytes("short messages", short, 8)]
    return Outcome(numbers, list(_cg_facts(sent)))


def _bytes(which: str, sizes: Sequence[int], published: float) -> Comparison:
    mean = Measured.exactly(fmean(sizes)) if sizes else None
    return Comparison(which, "mean length [B]", mean, published, 0, allowed=AGREES * published)


def _cg_facts(sent: Sequence[Message]) -> Iterator[Fact]:
    by_node = {node: iterations(own) for node, own in _by_source(sent).items()}
    found = [each for own in by_node.values() for each in own]
    wanted = (True,) * 4 + (False,) * 6
    usual = [Counter(_kinds(each) for each in own).most_common(1)[0][0] for own in by_node.values() if own]
    # Nodes on the diagonal interchange the fourth message with themselves.
    yield _share(
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
    yield _share(
        "a message is sent only when another one has been received",
        1.0,
        [
            last.joined >= answer.matched
            for own in _by_source(sent).values()
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


# Figure 5: LU.


def _lu_experiments(scale: Scale, seeds: int) -> list[Experiment]:
    shown = _experiment(LU_16, 16, seeds, ("messages", "operations"))
    return [shown, *(_experiment(trace, 64, seeds, ("messages",)) for trace in (LU_64, LU_SMALL))]


def _lu(scale: Scale, results: Results) -> Outcome:
    few, many, small = (_of(results, trace) for trace in (LU_16, LU_64, LU_SMALL))
    long, short = ([each.bytes for each in many if each.is_long is which] for which in (True, False))
    numbers = [_bytes("messages of a cascade", short, 600), _bytes("long messages", long, 40_000)]
    return Outcome(numbers, [*_lu_facts(few, many), *_lu_growth(small, many)])


def _lu_facts(few: Sequence[Message], many: Sequence[Message]) -> Iterator[Fact]:
    for name, sent, side in ((LU_64, many, 8), (LU_16, few, 4)):
        yield _distances(f"{name}: messages go to distance 1 or {side}", sent, {1, side})
        orders = [_distances_of_long(each) for own in _by_source(sent).values() for each in iterations(own)]
        yield _share(
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
    for one, other in pairwise(iterations(_by_source(sent).get(0, []))):
        short = [each for each in one if not each.is_long]
        cascades += short[-1].matched - short[0].joined
        whole += other[0].joined - one[0].joined
    return cascades / whole if whole else 0.0


def _lu_growth(small: Sequence[Message], large: Sequence[Message]) -> Iterator[Fact]:
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


# Both.


def _notes(traces: Sequence[str], scale: Scale) -> list[str]:
    return [
        f"Rings of as many nodes as ranks. {NOTE} Processors of the recorded speed, one cycle per ns.",
        f"Traces of NPB 3.3, recorded on another machine than the paper's: {', '.join(traces)}. What is "
        "judged is what the programs send; the figure shows one iteration of theirs.",
    ]


def _draw(trace: str, title: str, scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    result = results[slug(trace)][0]
    rounds = iterations(_by_source(messages(result)).get(0, []))
    begin, end = (rounds[at][0].joined for at in (1, 2))
    return drawing.time_lines(title, result.operations, result.messages, (begin, end))


def entries() -> list[Entry]:
    """Both figures."""
    figures = (
        ("4", CG, (CG,), _cg_experiments, _cg),
        ("5", LU_16, (LU_16, LU_64, LU_SMALL), _lu_experiments, _lu),
    )
    return [
        Entry(
            name=f"ridruejo-figure-{number}",
            title=f"What the ranks of {shown.partition('.it')[0]} do over time",
            source=f"{RIDRUEJO}, figure {number} and §4.3",
            notes=partial(_notes, traces),
            seeds=SEEDS,
            experiments=experiments,
            conclude=conclude,
            draw=partial(_draw, shown, f"Figure {number}: one iteration of {shown}"),
        )
        for number, shown, traces, experiments, conclude in figures
    ]
