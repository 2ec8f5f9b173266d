"""Files of programs: tables of traffic, Chakra traces, and what `hopsim trace` says and makes of them."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import Any

import pytest

import chakra
import hopsim as hs
from conftest import ROOT, Command

TRACES = ROOT / "experiments" / "traces"
LATENCY = 500
NETWORK = 'units = { cycle = "1 ns", phit = "4 B" }\ntopology.ring.routers = 4\n'

# The row of the table of those who recorded it, as far as one file tells it. `python -m verify` compares all.
ROW = "CG.A.16.it2 | 16 | 2 of 15 | 35228 | 5888 | 208 | 69.9 MB | 1 | 7.732 ms | 9.236 ms | 32.7 kB"

ODD = """mpt 1
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


def finishes(program: dict[str, Any], **host: Any) -> list[int]:
    """When each rank is done on the ideal network."""
    document = {
        "units": {"cycle": "1.6 ns", "phit": "4 B"},
        "topology": {"ideal": {"nodes": 64, "latency": LATENCY}},
        "jobs": [{"program": program, "host": {"packet_length": 1024, **host}}],
        "measure": {"streams": ["ranks"]},
    }
    return [int(row["finish"]) for row in hs.run(document).tables["ranks"].to_pylist()]


def in_file(kind: str, path: Path) -> dict[str, Any]:
    return {kind: {"file": str(path)}}


def test_messages_of_a_table_set_out_in_the_cycle_that_their_time_falls_in(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    # Times in ns over cycles of 1.6 ns, the last row first.
    times = [f"0.{tenth}" for tenth in range(1, 8)] + ["12.5", "100000.799", "100000.8"]
    rows = [f"{time},{rank},{rank + 10},4" for rank, time in enumerate(times)]
    table.write_text("time_ns,source,destination,bytes\n" + "\n".join(reversed(rows)))
    ends = finishes(in_file("table", table))
    assert [end - LATENCY - 1 for end in ends[10:]] == [0] * 7 + [7, 62500, 62500]
    chain = "\n".join(f"{time},0,1,4" for time in times)
    table.write_text("time_ns,source,destination,bytes\n" + chain)
    assert finishes(in_file("table", table))[1] == 62500 + 1 + 1 + LATENCY, "two messages of a phit at once"


def test_an_overhead_delays_a_message_of_a_table_and_none_behind_it(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("time_cycles,source,destination,bytes\n0,0,1,4\n10,0,2,4\n900,0,3,4\n")
    ends = finishes(in_file("table", table), send_overhead=40)
    assert [end - LATENCY - 1 for end in ends] == [940 - LATENCY - 1, 40, 80, 940]


def test_processors_do_not_change_a_table(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'{NETWORK}[[jobs]]\nprogram.table.file = "a.csv"\nhost.cpu_speed = 2')
    (tmp_path / "a.csv").write_text("time_ns,source,destination,bytes\n1,0,1,4\n")
    message = hopsim("run", "a.toml", status=2).stderr
    assert "jobs.0.host.cpu_speed" in message
    assert "valid: no such key" in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time,source,destination,bytes\n", "line 1: expected the columns `time_cycles` or `time_ns`"),
        ("time_ns,source,destination,bytes\n0,0,1\n", "line 2: expected four fields"),
        (
            "time_ns,source,destination,bytes\n0.0001,0,1,8\n",
            "line 2: expected a time in ns with up to three",
        ),
        ("time_ns,source,destination,bytes\n1,0,1,8\n4e9,0,1,8\n", "line 3: expected a time in ns"),
        ("time_ns,source,destination,bytes\n4000000000,0,1,8\n", "line 2: rank 0: sends in cycle 4000000000"),
        ("time_ns,source,destination,bytes\n0,0,7,8\n", "8 ranks, and the placement 4 nodes"),
        ("", "line 1: the file ends here"),
    ],
)
def test_a_wrong_table_is_refused(hopsim: Command, tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "a.toml").write_text(f'{NETWORK}jobs = [{{ program.table.file = "a.csv" }}]')
    (tmp_path / "a.csv").write_text(text)
    assert expected in hopsim("run", "a.toml", status=2).stderr


def test_the_row_of_a_trace_is_that_of_its_table(hopsim: Command) -> None:
    answer = hopsim("trace", "info", TRACES / "CG.A.16.it2.mpt.xz").stdout
    assert answer.splitlines()[-1] == f"| {ROW} |"
    assert "verified" in answer


def test_info_says_what_is_in_a_file_of_any_format(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "odd.mpt").write_text(ODD)
    for target, messages in (("odd.goal", 9), ("odd.bin.gz", 9), ("odd.dim.xz", 3), ("again.mpt", 3)):
        hopsim("trace", "convert", "odd.mpt", target)
        lines = hopsim("trace", "info", target).stdout.splitlines()
        assert any(line.startswith("messages") and f" {messages}," in line for line in lines), target
    assert (tmp_path / "again.mpt").read_text() == ODD
    (tmp_path / "table.csv").write_text("source,destination,bytes,time_ns\n0,1,80,5000\n1,1,8,2\n")
    answer = hopsim("trace", "info", "table.csv").stdout.splitlines()
    assert answer[-1] == "| table | 2 | ? | 6 | 2 | 1 | 0.1 kB | 0 | 0.000 ms | 0.005 ms | 0.1 kB |"


@pytest.mark.parametrize("name", ["CG.A.16.it2", "IS.S.64", "FT.W.64"])
def test_a_trace_takes_the_same_cycles_as_goal_and_back_as_a_trace(
    hopsim: Command, tmp_path: Path, name: str
) -> None:
    trace = TRACES / f"{name}.mpt.xz"
    for source, target in ((trace, "a.goal"), (trace, "a.bin.gz"), ("a.goal", "a.mpt.xz")):
        hopsim("trace", "convert", source, target)
    for completes in ("buffered", "injected"):
        expected = finishes(in_file("trace", trace), send_completes=completes)
        for kind, file in (("goal", "a.goal"), ("goal", "a.bin.gz"), ("trace", "a.mpt.xz")):
            assert finishes(in_file(kind, tmp_path / file), send_completes=completes) == expected, file


def test_collectives_become_the_messages_of_the_algorithm_chosen(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "odd.mpt").write_text(ODD)
    hopsim("trace", "convert", "odd.mpt", "odd.goal", "--collectives", "allreduce=ring")
    ring = finishes(in_file("trace", tmp_path / "odd.mpt"), collectives={"allreduce": "ring"})
    assert finishes(in_file("goal", tmp_path / "odd.goal")) == ring
    assert ring != finishes(in_file("trace", tmp_path / "odd.mpt"))


BAD: dict[tuple[str, ...], str] = {
    ("info", "none"): "none: cannot read none: No such file or directory",
    ("info", "bad.mpt"): "bad.mpt: line 1: expected `mpt 1` as first line",
    ("info", "loop.mpt"): "loop.mpt: line 6: rank 0: the program does not come to its end: 2 of 2 ranks wait",
    ("info", "odd.mpt", "--flops", "5"): "odd.mpt: is no Chakra trace; valid: no --groups and no --flops",
    (
        "convert",
        "odd.mpt",
        "odd.xyz",
    ): "odd.xyz: the extension says no format; valid: .mpt, .dim, .goal, .bin",
    ("convert", "loop.mpt", "a.dim"): "loop.mpt: line 6: rank 0: the program does not come to its end",
    ("convert", "sizes.goal", "a.mpt"): "sizes.goal: rank 1: message 1 from rank 0 to rank 1 with tag 0",
    ("convert", "odd.mpt", "loop.mpt"): "loop.mpt: exists; valid: another name, or --force to replace it",
    ("convert", "odd.mpt", "a.goal", "--collectives", "ring"): "--collectives ring: must be KIND=ALGORITHM",
    ("convert", "odd.mpt", "a.goal", "--collectives", "barrier=ring"): 'barrier = "ring"',
    ("convert", "odd.mpt", "a.mpt", "--collectives", "barrier=fsin"): "mpt has collectives of its own",
    ("convert", "table.csv", "a.goal"): "table.csv: GOAL has computations in ns only",
    ("convert", "table.csv", "a.mpt"): "table.csv: a table of times is no sequence of calls",
    (
        "convert",
        "two.goal",
        "a.mpt",
    ): "two.goal: line 4: rank 0: operation 1 does not wait for the one before it",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_of_trace_is_refused(hopsim: Command, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "odd.mpt").write_text(ODD)
    (tmp_path / "bad.mpt").write_text("mpt 2\n")
    own = "rank {} 2\nr {} 0 8 0\ns {} 0 8 0\n"
    loop = f"mpt 1\nname x\nranks 2\ncomm 0 2 0 1\n{own.format(0, 1, 1)}{own.format(1, 0, 0)}end\n"
    (tmp_path / "loop.mpt").write_text(loop)
    (tmp_path / "table.csv").write_text("time_ns,source,destination,bytes\n5,0,1,8\n")
    (tmp_path / "two.goal").write_text("num_ranks 1\nrank 0 {\na: calc 5\nb: calc 5\n}\n")
    (tmp_path / "sizes.goal").write_text(
        "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n"
    )
    before = {file.name for file in tmp_path.iterdir()}
    answer = hopsim("trace", *arguments, status=2)
    assert BAD[arguments] in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == before


def test_force_replaces_a_file(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "odd.mpt").write_text(ODD)
    (tmp_path / "old.mpt.xz").write_text("something else")
    hopsim("trace", "convert", "odd.mpt", "old.mpt.xz", "--force")
    assert lzma.decompress((tmp_path / "old.mpt.xz").read_bytes()).decode() == ODD


def step(folder: Path) -> Path:
    """A step of two ranks: a GPU computes beside the CPU, rank 0 sends, and both reduce in a group."""
    gpu, size = {"stream": 7}, {"comm_size": 4096}
    call = {"comm_type": 0, "pg_name": "pair", **size}
    chakra.write(
        folder / "step.0.et",
        chakra.node(1, chakra.COMP, (), 16, {"is_cpu_op": True}),
        chakra.node(2, chakra.COMP, (), 32, gpu),
        chakra.node(3, chakra.COMP, (1,), 0, {"num_ops": 8000, **gpu}),
        chakra.node(4, chakra.SEND, (1,), 99, {"comm_dst": 1, "comm_tag": 5, **size}),
        chakra.node(5, chakra.COLL, (3,), 99, call),
    )
    chakra.write(
        folder / "step.1.et",
        chakra.node(8, chakra.RECV, (), 99, {"comm_src": 0, "comm_tag": 5, **size}),
        chakra.node(9, chakra.METADATA, (8,)),
        chakra.node(10, chakra.COLL, (9,), 99, call),
    )
    zipped = gzip.compress((folder / "step.1.et").read_bytes())
    (folder / "step.1.et").write_bytes(zipped)
    (folder / "groups.json").write_text('{"pair": [1, 0], "one": [0]}')
    return folder / "step"


def test_a_chakra_trace_runs_on_streams_of_cpu_gpu_and_communication(hopsim: Command, tmp_path: Path) -> None:
    prefix = step(tmp_path)
    program = {"chakra": {"file": str(prefix), "groups": str(tmp_path / "groups.json"), "flops": 1e9}}
    # In cycles of 1.6 ns: the CPU 10,000; the GPU 20,000 and then 5,000 for 8,000 operations. The message is
    # there long before that, and what rank 1 then sends in the allreduce, an exchange of 1,024 phits, too.
    gpu, exchange = 25_000, LATENCY + 1024
    ends = finishes(program, collectives={"allreduce": "recursive_doubling"})
    assert ends == [gpu, gpu + exchange]
    options = ("--groups", "groups.json", "--flops", "1e9")
    row = hopsim("trace", "info", "step", *options).stdout.splitlines()[-1]
    assert row.startswith("| step | 2 | ? | 8 | 1 | 0 | 4.1 kB | 1 | 0.028 ms | 0.040 ms |")
    hopsim("trace", "convert", "step", "a.goal", *options, "--collectives", "allreduce=recursive_doubling")
    assert finishes(in_file("goal", tmp_path / "a.goal")) == ends


CHAKRA = {
    ("step", ""): "node 5 (n5): expected the name of a known process group",
    ("step", 'groups = "none.json"'): "cannot read ",
    ("step", 'groups = "list.json"'): "no JSON object, name → list of ranks",
    ("step", 'groups = "groups.json"'): "rank 0: node 3 (n3): has no duration; expected one, or `flops`",
    ("step", 'groups = "groups.json", flops = 0'): "flops is 0; expected a number above 0",
    ("none", ""): ".0.et; valid: what the names of all files begin with",
    ("gap", ""): "gap.0.et",
}


@pytest.mark.parametrize(("name", "keys"), CHAKRA)
def test_a_wrong_chakra_trace_is_refused(hopsim: Command, tmp_path: Path, name: str, keys: str) -> None:
    step(tmp_path)
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "gap.1.et").write_bytes(b"")
    comma = ", " if keys else ""
    (tmp_path / "a.toml").write_text(
        f'{NETWORK}jobs = [{{ program.chakra = {{ file = "{name}"{comma}{keys} }} }}]'
    )
    message = hopsim("run", "a.toml", status=2).stderr
    assert f'jobs.0.program.chakra.file = "{name}"' in message
    assert CHAKRA[name, keys] in message
    assert message.count("\n") == 1
