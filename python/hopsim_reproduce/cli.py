"""The command `hopsim reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from hopsim.cli.console import of_width
from hopsim.suggestion import suggestion
from hopsim_reproduce import show
from hopsim_reproduce.entries import BY_NAME, ENTRIES
from hopsim_reproduce.model import Entry, Scale
from hopsim_reproduce.run import run


class EntryName(click.ParamType[Entry]):
    """The name of an entry; a wrong one is answered with the nearest."""

    name = "name"

    def convert(self, value: str | Entry, param: click.Parameter | None, ctx: click.Context | None) -> Entry:
        """Look an entry up."""
        if isinstance(value, Entry):
            return value
        if value in BY_NAME:
            return BY_NAME[value]
        message = f"{value}: no such entry{suggestion(value, BY_NAME) or ';'} valid: {', '.join(BY_NAME)}"
        raise click.BadParameter(message, ctx, param)


@click.command("reproduce")
@click.argument("entry", metavar="[NAME]", type=EntryName(), required=False)
@click.option(
    "--scale",
    type=click.Choice(get_args(Scale)),
    default="quick",
    show_default=True,
    help="quick: a smaller network, about a minute. full: the published network and length.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=None,
    help="Simulations at a time.  [default: one per core]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Directory of results and figures; a run that was stopped resumes there.  "
    "[default: results/NAME-SCALE]",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=None,
    help="Runs per point, with seeds 1 to N.  [default: the entry's]",
)
def command(entry: Entry | None, scale: Scale, jobs: int | None, out: Path | None, seeds: int | None) -> None:
    """Run a published table or figure again and print it beside the published values.

    Without NAME, list what can be reproduced.
    """
    console = of_width(show.WIDTH)
    if entry is None:
        console.print(show.listing(ENTRIES))
        return
    from hopsim_reproduce import drawing  # loads matplotlib, which a listing does not need

    directory = out or Path("results") / f"{entry.name}-{scale}"
    show.heading(console, entry, scale)
    results = run(entry.experiments(scale, seeds or entry.seeds[scale]), directory, jobs)
    outcome = entry.conclude(scale, results)
    show.outcome(console, entry, outcome)
    written = show.write(directory, outcome)
    written += drawing.save(entry.draw(scale, results), directory, entry.name)
    console.print(f"Written: {', '.join(map(str, written))}")
