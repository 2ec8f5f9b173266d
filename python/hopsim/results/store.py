"""The results directory.

    DIR/manifest.json                what was run, by which version, how far it got
    DIR/points/<digest>.json         one finished point; <digest>.<table>.parquet its tables
    DIR/summary.parquet              one row per point: sweep axes, summary record
    DIR/jobs.parquet                 one row per point and job, when there are several jobs
    DIR/streams/<table>.parquet      a table of all points, with a `point` column
    DIR/saturation.parquet, .csv     what a search for saturation has found
    DIR/plots, DIR/report.html       what `hopsim plot` and `hopsim report` make of them

What always holds: a file is either absent or complete (written beside and renamed); the JSON file
of a point is written after its tables; a directory holds one experiment of one version, which the
manifest says before there is anything else. Any number of processes may claim the same one.

What is read is compared with what was written: the manifest and the file of a point carry a checksum of
themselves, that of a point also its digest, which is its name, and the checksums of its tables. The tables
over all points, which hopsim does not read, carry the checksums of Parquet pages. The files of points are
brought to the disk all together before the tables over them are written: a loss of power costs points that
had finished since, and never changes one.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import RawIOBase
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa
from pyarrow import parquet

from hopsim import _core
from hopsim.document.experiment import Experiment, Point, experiment_digest
from hopsim.errors import ConfigError, HopsimWarning
from hopsim.files import atomic, csv_file, reading
from hopsim.kinds import is_list, is_table
from hopsim.metrics import tables
from hopsim.results import sealed, shape
from hopsim.results.origin import Origin
from hopsim.results.outcome import Outcome
from hopsim.results.result import Result, Results
from hopsim.results.sealed import DamagedError

MANIFEST = "manifest.json"
_CHECKED: dict[str, Any] = {"write_page_checksum": True}
"""Asks for checksums of the pages of a Parquet file."""
REPORT = "report.html"
OWN_NAMES = (
    MANIFEST,
    "points",
    "streams",
    "plots",
    REPORT,
    "summary.parquet",
    "jobs.parquet",
    "summary.csv",
    "jobs.csv",
    "saturation.parquet",
    "saturation.csv",
)


@dataclass(frozen=True)
class Store:
    """A results directory that belongs to one experiment.

    Attributes:
        root: the directory.
        experiment: what is run.
        points: its points.
        first: those that say which experiment it is; the others follow from what these show.
    """

    root: Path
    experiment: Experiment
    points: Sequence[Point]
    first: Sequence[Point]

    @classmethod
    def claim(cls, root: Path, experiment: Experiment, points: Sequence[Point], *, force: bool) -> Store:
        """Take a directory for an experiment: a new one, or one that holds part of the same experiment.

        Raises `ConfigError` when it holds something else (unless `force` empties it of results)
        or cannot be written.
        """
        reading.check_name(root)
        store = cls(root, experiment, points, points)
        _refuse_strangers(root)
        if force:
            _empty(root)
        store._say_what_it_is()
        for folder in store._folders:
            _make_folder(folder)
        store._write_manifest(Outcome(), len(store.finished()))
        return store

    def with_more(self, points: Sequence[Point]) -> Store:
        """The same directory with points that follow from those that it has, or stand for one of them."""
        numbered = {point.index: point for point in (*self.points, *points)}
        return replace(self, points=list(numbered.values()))

    def finished(self, *, thoroughly: bool = False) -> dict[int, Result]:
        """Points that are already there: point number -> result.

        If `thoroughly`, every byte of their tables is looked at, not only how many there are.
        """
        stored = ((point.index, point.digest, point.axes, point.labels) for point in self.points)
        found, _ = _read_points(self.root, stored, _core.version(), thoroughly=thoroughly)
        return found

    def save(self, point: Point, result: Result) -> Result:
        """Store one finished point; returns the result with tables that are read when asked for."""
        folder = self.root / "points"
        written = {name: _save_table(folder, point, (name, result.tables[name])) for name in result.tables}
        record = {
            "digest": point.digest,
            "config": result.config,
            "result": result.summary,
            "jobs": result.jobs,
            "tables": written,
        }
        atomic.write_text(folder / f"{point.digest}.json", json.dumps(sealed.seal(record)), synced=False)
        return Result(record, point.axes, _StoredTables(folder, point.digest, written), point.labels)

    def sync(self) -> None:
        """Bring the finished points to the disk."""
        atomic.sync(self.root / "points")

    def assemble(self, outcome: Outcome, *, with_csv: bool) -> Results:
        """Write the tables over all finished points and the manifest; returns those points."""
        results = Results(self.finished())
        self.sync()
        if len(results):
            write_table(self.root, "summary", results.table, with_csv=with_csv)
            if any(len(result.jobs) > 1 for result in results):
                write_table(self.root, "jobs", results.jobs, with_csv=with_csv)
        for name in results.recorded:
            self._write_stream(name, results, with_csv=with_csv)
        self._write_manifest(outcome, len(results))
        if len(results) == len(self.points):
            atomic.remove_unfinished([self.root, *self._folders])
        return results

    def _say_what_it_is(self) -> None:
        """Of several processes that make the directory at the same time, one says what it is for."""
        _make_folder(self.root)
        atomic.create_text(self.root / MANIFEST, self._manifest(Outcome(), 0))
        self._refuse_other_experiment()

    @property
    def _folders(self) -> list[Path]:
        return [self.root / "points", self.root / "streams"]

    def _refuse_other_experiment(self) -> None:
        manifest = _whole_manifest(self.root)
        if manifest is None:
            return
        difference = _difference(manifest, self.first)
        if difference:
            raise ConfigError(
                f"{self.root}: holds results of another experiment ({difference}); "
                "choose another directory, or empty this one with --force"
            )

    def _write_stream(self, name: str, results: Results, *, with_csv: bool) -> None:
        target = self.root / "streams" / f"{name}.parquet"
        stored = [result.tables for result in results if name in result.tables]
        schema = tables.common_schema(each.schema(name) for each in stored if isinstance(each, _StoredTables))
        atomic.write(target, lambda file: _write_parts(file, schema, results, name))
        if with_csv:
            table = _parquet(reading.stored_bytes(target)).read(use_threads=False)
            atomic.write(target.with_suffix(".csv"), lambda file: csv_file.write_table(file, table))

    def _write_manifest(self, outcome: Outcome, finished: int) -> None:
        atomic.write_text(self.root / MANIFEST, self._manifest(outcome, finished))

    def _manifest(self, outcome: Outcome, finished: int) -> str:
        """The text of the manifest after so much more of the experiment."""
        before = _whole_manifest(self.root) or {}
        seeds = {json.loads(point.config)["measure"]["seed"] for point in self.points}
        first = {point.index: point for point in self.first}
        manifest = {
            "hopsim": _core.version(),
            "experiment": self.experiment.name,
            "overrides": [f"{path}={value}" for path, value in self.experiment.overrides],
            "document": self.experiment.text,
            "hashes": {
                "document": hashlib.sha256(self.experiment.text.encode()).hexdigest(),
                "experiment": experiment_digest(self.first),
            },
            "seeds": sorted(seeds),
            "first": len(self.first),
            "total": len(self.points),
            "finished": finished,
            "failures": {str(point): text for point, text in outcome.failures.items()},
            "wall_time_s": round(before.get("wall_time_s", 0.0) + outcome.wall_time_s, 3),
            "peak_memory_bytes": max(before.get("peak_memory_bytes", 0), peak_memory_bytes()),
            "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "platform": f"{platform.platform()}, Python {platform.python_version()}",
            "config": json.loads(self.first[0].config),
            "points": [_entry(point, first.get(point.index, point)) for point in self.points],
        }
        return json.dumps(sealed.seal(manifest), indent=1) + "\n"


class _Summed(RawIOBase):
    """A file that is written, with the checksum of what was written so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksum = hashlib.sha256()
        self._length = 0

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes."""
        self._file.write(data)
        self._checksum.update(data)
        self._length += len(data)
        return len(data)

    def tell(self) -> int:
        """How many bytes there are."""
        return self._length

    @property
    def told(self) -> dict[str, Any]:
        """What the record of a point says of it."""
        return {"bytes": self._length, "sha256": self._checksum.hexdigest()}


def _save_table(folder: Path, point: Point, named: tuple[str, pa.Table]) -> dict[str, Any]:
    """Store a table of a point; returns what its record says of it: bytes, checksum, rows, columns."""
    name, table = named
    written: dict[str, Any] = {}

    def put(file: BinaryIO) -> None:
        summed = _Summed(file)
        parquet.write_table(table, cast("IO[bytes]", summed))
        written.update(summed.told, **shape.described(table))

    atomic.write(folder / f"{point.digest}.{name}.parquet", put, synced=False)
    return written


def write_table(root: Path, name: str, table: pa.Table, *, with_csv: bool) -> None:
    """Write a table into a directory as Parquet and, if asked for, as CSV: whole or not at all."""
    atomic.write(root / f"{name}.parquet", lambda file: parquet.write_table(table, file, **_CHECKED))
    if with_csv:
        atomic.write(root / f"{name}.csv", lambda file: csv_file.write_table(file, table))


def load(root: str | os.PathLike[str]) -> Results:
    """The finished points of a results directory. Raises `ConfigError` when it is none."""
    folder = reading.path_of(root, "root")
    reading.check_name(folder)
    try:
        manifest = _read_manifest(folder)
        reason = "holds no manifest.json" if folder.is_dir() else "is not a directory"
    except DamagedError as error:
        manifest, reason = None, f"manifest.json is damaged ({error})"
    if manifest is None:
        raise ConfigError(f"{root}: {reason}; give a directory that `hopsim run --out` has written")
    points = enumerate(manifest["points"])
    stored = [(index, each["digest"], each["axes"], each.get("labels")) for index, each in points]
    found, damaged = _read_points(folder, stored, manifest["hopsim"])
    missing = tuple(index for index, *_ in stored if index not in found)
    _warn_of_damage(folder, list(damaged.values()))
    return Results(found, Origin.of(folder, manifest, missing, tuple(damaged)))


def _warn_of_damage(root: Path, damaged: Sequence[str]) -> None:
    """Say which files of points are there and cannot be read: the points look as if they had not finished."""
    if damaged:
        warnings.warn(
            f"{root}: {len(damaged)} of the points are damaged and left out, such as {damaged[0]}; "
            "the command that has written them simulates them anew",
            HopsimWarning,
            stacklevel=3,
        )


def default_directory(experiment: Experiment, points: Sequence[Point]) -> Path:
    """Where results go when no directory is given: `results/<name>-<digest>`, one per experiment."""
    stem = Path(experiment.name).stem.strip("<>") or "experiment"
    return Path("results") / f"{stem}-{experiment_digest(points)[:8]}"


def peak_memory_bytes() -> int:
    """Largest resident memory of this process so far [bytes]; 0 where the system does not say."""
    try:
        import resource  # absent on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class _StoredTables(Mapping[str, pa.Table]):
    """Tables of a stored point, read when asked for.

    `written` says how long their files are [bytes], their checksums, and their columns.
    """

    def __init__(self, folder: Path, digest: str, written: Mapping[str, Mapping[str, Any]]) -> None:
        self._folder = folder
        self._digest = digest
        self._written = written

    def __getitem__(self, name: str) -> pa.Table:
        with self._opened(name) as file:
            return file.read(use_threads=False)

    def schema(self, name: str) -> pa.Schema:
        """The columns of a table."""
        with self._opened(name) as file:
            return file.schema_arrow

    def fault(self, *, thoroughly: bool) -> str:
        """The first file of a table that is not there, as long as it was written, with what is wrong.

        If `thoroughly`, whether it is as it was written, too. Empty if all is right. Raises `ConfigError` for
        what is no regular file, or may not be read.
        """
        faults = ((name, self._fault(name, thoroughly=thoroughly)) for name in self._written)
        return next((f"points/{self._path(name).name} ({fault})" for name, fault in faults if fault), "")

    def _fault(self, name: str, *, thoroughly: bool) -> str:
        try:
            with reading.open_stored(self._path(name)) as file:
                if os.fstat(file.fileno()).st_size != self._written[name]["bytes"]:
                    return "its length differs"
            if thoroughly:
                self._open(name)
        except FileNotFoundError:
            return "is missing"
        except DamagedError as error:
            return str(error)
        return ""

    def _open(self, name: str) -> parquet.ParquetFile:
        """The file of a table. Raises `DamagedError` if it is not what was written."""
        written = self._written[name]
        try:
            content = reading.stored_bytes(self._path(name))
            if sealed.checksum_of(content) != written["sha256"]:
                raise DamagedError("its checksum differs")
            file = _parquet(content)
            fault = shape.table_fault(name, file, written)
        except (OSError, pa.ArrowException) as error:
            raise DamagedError(str(error).partition("\n")[0]) from None
        if fault:
            raise DamagedError(fault)
        return file

    @contextmanager
    def _opened(self, name: str) -> Generator[parquet.ParquetFile]:
        """The same while it is read. Raises `ConfigError` if it is not what was written."""
        try:
            yield self._open(name)
        except (OSError, pa.ArrowException, DamagedError) as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(
                f"{self._path(name)}: is damaged ({reason}); the command that has written it simulates its "
                "point anew"
            ) from None

    def _path(self, name: str) -> Path:
        return self._folder / f"{self._digest}.{name}.parquet"

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def __contains__(self, name: object) -> bool:
        return name in self._written


def _entry(point: Point, first: Point) -> dict[str, Any]:
    """What the manifest says of a point, and of the one for which it stands if that was asked for first."""
    entry: dict[str, Any] = {"digest": point.digest, "axes": point.axes}
    if first.digest != point.digest:
        entry["stands_for"] = first.digest
    return {**entry, "labels": point.labels} if point.labels else entry


_Stored = tuple[int, str, Mapping[str, Any], Mapping[str, str] | None]
"""Number, digest, axes and, if it has some, labels of a point."""


def _read_points(
    root: Path, points: Iterable[_Stored], version: str, *, thoroughly: bool = False
) -> tuple[dict[int, Result], dict[int, str]]:
    """Those of the points that are there, and of those that are damaged a file with what is wrong; by number.

    `version` of hopsim has written them.
    """
    found: dict[int, Result] = {}
    damaged: dict[int, str] = {}
    for point in points:
        try:
            result = _read_point(root, point, version, thoroughly=thoroughly)
        except DamagedError as error:
            damaged[point[0]] = str(error)
        else:
            if result is not None:
                found[point[0]] = result
    return found, damaged


def _read_point(root: Path, point: _Stored, version: str, *, thoroughly: bool) -> Result | None:
    """A point; None if it is not there. Raises `DamagedError` that names the file."""
    _, digest, axes, labels = point
    folder = root / "points"
    try:
        record = sealed.read(folder / f"{digest}.json")
        fault = "" if record is None else shape.point_fault(record, digest, version)
    except DamagedError as error:
        record, fault = None, str(error)
    if fault:
        raise DamagedError(f"points/{digest}.json ({fault})")
    if record is None:
        return None
    stored = _StoredTables(folder, digest, record["tables"])
    if fault := stored.fault(thoroughly=thoroughly):
        raise DamagedError(fault)
    return Result(record, axes, stored, labels)


def _read_manifest(root: Path) -> dict[str, Any] | None:
    """The manifest; None if there is none. Raises `DamagedError`."""
    manifest = sealed.read(root / MANIFEST)
    fault = "" if manifest is None else shape.manifest_fault(manifest)
    if fault:
        raise DamagedError(fault)
    return manifest


def _whole_manifest(root: Path) -> dict[str, Any] | None:
    """The manifest; None if there is none or it is damaged, and so written anew."""
    try:
        return _read_manifest(root)
    except DamagedError:
        return None


def _refuse_strangers(root: Path) -> None:
    if not root.is_dir():
        return
    # Asked first: another process may write it at any time.
    damaged = (root / MANIFEST).exists()
    if _whole_manifest(root) is not None:
        return
    # What holds nothing but results has or gets a manifest of ours; a damaged one, with points beside it.
    ours = () if damaged and not (root / "points").is_dir() else OWN_NAMES
    entries = [entry.name for entry in root.iterdir()]
    names = sorted(name for name in entries if name not in ours and not atomic.is_unfinished(name))
    if names:
        manifest = "its manifest.json is none of hopsim" if damaged else "no manifest.json"
        raise ConfigError(
            f"{root}: is not a results directory ({manifest}) and not empty ({names[0]}, …); "
            "choose an empty or a new directory"
        )


def _empty(root: Path) -> None:
    """Remove what a results directory consists of, and nothing else; last what says that it is one."""
    if not (root / MANIFEST).exists():
        return
    try:
        for name in reversed(OWN_NAMES):
            path = root / name
            if name == MANIFEST:
                # A loss of power would else leave results of which nobody knows.
                atomic.sync_folder(root)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(_not_writable(root, error)) from None


def _difference(manifest: Mapping[str, Any], points: Sequence[Point]) -> str:
    """How a stored experiment differs from this one; empty when it is the same."""
    if manifest["hopsim"] != _core.version():
        return f"hopsim {manifest['hopsim']} there, {_core.version()} here"
    if manifest["hashes"].get("experiment") == experiment_digest(points):
        return ""
    there = dict(_flat(manifest["config"]))
    here = dict(_flat(json.loads(points[0].config)))
    paths = [path for path in {**there, **here} if there.get(path) != here.get(path)]
    if paths:
        shown = [f"{path}: {there.get(path)} there, {here.get(path)} here" for path in paths[:3]]
        more = [f"{len(paths) - 3} more"] if len(paths) > 3 else []
        return "; ".join(shown + more)
    if manifest.get("first") != len(points):
        return f"{manifest.get('first')} points there, {len(points)} here"
    return "its sweep has other values"


def _flat(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    children: Iterable[tuple[str | int, Any]]
    if node and is_table(node):
        children = node.items()
    elif node and is_list(node):
        children = enumerate(node)
    else:
        yield prefix, node
        return
    for name, child in children:
        yield from _flat(child, f"{prefix}.{name}" if prefix else str(name))


def _write_parts(file: BinaryIO, schema: pa.Schema, results: Results, name: str) -> None:
    """Write the table `name` of all points, one point in memory at a time."""
    with parquet.ParquetWriter(file, schema, **_CHECKED) as writer:
        for part in results.parts(name):
            writer.write_table(tables.with_schema(part, schema))


def _parquet(content: bytes) -> parquet.ParquetFile:
    """The file with these bytes, to be read with `use_threads=False`.

    So no thread of Arrow is started, here or below: one that still holds bytes of Python when the interpreter
    ends aborts the process (apache/arrow issue 34314), and files given by name are read by such threads.
    """
    return parquet.ParquetFile(pa.BufferReader(content))


def _make_folder(folder: Path) -> None:
    try:
        atomic.make_folder(folder)
        atomic.probe(folder)
    except OSError as error:
        raise ConfigError(_not_writable(folder, error)) from None


def _not_writable(root: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{root}: cannot write results there: {reason}; choose a directory you may write to"
