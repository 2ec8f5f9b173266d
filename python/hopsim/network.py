"""Size of the network of a resolved configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def network_size(config: Mapping[str, Any]) -> tuple[int, int]:
    """Nodes and routers."""
    ((_, shape),) = config["topology"].items()
    groups = shape["groups"] if shape.get("groups") else shape["a"] * shape["h"] + 1
    routers = shape["a"] * groups
    return routers * shape["p"], routers
