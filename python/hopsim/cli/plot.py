"""`hopsim plot`: draw the figures of a results directory."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from hopsim.cli.options import Named
from hopsim.errors import ConfigError
from hopsim.plot import KINDS, View, draw_all
from hopsim.plot.options import SCALES
from hopsim.results.store import load

KIND_LINES = "; ".join(f"{name}, {kind.module.TITLE}" for name, kind in KINDS.items())


@click.command("plot", epilog=f"Kinds: {KIND_LINES}.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--kind", "kinds", multiple=True, type=Named(list(KINDS)), help="Only this kind. May be repeated."
)
@click.option("--format", "formats", multiple=True, type=Named(["png", "pdf", "svg"]), help="Default: png.")
@click.option(
    "--group-by",
    "by",
    multiple=True,
    metavar="path",
    help="Sweep axis that makes the curves; the others make separate figures. `job` is an axis where there "
    "are several. May be repeated.",
)
@click.option(
    "--x",
    metavar="path|COLUMN",
    help="What curves run over in place of the offered load: a sweep axis, or a column of the summary.",
)
@click.option("--y", metavar="COLUMN", help="Column of the summary that --kind metric shows.")
@click.option("--xlim", metavar="A:B", help="Ends of the horizontal axis of a --kind; one may be left out.")
@click.option("--ylim", metavar="A:B", help="Ends of its axis of values, likewise.")
@click.option("--xscale", type=Named(SCALES), help="Scale of the horizontal axis of a --kind.")
@click.option("--yscale", type=Named(SCALES), help="Scale of its axis of values.")
@click.option("--size", metavar="WxH", help="Width and height of a figure in inches, such as 6x4.")
@click.option(
    "--notes/--no-notes",
    default=True,
    help="Whether figures say what they leave out, and which points are hollow. Default: they do.",
)
@click.option("--dpi", type=click.IntRange(30, 1200), help="Dots per inch of png files; default 160.")
@click.option(
    "--load",
    type=float,
    metavar="X",
    help="Load of figures that show one load, or of curves over --x; or size of bursts. One of the results. "
    "Default: the highest; with --x all.",
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
    labels: tuple[str, ...],
    out: Path | None,
    **shown: Any,
) -> None:
    """Draw all figures that the results in DIR allow, and say what they leave out and which need streams.

    With --kind only those are drawn; of one that the results do not allow it is said what it needs.
    """
    results = load(directory)
    if not len(results):
        raise ConfigError(f"{directory}: no point has finished; run the experiment first")
    written = draw_all(
        results.labelled(dict(map(_names, labels))),
        out or directory / "plots",
        _view(**shown),
        kinds=kinds or None,
        formats=formats or ("png",),
        tell=lambda text: click.echo(text, err=True),
    )
    for path in written:
        click.echo(path)


def _view(
    *,
    by: tuple[str, ...],
    xlim: str | None,
    ylim: str | None,
    size: str | None,
    **others: Any,
) -> View:
    return View(
        by=by or None,
        xlim=None if xlim is None else _limits("--xlim", xlim),
        ylim=None if ylim is None else _limits("--ylim", ylim),
        size=None if size is None else _size(size),
        **others,
    )


def _limits(option: str, text: str) -> tuple[float | None, float | None]:
    """Both ends of `A:B`."""
    low, colon, high = text.partition(":")
    try:
        if not colon or not (low + high).strip():
            raise ValueError
        return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        raise ConfigError(
            f"{option} {text}: must be A:B, two numbers of which one may be left out, "
            f"for example {option} 0:0.5 or {option} :300"
        ) from None


def _size(text: str) -> tuple[float, float]:
    """Both sides of `6x4`."""
    try:
        width, height = map(float, text.lower().split("x"))
    except ValueError:
        raise ConfigError(f"--size {text}: must be WIDTHxHEIGHT in inches, for example --size 6x4") from None
    return width, height


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
