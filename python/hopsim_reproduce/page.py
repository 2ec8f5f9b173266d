"""One HTML page of everything: the score card, then every entry with its statements and its figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from hopsim.files import atomic
from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.score import HEADINGS, Line, Score, row, totals
from hopsim_reproduce.sentences import find

FILE = "scorecard.html"
HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>What of the publications came out</title><style>
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 }
td, th { border-bottom: 1px solid #ccc; padding: .2em .6em; text-align: left; vertical-align: top }
.held { color: #27692e } .failed { color: #a31515; font-weight: bold } img { max-width: 100% }
</style></head><body><h1>What of the publications came out</h1>
"""
COLUMNS = ("where", "the publication, in our words", "kind", "statement or value", "verdict", "found", "why")


def write(directory: Path, scores: Sequence[Score]) -> Path:
    """The page; figures are those beside it, in the directories of the entries."""
    path = directory / FILE
    atomic.write_text(path, HEAD + "\n".join(_parts(directory, scores)) + "\n</body></html>\n")
    return path


def _parts(directory: Path, scores: Sequence[Score]) -> Iterator[str]:
    yield f"<p>{escape(totals(scores))}</p>"
    yield _table(HEADINGS, [_linked(each) for each in scores])
    for each in scores:
        if each.was_run:
            yield from _section(directory, each)


def _linked(each: Score) -> list[str]:
    name, *others = (escape(cell) for cell in row(each))
    return [f'<a href="#{name}">{name}</a>' if each.was_run else name, *others]


def _section(directory: Path, each: Score) -> Iterator[str]:
    entry = BY_NAME[each.entry]
    yield f'<h2 id="{escape(each.entry)}">{escape(each.entry)}: {escape(entry.title)}</h2>'
    yield f"<p>{escape(entry.source)}; scale {escape(each.scale)}.</p>"
    if each.repeats:
        yield f"<p>The statements of {escape(each.repeats)} with other settings: not counted again.</p>"
    yield _table(COLUMNS, [_cells(each.entry, line) for line in each.lines])
    figure = Path(each.entry) / f"{each.entry}.png"
    if (directory / figure).exists():
        yield f'<p><img src="{escape(figure.as_posix())}" alt="{escape(entry.title)}" loading="lazy"></p>'


def _cells(entry: str, line: Line) -> list[str]:
    own = find(entry, line.text)  # none if the card is older than the entry
    before = (line.where, own.says if own else "", line.kind, line.text)
    verdict = f'<span class="{escape(line.verdict.partition(" ")[0])}">{escape(line.verdict)}</span>'
    return [*map(escape, before), verdict, escape(line.found), escape(line.cause)]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for cells in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"
