"""Comparisons of programs: a small part of them, and that differences are seen."""

from dataclasses import replace
from pathlib import Path

import pytest
from verify import applications, graph500
from verify.statistics import Sample


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[applications.Case]:
    found, missing = applications.cases(None, tmp_path_factory.mktemp("programs"))
    assert "BT.A.64" in missing
    assert "CG.A.16.it2" not in missing
    return found


def test_small_programs_and_short_traces_are_equal_in_every_value(cases: list[applications.Case]) -> None:
    chosen = [case for case in cases if case.area == "examples" or "IS.S.64" in case.name]
    verdicts = [applications.judge(case) for case in chosen]
    assert {verdict.case.name: verdict.different for verdict in verdicts if verdict.different} == {}
    assert len(verdicts) > 50


def test_a_cycle_of_difference_is_seen(cases: list[applications.Case]) -> None:
    case = next(case for case in cases if case.name == "example pingpong")
    later = replace(case, expected={**case.expected, "execution_time": 10_041})
    verdict = applications.judge(later)
    assert verdict.different == {"execution_time": (10_040, 10_041)}
    table = applications.table([verdict])
    assert table.row_count == 1


def test_traces_are_found_in_the_folder_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "BT.A.64.mpt.xz").touch()
    assert "BT.A.64" not in applications.cases(tmp_path, tmp_path)[1]


def test_graph500_agrees_within_what_is_allowed() -> None:
    row = graph500.Compared("row", "cycles", 100.0, Sample(109.0, 1.0, 5), 0.1)
    assert row.agrees
    assert not replace(row, own=Sample(111.0, 1.0, 5)).agrees
    assert graph500.table("", [row]).row_count == 1


def test_levels_of_a_search_are_counted_and_messages_without_queries_known() -> None:
    search = {"scale": 12, "root_degree": 20, "equations": "fogsim"}
    assert graph500.levels({**search, "max_levels": 1}, 1) == graph500.levels(search, 1) > 1
    # Level 0 and its all-reduce; a further level of all.
    assert graph500.notices(1) == 71 + 2 * 71
    assert graph500.notices(2) - graph500.notices(1) == 72 * 71 + 2 * 71
