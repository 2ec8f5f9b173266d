"""The mechanisms of chapter 3: oblivious, source-adaptive and in-transit routing by misrouting policy."""

from __future__ import annotations

from hopsim_reproduce.thesis.behaviour import PUBLISHED, Behaviour
from hopsim_reproduce.thesis.routing import MINIMAL, in_transit, oblivious, source_adaptive
from hopsim_reproduce.thesis.system import TABLE_1_2, Arbitration, Buffers, System, increasing

OBLIVIOUS = ("Obl-RRG", "Obl-CRG")
AT_SOURCE = ("Src-RRG", "Src-CRG")
IN_TRANSIT = ("In-Trns-RRG", "In-Trns-CRG", "In-Trns-MM")


def explanation(arbitration: Arbitration, behaviour: Behaviour = PUBLISHED) -> list[str]:
    """What the notes of every entry of the chapter say, beside the network."""
    return [f"Arbitration: {arbitration.title}.", *behaviour.notes]


def systems(
    arbitration: Arbitration, behaviour: Behaviour = PUBLISHED, injection: int = TABLE_1_2.injection
) -> dict[str, System]:
    """Name -> network, in the order of the tables; `injection` is the injection buffer [phits per VC]."""
    routings = {
        "MIN": (MINIMAL, 3),
        "Obl-RRG": (oblivious("rrg"), 4),
        "Obl-CRG": (oblivious("crg"), 4),
        "Src-RRG": (source_adaptive("rrg", behaviour=behaviour), 4),
        "Src-CRG": (source_adaptive("crg", behaviour=behaviour), 4),
        "In-Trns-RRG": (in_transit("rrg"), 3),
        "In-Trns-CRG": (in_transit("crg"), 3),
        "In-Trns-MM": (in_transit("mm"), 3),
    }
    return {
        name: System(name, routing, increasing(local_vcs, 2), Buffers(injection=injection), arbitration)
        for name, (routing, local_vcs) in routings.items()
    }
