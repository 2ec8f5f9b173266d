"""FOGSim's settings as a hopsim document.

`unsupported` says why a row cannot be run yet; `document` writes the experiment of one that can.
A mechanism that hopsim learns loses its line in `unsupported` and gets one in the mapping.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verify.rows import Row

Settings = Mapping[str, str]
Document = dict[str, Any]

ARBITERS: dict[str, Any] = {
    "RR": "round_robin",
    "LRS": "least_recently_served",
    "AGE": {"age": {"timestamp": "generation"}},
}
INJECTION_VC = {"DEST": "destination", "RAND": "random"}
INTERMEDIATE_GROUPS = {"SRCEXC": "other", "FULL": "any"}
ROUTINGS = ("MIN", "VAL", "VAL_ANY", "OBL")
TRAFFICS = (
    "UN",
    "ADV_RANDOM_NODE",
    "ADVc",
    "BURSTY_UN",
    "UN_RCTV",
    "ADV_RANDOM_NODE_RCTV",
    "BURSTY_UN_RCTV",
)
BURSTY = "BURSTY_"
REACTIVE = "_RCTV"
PRIORITY = "Prio"

_ANOTHER_VALUE = {
    "VcUsage": ("BASE", "FlexVC"),
    "Buffer": ("SEPARATED", "DAMQ buffers"),
    "CrossbarPortsPerInPort": ("1", "input speedup"),
    "ResetValNode": ("0", "recomputed intermediate"),
    "NumberSegregatedTrafficFlows": ("1", "segregated ejection queues"),
    "CosLevels": ("1", "classes of service"),
}
"""Key -> (the only value that is mapped, what any other value asks for)."""


def unsupported(settings: Settings) -> str | None:
    """What the settings ask for that hopsim or this mapping does not have; None if they can run."""
    traffic, routing = settings["Traffic"], settings["routing"]
    if routing in {"SRC_ADP", "OLM", "PAR", "UGAL", "PB", "PB_ANY"}:
        return "adaptive routing"
    for key, (value, name) in _ANOTHER_VALUE.items():
        if settings.get(key, value) != value:
            return name
    if traffic not in TRAFFICS:
        return f"Traffic={traffic}"
    if routing not in ROUTINGS:
        return f"routing={routing}"
    return None


def document(row: Row, seed: int = 1) -> Document:
    """The experiment of a row, with another seed than the reference's own."""
    settings = row.settings
    h = int(settings["H"])
    return {
        "compat": "fogsim",
        "topology": {"dragonfly": _dragonfly(settings, h)},
        "links": _links(settings),
        "router": _router(settings),
        "routing": _routing(settings),
        "nic": {"injection_vc": INJECTION_VC[settings.get("VcInjectionPolicy", "DEST")]},
        "jobs": [{"traffic": _traffic(settings, h, row.offered_load)}],
        "measure": {
            "warmup": row.warmup,
            "cycles": row.cycles,
            "seed": seed,
            "streams": ["routers"],
        },
    }


def _dragonfly(settings: Settings, h: int) -> Document:
    palmtree = settings.get("PalmTreeConfiguration", "1") == "1"
    return {"p": h, "a": 2 * h, "h": h, "arrangement": "palmtree" if palmtree else "consecutive"}


def _links(settings: Settings) -> Document:
    return {
        "injection": {"latency": int(settings["InjectionDelay"])},
        "local": {"latency": int(settings["LocalLinkTransmissionDelay"])},
        "global": {"latency": int(settings["GlobalLinkTransmissionDelay"])},
    }


def _router(settings: Settings) -> Document:
    router: Document = {
        "vcs": {
            "local": int(settings["LocalLinkChannels"]),
            "global": int(settings["GlobalChannels"]),
            "injection": int(settings["InjectionChannels"]),
        },
        "buffers": {
            "local": int(settings["LocalQueueLength"]),
            "global": int(settings["GlobalQueueLength"]),
            "injection": int(settings["InjectionQueueLength"]),
        },
        "allocator": _allocator(settings),
    }
    if settings.get("Switch", "BASE_SW") == "BASE_SW":
        return {"input_queued": router}
    router["buffers"]["output"] = int(settings["OutQueueLength"])
    router["speedup"] = float(settings.get("InternalSpeedup", "1"))
    router["crossbar_latency"] = int(settings["XbarDelay"])
    return {"cioq": router}


def _allocator(settings: Settings) -> Document:
    """Priority exists at the output stage only; FOGSim's input stage ignores it too."""
    inputs = settings.get("InputArbiter", "LRS")
    outputs = settings.get("OutputArbiter", "PrioLRS")
    return {
        "iterations": int(settings["ArbiterIterations"]),
        "input_arbiter": ARBITERS[inputs.removeprefix(PRIORITY)],
        "output_arbiter": ARBITERS[outputs.removeprefix(PRIORITY)],
        "transit_priority": outputs.startswith(PRIORITY),
    }


def _routing(settings: Settings) -> Document:
    """FOGSim's Valiant variants.

    VAL goes to a group and leaves traffic within a group minimal; VAL_ANY goes to a router, of the
    own group if the destination is there; OBL picks the router by its global misrouting policy.
    """
    routing = settings["routing"]
    if routing == "MIN":
        return {"minimal": {}}
    if routing == "VAL":
        return {"valiant": {"intermediate": "group", "policy": "rrg", "intra_group": "minimal"}}
    if routing == "VAL_ANY":
        return {"valiant": {"intermediate": "router", "policy": "rrg", "intra_group": "local"}}
    reached = settings.get("ValiantMisroutingDestination", "NODE")
    return {
        "valiant": {
            "intermediate": "router" if reached == "NODE" else "group",
            "policy": settings["GlobalMisroutingPolicy"].lower(),
            "intermediate_groups": INTERMEDIATE_GROUPS[settings.get("ValiantType", "SRCEXC")],
            "intra_group": "global",
        }
    }


def _traffic(settings: Settings, h: int, load: float) -> Document:
    name = settings["Traffic"]
    traffic: Document = {
        "pattern": _pattern(settings, h),
        "process": {"bernoulli": {"load": load}},
        "packet_length": int(settings["PacketSize"]),
    }
    if name.startswith(BURSTY):
        length = float(settings["avgBurstLength"])
        traffic["process"] = {"bursty": {"load": load, "burst_length": length}}
    if name.endswith(REACTIVE):
        traffic["request_reply"] = {}
    return traffic


def _pattern(settings: Settings, h: int) -> Any:
    """FOGSim draws ADVc from h-1 groups, not from the h of the papers' text."""
    traffic = settings["Traffic"].removeprefix(BURSTY).removesuffix(REACTIVE)
    if traffic == "UN":
        return "uniform"
    if traffic == "ADVc":
        return {"adversarial_consecutive": {"groups": max(h - 1, 1)}}
    return {"adversarial": {"offset": int(settings["AdvTrafficDistance"])}}
