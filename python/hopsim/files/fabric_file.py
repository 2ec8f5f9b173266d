"""InfiniBand fabrics in files, as `ibnetdiscover` prints them: switches, channel adapters and their links.

Source of the format: manual page ibnetdiscover(8) of infiniband-diags.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hopsim.errors import ConfigError

KIND = "what ibnetdiscover prints"

_NAME = r'"(?P<name>[SHR]-[0-9a-fA-F]{16})"'
_DEVICE = re.compile(
    rf'(?:Switch|Ca|Rt)\s+(?P<ports>\d+)\s+{_NAME}(?:\s*#\s*(?:"(?P<called>.*)")?(?P<rest>.*))?'
)
_LINK = re.compile(
    rf"\[(?P<port>\d+)\](?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?\s+{_NAME}\[(?P<peer>\d+)\](?P<rest>.*)"
)
_LIDS = re.compile(r"\blid (?P<first>\d+) lmc (?P<lmc>[0-7])\b")
_OTHER = re.compile(
    r"#|(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|Chassis |Non-Chassis Nodes|Hostname: |DR path "
)


@dataclass(frozen=True)
class Port:
    """A port of a device: the name of that, as `S-0002c902004a1234`, and its number there."""

    device: str
    number: int


@dataclass(frozen=True)
class Link:
    """What a port is linked with, the line that says so, and the LIDs of a port of an adapter."""

    peer: Port
    line: int
    lids: range


@dataclass(frozen=True)
class Device:
    """A switch, or an end of the fabric: a channel adapter, or a router to other subnets.

    Attributes:
        line: where its block begins.
        name: its kind and GUID, as `S-0002c902004a1234`.
        called: its description.
        ports: how many it has.
        lids: those of a switch itself.
        links: by port, of those that have one.
    """

    line: int
    name: str
    called: str
    ports: int
    lids: range
    links: dict[int, Link] = field(default_factory=dict[int, Link])

    @property
    def is_switch(self) -> bool:
        """Whether it is a switch."""
        return self.name.startswith("S")

    def __str__(self) -> str:
        return f"{self.name} {self.called!r}"


@dataclass(frozen=True)
class Fabric:
    """What a file says, in the numbers of the graph.

    Attributes:
        devices: by name.
        switches: the routers of the graph: those with nodes first, in the order of the file.
        nodes: every port of an adapter that is linked with a switch, in the order of the switches and their
            ports.
        edges: each link between switches once, in the order of the switches and their ports.
        outputs: by port of a switch that has a link: its place among the nodes of the switch and, behind
            them, its links in the order of `edges`.
    """

    devices: dict[str, Device]
    switches: list[Device]
    nodes: list[Port]
    edges: list[tuple[Port, Port]]
    outputs: dict[Port, int]

    def numbered(self) -> list[tuple[int, int]]:
        """The edges by the numbers of their switches."""
        numbers = {switch.name: number for number, switch in enumerate(self.switches)}
        return [(numbers[one.device], numbers[other.device]) for one, other in self.edges]

    def nodes_of_switches(self) -> list[int]:
        """How many nodes each of the first switches has, of those that have any."""
        places = [self.devices[node.device].links[node.number].peer.device for node in self.nodes]
        return [places.count(name) for name in dict.fromkeys(places)]


def is_fabric(text: str) -> bool:
    """Whether a text has a line that begins the block of a device."""
    return any(_DEVICE.fullmatch(line.strip()) for line in text.splitlines())


def read(text: str) -> Fabric:
    """The fabric in a text. Raises `ConfigError`."""
    devices = _devices(text)
    for device in devices.values():
        for number, link in device.links.items():
            _check(devices, Port(device.name, number), link)
    switches = [device for device in devices.values() if device.is_switch]
    nodes = {switch.name: _ports(devices, switch, to_switches=False) for switch in switches}
    if not any(nodes.values()):
        raise ConfigError("no channel adapter is linked with a switch; valid: at least one, which is node 0")
    switches.sort(key=lambda switch: not nodes[switch.name])
    outputs = {port: place for ports in nodes.values() for place, port in enumerate(ports)}
    counts = {name: len(ports) for name, ports in nodes.items()}
    edges: list[tuple[Port, Port]] = []
    for switch in switches:
        for port in _ports(devices, switch, to_switches=True):
            if port in outputs:
                continue
            edges.append((port, switch.links[port.number].peer))
            for end in edges[-1]:
                outputs[end] = counts[end.device]
                counts[end.device] += 1
    ends = [
        devices[port.device].links[port.number].peer for switch in switches for port in nodes[switch.name]
    ]
    return Fabric(devices, switches, ends, edges, outputs)


def _ports(devices: dict[str, Device], switch: Device, *, to_switches: bool) -> list[Port]:
    """The ports of a switch that are linked with switches, or those that are linked with adapters."""
    numbers = sorted(switch.links)
    leads = [devices[switch.links[number].peer.device].is_switch == to_switches for number in numbers]
    return [Port(switch.name, number) for number, fits in zip(numbers, leads, strict=True) if fits]


def _devices(text: str) -> dict[str, Device]:
    devices: dict[str, Device] = {}
    device: Device | None = None
    for line, content in enumerate(text.splitlines(), 1):
        stripped = content.strip()
        if match := _DEVICE.fullmatch(stripped):
            device = _device(line, match)
            if device.name in devices:
                first = devices[device.name].line
                raise ConfigError(
                    f"line {line}: {device.name} has a block in line {first}; valid: one of each"
                )
            devices[device.name] = device
        elif match := _LINK.fullmatch(stripped):
            _add_link(device, line, match)
        elif stripped and not _OTHER.match(stripped):
            valid = 'Switch 36 "S-…" # …, Ca 1 "H-…" # … and below them [port] "H-…"[port] # …'
            raise ConfigError(f"line {line}: {stripped!r} is not what ibnetdiscover prints; valid: {valid}")
    return devices


def _device(line: int, match: re.Match[str]) -> Device:
    lids = _lids(match["rest"]) if match["name"].startswith("S") else range(0)
    return Device(line, match["name"].lower().capitalize(), match["called"] or "", int(match["ports"]), lids)


def _lids(text: str | None) -> range:
    """The LIDs of a port: from the first one on 2 to the power of its LMC; none if it has none yet."""
    match = _LIDS.search(text or "")
    first = int(match["first"]) if match else 0
    return range(first, first + (1 << int(match["lmc"]))) if match and first else range(0)


def _add_link(device: Device | None, line: int, match: re.Match[str]) -> None:
    number = int(match["port"])
    if device is None:
        raise ConfigError(f"line {line}: belongs to no device; valid: port lines below Switch, Ca or Rt")
    if not 1 <= number <= device.ports:
        raise ConfigError(f"line {line}: {device} has no port {number}; valid: 1 … {device.ports}")
    if number in device.links:
        first = device.links[number].line
        raise ConfigError(f"line {line}: port {number} is linked in line {first}; valid: one link for a port")
    lids = range(0) if device.is_switch else _lids(match["rest"])
    peer = Port(match["name"].lower().capitalize(), int(match["peer"]))
    device.links[number] = Link(peer, line, lids)


def _check(devices: dict[str, Device], port: Port, link: Link) -> None:
    """Refuse a link that is not there from its other end, and one that no fabric can have."""
    place, peer = f"line {link.line}: {port.device}[{port.number}]", link.peer
    if peer.device not in devices:
        raise ConfigError(
            f"{place} is linked with {peer.device}, which has no block; valid: one of every device"
        )
    back = devices[peer.device].links.get(peer.number)
    if back is None or back.peer != port:
        ends = f"{peer.device}[{peer.number}]"
        raise ConfigError(
            f"{place} is linked with {ends}, but that not with it; valid: links that both ends have"
        )
    if peer.device == port.device:
        raise ConfigError(f"{place} is linked with its own switch; valid: two different switches")
    if not devices[port.device].is_switch and not devices[peer.device].is_switch:
        raise ConfigError(f"{place} is linked with another adapter; valid: a switch")
