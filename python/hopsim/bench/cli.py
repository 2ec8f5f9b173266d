"""The command `hopsim bench`."""

from __future__ import annotations

import datetime
import importlib.util
import os
import platform
import re
import shutil
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hopsim import _core
from hopsim.bench import fabrics, programs, scale, threads
from hopsim.bench.cases import Case, cases
from hopsim.bench.figures import Figure
from hopsim.bench.history import History
from hopsim.bench.measure import Bench
from hopsim.cli.console import of_width, stdout
from hopsim.errors import ConfigError
from hopsim.runs.runner import all_cores

# Columns of the table with its notes, where there is no terminal.
WIDTH = 200
COLOURS = {"pass": "green", "fail": "bold red", "": ""}


class Pattern(click.ParamType[re.Pattern[str]]):
    """A regular expression."""

    name = "regex"

    def convert(
        self, value: str | re.Pattern[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> re.Pattern[str]:
        """Compile it."""
        try:
            return re.compile(value, re.IGNORECASE)
        except re.error as error:
            raise click.BadParameter(f"{value}: not a regular expression: {error}", param=param) from None


RUNNER = click.option(
    "--runner", type=click.Path(path_type=Path), help="Native runner; default: the one `make bench` builds."
)
CASE = click.option(
    "--case", "pattern", type=Pattern(), metavar="REGEX", help="Only cases whose name matches."
)


@click.group("bench", invoke_without_command=True)
@click.option("--quick", is_flag=True, help="Few cases and runs, within a minute.")
@CASE
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Runs per time; default 5, quick 3.")
@click.option(
    "--save",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("bench-results/latest.json"),
    show_default=True,
    help="File of earlier metrics: compare with the last of each, then add these.",
)
@click.option("--no-save", is_flag=True, help="Compare only.")
@click.option(
    "--traces",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory of recorded programs, *.mpt.xz, to be measured too.",
)
@RUNNER
@click.pass_context
def command(
    context: click.Context,
    quick: bool,
    pattern: re.Pattern[str] | None,
    runs: int | None,
    path: Path,
    no_save: bool,
    traces: Path | None,
    runner: Path | None,
) -> None:
    """Measure time, instructions and memory of the simulator.

    The run phase is a simulation less one of a single cycle. Times are CPU times of one thread, the
    best of N; instructions are counted by valgrind's callgrind, where it is installed. `ratio` is to
    the last saved run. A missed target is reported and is not an error.
    """
    if importlib.util.find_spec("resource") is None:
        raise ConfigError("bench: this system does not say what processes use; valid: Linux, macOS")
    if context.invoked_subcommand is not None:
        return
    known = [
        case
        for case in [*cases(), *programs.cases(traces), *fabrics.cases(), *threads.cases()]
        if not quick or case.quick
    ]
    chosen = [case for case in known if not pattern or pattern.search(case.name)]
    if not chosen:
        names = "; ".join(case.name for case in known)
        raise click.BadParameter(f"no such case; cases: {names}", param_hint="--case")
    history = History(path)
    about = machine()
    console = stdout()
    console.print(", ".join(f"{key} {value}" for key, value in about.items()), highlight=False)
    if shutil.which("valgrind") is None:
        console.print("valgrind is not installed: no instructions are counted")
    measured = _measure(chosen, Bench(runner or default_runner(), runs or (3 if quick else 5)))
    of_width(WIDTH).print(table(measured, history.latest()))
    if not no_save:
        history.save(about, [figure for _, figures in measured for figure in figures])
        console.print(f"Saved: {path}", soft_wrap=True)


@command.command("scale")
@CASE
@RUNNER
def scale_command(pattern: re.Pattern[str] | None, runner: Path | None) -> None:
    """Estimate how many times as fast 2 to 128 threads simulate, and see it on this machine.

    Expected values follow from the time that every region takes in every window, measured on one thread.
    """
    scale.report(runner or default_runner(), pattern)


def _measure(chosen: list[Case], bench: Bench) -> list[tuple[Case, list[Figure]]]:
    measured: list[tuple[Case, list[Figure]]] = []
    with bench, Console(stderr=True).status("") as status:
        for number, case in enumerate(chosen, 1):
            status.update(f"{number}/{len(chosen)} {escape(case.name)}")
            measured.append((case, case.figures(bench)))
    return measured


def default_runner() -> Path:
    """Where cargo puts the example `run`, seen from the repository's root."""
    return Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "examples" / "run"


def machine() -> dict[str, Any]:
    """When, with what and where metrics were measured."""
    about: dict[str, Any] = {
        "hopsim": _core.version(),
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "processor": platform.machine(),
        "cores": all_cores(),
    }
    if hasattr(os, "getloadavg"):
        about["load average"] = round(os.getloadavg()[0], 1)
    return about


def table(measured: list[tuple[Case, list[Figure]]], saved: dict[str, float]) -> Table:
    """All metrics, a section for each kind of case."""
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("case", "quantity", "value", "target", "", "ratio", "note"):
        justify = "right" if heading in ("value", "target", "ratio") else "left"
        grid.add_column(heading, justify=justify, no_wrap=heading != "note")
    section = None
    for case, figures in measured:
        if case.section != section:
            section = case.section
            grid.add_row(f"[bold]{escape(section)}[/bold]")
        for index, figure in enumerate(figures):
            grid.add_row("" if index else f"  {escape(case.name)}", *cells(figure, saved))
    return grid


def cells(figure: Figure, saved: dict[str, float]) -> list[str]:
    """A metric as text: quantity, value, target, verdict, ratio to the saved one, note."""
    ratio = figure.ratio(saved)
    verdict, colour = figure.verdict, COLOURS[figure.verdict]
    return [
        figure.quantity,
        "–" if figure.value is None else f"{_number(figure.value)} {figure.unit}".strip(),
        "" if figure.target is None else f"≤ {figure.target:g}",
        f"[{colour}]{verdict}[/{colour}]" if colour else verdict,
        "" if ratio is None else f"×{ratio:.3f}",
        escape(figure.note),
    ]


def _number(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:,.1f}"
