"""`hopsim trace`: what is in the file of a program, the same in other formats, and what a run made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from hopsim import _core
from hopsim.cli import trace_run
from hopsim.cli.console import print_table, stdout
from hopsim.cli.encoding import visible
from hopsim.cli.options import phit as option_of_phit
from hopsim.cli.point import chosen
from hopsim.cli.point import option as of_point
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.files import netrace, program_file
from hopsim.files.netrace_info import REGION_HEADINGS, TYPE_HEADINGS, NetraceInfo
from hopsim.files.program_file import Source
from hopsim.files.trace_info import HEADINGS, TraceInfo
from hopsim.insight.paraver import write_paraver
from hopsim.results.origin import Origin
from hopsim.results.result import Result

EXTENSIONS = {".mpt": "mpt", ".dim": "dimemas", ".goal": "goal", ".bin": "goal-binary"}
"""Formats by the extension of their files, before `.xz` or `.gz`."""


_CHAKRA = (
    click.option(
        "--groups",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="JSON file of the process groups of a Chakra trace.",
    ),
    click.option(
        "--flops", type=float, metavar="X", help="Operations per second of a rank of a Chakra trace."
    ),
)


def _of_chakra(function: Callable[..., None]) -> Callable[..., None]:
    """Adds what the files of a Chakra trace do not say."""
    for option in reversed(_CHAKRA):
        function = option(function)
    return function


@click.group("trace")
def command() -> None:
    """Tell what is in the file of a program, convert it, or write what a run made of it.

    Programs are in mpt 1, Dimemas, Paraver (.prv, as Extrae writes it), GOAL, Chakra and tables of traffic.
    The format of a file is recognised by how it begins; .xz and .gz are decompressed. A Chakra trace is named
    by what its files begin with: NAME for NAME.0.et and so on. `info` also reads a netrace (.tra.bz2), the
    packets of a network on chip, of which `hopsim convert netrace` makes a list of packets.
    """


command.add_command(trace_run.command)


@command.command("info", short_help="Verify the file of a program or a netrace and show its totals.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@_of_chakra
@option_of_phit
def info(file: Path, groups: Path | None, flops: float | None, phit: int | None) -> None:
    """Verify the file of a program, or a netrace, and show its totals.

    Verified is that every message that is sent is received, in sequences (mpt, Dimemas, Paraver) with the
    same bytes, that members of a communicator call the same collectives in the same order, and that the
    program comes to its end. The ideal time is that of a network without latency over which messages take no
    time.

    Of a netrace it is that packets have types and nodes that there are, come by cycle, and are as many as the
    headers of the file and of its regions say. A packet depends on all those before it that name it.
    """
    if netrace.is_netrace(file):
        _refuse_given(file, "a netrace", {"--groups": groups, "--flops": flops})
        traced = NetraceInfo.of(file, phit or netrace.PHIT)
        _print_lines(traced.lines())
        _print_rows(TYPE_HEADINGS, traced.types())
        click.echo()
        _print_rows(REGION_HEADINGS, traced.regions())
        return
    _refuse_given(file, "no netrace", {"--phit": phit})
    found = TraceInfo.of(Source(file, groups, flops))
    _print_lines(found.lines())
    _print_rows(HEADINGS, [found.row()])


def _refuse_given(file: Path, kind: str, options: Mapping[str, object]) -> None:
    """Raises `ConfigError` if an option was given that says nothing of such a file."""
    given = [f"no {name}" for name, value in options.items() if value is not None]
    if given:
        raise ConfigError(f"{file}: is {kind}; valid: {' and '.join(given)}")


def _print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print values with their names."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, value in lines:
        table.add_row(escape(visible(name)), escape(visible(value)))
    print_table(stdout(), table)


def _print_rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as Markdown has it."""
    for line in (headings, ["---"] * len(headings), *rows):
        click.echo(visible(f"| {' | '.join(line)} |"))


@command.command("convert", short_help="Write a program in another format.")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "name",
    type=click.Choice(list(EXTENSIONS.values())),
    help="Format; default by the extension of OUT: "
    + ", ".join(f"{extension} {name}" for extension, name in EXTENSIONS.items())
    + ", each also compressed as .xz or .gz.",
)
@click.option(
    "--collectives",
    multiple=True,
    metavar="KIND=ALGORITHM",
    help="Algorithm whose messages a kind of collective becomes in GOAL, as in host.collectives; default "
    "auto. May be repeated.",
)
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@_of_chakra
def convert(
    source: Path,
    target: Path,
    name: str | None,
    collectives: tuple[str, ...],
    force: bool,
    groups: Path | None,
    flops: float | None,
) -> None:
    """Write the program in IN to OUT in another format.

    GOAL has no collectives and no communicators: collectives become messages, and keys become tags. mpt and
    Dimemas hold sequences: a graph converts if each operation waits until the one before it has started or is
    done, and if messages are received with the bytes that they are sent with. Dimemas loses waits for sends,
    receives from any source and the single sizes of alltoallv. What does not come to its end is refused.
    """
    name = name or _by_extension(target)
    choices = [_choice(text) for text in collectives]
    if choices and not name.startswith("goal"):
        raise ConfigError(f"--collectives: {name} has collectives of its own; valid: with --to goal")
    _refuse_existing(target, force=force)
    if netrace.is_netrace(source):
        raise ConfigError(
            f"{source}: is a netrace, packets and no program; valid: a program, or hopsim convert netrace"
        )
    format_and_name = (name, program_file.name_of(target))
    converted = Source(source, groups, flops).ask(_core.convert_program, format_and_name, choices)
    program_file.write(target, converted)


@command.command("paraver", short_help="Write what the ranks of a run did as a trace for Paraver.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT.prv", type=click.Path(path_type=Path))
@click.option(
    "--job", metavar="NAME", help="The job whose program it is; may be left out if there is one only."
)
@of_point
@click.option("--force", is_flag=True, help="Replace the files if they exist.")
def paraver(directory: Path, target: Path, job: str | None, point: int | None, force: bool) -> None:
    """Write what the ranks of a point of a results directory did as OUT.prv, with OUT.pcf and OUT.row.

    The point must have recorded the stream operations. The files show every call of MPI for as long as it
    took in the run, computations between them, and messages outside of collective operations; nodes are
    those of the placement. Paraver opens OUT.prv; hopsim reads it, too, as a program with these computations.
    The program must be a sequence (mpt, Dimemas, Paraver, list, collective, stencil, training).
    """
    _refuse_existing(target, force=force)
    results, number = chosen(directory, point, _refuse_unrecorded)
    result = results.by_number(number)
    if results.origin is not None and _is_in_file(result):
        _read_again(results.origin)
    click.echo(f"{write_paraver(result, target, job=job)}, for Paraver, with .pcf and .row beside it")


def _refuse_unrecorded(result: Result) -> None:
    """Raises `NotRecordedError` for a point that has not recorded what its ranks did."""
    _ = result.operations


def _is_in_file(result: Result) -> bool:
    """Whether a program of a point is in a file."""
    programs = [job.get("program", {}) for job in result.config["jobs"]]
    return any("file" in program for kinds in programs for program in kinds.values())


def _read_again(origin: Origin) -> None:
    """Reads the files that the document of a run names."""
    try:
        directory = Experiment.open(origin.experiment).directory
    except ConfigError:
        directory = Path(origin.experiment).parent
    Experiment(origin.document, origin.experiment, directory=directory).setting(origin.overrides).points()


def _refuse_existing(target: Path, *, force: bool) -> None:
    """Raises `ConfigError` if a file would be replaced without being told so."""
    if target.exists() and not force:
        raise ConfigError(f"{target}: exists; valid: another name, or --force to replace it")


def _by_extension(target: Path) -> str:
    extension = Path(target.stem if target.suffix in program_file.OPENERS else target.name).suffix
    if extension not in EXTENSIONS:
        known = ", ".join(EXTENSIONS)
        raise ConfigError(f"{target}: the extension says no format; valid: {known}, or --to FORMAT")
    return EXTENSIONS[extension]


def _choice(text: str) -> tuple[str, str]:
    kind, equals, algorithm = text.partition("=")
    if not equals:
        raise ConfigError(f"--collectives {text}: must be KIND=ALGORITHM, for example allreduce=ring")
    return kind, algorithm
