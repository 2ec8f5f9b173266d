"""The documentation site: `python -m docs.build DIR`.

Gathers the hand-written pages, each where it lies in the repository, so that their links hold, writes the
others beside them (`pages.py`), and has Sphinx make the site of both (`conf.py`). `make docs` adds what cargo
makes of the Rust crates.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.cmd.build import build_main

from docs.pages import DOCS, HEADER, ROOT, contents, generated

# Caption -> pages, by their paths in the repository; with a title where the navigation has another one.
SECTIONS = {
    "Guides": [
        "docs/tutorial",
        "experiments/index",
        "docs/reading-results",
        "docs/clusters",
        "docs/co-simulation",
        "docs/coming-from",
    ],
    "Notebooks": [
        "notebooks/first_curve",
        "notebooks/fairness",
        "notebooks/own_network",
        "notebooks/allreduce_neighbour",
        "notebooks/infiniband_congestion",
    ],
    "Reference": ["mechanisms/index", "results", "docs/model", "docs/infiniband", "docs/limits"],
    "Interfaces": ["python", "rust", "c", "integrations/astra-sim/README", "integrations/sst/README"],
    "Trust": ["docs/validation", "Published results <docs/published>"],
    "Development": ["ARCHITECTURE", "CONTRIBUTING", "CODE_OF_CONDUCT", "SECURITY", "CHANGELOG"],
}

FILES = ["examples/co_simulation.py", "examples/co_simulation.c", HEADER]
"""What pages link to that is no page."""


def build(out: Path, *options: str) -> None:
    """Write the site, but for the Rust API; `options` are Sphinx's.

    Raises `SystemExit` if there is anything to warn of, such as a link that leads nowhere.
    """
    with TemporaryDirectory() as folder:
        source, cache = Path(folder, "source"), Path(folder, "cache")
        gather(source)
        told = ["-q", "-W", "--keep-going", "-c", str(DOCS), "-d", str(cache), *options]
        if build_main([*told, str(source), str(out)]):
            raise SystemExit("the site is not as it should be")


def gather(source: Path) -> None:
    """Put all pages, and what they show and link to, into a folder."""
    shutil.copytree(DOCS / "images", source / "docs/images")
    shutil.copytree(ROOT / "notebooks", source / "notebooks")
    for file in FILES:
        _write(source / file, (ROOT / file).read_text("utf-8"))
    pages = [
        *DOCS.glob("*.md"),
        *DOCS.glob("papers/*.md"),
        *ROOT.glob("[A-Z]*.md"),
        *ROOT.glob("integrations/*/README.md"),
    ]
    for page in pages:
        _write(source / page.relative_to(ROOT), _linked(page.read_text("utf-8")))
    # What PyPI shows.
    (source / "docs/package.md").unlink()
    papers = (f"papers/{page.stem}" for page in sorted(DOCS.glob("papers/*.md")))
    _add(source / "docs/published.md", contents(papers))
    index = (source / "README.md").rename(source / "index.md")
    for caption, names in SECTIONS.items():
        _add(index, contents(names, caption))
    for name, text in generated():
        _write(source / f"{name}.md", text)


def _linked(text: str) -> str:
    """Links to the folder of examples become links to their page."""
    return re.sub(r"\]\(((?:\.\./)?experiments)/?\)", r"](\1/index.md)", text)


def _add(page: Path, lines: Sequence[str]) -> None:
    page.write_text("\n".join([page.read_text("utf-8"), *lines, ""]), "utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
