"""FOGSim's settings become the right document."""

import pytest
from verify import fogsim
from verify.rows import Row, parse_settings, read_runs, read_table17

SETTINGS = (
    "ArbiterIterations=2 GlobalChannels=2 GlobalLinkTransmissionDelay=100 GlobalQueueLength=256 "
    "GlobalMisroutingPolicy=CRG InjectionChannels=3 InjectionDelay=1 InjectionQueueLength=256 "
    "InputArbiter=RR InternalSpeedup=2 LocalLinkChannels=4 LocalLinkTransmissionDelay=10 "
    "LocalQueueLength=32 OutQueueLength=32 OutputArbiter=PrioRR PacketSize=8 "
    "PalmTreeConfiguration=1 Switch=IOQ_SW Traffic=ADVc ValiantType=FULL XbarDelay=3 routing=OBL H=3"
)


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


def test_bursts_and_replies() -> None:
    changed = row(Traffic="BURSTY_UN_RCTV", avgBurstLength="5")
    traffic = fogsim.document(changed)["jobs"][0]["traffic"]
    assert traffic["pattern"] == "uniform"
    assert traffic["process"] == {"bursty": {"load": 0.4, "burst_length": 5.0}}
    assert traffic["request_reply"] == {}


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
        ({"VcUsage": "TBFLEX"}, "FlexVC"),
        ({"Buffer": "DYNAMIC"}, "DAMQ buffers"),
        ({"Traffic": "UN_RCTV"}, None),
        ({"Traffic": "BURSTY_UN"}, None),
        ({"Traffic": "HOTREGION_RCTV"}, "Traffic=HOTREGION_RCTV"),
        ({"routing": "OLM"}, "adaptive routing"),
        ({"CrossbarPortsPerInPort": "2"}, "input speedup"),
    ],
)
def test_what_cannot_run_is_named(changes: dict[str, str], reason: str | None) -> None:
    assert fogsim.unsupported(row(**changes).settings) == reason


def test_every_reference_row_is_readable_and_named_once() -> None:
    rows = [*read_runs(), *read_table17()]
    assert len({each.name for each in rows}) == len(rows)
    for each in rows:
        if fogsim.unsupported(each.settings) is None:
            assert fogsim.document(each)["jobs"]
