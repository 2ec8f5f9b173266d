"""The score card: what it counts, and that the one in the documentation is that of the entries there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import ROOT
from hopsim.errors import RunError
from hopsim.results.result import Result
from hopsim_reproduce import batch, command, page, papers, score
from hopsim_reproduce.entries import BY_NAME, ENTRIES
from hopsim_reproduce.model import Entry, Outcome, Results, Scale
from hopsim_reproduce.panels import LEAST
from hopsim_reproduce.score import Line, Score
from made_up import made_up

DOCUMENTED = ROOT / "docs" / "scorecard.json"
PAGE = ROOT / "docs" / "published.md"


def line(verdict: str, kind: str = "published", text: str = "s", cause: str = "") -> Line:
    return Line(text, kind, "§1", verdict, "1 for 2", cause)


SCORES = [
    Score(
        "gran-figure-3",
        "quick",
        8,
        "",
        [
            line("held"),
            line("failed", text="it is so", cause="Because of that."),
            line("failed", text="and so"),
            line("held", "derived"),
            line("failed", "ours"),
            line("needs full scale"),
            line("shown only"),
        ],
    ),
    Score("jsc-tables-2-4-injection", "quick", 1, "jsc-table-2", [line("held")]),
    score.pending("gran-figure-4"),
]


def test_a_row_counts_kinds_apart_and_says_what_failed_of_the_publication() -> None:
    assert score.row(SCORES[0]) == (
        "gran-figure-3",
        "quick",
        "8",
        "1 of 3",
        "1 of 1",
        "0 of 1",
        "1",
        "1",
        "it is so — Because of that. and so (cause not known).",
    )
    assert score.row(SCORES[2])[1] == "not run yet"
    many = replace(SCORES[0], lines=[line("failed", text=f"s{number}", cause="So.") for number in range(4)])
    assert score.row(many)[-1] == "4 statements, such as: s0 — So."


def test_totals_leave_out_entries_that_repeat_others() -> None:
    found = score.totals(SCORES)
    assert found.startswith("1 of 2 entries run: 1 of 3 published statements and values held, 1 of 1 ")
    assert "0 of 1 of our own" in found


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / score.FILE
    score.write(path, SCORES)
    assert [replace(each, lines=list(each.lines)) for each in score.read(path)] == [
        replace(each, lines=list(each.lines)) for each in SCORES
    ]


def test_the_page_shows_every_statement(tmp_path: Path) -> None:
    text = page.write(tmp_path, SCORES).read_text("utf-8")
    assert "it is so" in text
    assert "Because of that." in text
    assert 'href="#gran-figure-3"' in text
    assert 'href="#gran-figure-4"' not in text


def test_all_entries_are_run_and_one_that_cannot_be_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_entry(entry: Entry, how: batch.How, _: Path) -> tuple[Outcome, list[Path]]:
        if entry.name == "gran-figure-4":
            raise RunError("no memory\nat all")
        return entry.conclude(how.scale, made_up(entry, how.scale)), []

    monkeypatch.setattr(batch, "run_entry", run_entry)
    arguments = ["all", "--out", str(tmp_path), "--only", "gran-figure-[34]"]
    found = CliRunner().invoke(command, arguments)
    assert found.exit_code == 0, found.output
    assert "gran-figure-4: no memory" in found.output
    scores = {each.entry: each for each in score.read(tmp_path / score.FILE)}
    assert list(scores) == [entry.name for entry in ENTRIES]
    assert [name for name, each in scores.items() if each.was_run] == ["gran-figure-3"]
    # A later run of others keeps what there is.
    CliRunner().invoke(command, ["all", "--out", str(tmp_path), "--only", "izu-figure-3"])
    scores = {each.entry: each for each in score.read(tmp_path / score.FILE)}
    assert [name for name, each in scores.items() if each.was_run] == ["gran-figure-3", "izu-figure-3"]


def starved(result: Result) -> Result:
    """The same run, in which some node got nothing."""
    summary = {key: 0 if key == LEAST else value for key, value in result.summary.items()}
    return Result({"config": result.config, "result": summary}, dict(result.axes), result.tables)


def test_an_entry_that_divides_by_what_a_node_did_not_get_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = BY_NAME["izu-table-2"]
    results = {name: [starved(each) for each in points] for name, points in made_up(entry).items()}

    def run(*_: object) -> Results:
        return results

    monkeypatch.setattr(batch, "run", run)
    told: list[Score] = []
    batch.run_all([entry], batch.How("quick", 1, None), tmp_path, told.append)
    assert told[0].error == (
        "izu-table-2: what its statements compare is missing in these results, or nobody got anything of it "
        "(float division by zero); valid: longer runs, or more seeds"
    )


def test_patterns_are_for_all_entries_and_have_to_fit() -> None:
    one = CliRunner().invoke(command, ["gran-figure-3", "--only", "izu-*"])
    assert (one.exit_code, "hopsim reproduce all --only" in one.output) == (2, True)
    none = CliRunner().invoke(command, ["all", "--only", "nobody-*"])
    assert none.exit_code == 2
    assert "nobody-*" in none.output


def test_the_documented_card_has_every_entry_with_the_statements_it_has() -> None:
    found = {each.entry: each for each in score.read(DOCUMENTED)}
    assert list(found) == [entry.name for entry in ENTRIES], (
        "python docs/scorecard.py RESULTS brings it up to date"
    )
    for each in found.values():
        if each.was_run:
            assert of_card(each) == of_entry(each.entry, each.scale), each.entry


def of_card(each: Score) -> list[tuple[str, str, str]]:
    return sorted((line.text, line.kind, line.where) for line in each.lines)


def of_entry(name: str, scale: str) -> list[tuple[str, str, str]]:
    at: Scale = "full" if scale == "full" else "quick"
    entry = BY_NAME[name]
    return of_card(score.score(entry, at, 1, entry.conclude(at, made_up(entry, at))))


def test_the_page_of_the_documentation_shows_the_card() -> None:
    text = PAGE.read_text("utf-8")
    assert score.markdown(score.read(DOCUMENTED)) in text


def test_the_pages_of_publications_show_the_card() -> None:
    found = score.read(DOCUMENTED)
    for name in papers.publications(found):
        text = (ROOT / "docs" / "papers" / f"{name}.md").read_text("utf-8")
        assert papers.markdown(name, found) in text, "python docs/scorecard.py brings it up to date"


def test_a_sentence_has_the_verdicts_of_its_statements() -> None:
    statements = ["1 contributors share the output evenly", "2 contributors share the output evenly"]
    lines = [line("held", text="f1 is not disturbed"), line("held", text=statements[0])]
    lines += [line("failed", text=statements[1], cause="Because.")]
    text = papers.markdown("gran", [Score("gran-figure-3", "quick", 8, "", lines)])
    assert "| published | held | f1 is not disturbed: 1 for 2. |" in text
    assert (
        f"| published | 1 of 2 held | {statements[0]}: 1 for 2. {statements[1]}: 1 for 2. *Because.* |"
        in text
    )
    assert papers.markdown("gran", [score.pending("gran-figure-4")]).endswith("and §IV.A.\n")


def test_of_many_statements_those_that_failed_are_shown() -> None:
    lines = [line("held", text=f"{number} contributors share the output evenly") for number in range(4)]
    failed = line("failed", text="9 contributors share the output evenly")
    text = papers.markdown("gran", [Score("gran-figure-3", "quick", 8, "", [*lines, failed])])
    assert "| 4 of 5 held | 9 contributors share the output evenly: 1 for 2. 4 more. |" in text
