"""Which paths a set of virtual channels carries under FlexVC."""

from __future__ import annotations

from typing import Literal

from hopsim import _core

Network = Literal["dragonfly", "diameter2"]

SAFE = "safe"
OPPORTUNISTIC = "opportunistic"
IMPOSSIBLE = "impossible"


def vc_paths(
    local: int,
    global_: int = 0,
    *,
    reply_local: int = 0,
    reply_global: int = 0,
    network: Network = "dragonfly",
) -> dict[str, str]:
    """What FlexVC can do with so many VCs.

    Args:
        local: VCs of local ports, in `diameter2` of all ports; those for replies alone included.
        global_: VCs of global ports.
        reply_local: those of `local` that only replies use.
        reply_global: those of `global_` that only replies use.
        network: `dragonfly`, or `diameter2`: any network of diameter 2 with one kind of links.

    Returns:
        `minimal`, `valiant` and `in_transit` -> `safe` (the whole path in increasing order of VCs),
        `opportunistic` (it can be left for the minimal one everywhere) or `impossible`. With VCs
        for replies, those are the paths of requests and `valiant_reply`, ... the paths of replies.
    """
    return _core.vc_paths(local, global_, reply_local, reply_global, network)
