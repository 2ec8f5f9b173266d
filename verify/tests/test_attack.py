"""A small version of `verify attack`: hostile input, damage, kills, errors, rivals, poor environments."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from verify import attack
from verify.attack import documents, environment, files, mutations, results, series
from verify.attack.series import Ended
from verify.options import Options

SMALL = "documents=40 files=90 results=20 flips=8 kills=2 writers=1"


@pytest.mark.parametrize("part", SMALL.split())
def test_nothing_of_an_attack_comes_through(part: str, tmp_path: Path) -> None:
    shown = io.StringIO()
    # By one process: each of several would first make all that is attacked.
    options = Options(Console(file=shown, width=1000), None, 1, 1, tmp_path)
    assert attack.check(options, part) == 0, shown.getvalue()
    name, _, _ = part.partition("=")
    tried, _, _ = shown.getvalue().strip().rpartition(" of ")
    assert tried.startswith(f"{name}: ")
    assert tried != f"{name}: 0"


def test_main_commands_end_alike_in_poor_environments() -> None:
    pairs = [("check", "LC_ALL garbage"), ("run --json", "output full"), ("plot", "HOME a file")]
    numbers = [environment.order().index(pair) for pair in pairs]
    assert environment.tried(numbers, 2, lambda: None) == []


def _dies(_: Path) -> series.Case:
    def case(number: int) -> str:
        if number == 2:
            raise SystemExit(3)
        return "wrong" if number == 4 else ""

    return case


def test_a_process_that_dies_is_a_fault_and_the_next_case_is_tried() -> None:
    tried = series.tried("x", _dies, range(6), 2, lambda: None)
    assert sorted(tried) == ["x 2: the process has died, with status 3", "x 4: wrong"]


@pytest.mark.parametrize(
    ("status", "said", "is_wrong"),
    [
        (0, "", False),
        (2, "hopsim: a.toml: load = 2: valid: 0 … 1\n", False),
        (2, "", True),
        (2, "hopsim: \n", True),
        (1, "hopsim: internal error: KeyError('x')\n", True),
        (0, "thread 'main' panicked at x.rs\n", True),
        (-11, "", True),
        (2, "hopsim: no\x1b[31m.toml: cannot read\n", True),
    ],
)
def test_what_is_no_clear_end_is_wrong(status: int, said: str, is_wrong: bool) -> None:
    assert bool(Ended(status, "", said, 0, interrupted=False).complaint) == is_wrong


def test_an_answer_that_differs_from_that_of_check_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs(_command: Sequence[str], _folder: Path) -> Ended:
        return Ended(0, "points: 1\nOK", "", 0, interrupted=False)

    monkeypatch.setattr(documents, "run", runs)
    assert "shows" in documents.make(tmp_path / "documents")(1)


def test_a_flip_that_nobody_notices_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ORIGINALS", results.ORIGINALS[:1])
    case = results.flips(tmp_path)

    def other(_: results.Place) -> tuple[list[str], str]:
        return ["other"], ""

    monkeypatch.setattr(results.Place, "loaded", other)
    assert "what is read is other, without a word" in case(1)


def test_changes_are_the_same_each_time_and_change_something() -> None:
    known = documents.bases()
    one, other = (mutations.changed(known[0], known, random.Random(3)) for _ in range(2))
    assert one == other != known[0]
    content = files.MPT.encode()
    assert mutations.damaged(content, random.Random(1)) == mutations.damaged(content, random.Random(1))
    assert sum(mutations.damaged(content, random.Random(n)) != content for n in range(50)) > 40


def test_parts_are_named_with_counts_or_cases() -> None:
    assert attack.chosen("files=3:7 kills=2") == {"files": range(3, 7), "kills": range(2)}
    assert attack.chosen("")["documents"] == range(20_000)
    with pytest.raises(ValueError, match="no part 'fils'"):
        attack.chosen("fils=3")
