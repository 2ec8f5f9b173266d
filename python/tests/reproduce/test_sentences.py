"""Every statement and value stands for a sentence, and its kind and its verdict are those of the sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from hopsim_reproduce import show
from hopsim_reproduce.entries import BY_NAME, ENTRIES
from hopsim_reproduce.model import Comparison, Entry, Fact, Measured, Outcome, Scale
from hopsim_reproduce.sentences import (
    KINDS,
    Judged,
    Sentence,
    judge,
    name,
    publication,
    repeats,
    sentence,
    sentences,
)
from made_up import made_up

PUBLICATIONS = ("dally", "gran", "izu", "jiang", "jsc", "networks", "ridruejo", "thesis")


def texts(entry: Entry, scale: Scale) -> Iterator[str]:
    """All statements and values of an entry."""
    outcome = entry.conclude(scale, made_up(entry, scale))
    yield from (fact.statement for fact in outcome.facts)
    yield from (name(value) for value in outcome.comparisons)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_statement_and_value_stands_for_a_sentence(entry: Entry) -> None:
    for scale in get_args(Scale):
        for text in texts(entry, scale):
            found = sentence(entry.name, text)
            assert found.kind in KINDS
            assert found.where, text
            assert found.says.endswith("."), text


@pytest.mark.parametrize("paper", PUBLICATIONS)
def test_every_sentence_is_that_of_a_statement(paper: str) -> None:
    entries = [entry for entry in ENTRIES if publication(entry.name) == paper]
    used = {
        id(sentence(entry.name, text))
        for entry in entries
        for scale in get_args(Scale)
        for text in texts(entry, scale)
    }
    assert [each.says for each in sentences(paper) if id(each) not in used] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_value_is_judged_at_full_scale_or_says_why_not(entry: Entry) -> None:
    for value in entry.conclude("full", made_up(entry, "full")).comparisons:
        assert (value.allowed is None) == bool(value.only), name(value)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_value_without_verdict_at_quick_scale_is_one_of_the_full_scale(entry: Entry) -> None:
    outcome = entry.conclude("quick", made_up(entry, "quick"))
    for value, judged in zip(outcome.comparisons, judge(entry, "quick", outcome), strict=False):
        if value.allowed is None and not value.only:
            assert judged.verdict == "needs full scale", name(value)


def test_studies_of_ours_are_in_no_publication() -> None:
    for study in ("gran-hot-spot", "gran-mark-points"):
        assert {sentence(study, text).kind for text in texts(BY_NAME[study], "quick")} == {"ours"}
    of_distances = [sentence("gran-one-mtu", text).kind for text in texts(BY_NAME["gran-one-mtu"], "quick")]
    assert (of_distances.count("published"), of_distances.count("ours")) == (2, 6)
    loop = "a throttled flow is notified as often as its timer runs"
    assert sentence("gran-figure-7", loop).kind == "ours"


def test_entries_that_repeat_others_name_them() -> None:
    for each in repeats().values():
        assert each.entry in BY_NAME
        assert each.of in BY_NAME
        assert each.why.endswith(".")
    assert {entry.name for entry in ENTRIES if entry.name.endswith("-textbook")} <= repeats().keys()


def test_the_first_sentence_that_fits_is_the_one() -> None:
    one = Sentence(
        "a-figure-*", "§1", "One.", "published", ["x: * is so", "y"], cause="Because.", fails=["y"]
    )
    assert one.fits("a-figure-1", "x: all of it is so")
    assert not one.fits("a-table-1", "x: all of it is so")
    assert not one.fits("a-figure-1", "x: all of it is so, nearly")
    # What is special in regular expressions stands for itself.
    assert Sentence("a", "", "", "ours", ["s [%] (+)"]).fits("a", "s [%] (+)")
    assert (one.known("y"), one.known("x: it is so")) == ("Because.", "")


FIGURE = BY_NAME["jsc-figure-6"]
OF_FULL = "ADV+1: Src-RRG misroutes about 97 % of the packets"
OF_ANY = "UN: RRG costs in-transit routing latency"


@pytest.mark.parametrize("holds", [True, False])
def test_what_needs_the_full_scale_neither_holds_nor_fails_in_a_quick_run(holds: bool) -> None:
    outcome = Outcome(facts=[Fact(text, "c", "f", holds) for text in (OF_FULL, OF_ANY)])
    verdict = "held" if holds else "failed"
    assert [each.verdict for each in judge(FIGURE, "quick", outcome)] == ["needs full scale", verdict]
    assert [each.verdict for each in judge(FIGURE, "full", outcome)] == [verdict, verdict]


def valued(*ours: float, only: str = "", allowed: float | None = 0.05) -> Judged:
    """A value of a table of ours for 1."""
    value = Comparison("MIN at 0.4", "CoV", Measured.of(ours), 1.0, allowed=allowed, only=only)
    (found,) = judge(BY_NAME["jsc-table-4"], "full", Outcome([value]))
    return found


def test_a_value_holds_within_what_is_allowed_or_the_spread_of_three_seeds() -> None:
    assert (valued(1.04).verdict, valued(1.06).verdict) == ("held", "failed")
    spread = valued(0.9, 1.1, 1.3)
    assert (spread.verdict, spread.note) == ("held", "within the spread of seeds")
    # Of two seeds nearly anything is within the spread.
    assert valued(0.9, 1.3).verdict == "failed"
    shown = valued(1.0, only="shown for comparison", allowed=None)
    assert (shown.verdict, shown.note) == ("shown only", "shown for comparison")


def test_kinds_are_counted_apart() -> None:
    texts_of = {"published": "fairness is restored", "ours": "the bottleneck is used"}
    facts = [Fact(texts_of["published"], "", "", True), Fact(texts_of["ours"], "", "", False)]
    outcome = Outcome(facts=facts)
    lines = show.tally(outcome, judge(BY_NAME["gran-figure-7"], "quick", outcome))
    assert lines == ["1 of 1 published statements hold.", "0 of 1 statements of ours hold."]
