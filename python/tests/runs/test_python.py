"""The Python interface, as in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hopsim as hs
from conftest import SWEEP, TINY
from hopsim import _core
from hopsim.cli import main


def in_a_notebook(shown: Any) -> str:
    return shown._repr_html_()


def test_run_returns_summary_and_tables() -> None:
    result = hs.run(TINY, load=0.4)
    assert result.summary["offered_load"] == pytest.approx(0.4, rel=0.5)
    assert result.nodes.num_rows == 6
    assert result.routers.num_rows == 6
    assert result.timeseries.num_rows >= 100
    packets = result.latency_histogram.column("packets").to_numpy()
    assert packets.sum() == result.summary["packets_delivered"]
    assert result.axes == {}
    assert "accepted_load" in in_a_notebook(result)
    assert "accepted_load" in repr(result)


@pytest.mark.parametrize(("cycles", "interval"), [(400, 4), (1000, 10), (199, 1), (250, 2), (50, 1)])
def test_the_time_series_has_a_hundredth_of_the_window_per_row(cycles: int, interval: int) -> None:
    result = hs.run(TINY, {"measure.cycles": cycles})
    assert result.config["measure"]["interval"] == interval
    starts = result.timeseries.column("cycle").to_pylist()
    assert starts == list(range(0, 100 + cycles, interval))
    stated = hs.run(TINY, {"measure.cycles": cycles, "measure.interval": 25})
    assert stated.config["measure"]["interval"] == 25


def test_run_takes_dotted_values() -> None:
    assert hs.run(TINY, {"measure.seed": 9}).summary["seed"] == 9


def test_run_records_what_the_document_says() -> None:
    result = hs.run(TINY + 'streams = ["links"]\n')
    assert result.links.num_rows > 0
    assert result.timeseries.num_rows > 0
    with pytest.raises(
        hs.NotRecordedError, match=r'nodes was not recorded; set measure.streams = \["nodes"\]'
    ):
        _ = result.nodes


def test_run_refuses_a_sweep() -> None:
    with pytest.raises(hs.ConfigError, match=r"has a sweep of 12 points; use hopsim.sweep\(\)"):
        hs.run(SWEEP, {"measure.streams": []})


def test_errors_of_the_simulator_are_config_errors() -> None:
    with pytest.raises(hs.ConfigError, match=r"<text>: load = 1.5 \(override\): "):
        hs.run(TINY, load=1.5)


def test_errors_in_a_dictionary_name_no_line() -> None:
    with pytest.raises(hs.ConfigError, match=r"^<dict>: topology\.dragonfly\.h: is missing"):
        hs.run({"topology": {"dragonfly": {"p": 1, "a": 2}}})


def test_what_is_no_experiment_is_refused() -> None:
    with pytest.raises(hs.ConfigError, match=r"^3: an experiment is a path, .*, not int"):
        hs.run(3)  # pyright: ignore[reportArgumentType]


def test_an_unknown_column_is_refused_with_a_suggestion() -> None:
    with pytest.raises(KeyError, match="accepted_loads: no such column; did you mean accepted_load"):
        _ = hs.sweep(TINY)["accepted_loads"]


def test_sweep_gives_a_table_in_point_order() -> None:
    results = hs.sweep(TINY, load=[0.1, 0.2], product={"measure.seed": [1, 2, 3]}, workers=2)
    assert len(results) == 6
    assert results["measure.seed"].to_pylist() == [1, 1, 2, 2, 3, 3]
    assert results["load"].to_pylist() == [0.1, 0.2] * 3
    assert isinstance(results.table, pa.Table)
    assert results.column_names[:3] == ["point", "measure.seed", "load"]
    assert results[0].summary.items() <= results.to_pylist()[0].items()
    assert [result.axes["load"] for result in results[1:3]] == [0.2, 0.1]
    assert "<table>" in in_a_notebook(results)


def test_points_of_the_same_configuration_are_reported_once_each() -> None:
    results = hs.sweep(TINY, load=[0.1, 0.1])
    assert len(results) == 2
    assert results[0].summary == results[1].summary


def test_sweep_stores_and_load_reads_back(tmp_path: Path) -> None:
    results = hs.sweep(SWEEP, out=tmp_path / "d", workers=2)
    stored = hs.load(tmp_path / "d")
    assert stored.table.equals(results.table)
    assert stored[3].routers.equals(results[3].routers)
    assert set(stored.recorded) == {"nodes", "routers", "links", "timeseries", "latency_histogram", "batches"}
    assert stored.stream("nodes").num_rows == 12 * 6
    assert hs.sweep(SWEEP, out=tmp_path / "d").table.equals(results.table)


def test_load_refuses_what_is_no_results_directory(tmp_path: Path) -> None:
    with pytest.raises(hs.ConfigError, match=r"holds no manifest\.json"):
        hs.load(tmp_path)
    with pytest.raises(hs.ConfigError, match="is not a directory"):
        hs.load(tmp_path / "none")


def test_axes_of_structured_values_become_text() -> None:
    results = hs.sweep(TINY, product={"routing": ["minimal", {"valiant": {"policy": "crg"}}]})
    assert results["routing"].to_pylist() == ["minimal", '{"valiant":{"policy":"crg"}}']
    assert "<td>valiant (policy=crg)</td>" in in_a_notebook(results)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations with seed 2 end in a deadlock."""
    run = _core.run

    def fail(config: str, monitor: _core.Monitor, threads: int = 1) -> _core.Run:
        if '"seed":2' in config:
            raise hs.RunError("deadlock at cycle 5")
        return run(config, monitor, threads)

    monkeypatch.setattr(_core, "run", fail)


@pytest.mark.usefixtures("failing")
def test_a_failed_point_does_not_stop_the_others() -> None:
    with pytest.raises(hs.SweepError, match="point 1: deadlock at cycle 5") as caught:
        hs.sweep(TINY, product={"measure.seed": [1, 2, 3]}, workers=1)
    assert caught.value.results.points == [0, 2]
    assert caught.value.failures == {1: "deadlock at cycle 5"}
    with pytest.raises(hs.RunError, match=r"^deadlock at cycle 5$"):
        hs.run(TINY, {"measure.seed": 2})


@pytest.mark.usefixtures("failing")
def test_a_failed_point_gives_exit_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.toml").write_text(TINY + '[sweep]\nproduct = { "measure.seed" = [1, 2, 3] }\n')
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(tmp_path / "e.toml"), "--json", "-"])
    assert stopped.value.code == 1
    streams = capsys.readouterr()
    assert len(streams.out.splitlines()) == 2
    assert streams.err == "hopsim: point 1: deadlock at cycle 5\n"


def test_a_slice_of_results_keeps_the_numbers_of_its_points() -> None:
    record: dict[str, Any] = {"config": {}, "result": {"seed": 1}}
    table = pa.table({"node": [0]})
    results = hs.Results(
        {number: hs.Result(record, {"load": number}, {"nodes": table}) for number in (2, 5, 7, 8)}
    )
    part = results[1:3]
    assert part.points == [5, 7]
    assert part.table.column("point").to_pylist() == [5, 7]
    assert part.stream("nodes").column("point").to_pylist() == [5, 7]
    assert [result.axes["load"] for result in part] == [5, 7]
    assert results[::-1].points == [2, 5, 7, 8]
