"""`hopsim plot`: draw the figures of a results directory."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.errors import ConfigError
from hopsim.nearest import suggestion
from hopsim.plot import KINDS, View, draw_all
from hopsim.results import Results
from hopsim.store import load


@click.command(
    "plot", epilog="Kinds: " + "; ".join(f"{name}, {module.TITLE}" for name, module in KINDS.items()) + "."
)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Only this kind. May be repeated."
)
@click.option(
    "--format", "formats", multiple=True, type=click.Choice(["png", "pdf", "svg"]), help="Default: png."
)
@click.option(
    "--group-by",
    "by",
    multiple=True,
    metavar="path",
    help="Sweep axis that makes the curves; the others make separate figures. May be repeated.",
)
@click.option(
    "--load",
    "at",
    type=float,
    metavar="X",
    help="Offered load of figures that show one load; default: the highest.",
)
@click.option(
    "--group",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Group whose routers are shown; default 0.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where the figures go; default DIR/plots."
)
def command(
    directory: Path,
    kinds: tuple[str, ...],
    formats: tuple[str, ...],
    by: tuple[str, ...],
    at: float | None,
    group: int,
    out: Path | None,
) -> None:
    """Draw all figures that the results in DIR allow."""
    results = load(directory)
    if not len(results):
        raise ConfigError(f"{directory}: no point has finished; run the experiment first")
    paths = tuple(_axis(path, results) for path in by)
    view = View(by=paths or None, load=at, group=group)
    written = draw_all(
        results, out or directory / "plots", view, kinds=kinds or KINDS, formats=formats or ("png",)
    )
    if not written:
        raise ConfigError(f"{directory}: {_nothing_to_draw(results)}")
    for path in written:
        click.echo(path)


def _axis(path: str, results: Results) -> str:
    matches = [axis for axis in results.axes if axis == path or axis.endswith(f".{path}")]
    if len(matches) != 1:
        known = ", ".join(results.axes) or "none"
        raise ConfigError(
            f"--group-by {path}: is not an axis of the sweep; axes: {known}{suggestion(path, results.axes)}"
        )
    return matches[0]


def _nothing_to_draw(results: Results) -> str:
    recorded = ", ".join(results.recorded) or "none"
    return (
        f"nothing to draw from {len(results)} points with the tables {recorded}; curves need a sweep over "
        'load, the other figures measure.streams = ["nodes", "routers", "latency_histogram", "generation"] '
        "or measure.interval"
    )
