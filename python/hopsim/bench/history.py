"""The file of measured metrics: every run, the newest last."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hopsim.bench.figures import Figure
from hopsim.errors import ConfigError
from hopsim.files import atomic


class History:
    """Runs saved in a file.

    Attributes:
        path: the file; it need not exist yet.
        runs: what it holds, oldest first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = _read(path)

    def latest(self) -> dict[str, float]:
        """The last saved value of every metric, by name."""
        return {name: value for run in self.runs for name, value in run["figures"].items()}

    def save(self, about: dict[str, Any], figures: Iterable[Figure]) -> None:
        """Append a run. `about` tells when and where it was measured."""
        values = {figure.name: figure.value for figure in figures if figure.value is not None}
        self.runs.append({**about, "figures": values})
        atomic.make_folder(self.path.parent)
        atomic.write_text(self.path, json.dumps({"runs": self.runs}, indent=1) + "\n")


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        runs = json.loads(path.read_text("utf-8"))["runs"]
        if all(isinstance(run["figures"], dict) for run in runs):
            return runs
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        pass
    raise ConfigError(f"--save {path}: not a file of `hopsim bench`; choose another file, or remove this one")
