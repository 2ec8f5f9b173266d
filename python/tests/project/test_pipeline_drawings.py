"""The pipelines that `docs/model.md` draws are those that a packet passes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

import hopsim as hs
from conftest import ROOT

LONE_PACKET: Mapping[str, Any] = {
    "topology": {"mesh": {"sides": [4]}},
    "jobs": [{"traffic": {"packet_list": [{"cycle": 0, "source": 0, "destination": 3, "length": 3}]}}],
    "measure": {"warmup": 0, "cycles": 60, "streams": ["flit_hops"]},
}
ROUTERS: list[dict[str, Any]] = [
    {},
    {"routing_delay": 0},
    {"routing_delay": 0, "speculation": "separate"},
    {"routing_delay": 2, "switch_traversal_delay": 2},
]
"""Of the routers that are drawn what is not as it is by default, in the order of the drawings."""

WIDTH = 7


def drawn() -> list[str]:
    """The drawings of the page, one after the other."""
    page = (ROOT / "docs/model.md").read_text("utf-8")
    return re.findall(r"```text\n(cycle   t .*?)\n```", page, re.DOTALL)


def cell(flit: Mapping[str, Any], now: int, *, computes_routes: bool) -> str:
    """What happens to a flit in a cycle."""
    stages: list[str] = []
    if flit["flit"] == 0:
        if computes_routes and flit["arrived"] <= now <= flit["routed"]:
            stages.append("RC")
        if now == flit["vc_allocated"]:
            stages.append("VA")
    if now == flit["granted"]:
        stages.append("SA")
    if flit["granted"] < now <= flit["departed"]:
        stages.append("ST")
    waits = flit["arrived"] <= now < flit["granted"]
    return "+".join(stages) or ("-" if waits else "")


def drawing(router: Mapping[str, Any]) -> str:
    """The pipeline of the second router of a lone packet."""
    result = hs.run({**LONE_PACKET, "router": {"virtual_channel": dict(router)}}, progress=False)
    flits = [row for row in result.flit_hops.to_pylist() if row["hop"] == 1]
    first, last = flits[0]["arrived"], flits[-1]["departed"]
    computes_routes = router.get("routing_delay", 1) > 0
    cycles = ["t" if cycle == first else f"t+{cycle - first}" for cycle in range(first, last + 1)]
    rows = [("cycle", cycles)]
    for flit in flits:
        cells = [cell(flit, now, computes_routes=computes_routes) for now in range(first, last + 1)]
        rows.append((f"flit {flit['flit']}", cells))
    lines = (f"{name:<8}" + "".join(f"{text:<{WIDTH}}" for text in cells) for name, cells in rows)
    return "\n".join(line.rstrip() for line in lines)


def test_every_drawing_is_of_some_router() -> None:
    assert len(drawn()) == len(ROUTERS)


@pytest.mark.parametrize("number", range(len(ROUTERS)))
def test_a_drawn_pipeline_is_that_of_a_lone_packet(number: int) -> None:
    assert drawing(ROUTERS[number]) == drawn()[number]
