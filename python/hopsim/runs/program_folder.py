"""Every program in a folder, each by itself on the network of one document."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.files import program_file
from hopsim.files.program_file import Source
from hopsim.files.trace_info import TraceInfo
from hopsim.results.result import Result, Results

EXTENSIONS: Mapping[str, str] = {
    **dict.fromkeys((".mpt", ".dim", ".prv"), "trace"),
    **dict.fromkeys((".goal", ".bin"), "goal"),
    ".et": "chakra",
}
"""What `jobs.program` has for a file, by the extension before `.xz` or `.gz`."""

_OF_RANK = re.compile(r"\.\d+\.et$")


@dataclass(frozen=True)
class Tried:
    """A program of a folder.

    Attributes:
        name: that of its file, or what the names of its files begin with.
        ranks: how many it has; 0 if it could not be read.
        reason: why it cannot run, or did not come to its end; empty if it did.
        result: what was measured, if it came to its end.
    """

    name: str
    ranks: int = 0
    reason: str = ""
    result: Result | None = None


def programs(folder: Path) -> list[Path]:
    """The programs in a folder, by name: of a Chakra trace what its files begin with.

    Raises `ConfigError` if there are none.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder; valid: a folder with programs")
    found = {Path(_OF_RANK.sub("", str(file))) for file in folder.iterdir() if _kind(file)}
    if not found:
        extensions = ", ".join(EXTENSIONS)
        raise ConfigError(
            f"{folder}: has no programs; valid: files that end with {extensions}, with .xz or .gz or not"
        )
    return sorted(found)


def _kind(file: Path) -> str | None:
    """What `jobs.program` calls a program in such a file."""
    name = file.stem if file.suffix in program_file.OPENERS else file.name
    if name.endswith(".et") and not _OF_RANK.search(file.name):
        return None
    return EXTENSIONS.get(Path(name).suffix)


class ProgramFolder:
    """The programs in a folder, each in the place of the program of a job of a document.

    Args:
        document: an experiment without a sweep.
        folder: where the programs are.
        job: number of the job whose program is replaced.

    Raises:
        ConfigError: the document has a sweep or no such job, or the folder has no programs.
    """

    def __init__(self, document: Experiment, folder: Path, job: int) -> None:
        points = document.points()
        if len(points) != 1:
            raise ConfigError(f"{document.name}: has a sweep; valid: none, the programs are the sweep")
        jobs = json.loads(points[0].config)["jobs"]
        if job >= len(jobs) or "program" not in jobs[job]:
            with_programs = [str(number) for number, each in enumerate(jobs) if "program" in each]
            valid = " or ".join(with_programs) or "a document with a job that runs a program"
            raise ConfigError(
                f"job = {job}: is no job of {document.name} that runs a program; valid: {valid}"
            )
        self._document = document
        self._path = f"jobs.{job}.program"
        self.tried: list[Tried] = []
        self._able: list[int] = []
        for file in programs(folder):
            checked = self._checked(file)
            if not checked.reason:
                self._able.append(len(self.tried))
            self.tried.append(checked)
        self._values = [self._value(folder / self.tried[number].name) for number in self._able]

    def _value(self, file: Path) -> dict[str, dict[str, str]]:
        """What the job has as its program: the file as seen from the document."""
        kind = "chakra" if program_file.is_chakra(file) else _kind(file)
        return {str(kind): {"file": os.path.relpath(file, self._document.directory)}}

    def _checked(self, file: Path) -> Tried:
        """A program with its ranks, or why it cannot run."""
        ranks = 0
        try:
            ranks = int(TraceInfo.of(Source(file)).totals["ranks"])
            self._document.replacing({self._path: self._value(file)}).points()
        except ConfigError as error:
            return Tried(file.name, ranks, str(error))
        return Tried(file.name, ranks)

    def document(self) -> Experiment:
        """The document with the programs that can run as its sweep.

        Raises `ConfigError` if none can, with the reason of the first.
        """
        if not self._able:
            first = self.tried[0]
            raise ConfigError(
                f"none of {len(self.tried)} programs can run here; the first, {first.name}: {first.reason}"
            )
        names = [self.tried[number].name for number in self._able]
        document = self._document.with_axes({self._path: self._values})
        return document.replacing({"sweep.labels": {self._path: names}})

    def take(self, results: Results, failures: Mapping[int, str]) -> None:
        """Keep what became of the points of `document`."""
        found = dict(zip(results.points, results, strict=True))
        for point, number in enumerate(self._able):
            reason = failures.get(point, "")
            self.tried[number] = replace(self.tried[number], reason=reason, result=found.get(point))
