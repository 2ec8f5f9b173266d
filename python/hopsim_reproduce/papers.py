"""A publication on one page: what it says of its tables and figures, and what came out of each sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.score import JUDGED, NOT_RUN, Line, Score
from hopsim_reproduce.sentences import Sentence, find, publication

SHOWN = 3
"""Statements of a sentence that are shown one by one; of more only those that failed."""
HEADINGS = ("where", "says", "kind", "verdict", "criterion and what was found")


def publications(scores: Sequence[Score]) -> list[str]:
    """All that have entries, in the order of these."""
    return list(dict.fromkeys(publication(each.entry) for each in scores))


def markdown(name: str, scores: Sequence[Score]) -> str:
    """The statements of a publication, entry by entry and sentence by sentence."""
    own = [each for each in scores if publication(each.entry) == name and not each.repeats]
    return "\n".join(f"### {BY_NAME[each.entry].title}\n\n{entry(each)}" for each in own)


def entry(score: Score) -> str:
    """How it was run, what it is of, and its statements."""
    return "\n".join(_entry(score))


def _entry(score: Score) -> Iterator[str]:
    entry = BY_NAME[score.entry]
    seeds = "1 seed" if score.seeds == 1 else f"{score.seeds} seeds"
    how = f"{score.scale} scale, {seeds}" if score.was_run else score.error or NOT_RUN
    yield f"`hopsim reproduce {entry.name}` ({how}). {entry.source}.\n"
    if score.lines:
        yield _table([HEADINGS, ("---",) * len(HEADINGS), *_rows(score)])


def _rows(score: Score) -> Iterator[tuple[str, ...]]:
    for sentence, lines in _by_sentence(score):
        cause = "".join(f" *{text}*" for text in dict.fromkeys(line.cause for line in lines) if text)
        yield (sentence.where, sentence.says, sentence.kind, _verdict(lines), _found(lines) + cause)


def _by_sentence(score: Score) -> list[tuple[Sentence, list[Line]]]:
    """Sentences with the statements that stand for them, in the order of the statements."""
    found: dict[int, tuple[Sentence, list[Line]]] = {}
    for line in score.lines:
        sentence = find(score.entry, line.text)
        if sentence is not None:
            found.setdefault(id(sentence), (sentence, []))[1].append(line)
    return list(found.values())


def _verdict(lines: Sequence[Line]) -> str:
    verdicts = [line.verdict for line in lines]
    if len(set(verdicts)) == 1:
        return verdicts[0]
    judged = sum(verdict in JUDGED for verdict in verdicts)
    return f"{verdicts.count('held')} of {judged} held"


def _found(lines: Sequence[Line]) -> str:
    """What was found of each statement, or of those that failed if there are many."""
    shown = lines if len(lines) <= SHOWN else [line for line in lines if line.verdict == "failed"]
    texts = [f"{line.text}: {line.found}." for line in shown]
    others = len(lines) - len(shown)
    return " ".join([*texts, *([f"{others} more."] if texts and others else [])]) or f"{others} statements."


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return "\n".join(lines) + "\n"
