"""Routing mechanisms of the thesis as the section `routing` of a document.

The thesis prints no thresholds. In-transit routing has the 55 % of the journal version (Fuentes et
al., J. Supercomputing 2016, table 1). Source-adaptive routing has the two values of that table, but
the other way round, T_local 3 and T_global 5: so they fit the one row that they were tried on
(Src-RRG at 0.30 of table 3.2: `thesis-table-3.2-calibration`), and the other rows are predictions.
"""

from __future__ import annotations

from hopsim.reproduce.model import Document
from hopsim.reproduce.thesis.behaviour import PUBLISHED, Behaviour

T_LOCAL = 3
"""Packets that the minimal path may hold more than the detour (UGAL comparison)."""
T_GLOBAL = 5
"""Packets above twice the mean at which a global link is saturated."""
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
) -> Document:
    """Src-RRG and Src-CRG; PB of chapters 4 and 5."""
    return {
        "source_adaptive": {
            "policy": policy,
            "threshold": threshold,
            "path_lengths": behaviour.path_lengths,
            "longest_detour": behaviour.longest_detour,
            "recompute": recompute,
            "saturation": {**sensing, "factor": 2.0, "threshold": saturation_threshold},
        }
    }


def congestion(sensing: Document = PER_VC) -> Document:
    """The trigger of OLM: credits."""
    return {"congestion": _congestion(sensing)}


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


def _congestion(sensing: Document) -> Document:
    return {
        **sensing,
        "thresholds": "relative",
        "local_threshold": 55,
        "global_threshold": 55,
        "min_occupancy": 0,
        "restriction": {"factor": 1.5, "threshold": 5},
    }
