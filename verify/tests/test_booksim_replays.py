"""Virtual-channel routers against BookSim 2, packet by packet."""

from __future__ import annotations

import dataclasses

import pytest
from verify import booksim_replays
from verify.booksim_replays import Scenario

ALL = booksim_replays.read()


@pytest.mark.parametrize("scenario", ALL, ids=[scenario.name for scenario in ALL])
def test_every_packet_passes_in_the_same_cycles_as_in_booksim(scenario: Scenario) -> None:
    compared, differ, first = booksim_replays.compare(scenario)
    assert compared > 0
    assert (differ, first) == (0, "")


def test_a_packet_that_passes_in_another_cycle_is_told() -> None:
    scenario = next(each for each in ALL if each.name == "rp-mesh-base")
    packets = list(scenario.packets)
    assert packets[7].expected is not None
    late = (*packets[7].expected[:2], packets[7].expected[2] + 1, packets[7].expected[3])
    packets[7] = dataclasses.replace(packets[7], expected=late)
    compared, differ, first = booksim_replays.compare(dataclasses.replace(scenario, packets=packets))
    assert (compared, differ) == (500, 1)
    assert first.startswith("packet 7: ")


@pytest.mark.parametrize("stage", ["arrived", "routed", "vc_allocated", "granted", "departed"])
def test_a_flit_that_passes_a_stage_in_another_cycle_is_told(stage: str) -> None:
    scenario = next(each for each in ALL if each.name == "t01-default")
    flit = 0 if stage in {"routed", "vc_allocated"} else 3
    (wrong,) = (each for each in scenario.stages if (each.router, each.flit) == (1, flit))
    late = dataclasses.replace(wrong, **{stage: getattr(wrong, stage) + 1})
    other = (scenario.stages - {wrong}) | {late}
    assert booksim_replays.compare(dataclasses.replace(scenario, stages=other))[1] == 1


def test_there_are_scenarios_of_all_kinds() -> None:
    names = [scenario.name for scenario in ALL]
    assert len([name for name in names if name.startswith("rp-")]) >= 33
    assert len([name for name in names if name.startswith("t")]) >= 20
    assert "ss-mesh-u5" in names
