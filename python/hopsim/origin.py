"""Where results come from: what their directory says of the run that wrote them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_Said = TypeVar("_Said")


@dataclass(frozen=True)
class Origin:
    """A results directory and the run that wrote it.

    Attributes:
        root: the directory.
        version: that of hopsim, with a digest of its sources.
        experiment: what the document was called: a path, a preset name, `<text>`, `<dict>` or `<stdin>`.
        document: its text.
        overrides: `path=value`, in order, as `--set` takes them.
        seeds: all seeds.
        total: how many points there are, finished or not.
        failures: number of a point -> why it could not finish.
        wall_time_s: how long the run took, all processes together [s].
        written: when the manifest was written last, ISO 8601.
        platform: where it ran.
        unfinished: numbers of points that have not finished or failed.
        damaged: those of them whose files are there and cannot be read.
    """

    root: Path
    version: str
    experiment: str
    document: str
    overrides: tuple[str, ...]
    seeds: tuple[int, ...]
    total: int
    failures: Mapping[int, str]
    wall_time_s: float
    written: str
    platform: str
    unfinished: tuple[int, ...]
    damaged: tuple[int, ...]

    @classmethod
    def of(
        cls, root: Path, manifest: Mapping[str, Any], unfinished: tuple[int, ...], damaged: tuple[int, ...]
    ) -> Origin:
        """What a manifest says; what it does not say is empty."""

        def said(name: str, default: _Said) -> _Said:
            value = manifest.get(name)
            return value if isinstance(value, type(default)) else default

        nothing: list[Any] = []
        failures: dict[str, Any] = said("failures", {})
        return cls(
            root=root,
            version=manifest["hopsim"],
            experiment=said("experiment", ""),
            document=said("document", ""),
            overrides=tuple(map(str, said("overrides", nothing))),
            seeds=tuple(said("seeds", nothing)),
            total=len(manifest["points"]),
            failures={int(point): str(text) for point, text in failures.items() if point.isdecimal()},
            wall_time_s=manifest["wall_time_s"],
            written=said("written", ""),
            platform=said("platform", ""),
            unfinished=unfinished,
            damaged=damaged,
        )

    @property
    def file_name(self) -> str:
        """A name for the document as a file."""
        stem = Path(self.experiment).stem.strip("<>") or "experiment"
        return f"{stem}.toml"

    @property
    def command(self) -> str:
        """The command that runs the document again, saved under `file_name`."""
        assignments = [part for override in self.overrides for part in ("--set", override)]
        return shlex.join(["hopsim", "run", self.file_name, *assignments])
