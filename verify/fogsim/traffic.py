"""Traffic: pattern, injection process, requests and replies."""

from __future__ import annotations

from typing import Any

from verify.fogsim.settings import Document, Settings

REPLIES = "_RCTV"
"""Suffix of a traffic whose packets are answered."""
BURSTY = "BURSTY_"
PATTERNS = ("UN", "ADV_RANDOM_NODE", "ADV_LOCAL", "ADVc")


def pattern_name(settings: Settings) -> str:
    """The pattern without what is said of process and replies."""
    return settings["Traffic"].removesuffix(REPLIES).removeprefix(BURSTY)


def traffic(settings: Settings, h: int, load: float) -> Document:
    """The section `traffic` of the only job. With replies, `load` counts them too, here and there."""
    content: Document = {
        "pattern": _pattern(settings, h),
        "process": _process(settings, load),
        "packet_length": int(settings["PacketSize"]),
    }
    if settings["Traffic"].endswith(REPLIES):
        bound = settings.get("MaxPetitionsOnFlight")
        content["request_reply"] = {} if bound is None else {"outstanding": int(bound)}
    return content


def _process(settings: Settings, load: float) -> Document:
    if settings["Traffic"].startswith(BURSTY):
        return {"bursty": {"load": load, "burst_length": float(settings["avgBurstLength"])}}
    return {"bernoulli": {"load": load}}


def _pattern(settings: Settings, h: int) -> Any:
    """FOGSim draws ADVc from h-1 groups, not from the h of the papers' text."""
    name = pattern_name(settings)
    if name == "UN":
        return "uniform"
    if name == "ADVc":
        return {"adversarial_consecutive": {"groups": max(h - 1, 1)}}
    if name == "ADV_LOCAL":
        return {"adversarial_local": {"offset": int(settings["AdvTrafficLocalDistance"])}}
    return {"adversarial": {"offset": int(settings["AdvTrafficDistance"])}}
