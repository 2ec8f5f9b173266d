"""A small version of `verify clusters`: processes that claim a directory at once, and killed ones."""

import pytest
from verify.clusters import Place, contents, disturbed, rivals, shards
from verify.engines import ENGINES


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("clusters"))


@pytest.mark.parametrize("killed", [False, True])
def test_processes_that_claim_a_directory_at_once_leave_that_of_one(place: Place, killed: bool) -> None:
    assert shards(place, killed=killed) == ""


def test_of_different_experiments_that_claim_a_directory_at_once_one_gets_it(place: Place) -> None:
    assert rivals(place) == ""


@pytest.mark.parametrize("victim", ["worker", "main process"])
def test_a_sweep_goes_on_after_the_death_of_a_process(place: Place, victim: str) -> None:
    assert disturbed(place, ENGINES[0], victim) == ""


def test_a_directory_that_differs_is_seen(place: Place) -> None:
    (place.root / "undisturbed" / "summary.parquet").write_bytes(b"")
    assert not place.is_right(place.root / "undisturbed")
    assert "manifest.json" in contents(place.root / "undisturbed")
