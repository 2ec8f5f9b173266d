"""Documents that become configuration files of BookSim 2, and those that are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from every_key import changed, paths
from hopsim import _core
from hopsim.convert import booksim_file
from hopsim.convert.booksim import NETWORKS, convert
from hopsim.convert.booksim_names import ALLOCATORS
from hopsim.document.experiment import Experiment, example_names
from hopsim.errors import ConfigError
from hopsim.export import booksim
from hopsim.export.differences import differences

FLITS = (
    "flattened_butterfly",
    "o1turn_on_chip",
    "on_chip",
    "speculative_on_chip",
    "speedup_on_chip",
    "torus_on_chip",
    "virtual_channels",
)
"""Examples of which some points are experiments of BookSim."""

MESH = "topology.mesh.sides = [4, 4]\nrouter.virtual_channel.vcs.network = 4\n"
SMALL = (
    "load = 0.1\njobs = [{ traffic = { packet_length = 2 } }]\nmeasure.warmup = 200\nmeasure.cycles = 500\n"
)


def config(text: str) -> str:
    return Experiment.of(text).points()[0].config


def exported(text: str) -> booksim.Exported:
    return booksim.export(config(text))


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as refused:
        exported(text)
    return str(refused.value)


def outcome(point: str) -> booksim.Exported | str:
    """What a resolved configuration becomes, or why it is refused."""
    try:
        return booksim.export(point)
    except ConfigError as refused:
        return str(refused)


def options(text: str) -> dict[str, Any]:
    """What a file sets."""
    return {each.name: each.value for each in booksim_file.assignments(exported(text).text)}


def back(text: str) -> dict[str, Any]:
    """The resolved document that `hopsim convert booksim` makes of a file."""
    return json.loads(Experiment.of(convert(booksim_file.assignments(text)).document).points()[0].config)


def examples() -> Iterator[tuple[str, str]]:
    """The points of the examples of flits, each with its name."""
    for name in FLITS:
        for point in Experiment.open(name).points():
            yield f"{name} {point.axes}", point.config


def test_the_command_writes_a_file_and_what_is_different_there(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text(f'compat = "booksim"\n{MESH}{SMALL}')
    done = hopsim("export", "booksim", "mesh.toml", "--set", "measure.seed=7")
    assert done.stdout.splitlines()[:5] == [
        "topology = mesh;",
        "k = 4;",
        "n = 2;",
        "num_vcs = 4;",
        "routing_function = dor;",
    ]
    assert "seed = 7;" in done.stdout.splitlines()
    assert done.stderr.splitlines() == [
        "links.injection.latency = 1: BookSim has 2, as its topologies say how long channels are.",
        "links.ejection.latency = 1: BookSim has 2, as its topologies say how long channels are.",
        "links.network.latency = 1: BookSim has 2, as its topologies say how long channels are.",
        "router.virtual_channel.vcs.injection = 3: BookSim has 4, as on all its links.",
        "router.virtual_channel.vcs.ejection = 3: BookSim has 4, as on all its links.",
        "router.virtual_channel.buffers.injection = 256: BookSim has 64, as in all its buffers.",
        "router.virtual_channel.buffers.ejection is not stated: BookSim has 64, as in all its buffers.",
        'router.virtual_channel.switch_input = "vc": BookSim has "output".',
        "measure.cycles = 500: BookSim counts the packets that are generated in its window and waits for "
        "them, hopsim those that arrive in it.",
    ]
    hopsim("export", "booksim", "mesh.toml", "--set", "measure.seed=7", "--out", "there")
    assert (tmp_path / "there").read_text() == done.stdout
    again = hopsim("convert", "booksim", "there")
    assert Experiment.of(again.stdout).points()


def test_a_point_of_a_sweep_is_chosen_by_number(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text(f"{MESH}{SMALL}[sweep.product]\nload = [0.1, 0.2]\n")
    chosen = hopsim("export", "booksim", "mesh.toml", "--point", "1").stdout
    assert "injection_rate = 0.2;" in chosen.splitlines()
    for given, message in (
        ((), "hopsim: mesh.toml has 2 points; valid: --point 0 … 1"),
        (("--point", "2"), "hopsim: --point 2: mesh.toml has 2 points; valid: --point 0 … 1"),
    ):
        assert hopsim("export", "booksim", "mesh.toml", *given, status=2).stderr.strip() == message


def test_a_graph_becomes_a_network_file_beside_the_options(hopsim: Command, tmp_path: Path) -> None:
    edges = "[{ between = [0, 2], latency = 4 }, { between = [1, 2] }]"
    text = f"topology.graph = {{ edges = {edges}, nodes_per_router = 2, routers_with_nodes = 2 }}\n"
    text += "links.network.latency = 2\n"
    (tmp_path / "tree.toml").write_text(f"{text}router.virtual_channel.vcs.network = 2\n{SMALL}")
    done = hopsim("export", "booksim", "tree.toml", "--out", "tree")
    written = {each.name: each.value for each in booksim_file.read(tmp_path / "tree")}
    assert (written["topology"], written["network_file"]) == ("anynet", "tree.anynet")
    assert written["routing_function"] == "min"
    assert (tmp_path / "tree.anynet").read_text() == (
        "router 0 node 0 node 1 router 2 3\n"
        "router 1 node 2 node 3 router 2 1\n"
        "router 2 router 0 3 router 1 1\n"
    )
    assert 'routing = "minimal": BookSim takes paths of least latency' in done.stderr
    none = hopsim("export", "booksim", "tree.toml", status=2)
    assert none.stderr == "hopsim: --out is not given: a graph becomes two files; valid: --out PATH\n"
    assert not none.stdout
    for name in ("8 routers", "8x8"):
        odd = hopsim("export", "booksim", "tree.toml", "--out", name, status=2)
        assert odd.stderr.startswith(
            f"hopsim: --out {name}: BookSim 2 cannot read the name of a file {name}.any"
        )
    assert not (tmp_path / "8x8").exists()


@pytest.mark.parametrize("name", example_names())
def test_every_example_is_written_or_refused_by_key_value_and_what_would_be_valid(name: str) -> None:
    written = 0
    for point in Experiment.open(name).points():
        made = outcome(point.config)
        written += isinstance(made, booksim.Exported)
        if isinstance(made, str):
            assert re.match(r"[\w.]+ (= .*|is not there): .*; valid: ", made)
    assert (written > 0) == (name in FLITS)


def test_what_is_written_is_the_same_experiment_but_for_what_is_told() -> None:
    count = 0
    for name, point in examples():
        made = outcome(point)
        if isinstance(made, str):
            continue
        count += 1
        ours, theirs = (booksim.comparable(each) for each in (json.loads(point), back(made.text)))
        different = {each.path for each in differences(ours, theirs)}
        told = {re.split(r" = | is not|:", remark)[0] for remark in made.remarks}
        assert different == told - {"measure.cycles"}, name
    assert count > 80


OTHERS: Mapping[str, Any] = {
    "jobs.0.name": "another",
    "measure.warmup": 700,
    "nic.source_queue": {"packets": 3},
    "router.virtual_channel.crossbar_inputs": 2,
    "router.virtual_channel.vc_reuse": "credits",
    "router.virtual_channel.speculation": "separate",
    "router.virtual_channel.arbiter": {"hop_count": {}},
    "router.virtual_channel.vc_allocator": {"wavefront": {"next": "cycle"}},
    "router.virtual_channel.switch_allocator": {"islip": {"iterations": 2}},
    "routing": {"up_down": {}},
    "topology": {"slim_fly": {"q": 5}},
    "topology.mesh.sides": [3, 3],
    "topology.torus.sides": [3, 3],
    "topology.hyperx.sides": [3, 3],
    "jobs.0.traffic.process": {"on_off": {"load": 0.1, "alpha": 0.5, "beta": 0.5}},
    "compat": "fogsim",
}
"""Other values of keys, where none can be made of the one that is there."""

WITHOUT_EFFECT = {"compat", "semantics.stages", "router.virtual_channel.switch_input"}
"""`compat` has been resolved into other keys; the others are of no effect in some of the documents."""


@pytest.mark.parametrize("name", FLITS)
def test_no_key_of_a_document_is_left_out_in_silence(name: str) -> None:
    """Whatever key of a document is another one, the file, or what is said of it, is another one, too."""
    point = next(
        each.config for each in Experiment.open(name).points() if not isinstance(outcome(each.config), str)
    )
    before = booksim.export(point)
    tried = 0
    for path in set(paths(json.loads(point))) - WITHOUT_EFFECT:
        tried += 1
        after = outcome(changed(point, path, OTHERS))
        assert after != before, path
        assert not isinstance(after, str) or "valid: " in after
    assert tried > 50


def test_keys_that_documents_may_get_are_refused_until_somebody_carries_them_over() -> None:
    document = json.loads(config(MESH + SMALL))
    document["router"]["virtual_channel"]["telepathy"] = {"range": 3}
    with pytest.raises(ConfigError) as refused:
        booksim.export(json.dumps(document))
    assert str(refused.value) == (
        "router.virtual_channel.telepathy = { range = 3 }: BookSim 2 has no counterpart of it; valid: "
        "without router.virtual_channel.telepathy"
    )


SQUARES = "k = 4; c = 4; x = 4; y = 4; xr = 2; yr = 2;"
CONFIGURATIONS = (
    "topology = mesh; routing_function = dor; k = 4; n = 3; num_vcs = 4; vc_buf_size = 6;"
    "routing_delay = 0; vc_alloc_delay = 2; st_prepare_delay = 1; traffic = transpose; seed = 7;"
    "packet_size = 5; injection_rate = 0.02; sample_period = 500; warmup_periods = 2; max_samples = 6;",
    "topology = fattree; routing_function = nca; k = 4; n = 3; num_vcs = 4;",
    "topology = torus; routing_function = dim_order; k = 5; n = 3; num_vcs = 4; traffic = tornado;",
    "topology = torus; routing_function = dim_order; use_noc_latency = 0;",
    f"topology = cmesh; routing_function = dor_no_express; {SQUARES} traffic = bitrev;",
    f"topology = cmesh; routing_function = dor_no_express; {SQUARES} use_noc_latency = 0;",
    f"topology = flatfly; routing_function = ran_min; {SQUARES} use_noc_latency = 0;",
    f"topology = flatfly; routing_function = xyyx; {SQUARES} traffic = neighbor;",
    f"topology = flatfly; routing_function = ugal; {SQUARES} num_vcs = 4;",
    f"topology = flatfly; routing_function = ran_min; {SQUARES}traffic = hotspot({{{{0,27,5}},{{2,1,1}}}});",
    f"topology = flatfly; routing_function = ran_min; {SQUARES} use_noc_latency = 0;traffic = tornado;",
    "topology = dragonflynew; routing_function = min; k = 2; n = 1; num_vcs = 3; traffic = bad_dragon;",
    "topology = fly; routing_function = dest_tag; k = 8; n = 1; num_vcs = 8; vc_buf_size = 5;",
    "topology = mesh; routing_function = romm; k = 4; packet_size = {{1,5}}; packet_size_rate = {{3,1}};",
    "topology = mesh; routing_function = valiant; k = 4; warmup_periods = 0;",
    "topology = mesh; routing_function = adaptive_xy_yx; k = 4; injection_process = on_off;"
    "burst_alpha = 0.25; burst_beta = 0.5;",
    "topology = mesh; routing_function = dor; k = 4; internal_speedup = 1.5; output_buffer_size = 7;"
    "num_vcs = 4; input_speedup = 2; output_speedup = 2;",
    "topology = mesh; routing_function = dor; k = 4; num_vcs = 4; buffer_policy = shared; buf_size = 32;"
    "private_buf_size = 2;",
    "topology = mesh; routing_function = dor; k = 4; speculative = 1; spec_sw_allocator = islip;"
    "spec_mask_by_reqs = 1;",
    "topology = mesh; routing_function = dor; k = 4; speculative = 1; sw_allocator = select;",
    "topology = mesh; routing_function = dor; k = 4; vc_allocator = select; sw_allocator = select;"
    "priority = age; vc_priority_donation = 1;",
    "topology = mesh; routing_function = dor; k = 4; vc_allocator = rr_wavefront; sw_allocator = pim(3);",
    "topology = mesh; routing_function = dor; k = 4; vc_allocator = wavefront; sw_allocator = select;"
    "priority = local_age; hold_switch_for_packet = 1;",
    "topology = mesh; routing_function = dor; k = 4; vc_allocator = separable_output_first(matrix);"
    "sw_allocator = separable_input_first(matrix); credit_delay = 2; wait_for_tail_credit = 1;",
    "topology = mesh; routing_function = dor; k = 4; vc_allocator = separable_input_first;"
    "vc_prioritize_empty = 1; vc_busy_when_full = 1; sw_alloc_delay = 2; priority = queue_length;"
    "sw_allocator = separable_input_first;",
    "topology = mesh; routing_function = dor; k = 4; vc_allocator = max_size; sw_allocator = loa;",
)


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_a_configuration_that_became_a_document_becomes_the_same_configuration(text: str) -> None:
    document = json.dumps(back(text))
    again = booksim.export(document).text
    assert booksim.comparable(back(again)) == booksim.comparable(json.loads(document))
    given = {each.name: each.value for each in booksim_file.assignments(text)}
    made = {each.name: each.value for each in booksim_file.assignments(again)}
    # What is written in another way.
    others = {"injection_rate", "st_prepare_delay", "sample_period", "warmup_periods", "max_samples"}
    assert {name: made.get(name) for name in given.keys() - others} == {
        name: value for name, value in given.items() if name not in others
    }


def test_all_samples_of_a_window_are_taken() -> None:
    made = options(MESH + SMALL)
    names = ("sample_period", "warmup_periods", "max_samples", "stopping_thres", "acc_stopping_thres")
    assert [made[name] for name in names] == [100, 2, 7, 0.0, 0.0]
    found = options(MESH + SMALL.replace("200", '"auto"'))
    assert [found[name] for name in names[:3]] == [50, 0, 10]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "topology.mesh.sides = [4, 4]\nrouter.cioq = {}\n",
            'router = "cioq": packets move through it as a whole, and through routers of BookSim 2 flit by '
            "flit; valid: virtual_channel",
        ),
        (
            "topology.slim_fly.q = 5\nrouter.virtual_channel = {}\n",
            'topology = "slim_fly": BookSim 2 builds none, or another one; valid: mesh, torus, hyperx, '
            "fat_tree, dragonfly, graph, or a graph that hopsim topology export makes of it",
        ),
        (
            MESH.replace("[4, 4]", "[4, 8]"),
            "topology.mesh.sides = [4, 8]: all sides of a network of BookSim 2 are equally long; valid: "
            "[8, 8]",
        ),
        (
            "topology.hyperx = { sides = [4, 4], nodes_per_router = 2 }\nrouter.virtual_channel = {}\n",
            "topology.hyperx.nodes_per_router = 2: the nodes of a router of BookSim 2 are a square; valid: a "
            "square such as 1 or 4",
        ),
        (
            "topology.mesh = { sides = [4, 4], nodes_per_router = 9 }\nrouter.virtual_channel = {}\n",
            "topology.mesh.nodes_per_router = 9: the nodes of a router of BookSim 2 are a square; valid: 1, "
            "or 4 in two dimensions",
        ),
        (
            "topology.hyperx.sides = [2, 2, 2, 2, 2]\nrouter.virtual_channel = {}\n",
            "topology.hyperx.sides = [2, 2, 2, 2, 2]: are too many dimensions for BookSim 2; valid: "
            "at most 4",
        ),
        (
            MESH + "router.virtual_channel.crossbar_inputs = 3\n",
            "router.virtual_channel.crossbar_inputs: in BookSim 2 input_speedup = 3 does not divide num_vcs; "
            "valid: a divisor of num_vcs",
        ),
        (
            MESH + "measure.seed = 3_000_000_000\n",
            "measure.seed: in BookSim 2 seed = 3000000000: is more than BookSim holds; valid: ",
        ),
        (
            MESH + "routing.up_down = {}\n",
            "routing = { up_down = {} }: BookSim 2 has no counterpart of it; valid: { minimal = {} }",
        ),
        (
            MESH + 'router.virtual_channel.switching = "virtual_cut_through"\n',
            'router.virtual_channel.switching = "virtual_cut_through": BookSim 2 has no counterpart of it; '
            'valid: "wormhole"',
        ),
        (
            MESH + "router.virtual_channel.arbiter = { age = {} }\n"
            "router.virtual_channel.vc_allocator = { islip = { iterations = 2 } }\n",
            "router.virtual_channel.arbiter = { age = { timestamp = ",
        ),
        (
            MESH + "faults = [{ links = { fraction = 0.1 } }]\n",
            "faults = ",
        ),
        (
            "topology.dragonfly = { p = 2, a = 4, h = 2, groups = 5 }\nrouter.virtual_channel = {}\n",
            "topology.dragonfly.groups = 5: BookSim 2 has no counterpart of it; valid: 9",
        ),
        (
            "topology.torus.sides = [4, 4]\nrouter.virtual_channel = {}\n",
            "router.virtual_channel.vcs.rings is not stated: BookSim 2 has { dateline = { class = "
            '"dimension" } }; valid: { dateline = { class = "dimension" } }',
        ),
        (
            "topology.graph.edges = [{ between = [0, 1], latency = 1 }]\nrouter.virtual_channel = {}\n",
            "topology.graph.edges.0.latency = 1: is less than a channel of BookSim 2 takes; valid: 2 or more",
        ),
        (
            "topology.graph.edges = [{ between = [0, 1], latency = 2, cycles_per_phit = 2 }]\n"
            "router.virtual_channel = {}\n",
            "topology.graph.edges.0.cycles_per_phit = 2: channels of BookSim 2 take a flit per cycle; "
            "valid: 1",
        ),
        (
            "topology.graph.edges = [{ between = [0, 1], latency = 2 }, { between = [1, 0], latency = 2 }]\n"
            "router.virtual_channel = {}\n",
            "topology.graph.edges.1.between = [1, 0]: is a second link between these routers; valid: one",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    assert refusal(text + SMALL).startswith(message)


def graph(edges: list[tuple[int, int]]) -> str:
    listed = ", ".join(f"{{ between = [{one}, {other}] }}" for one, other in edges)
    return f"topology.graph.edges = [{listed}]\nlinks.network.latency = 2\nrouter.virtual_channel = {{}}\n"


def test_graphs_in_which_packets_of_booksim_wait_in_a_circle_are_refused() -> None:
    triangle = [(0, 1), (1, 2), (2, 0)]
    assert booksim.export(config(graph(triangle) + SMALL)).network
    # Of two paths that are equally long the first one found leads over the router with the lower number.
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert booksim.export(config(graph(square) + SMALL)).network
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    assert refusal(graph(ring) + SMALL) == (
        'topology = "graph": on the paths that BookSim 2 takes, any VC of any link, packets can wait for '
        "each other in a circle, over the link from router 0 to 1; valid: a graph without such a circle, as "
        "a tree"
    )


PATTERN = "jobs = [{ traffic = { packet_length = 1, pattern = "


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ('{ permutation = "bit_reversal" }', "bitrev"),
        ('"random_permutation"', "randperm"),
        ("{ hotspot = { node = 9, fraction = 1.0 } }", "hotspot({{9},{1}})"),
        (
            "{ mix = [{ weight = 0.75, pattern = { hotspot = { node = 3, fraction = 1.0 } } }, "
            "{ weight = 0.25, pattern = { hotspot = { node = 5, fraction = 1.0 } } }] }",
            "hotspot({{3,5},{3,1}})",
        ),
        ("{ hotspot = { node = 9, fraction = 0.5 } }", None),
        ('{ mix = [{ weight = 1, pattern = "uniform" }] }', None),
    ],
)
def test_patterns(pattern: str, name: str | None) -> None:
    text = f"{MESH}load = 0.1\n{PATTERN}{pattern} }} }}]\n"
    if name is not None:
        assert options(text)["traffic"] == name
    else:
        assert refusal(text).startswith("jobs.0.traffic.pattern = ")


def test_permutations_of_bits_go_by_the_numbers_of_nodes_where_routers_have_several() -> None:
    text = "topology.hyperx = { sides = [4, 4], nodes_per_router = 4 }\nrouter.virtual_channel = {}\n"
    text += "load = 0.1\n"
    made = options(f'{text}{PATTERN}{{ permutation = "bit_complement" }} }} }}]\n')
    assert [made[name] for name in ("traffic", "x", "y", "xr", "yr")] == ["bitcomp", 4, 4, 2, 2]
    # Here the lowest bits are of a node at its router, there they are of its column.
    assert refusal(f'{text}{PATTERN}{{ permutation = "bit_reversal" }} }} }}]\n').startswith("jobs.0.traffic")
    listed = json.dumps([*range(1, 64), 0])
    assert refusal(f"{text}{PATTERN}{{ destinations = {listed} }} }} }}]\n").startswith("jobs.0.traffic")


def test_lengths_have_weights_that_are_whole_numbers() -> None:
    lengths = "[{ length = 1, weight = 0.4 }, { length = 5, weight = 0.6 }]"
    made = options(f"{MESH}load = 0.3\njobs = [{{ traffic = {{ packet_lengths = {lengths} }} }}]\n")
    assert (made["packet_size"], made["packet_size_rate"]) == ("{{1,5}}", "{{2,3}}")
    assert (made["injection_rate"], made["injection_rate_uses_flits"]) == (0.3, 1)


def test_every_allocator_of_a_virtual_channel_router_has_a_name_in_booksim() -> None:
    choices = json.loads(_core.schema())["$defs"]["FlitAllocator"]["oneOf"]
    names = {name for choice in choices for name in choice.get("properties", {})}
    assert len(names) == 7
    for name in names:
        allocator = f'router.virtual_channel.vc_allocator = "{name}"\n'
        assert ALLOCATORS[str(options(MESH + allocator + SMALL)["vc_allocator"]).partition("(")[0]] == name


def test_topologies_are_those_that_hopsim_reads_and_graphs() -> None:
    assert len(booksim.TOPOLOGIES) == len(NETWORKS) - 1
