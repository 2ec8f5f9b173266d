"""The results directory, file by file, on made-up results."""

from __future__ import annotations

import errno
import hashlib
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import hopsim as hs
from conftest import TINY
from hopsim import _core
from hopsim.document.experiment import Experiment, Point
from hopsim.results.outcome import Outcome
from hopsim.results.sealed import checksum_of, seal
from hopsim.results.store import Store, default_directory, peak_memory_bytes

DOCUMENT = TINY + '[sweep.product]\nload = [0.1, 0.2]\n"measure.seed" = [7, 3]\n'
EXPERIMENT = Experiment(DOCUMENT, "some/where.toml").setting(["measure.warmup=50"])
POINTS = EXPERIMENT.points()
UNKNOWN = ("peak_memory_bytes", "written", "platform", "checksum")
NAMED = EXPERIMENT.replacing({"sweep.labels": {"load": ["low", "high"]}})


def claim(root: Path, experiment: Experiment = EXPERIMENT, *, force: bool = False) -> Store:
    return Store.claim(root, experiment, experiment.points(), force=force)


def result(point: Point, jobs: int = 1, names: tuple[str, ...] = ("nodes",)) -> hs.Result:
    """A result that carries the number of its point everywhere."""
    record = {
        "config": json.loads(point.config),
        "result": {"accepted_load": point.index / 8, "seed": point.axes["measure.seed"]},
        "jobs": [{"job": f"job{job}", "accepted_load": point.index + job / 8} for job in range(jobs)],
    }
    tables = {name: pa.table({"row": [0, 1], name: [point.index, -point.index]}) for name in names}
    return hs.Result(record, point.axes, tables)


def manifest(root: Path) -> dict[str, Any]:
    return json.loads((root / "manifest.json").read_text("utf-8"))


def test_a_saved_point_is_read_back_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "new" / "d"
    store = claim(root)
    kept = store.save(POINTS[2], result(POINTS[2], 2, ("nodes", "routers")))
    found = store.finished()
    assert list(found) == [2]
    for each in (kept, found[2], hs.load(root)[0]):
        assert each.record == result(POINTS[2], 2).record
        assert each.axes == POINTS[2].axes
        assert list(each.tables) == ["nodes", "routers"]
        assert len(each.tables) == 2
        assert "nodes" in each.tables
        assert "links" not in each.tables
        assert each.nodes.to_pydict() == {"row": [0, 1], "nodes": [2, -2]}
        with pytest.raises(KeyError, match="links"):
            each.tables["links"]
    digest = POINTS[2].digest
    names = sorted(file.name for file in (root / "points").iterdir())
    assert names == sorted([f"{digest}.json", f"{digest}.nodes.parquet", f"{digest}.routers.parquet"])


def test_names_of_values_are_kept_with_the_points(tmp_path: Path) -> None:
    points = NAMED.points()
    store = claim(tmp_path, NAMED)
    kept = store.save(points[1], result(points[1]))
    store.save(points[2], result(points[2]))
    names = [{"load": "low"}, {"load": "high"}]
    assert kept.labels == names[0]
    assert [each.labels for each in store.finished().values()] == names
    assert [each.labels for each in hs.load(tmp_path)] == names
    assert manifest(tmp_path)["points"] == [
        {"digest": point.digest, "axes": point.axes, "labels": names[point.index // 2]} for point in points
    ]


def test_tables_of_a_directory_name_points_by_their_number_and_not_by_place(tmp_path: Path) -> None:
    store = claim(tmp_path)
    for number in (3, 1):
        store.save(POINTS[number], result(POINTS[number]))
    results = store.assemble(Outcome(), with_csv=True)
    expected = {"point": [1, 1, 3, 3], "row": [0, 1, 0, 1], "nodes": [1, -1, 3, -3]}
    assert results.points == [1, 3]
    assert results.stream("nodes").to_pydict() == expected
    assert pyarrow.parquet.read_table(tmp_path / "streams" / "nodes.parquet").to_pydict() == expected
    assert pyarrow.csv.read_csv(tmp_path / "streams" / "nodes.csv").to_pydict() == expected
    summary = {
        "point": [1, 3],
        "load": [0.1, 0.2],
        "measure.seed": [3, 3],
        "accepted_load": [1 / 8, 3 / 8],
        "seed": [3, 3],
    }
    assert results.table.to_pydict() == summary
    assert pyarrow.parquet.read_table(tmp_path / "summary.parquet").to_pydict() == summary
    assert pyarrow.csv.read_csv(tmp_path / "summary.csv").to_pydict() == summary
    assert not (tmp_path / "jobs.parquet").exists()


def test_a_stream_holds_the_points_that_recorded_it(tmp_path: Path) -> None:
    store = claim(tmp_path)
    for point, names in zip(POINTS, [("nodes",), (), ("nodes", "links"), ("links",)], strict=True):
        store.save(point, result(point, names=names))
    results = store.assemble(Outcome(), with_csv=False)
    streams = {file.stem: pyarrow.parquet.read_table(file) for file in (tmp_path / "streams").iterdir()}
    assert {name: table.column("point").to_pylist() for name, table in streams.items()} == {
        "nodes": [0, 0, 2, 2],
        "links": [2, 2, 3, 3],
    }
    assert {name: results.stream(name) for name in streams} == streams
    assert list(tmp_path.glob("**/*.csv")) == []


def test_several_jobs_have_a_table_with_a_row_per_point_and_job(tmp_path: Path) -> None:
    store = claim(tmp_path)
    for number, jobs in ((0, 1), (2, 2)):
        store.save(POINTS[number], result(POINTS[number], jobs))
    store.assemble(Outcome(), with_csv=True)
    expected = {
        "point": [0, 2, 2],
        "load": [0.1, 0.2, 0.2],
        "measure.seed": [7, 7, 7],
        "job": ["job0", "job0", "job1"],
        "accepted_load": [0.0, 2.0, 2.125],
    }
    assert pyarrow.parquet.read_table(tmp_path / "jobs.parquet").to_pydict() == expected
    assert pyarrow.csv.read_csv(tmp_path / "jobs.csv").to_pydict() == expected


def test_nothing_finished_leaves_no_tables(tmp_path: Path) -> None:
    store = claim(tmp_path)
    assert len(store.assemble(Outcome(), with_csv=True)) == 0
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["manifest.json", "points", "streams"]


def test_the_manifest_says_what_was_run_and_how_it_ended(tmp_path: Path) -> None:
    store = claim(tmp_path)
    store.save(POINTS[1], result(POINTS[1]))
    store.assemble(Outcome(failures={2: "deadlock"}, wall_time_s=1.25), with_csv=False)
    found = manifest(tmp_path)
    digests = [point.digest for point in POINTS]
    assert {key: found[key] for key in found if key not in UNKNOWN} == {
        "hopsim": hs.__version__,
        "experiment": "some/where.toml",
        "overrides": ["measure.warmup=50"],
        "document": DOCUMENT,
        "hashes": {
            "document": hashlib.sha256(DOCUMENT.encode()).hexdigest(),
            "experiment": hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        },
        "seeds": [3, 7],
        "first": 4,
        "total": 4,
        "finished": 1,
        "failures": {"2": "deadlock"},
        "wall_time_s": 1.25,
        "config": json.loads(POINTS[0].config),
        "points": [{"digest": point.digest, "axes": point.axes} for point in POINTS],
    }


def test_the_manifest_has_a_line_for_each_value(tmp_path: Path) -> None:
    claim(tmp_path)
    text = (tmp_path / "manifest.json").read_text("utf-8")
    assert text == json.dumps(json.loads(text), indent=1) + "\n"


def test_the_wall_time_of_a_resumed_sweep_is_that_of_all_its_runs(tmp_path: Path) -> None:
    for run, seconds in enumerate((1.5, 0.25, 2.0)):
        store = claim(tmp_path)
        assert manifest(tmp_path)["finished"] == run
        store.save(POINTS[run], result(POINTS[run]))
        store.assemble(Outcome(wall_time_s=seconds), with_csv=False)
    assert manifest(tmp_path)["wall_time_s"] == 3.75
    claim(tmp_path, force=True)
    assert (manifest(tmp_path)["wall_time_s"], manifest(tmp_path)["finished"]) == (0.0, 0)


def test_the_wall_time_is_kept_to_the_millisecond_and_the_time_of_writing_with_zone(
    tmp_path: Path,
) -> None:
    claim(tmp_path).assemble(Outcome(wall_time_s=1.23456), with_csv=False)
    assert manifest(tmp_path)["wall_time_s"] == 1.235
    written = datetime.strptime(manifest(tmp_path)["written"], "%Y-%m-%dT%H:%M:%S%z")
    assert abs(datetime.now(UTC) - written) < timedelta(hours=1)


@pytest.mark.parametrize(("system", "unit"), [("linux", 1024), ("darwin", 1)])
def test_the_peak_of_memory_is_in_bytes(monkeypatch: pytest.MonkeyPatch, system: str, unit: int) -> None:
    """Linux tells it in kibibytes, macOS in bytes."""
    monkeypatch.setattr(sys, "platform", system)

    def usage(_: int) -> SimpleNamespace:
        return SimpleNamespace(ru_maxrss=5000)

    monkeypatch.setattr(resource, "getrusage", usage)
    assert peak_memory_bytes() == 5000 * unit


def test_the_peak_of_memory_is_0_where_the_system_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows has no module `resource`."""
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory_bytes() == 0
    claim(tmp_path)
    assert manifest(tmp_path)["peak_memory_bytes"] == 0


def test_the_peak_of_memory_never_sinks(tmp_path: Path) -> None:
    claim(tmp_path)
    text = json.dumps(seal({**manifest(tmp_path), "peak_memory_bytes": 10**15}))
    (tmp_path / "manifest.json").write_text(text)
    claim(tmp_path)
    assert manifest(tmp_path)["peak_memory_bytes"] == 10**15


@pytest.mark.parametrize("broken", ["", "{", '{"config": {}}', '{"result": {}, "tables": []}', "\xff"])
def test_a_point_whose_file_is_broken_is_not_finished(tmp_path: Path, broken: str) -> None:
    store = claim(tmp_path)
    for point in POINTS[:2]:
        store.save(point, result(point))
    (tmp_path / "points" / f"{POINTS[0].digest}.json").write_bytes(broken.encode("latin-1"))
    assert list(store.finished()) == [1]


@pytest.mark.parametrize("broken", [b"", b"garbage", None], ids=["empty", "garbage", "missing"])
def test_a_point_with_a_table_that_is_broken_is_not_finished(tmp_path: Path, broken: bytes | None) -> None:
    store = claim(tmp_path)
    for point in POINTS[:2]:
        store.save(point, result(point, names=("nodes", "links")))
    table = tmp_path / "points" / f"{POINTS[0].digest}.links.parquet"
    table.unlink() if broken is None else table.write_bytes(broken)
    assert list(store.finished()) == [1]


def test_damaged_points_are_left_out_with_a_warning_that_names_the_first(tmp_path: Path) -> None:
    store = claim(tmp_path)
    for point in POINTS[:3]:
        store.save(point, result(point))
    assert hs.load(tmp_path).points == [0, 1, 2]
    first, second, _, _ = [point.digest for point in POINTS]
    (tmp_path / "points" / f"{first}.nodes.parquet").write_bytes(b"")
    (tmp_path / "points" / f"{second}.json").write_bytes(b"[]")
    with pytest.warns(hs.HopsimWarning) as warned:
        assert hs.load(tmp_path).points == [2]
    assert [str(each.message) for each in warned] == [
        f"{tmp_path}: 2 of the points are damaged and left out, such as "
        f"points/{first}.nodes.parquet (its length differs); "
        "the command that has written them simulates them anew"
    ]


@pytest.mark.parametrize("error", [pa.ArrowInvalid, OSError])
def test_a_table_that_cannot_be_read_is_named_with_the_reason_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(_: object) -> None:
        raise error("no such page\nat byte 4\nof 9")

    claim(tmp_path).save(POINTS[0], result(POINTS[0]))
    (found,) = hs.load(tmp_path)
    monkeypatch.setattr(pyarrow.parquet, "ParquetFile", fail)
    with pytest.raises(hs.ConfigError) as refused:
        _ = found.nodes
    assert str(refused.value) == (
        f"{tmp_path}/points/{POINTS[0].digest}.nodes.parquet: is damaged (no such page); the command "
        "that has written it simulates its point anew"
    )


def broken_manifests(whole: dict[str, Any]) -> Iterator[str]:
    """Texts that are no manifest: no JSON, a part that is missing or of the wrong type."""
    yield from ("", "{", "[]", "3", "\xff", '{"name": "a web page"}')
    for key in ("hopsim", "hashes", "config", "points", "wall_time_s"):
        yield json.dumps(seal({name: value for name, value in whole.items() if name != key}))
        yield json.dumps(seal({**whole, key: None}))
    first, *rest = whole["points"]
    points: list[object] = [
        {"axes": {}},
        {**first, "digest": 1},
        {**first, "axes": []},
        {**first, "labels": 1},
        7,
    ]
    for point in points:
        yield json.dumps(seal({**whole, "points": [*rest, point]}))
    yield json.dumps({**whole, "wall_time_s": 1e9})
    yield json.dumps({name: value for name, value in whole.items() if name != "checksum"})
    yield "[" * 100_000


def test_a_damaged_manifest_keeps_the_points_for_the_same_experiment_and_nothing_else_reads_them(
    tmp_path: Path,
) -> None:
    store = claim(tmp_path)
    store.save(POINTS[1], result(POINTS[1]))
    store.assemble(Outcome(), with_csv=True)
    whole = manifest(tmp_path)
    for text in broken_manifests(whole):
        (tmp_path / "manifest.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(hs.ConfigError) as refused:
            hs.load(tmp_path)
        reason = re.escape(f"{tmp_path}: manifest.json is damaged (")
        assert re.fullmatch(
            f"{reason}.+\\); give a directory that `hopsim run --out` has written", str(refused.value)
        )
        assert list(claim(tmp_path).finished()) == [1]
        assert manifest(tmp_path)["points"] == whole["points"]


def test_a_manifest_of_something_else_is_left_alone(tmp_path: Path) -> None:
    def refusal() -> str:
        with pytest.raises(hs.ConfigError) as refused:
            claim(tmp_path, force=True)
        return str(refused.value)

    advice = "choose an empty or a new directory"
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    none = f"{tmp_path}: is not a results directory (its manifest.json is none of hopsim) and not empty"
    assert refusal() == f"{none} (manifest.json, …); {advice}"
    (tmp_path / "points").mkdir()
    (tmp_path / "thesis.tex").write_text("mine")
    assert refusal() == f"{none} (thesis.tex, …); {advice}"
    (tmp_path / "manifest.json").unlink()
    assert refusal() == (
        f"{tmp_path}: is not a results directory (no manifest.json) and not empty (thesis.tex, …); {advice}"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points", "thesis.tex"]


def test_finished_points_stay_when_the_same_experiment_claims_again(tmp_path: Path) -> None:
    claim(tmp_path).save(POINTS[3], result(POINTS[3]))
    assert list(claim(tmp_path).finished()) == [3]
    assert list(claim(tmp_path, force=True).finished()) == []


@pytest.mark.parametrize("assignment", ["measure.cycles=401", "measure.seed=5"])
def test_a_directory_of_another_configuration_says_what_differs(tmp_path: Path, assignment: str) -> None:
    path, _, value = assignment.partition("=")
    experiment = Experiment.of(TINY)
    claim(tmp_path, experiment)
    there = json.loads(experiment.points()[0].config)["measure"][path.removeprefix("measure.")]
    with pytest.raises(hs.ConfigError) as refused:
        claim(tmp_path, experiment.setting([assignment]))
    assert str(refused.value) == (
        f"{tmp_path}: holds results of another experiment ({path}: {there} there, {value} here); "
        "choose another directory, or empty this one with --force"
    )


def test_three_differences_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    experiment = Experiment.of(TINY)
    claim(tmp_path, experiment)

    def refusal(**values: int) -> str:
        with pytest.raises(hs.ConfigError) as refused:
            claim(tmp_path, experiment.replacing({f"measure.{name}": item for name, item in values.items()}))
        return str(refused.value).partition("(")[2].partition(")")[0]

    three = refusal(warmup=1, cycles=20, seed=3)
    assert set(three.split("; ")) == {
        "measure.warmup: 100 there, 1 here",
        "measure.cycles: 400 there, 20 here",
        "measure.seed: 1 there, 3 here",
    }
    assert refusal(warmup=1, cycles=20, seed=3, batches=5).split("; ")[3:] == ["1 more"]
    assert refusal(warmup=1, cycles=20, seed=3, batches=5, interval=4).split("; ")[3:] == ["2 more"]


def test_a_sweep_with_other_points_is_told_by_their_number_or_values(tmp_path: Path) -> None:
    first = Experiment.of(TINY)
    claim(tmp_path, first.with_axes({"load": [0.1, 0.2]}))
    with pytest.raises(hs.ConfigError, match=r"\(2 points there, 3 here\)"):
        claim(tmp_path, first.with_axes({"load": [0.1, 0.2, 0.3]}))
    with pytest.raises(hs.ConfigError, match=r"\(its sweep has other values\)"):
        claim(tmp_path, first.with_axes({"load": [0.1, 0.3]}))


def test_a_directory_of_another_version_names_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim(tmp_path)
    monkeypatch.setattr(_core, "version", lambda: "0.0.1")
    with pytest.raises(hs.ConfigError, match=re.escape(f"(hopsim {hs.__version__} there, 0.0.1 here)")):
        claim(tmp_path)


def test_what_cannot_be_removed_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> None:
        raise OSError("in use")

    claim(tmp_path)
    monkeypatch.setattr(shutil, "rmtree", fail)
    with pytest.raises(hs.ConfigError) as refused:
        claim(tmp_path, force=True)
    assert str(refused.value) == (
        f"{tmp_path}: cannot write results there: in use; choose a directory you may write to"
    )


def test_a_list_in_the_configuration_differs_by_its_element(tmp_path: Path) -> None:
    first = Experiment.of({"topology": {"mesh": {"sides": [3, 2]}}, "load": 0.1})
    claim(tmp_path, first)
    with pytest.raises(hs.ConfigError, match=r"\(topology\.mesh\.sides\.1: 2 there, 4 here\)"):
        claim(tmp_path, first.replacing({"topology.mesh.sides": [3, 4]}))


def test_force_empties_a_directory_of_results_only(tmp_path: Path) -> None:
    store = claim(tmp_path)
    store.save(POINTS[0], result(POINTS[0], 2))
    store.assemble(Outcome(), with_csv=True)
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "a.pdf").write_text("figure")
    (tmp_path / "notes.txt").write_text("mine")
    claim(tmp_path, force=True)
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("**/*") if path.is_file())
    assert files == ["manifest.json", "notes.txt"]


def test_what_is_no_results_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")
    (tmp_path / "a").write_text("mine")
    for force in (False, True):
        with pytest.raises(hs.ConfigError) as refused:
            claim(tmp_path, force=force)
        assert str(refused.value) == (
            f"{tmp_path}: is not a results directory (no manifest.json) and not empty (a, …); "
            "choose an empty or a new directory"
        )
    with pytest.raises(hs.ConfigError) as missing:
        hs.load(tmp_path / "none")
    assert str(missing.value) == (
        f"{tmp_path}/none: is not a directory; give a directory that `hopsim run --out` has written"
    )
    with pytest.raises(hs.ConfigError) as unreadable:
        hs.load(tmp_path)
    assert str(unreadable.value) == (
        f"{tmp_path}: holds no manifest.json; give a directory that `hopsim run --out` has written"
    )


def test_a_file_in_the_way_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(hs.ConfigError) as refused:
        claim(tmp_path / "file" / "d")
    assert str(refused.value) == (
        f"{tmp_path}/file/d: cannot write results there: Not a directory; choose a directory you may write to"
    )


def test_an_error_without_words_of_the_system_is_told_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no more room")

    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(hs.ConfigError) as refused:
        claim(tmp_path / "d")
    assert str(refused.value) == (
        f"{tmp_path}/d: cannot write results there: no more room; choose a directory you may write to"
    )


def test_the_directory_without_a_name_is_that_of_the_experiment() -> None:
    whole = hashlib.sha256("\n".join(point.digest for point in POINTS).encode()).hexdigest()
    names = {"dir/some.toml": "some", "<text>": "text", "preset": "preset", "": "experiment", "XL.toml": "XL"}
    for name, stem in names.items():
        directory = default_directory(Experiment(DOCUMENT, name), POINTS)
        assert directory == Path("results") / f"{stem}-{whole[:8]}"


def test_no_half_written_file_is_left_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = claim(tmp_path)

    def fail(table: pa.Table, file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pyarrow.parquet, "write_table", fail)
    with pytest.raises(OSError, match="disk full"):
        store.save(POINTS[0], result(POINTS[0]))
    assert list((tmp_path / "points").iterdir()) == []


def test_what_cannot_be_written_is_named_with_the_reason_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = claim(tmp_path)

    def fail(table: pa.Table, file: BinaryIO) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pyarrow.parquet, "write_table", fail)
    with pytest.raises(OSError, match="No space left") as failed:
        store.save(POINTS[0], result(POINTS[0]))
    target = f"{tmp_path}/points/{POINTS[0].digest}.nodes.parquet"
    found = failed.value
    assert (found.errno, found.strerror, found.filename) == (errno.ENOSPC, "No space left on device", target)


@pytest.mark.parametrize("load", [0.1, 1e-4, 1e-5, 1.25e-5, 1e-6, 3.5e-12, 1e-300])
def test_a_configuration_is_known_by_its_digest_however_small_its_numbers_are(
    tmp_path: Path, load: float
) -> None:
    experiment = Experiment.of(TINY).replacing({"load": load, "sweep.product": {"measure.seed": [1]}})
    (point,) = experiment.points()
    record = result(POINTS[0]).record | {"config": json.loads(point.config)}
    claim(tmp_path, experiment).save(point, hs.Result(record, {}, {}))
    assert hs.load(tmp_path).points == [0]
    file = tmp_path / "points" / f"{point.digest}.json"
    record = json.loads(file.read_text())
    record["config"]["measure"]["warmup"] += 1
    file.write_text(json.dumps(seal(record)))
    with pytest.warns(hs.HopsimWarning, match="config: is not the one that the digest is of"):
        assert hs.load(tmp_path).points == []


def in_store(root: Path) -> list[Path]:
    """A directory with all points, each with a table; its files that are read again."""
    store = claim(root)
    for point in POINTS:
        store.save(point, result(point))
    store.assemble(Outcome(), with_csv=False)
    return [root / "manifest.json", *sorted((root / "points").iterdir())]


def contents(root: Path) -> list[object] | str:
    """All that is read of a directory, or why it is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            loaded = hs.load(root)
            assert loaded.origin is not None
            return [(each.record, each.axes, each.nodes.to_pydict()) for each in loaded]
        except (hs.ConfigError, hs.HopsimWarning) as told:
            return str(told)


FLIPS = 300
"""`verify attack` tries thousands."""


def test_no_flipped_bit_changes_what_is_read_without_a_word(tmp_path: Path) -> None:
    files = in_store(tmp_path)
    whole = contents(tmp_path)
    draw = random.Random(1)
    named = 0
    for _ in range(FLIPS):
        file = draw.choice(files)
        before = file.read_bytes()
        damaged = bytearray(before)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        file.write_bytes(damaged)
        found = contents(tmp_path)
        if found != whole:
            assert isinstance(found, str), (file.name, found)
            assert "damaged" in found
            named += 1
            if file.parent != tmp_path:
                store = Store(tmp_path, EXPERIMENT, POINTS, POINTS)
                assert len(store.finished(thoroughly=True)) == len(POINTS) - 1
        file.write_bytes(before)
    # What is left are flips of white space, and of the letter case of escapes.
    assert named > 0.9 * FLIPS


@pytest.mark.parametrize("kept", [0, 100])
@pytest.mark.parametrize("filled", [False, True])
def test_a_file_that_a_loss_of_power_has_torn_is_not_finished(
    tmp_path: Path, kept: int, filled: bool
) -> None:
    for file in in_store(tmp_path)[1:]:
        before = file.read_bytes()
        file.write_bytes(before[:kept] + bytes(len(before) - kept if filled else 0))
        assert isinstance(contents(tmp_path), str)
        assert len(claim(tmp_path).finished(thoroughly=True)) == len(POINTS) - 1
        file.write_bytes(before)


@pytest.mark.parametrize(
    ("names", "suffix"), [((), "json"), (("nodes",), "json"), (("nodes",), "nodes.parquet")]
)
def test_a_file_copied_over_another_one_is_noticed(
    tmp_path: Path, names: tuple[str, ...], suffix: str
) -> None:
    store = claim(tmp_path)
    for point in POINTS:
        store.save(point, result(point, names=names))
    here, there = (tmp_path / "points" / f"{point.digest}.{suffix}" for point in POINTS[:2])
    shutil.copy(here, there)
    if suffix == "json":
        with pytest.warns(hs.HopsimWarning, match="1 of the points are damaged"):
            assert hs.load(tmp_path).points == [0, 2, 3]
    assert list(claim(tmp_path).finished(thoroughly=True)) == [0, 2, 3]


@pytest.mark.parametrize("value", [None, "x", [1], {"nodes": 3}, {"nodes": {"bytes": "1"}}])
def test_a_record_of_a_point_with_wrong_contents_is_not_finished(tmp_path: Path, value: object) -> None:
    in_store(tmp_path)
    file = tmp_path / "points" / f"{POINTS[1].digest}.json"
    whole = json.loads(file.read_text())
    for key in ("digest", "config", "result", "jobs", "tables"):
        if not (type(value) is type(whole[key]) and key != "tables"):
            file.write_text(json.dumps(seal({**whole, key: value})))
            assert list(claim(tmp_path).finished()) == [0, 2, 3], key
    file.write_text("1" + "0" * 400)
    assert list(claim(tmp_path).finished()) == [0, 2, 3]


def test_a_table_with_a_column_twice_is_not_finished(tmp_path: Path) -> None:
    in_store(tmp_path)
    file = tmp_path / "points" / f"{POINTS[1].digest}.nodes.parquet"
    table = pyarrow.parquet.read_table(file)
    pyarrow.parquet.write_table(table.append_column(table.column_names[0], table.column(0)), file)
    record = file.with_name(f"{POINTS[1].digest}.json")
    written = json.loads(record.read_text())
    content = file.read_bytes()
    written["tables"]["nodes"] |= {"bytes": len(content), "sha256": checksum_of(content)}
    record.write_text(json.dumps(seal(written)))
    assert list(claim(tmp_path).finished(thoroughly=True)) == [0, 2, 3]


def test_the_tables_over_all_points_carry_checksums_of_their_pages(tmp_path: Path) -> None:
    in_store(tmp_path)
    for file in (tmp_path / "summary.parquet", tmp_path / "streams" / "nodes.parquet"):
        content = bytearray(file.read_bytes())
        content[content.index(b"PAR1") + 60] ^= 1
        file.write_bytes(content)
        with pytest.raises(OSError, match=r"CRC|corrupt|Couldn't|deserialize"):
            pyarrow.parquet.read_table(file, page_checksum_verification=True)


READING = """
import os, sys
import pyarrow.parquet
import hopsim as hs
from hopsim.cli import main
from hopsim.metrics.series import by_job

def threads():
    return len(os.listdir("/proc/self/task"))

before = threads()
results = hs.load("d")
for shown in (results, by_job(results)):
    for result in shown:
        assert all(table.num_rows for table in result.tables.values())
sys.argv = ["hopsim", "run", "two_jobs.toml", "--out", "d", "--csv"]
try:
    main()
finally:
    print(threads() - before)
"""
TWO_JOBS = (
    TINY
    + """
interval = 50
streams = ["latency_histogram"]
[[jobs]]
placement.nodes = { first = 0, count = 2 }
[[jobs]]
placement.nodes = { first = 2, count = 2 }
"""
)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads that Linux lists")
def test_reading_results_starts_no_thread(tmp_path: Path) -> None:
    """One of Arrow that still holds bytes of Python when the interpreter ends aborts the process."""
    (tmp_path / "two_jobs.toml").write_text(TWO_JOBS, "utf-8")
    hs.sweep(tmp_path / "two_jobs.toml", out=tmp_path / "d")
    command = [sys.executable, "-c", READING]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["0"]), done.stderr
    assert (tmp_path / "d" / "streams" / "latency_histogram.csv").exists()
