"""The comparison of transients on made-up runs."""

import math

import pytest
from verify import transients
from verify.transients import Bin, Transient

import hopsim as hs

CYCLES = (-20, 0, 20)
SEEDS = 10


def transient(label: str = "OLM-CA", **changes: float) -> Transient:
    value = Bin(**{"packets": 500.0, "latency": 200.0, "share": 0.5, **changes})
    return Transient(label, "base", dict.fromkeys(CYCLES, value))


def runs(latency: float = 200.0, share: float = 0.5, spread: float = 0.02) -> list[dict[int, Bin]]:
    """Seeds whose latency is spread symmetrically around its mean."""
    offsets = [spread * (2 * seed / (SEEDS - 1) - 1) for seed in range(SEEDS)]
    return [dict.fromkeys(CYCLES, Bin(170.0, latency * (1 + offset), share)) for offset in offsets]


def verdicts(reference: Transient, own: list[dict[int, Bin]]) -> dict[str, bool]:
    return {curve.quantity: curve.agrees for curve in transients.compare(reference, own)}


def test_equal_curves_agree() -> None:
    assert verdicts(transient(), runs()) == {"latency": True, "misrouted": True}


def test_latency_is_judged_by_the_spread_of_seeds() -> None:
    assert not verdicts(transient(), runs(220.0, spread=0.01))["latency"]
    assert verdicts(transient(), runs(220.0, spread=0.2))["latency"]


def test_rare_misrouting_has_the_spread_of_chance() -> None:
    assert verdicts(transient(share=0.002), runs(share=0.0))["misrouted"]
    assert not verdicts(transient(share=0.2), runs(share=0.0))["misrouted"]


def test_a_difference_without_any_spread_is_infinite() -> None:
    latency, _ = transients.compare(transient(latency=100.0), runs(spread=0.0))
    assert latency.worst[0].z == math.inf


def test_overcounted_share_is_only_reported() -> None:
    curves = transients.compare(transient("SRC-RRG"), runs())
    assert [curve.judged for curve in curves] == [True, False]


def test_reference_covers_labels_and_buffers() -> None:
    found = transients.read()
    assert {each.label for each in found} == set(transients.ROWS)
    assert {each.buffers for each in found} == set(transients.BUFFERS)
    assert all(min(each.bins) == -100 and len(each.bins) == 55 for each in found)


@pytest.mark.parametrize("each", transients.read(), ids=lambda each: each.name)
def test_document_changes_the_pattern_after_the_warm_up(each: Transient) -> None:
    document = transients.document(each)
    (job,) = document["jobs"]
    assert job["traffic"]["pattern"] == "uniform"
    assert job["traffic"]["changes"] == [{"cycle": 6000, "pattern": "ADV+1"}]
    assert document["measure"]["interval"] == 20
    buffers = document["router"]["cioq"]["buffers"]
    assert buffers["local"] == (32 if each.buffers == "base" else 256)
    trigger = document["routing"].get("olm", {}).get("trigger", {})
    assert all(choice.get("threshold", 4) == 4 for choice in trigger.values())


def test_documents_are_valid() -> None:
    for each in transients.read():
        hs.Experiment.of(transients.document(each)).points()
