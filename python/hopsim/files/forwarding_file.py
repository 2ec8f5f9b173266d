"""Linear forwarding tables of InfiniBand switches in files, as `ibroute` and `dump_lfts` print them.

They are read as the lists `router.infiniband.forwarding.tables`; the fabric says which nodes LIDs mean, and
which links ports. Source of the format: manual pages ibroute(8) and dump_fts(8) of infiniband-diags.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from hopsim.errors import ConfigError
from hopsim.files import fabric_file, reading
from hopsim.files.fabric_file import Device, Fabric, Port

KIND = "what ibroute prints of every switch, or dump_lfts"

LAST_UNICAST = 0xBFFF
"""Greatest LID of a port. Source: InfiniBand Architecture Specification 1.2.1, §4.1.3."""

_TABLE = re.compile(
    r"Unicast lids \[0x(?P<first>[0-9a-f]+)-0x(?P<last>[0-9a-f]+)\] of switch .*"
    r"\bguid 0x(?P<guid>[0-9a-f]{1,16})\b.*",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"0x(?P<lid>[0-9a-f]{1,4})\s+(?P<port>\d{1,3})(?:\s+(?P<rest>.*))?", re.IGNORECASE)
_END = re.compile(r"(?P<count>\d+) (?P<valid>valid )?lids dumped")
_OTHER = re.compile(r"Lid\s+Out\s+Destination|Port\s+Info")


@dataclass
class Table:
    """The table of a switch: where it begins, its LIDs, and by LID the port and the line that says so."""

    line: int
    switch: Device
    lids: range
    entries: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])


def tables(path: Path, network: Path) -> list[list[int]]:
    """The output of each switch of a network, by number, for each node. Raises `ConfigError`."""
    fabric = _fabric(network)
    try:
        text = reading.text_of(path, KIND)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    found = _read(text, fabric, network.name)
    owners = _owners(fabric, network.name)
    for table in found.values():
        for lid, (port, line) in table.entries.items():
            _check_entry((fabric, network.name), (table, owners), (line, lid, port))
    for switch in fabric.switches:
        if switch.name not in found:
            raise ConfigError(f"has no table of {switch}; valid: one of every switch in {network.name}")
    ways = _ways([found[switch.name] for switch in fabric.switches], fabric)
    _check_loops(ways, fabric)
    return [[fabric.outputs[port] for port in ports] for ports in ways]


def _fabric(network: Path) -> Fabric:
    valid = f"topology.graph.file = …, {fabric_file.KIND} of the same fabric"
    try:
        text = reading.text_of(network, fabric_file.KIND)
        if not fabric_file.is_fabric(text):
            raise ConfigError(f"says neither LIDs nor ports; valid: {valid}")
        return fabric_file.read(text)
    except OSError as error:
        raise ConfigError(f"cannot read {network}: {error.strerror or error}") from None
    except ConfigError as error:
        raise ConfigError(f"{network.name}: {error}") from None


def _read(text: str, fabric: Fabric, network: str) -> dict[str, Table]:
    """The tables in a text, by the names of their switches."""
    found: dict[str, Table] = {}
    table: Table | None = None
    for line, content in enumerate(text.splitlines(), 1):
        stripped = content.strip()
        if match := _TABLE.fullmatch(stripped):
            _check_closed(table)
            table = _table(line, match, fabric, network)
            if table.switch.name in found:
                first = found[table.switch.name].line
                raise ConfigError(
                    f"line {line}: {table.switch} has a table in line {first}; valid: one of each"
                )
            found[table.switch.name] = table
        elif (match := _ENTRY.fullmatch(stripped)) and table:
            _add_entry(table, line, match)
        elif (match := _END.fullmatch(stripped)) and table:
            if match["valid"] and int(match["count"]) != len(table.entries):
                said = f"{match['count']} LIDs, and has {len(table.entries)}"
                raise ConfigError(
                    f"line {line}: the table of {table.switch} should have {said}; valid: a whole table"
                )
            table = None
        elif stripped and not _OTHER.match(stripped):
            valid = "Unicast lids [0x0-0x9] of switch … guid 0x…, below it 0x0001 012 : …, and … lids dumped"
            raise ConfigError(f"line {line}: {stripped!r} is not what ibroute prints; valid: {valid}")
    _check_closed(table)
    return found


def _check_closed(table: Table | None) -> None:
    if table is not None:
        raise ConfigError(f"line {table.line}: the table of {table.switch} has no end; valid: … lids dumped")


def _table(line: int, match: re.Match[str], fabric: Fabric, network: str) -> Table:
    name = f"S-{int(match['guid'], 16):016x}"
    if name not in fabric.devices:
        known = ", ".join(str(switch) for switch in fabric.switches[:8])
        raise ConfigError(
            f"line {line}: {network} has no switch {name}; valid: one of its switches, as {known}"
        )
    return Table(line, fabric.devices[name], range(int(match["first"], 16), int(match["last"], 16) + 1))


def _add_entry(table: Table, line: int, match: re.Match[str]) -> None:
    lid = int(match["lid"], 16)
    if lid not in table.lids:
        valid = f"{_shown(table.lids[0])} … {_shown(table.lids[-1])}" if table.lids else "none"
        raise ConfigError(
            f"line {line}: LID {_shown(lid)} is outside the table of {table.switch}; valid: {valid}"
        )
    if lid in table.entries:
        first = table.entries[lid][1]
        raise ConfigError(f"line {line}: LID {_shown(lid)} has an entry in line {first}; valid: one of each")
    # ibroute --all shows the LIDs, too, that the switch does not know.
    if "illegal port" not in (match["rest"] or ""):
        table.entries[lid] = (int(match["port"]), line)


def _shown(lid: int) -> str:
    return f"0x{lid:04x}"


def _node(fabric: Fabric, port: Port) -> str:
    """A node in the words of the files."""
    return f"node {port.device}[{port.number}] {fabric.devices[port.device].called!r}"


def _lids(fabric: Fabric, node: Port) -> range:
    return fabric.devices[node.device].links[node.number].lids


def _owners(fabric: Fabric, network: str) -> dict[int, tuple[str, Port | None]]:
    """By LID: what has it, and the port if that is a node."""
    found: dict[int, tuple[str, Port | None]] = {}
    lines: dict[int, int] = {}
    of_nodes = [
        (fabric.devices[node.device].links[node.number].line, _node(fabric, node), node, _lids(fabric, node))
        for node in fabric.nodes
    ]
    of_switches = [(switch.line, f"switch {switch}", None, switch.lids) for switch in fabric.switches]
    for line, name, node, lids in [*of_nodes, *of_switches]:
        if node and not lids:
            raise ConfigError(
                f"{network}: line {line}: {name} has no LID; valid: # lid 1 … {LAST_UNICAST} lmc 0 … 7"
            )
        for lid in lids:
            if lid > LAST_UNICAST:
                raise ConfigError(f"{network}: line {line}: {name} has LID {lid}; valid: 1 … {LAST_UNICAST}")
            if lid in found:
                other = f"{found[lid][0]} (line {lines[lid]})"
                reason = f"{name} and {other} both have LID {lid}, {_shown(lid)}"
                raise ConfigError(
                    f"{network}: line {line}: {reason}; valid: 2 to the power of lmc LIDs for each alone"
                )
            found[lid], lines[lid] = (name, node), line
    return found


def _check_entry(
    network: tuple[Fabric, str],
    known: tuple[Table, dict[int, tuple[str, Port | None]]],
    entry: tuple[int, int, int],
) -> None:
    """Refuse an entry for nobody, by a port without link, or to another node."""
    (fabric, file), (table, owners), (line, lid, number) = network, known, entry
    place = f"line {line}: LID {_shown(lid)} in the table of {table.switch}"
    if lid not in owners:
        raise ConfigError(f"{place} belongs to nobody; valid: LIDs that nodes and switches have in {file}")
    name, node = owners[lid]
    if node is None:
        return
    port = Port(table.switch.name, number)
    if port not in fabric.outputs:
        linked = ", ".join(str(number) for number in sorted(table.switch.links))
        raise ConfigError(f"{place}, of {name}, has port {number}, which has no link; valid: ports {linked}")
    peer = table.switch.links[number].peer
    if peer != node and not fabric.devices[peer.device].is_switch:
        wrong = f"has port {number}, where {_node(fabric, peer)} is"
        raise ConfigError(f"{place}, of {name}, {wrong}; valid: its own port, or one to another switch")


def _ways(found: list[Table], fabric: Fabric) -> list[list[Port]]:
    """By switch and node: the port by which the switch sends to the first LID of the node."""
    for table in found:
        for node in fabric.nodes:
            lid = _lids(fabric, node)[0]
            if lid not in table.entries:
                place = f"the table of {table.switch} (line {table.line}) has no entry for LID {_shown(lid)}"
                raise ConfigError(
                    f"{place}, of {_node(fabric, node)}; valid: one for the first LID of every node"
                )
    lids = [_lids(fabric, node)[0] for node in fabric.nodes]
    return [[Port(table.switch.name, table.entries[lid][0]) for lid in lids] for table in found]


def _check_loops(ways: list[list[Port]], fabric: Fabric) -> None:
    numbers = {switch.name: number for number, switch in enumerate(fabric.switches)}
    for place, node in enumerate(fabric.nodes):
        arrives: set[int] = set()
        for start in range(len(ways)):
            way = [start]
            while way[-1] not in arrives:
                port = ways[way[-1]][place]
                peer = fabric.devices[port.device].links[port.number].peer
                if peer == node:
                    break
                following = numbers[peer.device]
                if following in way:
                    circle = [*way[way.index(following) :], following]
                    round_trip = " → ".join(str(fabric.switches[number]) for number in circle)
                    lid = _shown(_lids(fabric, node)[0])
                    raise ConfigError(
                        f"packets for LID {lid}, of {_node(fabric, node)}, go round: {round_trip}; "
                        "valid: tables that lead to every node"
                    )
                way.append(following)
            arrives.update(way)
