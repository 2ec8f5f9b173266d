"""`hopsim plot`: draw the figures of a results directory."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click

from hopsim.errors import ConfigError
from hopsim.plot import KINDS, View, draw_all
from hopsim.results import Results
from hopsim.series import SEED, by_job
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
    help="Load of figures that show one load, or size of bursts; one of the results. Default: the highest.",
)
@click.option(
    "--group",
    type=click.IntRange(0),
    metavar="N",
    help="Group whose routers are shown; one of the results. Default: 0.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="path=A,B,…",
    help="Names for the values of a sweep axis, in their order, as [sweep.labels] gives them. "
    'Names with commas: path=["A", "B"]. May be repeated.',
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
    group: int | None,
    labels: tuple[str, ...],
    out: Path | None,
) -> None:
    """Draw all figures that the results in DIR allow, and say what the others need."""
    results = load(directory)
    if not len(results):
        raise ConfigError(f"{directory}: no point has finished; run the experiment first")
    results = results.labelled(dict(map(_names, labels)))
    paths = tuple(_axis(path, results) for path in by)
    view = View(by=paths or None, load=at, group=group)
    folder = out or directory / "plots"
    written = draw_all(
        results,
        folder,
        view,
        kinds=kinds or None,
        formats=formats or ("png",),
        tell=lambda text: click.echo(text, err=True),
    )
    for path in written:
        click.echo(path)


def _axis(path: str, results: Results) -> str:
    axis = by_job(results).axis(path, "--group-by")
    if axis == SEED:
        raise ConfigError(f"--group-by {path}: points that differ in the seed only are one point of a curve")
    return axis


def _names(text: str) -> tuple[str, list[str]]:
    """Axis and names of `path=A,B` or `path=["A", "B"]`."""
    path, equals, names = (part.strip() for part in text.partition("="))
    if not equals or not path:
        raise ConfigError(f"--label {text}: must be path=A,B,…, for example --label routing=MIN,VAL")
    if not names.startswith("["):
        return path, [name.strip() for name in names.split(",")]
    try:
        listed = tomllib.loads(f"names = {names}")["names"]
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"--label {text}: not a TOML list: {error}") from None
    if not all(isinstance(name, str) for name in listed):
        raise ConfigError(f'--label {text}: a name must be a string; valid: {path}=["A", "B"]')
    return path, listed
