"""Results directories with something wrong in them, given to everything that reads them.

Flips of single bits are told, or what is read is as before; and `run` leaves the directory of a run that was
never disturbed. Files that were changed so that their checksums fit, and names that lead elsewhere, are
refused or read, and never an internal error.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import hopsim
from hopsim.plot import KINDS
from hopsim.results.sealed import checksum_of, seal
from verify.attack import mutations
from verify.attack.series import Case, run
from verify.clusters import contents

TWO_JOBS = """
[topology.dragonfly]
p = 1
a = 2
h = 1
[routing]
valiant = {}
[[jobs]]
name = "one"
placement = { list = [0, 1, 2] }
traffic = { pattern = "uniform", process = { bernoulli = { load = 0.3 } } }
[[jobs]]
name = "other"
placement = { list = [3, 4, 5] }
traffic = { pattern = "uniform", process = { bernoulli = { load = 0.3 } } }
[measure]
warmup = 50
cycles = 200
interval = 50
"""
NETWORK = f"""{TWO_JOBS}\
streams = ["nodes", "routers", "links", "latency_histogram", "link_series", "congestion_trees", "packet_hops"]
[sweep.product]
"jobs.0.traffic.process.bernoulli.load" = [0.1, 0.5]
"""
A_PROGRAM = """
units = { cycle = "1 ns", phit = "4 B" }
topology.mesh.sides = [2, 2]
[[jobs]]
name = "all"
program = { collective = { kind = "allreduce", bytes = 64 } }
host = { packet_length = 4 }
[measure]
"""
PROGRAMS = f"""{A_PROGRAM}\
streams = ["ranks", "messages", "operations", "message_sizes"]
[sweep.product]
"measure.seed" = [1, 2]
"""
FLOWS = """
router = "infiniband"
topology.fat_tree = { k = 2, levels = 2 }
[[jobs]]
name = "some"
flows = [{ source = 0, destination = 3 }, { source = 1, destination = 3 }]
[measure]
"""
FABRIC = f"""{FLOWS}\
streams = ["flows", "flow_series", "queue_series", "victims", "links"]
time = {{ window = "20 us", interval = "5 us" }}
[sweep.product]
"measure.seed" = [1, 2]
"""
KNEE = "load = 0.3\ntopology.mesh.sides = [2, 2]\n[measure]\nwarmup = 100\ncycles = 1000\n"


@dataclass(frozen=True)
class Kind:
    """A document and the command whose results directory is attacked."""

    name: str
    text: str
    command: tuple[str, ...]


_RUN = ("run", "a.toml", "--out", "d", "-j", "1")
ORIGINALS = [
    Kind("network", NETWORK, _RUN),
    Kind("programs", PROGRAMS, _RUN),
    Kind("fabric", FABRIC, _RUN),
    Kind(
        "saturate",
        KNEE,
        ("saturate", "a.toml", "--seeds", "1", "--precision", "0.5", "--out", "d", "-j", "1"),
    ),
]


class Place:
    """A folder with a results directory as it was made, and one that is attacked."""

    def __init__(self, root: Path, kind: Kind) -> None:
        self.root = root
        self.kind = kind
        root.mkdir()
        (root / "a.toml").write_text(kind.text)
        done = run(kind.command, root)
        if done.status != 0:
            raise AssertionError(f"{kind.name}: undisturbed, it ends with {done}")
        self._whole = self.folder.rename(root / "whole")
        self.expected = contents(self._whole)
        self.restore()
        self.read = self.loaded()
        self.shown = {command: run(command, root).shown for command in self._stable()}
        self.restore()

    @property
    def folder(self) -> Path:
        """The results directory that is attacked."""
        return self.root / "d"

    def restore(self) -> None:
        """Make it as it was."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._whole, self.folder)

    def files(self) -> list[Path]:
        """All that is read again, and the tables over all points."""
        found = [path for path in self.folder.rglob("*") if path.is_file() and path.parent.name != "plots"]
        return sorted(found)

    def loaded(self) -> tuple[Any, str]:
        """What is read of it, and what is said."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found: Any = [
                    (each.record, each.axes, {name: each.tables[name].to_pydict() for name in each.tables})
                    for each in hopsim.load(self.folder)
                ]
            except hopsim.ConfigError as error:
                return None, str(error)
        return found, " ".join(str(each.message) for each in caught)

    def readers(self) -> list[tuple[str, ...]]:
        """Commands that read it."""
        kinds = [("plot", "d", "--kind", kind) for kind in KINDS]
        return [*self._stable(), ("report", "d"), *kinds]

    def _stable(self) -> list[tuple[str, ...]]:
        """Those that show the same each time."""
        return [("why", "d", "--point", "0"), ("trace-packet", "d", "--point", "0"), ("why", "d")]

    def anew(self) -> str:
        """What is wrong after the command was run again."""
        done = run(self.kind.command, self.root)
        if text := done.complaint:
            return f"{self.kind.command[0]}: {text}"
        if done.status != 0:
            return f"{self.kind.command[0]} refuses it: {done.said[-300:]!r}"
        found = contents(self.folder)
        # Figures and reports are of those who made them.
        made = ("plots/", "report.html")
        names = sorted({*found, *self.expected})
        differing = [
            name for name in names if not name.startswith(made) and found.get(name) != self.expected.get(name)
        ]
        return f"{self.kind.command[0]} leaves other {', '.join(differing)}" if differing else ""


def _places(folder: Path) -> list[Place]:
    return [Place(folder / kind.name, kind) for kind in ORIGINALS]


def flips(folder: Path) -> Case:
    """Flips of single bits."""
    places = _places(folder)

    def case(number: int) -> str:
        draw = random.Random(f"flip {number}")
        place = places[number % len(places)]
        file = draw.choice(place.files())
        content = bytearray(file.read_bytes())
        at, bit = draw.randrange(len(content)), draw.randrange(8)
        content[at] ^= 1 << bit
        file.write_bytes(content)
        text = _flipped(place, draw)
        place.restore()
        return (
            f"{place.kind.name}, bit {bit} of byte {at} of {file.relative_to(place.folder)}: {text}"
            if text
            else ""
        )

    return case


def _flipped(place: Place, draw: random.Random) -> str:
    found, said = place.loaded()
    if not said and found != place.read[0]:
        return "what is read is other, without a word"
    command = draw.choice(place.readers())
    done = run(command, place.root)
    if text := done.complaint:
        return f"{command}: {text}"
    if done.status == 0 and not done.said and place.shown.get(command, done.shown) != done.shown:
        return f"{command}: shows something else without a word"
    return place.anew()


def make(folder: Path) -> Case:
    """Changes of any kind, with checksums that fit or not."""
    places = _places(folder)

    def case(number: int) -> str:
        draw = random.Random(f"results {number}")
        place = places[number % len(places)]
        file = draw.choice(place.files())
        name = draw.choice(_CHANGES)(place, file, draw)
        text = _tried(place, draw)
        place.restore()
        return f"{place.kind.name}, {file.relative_to(place.folder)}, {name}: {text}" if text else ""

    return case


def _tried(place: Place, draw: random.Random) -> str:
    _, said = place.loaded()
    command = draw.choice(place.readers())
    done = run(command, place.root)
    if text := done.complaint:
        return f"{' '.join(command)}: {text}"
    if draw.random() < 0.3:
        # What passes for whole may be kept; what is told is simulated anew, or stands in the way.
        done = run(place.kind.command, place.root)
        if text := done.complaint:
            return f"{' '.join(place.kind.command)}: {text}"
        if done.status == 0 and said and (again := place.loaded()[1]):
            return f"{place.kind.command[0]} is done, and still: {again}"
    return ""


def _bytes(_: Place, file: Path, draw: random.Random) -> str:
    file.write_bytes(mutations.damaged(file.read_bytes(), draw))
    return "bytes"


def _record(place: Place, file: Path, draw: random.Random) -> str:
    """A record with other contents and a checksum that fits."""
    if file.suffix != ".json":
        return _table(place, file, draw) if len(file.name) > 64 else _bytes(place, file, draw)
    whole = json.loads(file.read_text("utf-8"))
    record = mutations.changed(whole, [whole], draw)
    file.write_text(json.dumps(seal(record)), "utf-8")
    return "record"


def _table(place: Place, file: Path, draw: random.Random) -> str:
    """A table of a point with other contents, and a record that fits."""
    if file.suffix != ".parquet" or file.parent.name != "points":
        return _record(place, file, draw) if file.suffix == ".json" else _bytes(place, file, draw)
    table = parquet.read_table(file)
    parquet.write_table(_other(table, draw), file)
    content = file.read_bytes()
    digest, name, _ = file.name.split(".")
    record = file.with_name(f"{digest}.json")
    written = json.loads(record.read_text("utf-8"))
    written["tables"][name] |= {"bytes": len(content), "sha256": checksum_of(content)}
    if draw.random() < 0.5 and "rows" in written["tables"][name]:
        written["tables"][name]["rows"] = parquet.read_metadata(file).num_rows
    record.write_text(json.dumps(seal(written)), "utf-8")
    return "table"


def _other(table: pa.Table, draw: random.Random) -> pa.Table:
    number = draw.randrange(max(table.num_columns, 1))
    name, rows = table.column_names[number], table.num_rows
    numbers: list[Any] = [-1, 0, 2**31, 2**63 - 1, -(2**63), 2**32 - 1]
    floats: list[Any] = [float("nan"), float("inf"), -0.0, 1e308, -1.0]
    changes: list[Callable[[], pa.Table]] = [
        lambda: table.drop_columns([name]),
        lambda: table.rename_columns([f"{each}x" if each == name else each for each in table.column_names]),
        lambda: table.slice(0, rows // 2),
        lambda: pa.concat_tables([table, table]),
        lambda: table.set_column(number, name, pa.nulls(rows)),
        lambda: table.set_column(number, name, pa.array(["x"] * rows)),
        lambda: table.set_column(number, name, pa.array([[1]] * rows)),
        lambda: table.set_column(number, name, pa.array([draw.choice(numbers)] * rows)),
        lambda: table.set_column(number, name, pa.array([draw.choice(floats)] * rows)),
        lambda: table.set_column(
            number, name, pa.array([draw.choice(numbers)] * rows).cast(table.column(number).type, safe=False)
        ),
        lambda: table.set_column(number, name, table.column(number).take(pa.array([*reversed(range(rows))]))),
        lambda: table.append_column(name, table.column(number)),
    ]
    try:
        return draw.choice(changes)()
    except (pa.ArrowException, ValueError, NotImplementedError):
        return table.slice(0, 0)


def _elsewhere(_: Place, file: Path, draw: random.Random) -> str:
    """A name that leads to something else."""
    kind = draw.choice(["none", "fifo", "zero", "loop", "folder", "full", "unreadable"])
    file.unlink()
    if kind == "fifo":
        os.mkfifo(file)
    elif kind in ("zero", "full"):
        file.symlink_to(f"/dev/{kind}")
    elif kind == "loop":
        file.symlink_to(file.name)
    elif kind == "folder":
        file.mkdir()
    elif kind == "unreadable":
        file.symlink_to("/proc/self/mem")
    return kind


def _copied(place: Place, file: Path, draw: random.Random) -> str:
    """Another file in its place."""
    other = draw.choice(place.files())
    if other != file:
        shutil.copy(other, file)
    return f"a copy of {other.name}"


_CHANGES = [_bytes, _record, _record, _record, _table, _table, _elsewhere, _copied]
