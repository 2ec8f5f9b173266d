"""Switch, buffers, virtual channels and allocator."""

from __future__ import annotations

from typing import Any

from verify.fogsim.settings import Document, Settings, integer

ARBITERS: dict[str, Any] = {
    "RR": "round_robin",
    "LRS": "least_recently_served",
    "AGE": {"age": {"timestamp": "generation"}},
}
PRIORITY = "Prio"
SELECTIONS = {
    "LOWEST_OCCUPANCY": "shortest",
    "HIGHEST_VC": "highest",
    "LOWEST_VC": "lowest",
    "RANDOM_VC": "random",
}


def router(settings: Settings) -> Document:
    """The section `router`."""
    content: Document = {
        "vcs": _vcs(settings),
        "buffers": _buffers(settings),
        "allocator": _allocator(settings),
    }
    if settings.get("Switch", "BASE_SW") == "BASE_SW":
        return {"input_queued": content}
    content["buffers"]["output"] = int(settings["OutQueueLength"])
    content["speedup"] = float(settings.get("InternalSpeedup", "1"))
    content["crossbar_latency"] = int(settings["XbarDelay"])
    return {"cioq": content}


def _vcs(settings: Settings) -> Document:
    vcs: Document = {
        "local": int(settings["LocalLinkChannels"]),
        "global": int(settings["GlobalChannels"]),
        "injection": int(settings["InjectionChannels"]),
    }
    if settings.get("VcUsage", "BASE") == "BASE":
        return vcs
    selection = SELECTIONS[settings.get("VcAllocation", "LOWEST_OCCUPANCY")]
    vcs["management"] = {"flexvc": {"selection": selection}}
    reply = {
        "local": integer(settings, "LocalResChannels", 0),
        "global": integer(settings, "GlobalResChannels", 0),
    }
    if any(reply.values()):
        vcs["reply"] = reply
    return vcs


def _buffers(settings: Settings) -> Document:
    """Lengths are per VC, with DAMQ buffers per port."""
    buffers: Document = {
        "local": int(settings["LocalQueueLength"]),
        "global": int(settings["GlobalQueueLength"]),
        "injection": int(settings["InjectionQueueLength"]),
    }
    if settings.get("Buffer", "SEPARATED") == "DYNAMIC":
        reserves = {
            "local_reserve": int(settings["ReservedBufferLocal"]),
            "global_reserve": int(settings["ReservedBufferGlobal"]),
        }
        buffers["damq"] = {**reserves, "allow_deadlock": not all(reserves.values())}
    return buffers


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
