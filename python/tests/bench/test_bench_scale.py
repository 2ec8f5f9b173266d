"""The speed-up that `hopsim bench scale` expects."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from hopsim.bench import scale
from hopsim.bench.cli import command
from hopsim.document.experiment import Experiment


def test_threads_share_equal_work() -> None:
    windows = [[0.01] * 8] * 3
    for threads in (1, 2, 4, 8):
        assert scale.speed_up(windows, threads) == pytest.approx(threads, rel=0.01)
    assert scale.speed_up(windows, 16) == pytest.approx(8, rel=0.02)


def test_nobody_is_faster_than_the_longest_region() -> None:
    windows = [[0.09, 0.01, 0.01, 0.01]] * 5
    assert scale.speed_up(windows, 4) == pytest.approx(0.12 / 0.09, rel=0.01)


def test_threads_take_over_what_others_have_left() -> None:
    # By the work of the window before the first of two threads would have all that is left.
    windows = [[0.01, 0.01, 0.01, 0.03], [0.02, 0.02, 0.02, 0.0]]
    assert scale.speed_up(windows[1:] * 2, 2) == pytest.approx(0.12 / 0.08, rel=0.01)


def test_meetings_limit_short_windows() -> None:
    windows = [[1e-6] * 4] * 10
    assert scale.speed_up(windows, 4) < 1


def test_times_are_those_that_the_runner_prints() -> None:
    output = '{ "seed": 1 }\npacket_hops 12\nwindow 1000 2500\nwindow 500 0\n'
    assert scale.times(output) == [[1e-6, 2.5e-6], [5e-7, 0.0]]


def test_an_unknown_case_is_answered_with_those_there_are() -> None:
    result = CliRunner().invoke(command, ["scale", "--case", "hypercube"])
    assert result.exit_code == 2
    assert "dragonfly of 16,512 nodes" in result.output


def test_every_simulation_is_a_valid_document() -> None:
    for each in scale.scaled():
        assert len(Experiment.of(each.experiment).points()) == 1, each.name
