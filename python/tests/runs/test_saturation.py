"""The search for saturation: what it finds, in how many runs, and that it goes on where it stopped."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopsim as hs
from conftest import Command
from hopsim.results.result import Result
from hopsim.runs.saturation import LONGEST, METRICS, Search, Try, Wanted
from searches import WINDOWS, run_of

ADVERSARIAL = {
    "topology": {"dragonfly": {"p": 2, "a": 4, "h": 2}},
    "jobs": [{"traffic": {"pattern": "ADV+1"}}],
    "measure": {"warmup": 4_000, "cycles": 20_000},
}
"""The nodes of a group share one global link: it is full at this load of each, 1/(p·a)."""
FULL = 1 / 8


def shown(offered: float, saturation: float, accepted: float) -> Result:
    """What a run shows of a network that saturates at a load, and beyond accepts another one."""
    above = offered > saturation
    verdict = "saturated" if above else "steady"
    return run_of(verdict, min(offered, accepted) if above else offered, offered)


def searched(wanted: Wanted, saturation: float, accepted: float) -> tuple[Search, dict[str, Any]]:
    """A search in such a network, and what it finds."""
    search = Search({}, {}, wanted, WINDOWS)
    while (following := search.next()) is not None:
        load, window = following
        assert 0 < load <= wanted.most
        assert load not in search.tried
        search.add(load, Try(window, shown(load, saturation, accepted)))
    return search, search.result().summary


def search_of(*tried: tuple[float, Result], window: int = 1000) -> Search:
    """A search that has tried loads, each with the same window."""
    search = Search({}, {}, Wanted(), WINDOWS)
    for load, result in tried:
        search.add(load, Try(window, result))
    return search


@given(
    saturation=st.floats(1e-3, 1.5),
    falls_to=st.floats(0.3, 1.5),
    precision=st.sampled_from([0.001, 0.01, 0.1]),
    most=st.sampled_from([1.0, 0.7]),
)
def test_saturation_lies_between_the_two_loads_that_are_found(
    saturation: float, falls_to: float, precision: float, most: float
) -> None:
    wanted = Wanted(precision=precision, most=most)
    search, found = searched(wanted, saturation, min(saturation * falls_to, 1.0))
    assert list(found) == [*METRICS, "seed"]
    assert found["runs"] == len(search.tried) <= 30
    low, high = found["saturation_load_low"], found["saturation_load_high"]
    if saturation >= most:
        assert found["verdict_high"] is None
        assert (found["saturation_load"], low, high) == (most, most, None)
        return
    assert low <= saturation < high
    assert high - low <= precision * high
    assert found["saturation_load"] == pytest.approx(min((low + high) / 2, found["accepted_load_max"]))
    assert found["saturation_load"] <= found["accepted_load_max"]


def test_a_load_that_is_sustained_by_chance_above_one_that_is_not_is_no_bound() -> None:
    search = search_of(
        (1.0, run_of("saturated", 0.5)),
        (0.4, run_of("steady", 0.4, 0.4)),
        (0.5, run_of("saturated", 0.5, 0.5)),
        (0.6, run_of("steady", 0.6, 0.6)),
        (0.725, run_of("saturated", 0.5, 0.725)),
    )
    assert (search.low, search.high) == (0.4, 0.5)
    found = search.result().summary
    assert (found["saturation_load_low"], found["saturation_load_high"]) == (0.4, 0.5)
    assert found["saturation_load"] == pytest.approx(0.45)


def test_the_greatest_accepted_load_is_that_of_any_run() -> None:
    search = search_of(
        (1.0, run_of("saturated", 0.3)),
        (0.4, run_of("steady", 0.4, 0.4)),
        (0.5, run_of("saturated", 0.47, 0.5)),
        (0.725, run_of("saturated", 0.41, 0.725)),
    )
    found = search.result().summary
    assert found["accepted_load_max"] == 0.47
    assert found["accepted_load_full"] == 0.3
    assert found["accepted_load_halfway"] == 0.41


def test_no_load_is_found_that_no_run_has_accepted() -> None:
    """Steady at 0.745, with 0.7357 the most that any run accepts."""
    search = search_of(
        (1.0, run_of("saturated", 0.71)),
        (0.745, run_of("steady", 0.7357, 0.745, accepted_load_ci95=0.01)),
        (0.75, run_of("saturated", 0.73, 0.75)),
        (0.87375, run_of("saturated", 0.72, 0.87375)),
    )
    found = search.result().summary
    assert (found["saturation_load_low"], found["saturation_load_high"]) == (0.745, 0.75)
    assert found["saturation_load"] == found["accepted_load_max"] == 0.7357


def test_what_is_accepted_is_of_the_nodes_that_send() -> None:
    """One of four nodes sends nothing: loads are means over all of them."""
    half = {"nodes": 4, "node_injection_mean": 0.5, "injected_load": 0.375}
    search = search_of(
        (1.0, run_of("saturated", 0.375, generated_load=0.75, **half)),
        (
            0.49,
            run_of("steady", 0.3675, 0.49, **{**half, "node_injection_mean": 0.49, "injected_load": 0.3675}),
        ),
        (0.493, run_of("saturated", 0.3698, 0.493, generated_load=0.37, **half)),
        (0.74575, run_of("saturated", 0.375, 0.74575, **half)),
    )
    search.tried[0.49].result.summary["generated_load"] = 0.3675
    assert search.low == 0.49
    found = search.result().summary
    assert found["saturation_load"] == pytest.approx(0.4915)
    assert found["accepted_load_max"] == 0.375


def test_of_other_jobs_beside_it_the_load_of_a_job_is_no_less_for_it() -> None:
    """All nodes offer 0.7 on average where the load is 1, and 0.6 of it is accepted."""
    search = search_of(
        (1.0, run_of("saturated", 0.6, 0.7)),
        (0.8, run_of("steady", 0.58, 0.58)),
        (0.807, run_of("saturated", 0.579, 0.5842)),
        (0.90175, run_of("saturated", 0.59, 0.64)),
    )
    assert search.result().summary["saturation_load"] == pytest.approx(0.8035)


@pytest.mark.parametrize(
    ("generated", "accepted", "interval", "is_sustained"),
    [
        (0.5, 0.49, 0.009, False),
        (0.5, 0.49, 0.011, True),
        (0.5, 0.4976, 0.001, True),
        (0.5, 0.4974, 0.001, False),
        # The sources have drawn less than is offered, or more.
        (0.49, 0.49, 0.001, True),
        (0.51, 0.5, 0.001, True),
        (0.5, 0.49, None, False),
    ],
)
def test_a_load_that_is_not_accepted_is_not_sustained(
    generated: float, accepted: float, interval: float | None, is_sustained: bool
) -> None:
    run = run_of("steady", accepted, 0.5, generated_load=generated, accepted_load_ci95=interval)
    assert search_of((0.5, run)).keeps_up(0.5) is is_sustained


@pytest.mark.parametrize("verdict", ["saturated", "not converged", "too few samples"])
def test_nothing_but_what_is_steady_is_sustained(verdict: str) -> None:
    search = search_of((1.0, run_of(verdict, 1.0)), window=WINDOWS[1])
    assert not search.keeps_up(1.0)
    assert (search.low, search.high) == (0.0, 1.0)


def test_a_window_that_is_too_short_to_tell_is_lengthened_until_it_can() -> None:
    search = Search({}, {}, Wanted(), WINDOWS)
    # At least twice as long, as long as the samples that are missing ask for, in whole first windows.
    few, drifts = "too few samples", "not converged"
    for verdict, missing, window in (
        (few, 10, 1000),
        (drifts, 2500, 2000),
        (few, 100, 5000),
        (few, 50_000, 10_000),
    ):
        assert search.next() == (1.0, window)
        search.add(1.0, Try(window, run_of(verdict, 0.9, missing_cycles=missing)))
        assert search.undecided == []
    assert search.next() == (1.0, WINDOWS[1])
    search.add(1.0, Try(WINDOWS[1], run_of("steady", 1.0)))
    assert search.next() is None
    found = search.result().summary
    assert (found["runs"], found["undecided"], found["saturation_load_high"]) == (5, 0, None)


def test_a_window_without_samples_is_lengthened_to_the_limit() -> None:
    assert search_of((1.0, run_of("too few samples", 0.0))).next() == (1.0, WINDOWS[1])


def test_what_drifts_in_the_longest_window_is_not_sustained_and_not_undecided() -> None:
    search = search_of((1.0, run_of("not converged", 0.9, missing_cycles=10)), window=WINDOWS[1])
    assert (search.high, search.undecided, search.longer(1.0)) == (1.0, [], None)


def test_a_load_that_cannot_be_told_at_the_limit_is_not_sustained_and_is_said() -> None:
    search = search_of(
        (1.0, run_of("saturated", 0.5)),
        (0.5, run_of("too few samples", 0.5, 0.5, missing_cycles=10)),
        (0.497, run_of("steady", 0.4965, 0.497)),
        (0.74925, run_of("saturated", 0.5, 0.74925)),
        window=WINDOWS[1],
    )
    assert search.next() is None
    found = search.result().summary
    assert (found["saturation_load_low"], found["saturation_load_high"]) == (0.497, 0.5)
    assert (found["undecided"], found["verdict_high"]) == (1, "too few samples")


@pytest.mark.parametrize("falls_to", [1.0, 0.97, 0.9])
def test_about_ten_runs_find_it(falls_to: float) -> None:
    """Where the load accepted at full offer is near saturation, as it is in most networks."""
    for saturation in (0.03, 0.2, 0.43, 0.77):
        search, _ = searched(Wanted(), saturation, saturation * falls_to)
        assert len(search.tried) <= 10


def test_a_plateau_is_told_from_a_throughput_that_still_falls() -> None:
    search, found = searched(Wanted(), 0.5, 0.4)
    assert found["plateau_load"] == found["accepted_load_full"] == found["accepted_load_halfway"] == 0.4
    assert search.halfway is not None
    search.tried[search.halfway].result.summary["accepted_load"] = 0.45
    assert search.result().summary["plateau_load"] is None


def test_half_way_is_not_tried_where_the_load_may_be_sustained() -> None:
    """It would move saturation, and with that half-way, again and again."""
    search = Search({}, {}, Wanted(precision=0.5), WINDOWS)
    for load, result in (
        (1.0, run_of("saturated", 0.98)),
        (0.98, run_of("saturated", 0.95, 0.98)),
        (0.49, run_of("steady", 0.49, 0.49)),
    ):
        search.add(load, Try(WINDOWS[0], result))
    assert search.next() is None
    found = search.result().summary
    assert (found["accepted_load_halfway"], found["plateau_load"]) == (None, None)


def test_half_way_is_beyond_the_least_load_that_is_not_sustained() -> None:
    """Here it is that load itself, which tells nothing of a plateau."""
    search = Search({}, {}, Wanted(precision=0.5), WINDOWS)
    for load, verdict in ((1.0, "saturated"), (0.8, "saturated"), (0.4, "steady")):
        search.add(load, Try(WINDOWS[0], run_of(verdict, load, load)))
    assert search.halfway is None
    assert search.result().summary["accepted_load_halfway"] is None


def test_a_network_that_never_keeps_up_saturates_at_nothing() -> None:
    _, found = searched(Wanted(), 0.0, 0.2)
    assert found["saturation_load_low"] == 0
    assert found["verdict_high"] == "saturated"
    assert found["saturation_load_high"] < 1e-4


def test_the_load_at_which_one_link_of_a_group_is_full_is_found(tmp_path: Path) -> None:
    results = hs.saturate(ADVERSARIAL, seeds=2, out=tmp_path / "found", progress=False)
    assert results.axes == ["measure.seed"]
    for result in results:
        assert result.summary["saturation_load"] == pytest.approx(FULL, rel=0.02)
        assert result.summary["accepted_load_full"] == pytest.approx(FULL, rel=0.02)
        # Of about eight loads; those near saturation with longer windows, too.
        assert result.summary["runs"] <= 18


def to_one(topology: dict[str, Any], nodes: int) -> tuple[dict[str, Any], float]:
    """A network whose nodes all send to the first, and its knee."""
    jobs = [{"traffic": {"pattern": {"hotspot": {"node": 0, "fraction": 1.0}}, "packet_length": 4}}]
    return {"topology": topology, "jobs": jobs}, 1 / (nodes - 1)


def round_a_ring(routers: int) -> tuple[dict[str, Any], float]:
    """A ring whose nodes all send half-way round in the same direction."""
    jobs = [{"traffic": {"pattern": {"permutation": "tornado"}, "packet_length": 4}}]
    return {"topology": {"ring": {"routers": routers}}, "jobs": jobs}, 1 / (-(-routers // 2) - 1)


@pytest.mark.parametrize(
    ("document", "knee"),
    [
        *(to_one({"mesh": {"sides": [routers]}}, routers) for routers in (3, 7)),
        *(to_one({"fat_tree": {"k": 2, "levels": levels}}, 2**levels) for levels in (1, 3)),
        to_one({"torus": {"sides": [3, 3]}}, 9),
        *(round_a_ring(routers) for routers in (5, 8)),
    ],
)
def test_no_load_is_found_above_the_knee_of_a_network(document: dict[str, Any], knee: float) -> None:
    """But for what sources draw less than they offer, of 5,000 packets in a window over the full link.

    `verify knees` searches in a thousand.
    """
    measure = {"warmup": 4_000, "cycles": 20_000}
    above = (1.01 + 3 / math.sqrt(20_000 / 4)) * knee
    found = hs.saturate({**document, "measure": measure}, most=min(3 * knee, 1), seeds=1, progress=False)
    for result in found:
        summary = result.summary
        assert summary["saturation_load_low"] <= above
        assert 0.75 * knee <= summary["saturation_load"] <= above
        assert summary["saturation_load"] <= summary["accepted_load_max"]


def test_a_search_that_was_stopped_goes_on_where_it_was(hopsim: Command, tmp_path: Path) -> None:
    run = ("saturate", "dragonfly1056", *short(), "--seeds", "1", "--precision", "0.1", "--out", "found")
    first = hopsim(*run)
    files = sorted((tmp_path / "found").rglob("points/*.json"))
    written = {file: file.stat().st_mtime_ns for file in files}
    files[0].unlink()
    second = hopsim(*run)
    assert second.stdout == first.stdout
    assert sorted((tmp_path / "found").rglob("points/*.json")) == files
    again = [file for file in files if file.stat().st_mtime_ns != written[file]]
    assert again == files[:1]


def test_the_directory_of_a_search_is_that_of_a_sweep_and_of_one_experiment(
    hopsim: Command, tmp_path: Path
) -> None:
    run = ("saturate", "dragonfly1056", *short(), "--precision", "0.2", "--out", "found")
    hopsim(*run, "--seeds", "2", "--set", "measure.seed=7")
    found = hs.load(tmp_path / "found")
    assert sorted(found.axes) == ["load", "measure.seed"]
    assert {result.summary["seed"] for result in found} == {7, 8}
    assert len({result.summary["offered_load"] for result in found}) > 3
    points = list((tmp_path / "found" / "points").glob("*.json"))
    assert sum(result["runs"] for result in rows(tmp_path / "found")) == len(points) >= len(found)
    assert "accepted_load" in hopsim("plot", "found", "--kind", "accepted_load").stdout
    refused = hopsim(*run, status=2)
    assert "choose another directory, or empty this one with --force" in refused.stderr
    hopsim(*run, "--force")
    assert len(rows(tmp_path / "found")) == 3
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    refused = hopsim(*run[:-1], "other", status=2)
    assert refused.stderr.startswith("hopsim: other: is not a results directory")


def rows(folder: Path) -> list[dict[str, Any]]:
    return pq.read_table(folder / "saturation.parquet").to_pylist()


def test_a_longer_window_stands_for_the_one_that_was_too_short(hopsim: Command, tmp_path: Path) -> None:
    run = (
        "saturate",
        "dragonfly1056",
        *short(),
        "--precision",
        "0.2",
        "--seeds",
        "1",
        "--out",
        "found",
        "--set",
    )
    shown = hopsim(*run, "measure.cycles=99").stdout
    found = hs.load(tmp_path / "found")
    (row,) = rows(tmp_path / "found")
    windows = {result.summary["offered_load"]: result.summary["cycles"] for result in found}
    assert len(windows) == len(found) < row["runs"]
    assert max(windows.values()) == 99 * LONGEST
    assert len(list((tmp_path / "found" / "points").glob("*.json"))) == row["runs"]
    assert sorted(found.axes) == ["load", "measure.seed"]
    assert (tmp_path / "found" / "summary.parquet").exists()
    assert hopsim(*run, "measure.cycles=99").stdout == shown
    undecided = [result for result in found if result.summary["verdict"] == "too few samples"]
    assert row["undecided"] == len(undecided)
    assert ("cannot tell whether they are sustained (undecided)" in shown) == bool(undecided)


def test_the_load_of_a_job_is_searched_by_what_becomes_of_this_job() -> None:
    """A job that nothing hinders, beside one that is far above what its network carries."""
    first = {"traffic": {"pattern": {"hotspot": {"node": 0, "fraction": 1.0}}}}
    job = {"traffic": {"process": {"bernoulli": {"load": 0.1}}}}
    places = [{"placement": {"nodes": {"first": at, "count": 4}}} for at in (0, 4)]
    first["traffic"]["process"] = {"bernoulli": {"load": 0.9}}
    document = {
        "topology": {"mesh": {"sides": [8]}},
        "jobs": [first | places[0], job | places[1]],
        "measure": {"warmup": 1_000, "cycles": 20_000},
    }
    found = hs.saturate(
        document,
        key="jobs.1.traffic.process.bernoulli.load",
        most=0.3,
        seeds=1,
        precision=0.1,
        progress=False,
    )
    (result,) = found
    assert result.summary["saturation_load_high"] is None
    assert result.summary["accepted_load_max"] == pytest.approx(0.3, rel=0.05)


def test_a_load_that_is_sustained_to_the_last_is_shown_as_a_bound(hopsim: Command) -> None:
    run = ("saturate", "dragonfly1056", *short(), "--set", "measure.cycles=4000", "--seeds", "1")
    shown = hopsim(*run, "--most", "0.2").stdout
    assert "≥ 0.2000" in shown
    assert "accepted at 0.2" in shown


def test_check_says_how_many_runs_a_search_takes(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "search.toml").write_text("topology.mesh.sides = [4]\nsweep.saturate.seeds = 2\n")
    checked = hopsim("check", "search.toml").stdout
    assert checked.startswith("points: 1, each searched for saturation in about 20 runs\n")


def short() -> tuple[str, ...]:
    """A small network and short runs."""
    sizes = (f"topology.dragonfly.{key}={size}" for key, size in (("p", 1), ("a", 2), ("h", 1)))
    cycles = ("measure.warmup=500", "measure.cycles=1000")
    return tuple(part for each in (*sizes, *cycles) for part in ("--set", each))


def test_a_table_has_a_row_for_each_configuration(hopsim: Command, tmp_path: Path) -> None:
    axes = 'sweep.product={routing=["minimal", "valiant"], load=[0.1, 0.2]}'
    run = ("saturate", "dragonfly1056", *short(), "--set", axes, "--seeds", "2", "--precision", "0.1")
    shown = hopsim(*run, "--out", "found").stdout
    assert "minimal" in shown
    assert "valiant" in shown
    assert "over 2 seeds" in shown
    assert (tmp_path / "found" / "saturation.csv").read_text("utf-8").count("\n") == 5


def test_a_document_may_ask_for_the_search(hopsim: Command, tmp_path: Path) -> None:
    asked = ("--set", "sweep.saturate.precision=0.1", "--set", "sweep.saturate.seeds=1")
    by_run = hopsim("run", "dragonfly1056", *short(), *asked, "--out", "found").stdout
    table = (tmp_path / "found" / "saturation.csv").read_bytes()
    given = ("--precision", "0.1", "--seeds", "1")
    assert hopsim("saturate", "dragonfly1056", *short(), *given, "--out", "found").stdout == by_run
    assert (tmp_path / "found" / "saturation.csv").read_bytes() == table
    refused = hopsim("run", "dragonfly1056", *asked, "--json", "-", status=2)
    assert "--json: not with sweep.saturate; valid: --set, --out, --force, -j" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--most", "1.5"), "sweep.saturate.most = 1.5 (override): out of range; valid: 0.00001 … 1"),
        (("--precision", "0"), "sweep.saturate.precision = 0"),
        (
            ("--key", "laod"),
            "sweep.saturate.key = 'laod': takes no load (laod = 1.0 (override): unknown key; "
            "did you mean `load`?",
        ),
        (
            ("--seeds", "2", "--set", 'sweep.product={"measure.seed"=[4, 5]}'),
            "sweep.saturate.seeds = 2: the sweep says which seeds; valid: 1 (a search for each seed of the "
            "sweep), or no measure.seed",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(
    hopsim: Command, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    refused = hopsim("saturate", "dragonfly1056", *arguments, status=2)
    assert message in refused.stderr
    assert not list(tmp_path.iterdir())


def test_programs_and_fabrics_have_no_load_to_search(hopsim: Command, tmp_path: Path) -> None:
    for example in ("two_programs", "infiniband_uniform"):
        refused = hopsim("saturate", example, status=2)
        assert "load" in refused.stderr
