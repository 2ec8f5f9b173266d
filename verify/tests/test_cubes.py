"""Verdicts on meshes, tori and trees."""

from dataclasses import replace

import pytest
from verify.cubes import NETWORKS, Fairness, table
from verify.statistics import Sample

import hopsim as hs
from hopsim_reproduce.sentences import sentence

NETWORK = NETWORKS[0]
STEADY = Sample(20.0, 0.5, 5)


def fairness(apart: float = 0.001, with_signal: float = 20.0) -> Fairness:
    return Fairness(NETWORK, apart, 0.4, STEADY, Sample(with_signal, 0.5, 5))


@pytest.mark.parametrize(
    ("found", "verdicts"),
    [
        (fairness(), (True, True)),
        (fairness(apart=0.011), (False, True)),
        (fairness(with_signal=21.0), (True, True)),
        (fairness(with_signal=22.0), (True, False)),
    ],
)
def test_sat_needs_equal_shares_and_a_latency_within_the_spread(
    found: Fairness, verdicts: tuple[bool, bool]
) -> None:
    assert found.verdicts == verdicts
    assert table([found]).row_count == 1


def test_a_latency_that_changes_is_excused_where_what_is_known_is_said_and_unequal_shares_nowhere() -> None:
    (network,) = (network for network in NETWORKS if network.known)
    slower = fairness(with_signal=22.0)
    assert not slower.is_known
    assert replace(slower, network=network).is_known
    assert not replace(fairness(apart=0.011), network=network).is_known


def test_what_is_known_of_some_statements_excuses_no_other_of_their_entry() -> None:
    for entry, text in (
        ("izu-section-4.1", "l = 2, load without congestion, l L / (H + N)"),
        ("izu-section-4.1", "torus, neighbour: l = 4, below 8, takes longer than 12"),
        ("izu-figure-4", "fat tree, adaptive: Age improves fairness, SAT more"),
        ("izu-figure-4", "RR, adaptive, transpose: the mesh is the least fair"),
        ("ridruejo-figure-2", "32×32 torus, UN: LBR reduces the time of a burst"),
    ):
        assert sentence(entry, text).known(text) == ""
    text = "32×32 torus, HR: LBR reduces the time of a burst"
    assert sentence("ridruejo-figure-2", text).known(text)


def test_every_network_can_be_simulated_with_the_signal() -> None:
    for network in NETWORKS:
        control = {"sat": {"l": network.threshold, "k": network.threshold}}
        assert hs.run(network.document(1.0, control, (0, 200))).summary["packets_injected"] > 0
