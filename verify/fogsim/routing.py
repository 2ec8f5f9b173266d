"""Routing mechanisms, as FOGSim version 5 does them: a function each, and a row in `MECHANISMS`.

Version 5 counts the lengths of the paths that UGAL and piggyback compare with the formulas of the
consecutive arrangement, whatever the arrangement is, and OLM looks at one output drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from verify.fogsim.settings import Document, Settings, decimal, integer, percent

RECOMPUTE = "_RECOMP"
LOCAL = "_L"
"""Suffix of a misrouting policy: local misrouting in OLM and PAR, detours inside the own group in others."""

INTERMEDIATE_GROUPS = {"SRCEXC": "other", "FULL": "any"}
SENSINGS = {
    "PER_VC": ("vc", "all"),
    "PER_PORT": ("port", "all"),
    "PER_VC_MIN": ("vc", "minimal"),
    "PER_PORT_MIN": ("port", "minimal"),
}
"""CongestionDetection -> what is looked at, and which packets count."""

ECTN_PERIOD = 100
"""Cycles between two broadcasts, fixed in FOGSim."""


def routing(settings: Settings) -> Document:
    """The section `routing`."""
    return MECHANISMS[settings["routing"]](settings)


def _minimal(_settings: Settings) -> Document:
    return {"minimal": {}}


def _valiant_group(_settings: Settings) -> Document:
    """VAL goes to a group and leaves traffic within a group minimal."""
    return {"valiant": {"intermediate": "group", "policy": "rrg", "intra_group": "minimal"}}


def _valiant_router(_settings: Settings) -> Document:
    """VAL_ANY goes to a router, of the own group if the destination is there."""
    return {"valiant": {"intermediate": "router", "policy": "rrg", "intra_group": "local"}}


def _oblivious(settings: Settings) -> Document:
    """OBL picks the router by its global misrouting policy."""
    reached = settings.get("ValiantMisroutingDestination", "NODE")
    valiant: Document = {
        "intermediate": "router" if reached == "NODE" else "group",
        **_detour(settings),
    }
    if _recomputes(settings):
        valiant["recompute"] = True
    return {"valiant": valiant}


def _ugal(settings: Settings) -> Document:
    return {"ugal": {**_fixed_detour("group", "RRG"), **_comparison(settings), "sticky": True}}


def _piggyback(settings: Settings, intermediate: str) -> Document:
    policy = settings.get("GlobalMisroutingPolicy", "RRG")
    return {
        "piggyback": {
            **_fixed_detour(intermediate, policy),
            **_comparison(settings),
            "saturation": _saturation(settings),
        }
    }


def _source_adaptive(settings: Settings) -> Document:
    return {
        "source_adaptive": {
            **_detour(settings),
            **_comparison(settings),
            "recompute": _recomputes(settings),
            "longest_detour": 6,
            "saturation": _saturation(settings),
        }
    }


def _olm(settings: Settings) -> Document:
    return {"olm": _in_transit(settings, "one")}


def _par(settings: Settings) -> Document:
    return {"par": _in_transit(settings, "all")}


def _in_transit(settings: Settings, candidates: str) -> Document:
    policy = settings.get("GlobalMisroutingPolicy", "MM_L")
    return {
        "policy": policy.removesuffix(LOCAL).lower(),
        "local_misrouting": policy.endswith(LOCAL),
        "candidates": candidates,
        "trigger": TRIGGERS[settings.get("MisroutingTrigger", "CGA")](settings),
    }


def _detour(settings: Settings) -> Document:
    """The intermediate router of OBL and SRC_ADP."""
    policy = settings["GlobalMisroutingPolicy"]
    groups = settings.get("ValiantType", "SRCEXC").removesuffix(RECOMPUTE)
    return {
        "policy": policy.removesuffix(LOCAL).lower(),
        "intermediate_groups": INTERMEDIATE_GROUPS[groups],
        "intra_group": "local" if policy.endswith(LOCAL) else "global",
    }


def _fixed_detour(intermediate: str, policy: str) -> Document:
    """The detour that UGAL and PB draw at generation: to any other group unless the policy is CRG."""
    return {
        "intermediate": intermediate,
        "policy": "crg" if policy == "CRG" else "rrg",
        "intra_group": "minimal" if intermediate == "group" else "local",
    }


def _recomputes(settings: Settings) -> bool:
    return settings.get("ResetValNode") == "1" or settings.get("ValiantType", "").endswith(RECOMPUTE)


def _comparison(settings: Settings) -> Document:
    return {"threshold": integer(settings, "ugal_local_threshold", 0), "path_lengths": "consecutive"}


def _saturation(settings: Settings) -> Document:
    return {
        **_sensing(settings),
        "factor": percent(settings, "piggybacking_coef", 200),
        "threshold": integer(settings, "ugal_global_threshold", 5),
    }


def _sensing(settings: Settings) -> Document:
    sensing, packets = SENSINGS[settings.get("CongestionDetection", "PER_PORT")]
    return {"sensing": sensing, "packets": packets}


def _congestion(settings: Settings) -> Document:
    """CGA; its thresholds are relative to the minimal output."""
    return {
        **_sensing(settings),
        "thresholds": "relative",
        "local_threshold": decimal(settings, "PercentLocalThreshold", 100),
        "global_threshold": decimal(settings, "PercentGlobalThreshold", 100),
        "min_occupancy": decimal(settings, "ThMin", 0),
        "restriction": {
            "factor": percent(settings, "VcMisroutingCongestedRestrictionCoefPercent", 150),
            "threshold": integer(settings, "VcMisroutingCongestedRestrictionThreshold", 5),
        },
    }


def _contention(settings: Settings) -> Document:
    trigger: Document = {"threshold": _counter(settings)}
    if (local := integer(settings, "ContentionLocalThreshold", -1)) >= 0:
        trigger["local_threshold"] = local
    return trigger


def _filtered(settings: Settings) -> Document:
    alpha = decimal(settings, "FilteredContentionCoefficient", 0.5)
    return {"threshold": _counter(settings), "alpha": alpha}


def _hybrid(settings: Settings) -> Document:
    return {"threshold": _counter(settings), "congestion": _congestion(settings)}


def _ectn(settings: Settings) -> Document:
    """Broadcasts cost no bandwidth."""
    return {
        "threshold": _counter(settings),
        "combined_threshold": integer(settings, "ContentionGlobalThreshold", 8),
        "period": ECTN_PERIOD,
        "message_length": 0,
    }


def _counter(settings: Settings) -> int:
    return integer(settings, "ContentionThreshold", 3)


Part = Callable[[Settings], Document]


def _named(name: str, part: Part) -> Part:
    return lambda settings: {name: part(settings)}


TRIGGERS: Mapping[str, Part] = {
    "CGA": _named("congestion", _congestion),
    "CA": _named("contention", _contention),
    "FILTERED": _named("filtered", _filtered),
    "HYBRID": _named("hybrid", _hybrid),
    "CA_REMOTE": _named("ectn", _ectn),
}
MECHANISMS: Mapping[str, Part] = {
    "MIN": _minimal,
    "VAL": _valiant_group,
    "VAL_ANY": _valiant_router,
    "OBL": _oblivious,
    "UGAL": _ugal,
    "PB": partial(_piggyback, intermediate="group"),
    "PB_ANY": partial(_piggyback, intermediate="router"),
    "SRC_ADP": _source_adaptive,
    "OLM": _olm,
    "PAR": _par,
}
