"""Files with something wrong in them, given to every command that reads such a file.

Programs (mpt, Dimemas, Paraver, GOAL as text and binary, Chakra, tables of traffic, compressed too), packets
of netraces, networks and forwarding tables, placements, flows, and states of runs, with checksums that fit as
well. What is converted can be read again, and a state that is damaged is told.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from verify import power
from verify.attack import mutations
from verify.attack.series import Case, run

EXAMPLES = Path(__file__).parents[2] / "experiments"
UNITS = 'units = { cycle = "1 ns", phit = "4 B" }\n'
PROGRAM = UNITS + "topology.ring.routers = 16\nmeasure.max_cycles = 20000\njobs = [{ program.%s }]\n"
GRAPH = 'load = 0.1\ntopology.graph.file = "%s"\nmeasure = { warmup = 5, cycles = 40 }\n'
FABRIC = """
topology.graph.file = "%s"
router.infiniband.forwarding.file = "%s"
jobs = [{ flows = [{ source = 0, destination = 8 }] }]
measure.time.window = "2 us"
"""
PLACEMENT = """
topology.mesh.sides = [2, 2]
measure = { warmup = 5, cycles = 40 }
[[jobs]]
placement.file = "placement.txt"
traffic = { pattern = "uniform", process = { bernoulli = { load = 0.1 } } }
"""
FLOWS = """
topology.fat_tree = { k = 2, levels = 2 }
router = "infiniband"
jobs = [{ flows = { file = "flows.csv" } }]
measure.time.window = "2 us"
"""
SAVED = """
load = 0.4
topology.dragonfly = { p = 1, a = 2, h = 1 }
routing = "%s"
measure = { warmup = 20, cycles = 120, interval = 20, streams = ["nodes", "links", "generation"] }
"""
SAVED_PROGRAM = PROGRAM % 'collective = { kind = "alltoall", bytes = 256 }'
MPT = """mpt 1
name odd
ranks 3
comm 0 3 0 1 2
comm 1 2 2 0
rank 0 7
c 100
i 0 1 5 4096 0
j 1 2 5 64 1
c 30
w 0 1
g allreduce 0 -1 4096 4096
s 2 0 8 0
rank 1 3
r 0 5 4096 0
c 9
g allreduce 0 -1 4096 4096
rank 2 4
c 60
s 0 5 64 1
g allreduce 0 -1 4096 4096
r 0 0 8 0
end
"""
GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="latency" attr.type="double"/>
  <graph edgedefault="undirected">
    <node id="z"/><node id="y"/><node id="x"/>
    <edge source="x" target="y"><data key="d0">4.0</data></edge>
    <edge source="z" target="y"/>
  </graph>
</graphml>
"""
SUM_BYTES = 4
"""At the end of a state."""


@dataclass(frozen=True)
class File:
    """A file and what reads it.

    Attributes:
        name: of the file that is damaged.
        commands: one of these is run.
        written: what `trace convert` of them writes.
        mended: puts a checksum right that is in it.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    written: str = ""
    mended: Callable[[bytes], bytes] | None = None


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def _field(number: int, value: int | bytes) -> bytes:
    """A field of a message of Protocol Buffers."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def chakra(sends: bool) -> bytes:
    """The file of one of two ranks, of which one computes and sends, and both reduce."""
    peer = b"comm_dst" if sends else b"comm_src"
    attributes = [(b"comm_size", 4096), (peer, 1 if sends else 0), (b"comm_tag", 5)]
    listed = b"".join(_field(10, _field(1, name) + _field(9, value)) for name, value in attributes)
    call = _field(10, _field(1, b"comm_size") + _field(9, 4096))
    call += _field(10, _field(1, b"comm_type") + _field(9, 0))
    call += _field(10, _field(1, b"pg_name") + _field(29, b"pair"))
    compute = _field(10, _field(1, b"is_cpu_op") + _field(27, 1))
    nodes = [
        _field(1, 1) + _field(2, b"n1") + _field(3, 4) + _field(7, 16) + compute,
        _field(1, 4) + _field(2, b"n4") + _field(3, 5 if sends else 6) + _field(5, b"\1") + listed,
        _field(1, 5) + _field(2, b"n5") + _field(3, 7) + _field(5, b"\4") + call,
    ]
    return b"".join(_varint(len(each)) + each for each in [_field(1, b"0.0.4"), *nodes])


def netrace() -> bytes:
    """A trace of two nodes that ask each other, each answer named by what it waits for."""
    packets = [
        struct.pack(
            "<QIIBBBBBI", number, number, 64, 1 + number % 2, number % 2, (number + 1) % 2, 2, 1, number + 1
        )
        for number in range(40)
    ]
    region = struct.pack("<QQQ", 0, 40, 40)
    return (
        struct.pack("<If30sBxQQII8x", 0x484A5455, 1.0, b"odd", 2, 40, 40, 0, 1) + region + b"".join(packets)
    )


def summed(state: bytes) -> bytes:
    """A state with the checksum of what is in it."""
    content = state[:-SUM_BYTES]
    return content + zlib.crc32(content).to_bytes(SUM_BYTES, "little")


def _document(name: str) -> tuple[tuple[str, ...], ...]:
    return (("check", name), ("run", name, "--json", "-", "-j", "1"))


def _program(name: str, *options: str, opened: str = "") -> File:
    """A file of a program, in the document of that name."""
    opened = opened or name
    info, convert = ("trace", "info", opened, *options), ("trace", "convert", opened)
    written = "a.goal.gz"
    return File(
        name,
        (
            info,
            (*convert, written, "--force", *options),
            (*convert, written, "--force", "--to", "goal-binary", *options),
            (*convert, written, "--force", "--to", "mpt", *options),
            (*convert, written, "--force", "--to", "dimemas", *options),
            *_document(f"{opened}.toml"),
        ),
        written,
    )


def _netrace(name: str) -> File:
    return File(name, (("trace", "info", name), ("convert", "netrace", name, "--region", "0")))


CHAKRA = ("--groups", "groups.json", "--flops", "1e9")
FILES = [
    *map(_program, ("a.mpt", "a.goal", "a.bin", "a.dim", "a.prv", "a.csv", "a.mpt.xz", "a.goal.gz2.gz")),
    _program("step.0.et", *CHAKRA, opened="step"),
    _program("step.1.et", *CHAKRA, opened="step"),
    _program("groups.json", *CHAKRA, opened="step"),
    _netrace("a.tra"),
    _netrace("a.tra.bz2"),
    File("petersen.txt", _document("graph.toml")),
    File("net.graphml", _document("graphml.toml")),
    File("net.txt", _document("fabric.toml")),
    File("lfts.txt", _document("fabric.toml")),
    File("placement.txt", _document("placement.toml")),
    File("flows.csv", _document("flows.toml")),
    *(
        File(
            f"{name}.state",
            (
                ("run", f"{name}.toml", "--json", "-", "-j", "1", "--from-state", f"{name}.state"),
                ("run", f"{name}.toml", "--json", "-", "-j", "2", "--save-state", f"{name}.state"),
            ),
            mended=summed,
        )
        for name in ("minimal", "adaptive", "program")
    ),
]
ROUTING = {"minimal": "minimal", "adaptive": "olm"}


def _prepared(place: Path) -> None:
    """All files, undamaged, and the documents that name them."""
    place.mkdir()
    (place / "a.mpt").write_text(MPT)
    for name, options in (("a.goal", ()), ("a.bin", ()), ("a.dim", ())):
        _done(("trace", "convert", "a.mpt", name, *options), place)
    (place / "a.mpt.xz").write_bytes(lzma.compress(MPT.encode()))
    (place / "a.goal.gz2.gz").write_bytes(gzip.compress((place / "a.goal").read_bytes()))
    shutil.copy(EXAMPLES / "traffic.csv", place / "a.csv")
    (place / "step.0.et").write_bytes(chakra(sends=True))
    (place / "step.1.et").write_bytes(gzip.compress(chakra(sends=False)))
    (place / "a.tra").write_bytes(netrace())
    (place / "a.tra.bz2").write_bytes(bz2.compress(netrace()))
    (place / "groups.json").write_text('{"pair": [1, 0], "one": [0]}')
    for name, kind in {"a.csv": "table", "a.goal": "goal", "a.bin": "goal", "a.goal.gz2.gz": "goal"}.items():
        (place / f"{name}.toml").write_text(PROGRAM % f'{kind}.file = "{name}"')
    for name in ("a.mpt", "a.dim", "a.prv", "a.mpt.xz"):
        (place / f"{name}.toml").write_text(PROGRAM % f'trace.file = "{name}"')
    (place / "step.toml").write_text(
        PROGRAM % 'chakra = { file = "step", groups = "groups.json", flops = 1e9 }'
    )
    shutil.copy(EXAMPLES / "petersen.txt", place / "petersen.txt")
    (place / "net.graphml").write_text(GRAPHML)
    for name in ("net.txt", "lfts.txt"):
        shutil.copy(EXAMPLES / f"cluster_{name}", place / name)
    (place / "placement.txt").write_text("0 1\n3 0\n2 2 # a node and its rank\n")
    (place / "flows.csv").write_text(
        "source,destination,bytes,start,rate,name,service_level\n0,3,4096,1 us,5 Gb/s,a,0\n1,3,,,,,\n"
    )
    (place / "graph.toml").write_text(GRAPH % "petersen.txt")
    (place / "graphml.toml").write_text(GRAPH % "net.graphml")
    (place / "fabric.toml").write_text(FABRIC % ("net.txt", "lfts.txt"))
    (place / "placement.toml").write_text(PLACEMENT)
    (place / "flows.toml").write_text(FLOWS)
    (place / "program.toml").write_text(SAVED_PROGRAM)
    for name, routing in ROUTING.items():
        (place / f"{name}.toml").write_text(SAVED % routing)
    for name in (*ROUTING, "program"):
        saving = ("--save-state", f"{name}.state", "--save-at", "60")
        _done(("run", f"{name}.toml", "--json", "-", "-j", "1", *saving), place)
    recorded = ("--set", 'measure.streams=["operations"]', "--out", "recorded")
    _done(("run", "a.mpt.toml", *recorded, "-j", "1"), place)
    _done(("trace", "paraver", "recorded", "a.prv"), place)
    for file in FILES:
        for command in file.commands:
            # Not every program can be written in every format.
            if "convert" not in command:
                _done(command, place)


def _done(command: tuple[str, ...], place: Path) -> None:
    done = power.run(command, place)
    if done.status != 0:
        raise AssertionError(f"{command}: undamaged, it ends with {done}")


def make(folder: Path) -> Case:
    """A folder with all files, of which one at a time is damaged."""
    place = folder / "files"
    _prepared(place)
    whole = {file.name: (place / file.name).read_bytes() for file in FILES}
    shown = {file.name: power.run(file.commands[0], place).shown for file in FILES if file.mended is not None}

    def case(number: int) -> str:
        draw = random.Random(f"file {number}")
        file = FILES[number % len(FILES)]
        content, is_mended = _damaged(file, whole[file.name], draw)
        command = draw.choice(file.commands)
        (place / file.name).write_bytes(content)
        done = run(command, place)
        text = done.complaint
        if not text and done.interrupted:
            text = "goes on and on"
        if not text and file.written and "convert" in command and done.status == 0:
            again = run(("trace", "info", file.written), place)
            text = again.complaint or (f"cannot be read again: {again.said[-300:]!r}" if again.status else "")
        if not text and file.mended is not None and not is_mended and content != whole[file.name]:
            same = done.status == 0 and done.shown == shown[file.name]
            text = "" if done.status == 2 or same else f"is not told to be damaged: {done.said!r}"
        for path in (place / name for name in whole):
            if path.name == file.name or file.mended is not None:
                path.write_bytes(whole[path.name])
        return f"{file.name}, {' '.join(command)}: {text}" if text else ""

    return case


def _damaged(file: File, content: bytes, draw: random.Random) -> tuple[bytes, bool]:
    """The file damaged, and whether its checksum fits; of compressed ones often what is compressed."""
    if file.mended is not None and draw.random() < 0.8:
        return file.mended(mutations.damaged(content, draw)), True
    for ending, module in ((".xz", lzma), (".gz", gzip), ("1.et", gzip)):
        if file.name.endswith(ending) and draw.random() < 0.7:
            return module.compress(mutations.damaged(module.decompress(content), draw)), False
    return mutations.damaged(content, draw), False
