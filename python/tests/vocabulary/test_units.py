"""Names and units of columns and keys, as the axes of figures have them."""

from __future__ import annotations

import math

import pytest

from hopsim.vocabulary.units import (
    abbreviation_of,
    range_of_column,
    unit_of_column,
    unit_of_key,
    with_unit,
    words,
)


@pytest.mark.parametrize(
    ("name", "unit", "text"),
    [
        ("offered load", "phits/(node·cycle)", "Offered load [phits/(node·cycle)]"),
        ("jain index", "", "Jain index"),
        ("buffers.network", "phits", "buffers.network [phits]"),
    ],
)
def test_an_axis_has_a_name_and_its_unit(name: str, unit: str, text: str) -> None:
    assert with_unit(name, unit) == text


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("packet_latency_p99", "packet latency p99"),
        ("packet_latency_mean_ns", "packet latency mean"),
        ("throughput_gbps", "throughput"),
        ("execution_time_s", "execution time"),
        ("cycles_s_more", "cycles s more"),
    ],
)
def test_a_column_in_words_has_no_unit(column: str, text: str) -> None:
    assert words(column) == text


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("accepted_load", "phits/(node·cycle)"),
        ("throughput_gbps", "Gb/s"),
        ("jain_index", ""),
        ("nonsense", ""),
    ],
)
def test_a_column_has_the_unit_that_the_simulator_says(column: str, unit: str) -> None:
    assert unit_of_column(column) == unit


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("load", "phits/(node·cycle)"),
        ("jobs.0.traffic.packet_length", "phits"),
        ("jobs.12.traffic.packet_length", "phits"),
        ("links.local.latency", "cycles"),
        ("router.cioq.buffers.local", "phits"),
        ("topology.dragonfly.p", ""),
        ("measure.seed", ""),
        ("routing", ""),
        ("nonsense.of.mine", ""),
    ],
)
def test_a_key_has_the_unit_of_its_documentation(path: str, unit: str) -> None:
    assert unit_of_key(path) == unit


def test_shares_lie_between_none_and_all() -> None:
    for name in ("jain_index", "misrouted_fraction", "source_stall_fraction"):
        assert range_of_column(name) == (0.0, 1.0)
    for name in ("accepted_load", "fraction", "execution_time"):
        assert range_of_column(name) == (-math.inf, math.inf)


def test_a_choice_has_the_first_short_name_of_the_papers() -> None:
    assert abbreviation_of("jobs.traffic.pattern.adversarial_consecutive") == "ADVc"
    assert abbreviation_of("jobs.traffic.pattern.hotspot") == ""
    assert abbreviation_of("jobs.traffic.pattern.nonsense") == ""
