"""What somebody meets who tries commands for the first time: answers that help, tables in one piece."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.table import Table

import hopsim as hs
from hopsim.cli import cli
from hopsim.cli.console import PIPE_WIDTH, print_table, stdout
from hopsim.errors import ConfigError, NotRecordedError
from hopsim.metrics.summary_table import summary_table
from hopsim.runs.checking import size_of
from hopsim.vocabulary.catalogue import Catalogue

MESH = """
topology.mesh.sides = [3, 3]
load = 0.1

[[jobs]]
traffic.pattern = "uniform"

[measure]
warmup = 100
cycles = 2000
"""


def document(directory: Path, more: str = "") -> str:
    path = directory / "mesh.toml"
    path.write_text(MESH + more, "utf-8")
    return str(path)


def command(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_why_says_first_that_no_point_has_what_it_needs(tmp_path: Path) -> None:
    experiment = document(tmp_path, '[sweep.product]\n"measure.seed" = [1, 2]\n')
    hs.sweep(experiment, out=tmp_path / "results", progress=False)
    error = command("why", str(tmp_path / "results")).exception
    assert isinstance(error, NotRecordedError)
    assert "--set measure.interval=" in str(error)


def test_why_asks_for_a_point_if_one_of_them_has_what_it_needs(tmp_path: Path) -> None:
    more = '[sweep.product]\n"measure.streams" = [[], ["link_series", "congestion_trees"]]\n'
    hs.sweep(document(tmp_path, more), {"measure.interval": 100}, out=tmp_path / "results", progress=False)
    error = command("why", str(tmp_path / "results")).exception
    assert isinstance(error, ConfigError)
    assert "--point" in str(error)


def test_reprs_tell_the_verdict(tmp_path: Path) -> None:
    results = hs.sweep(document(tmp_path), {"measure.cycles": 20_000}, load=[0.05, 0.9], progress=False)
    verdicts = [result.summary["verdict"] for result in results]
    assert all(verdicts)
    for result, verdict in zip(results, verdicts, strict=True):
        assert f"verdict={verdict})" in repr(result)
        assert f"<th>verdict</th><td>{verdict}</td>" in result._repr_html_()  # pyright: ignore[reportPrivateUsage]
        assert f"<td>{verdict}</td>" in results._repr_html_()  # pyright: ignore[reportPrivateUsage]
    told = ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).items())
    assert repr(results).endswith(f"verdicts: {told})")


def test_a_search_with_swept_seeds_takes_one_run_each(tmp_path: Path) -> None:
    more = '[sweep.product]\n"measure.seed" = [3, 5]\n'
    experiment = hs.Experiment.open(document(tmp_path, more))
    found = hs.saturate(experiment, seeds=1, precision=0.5, progress=False)
    assert [result.summary["seed"] for result in found] == [3, 5]
    with pytest.raises(ConfigError, match="valid: 1 "):
        hs.saturate(experiment, seeds=2, progress=False)


def test_a_search_of_a_fabric_names_no_key_that_nobody_gave() -> None:
    with pytest.raises(ConfigError, match="a fabric has no load") as refused:
        hs.saturate("infiniband_uniform", progress=False)
    assert "override" not in str(refused.value)


def test_a_zipped_key_without_names_has_no_column(tmp_path: Path) -> None:
    more = """
[sweep.zip]
"topology.mesh.sides" = [[3, 3], [4, 4]]
"measure.watchdog" = [5000, 6000]
[sweep.labels]
"measure.watchdog" = ["", ""]
"""
    table = summary_table(hs.sweep(document(tmp_path, more), progress=False))
    headings = [str(column.header) for column in table.columns]
    assert "sides" in headings
    assert "watchdog" not in headings


def test_a_key_that_alone_tells_points_apart_keeps_its_names(tmp_path: Path) -> None:
    for names, axes in (
        ('"load" = ["", ""]', '[sweep.product]\n"load" = [0.1, 0.2]'),
        ('"load" = ["", ""]', '[sweep.zip]\n"load" = [0.1, 0.2]'),
        (
            '"load" = ["", ""]\n"measure.seed" = ["", ""]',
            '[sweep.zip]\n"load" = [0.1, 0.2]\n"measure.seed" = [1, 2]',
        ),
    ):
        with pytest.raises(ConfigError, match="two values have the name"):
            hs.Experiment.open(document(tmp_path, f"{axes}\n[sweep.labels]\n{names}\n")).points()


def test_a_table_elsewhere_than_in_a_terminal_breaks_no_row(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(*("a heading of a column" for _ in range(12)), box=None)
    table.add_row(*("some words in a cell" for _ in range(12)))
    print_table(stdout(), table)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert len(lines[0]) > PIPE_WIDTH


def test_keys_of_a_table_that_may_be_left_out_have_its_default() -> None:
    catalogue = Catalogue()
    rows = {row.name: row.default for row in catalogue.parameters(catalogue.nodes["links"])}
    assert rows == {
        "injection.latency": "1",
        "ejection.latency": "1 cycle",
        "local.latency": "10 cycles",
        "global.latency": "100 cycles",
        "network.latency": "1 cycle",
        "rail.latency": "1 cycle",
    }


def test_columns_and_kinds_of_figures_are_suggested(tmp_path: Path) -> None:
    hs.sweep(document(tmp_path), out=tmp_path / "results", load=[0.1], progress=False)
    column = command("plot", str(tmp_path / "results"), "--y", "p99").exception
    assert "did you mean packet_latency_p99?" in str(column)
    assert (
        "did you mean latency_load?" in command("plot", str(tmp_path / "results"), "--kind", "latncy").output
    )


def test_a_choice_written_as_the_value_of_a_key_is_told_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        hs.run(document(tmp_path), {"jobs.0.traffic.pattern": {"permutation": {"kind": "transpse"}}})
    assert 'did you mean `permutation = "transpose"`?' in str(refused.value)


def test_management_is_refused_with_what_it_is_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="they need none: every hop may use every VC") as refused:
        hs.run(document(tmp_path), {"router.cioq.vcs.management": "flexvc"})
    assert "topology.dragonfly" in str(refused.value)


def test_json_that_cannot_be_written_claims_no_directory(tmp_path: Path) -> None:
    out = tmp_path / "results"
    ended = command("run", document(tmp_path), "--json", str(tmp_path / "none" / "x"), "--out", str(out))
    assert isinstance(ended.exception, ConfigError)
    assert not out.exists()


@pytest.mark.parametrize(
    ("megabytes", "text"),
    [
        (3.2, "about 3 MB"),
        (99.6, "about 100 MB"),
        (123, "about 120 MB"),
        (999, "about 1 GB"),
        (1340, "about 1.3 GB"),
        (99_700, "about 100 GB"),
        (1_240_000, "about 1,200 GB"),
    ],
)
def test_sizes_have_two_digits_and_no_exponent(megabytes: float, text: str) -> None:
    assert size_of(megabytes) == text
