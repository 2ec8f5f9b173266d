"""Records and tables of a results directory that are well-formed and wrong, with checksums that are right.

Whoever reads them says which file is wrong and in what, or they are as good as those that hopsim writes;
`run` simulates anew.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import random
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyarrow import parquet
from verify.attack import results
from verify.power import run

import hopsim as hs
from hopsim.kinds import is_list, is_table
from hopsim.plot import KINDS
from hopsim.results.sealed import seal

COUNT = int(os.environ.get("HOPSIM_WRONG_CONTENTS", "30"))
"""Of every directory so many changes are drawn; `make verify` draws more."""

NETWORK = f"""{results.TWO_JOBS}\
streams = ["nodes", "routers", "links", "latency_histogram", "occupancy", "injection_waits", "generation",
    "link_series", "waits", "packet_hops", "congestion_trees"]
[sweep.product]
"jobs.0.traffic.process.bernoulli.load" = [0.1, 0.5]
"measure.seed" = [1, 2]
"""
PROGRAMS = f"""{results.A_PROGRAM}\
streams = ["ranks", "messages", "operations", "message_sizes", "nodes"]
[sweep.product]
"measure.seed" = [1, 2]
"""
FABRIC = f"""{results.FLOWS}\
streams = ["flows", "flow_series", "queue_series", "link_series", "victims", "links"]
time = {{ window = "20 us", interval = "5 us" }}
[sweep.product]
"measure.seed" = [1, 2]
"""
DOCUMENTS = {"network": NETWORK, "programs": PROGRAMS, "fabric": FABRIC}


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


WRONG: list[Any] = [
    *("x", "", 10**400, -(10**400), 2**70, float("nan"), float("inf"), 1e300, -1, 0, 1.5, None, True),
    *([], {}, [1], ["x"], {"x": 1}, _nested(70), _nested(300)),
]


def kind(value: Any) -> str:
    """What kind of value it is; of numbers whether there are such."""
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number" if -(2**64) <= value <= 2**64 else "no number"
    return type(value).__name__


@dataclass
class Stored:
    """A results directory, and what is in it.

    Attributes:
        folder: the directory.
        document: what was run.
        whole: the lines of its points.
    """

    folder: Path
    document: Path
    whole: list[str]

    def points(self) -> list[Path]:
        return sorted((self.folder / "points").glob("*.json"))

    def changes(self) -> list[Change]:
        found = list(_of_record(self.folder / "manifest.json"))
        for file in self.points()[:2]:
            found += _of_record(file)
            for table in json.loads(file.read_text())["tables"]:
                found += _of_table(file, table)
        return found


@dataclass
class Change:
    """A change of a file.

    Attributes:
        name: what it is.
        group: of what kind of thing; of each as many are tried.
        file: what it changes.
        must_be_told: whether it cannot pass for what hopsim writes.
        do: makes it.
    """

    name: str
    group: str
    file: Path
    must_be_told: bool
    do: Callable[[], None]


def _leaves(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items: Iterable[tuple[Any, Any]] = ()
    if is_table(node):
        items = node.items()
    elif is_list(node):
        items = enumerate(node)
    for key, value in items:
        yield from _leaves(value, (*path, key))


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


def _save(file: Path, record: dict[str, Any]) -> None:
    file.write_text(json.dumps(seal(record)))


def _of_record(file: Path) -> Iterator[Change]:
    whole = json.loads(file.read_text())
    for path in _leaves(whole):
        if path == ("checksum",):
            continue
        value = _at(whole, path)
        name = ".".join(map(str, path))
        group = f"{len(file.name) > 20} {path[0]}" + (
            f" {path[-1]}" if path[0] in ("result", "jobs", "points") else ""
        )

        def put(path: tuple[Any, ...] = path, wrong: Any = None) -> None:
            record = copy.deepcopy(whole)
            _at(record, path[:-1])[path[-1]] = wrong
            _save(file, record)

        def take(path: tuple[Any, ...] = path) -> None:
            record = copy.deepcopy(whole)
            del _at(record, path[:-1])[path[-1]]
            _save(file, record)

        for wrong in WRONG:
            if kind(wrong) != kind(value) or wrong != value:
                told = _must_be_told(file, path, value, wrong)
                text = f"{file.name[:20]} {name} = {str(wrong)[:20]}"
                yield Change(text, group, file, told, lambda put=put, wrong=wrong: put(wrong=wrong))
        yield Change(f"{file.name[:20]} without {name}", group, file, False, take)


def _must_be_told(file: Path, path: tuple[Any, ...], before: Any, after: Any) -> bool:
    """Whether a value cannot be one of that key."""
    if kind(after) == "no number" or path[0] in ("config", "tables", "digest", "hashes"):
        return file.name != "manifest.json" or path[0] != "config" or kind(after) == "no number"
    if "axes" in path or "labels" in path:
        return len(path) < 4 and kind(after) != "dict"
    if file.name != "manifest.json" and after is None:
        return "packets" in str(path[-1]) or path[-1] in ("seed", "accepted_load", "job")
    # What was not measured is null, of any column.
    return kind(after) != kind(before) and before is not None


def _of_table(file: Path, name: str) -> Iterator[Change]:
    path = file.with_name(f"{file.stem}.{name}.parquet")
    whole = parquet.read_table(path)

    def put(table: pa.Table) -> None:
        parquet.write_table(table, path)
        content = path.read_bytes()
        record = json.loads(file.read_text())
        written = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        record["tables"][name] |= written
        _save(file, record)

    kinds = [str(each.type) for each in cast("list[Any]", list(whole.schema))]
    for number, column in enumerate(whole.column_names):
        is_text = kinds[number] == "string"
        other = pa.array([1] * whole.num_rows) if is_text else pa.array(["x"] * whole.num_rows)
        renamed = [f"{each}x" if each == column else each for each in whole.column_names]
        tables = {
            "without": whole.drop_columns([column]),
            "renamed": whole.rename_columns(renamed),
            "of another type": whole.set_column(number, column, other),
            "of nothing": whole.set_column(number, column, pa.nulls(whole.num_rows)),
            "twice": whole.append_column(column, whole.column(number)),
        }
        if not is_text:
            lists = pa.array([[1]] * whole.num_rows)
            tables["of lists"] = whole.set_column(number, column, lists)
        for what, table in tables.items():
            yield Change(
                f"{name}.{column} {what}", f"{name} {what}", path, True, lambda table=table: put(table)
            )
    yield Change(f"{name} empty", f"{name} empty", path, whole.num_rows > 0, lambda: put(whole.slice(0, 0)))


@pytest.fixture(scope="module", params=DOCUMENTS)
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stored:
    root = tmp_path_factory.mktemp(request.param)
    document = root / "a.toml"
    document.write_text(DOCUMENTS[request.param])
    results = hs.sweep(document, out=root / "d", progress=False)
    return Stored(root / "d", document, [result.json() for result in results])


def _loaded(stored: Stored) -> tuple[hs.Results | None, str]:
    """What is read of a directory, and what is said of it; all tables are read."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = hs.load(stored.folder)
            for result in results:
                for name in result.tables:
                    result.tables[name]
        except hs.ConfigError as error:
            return None, str(error)
    return results, " ".join(str(each.message) for each in caught)


def _read_by_all(stored: Stored, results: hs.Results, draw: random.Random) -> None:
    """Whatever reads results may refuse them, and does nothing else."""
    html = methodcaller("_repr_html_")
    readers: list[Callable[[], object]] = [
        lambda: (results.table, results.jobs, repr(results), html(results), results.listed),
        *(lambda result=result: (repr(result), html(result), result.json()) for result in results),
        *(lambda result=result: result.why() for result in results),
        *(lambda result=result: result.packets() for result in results if "packet_hops" in result.tables),
        *(lambda name=name: results.stream(name) for name in results.recorded),
    ]
    for reader in readers:
        with contextlib.suppress(hs.ConfigError, hs.NotRecordedError):
            reader()
    folder = stored.folder.parent
    point = str(results.points[0]) if len(results) else "0"
    commands = (
        ["plot", "d", "--kind", draw.choice(list(KINDS))],
        ["report", "d"],
        ["why", "d", "--point", point],
        ["trace-packet", "d", "--point", point],
    )
    for command in commands:
        _clean(run(command, folder))


def _clean(done: Any) -> None:
    assert done.status in (0, 2), done
    assert "internal error" not in done.said, done.said
    assert "Traceback" not in done.said


def test_what_is_wrong_is_told_and_simulated_anew(original: Stored, tmp_path: Path) -> None:
    """Set HOPSIM_WRONG_CONTENTS to try more changes than a test has time for."""
    stored = Stored(tmp_path / "d", tmp_path / "a.toml", original.whole)
    shutil.copy(original.document, stored.document)
    shutil.copytree(original.folder, stored.folder)
    assert _loaded(stored)[1] == ""
    groups: dict[str, list[Change]] = {}
    for change in stored.changes():
        groups.setdefault(change.group, []).append(change)
    draw = random.Random(1)
    names = draw.sample(list(groups), len(groups)) * (COUNT // len(groups) + 1)
    untold = wrong = 0
    for change in (draw.choice(groups[name]) for name in names[:COUNT]):
        shutil.rmtree(stored.folder)
        shutil.copytree(original.folder, stored.folder)
        change.do()
        try:
            results, said = _loaded(stored)
            if said:
                assert change.file.stem[:64] in said, said
            else:
                assert not change.must_be_told, "not told"
                assert results is not None
                untold += 1
                _read_by_all(stored, results, draw)
            done = run(["run", "a.toml", "--out", "d", "-j", "1", "--json", "-"], tmp_path)
            _clean(done)
            if said:
                assert done.status == 0, done.said
                assert done.shown.splitlines() == stored.whole
                assert _loaded(stored)[1] == ""
        except Exception as error:
            wrong += 1
            print(f"{change.name}: {type(error).__name__} {str(error)[:300]}")
    print(len(groups), untold)
    assert not wrong
