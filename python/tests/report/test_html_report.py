"""The report: what it holds, that it needs nothing else, what it says of what is missing."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hopsim as hs
from conftest import TINY, Command
from hopsim.report.curves import figures_of
from hopsim.report.layout import layout_of
from hopsim.report.links import links_of
from hopsim.report.network import SCALE, network_of
from hopsim.report.ranks import ranks_of
from hopsim.report.trees import trees_of
from hopsim.results.sealed import seal
from reported import FABRIC, PROGRAM

LINKED = TINY.replace("[measure]", '[measure]\nstreams = ["links"]')


def _edges(pairs: str) -> str:
    """A list of links, each given by the digits of its routers."""
    return "[{}]".format(", ".join(f"{{ between = [{one}, {other}] }}" for one, other in pairs.split()))


NETWORKS = {
    "dragonfly": "dragonfly = { p = 2, a = 4, h = 2 }",
    "mesh": "mesh = { sides = [3, 2, 2], nodes_per_router = 2 }",
    "torus": "torus = { sides = [4, 3, 3] }",
    "narrow torus": "torus = { sides = [2, 2, 2] }",
    "ring": "ring = { routers = 5 }",
    "hyperx": "hyperx = { sides = [3, 3, 2] }",
    "fat tree": "fat_tree = { k = 2, levels = 3 }",
    "graph": f"graph = {{ edges = {_edges('01 12 20 23')} }}",
    "spines": f"graph = {{ edges = {_edges('02 12 03 13')}, routers_with_nodes = 2 }}",
}


class Page(HTMLParser):
    """The elements of a page with their attributes, its texts by element, and its data."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.source = path.read_text("utf-8")
        self.feed(self.source)
        self.raw = next(text for _, text in self.texts if text.startswith('{"figures"'))
        self.data: dict[str, Any] = json.loads(self.raw)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.texts.append((self.elements[-1][0], data.strip()))

    @property
    def words(self) -> str:
        """What a reader sees without scripts."""
        return "\n".join(text for place, text in self.texts if place not in ("script", "style") and text)


def unpacked(packed: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of a packed object, as the browser gets them."""
    types = {
        "Uint16Array": "<u2",
        "Uint32Array": "<u4",
        "Uint8Array": "u1",
        "Int8Array": "i1",
        "Float32Array": "<f4",
    }
    data = gzip.decompress(base64.b64decode(packed["data"]))
    return {
        name: np.frombuffer(data, dtype=types.get(kind, "<f8"), count=length, offset=offset)
        for name, (kind, offset, length) in packed["fields"].items()
    }


@pytest.fixture
def stored(hopsim: Command, sweep: Path, tmp_path: Path) -> Path:
    """A results directory of twelve points with links."""
    hopsim("run", sweep, "--set", "measure.cycles=500", "--out", "d")
    return tmp_path / "d"


def test_a_report_needs_nothing_from_anywhere(hopsim: Command, stored: Path) -> None:
    assert hopsim("report", "d").stdout == "d/report.html\n"
    page = Page(stored / "report.html")
    for tag, attributes in page.elements:
        assert "src" not in attributes, tag
        assert (attributes.get("href") or "#").startswith(("#", "data:")), attributes
        assert tag not in ("link", "iframe", "object", "embed", "base")
    style = "".join(text for place, text in page.texts if place == "style")
    assert "@import" not in style
    assert "url(" not in style
    own = "".join(text for place, text in page.texts if place == "script")
    assert re.findall(r"\b(?:fetch|import|XMLHttpRequest|WebSocket)\s*\(", own) == []
    (policy,) = (each["content"] for _, each in page.elements if each.get("http-equiv"))
    assert (policy or "").startswith("default-src 'none'; ")
    assert len(page.source) < 2_500_000


def test_a_report_says_what_was_run_and_how_to_run_it_again(
    hopsim: Command, stored: Path, sweep: Path
) -> None:
    hopsim("report", "d", "--out", "r.html")
    page = Page(stored.parent / "r.html")
    assert "hopsim run sweep.toml --set measure.cycles=500" in page.words
    assert sweep.read_text().strip() in page.words
    assert hs.__version__ in page.words
    assert "12, all finished" in page.words
    assert "Varied\nrouting, load\n" in page.words
    assert "Not everything is here" not in page.words
    saved = next(each["href"] for _, each in page.elements if each.get("download") == "sweep.toml")
    assert base64.b64decode((saved or "").partition(",")[2]).decode() == sweep.read_text()
    rows = sum(1 for tag, _ in page.elements if tag == "tr")
    assert rows == 2 * (1 + 6), "six points and a heading, twice: all metrics, and those of the curves"


def test_the_same_results_give_the_same_report(hopsim: Command, stored: Path) -> None:
    for name in ("one.html", "other.html"):
        hopsim("report", "d", "--out", name)
    assert (stored.parent / "one.html").read_bytes() == (stored.parent / "other.html").read_bytes()


def test_curves_have_the_means_and_intervals_of_the_seeds(stored: Path) -> None:
    results = hs.load(stored)
    page = Page(results.report(stored.parent / "r.html"))
    (figure,) = page.data["figures"]
    assert figure["labels"] == ["minimal", "valiant"]
    accepted = next(panel for panel in figure["panels"] if panel["key"] == "accepted_load")
    table = results.table.to_pylist()
    expected = [
        sum(row["accepted_load"] for row in table if (row["routing"], row["load"]) == ("valiant", load)) / 2
        for load in (0.1, 0.3, 0.5)
    ]
    assert accepted["curves"][1]["y"] == pytest.approx(expected)
    assert all(half > 0 for half in accepted["curves"][1]["half"])
    assert accepted["curves"][1]["point"] == [6, 8, 10]
    assert accepted["curves"][1]["above"] == accepted["curves"][1]["below"] == accepted["curves"][1]["half"]


def test_no_interval_of_jains_index_goes_beyond_one() -> None:
    def summary(seed: int, value: float) -> dict[str, Any]:
        return {"offered_load": 0.2, "jain_index": value, "accepted_load": 0.2, "seed": seed}

    points = [
        hs.Result(
            {"config": {"jobs": [], "measure": {"seed": seed}}, "result": summary(seed, value)},
            {"load": 0.2, "measure.seed": seed},
            {},
        )
        for seed, value in enumerate((0.9, 1.0))
    ]
    (figure,) = figures_of(hs.Results(dict(enumerate(points))))
    (curve,) = next(panel for panel in figure["panels"] if panel["key"] == "jain_index")["curves"]
    assert curve["half"][0] > 0.1
    assert curve["above"] == pytest.approx([0.05])
    assert curve["below"][0] == pytest.approx(curve["half"][0])


def test_points_that_are_not_steady_are_told(tmp_path: Path) -> None:
    verdicts = ["steady", "saturated"]
    points = [hs.run(LINKED, load=load, progress=False) for load in (0.1, 0.9)]
    results = hs.Results(
        {
            number: hs.Result(
                {"config": result.config, "result": {**result.summary, "verdict": verdict}},
                {"load": result.summary["offered_load"]},
                {},
            )
            for number, (result, verdict) in enumerate(zip(points, verdicts, strict=True))
        }
    )
    (figure,) = Page(results.report(tmp_path / "r.html")).data["figures"]
    curve = figure["panels"][0]["curves"][0]
    assert curve["verdict"] == verdicts
    assert curve["hollow"] == [False, True]
    assert figure["note"] == "Hollow: saturated or not converged."


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "</script bad ", "<!--<script>", "<b>&amp;", "]]>"]
)
def test_names_are_shown_and_never_run(hopsim: Command, tmp_path: Path, text: str) -> None:
    document = f"{LINKED}\n[[jobs]]\nname = {json.dumps(text)}\n[sweep.product]\nload = [0.1, 0.2]\n"
    document += f'routing = ["minimal", "valiant"]\n[sweep.labels]\nrouting = [{json.dumps(text)}, "V"]\n'
    (tmp_path / "odd.toml").write_text(document)
    hopsim("run", "odd.toml", "--out", "d")
    hopsim("report", "d")
    page = Page(tmp_path / "d" / "report.html")
    assert sum(1 for tag, _ in page.elements if tag == "script") == 3
    assert not any(tag == "b" for tag, _ in page.elements)
    assert "<" not in page.raw, "whatever a browser takes for the end of a script"
    assert page.data["figures"][0]["labels"][0] == text
    assert document.strip() in "".join(text for _, text in page.texts) or text in page.words


def test_an_unfinished_run_says_what_is_missing(hopsim: Command, stored: Path) -> None:
    first = json.loads((stored / "manifest.json").read_text())["points"]
    (stored / "points" / f"{first[3]['digest']}.json").unlink()
    page = Page(hs.load(stored).report(stored.parent / "r.html"))
    assert "11 of 12 finished" in page.words
    assert "The run is not complete: 11 of 12 points are here" in page.words
    assert "Missing: point 3." in page.words


def test_failed_and_damaged_points_are_named(hopsim: Command, stored: Path) -> None:
    manifest = json.loads((stored / "manifest.json").read_text())
    (stored / "points" / f"{manifest['points'][5]['digest']}.json").write_text("{")
    manifest["failures"] = {"5": "deadlock <here>"}
    (stored / "manifest.json").write_text(json.dumps(seal(manifest)))
    told = hopsim("report", "d").stderr
    assert "warning: d: 1 of the points are damaged and left out" in told
    page = Page(stored / "report.html")
    assert "1 of the points are damaged and left out" in page.words
    assert "Point 5 failed: deadlock <here>" in page.words


def test_a_damaged_table_of_links_leaves_its_point_out_and_says_so(hopsim: Command, stored: Path) -> None:
    digest = json.loads((stored / "manifest.json").read_text())["points"][0]["digest"]
    path = stored / "points" / f"{digest}.links.parquet"
    content = bytearray(path.read_bytes())
    content[4:80] = bytes(76)
    path.write_bytes(content)
    hopsim("report", "d")
    page = Page(stored / "report.html")
    assert "Point 0 is not drawn: " in page.words
    assert [point["point"] for point in page.data["network"]["points"]] == [2, 4, 6, 8, 10]


@pytest.mark.parametrize(
    "damage", ['{"seeds": 5}', '{"failures": [1]}', '{"document": {}}', '{"overrides": null}']
)
def test_a_manifest_with_odd_values_is_damaged(hopsim: Command, stored: Path, damage: str) -> None:
    path = stored / "manifest.json"
    path.write_text(json.dumps(seal({**json.loads(path.read_text()), **json.loads(damage)})))
    (key,) = json.loads(damage)
    assert f"d: manifest.json is damaged ({key}: must be a " in hopsim("report", "d", status=2).stderr


def test_bad_directories_and_files_are_refused(hopsim: Command, stored: Path) -> None:
    valid = "; give a directory that `hopsim run --out` has written\n"
    assert hopsim("report", "no", status=2).stderr == f"hopsim: no: is not a directory{valid}"
    (stored.parent / "empty").mkdir()
    assert hopsim("report", "empty", status=2).stderr == f"hopsim: empty: holds no manifest.json{valid}"
    refused = hopsim("report", "d", "--out", "no/such/r.html", status=2).stderr
    assert refused == (
        "hopsim: no/such/r.html: cannot write the report there: No such file or directory; "
        "choose a file you may write to\n"
    )
    for file in (stored / "points").glob("*.json"):
        file.unlink()
    refused = hopsim("report", "d", status=2).stderr
    assert refused == "hopsim: d: no point has finished; run the experiment first\n"


def test_results_that_were_never_stored_have_a_report_too(tmp_path: Path) -> None:
    results = hs.sweep(LINKED, load=[0.1, 0.3], progress=False)
    page = Page(results.report(tmp_path / "r.html"))
    assert "there is no document" in page.words
    assert '"topology"' in page.words
    assert len(page.data["network"]["points"]) == 2


def test_loads_of_links_are_those_of_the_stream_over_all_vcs() -> None:
    result = hs.run(LINKED, progress=False)
    section = network_of(hs.Results({0: result}))
    (packed,), (point,) = section.networks, section.points
    network, loads = unpacked(packed), unpacked(point)["utilisation"]
    sums: dict[tuple[int, int], float] = {}
    for row in result.links.to_pylist():
        key = row["router"], row["port"]
        sums[key] = sums.get(key, 0.0) + row["utilisation"]
    assert loads.tolist() == [round(SCALE * load) for _, load in sorted(sums.items())]
    ends = {
        (row["router"], row["peer_router"])
        for row in result.links.to_pylist()
        if row["port_class"] != "terminal"
    }
    inner = network["target"] < packed["routers"]
    assert set(zip(network["source"][inner].tolist(), network["target"][inner].tolist(), strict=True)) == ends
    nodes = sorted(network["target"][~inner].tolist())
    assert nodes == [packed["routers"] + node for node in range(packed["nodes"])]


def test_loads_over_time_are_those_of_the_stream(tmp_path: Path) -> None:
    result = hs.run(FABRIC, progress=False)
    (point,) = network_of(hs.Results({0: result})).points
    series = result.link_series
    moments = np.unique(series.column("time_s").to_numpy()).tolist()
    assert point["times"] == {"name": "time", "unit": "s", "values": moments}
    arrays = unpacked(point)
    links = arrays["utilisation"].size
    assert arrays["utilisation_series"].size == len(moments) * links
    whole = result.links.column("utilisation").to_numpy().sum()
    assert arrays["utilisation"].sum() / SCALE == pytest.approx(whole, abs=links / SCALE)
    for step, moment in enumerate(moments):
        rows = [row for row in series.to_pylist() if row["time_s"] == moment]
        shown = arrays["utilisation_series"][step * links : (step + 1) * links].sum() / SCALE
        assert shown == pytest.approx(sum(row["utilisation"] for row in rows), abs=links / SCALE)


def test_a_series_by_cycle_is_drawn_over_time() -> None:
    result = hs.run(LINKED, progress=False)
    whole = result.links
    steps = [whole.append_column("cycle", pa.array([cycle] * whole.num_rows)) for cycle in (100, 300)]
    tables = {
        "links": whole,
        "link_series": pa.concat_tables(steps).drop_columns(["peer_router", "port_class"]),
    }
    point = network_of(hs.Results({0: hs.Result(result.record, {}, tables)})).points[0]
    assert point["times"] == {"name": "cycle", "unit": "cycles", "values": [100, 300]}
    arrays = unpacked(point)
    assert arrays["utilisation_series"].tolist() == 2 * arrays["utilisation"].tolist()


def test_what_is_too_much_is_left_out_or_put_together_and_told() -> None:
    results = hs.sweep(LINKED, load=[0.1, 0.2, 0.3], progress=False)
    whole = network_of(results)
    assert whole.notes == []
    links = whole.networks[0]["links"]
    part = network_of(results, most=2 * links + 1)
    assert [point["point"] for point in part.points] == [1, 2], "the highest loads stay"
    assert part.notes[0].startswith("2 of 3 points are drawn, those of the highest loads")
    fabric = hs.Results({0: hs.run(FABRIC, progress=False)})
    count = network_of(fabric).networks[0]["links"]
    merged = network_of(fabric, most=count + 2 * 4 * count)
    assert len(merged.points[0]["times"]["values"]) == 4
    assert any("each step is the mean of up to 3 intervals" in note for note in merged.notes)


def test_merged_steps_are_means_of_the_intervals() -> None:
    fabric = hs.Results({0: hs.run(FABRIC, progress=False)})
    section = network_of(fabric)
    links = section.networks[0]["links"]
    every = unpacked(section.points[0])["utilisation_series"].reshape(-1, links)
    merged = unpacked(network_of(fabric, most=links + 2 * 5 * links).points[0])["utilisation_series"]
    assert merged.reshape(-1, links) == pytest.approx(every.reshape(5, 2, links).mean(axis=1), abs=1)


@pytest.mark.parametrize("name", NETWORKS)
def test_no_two_routers_or_nodes_are_drawn_at_the_same_place(name: str) -> None:
    document = f"load = 0.1\nrouting = 'minimal'\n[topology]\n{NETWORKS[name]}\n"
    result = hs.run(document + "[measure]\nwarmup = 10\ncycles = 50\nstreams = ['links']\n", progress=False)
    links = links_of(result.links)
    layout = layout_of(result.config["topology"], links)
    assert len(layout.places) == links.routers + links.nodes
    apart = np.hypot(*(layout.places[:, None] - layout.places[None]).transpose(2, 0, 1))
    assert (apart + 9 * np.eye(len(apart)) > 0.1).all()
    assert len(layout.bends) == len(links.keys)
    # Links between the same two vertices are told apart.
    ends = list(zip(links.source.tolist(), links.target.tolist(), layout.bends.tolist(), strict=True))
    assert len(set(ends)) == len(ends)


def test_operations_are_all_there_or_those_of_some_ranks() -> None:
    result = hs.run(PROGRAM, progress=False)
    results = hs.Results({0: result})
    (chart,) = ranks_of(results).charts
    arrays = unpacked(chart)
    rows = [row for row in result.operations.to_pylist() if row["stream"] == 0]
    assert arrays["begin"].tolist() == [row["begin"] for row in rows]
    assert arrays["end"].tolist() == [row["end"] for row in rows]
    assert arrays["rank"].tolist() == [row["rank"] for row in rows]
    some = ranks_of(results, most=len(rows) // 2)
    assert len(some.charts[0]["ranks"]) <= chart["all"] // 2 + 1
    assert "some ranks are drawn, evenly chosen" in some.notes[-1]


def test_shares_of_the_time_of_a_rank_add_up() -> None:
    (chart,) = ranks_of(hs.Results({0: hs.run(PROGRAM, progress=False)})).charts
    mean = sum(float(row[1].rstrip("%")) for row in chart["shares"])
    assert 50 < mean <= 100.5


def test_packets_of_all_congestion_trees_are_in_the_curves_and_the_largest_first() -> None:
    columns = {
        "cycle": [50, 50, 100],
        "router": [3, 1, 1],
        "port": [2, 0, 0],
        "port_class": ["global", "terminal", "terminal"],
        "peer_router": [5, None, None],
        "links": [2, 4, 6],
        "depth": [1, 2, 3],
        "packets": [10, 8, 20],
        "phits": [80, 64, 160],
        "contributors": [10, 2, 5],
        "victims": [0, 6, 15],
    }
    result = hs.run(TINY, progress=False)
    tables = {"congestion_trees": pa.table(columns)}
    (point,) = trees_of(hs.Results({0: hs.Result(result.record, {}, tables)})).points
    assert point["cycles"] == [50, 100]
    assert point["total"] == [18, 20]
    assert point["packets"] == [[8, 20], [10, 0]]
    assert [row["name"] for row in point["rows"]] == ["router 1 → port 0 to a node", "router 3 → router 5"]
    assert point["rows"][0]["cells"] == ["terminal", "14.0", "20", "6", "3", "75 %", "50", "100 %"]
    assert point["rows"][1]["cells"][-1] == "50 %"


def test_points_without_a_congestion_tree_say_so_and_the_one_of_the_highest_load_comes_first() -> None:
    names = ("cycle", "router", "port", "peer_router", "links", "depth", "packets", "victims")
    empty = pa.table(
        {name: pa.array([], pa.uint32()) for name in names} | {"port_class": pa.array([], pa.string())}
    )
    result = hs.run(TINY, progress=False)
    points = {load: hs.Result(result.record, {"load": load}, {"congestion_trees": empty}) for load in (1, 2)}
    section = trees_of(hs.Results(points))
    assert [(point["rows"], point["total"]) for point in section.points] == 2 * [([], [])]
    assert section.first == network_of(hs.sweep(LINKED, load=[0.1, 0.3], progress=False)).first == 1


def test_sections_say_what_they_need(tmp_path: Path) -> None:
    plain = hs.Results({0: hs.run(TINY, progress=False)})
    words = Page(plain.report(tmp_path / "r.html")).words
    assert "The network is not drawn; that needs" in words
    program = hs.Results({0: hs.run(PROGRAM.replace('["operations"]', "[]"), progress=False)})
    assert 'it needs\nmeasure.streams = ["operations"]' in Page(program.report(tmp_path / "r.html")).words


def test_a_series_of_links_that_does_not_say_what_they_lead_to_draws_no_network_and_the_report_says_so(
    hopsim: Command, tmp_path: Path
) -> None:
    streams = 'interval = 100\nstreams = ["link_series", "congestion_trees", "waits"]'
    (tmp_path / "e.toml").write_text(TINY.replace("[measure]", f"[measure]\n{streams}"))
    hopsim("run", "e.toml", "--out", "d")
    hopsim("report", "d")
    page = Page(tmp_path / "d" / "report.html")
    assert page.data["network"]["points"] == []
    assert 'The network is not drawn; that needs\nmeasure.streams = ["links"]' in page.words
    assert "The stream link_series alone does not say what links lead to" in page.words
    others = "waits, flow_waits, congestion_flows, standing_packets, timeseries (timeseries). They are in"
    assert f"link_series (links), {others}" in page.words


def test_a_report_is_not_written_in_the_place_of_a_directory(hopsim: Command, stored: Path) -> None:
    refused = hopsim("report", "d", "--out", "", status=2).stderr
    assert refused.startswith(
        "hopsim: .: cannot write the report there: Is a directory; choose a file you may"
    )
    with pytest.raises(hs.ConfigError, match=r"^\.: cannot write the report there: Is a directory"):
        hs.load(stored).report("")


def test_a_merged_step_of_a_fabric_carries_the_end_of_its_last_interval() -> None:
    fabric = hs.Results({0: hs.run(FABRIC, progress=False)})
    section = network_of(fabric)
    links, every = section.networks[0]["links"], section.points[0]["times"]["values"]
    assert len(every) == 10
    for steps, last in ((5, [1, 3, 5, 7, 9]), (4, [2, 5, 8, 9])):
        (point,) = network_of(fabric, most=links + 2 * steps * links).points
        assert point["times"]["values"] == [every[number] for number in last]


def test_a_merged_step_of_cycles_carries_the_begin_of_its_first_interval() -> None:
    result = hs.run(LINKED, progress=False)
    whole = result.links
    steps = [whole.append_column("cycle", pa.array([cycle] * whole.num_rows)) for cycle in (100, 300, 500)]
    series = pa.concat_tables(steps).drop_columns(["peer_router", "port_class"])
    results = hs.Results({0: hs.Result(result.record, {}, {"links": whole, "link_series": series})})
    section = network_of(results)
    count = len(unpacked(section.points[0])["utilisation_series"]) // 3
    arrays = len([name for name in unpacked(section.points[0]) if name.endswith("_series")])
    (point,) = network_of(results, most=section.networks[0]["links"] + arrays * 2 * count).points
    assert point["times"]["values"] == [100, 500]
