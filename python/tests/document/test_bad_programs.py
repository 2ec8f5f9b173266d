"""Programs that cannot run: status 2 and file, line, rank and what would be valid; stuck ones status 1."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from conftest import Command

NETWORK = 'units = { cycle = "1 ns", phit = "4 B" }\ntopology.ring.routers = 4\n'
HEAD = "mpt 1\nname x\nranks 2\ncomm 0 2 0 1\n"
PARTS = "mpt 1\nname x\nranks 2\ncomm 0 2 0 1\ncomm 1 1 1\n"
BARRIER = 'program = { collective = { kind = "barrier" } }'

# A trace -> parts of the message, in order.
TRACES = {
    "mpt 7\n": ("line 1", "expected `mpt 1`"),
    HEAD + "rank 0 2\ns 1 0 8 0\n": ("line 7", "rank 0", "ends here", "1 of the 2 records", "line 5"),
    HEAD + "rank 0 0\nrank 1 0\n": ("line 7", "ends here", "expected another block or `end`"),
    HEAD + "rank 0 1\nx 5\nrank 1 0\nend\n": ("line 6", "rank 0", "expected a record", "got `x`"),
    HEAD + "rank 0 1\ng gossip 0 -1 0 0\nrank 1 0\nend\n": ("line 6", "one of barrier, bcast", "gossip"),
    HEAD + "rank 0 2\ni 1 1 0 8 0\ni 1 1 0 8 0\nrank 1 0\nend\n": ("line 7", "already open since line 6"),
    HEAD + "rank 0 1\nw 3\nrank 1 0\nend\n": ("line 6", "rank 0", "request 3, which is not open"),
    HEAD + "rank 0 1\ni 1 1 0 8 0\nrank 1 1\nr 0 0 8 0\nend\n": ("line 6", "request 1 is never waited for"),
    HEAD + "rank 0 1\nc 99999999999999999999\nrank 1 0\nend\n": ("line 6", "a whole number from 1 to", "got"),
    HEAD + "rank 0 1\nc -4\nrank 1 0\nend\n": ("line 6", "expected nanoseconds", "got `-4`"),
    HEAD + "rank 0 0\nend\n": ("line 6", "expected `rank 1`", "one block"),
    HEAD + "rank 0 0\nrank 0 0\nend\n": ("line 6", "expected `rank 1`", "got `rank 0 0`"),
    HEAD + "rank 0 1\ns 5 0 8 0\nrank 1 0\nend\n": ("line 6", "rank 0", "from 0 to 1 as peer, got 5"),
    HEAD + "rank 0 1\ns 1 0 8 7\nrank 1 0\nend\n": ("line 6", "no communicator 7"),
    PARTS + "rank 0 1\ng barrier 1 -1 0 0\nrank 1 0\nend\n": ("line 7", "rank 0 is not in communicator 1"),
    HEAD + "rank 0 2\ns 1 0 8 0\ns 1 0 8 0\nrank 1 1\nr 0 0 8 0\nend\n": (
        "line 7",
        "from rank 0 to rank 1 with tag 0 in communicator 0",
        "2 are sent and 1 received",
    ),
    HEAD + "rank 0 1\ns 1 0 8 0\nrank 1 1\nr 0 0 16 0\nend\n": ("line 8", "8 bytes", "line 6", "16"),
    HEAD + "rank 0 1\ng barrier 0 -1 0 0\nrank 1 1\ng allreduce 0 -1 8 8\nend\n": (
        "line 8: rank 1: calls allreduce of 8 bytes as call 1 in communicator 0",
        "rank 0 calls barrier in line 6",
    ),
    HEAD + "rank 0 1\ng barrier 0 -1 0 0\nrank 1 0\nend\n": ("line 6", "rank 1 calls nothing more"),
}

GRAPHS = {
    "num_ranks 2\nrank 0 {\na: send 8b to 5\n}\n": ("line 3", "rank 0", "from 0 to 1", "got `5`"),
    "num_ranks 1\nrank 0 {\na: calc 8\nb: calc 8\na requires b\nb requires a\n}\n": ("`a` → `b` → `a`",),
    "num_ranks 1\nrank 0 {\na: fly 8\n}\n": ("line 3", "expected `send`, `recv` or `calc`, got `fly`"),
}

# What is given to --set -> parts of the message, in order.
OVERRIDES = {
    'jobs=[{ program = { collective = { kind = "barrier", ranks = 9 } } }]': (
        "jobs.0.placement",
        "9 ranks",
        "4 nodes",
        "valid: at least 9 nodes",
    ),
    f"jobs=[{{ {BARRIER} }}, {{ {BARRIER} }}]": ("jobs.1.placement", "node 0 already runs job 0", "valid:"),
    f"jobs=[{{ traffic = {{}}, {BARRIER} }}]": ("jobs.0.traffic", "valid: traffic or program"),
    "jobs=[{ host = { gap = 1 } }]": ("jobs.0.host", "jobs that run a program", "valid:"),
    "jobs=[{ start = 20_000 }]": ("jobs.0.start = 20000", "the run ends before", "valid: 0 … 19999"),
    "jobs=[{ repeat = 2 }]": ("jobs.0.repeat", "jobs that run a program", "valid:"),
    'jobs=[{ rank_order = "random" }]': ("jobs.0.rank_order", "jobs that run a program", "valid:"),
    'only=["other"]': ('only.0 = "other"', "no such job", "valid: job0"),
    "only=[]": ("only = []", "names no job", "valid: at least one of job0"),
    'jobs=[{ placement = { file = "none" } }]': ('jobs.0.placement.file = "none"', "cannot read none"),
    'measure.streams=["ranks"]': ("measure.streams.0", "no job runs a program", "valid: no such stream"),
    'contention="none"|load=0.1': ("jobs.0", "without contention there are only the messages of programs"),
    "measure.max_cycles=100": ("measure.max_cycles = 100", "runs of programs", "valid: measure.cycles"),
    "topology={ ideal = { nodes = 4, latency = 0 } }": (
        "topology.ideal.latency = 0",
        "valid: 1 … 1000000000",
    ),
    "topology={ ideal = { nodes = 0, latency = 5 } }": ("topology.ideal.nodes = 0", "valid: 1 …"),
}


def query_times(*entries: str) -> str:
    """A search with ranks that take another time for a query."""
    own = f"query_times = [{', '.join(entries)}]"
    return f"jobs.0.program={{ graph500 = {{ scale = 4, query_time = 1, {own} }} }}"


# The same beside a job with a barrier.
OF_PROGRAMS = {
    "measure.warmup=5": ("measure.warmup", "ends when they are done", "measure.max_cycles"),
    "measure.cycles=5": ("measure.cycles", "ends when they are done", "measure.max_cycles"),
    'units={ cycle = "1ns", phit = "4 B" }': (': units.cycle = "1ns"', "valid: a decimal number above 0"),
    "units={ }": ("units.cycle", "is missing", 'valid: text as "1.6 ns"'),
    'units={ cycle = "1 ns", phit = "0 B" }': (
        'units.phit = "0 B"',
        "not a positive number",
        "above 0 and B",
    ),
    "load=0.3": ("load = 0.3", "no job draws packets", "valid: no such key"),
    'jobs.0.host={ cpu_speed = "fast" }': ('cpu_speed = "fast"', "valid: any number or infinite"),
    "jobs.0.repeat=0": ("jobs.0.repeat = 0", "at least once", "valid: 1 …, forever"),
    'jobs.0.repeat="forever"': (
        "all programs are run until the others are done",
        "valid: a program that ends",
    ),
    'jobs.0.rank_order={ round_robin = "nodes" }': ('round_robin = "nodes"', "valid: routers, groups"),
    "topology={ dragonfly = { p = 1, a = 2, h = 1 } }|jobs.0.rank_order=column": (
        "jobs.0.rank_order",
        "no columns",
        "valid: ascending",
    ),
    'units={ cycle = "1 ns", phit = "4 bytes" }': ("units.phit", "valid: a decimal number above 0 and B, kB"),
    'contention="some"': ('contention = "some"', "valid: none"),
    "jobs.0.host={ packet_length = 4, header_length = 4 }": ("host.header_length = 4", "valid: less than"),
    "jobs.0.host={ packet_length = 64 }": ("buffers.output = 32", "packet of 64 phits", "at least 64"),
    "jobs.0.host={ gap = 9_999_999 }": ("jobs.0.host.gap = 9999999", "valid: 0 … 1000000"),
    "jobs.0.host={ nic_queue = 0 }": ("jobs.0.host.nic_queue = 0", "valid: 1 … 65536"),
    'contention="none"|jobs.0.host={ nic_queue = 4 }': (
        "jobs.0.host.nic_queue = 4",
        "without contention no packet waits",
        "valid: no such key",
    ),
    "jobs.0.host={ cpu_speed = 0 }": ("jobs.0.host.cpu_speed = 0", "valid: a number above 0", "infinite"),
    'jobs.0.host={ collectives = { barrier = "ring" } }': (
        'jobs.0.host.collectives.barrier = "ring"',
        "valid: auto, dissemination, fsin",
    ),
    'jobs.0.program={ collective = { kind = "barier" } }': ('kind = "barier"', "valid: barrier, bcast"),
    'jobs.0.program={ collective = { kind = "bcast", root = 9 } }': ("root = 9", "valid: 0 to 3"),
    "jobs.0.program={ stencil = { sides = [0, 2], bytes = 1 } }": ("stencil.sides", "valid: sides of 2"),
    query_times("{ ranks = { list = [1, 4] }, query_time = 2 }"): (
        "graph500.query_times.0.ranks = 4",
        "too large; valid: 0 to 3",
    ),
    query_times(
        "{ ranks = { list = [1] }, query_time = 2 }", "{ ranks = { consecutive.count = 2 }, query_time = 3 }"
    ): ("graph500.query_times.1.ranks = 1", "its time is said already; valid: every rank once"),
    query_times("{ ranks = { list = [] }, query_time = 2 }"): (
        "graph500.query_times.0.ranks",
        "names no rank; valid: at least one, as { list = [0] }",
    ),
    query_times("{ ranks = { list = [0] }, query_time = -2 }"): (
        "graph500.query_times.0.query_time = -2",
        "not a time of moderate size; valid: 0 or more ns",
    ),
    'jobs.0.program={ trace = { file = "none" } }': ('trace.file = "none"', "cannot read none"),
}


def refused(hopsim: Command, folder: Path, *assignments: str, document: str = NETWORK) -> str:
    (folder / "bad.toml").write_text(document)
    options = [part for assignment in assignments for part in ("--set", assignment)]
    answer = hopsim("run", "bad.toml", *options, status=2).stderr
    assert answer.startswith("hopsim: bad.toml: ")
    assert answer.count("\n") == 1
    return answer


def assert_in_order(message: str, parts: tuple[str, ...]) -> None:
    place = 0
    for part in parts:
        assert part in message[place:], f"{part!r} not in {message[place:]!r}"
        place = message.index(part, place) + len(part)


@pytest.mark.parametrize("text", TRACES, ids=range(len(TRACES)))
def test_a_trace_is_refused_with_line_rank_and_what_was_expected(
    hopsim: Command, tmp_path: Path, text: str
) -> None:
    (tmp_path / "bad.mpt").write_text(text)
    message = refused(hopsim, tmp_path, 'jobs=[{ program = { trace = { file = "bad.mpt" } } }]')
    assert_in_order(message, ('jobs.0.program.trace.file = "bad.mpt"', *TRACES[text]))


@pytest.mark.parametrize("text", GRAPHS, ids=range(len(GRAPHS)))
def test_a_graph_is_refused_with_line_and_rank(hopsim: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.goal").write_text(text)
    message = refused(hopsim, tmp_path, 'jobs=[{ program = { goal = { file = "bad.goal" } } }]')
    assert_in_order(message, ('jobs.0.program.goal.file = "bad.goal"', *GRAPHS[text]))


def test_a_compressed_file_that_is_cut_off_is_refused(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.mpt.xz").write_bytes(lzma.compress(HEAD.encode())[:40])
    message = refused(hopsim, tmp_path, 'jobs=[{ program = { trace = { file = "bad.mpt.xz" } } }]')
    assert_in_order(message, ("bad.mpt.xz", "cannot be decompressed", "valid: a trace in format mpt 1"))


@pytest.mark.parametrize("assignment", OVERRIDES)
def test_jobs_are_refused_with_key_and_what_is_valid(
    hopsim: Command, tmp_path: Path, assignment: str
) -> None:
    assert_in_order(refused(hopsim, tmp_path, *assignment.split("|")), OVERRIDES[assignment])


@pytest.mark.parametrize("assignment", OF_PROGRAMS)
def test_keys_of_programs_are_refused_with_key_and_what_is_valid(
    hopsim: Command, tmp_path: Path, assignment: str
) -> None:
    document = f"{NETWORK}[[jobs]]\n{BARRIER}\n"
    message = refused(hopsim, tmp_path, *assignment.split("|"), document=document)
    assert_in_order(message, OF_PROGRAMS[assignment])


def test_units_are_needed_and_keys_of_routers_are_not(hopsim: Command, tmp_path: Path) -> None:
    without = f"topology.ring.routers = 4\n[[jobs]]\n{BARRIER}\n"
    message = refused(hopsim, tmp_path, document=without)
    assert_in_order(message, ("jobs.0.program", "what a cycle and a phit are", "valid: units = { cycle"))
    for key in ("links.network.latency=3", "router=input_queued", "routing=minimal", "nic.injection_ports=1"):
        ideal = NETWORK.replace("ring.routers = 4", "ideal = { nodes = 4, latency = 5 }")
        message = refused(hopsim, tmp_path, key, document=f"{ideal}[[jobs]]\n{BARRIER}\n")
        assert_in_order(
            message, (key.partition(".")[0].partition("=")[0], "no routers", "valid: no such key")
        )


STUCK = f"""{NETWORK}[[jobs]]
name = "pair"
program.list.mpt = '''
{HEAD}rank 0 2
s 1 7 4096 0
r 1 7 4096 0
rank 1 2
s 0 7 4096 0
r 0 7 4096 0
end
'''
"""


def test_a_job_that_is_stuck_says_what_its_ranks_wait_for(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "stuck.toml").write_text(STUCK + "host.eager_limit = 0\n")
    said = hopsim("run", "stuck.toml", status=1).stderr
    parts = (
        "job pair is stuck at cycle",
        "2 of 2 ranks wait",
        "rank 0 (node 0), line 6: its rendezvous send of 4096 B to rank 1 has no receive, tag 7",
        "rank 1 (node 1), line 9: its rendezvous send of 4096 B to rank 0",
        "rank 0 → rank 1 → rank 0: each waits for the next",
    )
    assert_in_order(said, parts)


@pytest.mark.parametrize("kind", ["scan", "scatter"])
def test_messages_of_more_bytes_than_can_be_counted_are_never_done(
    hopsim: Command, tmp_path: Path, kind: str
) -> None:
    collective = f'program = {{ collective = {{ kind = "{kind}", bytes = {2**63 - 1} }} }}'
    (tmp_path / "a.toml").write_text(f"{NETWORK}measure.max_cycles = 2000\n[[jobs]]\n{collective}\n")
    message = hopsim("run", "a.toml", "--json", "-", status=1).stderr
    assert "measure.max_cycles = 2000: programs are not done" in message


def test_a_run_is_given_up_at_max_cycles(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(STUCK)
    said = hopsim("run", "long.toml", "--set", "measure.max_cycles=100", status=1).stderr
    parts = (
        "measure.max_cycles = 100",
        "programs are not done",
        "job pair has begun",
        "0 of 2 ranks are done",
    )
    assert_in_order(said, parts)


@pytest.mark.parametrize("topology", ["ring.routers = 4", "ideal = { nodes = 4, latency = 5 }"])
def test_a_computation_longer_than_any_run_is_not_stuck(
    hopsim: Command, tmp_path: Path, topology: str
) -> None:
    program = json.dumps("mpt 1\nname x\nranks 1\ncomm 0 1 0\nrank 0 1\nc 5000000000\nend\n")
    network = NETWORK.replace("ring.routers = 4", topology)
    (tmp_path / "long.toml").write_text(f"{network}[[jobs]]\nprogram.list.mpt = {program}\n")
    said = hopsim("run", "long.toml", status=1).stderr
    assert_in_order(
        said, ("measure.max_cycles = 3000000000", "programs are not done", "0 of 1 ranks are done")
    )


def test_a_time_series_that_grows_too_long_ends_the_run(hopsim: Command, tmp_path: Path) -> None:
    program = json.dumps("mpt 1\nname x\nranks 1\ncomm 0 1 0\nrank 0 1\nc 20000000\nend\n")
    (tmp_path / "long.toml").write_text(f"{NETWORK}[[jobs]]\nprogram.list.mpt = {program}\n")
    said = hopsim("run", "long.toml", "--set", "measure.interval=1", status=1).stderr
    assert_in_order(said, ("measure.interval = 1", "10000000 rows", "not done", "valid: 0 or a longer"))
    hopsim("run", "long.toml", "--set", "measure.interval=10_000")


@pytest.mark.parametrize(
    ("key", "valid"),
    [
        ('measure.streams=["links"]', "streams of programs: ranks"),
        ("measure.interval=100", "no such key"),
    ],
)
def test_what_is_recorded_of_packets_is_refused_without_routers(
    hopsim: Command, tmp_path: Path, key: str, valid: str
) -> None:
    ideal = NETWORK.replace("ring.routers = 4", "ideal = { nodes = 4, latency = 5 }")
    for text in (f"{ideal}[[jobs]]\n{BARRIER}\n", f'contention = "none"\n{NETWORK}[[jobs]]\n{BARRIER}\n'):
        message = refused(hopsim, tmp_path, key, document=text)
        assert_in_order(message, (key.partition("=")[0], "without contention", f"valid: {valid}"))


NODES = {
    "": ("names no node",),
    "0\n1 2\n": ("line 2", "2 numbers", "the same in all lines"),
    "0 1 2\n": ("line 1", "3 numbers"),
    "0\nx\n": ("line 2", "'x'", "valid: 0 …"),
    "0 0\n1 0\n": ("line 2", "rank 0 has a node already"),
    "0 0\n1 2\n": ("line 2", "rank 2", "valid: 0 … 1"),
}


@pytest.mark.parametrize("text", NODES, ids=range(len(NODES)))
def test_a_file_of_nodes_is_refused_with_its_line(hopsim: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "nodes.txt").write_text(text)
    message = refused(hopsim, tmp_path, f'jobs=[{{ placement = {{ file = "nodes.txt" }}, {BARRIER} }}]')
    assert_in_order(message, ('jobs.0.placement.file = "nodes.txt"', *NODES[text]))
