"""`hopsim export`: experiments written as what other simulators read."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.cli import options
from hopsim.convert import booksim_file
from hopsim.document.experiment import Point
from hopsim.errors import ConfigError
from hopsim.export import booksim, caminos
from hopsim.files import atomic

out_option = click.option(
    "--out", type=click.Path(path_type=Path), metavar="PATH", help="Where to; default standard output."
)
point_option = click.option(
    "--point",
    type=click.IntRange(0),
    metavar="N",
    help="The point of the sweep, from 0; may be left out if there is one.",
)


@click.group("export")
def command() -> None:
    """Write an experiment as what another simulator reads.

    It goes to standard output or to --out, and what could not be carried over or is different there to
    standard error, a sentence for each. An experiment that the other simulator cannot run is refused.
    """


@command.command("booksim", short_help="Write a configuration file of BookSim 2.")
@options.experiment
@options.assignments
@point_option
@out_option
def to_booksim(experiment: str, assignments: tuple[str, ...], point: int | None, out: Path | None) -> None:
    """Write a point of FILE as a configuration file of BookSim 2.

    A graph becomes a network file (anynet) besides, which is written beside PATH and is called as that with
    .anynet behind it; BookSim looks for it where it is run. `hopsim convert booksim` makes a document of the
    configuration file again.
    """
    chosen = _point(experiment, assignments, point)
    beside = None if out is None else out.with_name(f"{out.name}.anynet")
    exported = booksim.export(chosen.config, "" if beside is None else beside.name)
    if exported.network is not None:
        if beside is None:
            raise ConfigError("--out is not given: a graph becomes two files; valid: --out PATH")
        if not booksim_file.is_name(beside.name):
            raise ConfigError(
                f"--out {out}: BookSim 2 cannot read the name of a file {beside.name}; valid: letters, "
                "digits, _, - and dots, not a digit first"
            )
        _write(beside, exported.network)
    for remark in exported.remarks:
        click.echo(remark, err=True)
    _tell(exported.text, out)


@command.command("caminos", short_help="Write a configuration file of CAMINOS.")
@options.experiment
@options.assignments
@point_option
@out_option
def to_caminos(experiment: str, assignments: tuple[str, ...], point: int | None, out: Path | None) -> None:
    """Write a point of FILE as a configuration file of CAMINOS (caminos-lib 0.6).

    It is for meshes and HyperX networks with minimal routing, routers of the kind cioq and uniform traffic.
    """
    exported = caminos.export(_point(experiment, assignments, point).config)
    for remark in exported.remarks:
        click.echo(remark, err=True)
    _tell(exported.text, out)


def _point(experiment: str, assignments: tuple[str, ...], number: int | None) -> Point:
    """The point of FILE that is asked for."""
    points = options.document(experiment, assignments).points()
    if (number is None and len(points) > 1) or (number or 0) >= len(points):
        given = "" if number is None else f"--point {number}: "
        raise ConfigError(
            f"{given}{experiment} has {len(points)} points; valid: --point 0 … {len(points) - 1}"
        )
    return points[number or 0]


def _tell(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=False)
    else:
        _write(out, text)


def _write(path: Path, text: str) -> None:
    try:
        atomic.write_text(path, text)
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror or error}") from None
