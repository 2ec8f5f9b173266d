"""Programs on the ideal network against an independent model, cycle by cycle, and Graph500 against FOGSim.

Every time, count and sum of `reference/applications` must be equal to the last digit: traces under all
settings of the hosts, every rank of them, collectives, and small programs of which each tries one rule.
Traces that are not among the examples of the package are looked for in the folder that `--traces` or
HOPSIM_TRACES names, and listed as missing without.
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

import hopsim
from hopsim import Result
from verify import graph500, trace_rows
from verify.options import Options
from verify.rows import DIRECTORY
from verify.simulate import Document

REFERENCE = DIRECTORY / "applications"
SHIPPED = Path(hopsim.__file__).parent / "experiments" / "traces"
LATENCY = 500
PACKET_LENGTH = 1024
FSIN = dict.fromkeys(("barrier", "bcast", "reduce", "allreduce", "alltoall"), "fsin")

SETTINGS: Mapping[str, tuple[Document, Document]] = {
    "base": ({}, {}),
    "instant": ({}, {"latency": 1, "cycles_per_phit": 0}),
    "overheads": ({"send_overhead": 200, "receive_overhead": 200, "gap": 100}, {}),
    "rendezvous": ({"eager_limit": 8192}, {}),
    "synchronous": ({"eager_limit": 0}, {}),
    "injected": ({"send_completes": "injected"}, {}),
    "serial_ejection": ({}, {"ejection": "serial"}),
    "fsin_collectives": ({"collectives": FSIN}, {}),
}
"""Name of a setting in traces.csv -> keys of the host and of the network."""

Values = Mapping[str, Any]
"""What is compared: name -> exact value."""


@dataclass(frozen=True)
class Case:
    """One run, with what it must give."""

    area: str
    """What it is counted under."""
    name: str
    """`--rows` matches it."""
    document: Document
    expected: Values
    measure: Callable[[Result], Values]


@dataclass(frozen=True)
class Verdict:
    """What a run gave that is not what it must give: name -> (got, expected)."""

    case: Case
    different: Mapping[str, tuple[Any, Any]]


def check(options: Options) -> int:
    """Print how many cases are equal, and each that is not; how many fail."""
    with tempfile.TemporaryDirectory() as folder:
        found, missing = cases(options.traces, Path(folder))
        chosen = [case for case in found if options.selects(case.name)]
        with ThreadPoolExecutor(options.jobs) as pool:
            verdicts = list(pool.map(judge, chosen))
    if verdicts:
        options.console.print(table(verdicts))
    for verdict in verdicts:
        for name, (got, expected) in verdict.different.items():
            options.console.print(f"FAILS: {verdict.case.name}: {name} is {got}, not {expected}")
    if missing and any(options.selects(name) for name in missing):
        options.console.print(f"Traces that are not there (--traces DIR): {', '.join(missing)}")
    failed = sum(1 for verdict in verdicts if verdict.different)
    return failed + trace_rows.check(options) + graph500.check(options)


def judge(case: Case) -> Verdict:
    """Run a case and compare."""
    try:
        got = case.measure(hopsim.run(case.document))
    except (hopsim.ConfigError, hopsim.RunError) as error:
        got = failure(str(error))
    different = {
        name: (got.get(name), value) for name, value in case.expected.items() if got.get(name) != value
    }
    return Verdict(case, different)


def table(verdicts: Sequence[Verdict]) -> Table:
    """A line per area."""
    result = Table(title="Programs on the ideal network", title_justify="left")
    result.add_column("area")
    for heading in ("cases", "values", "equal"):
        result.add_column(heading, justify="right")
    for area in dict.fromkeys(verdict.case.area for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.case.area == area]
        values = sum(len(verdict.case.expected) for verdict in own)
        wrong = sum(len(verdict.different) for verdict in own)
        result.add_row(area, str(len(own)), f"{values:,}", f"{values - wrong:,}")
    return result


def cases(traces: Path | None, folder: Path) -> tuple[list[Case], list[str]]:
    """All cases, and the names of the traces that are missing; `folder` takes files of programs."""
    missing: list[str] = []
    found = [*_examples(folder), *_collectives()]
    ranks: dict[str, list[Mapping[str, str]]] = {}
    for row in _rows("ranks.csv"):
        ranks.setdefault(row["trace"], []).append(row)
    for row in _rows("traces.csv"):
        file = _trace(row["trace"], traces)
        if file is None:
            missing += [row["trace"]] if row["trace"] not in missing else []
            continue
        found.append(_of_trace(row, file))
        if row["setting"] == "base" and row["cpu_speed"] == "1":
            found.append(_of_ranks(row["trace"], file, ranks[row["trace"]]))
    return found, missing


def _rows(name: str) -> list[dict[str, str]]:
    with (REFERENCE / name).open(newline="") as file:
        return list(csv.DictReader(file))


def _trace(name: str, folder: Path | None) -> Path | None:
    """The file of a trace."""
    places = [place / f"{name}.mpt.xz" for place in (SHIPPED, folder) if place is not None]
    return next((place for place in places if place.exists()), None)


def ideal(nodes: int, program: Document, host: Document, network: Document, cycle: Any = 1) -> Document:
    """The document of a program on the ideal network."""
    return {
        "units": {"cycle": f"{cycle} ns", "phit": "4 B"},
        "topology": {"ideal": {"nodes": nodes, "latency": LATENCY, **network}},
        "jobs": [{"program": program, "host": {"packet_length": PACKET_LENGTH, **host}}],
        "measure": {"streams": ["ranks"]},
    }


def _of_trace(row: Mapping[str, str], file: Path) -> Case:
    speed = row["cpu_speed"]
    host, network = SETTINGS[row["setting"]]
    host = {"cpu_speed": speed if speed == "infinite" else float(speed), **host}
    expected = {
        name: int(value) for name, value in row.items() if name not in ("trace", "setting", "cpu_speed")
    }
    return Case(
        f"traces, {row['setting']}",
        f"{row['trace']} {row['setting']} {speed}",
        ideal(_ranks_of(row["trace"]), {"trace": {"file": str(file)}}, host, network),
        expected,
        sums,
    )


def _of_ranks(trace: str, file: Path, rows: Sequence[Mapping[str, str]]) -> Case:
    document = ideal(len(rows), {"trace": {"file": str(file)}}, {}, {})
    expected = {
        f"{name} of rank {row['rank']}": int(value)
        for row in rows
        for name, value in row.items()
        if name not in ("trace", "rank")
    }
    return Case("ranks", f"{trace} ranks", document, expected, by_rank)


def _collectives() -> Iterator[Case]:
    for row in _rows("collectives.csv"):
        kind, algorithm, members, root, size = (
            row[name] for name in ("kind", "algorithm", "members", "root", "bytes")
        )
        program = {"kind": kind, "bytes": int(size), "root": max(int(root), 0)}
        yield Case(
            "collectives",
            f"{kind} {algorithm} of {members}, {size} B",
            ideal(int(members), {"collective": program}, {"collectives": {kind: algorithm}}, {}),
            {name: int(row[name]) for name in ("execution_time", "finish_min", "finish_sum", "messages")}
            | {"bytes": int(row["message_bytes"])},
            sums,
        )


def _examples(folder: Path) -> Iterator[Case]:
    examples = json.loads((REFERENCE / "examples.json").read_text("utf-8"))
    for number, example in enumerate(examples):
        file = folder / f"example-{number}"
        file.write_text(example["program"], "utf-8")
        host = dict(example["host"])
        cycle = host.pop("cycle_ns", 1)
        ranks = re.search(r"^(?:num_)?ranks (\d+)", example["program"], re.MULTILINE)
        kind = "goal" if example["format"] == "goal" else "trace"
        document = ideal(
            int(ranks[1]) if ranks else 2, {kind: {"file": str(file)}}, host, example["network"], cycle
        )
        yield Case("examples", f"example {example['name']}", document, _promised(example["result"]), small)


def _promised(result: Mapping[str, Any]) -> Values:
    """What an example must give. A message or a receive without partner is refused before anything runs."""
    if result.get("error") == "unmatched send" or result.get("cycle") == UNMATCHED_RECEIVE:
        return {"refused": True}
    if "error" in result:
        return {"stuck at": result["cycle"], "ranks that wait": result["ranks"]}
    latencies: list[int] = result["message_latency"]
    return {name: result[name] for name in ("execution_time", "finish", "messages")} | {
        "latency_sum": sum(latencies),
        "latency_max": max(latencies, default=0),
    }


UNMATCHED_RECEIVE = 502
"""Where the example with a receive that nobody sends to would be stuck [cycles]."""


def failure(message: str) -> Values:
    """What a refusal or a job that is stuck says."""
    stuck = re.search(r"is stuck at cycle (\d+)", message)
    if stuck is None:
        return {"refused": "the first that nobody" in message, "message": message}
    waiting = re.findall(r"^ +rank (\d+) ", message, re.MULTILINE)
    return {"stuck at": int(stuck[1]), "ranks that wait": [int(rank) for rank in waiting]}


def sums(result: Result) -> Values:
    """The columns of traces.csv."""
    summary, ranks = result.summary, result.tables["ranks"].to_pydict()
    return {
        "execution_time": summary["execution_time"],
        "finish_min": summary["rank_finish_min"],
        "finish_sum": sum(ranks["finish"]),
        "compute_max": summary["compute_time_max"],
        "compute_sum": sum(ranks["compute"]),
        "overhead_sum": sum(ranks["overhead"]),
        "wait_sum": sum(ranks["wait"]),
        "messages": summary["messages"],
        "bytes": summary["message_bytes"],
        # Exact: a mean of integers whose sum has less than 53 bits.
        "latency_sum": round((summary["message_latency_mean"] or 0) * summary["messages"]),
        "latency_max": summary["message_latency_max"] or 0,
    }


def small(result: Result) -> Values:
    """The same with the end of every rank."""
    return {**sums(result), "finish": result.tables["ranks"].column("finish").to_pylist()}


def by_rank(result: Result) -> Values:
    """The columns of ranks.csv for every rank."""
    rows = result.tables["ranks"].to_pylist()
    return {f"{name} of rank {row['rank']}": value for row in rows for name, value in row.items()}


def _ranks_of(trace: str) -> int:
    """`CG.A.16.it2` has 16."""
    return int(trace.split(".")[2])
