"""Documents that are runs of HPCC in ns-3.

What waits counts from the arrival of its tail there and from that of its head here, and is told to sources.
So heads arrive here when tails do there: switches are cut-through, and links longer by what a packet takes.
That is more than acknowledgements need on their way back, for which links to receivers are shorter: round
trips and what is noted are those of there, and only the arrival at receivers is earlier, by a known time.
"""

from __future__ import annotations

from typing import Any

from verify.ethernet_rows import Scenario
from verify.ethernet_scales import PACKET, scale


def hops(scenario: Scenario, source: int, destination: int) -> int:
    """Links of the way from a host to another."""
    topology = scenario.topology
    if topology["kind"] == "star":
        return 2
    if topology["kind"] == "fat_tree":
        leaf = int(topology["k"])
        return 2 if source // leaf == destination // leaf else 4
    hosts = int(topology["hosts"].split("+")[0])
    return 2 + abs(source // hosts - destination // hosts)


def early(scenario: Scenario, source: int, destination: int) -> float:
    """How much earlier the packets of a flow are at their destination here [ns]."""
    return (hops(scenario, source, destination) - 1) * _shorter(scenario)


def _shorter(scenario: Scenario) -> float:
    """Half of what a packet takes longer than an acknowledgement [ns]."""
    return (scale(scenario).packet_time - scale(scenario).acknowledgement_time) / 2


def links(scenario: Scenario) -> dict[str, Any]:
    """Links over which heads arrive when tails do there.

    In a fat tree hosts send and receive, and links cannot be longer for packets alone: there they are longer
    by the mean of what a packet and an acknowledgement take, and round trips are as long.
    """
    delay, packet = int(scenario.topology["delay"]), scale(scenario).packet_time
    rate = f"{scale(scenario).rate} Gb/s"
    if scenario.topology["kind"] == "fat_tree":
        mean = packet - _shorter(scenario)
        return {
            "host": {"rate": rate, "delay": f"{delay + mean / 2} ns"},
            "switch": {"rate": rate, "delay": f"{delay + mean} ns"},
        }
    link = {"rate": rate, "delay": f"{delay + packet} ns"}
    receivers = {flow.destination: early(scenario, flow.source, flow.destination) for flow in scenario.flows}
    exceptions = [{"node": node, "delay": f"{delay - time} ns"} for node, time in sorted(receivers.items())]
    return {"host": link, "switch": link, "exceptions": exceptions}


def alone(scenario: Scenario) -> float:
    """How long a packet takes in a star that waits for nothing [ns]."""
    delay, packet = int(scenario.topology["delay"]), scale(scenario).packet_time
    return 2 * (delay + packet) - _shorter(scenario)


def reaction(scenario: Scenario) -> dict[str, Any]:
    """HPCC, with the round trip as ns-3 has it: of payload, and without acknowledgements' own time.

    There 1,001 B take what 1,000 B would, so that a link that is busy all the time is used for 1.001, and
    rates are as much greater: what they are compared with and what is added to them is smaller here. But not
    with the rules of here, with which ns-3 counts 1,000 B.
    """
    rate = int(scenario.topology["rate"])
    longest = {"star": 2, "fat_tree": 4}.get(scenario.topology["kind"]) or _switches(scenario) + 1
    payload = int(scenario.option("PACKET_PAYLOAD_SIZE")) * 8 // rate
    more = 1.0 if scenario.option("RULES") else PACKET / 1000

    def share(name: str) -> float:
        return float(scenario.option(name).removesuffix("Mb/s")) / (1000 * rate) / more

    return {
        "hpcc": {
            "base_round_trip": f"{longest * (2 * int(scenario.topology['delay']) + payload)} ns",
            "utilisation": float(scenario.option("U_TARGET")) / more,
            "stages": int(scenario.option("MI_THRESH")),
            "increase": share("RATE_AI"),
            "least": share("MIN_RATE"),
        }
    }


def _switches(scenario: Scenario) -> int:
    return len(scenario.topology["hosts"].split("+"))
