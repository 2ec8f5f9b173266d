"""The command `hopsim reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_args

import click
from rich.console import Console

from hopsim.cli.console import of_width
from hopsim.suggestion import suggestion
from hopsim_reproduce import score, show
from hopsim_reproduce.batch import How, run_all, run_entry
from hopsim_reproduce.entries import BY_NAME, ENTRIES
from hopsim_reproduce.model import Entry, Scale
from hopsim_reproduce.score import Score

ALL = "all"


class EntryName(click.ParamType[Sequence[Entry]]):
    """The name of an entry, or all of them; a wrong one is answered with the nearest."""

    name = "name"

    def convert(
        self, value: str | Sequence[Entry], param: click.Parameter | None, ctx: click.Context | None
    ) -> Sequence[Entry]:
        """Look an entry up."""
        if not isinstance(value, str):
            return value
        if value == ALL:
            return ENTRIES
        if value in BY_NAME:
            return [BY_NAME[value]]
        message = f"{value}: no such entry{suggestion(value, BY_NAME) or ';'} valid: {', '.join(BY_NAME)}"
        raise click.BadParameter(message, ctx, param)


@click.command("reproduce")
@click.argument("entry", metavar="[NAME | all]", type=EntryName(), required=False)
@click.option(
    "--scale",
    type=click.Choice(get_args(Scale)),
    default="quick",
    show_default=True,
    help="quick: a smaller network, and of most figures only what statements read. full: the "
    "published network and length.",
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
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="With `all`: only entries whose name fits, such as 'gran-*'. May be given several times.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=None,
    help="Runs per point, with seeds 1 to N.  [default: the entry's]",
)
def command(
    entry: Sequence[Entry] | None,
    scale: Scale,
    jobs: int | None,
    out: Path | None,
    seeds: int | None,
    only: tuple[str, ...],
) -> None:
    """Run a published table or figure again and print it beside the published values.

    Without NAME, list what can be reproduced. With `all` as NAME, run all of them, or resume what was
    stopped, and write the score card: scorecard.json and scorecard.html.
    """
    console = of_width(show.WIDTH)
    how = How(scale, jobs, seeds)
    if entry is None:
        console.print(show.listing(ENTRIES))
    elif len(entry) == 1:
        if only:
            raise click.UsageError("--only is for all entries: hopsim reproduce all --only PATTERN")
        _one(console, entry[0], how, out or Path("results") / f"{entry[0].name}-{scale}")
    else:
        _all(console, _chosen(entry, only), how, out or Path("results") / f"{ALL}-{scale}")


def _chosen(entries: Sequence[Entry], patterns: Sequence[str]) -> list[Entry]:
    found = [
        entry
        for entry in entries
        if not patterns or any(fnmatchcase(entry.name, pattern) for pattern in patterns)
    ]
    if not found:
        message = f"no entry fits {', '.join(patterns)}; valid: {', '.join(BY_NAME)}"
        raise click.BadParameter(message, param_hint="'--only'")
    return found


def _one(console: Console, entry: Entry, how: How, directory: Path) -> None:
    show.heading(console, entry, how.scale)
    outcome, written = run_entry(entry, how, directory)
    show.outcome(console, entry, how.scale, outcome)
    console.print(f"Written: {', '.join(map(str, written))}")


def _all(console: Console, entries: Sequence[Entry], how: How, directory: Path) -> None:
    def told(each: Score) -> None:
        console.print(show.line(each), highlight=False)

    written = run_all(entries, how, directory, told)
    found = score.read(written[0])
    console.print(show.card(found))
    console.print(score.totals(found), highlight=False)
    console.print(f"Written: {', '.join(map(str, written))}")
