"""Where results come from: what their directory says of the run that wrote them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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
        """What a manifest says."""
        return cls(
            root=root,
            version=manifest["hopsim"],
            experiment=manifest["experiment"],
            document=manifest["document"],
            overrides=tuple(manifest["overrides"]),
            seeds=tuple(manifest["seeds"]),
            total=len(manifest["points"]),
            failures={int(point): text for point, text in manifest["failures"].items()},
            wall_time_s=manifest["wall_time_s"],
            written=manifest["written"],
            platform=manifest["platform"],
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
