"""The search for saturation, load by load, in networks that are made up, with loads worked out by hand."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import hopsim as hs
from hopsim.document.experiment import Experiment, Point
from hopsim.errors import ConfigError, SweepError
from hopsim.results.outcome import Outcome
from hopsim.results.result import Result, Results
from hopsim.runs import saturation
from hopsim.runs.saturation import LEAST, LONGEST, Search, Try, Wanted, is_short, share_of_senders
from searches import WINDOWS, run_of


def shown(offered: float, knee: float, beyond: float) -> Result:
    """What a run shows of a network that sustains loads up to a knee, and accepts another one beyond."""
    if offered > knee:
        return run_of("saturated", min(offered, beyond), offered)
    return run_of("steady", offered, offered)


def loads(wanted: Wanted, knee: float, beyond: float) -> list[float]:
    """The loads that a search tries, in order."""
    search = Search({}, {}, wanted, WINDOWS)
    while (following := search.next()) is not None:
        load, window = following
        assert window == WINDOWS[0]
        search.add(load, Try(window, shown(load, knee, beyond)))
    assert search.runs == len(search.tried)
    return list(search.tried)


@pytest.mark.parametrize(
    ("most", "knee", "beyond", "tried"),
    [
        (1.0, 1.0, 1.0, [1.0]),
        (0.5, 0.5, 0.5, [0.5]),
        # What full offer accepts, 20 % and then 40 % more than that, the middle; and half-way to full.
        (1.0, 0.5, 0.4, [1.0, 0.4, 0.48, 0.56, 0.52, 0.75]),
        # 20 % and then 40 % less, middles.
        (1.0, 0.3, 0.6, [1.0, 0.6, 0.48, 0.288, 0.384, 0.336, 0.312, 0.65]),
        # Steps never go beyond the middle, here of 0.8 and 1, and of 0.8 and 0.9.
        (1.0, 0.85, 0.8, [1.0, 0.8, 0.9, 0.85, 0.9375]),
        # All is accepted of the greatest load, which saturates all the same.
        (1.0, 0.7, 1.0, [1.0, 0.8, 0.64, 0.72, 0.68, 0.85]),
        # Nothing is.
        (1.0, 0.6, 0.0, [1.0, 0.5, 0.75, 0.625, 0.5625, 0.796875]),
    ],
)
def test_loads_are_tried_near_what_is_accepted_at_full_offer_and_then_by_halves(
    most: float, knee: float, beyond: float, tried: list[float]
) -> None:
    assert loads(Wanted(precision=0.1, most=most), knee, beyond) == pytest.approx(tried, rel=1e-5)


@pytest.mark.parametrize("most", [1.0, 0.25])
def test_where_nothing_is_sustained_loads_are_tried_down_to_the_least(most: float) -> None:
    tried = loads(Wanted(most=most), 0.0, 0.2 * most)
    halfway = tried.pop()
    least, last_but_one = sorted(tried)[:2]
    assert least <= LEAST * most < last_but_one
    assert halfway == pytest.approx((least / 2 + most) / 2, rel=1e-5)


def test_loads_have_six_digits() -> None:
    for load in loads(Wanted(precision=0.001), 1 / 3, 0.123456789):
        assert load == float(f"{load:.6g}")
    assert 0.123457 in loads(Wanted(), 1 / 3, 0.123456789)


def test_a_longer_window_is_asked_for_before_another_load() -> None:
    search = Search({}, {}, Wanted(), WINDOWS)
    search.add(1.0, Try(1000, run_of("saturated", 0.5, 1.0)))
    search.add(0.5, Try(1000, run_of("too few samples", 0.5, 0.5, missing_cycles=1500)))
    assert search.next() == (0.5, 3000)
    assert search.undecided == []
    search.add(0.5, Try(WINDOWS[1] - 1, run_of("too few samples", 0.5, 0.5, missing_cycles=1500)))
    assert search.next() == (0.5, WINDOWS[1])
    search.add(0.5, Try(WINDOWS[1], run_of("too few samples", 0.5, 0.5, missing_cycles=1500)))
    assert search.undecided == [0.5]
    load, window = search.next() or (0, 0)
    assert (load, window) == (pytest.approx(0.49), 1000)  # Less by twice the precision.
    assert (len(search.tried), search.runs) == (2, 4)


@pytest.mark.parametrize(
    ("window", "missing", "longer"),
    [
        (1000, 1, 2000),
        (1000, 1001, 3000),
        (1000, 1000, 2000),
        (3000, 100, 6000),
        (3000, 3001, 7000),
        (5000, 20_000, 16_000),
        (9000, 1, 16_000),
        (1000, None, 16_000),
        (16_000, 1, None),
        (17_000, 1, None),
    ],
)
def test_a_window_is_lengthened_by_what_is_missing_but_to_twice_itself(
    window: int, missing: int | None, longer: int | None
) -> None:
    for verdict in ("too few samples", "not converged"):
        search = Search({}, {}, Wanted(), WINDOWS)
        search.add(1.0, Try(window, run_of(verdict, 0.9, 1.0, missing_cycles=missing)))
        assert search.longer(1.0) == longer
    for verdict in ("steady", "saturated"):
        search.add(1.0, Try(window, run_of(verdict, 0.9, 1.0, missing_cycles=missing)))
        assert search.longer(1.0) is None


@pytest.mark.parametrize(
    ("offered", "generated", "accepted", "interval", "short"),
    [
        (1.0, 1.0, 0.9951, 0.0, False),
        (1.0, 1.0, 0.9949, 0.0, True),
        (0.5, 0.5, 0.4976, 0.0, False),
        (0.5, 0.5, 0.4974, None, True),
        (0.5, 0.5, 0.4, 0.11, False),
        (0.5, 0.5, 0.4, 0.09, True),
        # Less than offered is drawn: that is no less to accept.
        (0.5, 0.45, 0.44, 0.0, True),
        (0.5, 0.45, 0.4476, 0.0, False),
        (0.5, 0.6, 0.4976, 0.0, False),
        (0.5, 0.6, 0.4974, 0.0, True),
    ],
)
def test_a_load_is_short_by_more_than_its_interval_and_half_a_percent(
    offered: float, generated: float, accepted: float, interval: float | None, short: bool
) -> None:
    summary = {"generated_load": generated, "accepted_load": accepted, "accepted_load_ci95": interval}
    assert is_short({"offered_load": offered, **summary}) is short


@pytest.mark.parametrize(
    ("nodes", "injected", "of_senders", "share"),
    [
        (8, 0.5, 0.5, 1.0),
        (8, 0.25, 0.5, 0.5),
        (4, 0.3, 0.4, 0.75),
        # Rounded to whole nodes, and one at least.
        (8, 0.26, 0.5, 0.5),
        (8, 0.0, 0.5, 1 / 8),
        (8, 0.0, 0.0, 1.0),
        (8, 0.0, None, 1.0),
    ],
)
def test_the_share_of_senders_is_that_of_the_means(
    nodes: int, injected: float, of_senders: float | None, share: float
) -> None:
    summary = {"nodes": nodes, "injected_load": injected, "node_injection_mean": of_senders}
    assert share_of_senders(summary) == share


def search_of(*tried: tuple[float, Result], wanted: Wanted | None = None) -> Search:
    search = Search({"routing": "olm"}, {"routing": "OLM"}, wanted or Wanted(), WINDOWS)
    for load, result in tried:
        search.add(load, Try(1000, result))
    return search


def test_what_is_found_by_hand() -> None:
    search = search_of(
        (1.0, run_of("saturated", 0.4, 1.0, seed=9)),
        (0.5, run_of("steady", 0.5, 0.5)),
        (0.52, run_of("not converged", 0.515, 0.52)),
        (0.755, run_of("saturated", 0.405, 0.755)),
    )
    found = search.result()
    assert found.summary == {
        "saturation_load": 0.51,
        "saturation_load_low": 0.5,
        "saturation_load_high": 0.52,
        "verdict_high": "not converged",
        "undecided": 0,
        "accepted_load_max": 0.515,
        "load_full": 1.0,
        "accepted_load_full": 0.4,
        "accepted_load_halfway": 0.405,
        "plateau_load": 0.4,
        "runs": 4,
        "seed": 9,
    }
    assert (found.axes, found.labels) == ({"routing": "olm"}, {"routing": "OLM"})
    assert found.config == {"of": 1.0}
    assert dict(found.tables) == {}


@pytest.mark.parametrize(
    ("full", "halfway", "plateau"),
    [
        (0.5, 0.5, 0.5),
        # 2 % of the greater one.
        (0.5, 0.4901, 0.5),
        (0.5, 0.4899, None),
        (0.4901, 0.5, 0.4901),
        (0.4899, 0.5, None),
    ],
)
def test_a_plateau_differs_by_two_percent_at_most(full: float, halfway: float, plateau: float | None) -> None:
    search = search_of(
        (1.0, run_of("saturated", full, 1.0)),
        (0.498, run_of("steady", 0.498, 0.498)),
        (0.502, run_of("saturated", 0.5, 0.502)),
        (0.75, run_of("saturated", halfway, 0.75)),
    )
    assert search.halfway == 0.75
    assert search.next() is None
    found = search.result().summary
    assert (found["accepted_load_halfway"], found["plateau_load"]) == (halfway, plateau)
    assert found["saturation_load"] == pytest.approx(0.5)


def test_saturation_is_no_more_than_the_senders_accept_of_any_load() -> None:
    """Half of the nodes send; of 1 they accept 0.4, of 0.48 they are short by chance."""
    half = {"generated_load": 0.2}
    search = search_of(
        (1.0, run_of("saturated", 0.2, 1.0, injected_load=0.2, node_injection_mean=0.4)),
        (0.45, run_of("steady", 0.21, 0.45, injected_load=0.2, node_injection_mean=0.4, **half)),
        (0.454, run_of("saturated", 0.205, 0.454, injected_load=0.2, node_injection_mean=0.4)),
    )
    assert search.saturation == pytest.approx(0.452)
    assert search.found == pytest.approx(0.21 / 0.5)


def test_of_a_load_that_offers_nothing_all_is_sustained() -> None:
    """As of a job whose nodes have a share of zero: nothing is refused."""
    search = search_of((1.0, run_of("saturated", 0.0, 0.0)), (0.1, run_of("steady", 0.0, 0.0)))
    assert search.saturation == pytest.approx(0.55)
    assert search.found == pytest.approx(0.55)


def test_the_load_of_a_job_is_judged_by_its_own_record() -> None:
    def both(of_all: str, *of_jobs: str) -> Result:
        result = run_of(of_all, 0.9, 1.0)
        result.jobs = [run_of(verdict, 0.1 * at, 0.1 * at).summary for at, verdict in enumerate(of_jobs)]
        return result

    run = both("saturated", "saturated", "steady", "saturated")
    assert search_of((1.0, run), wanted=Wanted(key="jobs.1.traffic.process.bernoulli.load")).keeps_up(1.0)
    for key in ("jobs.2.traffic.process.bernoulli.load", "load"):
        assert not search_of((1.0, run), wanted=Wanted(key=key)).keeps_up(1.0)
    keys = {"jobs.1.load": 1, "jobs.12.load": 12, "load": None, "x.jobs.1.load": None, "jobs.x.load": None}
    assert {key: Wanted(key).job for key in keys} == keys


RING: dict[str, Any] = {"topology": {"ring": {"routers": 4}}, "measure": {"warmup": 0, "cycles": 500}}


def document(**more: Any) -> Experiment:
    return Experiment.of({**RING, **more})


def test_a_document_says_what_is_searched_for() -> None:
    assert Wanted.of(document()) == Wanted("load", 1.0, 0.01, 3)
    stated = {"saturate": {"key": "load", "most": 0.5, "precision": 0.1, "seeds": 2}}
    assert Wanted.of(document(sweep=stated)) == Wanted("load", 0.5, 0.1, 2)
    asked = saturation.asking(document(sweep=stated), most=0.25, seeds=None)
    assert Wanted.of(asked) == Wanted("load", 0.25, 0.1, 2)
    for plain in (document(), document(sweep=stated)):
        assert saturation.asking(plain, most=None).saturate is not None
        assert Wanted.of(saturation.asking(plain)) == Wanted.of(plain)


def test_a_search_takes_ten_runs_with_each_seed() -> None:
    three, one = document(load=0.1), document(load=0.1, sweep={"saturate": {"seeds": 1}})
    swept = three.with_axes({"measure.seed": [4, 5]})
    for each, runs in ((three, 30), (one, 10), (swept, 10)):
        assert saturation.runs_of_search(each, each.points()) == runs


def test_the_points_of_a_search_are_those_with_its_greatest_load() -> None:
    def offered(experiment: Experiment) -> list[float]:
        configs = [json.loads(point.config) for point in saturation.points_of(experiment)]
        return [config["jobs"][0]["traffic"]["process"]["bernoulli"]["load"] for config in configs]

    plain = document(load=0.3)
    assert offered(plain) == [0.3]
    assert offered(saturation.asking(plain, most=0.5)) == [0.5]
    assert offered(saturation.asking(plain.with_axes({"load": [0.1, 0.2]}), most=0.5)) == [0.5]
    assert offered(saturation.asking(plain.with_axes({"routing": ["minimal"] * 2}))) == [1.0, 1.0]


class Network:
    """What stands for the simulator: a network whose knee depends on the seed, and what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, few_below: int = 0) -> None:
        self.asked: list[list[tuple[int, float, int, int]]] = []
        """In each round number, load, cycles and seed of each point."""
        self.points: list[Point] = []
        self.given: list[dict[str, Any]] = []
        self.few_below = few_below
        monkeypatch.setattr(saturation, "simulate", self.simulate)

    def simulate(self, points: Sequence[Point], workers: int, **given: Any) -> tuple[Results, Outcome]:
        self.given.append({"workers": workers, **given})
        self.points += points
        assert len(self.asked) < 100, "the search does not end"
        self.asked.append([])
        found: dict[int, Result] = {}
        for point in points:
            config = json.loads(point.config)
            measure, load = config["measure"], point.axes["load"]
            assert config["jobs"][0]["traffic"]["process"]["bernoulli"]["load"] == load
            self.asked[-1].append((point.index, load, measure["cycles"], measure["seed"]))
            run = shown(load, measure["seed"] / 10, 0.4)
            if measure["cycles"] < self.few_below:
                run = run_of("too few samples", 0.1, load, missing_cycles=1)
            run.summary["seed"] = measure["seed"]
            found[point.index] = Result({"config": config, "result": run.summary}, point.axes, {})
        return Results(found), Outcome()


def test_every_configuration_and_seed_is_searched_by_itself_a_load_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = Network(monkeypatch)
    found = hs.saturate(
        RING, {"measure.seed": 4}, most=0.5, precision=0.25, seeds=3, workers=3, progress=False
    )
    # Of seed 4 what full offer accepts is sustained, of seed 5 all, and of 6, too.
    assert network.asked == [
        [(0, 0.5, 500, 4), (1, 0.5, 500, 5), (2, 0.5, 500, 6)],
        [(3, 0.4, 500, 4)],
    ]
    assert network.given == [{"workers": 3, "progress": False, "store": None}] * 2
    assert [point.axes for point in network.points] == [
        {"measure.seed": seed, "load": load} for load, seed in ((0.5, 4), (0.5, 5), (0.5, 6), (0.4, 4))
    ]
    assert found.points == [0, 1, 2]
    assert [result.axes for result in found] == [{"measure.seed": seed} for seed in (4, 5, 6)]
    assert [result.summary["saturation_load"] for result in found] == [0.4, 0.5, 0.5]
    assert [result.summary["saturation_load_high"] for result in found] == [0.5, None, None]
    assert [result.summary["runs"] for result in found] == [2, 1, 1]
    assert [result.summary["seed"] for result in found] == [4, 5, 6]


def test_a_sweep_over_seeds_has_a_search_for_each_and_for_each_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = Network(monkeypatch)
    product = {"links.network.latency": [3, 5], "measure.seed": [5, 6], "load": [0.1, 0.2]}
    found = hs.saturate(RING, product=product, most=0.5, progress=False)
    assert [[number for number, *_ in asked] for asked in network.asked] == [[0, 1, 2, 3]]
    axes = [{"links.network.latency": latency, "measure.seed": seed} for latency in (3, 5) for seed in (5, 6)]
    assert [result.axes for result in found] == axes
    assert [result.config["links"]["network"]["latency"] for result in found] == [3, 3, 5, 5]
    assert [result.summary["seed"] for result in found] == [5, 6, 5, 6]


def test_points_are_labelled_as_the_document_says(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    swept: dict[str, Any] = {
        "product": {"links.network.latency": [3, 5]},
        "saturate": {"seeds": 1, "most": 0.1},
    }
    swept["labels"] = {"links.network.latency": ["near", "far"]}
    for result, name in zip(
        hs.saturate({**RING, "sweep": swept}, progress=False), ("near", "far"), strict=True
    ):
        assert result.labels == {"links.network.latency": name}
    assert [point.labels for point in network.points] == [
        {"links.network.latency": name} for name in ("near", "far")
    ]


def test_a_run_with_a_longer_window_has_the_number_of_the_one_it_stands_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = Network(monkeypatch, few_below=1500)
    (found,) = hs.saturate(RING, {"measure.seed": 4}, most=0.5, precision=0.25, seeds=1, progress=False)
    assert network.asked == [
        [(0, 0.5, 500, 4)],
        [(0, 0.5, 1000, 4)],
        [(0, 0.5, 2000, 4)],
        [(1, 0.4, 500, 4)],
        [(1, 0.4, 1000, 4)],
        [(1, 0.4, 2000, 4)],
    ]
    assert found.summary["runs"] == 6


def test_the_longest_window_is_no_longer_than_what_the_document_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for stop, longest in ((None, 500 * LONGEST), (3000, 3000), (500 * LONGEST + 1, 500 * LONGEST)):
        network = Network(monkeypatch, few_below=10**9)
        measure = {**RING["measure"], "seed": 4}
        if stop is not None:
            measure["stop"] = {"relative_ci": 0.1, "max_cycles": stop}
        hs.saturate({**RING, "measure": measure}, seeds=1, most=0.5, precision=0.25, progress=False)
        cycles = [cycles for asked in network.asked for _, load, cycles, _ in asked if load == 0.5]
        assert (cycles[0], cycles[-1]) == (500, longest)


def test_a_run_that_fails_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulate(points: Sequence[Point], workers: int, **_: Any) -> tuple[Results, Outcome]:
        return Results({0: run_of("steady", 1.0, 1.0)}), Outcome(failures={1: "a deadlock"})

    monkeypatch.setattr(saturation, "simulate", simulate)
    with pytest.raises(SweepError, match=r"^point 1: a deadlock$") as failed:
        hs.saturate(RING, progress=False)
    assert failed.value.results.points == [0]


def test_the_table_is_written_beside_the_runs(tmp_path: Path) -> None:
    found = hs.saturate(
        RING, seeds=1, most=0.3, precision=0.5, workers=1, out=tmp_path / "out", progress=False
    )
    (result,) = found
    (row,) = pq.read_table(tmp_path / "out" / "saturation.parquet").to_pylist()
    assert {name: row[name] for name in saturation.METRICS} == {
        name: result.summary[name] for name in saturation.METRICS
    }
    assert (tmp_path / "out" / "saturation.csv").exists()


def test_a_search_warns_of_networks_that_differ_by_default_and_of_draws_that_decide_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def warned(**more: Any) -> list[str]:
        Network(monkeypatch)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            hs.saturate({**RING, **more}, seeds=1, most=0.1, progress=False)
        messages = [str(warning.message) for warning in caught]
        assert all(message.startswith("<dict>: ") for message in messages)
        return messages

    assert warned() == []
    (drawn,) = warned(jobs=[{"placement": {"random_nodes": {"count": 4}}}])
    assert "jobs.0.placement.random_nodes.count = 4 takes all that there is to draw" in drawn
    topologies = [{"ring": {"routers": 4}}, {"dragonfly": {"p": 1, "a": 2, "h": 1}}]
    assert any("latenc" in text for text in warned(sweep={"product": {"topology": topologies}}))


def test_what_has_no_load_is_refused_with_the_reason() -> None:
    fabric = {
        "topology": {"fat_tree": {"k": 2, "levels": 1}},
        "router": "infiniband",
        "jobs": [{"flows": [{"source": 0, "destination": 1}]}],
    }
    program = {
        "topology": RING["topology"],
        "units": {"cycle": "1 ns", "phit": "4 B"},
        "jobs": [
            {"placement": {"list": [0, 1]}, "program": {"collective": {"kind": "barrier"}}},
            {"placement": {"list": [2, 3]}, "traffic": {"process": {"bernoulli": {"load": 0.1}}}},
        ],
    }
    listed: dict[str, Any] = {
        "topology": {"ring": {"routers": 4}},
        "jobs": [{"traffic": {"packet_list": [{"cycle": 1, "source": 0, "destination": 2}]}}],
    }
    key = "jobs.1.traffic.process.bernoulli.load"
    valid = "valid: nothing but jobs that draw packets, in a network other than a fabric"
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        # However the router is written.
        (
            fabric | {"router": {"infiniband": {}}},
            {},
            "a fabric has no load in phits/(node·cycle)",
        ),
        (fabric, {}, "a fabric has no load in phits/(node·cycle)"),
        (program, {"key": key}, "runs with programs end with these and have no verdict"),
        (listed, {}, "packets that are given one by one come when the list says"),
    ]
    for document, given, reason in cases:
        with pytest.raises(ConfigError) as refused:
            hs.saturate(document, progress=False, **given)
        assert str(refused.value) == f"<dict>: has no load to search: {reason}; {valid}"


def test_seeds_are_swept_or_counted() -> None:
    with pytest.raises(ConfigError) as refused:
        hs.saturate(RING, product={"measure.seed": [4, 5]}, seeds=2, progress=False)
    assert str(refused.value) == (
        "<dict>: sweep.saturate.seeds = 2: the sweep says which seeds; valid: 1 (a search for each seed of "
        "the sweep), or no measure.seed in the sweep"
    )


def test_a_key_that_takes_no_load_is_refused() -> None:
    with pytest.raises(ConfigError) as refused:
        hs.saturate(RING, key="routing", progress=False)
    text = str(refused.value)
    assert text.startswith("<dict>: sweep.saturate.key = 'routing': takes no load (routing")
    assert text.endswith("); valid: load, or the path of the load of a job")
    # What is wrong with something else is told as it is.
    with pytest.raises(ConfigError, match=r"^<dict>: topology\.ring\.routers"):
        hs.saturate({**RING, "topology": {"ring": {"routers": 0}}}, progress=False)
