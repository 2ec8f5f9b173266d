"""Which mutant each published entry has to notice, and what is read off a run with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from mutants import statements, together
from mutants.named import read
from mutants.scratch import CHECKOUT, MutantsError, Run, Scratch
from mutants.statements import Row, Tried, attempt, entries, trials, without_row

ROWS = statements.read()


def test_every_entry_with_published_statements_has_a_row() -> None:
    published = entries()
    assert len(published) > 80
    assert without_row(ROWS, published) == []


def test_every_row_is_about_an_entry_that_publishes_something() -> None:
    published = entries()
    nothing = [
        pattern
        for row in ROWS
        for pattern in row.entries
        if trials([Row((pattern,), ("",))], published, full=False) == []
    ]
    assert nothing == []


def test_an_entry_has_rows_of_one_scale_only() -> None:
    quick, full = ({entry for entry, _ in trials(ROWS, entries(), full=scale)} for scale in (False, True))
    assert quick & full == set()


def test_the_mutants_of_rows_can_be_compiled_together() -> None:
    wanted = {name for row in ROWS for name in row.mutants}
    woven = together.Weave.of(CHECKOUT, [each for each in read() if each.name in wanted]).mutants()
    assert {each.name for each in woven} == wanted


def test_a_mutant_that_does_not_exist_is_named(tmp_path: Path) -> None:
    file = tmp_path / "statements.toml"
    file.write_text('[[row]]\nentries = ["a"]\nmutants = ["no-such-mutant"]\n', "utf-8")
    with pytest.raises(MutantsError, match=r"statements\.toml: no-such-mutant: is not in mutants/named"):
        statements.read(file)


def test_entries_are_run_with_all_mutants_of_their_rows_at_their_scale() -> None:
    rows = [Row(("a", "b*"), ("x", "y")), Row(("c",), ("z",), full=True)]
    assert trials(rows, ["a", "b-1", "c"], full=False) == [("a", "x"), ("a", "y"), ("b-1", "x"), ("b-1", "y")]
    assert trials(rows, ["a", "b-1", "c"], full=True) == [("c", "z")]
    assert without_row(rows, ["a", "d", "c"]) == ["d"]


LINES = (
    ("one", "published", "failed"),
    ("two", "published", "failed"),
    ("three", "published", "held"),
    ("four", "ours", "failed"),
)
"""Statement, kind, verdict."""


def card(lines: Sequence[tuple[str, str, str]]) -> str:
    texts = [dict(zip(("text", "kind", "verdict"), line, strict=True)) for line in lines]
    return json.dumps([{"entry": "a", "lines": texts}])


@pytest.mark.parametrize(
    ("status", "failed", "error"),
    [(0, ["two"], ""), (1, [], "ended with status 1: told"), (None, [], "did not end")],
)
def test_what_fails_otherwise_too_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int | None, failed: list[str], error: str
) -> None:
    documented = tmp_path / "documented.json"
    documented.write_text(card([("one", "published", "failed")]), "utf-8")
    monkeypatch.setattr(statements, "CARD", documented)

    def run(
        self: Scratch,
        command: Sequence[str],
        limit_s: float,
        folder: str = ".",
        variables: Mapping[str, str] | None = None,
    ) -> Run:
        assert variables == {together.CHOICE: "mutant"}
        out = Path(command[command.index("--out") + 1])
        out.mkdir(parents=True)
        (out / "scorecard.json").write_text(card(LINES), "utf-8")
        return Run(status, "told", 1.0)

    monkeypatch.setattr(Scratch, "run", run)
    tried = attempt(Scratch(tmp_path), "a", "mutant")
    assert tried == Tried("a", "mutant", failed, error) or (tried.error, list(tried.failed)) == (
        error,
        failed,
    )


def test_what_became_of_an_entry_is_told_with_its_statements() -> None:
    assert Tried("a", "m", ["one", "two"]).text() == "a with m: 2 statements fail\n    one\n    two"
    assert Tried("a", "m", (), "did not end").text() == "a with m: did not end"
