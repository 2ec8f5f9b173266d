"""`hopsim convert`: documents and lists of packets made of what other simulators read."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.cli import options
from hopsim.convert import booksim, booksim_file, infragraph, netrace
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.files import atomic, reading, toml
from hopsim.files import netrace as netrace_file


@click.group("convert")
def command() -> None:
    """Make a document or a list of packets of what other simulators read.

    It goes to standard output, and what could not be carried over, or what it has instead, to standard error,
    a sentence for each.
    """


@command.command("booksim", short_help="Make a document of a configuration file of BookSim 2.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
def of_booksim(file: Path) -> None:
    """Make a document of FILE, a configuration file of BookSim 2.

    In the summary of its run packet_latency_mean is BookSim's "Packet latency average", network_latency_mean
    its "Network latency average", hops_mean its "Hops average", and accepted_load its "Accepted flit rate
    average". Options of which BookSim and hopsim make different experiments are refused.
    """
    assignments = booksim_file.read(file)
    try:
        converted = booksim.convert(assignments)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    text = toml.document(converted.document)
    # What only the core knows, as how many VCs there can be.
    Experiment(text, f"{file}, as a document").points()
    for remark in converted.remarks:
        click.echo(remark, err=True)
    click.echo(text, nl=False)


@command.command("infragraph", short_help="Make a document of a description of InfraGraph.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--hosts",
    multiple=True,
    metavar="NAME",
    help="Instances that are hosts; default: those of devices with accelerators (xpu). May be repeated.",
)
@click.option(
    "--phit",
    type=click.IntRange(min=1),
    default=8,
    metavar="BYTES",
    help="Bytes of a phit, which the link of a host carries in a cycle; default 8.",
)
@click.option(
    "--names",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write what nodes and routers are to a table.",
)
def of_infragraph(file: Path, hosts: tuple[str, ...], phit: int, names: Path | None) -> None:
    """Make a document of FILE, a description of InfraGraph, JSON or YAML.

    Hosts are instances of devices with accelerators, all others are routers; what is inside of both is left
    out. Each component of a host with a link to a router is a node. The document has no traffic: jobs are to
    be added, such as a Chakra trace. It needs the package infragraph: pip install "hopsim[infragraph]".
    """
    try:
        converted = infragraph.convert(reading.text_of(file, infragraph.VALID), phit, hosts)
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror or error}") from None
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    if names is not None:
        _write_names(names, converted)
    for remark in converted.remarks:
        click.echo(remark, err=True)
    click.echo(toml.document(converted.document), nl=False)


def _write_names(path: Path, converted: infragraph.Converted) -> None:
    """Write a table of what nodes and routers are in the description."""
    rows = [("node", converted.nodes), ("router", converted.routers)]
    lines = [f"{kind},{number},{name}" for kind, each in rows for number, name in enumerate(each)]
    try:
        atomic.write_text(path, "\n".join(["kind,number,name", *lines, ""]))
    except OSError as error:
        raise ConfigError(f"--names {path}: {error.strerror or error}") from None


@command.command("netrace", short_help="Make a list of packets of a netrace (.tra.bz2).")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@options.phit
@click.option("--region", type=click.IntRange(min=0), metavar="N", help="Take the packets of this region.")
@click.option(
    "--begin",
    type=click.IntRange(min=0),
    default=0,
    metavar="CYCLE",
    help="First cycle, counted from the beginning of the region or of the trace; default 0.",
)
@click.option(
    "--cycles", type=click.IntRange(min=1), metavar="N", help="Take so many cycles; default: up to the end."
)
def of_netrace(file: Path, phit: int | None, region: int | None, begin: int, cycles: int | None) -> None:
    """Make a list of packets of FILE, what Netrace has recorded of a network on chip.

    It is a table of comma-separated values, which a document names as jobs.traffic.packet_list.file. Cycles
    count from the first that is taken. Dependencies are left out: each packet is generated in its cycle, also
    when packets that it depends on have not arrived. `hopsim trace info` tells what regions there are.
    """
    part = netrace.Part(region, begin, cycles)
    converted = netrace.convert(file, part, phit or netrace_file.PHIT)
    for remark in converted.remarks:
        click.echo(remark, err=True)
    click.echo(converted.table, nl=False)
