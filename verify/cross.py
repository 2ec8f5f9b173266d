"""Examples in other simulators, which run what `hopsim export` writes, if they are installed.

A simulator is looked for in its environment variable, or else among the programs of the path. Its figures are
compared with two runs of hopsim: of the document as it is written, and as the other simulator has it, with
its values of the keys of which the export says that they are others there. The second are to agree, by the
tolerances of `verify.booksim` or within what chance explains.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from hopsim.document.experiment import Experiment
from hopsim.errors import RunError
from hopsim.export import booksim as to_booksim
from hopsim.export import caminos as to_caminos
from verify.booksim import AGREES, by_chance, summary
from verify.options import Options
from verify.simulate import Document, with_seed
from verify.statistics import Sample

MOST_SEEDS = 5
"""Runs of a case: other simulators are slow."""
WINDOW = {"warmup": 2_000, "cycles": 10_000}
LIMIT_S = 1_800.0
"""How long a run of another simulator may take."""

VCS, RINGS = "router.virtual_channel.vcs.network", "router.virtual_channel.vcs.rings.dateline.class"
SPECULATION, SPEEDUP = "router.virtual_channel.speculation", "router.virtual_channel.speedup"
INPUTS = "router.virtual_channel.crossbar_inputs"


GRAPH: Document = {
    "load": 0.15,
    "topology": {
        "graph": {
            "edges": [
                {"between": [0, 1], "latency": 3},
                {"between": [1, 2], "latency": 5},
                {"between": [2, 0], "latency": 3},
                {"between": [2, 3], "latency": 2},
                {"between": [3, 4], "latency": 6},
            ],
            "nodes_per_router": 2,
        }
    },
    "router": {"virtual_channel": {"vcs": {"network": 3}, "buffers": {"network": 8, "injection": 8}}},
    "jobs": [{"traffic": {"packet_length": 3}}],
    "measure": {},
}
"""A network that no topology of other simulators is: a triangle of links of two lengths, and a tail."""


GRID: Document = {
    "load": 0.15,
    "links": {"network": {"latency": 4}},
    "router": {"cioq": {"vcs": {"network": 2}}},
    "jobs": [{"traffic": {"packet_length": 8}}],
    "measure": {},
}
"""Packets that move as a whole, through a network that is still to be said."""


@dataclass(frozen=True)
class Simulator:
    """Another simulator.

    Attributes:
        name: what it is called.
        program: its file among the programs of the path.
        variable: the environment variable that says where it is instead.
        cases: points below saturation: of an example by its name and axes, or whole documents.
        theirs: the document that it has of a resolved configuration.
        run: the program, a resolved configuration and a folder of one's own -> what it measured.
    """

    name: str
    program: str
    variable: str
    cases: Mapping[str, Document]
    theirs: Callable[[str], Document]
    run: Callable[[Path, str, Path], Mapping[str, float]]

    def found(self) -> Path | None:
        """Where it is, if it is installed."""
        path = os.environ.get(self.variable) or shutil.which(self.program)
        return None if path is None else Path(path)


PRINTED: Mapping[str, str] = {
    "packet_latency_mean": "Packet latency average",
    "network_latency_mean": "Network latency average",
    "hops_mean": "Hops average",
    "accepted_load": "Accepted flit rate average",
}
"""What BookSim calls metrics in the statistics that it ends with."""


def _run_booksim(program: Path, config: str, folder: Path) -> Mapping[str, float]:
    exported = to_booksim.export(config, "network")
    (folder / "options").write_text(exported.text, "utf-8")
    if exported.network is not None:
        (folder / "network").write_text(exported.network, "utf-8")
    return measured(_output([program.absolute(), "options"], folder))


def measured(output: str) -> Mapping[str, float]:
    """What BookSim says at its end. Raises `RunError` if it does not say it."""
    _, _, overall = output.rpartition("Overall Traffic Statistics")
    found = {
        metric: re.search(rf"^{text} = (\S+)", overall, re.MULTILINE) for metric, text in PRINTED.items()
    }
    if not all(found.values()):
        raise RunError(f"BookSim 2 ended without statistics; its last words: {output[-LAST_WORDS:]}")
    return {metric: float(match[1]) for metric, match in found.items() if match}


def _run_caminos(program: Path, config: str, folder: Path) -> Mapping[str, float]:
    (folder / "main.cfg").write_text(to_caminos.export(config).text, "utf-8")
    output = _output([program.absolute(), "main.cfg", "--results=result"], folder)
    result = folder / "result"
    return read_caminos(result.read_text("utf-8") if result.exists() else output)


def read_caminos(result: str) -> Mapping[str, float]:
    """What CAMINOS has written. Raises `RunError` if it is no result."""
    found = {metric: re.search(rf"\b{key}:\s*([-+.\de]+)", result) for metric, key in WRITTEN.items()}
    if not all(found.values()):
        raise RunError(f"CAMINOS ended without a result; its last words: {result[-LAST_WORDS:]}")
    return {metric: float(match[1]) for metric, match in found.items() if match}


WRITTEN: Mapping[str, str] = {
    "packet_latency_mean": "average_message_delay",
    "hops_mean": "average_packet_hops",
    "accepted_load": "accepted_load",
}
"""What CAMINOS calls metrics in a result."""

LAST_WORDS = 300
"""Characters of what a simulator has printed that a message has."""


def _output(command: list[str | Path], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.stdout


SIMULATORS = (
    Simulator(
        "BookSim 2",
        "booksim",
        "HOPSIM_BOOKSIM",
        {
            "on_chip": {"load": 0.15, VCS: 4},
            "torus_on_chip": {"load": 0.25, VCS: 4, RINGS: "dimension"},
            "speculative_on_chip": {"load": 0.2, SPECULATION: "separate"},
            "o1turn_on_chip": {"load": 0.2, "routing": "o1turn"},
            "speedup_on_chip": {"load": 0.3, SPEEDUP: 1.5, INPUTS: 2},
            "flattened_butterfly": {"load": 0.15, "routing": "valiant"},
            "virtual_channels": {"load": 0.2, VCS: 4},
            "a graph": GRAPH,
        },
        to_booksim.as_booksim,
        _run_booksim,
    ),
    Simulator(
        "CAMINOS",
        "caminos",
        "HOPSIM_CAMINOS",
        {
            "a loaded mesh": {**GRID, "load": 0.4, "topology": {"mesh": {"sides": [8, 4]}}},
            "a mesh": {**GRID, "topology": {"mesh": {"sides": [8, 4], "nodes_per_router": 2}}},
            "a HyperX": {**GRID, "topology": {"hyperx": {"sides": [4, 3], "nodes_per_router": 3}}},
        },
        lambda config: to_caminos.export(config).theirs,
        _run_caminos,
    ),
)


def check(options: Options) -> int:
    """Print what of the selected examples differs in each simulator; how much does."""
    return sum(_check(options, simulator) for simulator in SIMULATORS)


def _check(options: Options, simulator: Simulator) -> int:
    program = simulator.found()
    if program is None:
        options.console.print(
            f"{simulator.name}: not installed; its program is {simulator.program} on the path, or what "
            f"{simulator.variable} names"
        )
        return 0
    cases = {name: case for name, case in simulator.cases.items() if options.selects(name)}
    configs = {name: config_of(name, case) for name, case in cases.items()}
    seeds = min(options.seeds, MOST_SEEDS)
    documents = [json.loads(config) for config in configs.values()]
    written = options.simulate(documents, seeds, summary)
    theirs = [
        {**simulator.theirs(config), "measure": json.loads(config)["measure"]} for config in configs.values()
    ]
    ours = options.simulate(theirs, seeds, summary)
    table = Table(title=f"Examples in {simulator.name}", title_justify="left")
    for heading in (
        "example",
        "metric",
        simulator.name,
        "hopsim",
        "difference",
        "by chance",
        "agrees",
        "as written",
    ):
        table.add_column(heading, justify="left" if heading in {"example", "metric", "agrees"} else "right")
    differ = compared = 0
    for place, (name, config) in enumerate(configs.items()):
        runs = _runs(simulator, program, config, seeds, options.jobs)
        for metric in [each for each in AGREES if each in runs[0]]:
            row = [Sample.of([run[metric] for run in found]) for found in (runs, ours[place], written[place])]
            agrees = _add(table, name, metric, row)
            differ += not agrees
            compared += 1
    options.console.print(table)
    options.console.print(f"{simulator.name}: {compared - differ} passed, {differ} failed")
    return differ


def _add(table: Table, name: str, metric: str, row: list[Sample]) -> bool:
    """Put a metric into the table; whether it agrees."""
    theirs, ours, written = row
    difference, chance = ours.mean - theirs.mean, by_chance(theirs, ours)
    agrees = abs(difference) <= max(AGREES[metric] * theirs.mean, chance)
    table.add_row(
        name,
        metric,
        f"{theirs.mean:.4g}",
        f"{ours.mean:.4g}",
        f"{difference / theirs.mean:+.1%}",
        f"±{chance / theirs.mean:.1%}",
        "[green]yes[/]" if agrees else "[bold red]NO[/]",
        f"{written.mean:.4g}",
    )
    return agrees


def _runs(
    simulator: Simulator, program: Path, config: str, seeds: int, jobs: int
) -> list[Mapping[str, float]]:
    """What the other simulator measures with seeds 1 to `seeds`."""

    def run(seed: int) -> Mapping[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            return simulator.run(program, json.dumps(with_seed(json.loads(config), seed)), Path(folder))

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, range(1, seeds + 1)))


def config_of(name: str, case: Document) -> str:
    """The resolved configuration of a case, measured as here."""
    if "topology" in case:
        (point,) = Experiment.of(case).points()
    else:
        points = Experiment.open(name).points()
        point = next(each for each in points if case.items() <= each.axes.items())
    config = json.loads(point.config)
    return json.dumps({**config, "measure": {**config["measure"], **WINDOW}})
