"""The figures of the examples, in `docs/images/examples`: `python -m docs.example_figures DIR [NAME …]`.

An example is run, with its results in DIR, and drawn if its document has changed since its figure was drawn,
or if it is named. What is in DIR already is not run again. `examples.toml` says which figure it is.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from PIL import Image

from hopsim.files import atomic
from hopsim.plot import KINDS

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "experiments"
FIGURES = DOCS / "images" / "examples"
DRAWN = FIGURES / "drawn.json"
"""Example -> digest of what its figure shows."""


@cache
def chosen() -> dict[str, str]:
    """Example -> its figure, and options."""
    return tomllib.loads((DOCS / "examples.toml").read_text("utf-8"))


def digest(name: str) -> str:
    """Of the document of an example, whatever its comments say, and of how it is drawn."""
    document = tomllib.loads((EXAMPLES / f"{name}.toml").read_text("utf-8"))
    text = json.dumps([document, chosen()[name]], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def drawn() -> dict[str, str]:
    """Example -> the digest that its figure was drawn of."""
    return json.loads(DRAWN.read_text("utf-8")) if DRAWN.exists() else {}


def main(directory: Path, names: Sequence[str]) -> None:
    """Draw the figures of these examples, or of all that have changed."""
    for name in names or [name for name in chosen() if drawn().get(name) != digest(name)]:
        _draw(name, directory / name)
        known = {**drawn(), name: digest(name)}
        atomic.write_text(DRAWN, json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _draw(name: str, results: Path) -> None:
    figure, *options = shlex.split(chosen()[name])
    kind = max((kind for kind in KINDS if figure.startswith(kind)), key=len)
    plots = results / "plots"
    _hopsim("run", name, "--out", str(results), "-j", "1")
    _hopsim("plot", str(results), "--kind", kind, "--dpi", "100", "--out", str(plots), *options)
    with Image.open(plots / f"{figure}.png") as picture:
        # A palette takes a third of the bytes. Of the ways to make one this keeps the colours of thin lines.
        method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
        few = picture.convert("RGB").quantize(256, method=method, dither=dither)
    FIGURES.mkdir(parents=True, exist_ok=True)
    few.save(FIGURES / f"{name}.png", optimize=True)


def _hopsim(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "hopsim", *arguments], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
