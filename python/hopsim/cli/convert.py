"""`hopsim convert`: documents made of what other simulators read."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.convert import booksim, booksim_file
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.files import toml


@click.group("convert")
def command() -> None:
    """Make a document of what another simulator reads.

    The document goes to standard output, what it has instead of what could not be carried over to standard
    error, a sentence for each option.
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
