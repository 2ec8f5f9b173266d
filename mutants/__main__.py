"""`python -m mutants`: break rules on purpose and see that tests notice."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase

import click
from rich.console import Console
from rich.table import Table

from mutants import named, package, rust, statements, together
from mutants.bench import Bench, Verdict
from mutants.changes import Change, equivalent
from mutants.named import Judgement, Mutant
from mutants.score import Outcome, report
from mutants.scratch import WOVEN_PROFILE, MutantsError, Scratch

SAMPLE = 8
WORTH_WEAVING = 10
"""So many mutants of Rust sources are compiled together: an optimised build takes as long as some others."""

LAST_LINES = 15
"""Of the output of a test or compiler, where it is shown."""


@click.group()
def main() -> None:
    """Break rules on purpose, in a copy of the checkout, and see that tests notice."""


@main.command("named")
@click.option("--only", "names", multiple=True, metavar="NAME", help="Only this mutant; may be repeated.")
@click.option("--area", "areas", multiple=True, metavar="AREA", help="Only those of named/AREA.toml.")
@click.option("--list", "only_list", is_flag=True, help="List them and run nothing.")
def named_command(names: tuple[str, ...], areas: tuple[str, ...], only_list: bool) -> None:
    """The mutants of mutants/named/, each against the test that has to notice it."""
    try:
        chosen = _chosen(named.read(), names, areas)
        if only_list:
            for mutant in chosen:
                click.echo(f"{mutant.area}\t{mutant.name}\t{mutant.breaks}")
            return
        judgements = _judge(chosen)
    except MutantsError as error:
        sys.exit(f"mutants: {error}")
    sys.exit(_report(judgements))


@main.command("statements")
@click.option(
    "--entry",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    default=["*"],
    help="Only entries of `hopsim reproduce` whose name fits; may be repeated.",
)
@click.option("--full", is_flag=True, help="Those of which a quick run judges nothing, at full scale: days.")
@click.option("--list", "only_list", is_flag=True, help="List them with their mutants and run nothing.")
def statements_command(patterns: tuple[str, ...], full: bool, only_list: bool) -> None:
    """Each published entry with its mechanism broken, as statements.toml says: a statement has to fail."""
    tried: list[statements.Tried] = []
    try:
        rows = statements.read()
        entries = [name for name in statements.entries() if any(fnmatchcase(name, each) for each in patterns)]
        pairs = statements.trials(rows, entries, full=full)
        if only_list:
            click.echo("\n".join("\t".join(pair) for pair in pairs))
            return
        for each in statements.run(Scratch.of_checkout(), pairs, full=full):
            tried.append(each)
            click.echo(f"{len(tried)}/{len(pairs)} {each.text()}")
    except MutantsError as error:
        sys.exit(f"mutants: {error}")
    broken = sum(bool(each.failed) for each in tried)
    click.echo(f"{broken} of {len(tried)} entries notice that their mechanism is broken")
    sys.exit(0 if broken == len(tried) else 1)


@main.command("rust")
@click.option("--sample", default=SAMPLE, show_default=True, metavar="N", help="Mutants of each folder.")
@click.option("--seed", default=1, show_default=True, help="Which ones are drawn.")
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Choice(list(rust.FOLDERS)),
    help="Only this one; may be repeated.",
)
@click.option("--list", "only_list", is_flag=True, help="List the sample and run nothing.")
def rust_command(sample: int, seed: int, folders: tuple[str, ...], only_list: bool) -> None:
    """A sample of what cargo-mutants can break in the engine."""
    try:
        known = equivalent()
        bench = Bench(Scratch.of_checkout())
        mutants = rust.listed(bench.scratch)
        _refuse_unknown(rust.stale(mutants, known))
        drawn = rust.sample(mutants, sample, seed, folders or rust.FOLDERS)
        if only_list:
            click.echo("\n".join(mutant.name for mutant in drawn))
            return
        outcomes: list[Outcome] = []
        for number, mutant in enumerate(drawn, 1):
            outcomes.append(rust.attempt(bench, mutant))
            click.echo(f"{number}/{len(drawn)} {mutant.name}: {outcomes[-1].fate.value}", err=True)
    except MutantsError as error:
        sys.exit(f"mutants: {error}")
    sys.exit(report(outcomes, known, rust.TARGET))


@main.command("python")
@click.option(
    "--module",
    "modules",
    multiple=True,
    type=click.Choice(list(package.MODULES)),
    help="Only this one; may be repeated.",
)
def python_command(modules: tuple[str, ...]) -> None:
    """Everything that mutmut can break in the modules that compute what users publish."""
    try:
        known = equivalent()
        outcomes = package.run(Scratch.of_checkout(), modules or tuple(package.MODULES))
        status = report(outcomes, known, package.TARGET)
        made = {outcome.change for outcome in outcomes}
        places = {f"python/{module}.py" for module in modules or package.MODULES}
        _refuse_unknown([change for change in known if change.file in places and change not in made])
    except MutantsError as error:
        sys.exit(f"mutants: {error}")
    sys.exit(status)


def _refuse_unknown(changes: list[Change]) -> None:
    if changes:
        raise MutantsError(
            f"equivalent.toml: {changes[0].file}: no mutant, or none that is missed, makes this change; "
            f"remove it:\n{changes[0].text()}"
        )


def _chosen(mutants: list[Mutant], names: tuple[str, ...], areas: tuple[str, ...]) -> list[Mutant]:
    for given, known in ((names, {each.name for each in mutants}), (areas, {each.area for each in mutants})):
        for name in given:
            if name not in known:
                raise MutantsError(f"{name}: is not in mutants/named; there are: {', '.join(sorted(known))}")
    return [
        mutant
        for mutant in mutants
        if (not names or mutant.name in names) and (not areas or mutant.area in areas)
    ]


def _judge(mutants: list[Mutant]) -> list[Judgement]:
    """What becomes of each: where it pays, those of the Rust sources are compiled together."""
    scratch = Scratch.of_checkout()
    judgements: list[Judgement] = []

    def add(judgement: Judgement) -> None:
        judgements.append(judgement)
        told = f"{len(judgements)}/{len(mutants)} {judgement.mutant.name}: {judgement.trial.verdict.value}"
        click.echo(told, err=True)

    held = frozenset[str]()
    if sum(each.file.endswith(".rs") for each in mutants) >= WORTH_WEAVING:
        woven = Bench(scratch, WOVEN_PROFILE)
        with together.placed(scratch, mutants) as held:
            click.echo(f"{len(held)} are compiled together", err=True)
            for mutant in mutants:
                if mutant.name in held:
                    add(together.judge_woven(woven, mutant))
    alone = Bench(scratch)
    for mutant in mutants:
        if mutant.name not in held:
            add(named.judge(alone, mutant))
    return judgements


def _report(judgements: list[Judgement]) -> int:
    """Print what became of the mutants; the exit status."""
    table = Table("area", "mutant", "verdict", "seconds")
    for each in judgements:
        mutant, trial = each.mutant, each.trial
        table.add_row(mutant.area, mutant.name, trial.verdict.value, f"{trial.seconds:.0f}")
    console = Console()
    console.print(table)
    wrong = [each for each in judgements if each.trial.verdict is not Verdict.CAUGHT]
    for each in wrong:
        click.echo(f"\n{each.mutant.name} ({each.trial.verdict.value}): {each.mutant.breaks}")
        click.echo(f"  {each.mutant.file}; {' '.join(each.mutant.test)}")
        last = each.trial.output.splitlines()[-LAST_LINES:]
        click.echo("".join(f"  | {line}\n" for line in last), nl=False)
    click.echo(f"{len(judgements) - len(wrong)} of {len(judgements)} named mutants caught")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
