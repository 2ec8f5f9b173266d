"""FOGSim's settings as a hopsim document.

`unsupported` says why a row cannot be run; `document` writes the experiment of one that can.
"""

from __future__ import annotations

from verify.fogsim.router import router
from verify.fogsim.routing import MECHANISMS, TRIGGERS, routing
from verify.fogsim.settings import Document, Settings
from verify.fogsim.traffic import PATTERNS, pattern_name, traffic
from verify.rows import Row

INJECTION_VC = {"DEST": "destination", "RAND": "random"}

_ONLY_VALUES = {
    "CrossbarPortsPerInPort": (("1",), "input speedup"),
    "NumberSegregatedTrafficFlows": (("1",), "segregated ejection queues"),
    "CosLevels": (("1",), "classes of service"),
    "VcUsage": (("BASE", "TBFLEX"), "FOGSim's own variant of FlexVC"),
    "increaseContentionAtHeader": (("1",), "contention counters of whole queues"),
    "forceMisrouting": (("0",), "forced misrouting"),
}
"""Key -> (the values that are mapped, the first one the default; what another value asks for)."""

_CHOICES = {"routing": MECHANISMS, "MisroutingTrigger": TRIGGERS}
"""Key -> the values that hopsim has."""


def unsupported(settings: Settings) -> str | None:
    """What the settings ask for that hopsim or this mapping does not have; None if they can run."""
    for key, (values, name) in _ONLY_VALUES.items():
        if settings.get(key, values[0]) not in values:
            return name
    for key, known in _CHOICES.items():
        if key in settings and settings[key] not in known:
            return f"{key}={settings[key]}"
    if pattern_name(settings) not in PATTERNS:
        return f"Traffic={settings['Traffic']}"
    return None


def document(row: Row, seed: int = 1) -> Document:
    """The experiment of a row, with another seed than the reference's own."""
    settings = row.settings
    h = int(settings["H"])
    return {
        "compat": "fogsim",
        "topology": {"dragonfly": _dragonfly(settings, h)},
        "links": _links(settings),
        "router": router(settings),
        "routing": routing(settings),
        "nic": {"injection_vc": INJECTION_VC[settings.get("VcInjectionPolicy", "DEST")]},
        "jobs": [{"traffic": traffic(settings, h, row.offered_load)}],
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
