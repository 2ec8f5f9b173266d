"""`hopsim report`: results as one HTML file that needs nothing else, neither the directory nor a network.

The page holds its data as compressed arrays, which the scripts in `assets/` draw. `layout` says where routers
are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hopsim.errors import ConfigError
from hopsim.files import atomic
from hopsim.report.page import page_of

if TYPE_CHECKING:
    from hopsim.results.result import Results

__all__ = ["write"]


def write(results: Results, path: Path, warnings: Sequence[str] = ()) -> Path:
    """Write the report of results into a file; `warnings`: what else it says is missing. Returns its path.

    Raises `ConfigError` when there is no point, or the file cannot be written.
    """
    if not len(results):
        where = f"{results.origin.root}: " if results.origin else ""
        raise ConfigError(f"{where}no point has finished; run the experiment first")
    page = page_of(results, warnings)
    try:
        atomic.write_text(path, page)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot write the report there: {error.strerror or error}; "
            "choose a file you may write to"
        ) from None
    return path
