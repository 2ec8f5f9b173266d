"""Documents that are the runs which other simulators of lossless Ethernet made."""

from __future__ import annotations

from typing import Any

from verify import ethernet_hpcc
from verify.ethernet_rows import HTSIM, Scenario
from verify.ethernet_scales import PACKET, SCALES, Scale, scale
from verify.simulate import Document

AMPLE = "16384 KiB"
"""Room of a buffer that nothing ever fills."""
FAST = "6400 Gb/s"
"""A rate that nothing waits for."""
NEVER = "12000"
"""`KMIN` of runs in which nothing is to be marked [kB]."""
HTSIM_PACKET, NSCC_PACKET = 1024, 4160


def document(scenario: Scenario) -> Document:
    """The same run here."""
    if scenario.simulator == HTSIM:
        ethernet = _of_htsim_nscc(scenario) if "target" in scenario.options else _of_htsim(scenario)
    else:
        ethernet = _of_ns3(scenario)
    window = {"warmup": f"{scenario.warmup or 0} ns", "window": f"{scenario.end - (scenario.warmup or 0)} ns"}
    return {
        "topology": _topology(scenario),
        "router": {"ethernet": ethernet},
        "jobs": _jobs(scenario, ethernet["mtu"]),
        "measure": {"time": window},
    }


def _topology(scenario: Scenario) -> dict[str, Any]:
    topology = scenario.topology
    if topology["kind"] == "star":
        return {"fat_tree": {"k": int(topology["hosts"]), "levels": 1}}
    if topology["kind"] == "fat_tree":
        return {"fat_tree": {"k": int(topology["k"]), "levels": 2}}
    hosts = [int(count) for count in topology["hosts"].split("+")]
    return {"graph": {"edges": [{"between": [i, i + 1]} for i in range(len(hosts) - 1)], "nodes": hosts}}


def _jobs(scenario: Scenario, packet: int) -> list[dict[str, Any]]:
    """A job for each flow that is followed to its end, as jobs have completion times; or one for all."""
    flows = [
        {"source": flow.source, "destination": flow.destination, "start": f"{flow.start} ns"}
        | ({} if flow.packets is None else {"bytes": flow.packets * packet})
        for flow in scenario.flows
    ]
    if scenario.warmup is None:
        return [{"name": f"flow {index}", "flows": [flow]} for index, flow in enumerate(flows)]
    return [{"flows": flows}]


def _host(jitter: str = "0") -> dict[str, str]:
    return {
        "injection": FAST,
        "drain": FAST,
        "receive_buffer": "1024 KiB",
        "start_jitter": f"{jitter} ns",
    }


def _of_htsim(scenario: Scenario) -> dict[str, Any]:
    """Packets leave input buffers when their last byte is on the link, and pauses begin with a packet's tail.

    The head of the next packet comes with the tail of the one before, so that `pause` has a packet more. A
    pause frame is only delayed there: its 64 B are part of that delay, and not of the document's.
    """
    high, low = (int(scenario.options[name]) for name in ("high", "low"))
    step = int(scenario.topology["step"])
    rate, delay = f"{scenario.topology['rate']} Gb/s", int(scenario.topology["delay"])
    link = {"rate": rate, "delay": f"{delay} ns"}
    pause = high + 1 + HTSIM_PACKET
    senders = sorted({flow.source for flow in scenario.flows})
    return {
        "mtu": HTSIM_PACKET,
        "links": {
            "host": link,
            "switch": link,
            "exceptions": [{"node": node, "delay": f"{delay + node * step} ns"} for node in senders if node],
        },
        "flow_control": {"pfc": {"pause": f"{pause} B", "distance": f"{pause - (low - 1)} B"}},
        "switch": _queued_at_outputs(HTSIM_PACKET)
        | {"crossbar": rate, "input_latency": "327.68 ns", "switching": "cut_through"},
        "host": _host(),
    }


def _of_htsim_nscc(scenario: Scenario) -> dict[str, Any]:
    """Queues are counted when a packet's last byte is on the link: what comes meanwhile has come then."""
    rate, delay = int(scenario.topology["rate"]), int(scenario.topology["delay"])
    link = {"rate": f"{rate} Gb/s", "delay": f"{delay} ns"}
    low, high = (f"{scenario.options[name]} B" for name in ("kmin", "kmax"))
    return {
        "mtu": NSCC_PACKET,
        "links": {"host": link, "switch": link},
        "switch": _queued_at_outputs(2 * NSCC_PACKET),
        "host": _host(),
        "congestion_control": {
            "marking": {"ecn": {"min": low, "max": high, "probability": 1.0}},
            "mark_point": "wire",
            "notification": {"acknowledgements": {"every": 1, "bytes": 64}},
            "reaction": {"nscc": _nscc(rate, delay, int(scenario.options["target"]))},
        },
    }


def _nscc(rate: int, delay: int, target: int) -> dict[str, Any]:
    """What the constants there are in packets, of which 64 B are a header that they leave out."""
    round_trip = 4 * delay + 2 * (NSCC_PACKET + 64) * 8 / rate
    scale = rate * round_trip / (100 * 12_000)
    payload = (NSCC_PACKET - 64) / NSCC_PACKET
    return {
        "base_round_trip": f"{round_trip:.2f} ns",
        "target": f"{target} ns",
        "fast_below": "1 us",
        "fair_increase": 5 * payload * scale,
        "proportional_increase": 4 * payload * scale * target / 12_000,
        "eta": 0.15 * payload * scale,
        "fast_share": 0.25 * scale,
        "gamma": 0.8,
        "most_decrease": 0.5,
        "weight": 0.0125,
        "most": 1.5 * round_trip * rate / 8 / NSCC_PACKET,
    }


def _queued_at_outputs(buffer: int) -> dict[str, Any]:
    """A switch whose packets wait in the order of their arrival, and for nothing but the link."""
    return {
        "buffers": {"host": AMPLE, "switch": AMPLE},
        "output_buffer": f"{buffer} B",
        "crossbar": FAST,
        "input_latency": "0 ns",
        "output_latency": "0 ns",
        "switching": "store_and_forward",
        "arbitration": "first_come",
        "transfers_per_input": 255,
    }


def _of_ns3(scenario: Scenario) -> dict[str, Any]:
    topology = scenario.topology
    hosts, trunk = scale(scenario), SCALES[topology.get("trunk", topology["rate"])]
    ethernet: dict[str, Any] = {
        "mtu": hosts.packet,
        "links": {
            "host": {"rate": f"{hosts.rate} Gb/s", "delay": f"{host_delay(scenario)} ns"},
            "switch": {"rate": f"{trunk.rate} Gb/s", "delay": f"{topology['delay']} ns"},
        },
        "switch": _queued_at_outputs(2048),
        "host": _host(jitter=scenario.option("START_JITTER") or "0"),
    }
    if scenario.is_hpcc:
        ethernet["links"] = ethernet_hpcc.links(scenario)
        ethernet["switch"] |= {"switching": "cut_through"}
    if int(scenario.option("BUFFER_SIZE")) < 256:
        ethernet["flow_control"] = {"pfc": _pause(scenario, hosts)}
        ethernet["switch"] |= {
            "switching": "cut_through",
            "input_latency": "320 ns",
            "output_buffer": f"{hosts.packet} B",
        }
    if scenario.option("ENABLE_QCN") == "1":
        ethernet["congestion_control"] = _congestion_control(scenario, hosts)
    return ethernet


def host_delay(scenario: Scenario) -> int:
    """The delay of the link of a host [ns].

    With DCQCN a timer looks at flags there, so that a notification waits for half of its period in the mean.
    Here it is as much longer on its way, which leads over four links of hosts with that of the packet; but
    not with flows that are followed to their ends, as that would be later, too.
    """
    delay = int(scenario.topology["delay"])
    if scenario.option("CC_MODE") != "1" or scenario.warmup is None or scenario.option("KMIN") == NEVER:
        return delay
    return delay + 1000 * int(scenario.option("RATE_DECREASE_INTERVAL")) // 2 // 4


def _pause(scenario: Scenario, hosts: Scale) -> dict[str, str]:
    """The threshold there where all ports with something in their buffers have as much.

    A port is paused when what it has above 4 KiB is an eighth of what is left of F bytes, the buffer less 4
    KiB and headroom of three times the delay for every port: with n ports alike that is F / (8 + n). It goes
    on when it has 3 KiB less than an eighth of what is left then, which is 8 / (8 + n) of that below. As with
    htsim the head of the next packet comes with the tail of the one before.
    """
    rate, delay = int(scenario.topology["rate"]), int(scenario.topology["delay"])
    room = int(scenario.option("BUFFER_SIZE")) * 2**20 - scenario.ports * (3 * rate * delay // 8 + 4096)
    alike = len(scenario.flows) if scenario.topology["kind"] == "star" else 2
    pause = (room / (8 + alike) + 4096) * hosts.packet / PACKET + hosts.packet
    distance = 3072 * 8 / (8 + alike) * hosts.packet / PACKET + hosts.packet
    return {"pause": f"{int(pause)} B", "distance": f"{int(distance)} B"}


def _congestion_control(scenario: Scenario, hosts: Scale) -> dict[str, Any]:
    """Queues are counted without the packet that goes, and here with the one, in the mean, that is coming."""
    line = float(scenario.topology["rate"]) * 1000
    rates = {
        "increase": _megabits(scenario.option("RATE_AI")) / line,
        "least": _megabits(scenario.option("MIN_RATE")) / line,
    }
    low, high = (
        int(scenario.option(name)) * 1000 * hosts.packet // PACKET + hosts.packet for name in ("KMIN", "KMAX")
    )
    timely = scenario.option("CC_MODE") == "7"
    chunk = int(scenario.option("L2_CHUNK_SIZE")) // int(scenario.option("PACKET_PAYLOAD_SIZE"))
    acknowledgements = {"every": chunk if timely else 1, "bytes": hosts.acknowledgement}
    return {
        "marking": {"ecn": {"min": f"{low} B", "max": f"{high} B", "probability": _probability(scenario)}},
        "mark_point": "wire",
        "notification": {"acknowledgements": acknowledgements},
        "reaction": _reaction(scenario, rates),
    }


def _reaction(scenario: Scenario, rates: dict[str, float]) -> dict[str, Any]:
    if scenario.is_hpcc:
        return ethernet_hpcc.reaction(scenario)
    return _timely(rates) if scenario.option("CC_MODE") == "7" else _dcqcn(scenario, rates)


def _probability(scenario: Scenario) -> float:
    return float(scenario.option("PMAX") or 1)


def _timely(rates: dict[str, float]) -> dict[str, Any]:
    """With the constants that are not options there."""
    times = {"low": "50 us", "high": "500 us", "least_round_trip": "20 us"}
    return {"timely": {"alpha": 0.875, "beta": 0.8, **times, "hyper_steps": 1, **rates}}


def _dcqcn(scenario: Scenario, rates: dict[str, float]) -> dict[str, Any]:
    return {
        "dcqcn": {
            "g": float(scenario.option("EWMA_GAIN")),
            "alpha_timer": f"{scenario.option('ALPHA_RESUME_INTERVAL')} us",
            "rate_timer": f"{scenario.option('RP_TIMER')} us",
            "byte_counter": 0,
            "fast_recovery": int(scenario.option("FAST_RECOVERY_TIMES")) + 1,
            "cut_interval": f"{scenario.option('RATE_DECREASE_INTERVAL')} us",
            "hyper_increase": rates["increase"],
            **rates,
        }
    }


def _megabits(rate: str) -> float:
    return float(rate.removesuffix("Mb/s"))
