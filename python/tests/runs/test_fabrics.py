"""InfiniBand fabrics from Python: flows from files, what is shown, and what is warned of."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopsim as hs
from conftest import Command
from hopsim.errors import ConfigError, HopsimWarning, RunError
from hopsim.files import flows_file
from hopsim.insight import limit_note
from hopsim.plot import KINDS, View
from hopsim.report.page import page_of

FABRIC = "topology.fat_tree = { k = 4, levels = 1 }\nrouter = 'infiniband'\nmeasure.time.window = '20 us'\n"
FILE = FABRIC + "jobs = [{ flows = { file = 'flows.csv' } }]\n"
LISTED = FABRIC + "jobs = [{ flows = [{ source = 0, destination = 1 }] }]\n"

# What a file holds -> what is said about it.
REFUSED = {
    "": "is empty; valid: a table whose first line names the columns",
    "source,destination": "names no flow; valid: a line for each, below the names of the columns",
    "source,dest\n0,1": "line 1: unknown column 'dest'; did you mean destination?",
    "source,source,destination\n0,0,1": "line 1: the column source is there twice; valid: every column once",
    "source,start\n0,1 s": "line 1: the column destination is missing",
    "source,destination\n0,1,2": "line 2: 3 fields; valid: 2, one for each column",
    "source,destination\n\n0,": "line 3: destination is empty; valid: the number of a node",
    "source,destination\n0,one": "line 2: destination = 'one'; valid: 0 … 4294967295",
    "source,destination,service_level\n0,1,16": "line 2: service_level = '16'; valid: 0 … 15",
}


def test_flows_of_a_file_have_what_its_columns_say(tmp_path: Path) -> None:
    table = 'destination, source, name, start, bytes\n1, 0, "a, b", 1 us, 4096\n\n2,3,,,\n'
    (tmp_path / "flows.csv").write_text(table, "utf-8")
    assert flows_file.flows(tmp_path / "flows.csv") == [
        {"destination": 1, "source": 0, "name": "a, b", "start": "1 us", "bytes": 4096},
        {"destination": 2, "source": 3},
    ]


@pytest.mark.parametrize("text", REFUSED)
def test_files_that_are_no_flows_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "flows.csv").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        flows_file.flows(tmp_path / "flows.csv")
    assert str(refused.value).startswith(REFUSED[text])


def test_a_document_finds_its_flows_and_says_where_they_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "fabric.toml"
    path.write_text(FILE, "utf-8")
    (tmp_path / "flows.csv").write_text("source,destination,rate\n0,1,\n2,3,4 Gb/s\n", "utf-8")
    result = hs.run(path)
    assert result.config["jobs"][0]["flows"][1]["rate"] == "4 Gb/s"
    assert result.flows.column("name").to_pylist() == ["flow0", "flow1"]
    (tmp_path / "flows.csv").write_text("source,destination\n0,1\n2,9\n", "utf-8")
    with pytest.raises(ConfigError, match=r"jobs\.0\.flows\.1\.destination = 9: the network has 4 nodes"):
        hs.run(path)
    (tmp_path / "flows.csv").unlink()
    with pytest.raises(ConfigError, match=r'jobs\.0\.flows\.file = "flows\.csv": cannot read'):
        hs.run(path)


def test_check_and_run_show_a_fabric(hopsim: Command, tmp_path: Path) -> None:
    path = tmp_path / "fabric.toml"
    path.write_text(LISTED, "utf-8")
    said = hopsim("check", path).stdout
    assert "4 nodes" in said
    assert said.endswith("OK\n")
    shown = hopsim("run", path, "--out", tmp_path / "out").stdout
    assert "least flow" in shown
    assert "Throughput in Gb/s" in shown


def test_a_timer_that_never_runs_is_warned_of() -> None:
    control = "router.infiniband.congestion_control.ccti_timer = 0\n"
    with pytest.warns(HopsimWarning, match="ccti_timer = 0: no timer lowers"):
        hs.run(LISTED.replace("router = 'infiniband'\n", control))


SIMULA = "cct = 'simula'"
LOW = f"{SIMULA}\nccti_limit = 20"


def at_the_limit(sources: Sequence[int], control: str = SIMULA) -> str:
    """Nodes of a switch that send to node 3, with congestion control."""
    flows = ", ".join(f"{{ source = {node}, destination = 3, name = 'f{node}' }}" for node in sources)
    return (
        "topology.fat_tree = { k = 4, levels = 1 }\n"
        "measure = { time = { window = '4 ms' }, streams = ['flows', 'victims'] }\n"
        f"jobs = [{{ name = 'hot', flows = [{flows}] }}]\n"
        f"[router.infiniband.congestion_control]\nccti_timer = 150\n{control}\n"
    )


def of_flows(result: hs.Result, column: str) -> list[float]:
    return [float(value or 0) for value in result.flows.column(column).to_pylist()]


def test_indices_that_stay_at_their_limit_are_told_of(hopsim: Command, tmp_path: Path) -> None:
    path = tmp_path / "limit.toml"
    path.write_text(at_the_limit([0, 1, 2], LOW), "utf-8")
    shown = hopsim("run", path, "--out", tmp_path / "out").stdout
    (result,) = hs.load(tmp_path / "out")
    share = result.summary["ccti_at_limit_fraction"]
    assert share == max(of_flows(result, "ccti_at_limit_fraction")) > 0.5
    told = (
        "Congestion control is at its end: the index of a flow is at ccti_limit = 20 of "
        f'cct = "simula" for {share:.0%} of the window.'
    )
    assert told in shown
    shares = dict(zip(("f0", "f1", "f2"), of_flows(result, "ccti_at_limit_fraction"), strict=True))
    held = sorted((-share, name) for name, share in shares.items() if share > 0.05)
    listed = ", ".join(f"{name} of hot {-share:.0%}" for share, name in held)
    assert result.why()[1] == f"{limit_note.sentence(result)} Most at it: {listed}."
    few = hs.run(at_the_limit([0, 1, 2], LOW).replace("'flows', ", ""))
    assert few.why()[1] == limit_note.sentence(result)
    calm = hs.run(at_the_limit([0], LOW)).why()
    assert calm[1:] == ["No flow is held up by congestion for more than 1% of the window."]
    assert told in html.unescape(page_of(hs.load(tmp_path / "out"), []))


def test_an_index_that_does_not_stay_at_its_limit_is_not_worth_a_word() -> None:
    wide = hs.run(at_the_limit([0, 1, 2], "cct = 'quartic'"))
    alone = hs.run(at_the_limit([0], LOW))
    without = hs.run(LISTED)
    assert wide.summary["ccti_at_limit_fraction"] == alone.summary["ccti_at_limit_fraction"] == 0
    assert without.summary["ccti_at_limit_fraction"] is None
    assert limit_note.note(hs.Results(dict(enumerate([wide, alone, without])))) == ""
    limited = hs.run(at_the_limit([0, 1, 2], LOW))
    several = limit_note.note(hs.Results(dict(enumerate([wide, limited, limited]))))
    assert several.endswith(" That is the worst of 2 such points.")
    listed = hs.run(at_the_limit([0, 1, 2], "cct = [[0, 0], [3, 1]]\nccti_limit = 1"))
    assert "is at ccti_limit = 1 of the table cct for" in limit_note.note(hs.Results({0: listed}))


def test_congestion_control_as_it_is_by_default_frees_the_victim_of_six() -> None:
    """As that with the table "simula" does not, which was the default."""
    sources = (16, 32, 20, 36, 24, 40)
    flows = [{"source": 19, "destination": 48}, *({"source": node, "destination": 0} for node in sources)]
    document: dict[str, Any] = {
        "topology": {"fat_tree": {"k": 4, "levels": 3}},
        "router": {"infiniband": {"congestion_control": {}}},
        "jobs": [{"flows": flows}],
        "measure": {"time": {"warmup": "36 ms", "window": "10 ms"}, "streams": ["flows"]},
    }
    result = hs.run(document)
    victim, *contributors = of_flows(result, "throughput_gbps")
    assert victim > 0.99 * 13
    assert sum(contributors) > 0.93 * 13
    assert result.summary["ccti_at_limit_fraction"] < 0.01


def test_packets_that_wait_for_each_other_in_a_circle_end_the_run() -> None:
    """In a ring of nine every node sends to the fourth one after it, through buffers of a packet."""
    flows = ", ".join(f"{{ source = {node}, destination = {(node + 4) % 9} }}" for node in range(9))
    ring = (
        "topology.ring.routers = 9\n[router.infiniband]\nhost.injection = '32 Gb/s'\n"
        "links = { host.rate = '4x QDR', switch.rate = '4x DDR' }\n"
        "switch.buffers = { switch = '2 KiB', host = '8 KiB' }\nlanes.allow_deadlock = true\n"
        f"[[jobs]]\nflows = [{flows}]\n"
    )
    with pytest.raises(RunError, match=r"deadlock at [0-9]+ ns: 9 packets wait for each other in a circle\n"):
        hs.run(ring)


def test_a_resolved_configuration_is_a_document() -> None:
    config = hs.run(LISTED).config
    assert "routing" not in config
    assert json.loads(hs.Experiment.of(config).points()[0].config) == config


MESSAGES = FABRIC + "jobs = [{ messages = { rate = '4 Gb/s' } }]\n"


def test_messages_have_curves_over_the_load_that_they_offer() -> None:
    rates = ["2 Gb/s", "6 Gb/s"]
    results = hs.sweep(
        MESSAGES,
        product={"jobs.0.messages.rate": rates, "jobs.0.messages.bytes": [512, 2048]},
        progress=False,
    )
    (figure,) = KINDS["latency_load"].draw(results, View()).values()
    axes = figure.axes[0]
    assert axes.get_ylabel() == "Message latency [ns]"
    assert axes.get_xlabel() == "Offered load [of what the links to the nodes carry]"
    curves = [line for line in axes.lines if len(line.get_xdata()) == 2]  # type: ignore[arg-type]
    assert len(curves) == 2
    assert [round(float(place), 6) for place in curves[0].get_xdata()] == [0.125, 0.375]  # type: ignore[union-attr]
    (figure,) = KINDS["accepted_load"].draw(results, View()).values()
    label = " ".join(figure.axes[0].get_ylabel().split())
    assert label == "Accepted load [of what the links to the nodes carry]"


def test_queues_over_time_are_those_of_the_outputs_that_hold_most() -> None:
    series = "measure = { time = { window = '60 us', interval = '5 us' }, streams = ['queue_series'] }\n"
    flows = ", ".join(f"{{ source = {node}, destination = 3 }}" for node in (0, 1, 2))
    text = LISTED.replace("measure.time.window = '20 us'\n", series)
    text = text.replace("{ source = 0, destination = 1 }", f"{flows}, {{ source = 3, destination = 0 }}")
    text = text.replace("router = 'infiniband'", "router.infiniband.congestion_control = {}")
    (figure,) = KINDS["queues"].draw(hs.sweep(text, progress=False), View()).values()
    above, below = figure.axes
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in above.lines}
    assert lines["switch 0 to node 3"].max() > 8 > lines["switch 0 to node 0"].max()
    dots = [line for line in above.lines if line.get_marker() == "."]
    assert len(np.asarray(dots[1].get_xdata())) > 0
    assert below.get_ylabel() == "Granted [Gb/s]"


def test_links_over_time_are_those_that_are_used_or_stalled_most() -> None:
    series = "measure = { time = { window = '400 us', interval = '40 us' }, streams = ['link_series'] }\n"
    flows = ", ".join(f"{{ source = {node}, destination = 3 }}" for node in (0, 1, 2))
    text = LISTED.replace("measure.time.window = '20 us'\n", series)
    text = text.replace("{ source = 0, destination = 1 }", flows)
    (figure,) = KINDS["links"].draw(hs.sweep(text, progress=False), View()).values()
    above, below = figure.axes
    names = [line.get_label() for line in above.lines]
    assert names == ["node 0 to switch 0", "node 1 to switch 0", "node 2 to switch 0", "switch 0 to node 3"]
    used, stalled = (np.array([line.get_ydata() for line in axes.lines]) for axes in (above, below))
    assert used[3].max() > 0.8 > 0.5 > used[0, -1]
    assert stalled[0, -1] > 0.5
    assert (used + stalled <= 1 + 1e-9).all()


def test_flows_over_time_are_lines_and_a_stack_and_where_throttled_their_index() -> None:
    series = "measure = { time = { window = '20 us', interval = '5 us' }, streams = ['flow_series'] }\n"
    flows = ", ".join(f"{{ source = {node}, destination = 3, name = 'f{node}' }}" for node in (0, 1, 2))
    text = LISTED.replace("measure.time.window = '20 us'\n", series).replace(
        "{ source = 0, destination = 1 }", flows
    )
    (figure,) = KINDS["flows"].draw(hs.sweep(text, progress=False), View()).values()
    lines, stack = figure.axes
    assert [line.get_label() for line in lines.lines] == ["f0", "f1", "f2"]
    assert len(stack.collections) == 3
    with_control = text.replace("router = 'infiniband'", "router.infiniband.congestion_control = {}")
    (figure,) = KINDS["flows"].draw(hs.sweep(with_control, progress=False), View()).values()
    assert [axes.get_ylabel() for axes in figure.axes][2] == "CCTI"


def test_every_place_of_a_curve_has_a_figure_over_time() -> None:
    series = "measure = { time = { window = '20 us', interval = '5 us' }, streams = ['flow_series'] }\n"
    text = MESSAGES.replace("measure.time.window = '20 us'\n", series)
    results = hs.sweep(text, product={"jobs.0.messages.rate": ["2 Gb/s", "6 Gb/s"]}, progress=False)
    drawn = KINDS["flows"].draw(results, View())
    assert list(drawn) == ["flows", "flows-2"]
    assert "offered load 0.375" in drawn["flows-2"].get_suptitle()


PROGRAM = (
    "topology.fat_tree = { k = 4, levels = 1 }\nrouter = 'infiniband'\n"
    "measure.streams = ['ranks', 'operations']\n"
    "jobs = [{ name = 'sum', program = { collective = { kind = 'allreduce', bytes = 4096 } } }]\n"
)


def test_a_program_on_a_fabric_shows_its_times_and_what_links_carry(hopsim: Command, tmp_path: Path) -> None:
    path = tmp_path / "program.toml"
    path.write_text(PROGRAM, "utf-8")
    shown = hopsim("run", path, "--out", tmp_path / "out").stdout
    for said in ("execution", "message latency", "Gb/s", "Times in cycles", "throughput in Gb/s"):
        assert said in shown
    result = hs.run(PROGRAM)
    assert "phits" not in result.ranks.column_names
    (figure,) = KINDS["gantt"].draw(hs.Results({0: result}), View()).values()
    assert figure.axes[0].get_ylabel() == "Rank"
    assert json.loads(hs.Experiment.of(result.config).points()[0].config) == result.config


def test_interference_of_a_fabric_compares_a_program_with_itself_alone(
    hopsim: Command, tmp_path: Path
) -> None:
    path = tmp_path / "beside.toml"
    path.write_text(
        "topology.fat_tree = { k = 4, levels = 1 }\nrouter = 'infiniband'\n"
        "jobs = [{ name = 'noise', flows = [{ source = 3, destination = 1 }] }, "
        "{ name = 'sum', placement.list = [0, 1], "
        "program = { collective = { kind = 'allreduce', bytes = 40960 } } }]\n"
    )
    shown = hopsim("interference", path, "--out", tmp_path / "out").stdout
    assert "together/alone" in shown
    assert "contention-free" not in shown
    (found,) = hs.interference(path, progress=False)
    together = next(job for job in hs.run(path).jobs if job["job"] == "sum")["execution_time"]
    assert found.summary["execution_time"] == together
    assert found.summary["slowdown_interference"] == together / found.summary["execution_time_alone"] > 1.3
    assert found.summary["slowdown_contention"] is None


def test_what_is_recorded_of_a_fabric_changes_nothing_else() -> None:
    pairs = ((0, 4, 0), (1, 5, 1), (2, 5, 0), (6, 5, 0), (7, 5, 1))
    flows = [
        {"source": source, "destination": destination, "service_level": level, "end": "0.7 ms"}
        for source, destination, level in pairs
    ]
    program = {"collective": {"kind": "allreduce", "bytes": 100_000, "repeat": 3}}
    document = {
        "topology": {"graph": {"edges": [{"between": [0, 1]}], "nodes_per_router": 4}},
        "router": {"infiniband": {"congestion_control": {"ccti_timer": 5}, "lanes": {"count": 2}}},
        "jobs": [{"flows": flows}, {"placement": {"list": [3, 4]}, "program": program}],
    }
    everything = ["ranks", "flows", "links", "link_series", "victims", "queue_series", "flow_series"]
    measure = {"streams": everything, "time": {"interval": "10 us"}, "max_cycles": 10_000_000}
    little = hs.run({**document, "measure": {"streams": ["ranks", "flows"]}})
    much = hs.run({**document, "measure": measure})
    assert little.summary["packets_marked"] > 0
    assert much.links.num_rows > 0
    assert little.summary == much.summary
    assert little.jobs == much.jobs
    assert little.ranks.equals(much.ranks)
    assert little.flows.equals(much.flows)
