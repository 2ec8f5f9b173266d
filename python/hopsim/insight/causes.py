"""What packets wait for in routers, as it is told."""

CAUSES = {
    "queued": "behind other packets",
    "room": "for room behind the link",
    "bubble": "for room for the bubble",
    "output": "for a busy link",
    "crossbar": "for the crossbar",
}
"""Columns of the streams `waits` and `packet_hops`, in the order in which a packet waits."""
