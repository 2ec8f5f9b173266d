"""Transients against FOGSim: latency and misrouted share by generation cycle around a change.

Each curve of the reference is compared bin by bin within the spread of seeds. A curve fails if one
bin differs by more than chance explains once in a thousand curves: the quantile of `compare`,
divided by the number of bins.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table

from hopsim import Result
from hopsim.files import csv_file
from verify import fogsim
from verify.options import Options
from verify.rows import DIRECTORY, Row, read_runs
from verify.simulate import Document
from verify.statistics import FALSE_ALARM, Sample, standard_error, student_quantile

REFERENCE = DIRECTORY / "fogsim-transients.csv"
REFERENCE_SEEDS = 3
MIN_SEEDS = 10
"""With fewer, the spread of a bin is too uncertain."""

LOAD = 0.2
WARMUP = 6000
"""Cycles of uniform traffic; the pattern changes at their end."""
CYCLES = 4000
"""Cycles simulated after the change: packets of the last bin arrive within them."""
BIN = 20
H = 3
PACKET = 8
"""Packet length [phits]: the reference's latency ends with the head, hopsim's with the tail."""

ROWS = {"OLM-CA": "OLM-MM/CA", "OLM-CGA": "OLM-MM/RR", "OLM-ECTN": "OLM-MM/ECTN", "SRC-RRG": "SRC-RRG/RR"}
"""Label of a transient -> label of the steady rows with the same settings."""

BUFFERS = {"base": ("32", "256"), "big": ("256", "2048")}
"""Name -> local and global input buffers [phits]."""

OVERCOUNTED = frozenset({"SRC-RRG"})
"""Labels whose misrouted share counts every evaluation that was not minimal, not the packets misrouted."""

WORST = 3
"""Bins shown of each curve."""


@dataclass(frozen=True)
class Bin:
    """Packets generated in an interval."""

    packets: float
    latency: float
    """Mean, without the packet's own length [cycles]."""
    share: float
    """Misrouted packets over all."""


Bins = Mapping[int, Bin]
"""First cycle of the interval, relative to the change -> its packets."""


@dataclass(frozen=True)
class Transient:
    """One run of the reference."""

    label: str
    buffers: str
    bins: Bins

    @property
    def name(self) -> str:
        """What `--rows` matches."""
        return f"{self.label} {self.buffers}"


@dataclass(frozen=True)
class Difference:
    """One quantity of one bin."""

    cycle: int
    ours: Sample
    reference: float
    z: float
    """Difference in standard errors."""


@dataclass(frozen=True)
class Curve:
    """One quantity of one transient."""

    transient: Transient
    quantity: str
    differences: Sequence[Difference]
    judged: bool

    @property
    def limit(self) -> float:
        """How many standard errors chance explains in the worst bin."""
        freedom = self.differences[0].ours.freedom
        return student_quantile(freedom, FALSE_ALARM / len(self.differences))

    @property
    def worst(self) -> list[Difference]:
        """The bins that differ most."""
        return sorted(self.differences, key=lambda bin_: -abs(bin_.z))[:WORST]

    @property
    def agrees(self) -> bool:
        """Whether chance explains every bin."""
        return abs(self.worst[0].z) <= self.limit


def check(options: Options) -> int:
    """Compare the transients that the options select and print the verdicts; how many curves fail."""
    transients = [each for each in read() if options.selects(each.name)]
    if not transients:
        return 0
    documents = [document(transient) for transient in transients]
    runs = options.simulate(documents, max(options.seeds, MIN_SEEDS), bins)
    curves = [
        curve for transient, own in zip(transients, runs, strict=True) for curve in compare(transient, own)
    ]
    options.console.print(table(curves))
    failed = sum(curve.judged and not curve.agrees for curve in curves)
    options.console.print(f"FOGSim, transients: {len(curves) - failed} curves passed, {failed} failed")
    path = options.out / "transients.csv"
    write(path, curves)
    options.console.print(f"Every bin: {path}")
    return failed


def read(path: Path = REFERENCE) -> list[Transient]:
    """The reference, in file order."""
    found: dict[tuple[str, str], dict[int, Bin]] = {}
    with path.open(newline="") as file:
        for record in csv.DictReader(file):
            values = (record["packets"], record["packet_latency_mean"], record["misrouted_share"])
            members = found.setdefault((record["label"], record["buffers"]), {})
            members[int(record["bin_start_cycle"])] = Bin(*map(float, values))
    return [Transient(label, buffers, members) for (label, buffers), members in found.items()]


def document(transient: Transient) -> Document:
    """The experiment of a transient: the steady row of its label with uniform traffic and a change."""
    row = _row(ROWS[transient.label])
    local, global_ = BUFFERS[transient.buffers]
    settings = {**row.settings, "Traffic": "UN", "LocalQueueLength": local, "GlobalQueueLength": global_}
    row = replace(row, settings=settings, offered_load=LOAD, warmup=WARMUP, cycles=CYCLES)
    experiment = fogsim.document(row)
    experiment["jobs"][0]["traffic"]["changes"] = [{"cycle": WARMUP, "pattern": "ADV+1"}]
    experiment["measure"] |= {"streams": ["generation"], "interval": BIN}
    return experiment


def _row(label: str) -> Row:
    return next(row for row in read_runs() if row.name.startswith(f"{label} h={H} "))


def bins(result: Result) -> dict[int, Bin]:
    """The generation series of a run as bins relative to the change."""
    columns = result.generation_series.to_pydict()
    rows = zip(
        columns["cycle"],
        columns["packets"],
        columns["latency_mean"],
        columns["misrouted_fraction"],
        strict=True,
    )
    return {
        int(cycle) - WARMUP: Bin(packets, latency - PACKET, share)
        for cycle, packets, latency, share in rows
        if packets
    }


def compare(transient: Transient, runs: Sequence[Bins]) -> list[Curve]:
    """Both quantities of a transient, from the bins of several seeds."""
    latency = [_latency(cycle, bin_, runs) for cycle, bin_ in transient.bins.items()]
    share = [_share(cycle, bin_, runs) for cycle, bin_ in transient.bins.items()]
    return [
        Curve(transient, "latency", latency, judged=True),
        Curve(transient, "misrouted", share, judged=transient.label not in OVERCOUNTED),
    ]


def _latency(cycle: int, reference: Bin, runs: Sequence[Bins]) -> Difference:
    ours = Sample.of([run[cycle].latency for run in runs])
    return _difference(cycle, ours, reference.latency, ours.std)


def _share(cycle: int, reference: Bin, runs: Sequence[Bins]) -> Difference:
    """A share has at least the spread of independent packets, also where no seed shows any."""
    own = [run[cycle] for run in runs]
    ours = Sample.of([bin_.share for bin_ in own])
    packets = sum(bin_.packets for bin_ in own) + reference.packets
    misrouted = sum(bin_.packets * bin_.share for bin_ in own) + reference.packets * reference.share
    chance = (misrouted + 1) / (packets + 2)
    per_seed = packets / (len(runs) + REFERENCE_SEEDS)
    least = math.sqrt(chance * (1 - chance) / per_seed)
    return _difference(cycle, ours, reference.share, max(ours.std, least))


def _difference(cycle: int, ours: Sample, reference: float, std: float) -> Difference:
    error = standard_error(std, ours.count, REFERENCE_SEEDS)
    difference = ours.mean - reference
    z = difference / error if error > 0 else math.copysign(math.inf, difference) if difference else 0.0
    return Difference(cycle, ours, reference, z)


def table(curves: Sequence[Curve]) -> Table:
    """A verdict per curve, with the bins that differ most."""
    result = Table(title="FOGSim, transients: UN to ADV+1 at cycle 0", title_justify="left")
    for name in ("transient", "quantity"):
        result.add_column(name, no_wrap=True)
    for name in ("bins", "mean z", "rms z", "limit"):
        result.add_column(name, justify="right")
    result.add_column("worst bins: cycle, hopsim, reference (z)")
    result.add_column("verdict")
    for curve in curves:
        scores = [bin_.z for bin_ in curve.differences]
        result.add_row(
            curve.transient.name,
            curve.quantity,
            str(len(scores)),
            f"{sum(scores) / len(scores):+.2f}",
            f"{math.sqrt(sum(z * z for z in scores) / len(scores)):.2f}",
            f"{curve.limit:.1f}",
            "; ".join(_bin_text(bin_) for bin_ in curve.worst),
            _verdict(curve),
        )
    return result


def _bin_text(bin_: Difference) -> str:
    return f"{bin_.cycle}: {bin_.ours.mean:.4g}, {bin_.reference:.4g} ({bin_.z:+.1f})"


def _verdict(curve: Curve) -> str:
    if not curve.judged:
        return "[dim]reported only[/]"
    return "[green]agrees[/]" if curve.agrees else "[bold red]FAILS[/]"


COLUMNS = (
    "label",
    "buffers",
    "quantity",
    "cycle",
    "ours",
    "ours_std",
    "seeds",
    "reference",
    "standard_errors",
)


def write(path: Path, curves: Sequence[Curve]) -> None:
    """Write every bin of every curve, one per line."""
    csv_file.write(path, COLUMNS, (_record(curve, bin_) for curve in curves for bin_ in curve.differences))


def _record(curve: Curve, bin_: Difference) -> tuple[object, ...]:
    return (
        curve.transient.label,
        curve.transient.buffers,
        curve.quantity,
        bin_.cycle,
        bin_.ours.mean,
        bin_.ours.std,
        bin_.ours.count,
        bin_.reference,
        bin_.z,
    )
