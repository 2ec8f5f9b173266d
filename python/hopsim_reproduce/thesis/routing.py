"""Routing mechanisms of the thesis as the section `routing` of a document.

The thesis prints no thresholds. Those here are of the journal version (Fuentes et al., J.
Supercomputing 2016, table 1): 55 % for in-transit routing, T_local 5 and T_global 3 for source-adaptive
routing. The factor of the latter is printed nowhere as a setting: it fits one row (Src-RRG at 0.30 of table
3.2: `thesis-table-3.2-calibration`), and the other rows are predictions.
"""

from __future__ import annotations

from hopsim_reproduce.model import Document
from hopsim_reproduce.thesis.behaviour import PUBLISHED, RESTRICTION, Behaviour

T_LOCAL = 5
"""Packets that the minimal path may hold more than the detour (UGAL comparison)."""
T_GLOBAL = 3
"""Packets above `FACTOR` times the mean at which a global link is saturated."""
FACTOR = 1.3
"""Of the mean over the router's global links. The thesis says "twice the average" (section 3.3.2) and calls
it tunable (section 1.4.2.1.1)."""
PER_VC = {"sensing": "vc", "packets": "all"}
PER_PORT = {"sensing": "port", "packets": "all"}
MINCRED_PER_VC = {"sensing": "vc", "packets": "minimal"}
MINCRED_PER_PORT = {"sensing": "port", "packets": "minimal"}

MINIMAL: Document = {"minimal": {}}


def oblivious(policy: str, *, recompute: bool = False) -> Document:
    """Valiant to a router, first global link by a misrouting policy, own group excluded."""
    return {
        "valiant": {
            "intermediate": "router",
            "policy": policy,
            "intermediate_groups": "other",
            "intra_group": "global",
            "recompute": recompute,
        }
    }


def source_adaptive(
    policy: str,
    *,
    behaviour: Behaviour = PUBLISHED,
    sensing: Document = PER_VC,
    recompute: bool = False,
    threshold: int = T_LOCAL,
    saturation_threshold: int = T_GLOBAL,
    factor: float = FACTOR,
) -> Document:
    """Src-RRG and Src-CRG; PB of chapters 4 and 5."""
    return {
        "source_adaptive": {
            "policy": policy,
            "threshold": threshold,
            "path_lengths": behaviour.path_lengths,
            "longest_detour": behaviour.longest_detour,
            "recompute": recompute,
            "saturation": {**sensing, "factor": factor, "threshold": saturation_threshold},
        }
    }


def congestion(sensing: Document = PER_VC, restriction: float = RESTRICTION) -> Document:
    """The trigger of OLM: credits."""
    return {"congestion": _congestion(sensing, restriction)}


def contention(threshold: int) -> Document:
    """The trigger `Base`."""
    return {"contention": {"threshold": threshold}}


def filtered(threshold: int) -> Document:
    """The trigger `Filtered`; its alpha is not printed."""
    return {"filtered": {"threshold": threshold, "alpha": 0.5}}


def hybrid(threshold: int) -> Document:
    """The trigger `Hybrid`; its congestion thresholds are not printed, so they are those of OLM."""
    return {"hybrid": {"threshold": threshold, "congestion": _congestion(PER_VC)}}


def ectn(threshold: int, combined: int) -> Document:
    """The trigger ECtN: a broadcast every 100 cycles that costs no bandwidth (section 4.2.3)."""
    return {
        "ectn": {
            "threshold": threshold,
            "combined_threshold": combined,
            "period": 100,
            "message_length": 0,
        }
    }


def in_transit(policy: str, trigger: Document | None = None) -> Document:
    """In-Trns-RRG, -CRG, -MM; the last one is OLM of chapters 4 and 5."""
    return {
        "olm": {
            "policy": policy,
            "local_misrouting": True,
            "candidates": "all",
            "trigger": congestion() if trigger is None else trigger,
        }
    }


def _congestion(sensing: Document, restriction: float = RESTRICTION) -> Document:
    return {
        **sensing,
        "thresholds": "relative",
        "local_threshold": 55,
        "global_threshold": 55,
        "min_occupancy": 0,
        "restriction": {"factor": restriction, "threshold": 5},
    }
