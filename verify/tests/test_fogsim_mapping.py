"""FOGSim's settings become the right document."""

from typing import Any

import pytest
from verify import fogsim
from verify.rows import Row, parse_settings, read_runs, read_table17

import hopsim as hs

SETTINGS = (
    "ArbiterIterations=2 GlobalChannels=2 GlobalLinkTransmissionDelay=100 GlobalQueueLength=256 "
    "GlobalMisroutingPolicy=CRG InjectionChannels=3 InjectionDelay=1 InjectionQueueLength=256 "
    "InputArbiter=RR InternalSpeedup=2 LocalLinkChannels=4 LocalLinkTransmissionDelay=10 "
    "LocalQueueLength=32 OutQueueLength=32 OutputArbiter=PrioRR PacketSize=8 "
    "PalmTreeConfiguration=1 Switch=IOQ_SW Traffic=ADVc ValiantType=FULL XbarDelay=3 routing=OBL H=3"
)


def routing(**changes: str) -> dict[str, Any]:
    return fogsim.document(row(**changes))["routing"]


def virtual_channels(**changes: str) -> dict[str, Any]:
    return fogsim.document(row(**changes))["router"]["cioq"]["vcs"]


def row(**changes: str) -> Row:
    settings = {**parse_settings(SETTINGS), **changes}
    return Row("a row", "oblivious", settings, 0.4, 8000, 12000, {})


def test_oblivious_row_with_transit_priority() -> None:
    document = fogsim.document(row(), seed=7)
    assert document["topology"] == {"dragonfly": {"p": 3, "a": 6, "h": 3, "arrangement": "palmtree"}}
    assert document["routing"]["valiant"] == {
        "intermediate": "router",
        "policy": "crg",
        "intermediate_groups": "any",
        "intra_group": "global",
    }
    assert document["router"]["cioq"]["allocator"] == {
        "iterations": 2,
        "input_arbiter": "round_robin",
        "output_arbiter": "round_robin",
        "transit_priority": True,
    }
    assert document["measure"]["seed"] == 7


def test_advc_targets_one_group_less_than_h() -> None:
    traffic = fogsim.document(row())["jobs"][0]["traffic"]
    assert traffic["pattern"] == {"adversarial_consecutive": {"groups": 2}}
    assert traffic["process"] == {"bernoulli": {"load": 0.4}}


@pytest.mark.parametrize(
    ("routing", "intermediate", "intra_group"),
    [("VAL", "group", "minimal"), ("VAL_ANY", "router", "local")],
)
def test_valiant_variants(routing: str, intermediate: str, intra_group: str) -> None:
    valiant = fogsim.document(row(routing=routing))["routing"]["valiant"]
    assert (valiant["intermediate"], valiant["intra_group"]) == (intermediate, intra_group)


def test_input_queued_router_has_no_crossbar_settings() -> None:
    router = fogsim.document(row(Switch="BASE_SW"))["router"]["input_queued"]
    assert set(router) == {"vcs", "buffers", "allocator"}
    assert "output" not in router["buffers"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"VcUsage": "TBFLEX"}, None),
        ({"VcUsage": "FLEXIBLE"}, "FOGSim's own variant of FlexVC"),
        ({"Traffic": "UN_RCTV"}, None),
        ({"Traffic": "BURSTY_UN_RCTV"}, None),
        ({"Traffic": "HOTSPOT"}, "Traffic=HOTSPOT"),
        ({"routing": "OLM"}, None),
        ({"routing": "OFAR"}, "routing=OFAR"),
        ({"routing": "OLM", "MisroutingTrigger": "DUAL"}, "MisroutingTrigger=DUAL"),
        ({"CrossbarPortsPerInPort": "2"}, "input speedup"),
    ],
)
def test_what_cannot_run_is_named(changes: dict[str, str], reason: str | None) -> None:
    assert fogsim.unsupported(row(**changes).settings) == reason


def test_every_reference_row_is_readable_and_named_once() -> None:
    rows = [*read_runs(), *read_table17()]
    assert len({each.name for each in rows}) == len(rows)
    assert {fogsim.unsupported(each.settings) for each in rows} == {None, "input speedup"}


def test_every_document_of_a_reference_row_is_valid() -> None:
    for each in [*read_runs(), *read_table17()]:
        if fogsim.unsupported(each.settings) is None:
            hs.Experiment.of(fogsim.document(each)).points()


def test_ugal_compares_lengths_of_the_consecutive_arrangement() -> None:
    assert routing(routing="UGAL", ugal_local_threshold="5")["ugal"] == {
        "intermediate": "group",
        "policy": "rrg",
        "intra_group": "minimal",
        "threshold": 5,
        "path_lengths": "consecutive",
        "sticky": True,
    }


@pytest.mark.parametrize(
    ("changes", "intermediate", "policy"),
    [
        ({"routing": "PB", "GlobalMisroutingPolicy": "MM_L"}, "group", "rrg"),
        ({"routing": "PB_ANY", "GlobalMisroutingPolicy": "CRG"}, "router", "crg"),
    ],
)
def test_piggyback_variants(changes: dict[str, str], intermediate: str, policy: str) -> None:
    found = routing(**changes, piggybacking_coef="125", CongestionDetection="PER_PORT_MIN")["piggyback"]
    assert (found["intermediate"], found["policy"]) == (intermediate, policy)
    assert found["saturation"] == {"sensing": "port", "packets": "minimal", "factor": 1.25, "threshold": 5}


@pytest.mark.parametrize(
    ("changes", "recompute", "groups"),
    [
        ({"ValiantType": "SRCEXC"}, False, "other"),
        ({"ValiantType": "FULL_RECOMP"}, True, "any"),
        ({"ValiantType": "SRCEXC", "ResetValNode": "1"}, True, "other"),
    ],
)
def test_source_adaptive_detours(changes: dict[str, str], recompute: bool, groups: str) -> None:
    found = routing(routing="SRC_ADP", **changes)["source_adaptive"]
    assert (found["recompute"], found["intermediate_groups"]) == (recompute, groups)
    assert (found["longest_detour"], found["path_lengths"]) == (6, "consecutive")


@pytest.mark.parametrize(
    ("name", "policy", "local", "candidates"),
    [("OLM", "RRG_L", True, "one"), ("OLM", "NRG", False, "one"), ("PAR", "MM_L", True, "all")],
)
def test_in_transit_policies(name: str, policy: str, local: bool, candidates: str) -> None:
    found = routing(routing=name, GlobalMisroutingPolicy=policy)[name.lower()]
    assert (found["local_misrouting"], found["candidates"]) == (local, candidates)
    assert found["policy"] == policy.removesuffix("_L").lower()


def trigger(**changes: str) -> dict[str, Any]:
    return routing(**{"routing": "OLM", **changes})["olm"]["trigger"]


def test_congestion_trigger_has_the_defaults_of_missing_keys() -> None:
    assert trigger(MisroutingTrigger="CGA", CongestionDetection="PER_VC") == {
        "congestion": {
            "sensing": "vc",
            "packets": "all",
            "thresholds": "relative",
            "local_threshold": 100,
            "global_threshold": 100,
            "min_occupancy": 0,
            "restriction": {"factor": 1.5, "threshold": 5},
        }
    }


def test_contention_triggers() -> None:
    assert trigger(MisroutingTrigger="CA") == {"contention": {"threshold": 3}}
    assert trigger(MisroutingTrigger="CA", ContentionLocalThreshold="2") == {
        "contention": {"threshold": 3, "local_threshold": 2}
    }
    assert trigger(MisroutingTrigger="FILTERED", ContentionThreshold="6") == {
        "filtered": {"threshold": 6, "alpha": 0.5}
    }
    assert trigger(MisroutingTrigger="CA_REMOTE", ContentionThreshold="4", ContentionGlobalThreshold="6") == {
        "ectn": {"threshold": 4, "combined_threshold": 6, "period": 100, "message_length": 0}
    }
    hybrid = trigger(MisroutingTrigger="HYBRID", ContentionThreshold="8", PercentGlobalThreshold="55")
    assert hybrid["hybrid"]["threshold"] == 8
    assert hybrid["hybrid"]["congestion"]["global_threshold"] == 55


def test_flexvc_with_vcs_for_replies() -> None:
    settings = {"VcUsage": "TBFLEX", "VcAllocation": "HIGHEST_VC"}
    vcs = virtual_channels(**settings)
    assert vcs["management"] == {"flexvc": {"selection": "highest"}}
    assert "reply" not in vcs
    vcs = virtual_channels(**settings, LocalResChannels="2", GlobalResChannels="1")
    assert (vcs["local"], vcs["reply"]) == (4, {"local": 2, "global": 1})


@pytest.mark.parametrize(("reserve", "deadlock"), [("3", False), ("0", True)])
def test_damq_without_reserve_may_deadlock(reserve: str, deadlock: bool) -> None:
    changes = {"Buffer": "DYNAMIC", "ReservedBufferLocal": reserve, "ReservedBufferGlobal": "24"}
    assert fogsim.document(row(**changes))["router"]["cioq"]["buffers"]["damq"] == {
        "local_reserve": int(reserve),
        "global_reserve": 24,
        "allow_deadlock": deadlock,
    }


def test_bursts_of_requests() -> None:
    changes = {"Traffic": "BURSTY_UN_RCTV", "avgBurstLength": "5", "MaxPetitionsOnFlight": "8"}
    traffic = fogsim.document(row(**changes))["jobs"][0]["traffic"]
    assert traffic["pattern"] == "uniform"
    assert traffic["process"] == {"bursty": {"load": 0.4, "burst_length": 5}}
    assert traffic["request_reply"] == {"outstanding": 8}


def test_misrouted_loads_become_shares() -> None:
    found = next(each for each in read_runs() if each.name == "PAR h=3 ADV_RANDOM_NODE 0.55 12k seed 1")
    assert found.values["misrouted_fraction"] == pytest.approx(0.463172 / 0.518739)
