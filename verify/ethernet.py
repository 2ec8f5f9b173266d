"""Lossless Ethernet against simulators of others: ns-3 as the repository of HPCC has it, and uet-htsim.

Their figures are rows of `reference/`. A figure agrees if it differs by no more than chance explains, which
is nothing in runs without random numbers, or than the other simulator rounds. Another difference has to be
that of a rule, by name, which is another one there, in the direction that follows from it; it does not count
as agreement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.table import Table

from hopsim import Result
from verify import ethernet_hpcc
from verify.booksim import by_chance
from verify.ethernet_documents import document, host_delay
from verify.ethernet_rows import HTSIM, Scenario, read
from verify.ethernet_scales import PACKET, scale
from verify.options import Options
from verify.statistics import Sample

Figures = Mapping[str, float]

COMPLETION = 1.0
"""Times are whole nanoseconds in ns-3 [ns]."""
GAP = 0.5
"""With HPCC a gap between packets is half a nanosecond shorter in ns-3 in the mean, which rounds it down.

An acknowledgement that changes the rate moves the next packet by it, too. Flows are short enough that no two
packets come in another order because of it; behind that runs part.
"""
PACED, IN_FLIGHT = 0.002, 2
"""Paced packets are a thousandth longer in ns-3, and their gaps whole nanoseconds, up to another thousandth
shorter; and packets at the ends of the window."""


@dataclass(frozen=True)
class Rule:
    """What is another rule there."""

    name: str
    scenarios: str
    """Regular expression over their names."""
    figures: Mapping[str, int]
    """Figure -> whether it has to be greater here (1), less (-1) or either (0) if it differs."""
    why: str


HPCC = ". With all rules of here built into ns-3 every figure is the same (rows `-as-here`)"
HEADERS = (
    "what is under way counts without headers in ns-3, and here with them, as links carry it: with the same "
    "window a tenth more may be under way there"
)
STEPS = "notes in ns-3 have bytes in steps of 128 and queues in steps of 80, and here as they are"

RULES: tuple[Rule, ...] = (
    Rule(
        "tails",
        r"^fat-tree-load(-100)?$",
        {"flows": 0},
        "packets take their turn by the arrival of their tails in ns-3, by that of their heads here, so "
        "that acknowledgements, which are short, go before others there; without them all times are the "
        "same",
    ),
    Rule(
        "what is free",
        r"^pauses-",
        {"pauses": 0, "flows": 0},
        "a threshold of ns-3 is a share of what is free of a buffer that all ports have together, and "
        "moves with what the others have; here it is theirs when all have as much, and stays. Those of "
        "uet-htsim stay, too",
    ),
    Rule(
        "share first",
        r"^dcqcn-\d+-g-256$",
        {"marked": 1, "packets": 0},
        "with a notification α rises before the rate falls in ns-3, and behind it here, as in the paper: "
        "where marks are rare, so that α is no longer large beside g, each takes more there, and there "
        "are fewer. With the order of here built into ns-3 marks are as many",
    ),
    Rule(
        "late fall",
        r"^dcqcn-(incast-\d+|\d+-step)$",
        {"marked": -1, "packets": 1},
        "a notification sets a flag in ns-3, at which a timer looks every microsecond, and for the first "
        "time a microsecond later; here a rate falls at once, before as much is in front of the link",
    ),
    Rule(
        "flag",
        r"^dcqcn-\d+-50-us$",
        {"marked": 1, "packets": 0, "queue": 1},
        "the timer that looks at flags in ns-3 has a period of 50 µs and marks come about as often: a "
        "rate falls in every period with a mark, and here with the first mark that comes 50 µs behind the"
        " last fall, which is more seldom",
    ),
    Rule(
        "not clamped",
        r"^dcqcn-\d+-not-clamped$",
        {"marked": -1, "packets": -1, "queue": -1},
        "the target stays in ns-3 if no event of the timer has come since the last notification; here it "
        "falls to the rate",
    ),
    Rule(
        "hyper increase",
        r"^dcqcn-\d+-hyper$",
        {"marked": -1, "packets": 0, "jain_index": 0, "queue": -1},
        "steps of hyper increase begin with events of the timer alone in ns-3; here the counter of bytes "
        "has to have had some, too, as in the paper",
    ),
    Rule(
        "once in a round trip",
        r"^timely-16$",
        {"packets": 0, "jain_index": -1, "flows": 0},
        "in ns-3 acknowledgements of packets that were sent before the last one which counted do nothing;"
        " here each counts, so that what is fast rises more often",
    ),
    *(
        Rule("headers", scenarios, figures, HEADERS + HPCC)
        for scenarios, figures in (
            (r"^hpcc-2-stages$", {"packets": 1, "queue": -1}),
            (r"^hpcc-4$", {"packets": -1, "queue": 1}),
            (r"^hpcc-(4-stages|2-at-100)$", {"packets": -1}),
            (r"^hpcc-(8|16)-stages$", {"queue": -1}),
        )
    ),
    Rule("steps of notes", r"^hpcc-lot-3$", {"packets": 1}, STEPS + HPCC),
    Rule(
        "headers and steps of notes",
        r"^hpcc-32-at-100$",
        {"packets": -1},
        f"{HEADERS}; and {STEPS}. Each by itself is not more than chance explains{HPCC}",
    ),
    Rule(
        "no rest",
        r"^timely-3-steep$",
        {"flows": 0},
        "TIMELY does not come to rest: rates that are a thousandth apart are some hundredths apart behind"
        " the next fall",
    ),
)


@dataclass(frozen=True)
class Line:
    """A figure of both, or the flow whose figure differs most for its bound."""

    scenario: Scenario
    figure: str
    theirs: float
    ours: float
    bound: float
    rule: Rule | None

    @property
    def agrees(self) -> bool:
        """Whether they differ by no more than the bound."""
        return abs(self.ours - self.theirs) <= self.bound

    @property
    def explained(self) -> bool:
        """Whether a rule says so, and the direction is the one that follows from it."""
        if self.rule is None:
            return False
        direction = self.rule.figures[self.figure]
        return direction == 0 or direction * (self.ours - self.theirs) > 0

    @property
    def verdict(self) -> str:
        """What the table says."""
        if self.agrees:
            return "[green]yes[/]"
        return f"rule: {self.rule.name}" if self.rule and self.explained else "[bold red]NO[/]"


def found(result: Result) -> Figures:
    """What a run shows, under the names of the reference, and `flow 0`, `flow 1`, …"""
    summary = result.summary
    if summary.get("flow_completion_time_mean") is None:
        flows = [float(packets) for packets in result.flows.to_pydict()["packets"]]
    else:
        flows = [job["flow_completion_time_mean"] for job in result.jobs or [summary]]
    return {
        "packets": summary["packets_delivered"],
        "jain_index": summary["jain_index"],
        "marked": (summary.get("packets_marked") or 0) / summary["packets_delivered"],
        "pauses": summary["pauses"],
        "latency": summary["packet_latency_mean_ns"],
        "completion_mean": fmean(flows),
        "completion_max": max(flows),
        **{f"flow {index}": value for index, value in enumerate(flows)},
    }


def lines(scenario: Scenario, runs: Sequence[Figures]) -> list[Line]:
    """All figures of a scenario: those of the run, and of the flows the one that differs most."""
    if "queue" in scenario.figures:
        runs = [{**run, "queue": queue(scenario, run)} for run in runs]
    if scenario.is_hpcc and scenario.warmup is None:
        runs = [later(scenario, run) for run in runs]
    compared = [_line(scenario, figure, figure, theirs, runs) for figure, theirs in scenario.figures.items()]
    flows = [
        _line(scenario, "flows", f"flow {index}", flow.found, runs)
        for index, flow in enumerate(scenario.flows)
        if flow.found is not None
    ]
    if flows:
        compared.append(max(flows, key=lambda line: abs(line.ours - line.theirs) / (line.bound or 1.0)))
    return compared


def queue(scenario: Scenario, run: Figures) -> float:
    """Mean bytes behind a packet that leaves the switch of a star: as many as the link sends while one waits.

    The mean over time is what comes while a packet waits (Little), which is what rows of HPCC have; that
    over packets that leave, which others have, is greater by the share of time in which none does, and then
    nothing waits.
    """
    packet = scale(scenario).packet_time
    empty = ethernet_hpcc.alone(scenario) if scenario.is_hpcc else 2 * (packet + host_delay(scenario))
    return (run["latency"] - empty) / packet * PACKET


def later(scenario: Scenario, run: Figures) -> Figures:
    """Completion times with the time by which packets are earlier at their destination here."""
    flows = [
        run[f"flow {index}"] + ethernet_hpcc.early(scenario, flow.source, flow.destination)
        for index, flow in enumerate(scenario.flows)
    ]
    named = {f"flow {index}": time for index, time in enumerate(flows)}
    return {**run, **named, "completion_mean": fmean(flows), "completion_max": max(flows)}


def _line(scenario: Scenario, figure: str, key: str, theirs: Sample, runs: Sequence[Figures]) -> Line:
    ours = Sample.of([run[key] for run in runs])
    bound = by_chance(theirs, ours) if scenario.seeds > 1 else rounded(scenario, figure, theirs.mean)
    bound += PACKET if figure == "queue" and not scenario.is_hpcc else 0
    rules = (rule for rule in RULES if re.search(rule.scenarios, scenario.name) and figure in rule.figures)
    return Line(scenario, figure, theirs.mean, ours.mean, bound, next(rules, None))


def rounded(scenario: Scenario, figure: str, theirs: float) -> float:
    """How far apart two runs without random numbers may be."""
    if figure == "flows" and scenario.is_hpcc:
        return GAP * max(flow.packets or 0 for flow in scenario.flows)
    if figure == "flows":
        return COMPLETION if scenario.warmup is None else IN_FLIGHT + PACED * theirs
    if figure == "pauses" and scenario.simulator == HTSIM:
        return float(_last_packets(scenario))
    return 0.0


def _last_packets(scenario: Scenario) -> int:
    """Tails have ports of htsim paused, here the head behind one, and behind a flow's last one comes none."""
    return len(scenario.flows)


def check(options: Options) -> int:
    """Run all scenarios, print every figure, and count those that differ without a rule."""
    chosen = [row for row in read() if options.selects(row.name)]
    found_of: dict[str, Sequence[Figures]] = {}
    for seeds in sorted({row.seeds for row in chosen}):
        rows = [row for row in chosen if row.seeds == seeds]
        runs = options.simulate([document(row) for row in rows], min(options.seeds, seeds), found)
        found_of |= {row.name: figures for row, figures in zip(rows, runs, strict=True)}
    compared = [line for row in chosen for line in lines(row, found_of[row.name])]
    table = Table(title="Lossless Ethernet and simulators of others", title_justify="left")
    for heading in ("scenario", "figure"):
        table.add_column(heading)
    for heading in ("there", "hopsim", "difference", "bound", "agrees"):
        table.add_column(heading, justify="left" if heading == "agrees" else "right")
    for line in compared:
        table.add_row(*cells(line))
    options.console.print(table)
    summarize(options, compared)
    return sum(not (line.agrees or line.explained) for line in compared)


def cells(line: Line) -> tuple[str, ...]:
    """A row of the table."""
    difference = line.ours - line.theirs
    return (
        line.scenario.name,
        line.figure,
        f"{line.theirs:.7g}",
        f"{line.ours:.7g}",
        f"{difference:+.3g}",
        f"±{line.bound:.3g}",
        line.verdict,
    )


def summarize(options: Options, compared: Sequence[Line]) -> None:
    """Say what the rules are that explain something, and how many scenarios agree in everything."""
    explained = {
        line.rule.name: line.rule for line in compared if line.rule and not line.agrees and line.explained
    }
    for rule in explained.values():
        options.console.print(f"{rule.name}: {rule.why}.")
    names = {line.scenario.name for line in compared}
    apart = {line.scenario.name for line in compared if not line.agrees}
    wrong = {line.scenario.name for line in compared if not (line.agrees or line.explained)}
    options.console.print(
        f"Ethernet: {len(names - apart)} of {len(names)} scenarios agree in everything, "
        f"{len(apart - wrong)} differ by a rule, {len(wrong)} failed"
    )
