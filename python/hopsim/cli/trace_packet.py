"""`hopsim trace-packet`: the lives of packets, and what they waited for in each router."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.cli import options
from hopsim.cli.point import chosen, option
from hopsim.errors import ConfigError
from hopsim.insight import packets
from hopsim.insight.packets import Choice, Packet
from hopsim.insight.perfetto import refuse_unwritable, write_perfetto
from hopsim.runs.packet_trace import traced
from hopsim.runs.runner import all_cores
from hopsim.spelling import of_command

SHOWN = 10
"""Packets that are told of on the screen."""

NODE = click.IntRange(0)


@click.command("trace-packet")
@options.experiment
@options.assignments
@click.option("--source", metavar="NODE", type=NODE, help="Packets of this node only.")
@click.option("--destination", metavar="NODE", type=NODE, help="Packets for this node only.")
@click.option(
    "--serial", metavar="N", type=click.IntRange(0), help="Packet N of its node, which numbers them from 0."
)
@click.option(
    "--every", metavar="N", type=click.IntRange(1), help="Every N-th packet of each node instead of one only."
)
@click.option(
    "--after",
    metavar="CYCLE",
    type=click.IntRange(0),
    help="Packets generated from this cycle on; default: the end of the warm-up, but with DIR, --serial or "
    "measure.packets any.",
)
@click.option(
    "--slowest", metavar="N", type=click.IntRange(1), help="Of them the N with the greatest latency."
)
@click.option(
    "--flits",
    is_flag=True,
    help="Tell of each flit when it passed the stages of each router (virtual-channel routers).",
)
@click.option(
    "--perfetto",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Write a trace of them, and with --flits of their flits, which ui.perfetto.dev shows.",
)
@option
@click.option("-j", "workers", metavar="N", type=click.IntRange(1), help="Threads; default: all cores.")
def command(  # noqa: PLR0913 (an option each)
    experiment: str,
    assignments: tuple[str, ...],
    source: int | None,
    destination: int | None,
    serial: int | None,
    every: int | None,
    after: int | None,
    slowest: int | None,
    flits: bool,
    perfetto: Path | None,
    point: int | None,
    workers: int | None,
) -> None:
    """Simulate FILE and tell the life of a packet: a line per router, and the sum of what it waited for.

    It is the first packet from or for the nodes named that was generated after the warm-up, unless --serial,
    --every or --slowest asks for others, of those that measure.packets chooses, if FILE has it. FILE may also
    be a results directory that has recorded the stream packet_hops. Of more than ten packets the first ten
    are shown; the trace has all.

    Below each router --flits has a line per flit: when it arrived, ended route computation (RC) and VC
    allocation (VA), which are of heads alone, was granted the switch (SA), and left.
    """
    choice = Choice(source, destination, serial, every, after, slowest, of_command)
    if perfetto is not None:
        refuse_unwritable(perfetto)
    most = 1 if serial is every is slowest is None else None
    if Path(experiment).is_dir():
        found = _recorded(Path(experiment), point, assignments, choice, most, with_flits=flits)
    elif point is not None:
        raise ConfigError(f"--point {point}: {experiment} is not a results directory; valid: no --point")
    else:
        document = options.document(experiment, assignments)
        cores = workers or all_cores()
        found = traced(document, choice, most, with_flits=flits, workers=cores, progress=True)
    _show(found)
    if perfetto is not None:
        write_perfetto(found, perfetto)
        click.echo(f"\nTrace: {perfetto}, for ui.perfetto.dev; a cycle is shown as 1 us.")


def _recorded(
    directory: Path,
    point: int | None,
    assignments: tuple[str, ...],
    choice: Choice,
    most: int | None,
    *,
    with_flits: bool,
) -> list[Packet]:
    """Packets that a point of a results directory has recorded."""
    if assignments:
        raise ConfigError(
            f"--set {assignments[0]}: {directory} holds results; "
            "valid: no --set, or the file of an experiment"
        )
    results, number = chosen(directory, point)
    return packets.of(results.by_number(number), choice, most, with_flits=with_flits)


def _show(found: list[Packet]) -> None:
    for number, packet in enumerate(found[:SHOWN]):
        if number:
            click.echo()
        for line in packet.lines():
            click.echo(line)
    if len(found) > SHOWN:
        click.echo(f"\n{len(found) - SHOWN:,} more; --perfetto PATH writes all of them.")
