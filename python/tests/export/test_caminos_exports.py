"""Documents that become configuration files of CAMINOS, and those that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import hopsim
from conftest import Command
from every_key import changed, paths
from hopsim.document.experiment import Experiment, example_names
from hopsim.errors import ConfigError
from hopsim.export import caminos

MESH = """
load = 0.2
topology.mesh = { sides = [4, 2], nodes_per_router = 3 }
links = { network = { latency = 5 }, injection = { latency = 2 }, ejection = { latency = 2 } }
jobs = [{ traffic = { packet_length = 8 } }]
measure = { warmup = 200, cycles = 500, seed = 7 }

[router.cioq]
vcs = { network = 4, injection = 4 }
buffers = { network = 48, injection = 48, output = 24 }
crossbar_inputs = "vc"
crossbar_outputs = 4
speedup = 1.0
crossbar_latency = 2
"""
"""What routers of CAMINOS do, too."""

WRITTEN = """Configuration
{
	random_seed: 7,
	warmup: 200,
	measured: 500,
	topology: Mesh { sides: [4, 2], servers_per_router: 3 },
	traffic: HomogeneousTraffic
	{
		pattern: Uniform,
		servers: 24,
		load: 0.2,
		message_size: 8,
	},
	maximum_packet_size: 8,
	server_queue_size: 1000000,
	routing: DOR { order: [0, 1] },
	router: InputOutput
	{
		virtual_channels: 4,
		virtual_channel_policies: [ EnforceFlowControl, Random ],
		crossbar_delay: 2,
		buffer_size: 48,
		bubble: false,
		flit_size: 8,
		intransit_priority: false,
		allow_request_busy_port: true,
		output_buffer_size: 24,
		allocator: ISLIP { num_iter: 2 },
	},
	link_classes: [ LinkClass { delay: 5 }, LinkClass { delay: 5 }, LinkClass { delay: 2 } ],
	launch_configurations: [],
}
"""

ALWAYS = [
    'nic.injection_vc = "shortest": a node of CAMINOS takes the first VC that has room.',
    "router.cioq.buffers.output: a queue of CAMINOS is that of a VC of a port, and one of hopsim that of a "
    "port.",
]


def config(text: str) -> str:
    return Experiment.of(text).points()[0].config


def outcome(point: str) -> tuple[str, list[str]] | str:
    """What a resolved configuration becomes, or why it is refused."""
    try:
        made = caminos.export(point)
    except ConfigError as refused:
        return str(refused)
    return made.text, made.remarks


def test_the_command_writes_a_file_and_what_is_different_there(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text(MESH)
    done = hopsim("export", "caminos", "mesh.toml")
    assert (done.stdout, done.stderr.splitlines()) == (WRITTEN, ALWAYS)
    hopsim("export", "caminos", "mesh.toml", "--out", "main.cfg")
    assert (tmp_path / "main.cfg").read_text() == WRITTEN


def test_other_crossbars_and_buffers_are_told_of_and_are_in_the_document_that_caminos_has() -> None:
    text = "topology.hyperx.sides = [3, 3, 3]\nload = 0.1\nrouter.cioq.vcs.network = 2\n"
    made = caminos.export(config(f"{text}links.ejection.latency = 3\n"))
    assert made.remarks == [
        "router.cioq.buffers.injection = 256: CAMINOS has 64; all its buffers have one size.",
        "router.cioq.vcs.injection = 3: CAMINOS has 2; all its ports have as many VCs.",
        "router.cioq.speedup = 2.0: CAMINOS has 1.0; a phit crosses in a cycle.",
        'router.cioq.crossbar_inputs = "port": CAMINOS has "vc"; every VC has an input of the crossbar.',
        "router.cioq.crossbar_outputs = 1: CAMINOS has 2; every VC has an output of the crossbar.",
        "links.ejection.latency = 3: CAMINOS has 1; the links of a node are alike.",
        *ALWAYS,
    ]
    assert "Hamming { sides: [3, 3, 3], servers_per_router: 1 }" in made.text
    assert "DOR { order: [0, 1, 2] }" in made.text
    again = caminos.export(json.dumps(made.theirs))
    assert (again.text, again.remarks) == (made.text, ALWAYS)
    assert hopsim.check(made.theirs)


def test_no_key_of_a_document_is_left_out_in_silence() -> None:
    point = config(MESH)
    before = outcome(point)
    tried = 0
    # A source queue without bound is never full.
    for path in set(paths(json.loads(point))) - {"nic.when_full"}:
        tried += 1
        after = outcome(changed(point, path, {"topology.mesh.sides": [3, 3]}))
        assert after != before, path
        assert not isinstance(after, str) or "valid: " in after
    assert tried > 45


def test_keys_that_documents_may_get_are_refused_until_somebody_carries_them_over() -> None:
    document = json.loads(config(MESH))
    document["router"]["cioq"]["telepathy"] = {"range": 3}
    assert outcome(json.dumps(document)) == (
        "router.cioq.telepathy.range = 3: is not carried over to CAMINOS; valid: without "
        "router.cioq.telepathy.range"
    )


@pytest.mark.parametrize("name", example_names())
def test_every_example_is_refused_by_key_value_and_what_would_be_valid(name: str) -> None:
    for point in Experiment.open(name).points():
        made = outcome(point.config)
        assert isinstance(made, str)
        assert re.match(r"[\w.]+ (= .*|is not stated): .*; valid: ", made)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            MESH.replace("mesh", "torus"),
            'topology = "torus": CAMINOS builds none, or packets take other paths or VCs there; valid: mesh, '
            "hyperx",
        ),
        (
            MESH.replace("router.cioq", "router.input_queued")
            .partition("crossbar_inputs")[0]
            .replace(", output = 24", ""),
            "router = ",
        ),
        (
            MESH.replace("load = 0.2", 'routing = "valiant"\nload = 0.2'),
            "routing = ",
        ),
        (
            MESH.replace(
                "packet_length = 8",
                "packet_lengths = [{ length = 8, weight = 1 }, { length = 4, weight = 1 }]",
            ),
            "jobs.0.traffic.packet_lengths = ",
        ),
        (
            MESH.replace("packet_length = 8", 'packet_length = 8, pattern = { permutation = "tornado" }'),
            'jobs.0.traffic.pattern = { permutation = "tornado" }: is not carried over to CAMINOS; valid: '
            "{ uniform = {} }",
        ),
        (
            MESH.replace("warmup = 200", 'warmup = "auto"'),
            'measure.warmup = "auto": the warm-up of CAMINOS is a number of cycles; valid: such as 2000',
        ),
        (
            MESH + "pipeline_latency = 1\n",
            "router.cioq.pipeline_latency = 1: is not carried over to CAMINOS; valid: 0",
        ),
        (
            MESH + 'allocator = { output_arbiter = "age" }\n',
            "router.cioq.allocator.output_arbiter = ",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    made = outcome(config(text))
    assert isinstance(made, str)
    assert made.startswith(message)
    assert "; valid: " in made
