"""Pages of the site that are written from what hopsim knows of itself, as Markdown.

A page per mechanism, from the schema of the simulator, `figures.toml` and the score card; a page per example,
with its figure; the columns of the results; the interfaces.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import hopsim
from hopsim.cli.explain import found_by_several_runs
from hopsim.plot import accessor
from hopsim.vocabulary.catalogue import KINDS, Catalogue, Node, Parameter
from hopsim.vocabulary.columns import result_columns
from hopsim_reproduce import papers, score
from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.score import Score
from hopsim_reproduce.sentences import publication

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
HEADER = "crates/hopsim-c/include/hopsim.h"

# Kind -> keys that are a mechanism by themselves, beside the choices of `KINDS`.
KEYS = {
    "vcs": ["router.cioq.vcs.reply"],
    "buffers": ["router.cioq.buffers.damq"],
    "traffic": ["jobs.traffic.changes", "jobs.traffic.request_reply"],
}

Pages = Iterator[tuple[str, str]]
"""Path of a page, without its ending, and its Markdown."""


def generated() -> Pages:
    """All of them."""
    yield from mechanisms(Catalogue())
    yield from examples(ROOT / "experiments")
    yield "results", results()
    yield from interfaces()


def mechanisms(catalogue: Catalogue) -> Pages:
    """A page for every mechanism, one for every kind of them, and one that lists all."""
    kinds = [*KINDS, *(kind for kind in KEYS if kind not in KINDS)]
    index = ["# Mechanisms", "", "What an experiment document may name, as `hopsim list` shows it.", ""]
    index += _table(["kind", "names"])
    for kind in kinds:
        found = nodes(catalogue, kind)
        names = ", ".join(f"[{node.name}]({kind}-{node.name}.md)" for node in found)
        index.append(_row([f"[{kind}]({kind}.md)", names]))
        rows = [_row([f"[{node.name}]({kind}-{node.name}.md)", node.summary]) for node in found]
        tree = contents(f"{node.name} <{kind}-{node.name}>" for node in found)
        yield f"mechanisms/{kind}", _text([f"# {kind}", "", *_table(["name", "summary"]), *rows, "", *tree])
        for node in found:
            yield f"mechanisms/{kind}-{node.name}", _mechanism(catalogue, kind, node)
    yield "mechanisms/index", _text([*index, "", *contents(kinds)])


def nodes(catalogue: Catalogue, kind: str) -> list[Node]:
    """The mechanisms of a kind."""
    choices = catalogue.choices(KINDS[kind]) if kind in KINDS else []
    return [*choices, *(catalogue.nodes[path] for path in KEYS.get(kind, []))]


@cache
def figures() -> dict[str, dict[str, str]]:
    """Kind -> mechanism -> what it must reproduce: the name of an entry, or why there is none."""
    return tomllib.loads((DOCS / "figures.toml").read_text("utf-8"))


@cache
def card() -> dict[str, Score]:
    """Entry -> what came out of it when it was last run."""
    return {each.entry: each for each in score.read(DOCS / score.FILE)}


def _mechanism(catalogue: Catalogue, kind: str, node: Node) -> str:
    lines = [f"# {kind}: {node.name}", "", f"In the document: `{node.path}`", ""]
    for paragraph in node.paragraphs:
        lines += [paragraph, ""]
    parameters = catalogue.parameters(node)
    if parameters:
        lines += ["## Parameters", "", *_table(["name", "type", "unit", "range", "default", "meaning"])]
        lines += [*(_row(_cells(row)) for row in parameters), ""]
    tables = [node, *(below for below in catalogue.choices(node.path) if "oneOf" in below.schema)]
    for table in tables:
        choices = catalogue.choices(table.path) if "oneOf" in table.schema else []
        if choices:
            lines += [f"## Choices of {table.name}", "", *_table(["choice", "meaning"])]
            lines += [*(_row([f"`{choice.name}`", choice.lead]) for choice in choices), ""]
    return _text([*lines, *_figure(kind, node)])


def _figure(kind: str, node: Node) -> list[str]:
    """The section that says what a mechanism must reproduce and what came out, if its kind has one."""
    name = figures().get(kind, {}).get(node.name)
    if name is None:
        return []
    entry = BY_NAME.get(name)
    if entry is None:
        return ["## Must reproduce", "", name]
    own = card().get(name) or score.pending(name)
    page = f"../docs/papers/{publication(name)}.md#{_slug(entry.title)}"
    return [
        "## Must reproduce",
        "",
        f"[{entry.title}]({page})",
        "",
        *(f"- {line}" for line in _verdict(own)),
        "",
        papers.entry(own),
    ]


def _verdict(own: Score) -> Iterator[str]:
    kinds = {
        "published": "of what the publication says",
        "derived": "of what follows from it",
        "ours": "of our own, which no publication makes",
    }
    for kind, words in kinds.items():
        held = own.held(kind)
        if held:
            yield f"{words}: **{held}** held"
    later = own.count("published", "needs full scale") + own.count("derived", "needs full scale")
    if later:
        yield f"not judged in a quick run: {later}"


def _slug(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _cells(row: Parameter) -> list[str]:
    return [f"`{row.name}`", row.type, row.unit, row.range, f"`{row.default}`", row.doc]


def examples(folder: Path) -> Pages:
    """A page for every example, and one that lists all."""
    index = ["# Examples", "", "`hopsim run NAME` runs one of them, from any directory.", ""]
    index += _table(["", "what it shows"])
    paths = sorted(folder.glob("*.toml"))
    for path in paths:
        comment, document = _parts(path.read_text("utf-8"))
        lead = re.split(r"(?<=[.:])\s", " ".join(comment.split("\n")), maxsplit=1)[0].rstrip(":.") + "."
        picture = f"[![{path.stem}]({_image(path.stem)})]({path.stem}.md)"
        index.append(_row([picture, f"[{path.stem}]({path.stem}.md): {lead}"]))
        yield f"experiments/{path.stem}", _example(path.stem, comment, document)
    yield "experiments/index", _text([*index, "", *contents(f"{path.stem} <{path.stem}>" for path in paths)])


def _image(name: str) -> str:
    return f"../docs/images/examples/{name}.png"


def _example(name: str, comment: str, document: str) -> str:
    return _text(
        [
            f"# Example: {name}",
            "",
            comment,
            "",
            f"![What the results of {name} look like]({_image(name)})",
            "",
            f"`experiments/{name}.toml`:",
            "",
            "```toml",
            document,
            "```",
        ]
    )


def _parts(text: str) -> tuple[str, str]:
    """What an example says at its beginning, as Markdown, and the document after it."""
    lines = text.splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    comment: list[str] = []
    for line in lines[:end]:
        said = line[1:]
        # A command stands four columns in, as code in Markdown does.
        comment.append(f"    {said.strip()}" if said.startswith("   ") else said.strip())
    return "\n".join(comment), "\n".join(lines[end:]).strip()


def results() -> str:
    """Markdown of the page with every column of the results."""
    lines = ["# Columns", "", "Every column of every table, as `hopsim explain NAME` tells it."]
    known = [*result_columns(), *found_by_several_runs()]
    for table in dict.fromkeys(column.table for column in known):
        columns = [column for column in known if column.table == table]
        lines += ["", f"## {table}", "", f"In {columns[0].place}.", ""]
        lines += _table(["column", "unit", "meaning"])
        lines += [_row([f"`{column.name}`", column.unit, column.meaning]) for column in columns]
    return _text(lines)


def interfaces() -> Pages:
    """The Python package, the Rust crates, and the header for C."""
    described = [_described(hopsim, name) for name in hopsim.__all__]
    # What `results.plot` is has no name in the package.
    described.append(_described(accessor, "Plots"))
    about = inspect.cleandoc(hopsim.__doc__ or "")
    yield "python", _text(["# Python", "", about, "", "```{eval-rst}", *described, "```"])
    header = (ROOT / HEADER).read_text("utf-8").rstrip()
    guide = "[Co-simulation](docs/co-simulation.md) is the guide to it."
    yield "c", _text(["# C", "", f"`{HEADER}`. {guide}", "", "```c", header, "```"])
    # No page of Sphinx: `make docs` copies there what cargo has made.
    link = '<a href="rust/hopsim_core/index.html">Documentation of the crates</a>'
    yield "rust", _text(["# Rust", "", f"{link}, with a search of their own."])


def _described(module: ModuleType, name: str) -> str:
    """The directive that documents something of a module."""
    it = getattr(module, name)
    if not inspect.isclass(it):
        return f".. autofunction:: {module.__name__}.{name}\n"
    kind = "exception" if issubclass(it, BaseException) else "class"
    return f".. auto{kind}:: {module.__name__}.{name}\n   :members:\n"


def contents(pages: Iterable[str], caption: str = "") -> list[str]:
    """Lines that put pages into the navigation, below the page that has the lines."""
    named = [f":caption: {caption}"] if caption else []
    return ["```{toctree}", ":hidden:", *named, "", *pages, "```"]


def _table(headings: list[str]) -> list[str]:
    return [_row(headings), _row(["---"] * len(headings))]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
