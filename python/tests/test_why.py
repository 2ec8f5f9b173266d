"""`hopsim why` and `Result.why`: what they say of networks whose bottleneck is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import hopsim as hs
from hopsim.cli.why import command
from hopsim.plot import KINDS, View
from hopsim.store import load

MESH = """
topology.mesh.sides = [5, 5]
router.input_queued.buffers.network = 32
load = 0.12

[[jobs]]
traffic.pattern.hotspot = { node = 12, fraction = 0.6 }

[measure]
warmup = 4000
cycles = 2000
interval = 200
streams = ["link_series", "congestion_trees", "waits"]
"""


def experiment(directory: Path, text: str = MESH) -> Path:
    path = directory / "mesh.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_link_to_the_node_of_a_hot_spot_is_the_bottleneck(tmp_path: Path) -> None:
    lines = hs.run(experiment(tmp_path)).why()
    assert 6 <= len(lines) <= 10
    assert "The bottleneck: router 12, its link to a node by port 0, in use for 100%" in lines[1]
    text = "\n".join(lines)
    for part in (
        "Accepted load",
        "Victims",
        "Who contributes",
        "packets stand still",
        "for room behind the link",
    ):
        assert part in text


def test_of_a_network_that_is_hardly_used_nothing_is_said_to_be_congested(tmp_path: Path) -> None:
    calm = MESH.replace("load = 0.12", "load = 0.01")
    lines = hs.run(experiment(tmp_path, calm)).why()
    assert lines[1].startswith("Nothing is congested")
    assert "bottleneck" not in "\n".join(lines)


def test_without_the_streams_it_says_how_to_record_them(tmp_path: Path) -> None:
    bare = MESH.replace('streams = ["link_series", "congestion_trees", "waits"]', 'streams = ["nodes"]')
    result = hs.run(experiment(tmp_path, bare))
    with pytest.raises(hs.NotRecordedError) as error:
        result.why()
    assert str(error.value) == (
        "link_series and congestion_trees not recorded; run it again into another directory, with "
        '--set measure.interval=200 --set \'measure.streams=["nodes", "link_series", "congestion_trees"]\''
    )


def test_of_several_points_one_is_named(tmp_path: Path) -> None:
    swept = MESH + "\n[sweep.product]\nload = [0.01, 0.12]\n"
    out = tmp_path / "out"
    hs.sweep(experiment(tmp_path, swept), out=out)
    runner = CliRunner()
    assert "has several points; valid: --point with one of these" in str(
        runner.invoke(command, [str(out)]).exception
    )
    told = runner.invoke(command, [str(out), "--point", "1"])
    assert "The bottleneck: router 12" in told.output
    assert told.output.splitlines() == load(out).why(1)
    with pytest.raises(hs.ConfigError, match="point 7: has not finished or is not there; valid: 0, 1"):
        load(out).why(7)


def test_links_of_routers_are_drawn_over_time_by_router_and_port(tmp_path: Path) -> None:
    results = hs.sweep(experiment(tmp_path), progress=False)
    (figure,) = KINDS["links"].draw(results, View()).values()
    above, below = figure.axes
    names = [str(line.get_label()) for line in above.lines]
    assert len(names) == 8
    # Those to router 12, from the sides.
    assert (
        sum(name.startswith(("router 7 ", "router 11 ", "router 13 ", "router 17 ")) for name in names) >= 4
    )
    assert (below.get_ylabel(), below.get_xlabel()) == ("No room behind it", "Cycle")
