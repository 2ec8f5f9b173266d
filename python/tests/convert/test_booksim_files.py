"""Configuration files of BookSim 2 that become documents, and those that are refused."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from hopsim.convert import booksim, booksim_file, booksim_options
from hopsim.convert.booksim_file import Assignment
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError

MESH = "topology = mesh; routing_function = dor;\n"
WINDOW = (
    "max_samples = 10, which is BookSim's default, is the longest that BookSim runs, which ends as soon as "
    "figures settle; the document has a window of 7000 cycles, all periods behind the warm-up."
)
ISLIP = {"islip": {"iterations": 1}}
IN_TURN = {"vc_allocator": ISLIP, "switch_allocator": ISLIP}
UNSTABLE = (
    "latency_thres = 500.0, which is BookSim's default, has no counterpart: a run goes on to its last cycle, "
    "and its verdict says whether it was stable."
)
ALWAYS = [WINDOW, UNSTABLE]


def converted(text: str) -> booksim.Converted:
    return booksim.convert(booksim_file.assignments(text))


def document(text: str) -> dict[str, Any]:
    """What a file becomes, which hopsim takes."""
    made = converted(text).document
    Experiment.of(made).points()
    return made


def refusal(text: str) -> str:
    """Why a file is refused."""
    with pytest.raises(ConfigError) as refused:
        converted(text)
    return str(refused.value)


def traffic(text: str) -> Any:
    return document(MESH + text)["jobs"][0]["traffic"]["pattern"]


def test_a_mesh_becomes_a_mesh() -> None:
    text = """
// A comment; with = signs
topology = mesh;   k = 4;  n = 3;
routing_function = dim_order;
num_vcs = 4; vc_buf_size = 6;
routing_delay = 0; vc_alloc_delay = 2; st_prepare_delay = 1; st_final_delay = 1;
traffic = transpose;
packet_size = 5; injection_rate = 0.02;
sample_period = 500; warmup_periods = 2; max_samples = 6;
seed = 7; k = 4;
"""
    assert converted(text).document == {
        "compat": "booksim",
        "load": 0.1,
        "topology": {"mesh": {"sides": [4, 4, 4]}},
        "links": {"injection": {"latency": 2}, "network": {"latency": 2}},
        "router": {
            "virtual_channel": {
                "vcs": {"network": 4, "injection": 4},
                "buffers": {"network": 6, "injection": 6, "ejection": 6},
                "routing_delay": 0,
                "vc_allocation_delay": 2,
                "switch_traversal_delay": 2,
                **IN_TURN,
            }
        },
        "routing": {"minimal": {}},
        "jobs": [{"traffic": {"pattern": {"permutation": "transpose"}, "packet_length": 5}}],
        "measure": {"warmup": 1000, "cycles": 2000, "batches": 10, "seed": 7},
    }


def test_the_command_writes_a_document_and_what_it_has_instead(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "mesh").write_text(MESH + "k = 4; injection_rate = 0.05; num_vcs = 2; noq = 1;")
    done = hopsim("convert", "booksim", "mesh")
    assert done.stderr.splitlines() == [
        WINDOW,
        "noq = 1 has no counterpart: a packet may take any VC that its routing allows.",
        UNSTABLE,
    ]
    assert tomllib.loads(done.stdout) == document((tmp_path / "mesh").read_text())
    (tmp_path / "mesh.toml").write_text(done.stdout)
    hopsim("run", "mesh.toml", "--out", "results")


@pytest.mark.parametrize(
    ("text", "topology", "latencies", "vcs", "routing"),
    [
        (
            "topology = fattree; routing_function = nca; k = 4; n = 3; num_vcs = 4;",
            {"fat_tree": {"k": 4, "levels": 3}},
            {"injection": 2, "network": 2},
            {"network": 4, "injection": 4},
            {"minimal": {"up": "random"}},
        ),
        (
            "routing_function = dim_order; k = 5; n = 3; num_vcs = 4;",
            {"torus": {"sides": [5, 5, 5]}},
            {"injection": 2, "network": 3},
            {"network": 4, "injection": 4, "rings": {"dateline": {"class": "dimension"}}},
            {"minimal": {}},
        ),
        (
            "topology = cmesh; routing_function = dor_no_express; k = 4; n = 2; c = 4; xr = 2; yr = 2;",
            {"mesh": {"sides": [4, 4], "nodes_per_router": 4}},
            {"injection": 2, "network": 3},
            {"network": 16, "injection": 16},
            {"minimal": {}},
        ),
        (
            "topology = flatfly; routing_function = ran_min; k = 4; n = 2; c = 4; use_noc_latency = 0;",
            {"hyperx": {"sides": [4, 4], "nodes_per_router": 4}},
            {"injection": 2, "network": 2},
            {"network": 16, "injection": 16},
            {"minimal": {}},
        ),
        (
            "topology = flatfly; routing_function = ran_min; k = 4; n = 2; c = 4; xr = 2; yr = 2;",
            {"hyperx": {"sides": [4, 4], "nodes_per_router": 4, "latency_per_step": 2}},
            {"injection": 2, "network": 3},
            {"network": 16, "injection": 16},
            {"minimal": {}},
        ),
        (
            "topology = dragonflynew; routing_function = min; k = 2; n = 1; num_vcs = 3;",
            {"dragonfly": {"p": 2, "a": 4, "h": 2, "arrangement": "consecutive"}},
            {"injection": 2, "local": 11, "global": 101},
            {"local": 2, "global": 1, "injection": 3, "ejection": 1},
            {"minimal": {}},
        ),
        (
            "topology = fly; routing_function = dest_tag; k = 8; n = 1; num_vcs = 8;",
            {"graph": {"nodes": [8]}},
            {"injection": 2},
            {"injection": 8},
            {"minimal": {}},
        ),
    ],
)
def test_other_networks(
    text: str,
    topology: dict[str, Any],
    latencies: dict[str, int],
    vcs: dict[str, Any],
    routing: dict[str, Any],
) -> None:
    made = document(text)
    assert made["topology"] == topology
    assert made["links"] == {name: {"latency": latency} for name, latency in latencies.items()}
    assert made["router"]["virtual_channel"]["vcs"] == vcs
    assert made["routing"] == routing


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("uniform", {"uniform": {}}),
        ("{uniform}", {"uniform": {}}),
        ("bitcomp", {"permutation": "bit_complement"}),
        ("bitrev", {"permutation": "bit_reversal"}),
        ("shuffle", {"permutation": "shuffle"}),
        ("tornado", {"permutation": "tornado"}),
        ("neighbor", {"permutation": "neighbour"}),
        ("randperm", {"random_permutation": {}}),
        ("hotspot({{9},{1}})", {"hotspot": {"node": 9, "fraction": 1.0}}),
        # BookSim takes the first element of a list in single braces.
        ("hotspot({9,27},{4,2})", {"hotspot": {"node": 9, "fraction": 1.0}}),
        (
            "hotspot({{0,27,5},{4,2}})",
            {
                "mix": [
                    {"weight": 4, "pattern": {"hotspot": {"node": 0, "fraction": 1.0}}},
                    {"weight": 2, "pattern": {"hotspot": {"node": 27, "fraction": 1.0}}},
                    {"weight": 2, "pattern": {"hotspot": {"node": 5, "fraction": 1.0}}},
                ]
            },
        ),
    ],
)
def test_patterns(name: str, pattern: dict[str, Any]) -> None:
    assert traffic(f"traffic = {name};") == pattern


def test_rates_are_of_packets_unless_they_are_of_flits() -> None:
    assert document(MESH + "injection_rate = 0.1; packet_size = {5};")["load"] == pytest.approx(0.5)
    assert document(MESH + "injection_rate = {0.1}; packet_size = 5; injection_rate_uses_flits = 1;")[
        "load"
    ] == pytest.approx(0.1)
    made = converted(MESH + "injection_rate = 0.5; packet_size = 5;")
    assert made.document["load"] == 1.0
    assert made.remarks[0] == (
        "injection_rate = 0.5 is 2.5 flits per node and cycle; the document has load = 1, all that "
        "the link of "
        "a node carries."
    )


@pytest.mark.parametrize(
    ("options", "lengths", "mean"),
    [
        ("packet_size = {{1,5}};", {1: 1, 5: 1}, 3.0),
        ("packet_size = {{1,5}}; packet_size_rate = {{3,1}};", {1: 3, 5: 1}, 2.0),
        ("packet_size = {{8,1,2}}; packet_size_rate = {{2,1}};", {8: 2, 1: 1, 2: 1}, 4.75),
        ("packet_size = {{1,5,1}}; packet_size_rate = {{1,2,3}};", {1: 4, 5: 2}, 14 / 6),
        ("packet_size = {{1,5}}; packet_size_rate = 7;", {1: 7, 5: 7}, 3.0),
    ],
)
def test_packets_of_several_lengths_have_the_weights_of_their_rates(
    options: str, lengths: dict[int, int], mean: float
) -> None:
    made = document(f"{MESH} injection_rate = 0.1; {options}")
    shares = [{"length": length, "weight": weight} for length, weight in lengths.items()]
    assert made["jobs"][0]["traffic"] == {"pattern": {"uniform": {}}, "packet_lengths": shares}
    assert made["load"] == pytest.approx(0.1 * mean)
    made = document(f"{MESH} injection_rate = 0.1; injection_rate_uses_flits = 1; {options}")
    assert made["load"] == pytest.approx(0.1)


def test_lengths_that_are_never_drawn_are_none() -> None:
    one = document(MESH + "packet_size = {{1,5}}; packet_size_rate = {{0,2}};")
    assert one["jobs"][0]["traffic"]["packet_length"] == 5
    same = document(MESH + "packet_size = {{3,3}};")
    assert same["jobs"][0]["traffic"]["packet_length"] == 3


def test_what_cannot_be_carried_over_is_said_option_by_option() -> None:
    made = converted(
        MESH
        + "hold_switch_for_packet = 1; buffer_policy = shared; buf_size = 32; num_vcs = 4; packet_size = 20;"
        "routing_delay = 2; warmup_periods = 0; seed = time; sw_allocator = separable_input_first; "
        "watch_out = -;"
        "injection_rate = 0.01;"
    )
    assert made.document["measure"] == {"warmup": "auto", "cycles": 10_000, "batches": 10, "seed": 0}
    assert made.document["router"]["virtual_channel"]["buffers"] == {
        "network": 32,
        "injection": 8,
        "ejection": 8,
        "damq": {"reserve": 1},
    }
    assert made.remarks == [
        "buffer_policy = shared is carried over for links alone: VCs between nodes and routers have 8 flits "
        "each.",
        'warmup_periods = 0 warms up until figures settle; the document has measure.warmup = "auto".',
        WINDOW.replace("7000", "10000"),
        "seed = time is another one every time; the document has 0.",
        UNSTABLE,
        "watch_out = - is about what BookSim prints; the document has no such key.",
    ]


def test_output_speedup() -> None:
    made = document(MESH + "num_vcs = 4; output_speedup = 2;")["router"]["virtual_channel"]
    assert (made["crossbar_outputs"], made["buffers"]["output"]) == (2, 32)
    assert (
        "output_speedup = 2 is carried over; of flits that cross to a port at once those of lower outputs "
        in (" ".join(converted(MESH + "output_speedup = 2;").remarks))
    )
    both = document(MESH + "output_speedup = 2; internal_speedup = 1.5; output_buffer_size = 7;")
    router = both["router"]["virtual_channel"]
    assert (router["crossbar_outputs"], router["speedup"], router["buffers"]["output"]) == (2, 1.5, 7)
    shared = document(MESH + "num_vcs = 2; buffer_policy = shared; output_speedup = 2;")
    assert shared["router"]["virtual_channel"]["buffers"]["output"] == 32
    with pytest.raises(ConfigError, match=r"output_speedup = 17 is more than hopsim has; valid: 1 … 16"):
        document(MESH + "output_speedup = 17;")


def test_shared_buffers() -> None:
    def buffers(text: str) -> tuple[dict[str, Any], list[str]]:
        made = converted(MESH + "num_vcs = 4; vc_buf_size = 8; buffer_policy = shared; " + text)
        of_buffers = [remark for remark in made.remarks if remark.startswith(("buffer_policy", "private"))]
        return made.document["router"]["virtual_channel"]["buffers"], of_buffers

    links = "is carried over for links alone: VCs between nodes and routers have 8 flits each."
    own = {"network": 8, "injection": 8, "ejection": 8}
    for text, reserve in [("private_buf_size = 2;", 2), ("private_buf_size = -1;", 8), ("", 1)]:
        shared = {**own, "network": 32, "damq": {"reserve": reserve}}
        assert buffers(text) == (shared, [f"buffer_policy = shared {links}"])
    assert buffers("private_buf_size = 0;")[1][0] == (
        "private_buf_size = 0 has no counterpart: each VC has a flit of its own."
    )
    assert buffers("buffer_policy = dynamic;")[1] == [
        "buffer_policy = dynamic is carried over without the limits of single VCs.",
        f"buffer_policy = dynamic {links}",
    ]
    for name in ("wait_for_tail_credit", "vc_prioritize_empty"):
        said = f"buffer_policy = shared has no counterpart with {name} = 1: every VC has a buffer of its own."
        assert buffers(f"{name} = 1;") == (own, [said])
    with pytest.raises(ConfigError, match="private_buf_size = 9 is more than a VC has; valid: at most 8"):
        buffers("private_buf_size = 9;")


def router(text: str) -> dict[str, Any]:
    """What of the router is not as it always is."""
    made = document(MESH + text)["router"]["virtual_channel"]
    always = {"vcs", "buffers", "routing_delay", "vc_allocation_delay", "switch_traversal_delay"}
    return {key: value for key, value in made.items() if key not in always}


def test_stages_of_several_cycles() -> None:
    assert router("sw_alloc_delay = 3;") == {**IN_TURN, "switch_allocation_delay": 3}
    pipeline = "is carried over as a pipeline; BookSim lets a router begin with all heads at once."
    for other in ("speculative = 1", "hold_switch_for_packet = 1", "internal_speedup = 2.0"):
        made = converted(f"{MESH}{other}; sw_alloc_delay = 3; routing_delay = 2;")
        assert "switch_allocation_delay" not in made.document["router"]["virtual_channel"]
        beside = other.partition(" ")[0]
        assert f"sw_alloc_delay = 3 has no counterpart beside {beside}: the document has 1." in made.remarks
        is_faster = beside == "internal_speedup"
        assert (f"routing_delay = 2 {pipeline}" in made.remarks) == is_faster
        assert made.document.get("semantics") == ({"stages": "pipelined"} if is_faster else None)
        Experiment.of(made.document).points()


def test_speculation_and_held_switches() -> None:
    assert router("hold_switch_for_packet = 1;") == {**IN_TURN, "hold_switch": True}
    assert router("speculative = 1;") == {**IN_TURN, "speculation": "equal"}
    assert router("speculative = 1; spec_sw_allocator = islip;") == {**IN_TURN, "speculation": "separate"}
    masked = "speculative = 1; spec_sw_allocator = islip; spec_mask_by_reqs = 1;"
    assert router(masked) == {**IN_TURN, "speculation": "pessimistic"}
    made = router("speculative = 1; sw_allocator = select;")
    assert made == {**IN_TURN, "speculation": "firm_first"}


SPECULATION = (
    (
        "spec_check_elig = 0;",
        ["spec_check_elig = 0 is about speculation, which the file does not have."],
    ),
    (
        "speculative = 1; vc_alloc_delay = 2;",
        [
            "speculative = 1 is of no use with vc_alloc_delay of more than 1; in the document heads ask for "
            "the switch when they own an output VC."
        ],
    ),
    (
        "speculative = 1; spec_check_cred = 0; spec_mask_by_reqs = 1; spec_sw_allocator = wavefront;",
        [
            "spec_check_cred = 0 has no counterpart: a head asks for the switch if an output VC that it asks "
            "for takes a flit.",
            "spec_sw_allocator = wavefront has no counterpart: the document has islip here, too.",
        ],
    ),
)


@pytest.mark.parametrize(("text", "remarks"), SPECULATION)
def test_what_of_speculation_is_not_carried_over_is_said(text: str, remarks: list[str]) -> None:
    told = [remark for remark in converted(MESH + text).remarks if "spec" in remark.split(" = ")[0]]
    assert told == remarks


def bursts(text: str) -> tuple[dict[str, float], float]:
    """What becomes of sources that are on and off: their probabilities, and the load."""
    made = document(MESH + "injection_process = on_off;" + text)
    return made["jobs"][0]["traffic"]["process"]["on_off"], made["load"]


def test_sources_that_are_on_and_off() -> None:
    assert bursts("injection_rate = 0.2;") == ({"alpha": 0.5, "beta": 0.5}, pytest.approx(0.2))
    given = "injection_rate = 0.1; burst_alpha = 0.05; burst_beta = 0.1;"
    assert bursts(given) == ({"alpha": 0.05, "beta": 0.1}, pytest.approx(0.1))
    # With a rate while on, the probability that is negative follows.
    found, load = bursts("injection_rate = 0.1; burst_alpha = -1.0; burst_beta = 0.1; burst_r1 = 0.5;")
    assert (found["alpha"], load) == (pytest.approx(0.1 * 0.1 / 0.4), pytest.approx(0.1))
    found, _ = bursts("injection_rate = 0.1; burst_alpha = 0.02; burst_beta = -1.0; burst_r1 = 0.5;")
    assert found["beta"] == pytest.approx(0.02 * 0.4 / 0.1)
    # Three of them say the rate by themselves.
    for rate, packet, expected in ((0.1, 0.4, 0.1), (0.7, 0.8, 0.2)):
        given = f"injection_rate = {rate}; burst_alpha = 0.1; burst_beta = 0.3; burst_r1 = {packet};"
        assert bursts(given)[1] == pytest.approx(expected)
    assert document(MESH + "injection_process = on_off({0.2,0.4});")["jobs"][0]["traffic"]["process"] == {
        "on_off": {"alpha": 0.2, "beta": 0.4}
    }


def test_probabilities_of_sources_that_are_not_on_and_off_are_told() -> None:
    told = "burst_alpha = 0.3 is about injection_process = on_off, which the file does not have."
    assert told in converted(MESH + "burst_alpha = 0.3; burst_beta = 0.5;").remarks


def test_sources_that_cannot_be_on_and_off() -> None:
    text = MESH + "injection_process = on_off; injection_rate = 0.6;"
    told = "is more than a packet in every cycle in which a node is on; the document has load = 0.5."
    assert f"injection_rate = 0.6 {told}" in converted(text).remarks
    for options, words in (
        (
            "burst_alpha = 1.5;",
            "burst_alpha = 1.5 means 1.5, which is no probability; valid: more than 0.0, at most 1.0",
        ),
        (
            "burst_alpha = -1.0; burst_r1 = 0.5;",
            "burst_r1 = 0.5 is too small for the rate; valid: more than 0.6",
        ),
    ):
        with pytest.raises(ConfigError, match=re.escape(words)):
            converted(text + options)


def test_credits_and_speedup() -> None:
    assert router("credit_delay = 2;") == {**IN_TURN, "credit_delay": 2}
    assert router("wait_for_tail_credit = 1; vc_busy_when_full = 1;") == {**IN_TURN, "vc_reuse": "credits"}
    assert router("vc_busy_when_full = 1;") == {**IN_TURN, "vc_needs_credit": True}
    assert router("input_speedup = 2;") == {**IN_TURN, "crossbar_inputs": 2}


@pytest.mark.parametrize(
    ("name", "allocator", "remark"),
    [
        ("islip(2)", {"islip": {"iterations": 2}}, ""),
        ("pim", {"pim": {"iterations": 1}}, ""),
        ("pim(3)", {"pim": {"iterations": 3}}, ""),
        ("select", ISLIP, ""),
        ("wavefront", {"wavefront": {}}, ""),
        ("separable_output_first(round_robin)", {"separable_output_first": {}}, ""),
        ("rr_wavefront", {"wavefront": {"next": "grant"}}, ""),
        ("loa", {"lonely_output": {}}, ""),
        ("max_size", {"maximum_size": {}}, ""),
        (
            "separable_input_first(tree(5))",
            {"separable_input_first": {}},
            "has an argument that the document has not: it has separable_input_first.",
        ),
    ],
)
def test_allocators(name: str, allocator: dict[str, Any], remark: str) -> None:
    text = f"vc_allocator = {name}; sw_allocator = {name};"
    by_output = {"switch_input": "output"} if name.startswith("separable_input_first") else {}
    assert router(text) == {"vc_allocator": allocator, "switch_allocator": allocator, **by_output}
    remarks = [f"{option} = {name} {remark}" for option in ("vc_allocator", "sw_allocator") if remark]
    assert [line for line in converted(MESH + text).remarks if line not in ALWAYS] == remarks


def test_priorities() -> None:
    select = "vc_allocator = select; sw_allocator = select;"
    aged = {"arbiter": {"age": {"timestamp": "generation"}}}
    assert router(select + "priority = age;") == {**IN_TURN, **aged}
    assert router(select + "priority = network_age;")["arbiter"] == {"age": {"timestamp": "injection"}}
    assert router(select + "priority = local_age;")["arbiter"] == {
        "age": {"timestamp": "arrival", "by_flit": True}
    }
    assert router(select + "priority = hop_count;")["arbiter"] == {"hop_count": {}}
    assert router(select + "priority = queue_length;")["arbiter"] == {"queue_length": {}}
    matrices = "vc_allocator = separable_input_first(matrix); sw_allocator = separable_output_first(matrix);"
    assert router(matrices)["arbiter"] == {"least_recently_served": {}}
    # Packets of one class are alike.
    assert router(matrices + "priority = class;")["arbiter"] == {"least_recently_served": {}}
    assert "arbiter" not in router(select + "priority = class;")
    for text, remark in (
        (
            select + "priority = class;",
            "class lets nobody go before others, as there is one class; in a document jobs have a priority.",
        ),
        (
            select + "priority = network_age;",
            "network_age is the age of a flit; in the document a packet is as old as its head.",
        ),
        (select + "priority = sequence;", "sequence has no counterpart: the document serves in turn."),
        (
            "sw_allocator = select; priority = age;",
            "age is looked at by rr_wavefront, select, separable_input_first, separable_output_first, "
            "wavefront alone, which are not both allocators of the file; the document serves in turn.",
        ),
    ):
        assert f"priority = {remark}" in converted(MESH + text).remarks
    assert "arbiter" not in router("priority = age;")


def test_empty_vcs_go_first_where_inputs_pick_them() -> None:
    given = "vc_prioritize_empty = 1; vc_allocator = "
    assert router(given + "separable_input_first;")["empty_vcs_first"] is True
    for text, said in (
        (
            "islip;",
            "looked at by rr_wavefront, select, separable_input_first, separable_output_first, wavefront "
            "alone, which the VC allocator is not",
        ),
        (
            "separable_input_first; wait_for_tail_credit = 1;",
            "of no effect with wait_for_tail_credit: all output VCs that can be granted are empty",
        ),
    ):
        assert "empty_vcs_first" not in router(given + text)
        assert f"vc_prioritize_empty = 1 is {said}." in converted(MESH + given + text).remarks
    kept = "has no counterpart with this VC allocator: a head asks for all free output VCs alike."
    assert f"vc_prioritize_empty = 1 {kept}" in converted(MESH + given + "wavefront;").remarks


def test_packets_behind_lend_their_age() -> None:
    select = "vc_allocator = select; sw_allocator = select; vc_priority_donation = 1;"
    donated = {"age": {"timestamp": "generation", "donation": True}}
    assert router(select + "priority = age;")["arbiter"] == donated
    assert not any("donation" in line for line in converted(MESH + select + "priority = age;").remarks)
    said = "vc_priority_donation = 1 is of no effect with this priority."
    for none in ("none", "class", "local_age", "queue_length"):
        assert said in converted(MESH + select + f"priority = {none};").remarks
    assert said in converted(MESH + "vc_priority_donation = 1; priority = age;").remarks
    kept = "vc_priority_donation = 1 has no counterpart with this priority: a VC is as its first packet."
    for other in ("hop_count", "network_age"):
        assert kept in converted(MESH + select + f"priority = {other};").remarks


@pytest.mark.parametrize("name", [name for name, option in booksim_options.OPTIONS.items() if option.instead])
def test_every_option_that_hopsim_lacks_is_said_if_it_is_set(name: str) -> None:
    option = booksim_options.OPTIONS[name]
    others: dict[str, booksim_options.Value] = {
        "spec_sw_allocator": "islip",
    }
    value = others.get(name, "some/file" if isinstance(option.default, str) else option.default + 1)
    made = booksim.convert([*booksim_file.assignments(MESH), Assignment(name, value, 3)])
    assert f"{name} = {value} {option.instead}." in made.remarks
    assert len(made.remarks) == len(ALWAYS) + (not option.differs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "sets no option; valid: "),
        ("// nothing\n", "sets no option; valid: "),
        ("k = 8", "line 1: the end of the file follows k = 8, and no ;; valid: "),
        ("k = 8\nn = 2;", "line 2: 'n' follows k = 8, and no ;; valid: "),
        ("k 8;", "line 1: '8' follows k, and no =; valid: "),
        ("k = ;", "line 1: ';' is no value of k; valid: "),
        ("\n= 8;", "line 2: '=' is no name of an option; valid: "),
        ("k = {1, 2};", "line 1: '{' is no value of k; valid: "),
        ("k", "line 1: the end of the file follows k, and no =; valid: "),
    ],
)
def test_what_is_no_assignment(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        booksim_file.assignments(text)
    assert str(refused.value) == f"{message}{booksim_file.KIND}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nnum_vc = 4;", "line 2: num_vc = 4: BookSim has no option num_vc; did you mean num_vcs?"),
        ("zzzzzzzz = 4;", "line 1: zzzzzzzz = 4: BookSim has no option zzzzzzzz; valid: its options"),
        ("k = eight;", "line 1: k = eight: is a text; valid: a number such as 8"),
        ("k = 8.5;", "line 1: k = 8.5: is no whole number; valid: a number such as 8"),
        ("topology = 3;", "line 1: topology = 3: is a number; valid: a text"),
        ("injection_rate = 1;", "line 1: injection_rate = 1: BookSim takes no whole number here; valid: 1.0"),
        (
            "k = 3000000000;",
            "line 1: k = 3000000000: is more than BookSim holds; valid: -2147483647 … 2147483647",
        ),
        (
            "topology = meshh;",
            "line 1: topology = meshh is nothing that BookSim knows; valid: torus, mesh, cmesh, fly, qtree, "
            "tree4, fattree, flatfly, anynet, dragonflynew; did you mean mesh?",
        ),
        (MESH + "num_vcs = 0;", "line 2: num_vcs = 0 is too small; valid: 1 or more"),
        (MESH + "sw_alloc_delay = 0;", "line 2: sw_alloc_delay = 0 is too small; valid: 1 or more"),
        (
            "topology = mesh;",
            "routing_function = none, which is BookSim's default, is no routing of BookSim for mesh; "
            "valid: dor, "
            "dim_order, dim_order_ni, dim_order_pni, xy_yx, adaptive_xy_yx, romm, romm_ni, min_adapt, "
            "planar_adapt, valiant, chaos",
        ),
        (
            "routing_function = dim_order; num_vcs = 1;",
            "line 1: num_vcs = 1 is too few for the two classes of a torus; valid: 2 or more",
        ),
        (
            MESH + "num_vcs = 4; input_speedup = 3;",
            "line 2: input_speedup = 3 does not divide num_vcs; valid: a divisor of num_vcs",
        ),
        (
            MESH + "sw_allocator = islip(9);",
            "line 2: sw_allocator = islip(9) has a number of iterations that hopsim does not; valid: "
            "islip(1) … islip(8)",
        ),
        (
            MESH + "vc_allocator = pim(x);",
            "line 2: vc_allocator = pim(x) has a number of iterations that hopsim does not; valid: pim(1) … "
            "pim(8)",
        ),
        (
            "topology = mesh;\nrouting_function = planar_adapt;",
            "line 2: routing_function = planar_adapt is not the same in hopsim: BookSim's is adaptive in two "
            "dimensions at a time; valid: dor or dim_order or valiant or romm or xy_yx or adaptive_xy_yx",
        ),
        (
            "topology = flatfly; routing_function = ran_min; xr = 3; yr = 3;",
            "line 1: xr = 3 gives the channels of the nodes of a router different lengths; "
            "valid: 1 or 2, or use_noc_latency = 0",
        ),
        (
            "topology = flatfly; routing_function = ran_min; xr = 2;",
            "line 1: xr = 2 gives channels of a dimension other lengths than yr = 1; valid: 1",
        ),
        (
            "topology = flatfly; routing_function = ran_min; n = 3;",
            "use_noc_latency = 1, which is BookSim's default, gives channels of a flatfly with n = 3 the "
            "lengths of a plane; valid: 0 with n = 3 or more",
        ),
        (
            "topology = fly; routing_function = dest_tag;",
            "n = 2, which is BookSim's default, is a butterfly, whose nodes inject at its first "
            "stage and eject "
            "at its last: a node of hopsim is at one router; valid: 1 with topology = fly: a router alone",
        ),
        (
            "topology = cmesh; routing_function = dor_no_express; c = 2;",
            "line 1: c = 2 has channels of two lengths, and a mesh of hopsim one; valid: 4 with n = 2",
        ),
        (
            "topology = flatfly; routing_function = ran_min; k = 4; c = 4; xr = 1; yr = 2; traffic = bitrev; "
            "use_noc_latency = 0;",
            "line 1: xr = 1 times yr = 2 is not c = 4; valid: 4 with yr = 1",
        ),
        (
            "topology = flatfly; routing_function = ran_min; k = 3; c = 4; xr = 2; yr = 2; traffic = bitrev;",
            "line 1: traffic = bitrev is for 2^b nodes, and there are 36; valid: uniform",
        ),
        (
            "topology = flatfly; routing_function = ran_min; k = 4; c = 2; xr = 2; yr = 1; "
            "traffic = transpose; use_noc_latency = 0;",
            "line 1: traffic = transpose is for 4^b nodes, and there are 32; valid: uniform",
        ),
        (
            "topology = flatfly; routing_function = ran_min; k = 4; c = 2; xr = 2; yr = 1; "
            "traffic = tornado; use_noc_latency = 0;",
            "line 1: traffic = tornado is for a square of nodes, and 32 nodes are none; valid: uniform",
        ),
        (
            "topology = flatfly; routing_function = ran_min; k = 4; n = 3; c = 4; traffic = bitrev; "
            "use_noc_latency = 0;",
            "line 1: traffic = bitrev goes by numbers of nodes, which are others in this network of hopsim; "
            "valid: uniform",
        ),
        (
            "topology = flatfly; routing_function = xyyx; k = 4; n = 1; c = 4; xr = 2; yr = 2;",
            "line 1: n = 1 has one order of dimensions; valid: 2 or more",
        ),
        (
            MESH.replace("dor", "xy_yx") + "num_vcs = 1;",
            "line 2: num_vcs = 1 is too few for the two orders of dimensions; valid: 2 or more",
        ),
        (
            MESH + "internal_speedup = 0.5;",
            "line 2: internal_speedup = 0.5 is no speedup of hopsim; valid: 1.0 … 8.0, a multiple of 0.01",
        ),
        (
            MESH + "internal_speedup = 1.001;",
            "line 2: internal_speedup = 1.001 is no speedup of hopsim; valid: 1.0 … 8.0, a multiple of 0.01",
        ),
        (
            MESH + "output_buffer_size = 0;",
            "line 2: output_buffer_size = 0 lets no flit through; valid: 1 or more, or -1",
        ),
        (
            "topology = dragonflynew; routing_function = min; n = 1; num_vcs = 1;",
            "line 1: num_vcs = 1 is too few for a dragonfly; valid: 2 or more",
        ),
        (
            "topology = dragonflynew; routing_function = min; k = 2;",
            "n = 2, which is BookSim's default, is a dragonfly that BookSim does not build; valid: 1 with "
            "dragonflynew",
        ),
        (MESH + "k = 1;", "line 2: k = 1 is a network without links; valid: 2 or more"),
        (
            MESH + "n = 40;",
            "line 2: n = 40 with k = 8 is too large a network; valid: fewer than 2147483647 routers",
        ),
        (
            MESH + "router = event;",
            "line 2: router = event is a kind of router that hopsim does not have; valid: iq",
        ),
        (
            MESH + "sim_type = batch;",
            "line 2: sim_type = batch sends batches, which hopsim does not; valid: latency or throughput",
        ),
        (
            MESH + "subnets = 2;",
            "line 2: subnets = 2 is several networks side by side, of which a document has one; valid: 1",
        ),
        (
            MESH + "classes = 2;",
            "line 2: classes = 2 is several classes of traffic, of which a document has one; valid: 1",
        ),
        (
            MESH + "use_read_write = 1;",
            "line 2: use_read_write = 1 is requests and replies with lengths and VCs of their own, "
            "not those of "
            "hopsim; valid: 0",
        ),
        (
            MESH + "packet_size = {{1,0}};",
            "line 2: packet_size = {{1,0}} is no length of a packet; valid: 1 or more",
        ),
        (
            MESH + "packet_size = {{}};",
            "line 2: packet_size = {{}} is no length of a packet; valid: 1 or more",
        ),
        (
            MESH + "packet_size = {{1,5}}; packet_size_rate = {{3,-1}};",
            "line 2: packet_size_rate = {{3,-1}} is no rate; valid: 0 or more",
        ),
        (
            MESH + "packet_size = {{1,5}}; packet_size_rate = {3,1};",
            "line 2: packet_size_rate = {3,1} is a list with a value for each class, and the document has "
            "one class; valid: one value",
        ),
        (
            MESH + "packet_size = {{1,5}}; packet_size_rate = 0;",
            "line 2: packet_size_rate = 0 is a rate of 0 for all lengths; valid: a rate above 0",
        ),
        (
            MESH + "packet_size = {1,5};",
            "line 2: packet_size = {1,5} is a list with a value for each class, and the document has "
            "one class; "
            "valid: one value",
        ),
        (MESH + "packet_size = {x};", "line 2: packet_size = {x} is no length of a packet; valid: 1 or more"),
        (MESH + "injection_rate = -0.1;", "line 2: injection_rate = -0.1 is no rate; valid: 0.0 or more"),
        (
            MESH + "injection_rate = much;",
            "line 2: injection_rate = much is no number; valid: a number such as 0.1",
        ),
        (
            MESH + "traffic = taper64;",
            "line 2: traffic = taper64 is no pattern of hopsim; valid: uniform, randperm, bitcomp, bitrev, "
            "shuffle, transpose, tornado, neighbor, bad_dragon, hotspot",
        ),
        (MESH + "traffic = bad_dragon;", "line 2: traffic = bad_dragon is for a dragonfly; valid: uniform"),
        (
            MESH + "traffic = tornado(4);",
            "line 2: traffic = tornado(4) has arguments that the pattern of hopsim does not have; "
            "valid: tornado",
        ),
        (
            MESH + "xr = 2; traffic = tornado;",
            "line 2: traffic = tornado is not the same in this network of hopsim; valid: uniform",
        ),
        (
            MESH + "traffic = hotspot({{0,99},{1}});",
            "line 2: traffic = hotspot({{0,99},{1}}) names a node that is drawn or not there; valid: "
            "nodes 0 … 63, "
            "by number",
        ),
        (
            MESH + "traffic = hotspot;",
            "line 2: traffic = hotspot names a node that is drawn or not there; valid: nodes 0 … 63, "
            "by number",
        ),
        (
            MESH + "traffic = hotspot({{0,9},{1,0}});",
            "line 2: traffic = hotspot({{0,9},{1,0}}) has no weights; valid: "
            "hotspot({{0,27},{4,2}}), weights of 1 "
            "or more",
        ),
        (
            MESH + "traffic = hotspot({{a},{1}});",
            "line 2: traffic = hotspot({{a},{1}}) names no nodes; valid: hotspot({{0,27},{4,2}})",
        ),
        (MESH + "max_samples = 3;", "line 2: max_samples = 3 leaves nothing to measure; valid: more than 3"),
        (MESH + "buf_size = 3;", "line 2: buf_size = 3 leaves a VC without a buffer; valid: 16 or more"),
        (MESH + "seed = -1;", "line 2: seed = -1 is no seed of hopsim; valid: 0 or more"),
        (MESH + "seed = now;", "line 2: seed = now is no whole number; valid: a number such as 1"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    assert refusal(text) == message


@pytest.mark.parametrize("name", booksim_options.CHOICES["topology"])
def test_every_topology_of_booksim_is_carried_over_or_said_to_be_lacking(name: str) -> None:
    assert (name in booksim.NETWORKS) != (name in booksim.LACKING)
    assert set(booksim.NETWORKS.get(name, (None, ()))[1]) <= set(booksim_options.ROUTINGS[name])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "mesh: sets no option"),
        (b"\x7fELF\x02\xff\xfe", "mesh: byte 5 is not UTF-8"),
        (b"k = 8 \x00;", "mesh: line 1: '\\x00' follows k = 8, and no ;"),
        (
            MESH.encode() + b"num_vcs = 100;",
            "mesh, as a document: line 5, column 55: router.virtual_channel.vcs.injection = 100: out "
            "of range",
        ),
        (None, "cannot read mesh: No such file or directory"),
    ],
)
def test_odd_files_have_a_message_and_no_document(
    hopsim: Command, tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "mesh").write_bytes(content)
    done = hopsim("convert", "booksim", "mesh", status=2)
    assert done.stderr.startswith(f"hopsim: {message}")
    assert not done.stdout


def test_a_detour_on_a_mesh_has_half_of_the_vcs_for_each_part() -> None:
    detour = MESH + "routing_function = valiant; num_vcs = 6;"
    made = document(detour)
    assert made["routing"] == {"valiant": {}}
    assert made["router"]["virtual_channel"]["vcs"]["network"] == 6
    with pytest.raises(ConfigError, match="num_vcs = 1 is too few for the two parts of a detour"):
        document(MESH + "routing_function = valiant; num_vcs = 1;")


def test_routers_faster_than_their_links_have_queues_at_their_outputs() -> None:
    router = document(MESH + "internal_speedup = 1.5; num_vcs = 3; vc_buf_size = 4;")["router"]
    found = router["virtual_channel"]
    # Nothing but credits ends the growth of a queue without a size.
    assert (found["speedup"], found["buffers"]["output"]) == (1.5, 12)
    router = document(MESH + "internal_speedup = 2.0; output_buffer_size = 3;")["router"]
    assert router["virtual_channel"]["buffers"]["output"] == 3
    plain = document(MESH)["router"]["virtual_channel"]
    assert "speedup" not in plain
    assert "output" not in plain["buffers"]
    instead = "output_buffer_size = 3 is about speedups, which the file does not have."
    assert instead in converted(MESH + "output_buffer_size = 3;").remarks


@pytest.mark.parametrize(
    ("routing", "made"),
    [
        ("valiant", {"valiant": {}}),
        ("xyyx", {"o1turn": {}}),
        ("adaptive_xyyx", {"o1turn": {"order": "less_occupied"}}),
        ("ugal", {"ugal": {"within": "unaligned", "occupancy": "port", "threshold": 2, "once": True}}),
    ],
)
def test_routings_of_a_flattened_butterfly(routing: str, made: dict[str, Any]) -> None:
    text = (
        f"topology = flatfly; routing_function = {routing}; k = 4; n = 2; c = 4; xr = 2; yr = 2; num_vcs = 4;"
    )
    found = document(text)
    assert found["routing"] == made
    assert found["router"]["virtual_channel"]["vcs"]["network"] == 4


def test_what_of_ugal_is_not_carried_over_is_said() -> None:
    text = "topology = flatfly; routing_function = ugal; k = 4; n = 2; c = 4; xr = 2; yr = 2; num_vcs = 4;"
    bound = "routing_function = ugal is for the detour from 2 flits more on; the document has "
    for length, threshold, flits in ((1, 2, None), (2, 1, None), (3, 1, 3), (5, 0, 0)):
        made = converted(f"{text} packet_size = {length};")
        assert made.document["routing"]["ugal"]["threshold"] == threshold
        told = [] if flits is None else [f"{bound}{flits}."]
        assert [remark for remark in made.remarks if remark.startswith("routing")] == told


def test_two_parts_of_a_way_on_a_mesh() -> None:
    made = converted(MESH.replace("dor", "romm"))
    assert made.document["routing"] == {"valiant": {"within": "quadrant"}}
    assert not [remark for remark in made.remarks if remark.startswith("routing")]


def test_both_orders_of_dimensions_on_a_mesh() -> None:
    assert document(MESH.replace("dor", "xy_yx"))["routing"] == {"o1turn": {}}
    assert document(MESH.replace("dor", "adaptive_xy_yx"))["routing"] == {
        "o1turn": {"order": "less_occupied"}
    }


@pytest.mark.parametrize(
    "network", ["flatfly; routing_function = ran_min", "cmesh; routing_function = dor_no_express"]
)
def test_patterns_by_number_go_to_the_nodes_that_have_the_numbers_in_booksim(network: str) -> None:
    """Of 8 x 8 nodes row by row, 2 x 2 on each of 4 x 4 routers; here those of a router follow each other."""

    def here(node: int) -> int:
        x, y = node % 8, node // 8
        return 4 * (x // 2 + 4 * (y // 2)) + x % 2 + 2 * (y % 2)

    assert [here(node) for node in (0, 1, 2, 8, 9, 16, 63)] == [0, 1, 4, 2, 3, 16, 63]
    images: dict[str, Callable[[int], int]] = {
        "bitcomp": lambda node: 63 - node,
        "transpose": lambda node: node % 8 * 8 + node // 8,
        "shuffle": lambda node: node * 2 % 64 + node // 32,
        "bitrev": lambda node: int(f"{node:06b}"[::-1], 2),
        "tornado": lambda node: (node % 8 + 3) % 8 + (node // 8 + 3) % 8 * 8,
        "neighbor": lambda node: (node % 8 + 1) % 8 + (node // 8 + 1) % 8 * 8,
    }
    for name, image in images.items():
        text = f"topology = {network}; k = 4; n = 2; c = 4; xr = 2; yr = 2; traffic = {name};"
        pattern = document(text)["jobs"][0]["traffic"]["pattern"]
        destinations = pattern["destinations"]
        assert [destinations[here(node)] for node in range(64)] == [here(image(node)) for node in range(64)]
    text = f"topology = {network}; k = 4; n = 2; c = 4; xr = 2; yr = 2; traffic = hotspot({{{{9}}}});"
    assert document(text)["jobs"][0]["traffic"]["pattern"] == {"hotspot": {"node": 3, "fraction": 1.0}}
