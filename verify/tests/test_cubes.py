"""Verdicts on meshes, tori and trees."""

import pytest
from verify.cubes import NETWORKS, Fairness, table
from verify.disagreements import KNOWN, Known, known
from verify.published import disagreements
from verify.statistics import Sample

import hopsim as hs
from hopsim_reproduce.entries import ENTRIES
from hopsim_reproduce.model import Comparison, Fact, Measured, Outcome

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


def test_values_and_statements_that_disagree_are_named() -> None:
    values = [Comparison("row", name, Measured(1.0, 0.0, 1), 1.2, allowed=0.1) for name in ("a", "b")]
    values.append(Comparison("row", "c", Measured(1.0, 0.0, 1), 1.2))
    facts = [Fact("holds", "", "", True), Fact("does not", "", "", False)]
    assert list(disagreements(Outcome(values, facts))) == ["row, a", "row, b", "does not"]


def test_a_disagreement_is_known_by_entry_and_text() -> None:
    documented = (Known("izu-figure-6", "nodes 20 and 51", "because"),)
    assert known("izu-figure-6", "at saturation nodes 20 and 51 do better", documented) == "because"
    assert known("izu-figure-7", "at saturation nodes 20 and 51 do better", documented) is None
    assert known("izu-figure-6", "saturation is around 0.45", documented) is None


def test_known_disagreements_are_of_entries_and_say_what_is_known() -> None:
    for each in KNOWN:
        assert each.entry in {entry.name for entry in ENTRIES}
        assert each.reason.endswith(".")


def test_what_is_known_of_some_statements_excuses_no_other_of_their_entry() -> None:
    assert known("izu-section-4.1", "l = 2, load without congestion, l L / (H + N)") is None
    assert known("izu-section-4.1", "torus, neighbour: l = 4, below 8, takes longer than 12") is None
    assert known("izu-figure-4", "fat tree, adaptive: Age improves fairness, SAT more") is None
    assert known("ridruejo-figure-2", "32×32 torus, UN: LBR reduces the time of a burst") is None


def test_every_network_can_be_simulated_with_the_signal() -> None:
    for network in NETWORKS:
        control = {"sat": {"l": network.threshold, "k": network.threshold}}
        assert hs.run(network.document(1.0, control, (0, 200))).summary["packets_injected"] > 0
