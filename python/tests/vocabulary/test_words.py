"""What is looked up is found, and what is said about it is right."""

from __future__ import annotations

import json
import re
import sys
import tomllib
import types
import warnings
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import hopsim as hs
from conftest import ROOT, TINY, Command
from hopsim import _core
from hopsim.document.experiment import preset_names, shipped_text
from hopsim.runs import progress
from hopsim.runs.saturation import METRICS as OF_SEARCHES
from hopsim.runs.slowdowns import METRICS as OF_COMPARISONS
from hopsim.vocabulary.catalogue import Catalogue
from hopsim.vocabulary.columns import result_columns, streams
from hopsim.vocabulary.editor_schema import editor_schema
from hopsim.vocabulary.sample import sample

CATALOGUE = Catalogue()
SCHEMA = Draft202012Validator(editor_schema())

STREAMS = [
    *("nodes", "routers", "links", "generation", "occupancy", "injection_waits", "latency_histogram"),
    *("link_series", "waits", "packet_hops", "congestion_trees", "allocation", "output_queues"),
]
MEASURE = f"[measure]\nwarmup = 100\ncycles = 400\ninterval = 50\nstreams = {json.dumps(STREAMS)}\n"
DRAGONFLY = "[topology.dragonfly]\np = 1\na = 2\nh = 1\n"
PROGRAM = "[[jobs]]\nprogram.collective = { kind = 'allreduce', bytes = 64 }\n"

# Runs that between them record every column there is.
RECORDED = [
    "load = 0.1\nmeasure = { warmup = 9, cycles = 400, streams = ['flit_hops'] }\n"
    "topology.ring.routers = 4\nrouter.virtual_channel = {}\n",
    "load = 0.1\n" + DRAGONFLY + MEASURE,
    "load = 0.1\n" + DRAGONFLY + MEASURE + "[[jobs]]\ntraffic.request_reply = {}\n",
    "load = 0.1\n[topology.ring]\nrouters = 4\n" + MEASURE,
    "load = 0.1\ntopology.planes = { count = 2, of.ring.routers = 4 }\n" + MEASURE,
    "load = 0.1\nmeasure = { warmup = 9, cycles = 400, interval = 100 }\ntopology.slim_fly.q = 4\n"
    "faults = [{ at = 100, links.fraction = 0.1, reaction = { detection = 0, reroute = 100, "
    "retransmit = { timeout = 100, most = 1 } } }]\n",
    DRAGONFLY + MEASURE + "[[jobs]]\ntraffic.process.synchronised_bursts.packets = 2\n",
    "units = { cycle = '1 ns', phit = '4 B' }\n"
    "measure.streams = ['ranks', 'messages', 'operations', 'message_sizes']\n" + DRAGONFLY + PROGRAM,
    "units = { cycle = '1 ns', phit = '4 B' }\ntopology.ideal = { nodes = 2, latency = 1 }\n"
    "[[jobs]]\nprogram.graph500 = { scale = 6, query_time = 1 }\n",
    "router = 'infiniband'\ntopology.fat_tree = { k = 2, levels = 1 }\n"
    "jobs = [{ flows = [{ source = 0, destination = 1 }] }]\n[measure]\n"
    "time = { window = '20 us', interval = '10 us' }\n"
    "streams = ['flows', 'flow_series', 'queue_series', 'links', 'link_series', 'victims']\n",
    "router = 'infiniband'\ntopology.fat_tree = { k = 2, levels = 1 }\nmeasure.time.window = '20 us'\n"
    "measure.streams = ['flow_sizes']\njobs = [{ messages = { rate = '1 Gb/s', sizes = 'hadoop' } }]\n",
    "router = 'infiniband'\ntopology.xgft = { children = [2, 2], parents = [1, 2] }\n"
    "faults = [{ links = { between = [[0, 2]] }, time = { at = '5 us' } }]\n"
    "jobs = [{ messages = { rate = '1 Gb/s' } }]\n"
    "measure = { time = { window = '20 us', interval = '10 us' }, streams = ['flows', 'flow_series'] }\n",
    "router = 'ethernet'\ntopology.fat_tree = { k = 2, levels = 1 }\n"
    "jobs = [{ flows = [{ source = 0, destination = 1 }] }]\n"
    "measure = { time = { window = '20 us', interval = '10 us' }, streams = ['links', 'link_series'] }\n",
]


@pytest.mark.parametrize(
    ("name", "found"), [("Olm", "routing.olm"), ("FLEXVC", ".flexvc"), ("Measure.WarmUp", "measure.warmup")]
)
def test_explain_finds_any_case(hopsim: Command, name: str, found: str) -> None:
    assert found in hopsim("explain", name).stdout.splitlines()[0]
    assert hopsim("explain", name).stdout == hopsim("explain", name.lower()).stdout


def test_every_column_of_the_results_is_described_and_no_other() -> None:
    described = {(column.table, column.name) for column in result_columns()}
    assert len(described) == len(result_columns()), "each once"
    found: set[tuple[str, str]] = set()
    for document in RECORDED:
        result = hs.run(document, progress=False)
        found |= {("summary", name) for record in (result.summary, *result.jobs) for name in record}
        found |= {(table, name) for table, rows in result.tables.items() for name in rows.column_names}
    assert {table for table, _ in found} == {"summary", *streams()}
    assert found - described == set()
    assert described - found == set()


def test_explain_tells_of_every_column(hopsim: Command) -> None:
    text = " ".join(hopsim("explain", "packet_latency_p99").stdout.split())
    assert "summary in the results: summary.parquet" in text
    assert "packet_latency_p99 cycles 99th percentile of the packet latency" in text
    for table in {column.table for column in result_columns()} - {"summary"}:
        shown = hopsim("explain", table).stdout
        assert f"streams/{table}.parquet" in shown
        assert all(column.name in shown for column in result_columns() if column.table == table)
    for table, found in (("saturation", OF_SEARCHES), ("interference", OF_COMPARISONS)):
        shown = " ".join(hopsim("explain", table).stdout.split())
        assert f"{table} in the results: {table}.csv and {table}.parquet" in shown
        assert all(name in shown and text.partition(" [")[0] in shown for name, text in found.items())
    assert "greatest load tried" in hopsim("explain", "load_full").stdout
    assert "did you mean plateau_load?" in hopsim("explain", "plataeu_load", status=2).stderr
    assert "did you mean jain_index?" in hopsim("explain", "jian_index", status=2).stderr
    assert "did you mean load?" in hopsim("explain", "laod", status=2).stderr


def test_every_column_has_a_meaning_and_a_unit_where_it_has_one() -> None:
    for column in result_columns():
        assert re.match(r"[A-Z0-9].*\.$", column.meaning) or column.meaning.startswith(column.name), column
        if column.name.endswith("_ns"):
            assert column.unit == "ns", column
        elif column.name.endswith(("_drift", "_samples")):
            assert column.unit == "", column
        elif "latency" in column.name or column.name.startswith("cycle"):
            assert column.unit == "cycles", column
        if column.name.endswith("load"):
            assert column.unit == "phits/(node·cycle)", column


@pytest.mark.parametrize("path", CATALOGUE.nodes)
def test_the_toml_that_explain_shows_is_valid(path: str) -> None:
    text = sample(CATALOGUE, CATALOGUE.nodes[path])
    document = {"topology": {"ring": {"routers": 4}}, **tomllib.loads(text)}
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    assert all(part in text for part in path.split(".")), text
    said = _refusal(text if "topology" in tomllib.loads(text) else f"topology.ring.routers = 4\n{text}")
    # A graph is nothing without links, a job without a load, a fabric without flows: the line is about
    # another key.
    said = "" if re.search(r"(graph\.edges|load|jobs\.0\.flows): is missing", said) else said
    wrong = ("not TOML", "unknown key", "no such choice", "must be", "is missing", "names none")
    assert not any(reason in said for reason in wrong), said


def _refusal(text: str) -> str:
    try:
        _core.points(text, "x", [])
    except hs.ConfigError as error:
        return str(error)
    return ""


def test_list_like_patterns_are_shown_as_one_writes_them(hopsim: Command) -> None:
    shown = hopsim("explain", "mix").stdout.splitlines()
    assert shown[1:3] == ["[[jobs]]", 'traffic.pattern.mix = [{ weight = 1.0, pattern = "uniform" }]']


DOCUMENTS = {
    **{path.name: path.read_text("utf-8") for path in sorted((ROOT / "experiments").glob("*.toml"))},
    **{name: shipped_text(name) for name in preset_names()},
    **{
        f"README {number}": text
        for number, text in enumerate(
            re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
        )
    },
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_schema_for_editors_accepts_every_example(name: str) -> None:
    assert [error.message for error in SCHEMA.iter_errors(tomllib.loads(DOCUMENTS[name]))] == []


@pytest.mark.parametrize(
    "text",
    [
        TINY + "\n[mesure]\n",
        TINY.replace("warmup", "warmpu"),
        TINY.replace("0.3", "1.3"),
        "routing = 'valaint'\n" + TINY,
        "load = 0.1",
        TINY + "[[jobs]]\ntraffic.pattern = 'ADV+x'\n",
    ],
)
def test_the_schema_for_editors_marks_mistakes(text: str) -> None:
    assert list(SCHEMA.iter_errors(tomllib.loads(text)))


def test_short_names_of_patterns_are_those_of_the_simulator() -> None:
    for name in ("UN", "adv+1", "ADV+h", "AdVc", "ADV-local"):
        assert list(SCHEMA.iter_errors(tomllib.loads(TINY + f"[[jobs]]\ntraffic.pattern = '{name}'\n"))) == []
        _core.points(TINY.replace("a = 2", "a = 4") + f"[[jobs]]\ntraffic.pattern = '{name}'\n", "x", [])


def test_schema_prints_it(hopsim: Command) -> None:
    assert json.loads(hopsim("schema").stdout) == editor_schema()


COMPARED = """
load = 0.1
measure = { warmup = 10, cycles = 100 }
[topology.ring]
routers = 4
[sweep.product]
topology = [{ ring.routers = 4 }, { mesh.sides = [2, 2] }, { dragonfly = { p = 1, a = 2, h = 1 } }]
"""


@pytest.mark.parametrize("command", [["check"], ["run", "--json", "-"]], ids=lambda command: command[0])
def test_compared_topologies_whose_links_differ_by_default_are_warned_of(
    hopsim: Command, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "compared.toml").write_text(COMPARED)
    warned = hopsim(*command, "compared.toml").stderr
    assert warned == (
        "hopsim: warning: compared.toml: the topologies that are compared have links of different latency, "
        "by default (ring network 1; mesh network 1; dragonfly local 10, global 100 cycles); "
        "links.global.latency, links.local.latency, links.network.latency state it\n"
        "hopsim: warning: compared.toml: the topologies that are compared have different numbers of VCs, "
        "by default (ring network 2; mesh network 2; dragonfly local 2, global 1); they are equal with "
        '"router.cioq.vcs" = [{ network = 2 }, { network = 2 }, { local = 2, global = 2 }] beside topology '
        "in [sweep.zip]\n"
        "hopsim: warning: compared.toml: the topologies that are compared have different buffers, "
        "by default (ring network 64; mesh network 64; dragonfly local 32, global 256 phits per VC); they "
        'are equal with "router.cioq.buffers" = [{ network = 256 }, { network = 256 }, '
        "{ local = 256, global = 256 }] beside topology in [sweep.zip]\n"
    )
    alike = COMPARED.replace(", { dragonfly = { p = 1, a = 2, h = 1 } }", "")
    (tmp_path / "alike.toml").write_text(alike)
    assert hopsim(*command, "alike.toml").stderr == ""


def test_networks_with_links_of_the_same_class_are_made_equal_by_one_line(
    hopsim: Command, tmp_path: Path
) -> None:
    two = COMPARED.replace("{ dragonfly = { p = 1, a = 2, h = 1 } }", "{ fat_tree = { k = 2, levels = 2 } }")
    (tmp_path / "two.toml").write_text(two)
    assert hopsim("check", "two.toml").stderr == (
        "hopsim: warning: two.toml: the topologies that are compared have different numbers of VCs, "
        "by default (ring network 2; mesh network 2; fat_tree network 1); they are equal with "
        "router.cioq.vcs.network = 2\n"
    )
    assert hopsim("check", "two.toml", "--set", "router.cioq.vcs.network=2").stderr == ""


def test_the_lines_that_the_warnings_name_make_compared_topologies_equal(
    hopsim: Command, tmp_path: Path
) -> None:
    zipped = COMPARED.replace("[sweep.product]", "[sweep.zip]") + (
        '"router.cioq.vcs" = [{ network = 2 }, { network = 2 }, { local = 2, global = 2 }]\n'
        '"router.cioq.buffers" = [{ network = 256 }, { network = 256 }, { local = 256, global = 256 }]\n'
        '"links" = [{ network.latency = 9 }, { network.latency = 9 }, '
        "{ local.latency = 9, global.latency = 9 }]\n"
    )
    (tmp_path / "zipped.toml").write_text(zipped)
    assert hopsim("check", "zipped.toml").stderr == ""


def test_the_warning_comes_from_python_too_and_not_when_links_are_stated() -> None:
    with pytest.warns(hs.HopsimWarning) as warned:
        hs.sweep(COMPARED)
    told = [str(warning.message) for warning in warned]
    named = ("links of different latency", "different numbers of VCs", "different buffers")
    assert [name in text for name, text in zip(named, told, strict=True)] == [True] * 3
    with warnings.catch_warnings(action="error"):
        hs.sweep(
            COMPARED.replace(", { dragonfly = { p = 1, a = 2, h = 1 } }", ""), {"links.network.latency": 3}
        )


def test_check_describes_the_network_and_what_it_takes(hopsim: Command, tiny: Path) -> None:
    lines = hopsim("check", tiny, "--set", "topology.dragonfly={ p = 2, a = 4, h = 2 }").stdout.splitlines()
    assert lines[0] == "points: 1"
    assert re.fullmatch(
        r"network: 72 nodes, 36 routers, 54 local links, 36 global links; diameter 3, "
        r"bisection at most \d+ links",
        lines[1],
    )
    assert lines[2] == "free of deadlock: 288 channels, 432 dependencies, no cycle"
    assert re.fullmatch(r"expected: under a second on \d+ cores?, about \d+ MB", lines[3])
    assert lines[4] == "OK"


def test_check_describes_every_network_once(hopsim: Command, tiny: Path) -> None:
    axes = 'sweep.product={ "load" = [0.1, 0.2], "topology.dragonfly.a" = [2, 4] }'
    lines = hopsim("check", tiny, "--set", axes).stdout.splitlines()
    assert [line.partition(",")[0] for line in lines if "network" in line] == [
        "network: 6 nodes",
        "network: 20 nodes",
    ]


class ZMQInteractiveShell:
    """What rich takes for a notebook."""


def test_a_notebook_shows_progress_without_widgets_and_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Line:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            shown.append(content["text/plain"])

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Line:
        shown.append(content["text/plain"])
        return Line()

    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    module = types.ModuleType("IPython.display")
    monkeypatch.setattr(module, "display", display, raising=False)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("builtins.get_ipython", ZMQInteractiveShell, raising=False)
    assert isinstance(progress.for_python(), progress.Notebook)
    monkeypatch.setattr(progress, "NOTEBOOK_INTERVAL_S", 0.0)
    with warnings.catch_warnings(action="error"):
        hs.sweep(TINY, load=[0.1, 0.2], workers=1)
    assert shown[0].startswith("0/2 points")
    assert shown[-1] == ""


FIGURE_OF_NUMBERS = re.compile(
    r"every figure per job|main figures|fairness figures|figures of one|change a figure|seven figures",
    re.IGNORECASE,
)


def test_numbers_are_called_metrics() -> None:
    texts = {
        path: path.read_text("utf-8")
        for path in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md")]
    }
    for path, text in texts.items():
        assert FIGURE_OF_NUMBERS.search(text) is None, path
