"""The documentation site: `python docs/build.py DIR`.

Hand-written pages (README, ARCHITECTURE, docs/*.md …), a page per mechanism from the schema of the
simulator and `figures.toml`, and the Python API from the docstrings. `make docs` adds the Rust API.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
import tomllib
import warnings
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

from hopsim.cli.explain import found_by_several_runs
from hopsim.vocabulary.catalogue import KINDS, Catalogue, Node, Parameter
from hopsim.vocabulary.columns import result_columns
from hopsim_reproduce.entries import BY_NAME

ROOT = Path(__file__).resolve().parents[1]

# Page -> its source.
PAGES = {
    "index": "README.md",
    "tutorial": "docs/tutorial.md",
    "reading-results": "docs/reading-results.md",
    "model": "docs/model.md",
    "infiniband": "docs/infiniband.md",
    "clusters": "docs/clusters.md",
    "co-simulation": "docs/co-simulation.md",
    "validation": "docs/validation.md",
    "published": "docs/published.md",
    "papers-dally": "docs/papers/dally.md",
    "papers-gran": "docs/papers/gran.md",
    "papers-izu": "docs/papers/izu.md",
    "papers-jiang": "docs/papers/jiang.md",
    "papers-jsc": "docs/papers/jsc.md",
    "papers-networks": "docs/papers/networks.md",
    "papers-ridruejo": "docs/papers/ridruejo.md",
    "papers-thesis": "docs/papers/thesis.md",
    "limits": "docs/limits.md",
    "coming-from": "docs/coming-from.md",
    "architecture": "ARCHITECTURE.md",
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
}

# Files that pages link to, copied as they are.
FILES = [
    "examples/co_simulation.py",
    "examples/co_simulation.c",
    "crates/hopsim-c/include/hopsim.h",
]

# Kind -> keys that are a mechanism by themselves, beside the choices of `KINDS`.
KEYS = {
    "vcs": ["router.cioq.vcs.reply"],
    "buffers": ["router.cioq.buffers.damq"],
    "traffic": ["jobs.traffic.changes", "jobs.traffic.request_reply"],
}

LINKS = {
    "index.html": "hopsim",
    "tutorial.html": "Tutorial",
    "mechanisms/index.html": "Mechanisms",
    "experiments.html": "Examples",
    "reading-results.html": "Reading results",
    "results.html": "Columns",
    "model.html": "Model",
    "infiniband.html": "InfiniBand",
    "clusters.html": "Clusters",
    "co-simulation.html": "Co-simulation",
    "validation.html": "Validation",
    "published.html": "Published results",
    "limits.html": "Limits",
    "coming-from.html": "Coming from",
    "python/hopsim.html": "Python",
    "rust/hopsim_core/index.html": "Rust",
    "architecture.html": "Architecture",
    "contributing.html": "Contributing",
    "changelog.html": "Changes",
}

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{root}style.css">
</head>
<body>
<nav>{navigation}</nav>
<main>
{body}</main>
</body>
</html>
"""

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def build(out: Path) -> None:
    """Write all pages that need nothing but hopsim itself."""
    (out / "mechanisms").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "docs" / "style.css", out)
    shutil.copytree(ROOT / "docs" / "images", out / "images", dirs_exist_ok=True)
    for file in FILES:
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, out / file)
    for page, source in PAGES.items():
        text = (ROOT / source).read_text("utf-8")
        _write(out / f"{page}.html", _relocated(text, posixpath.dirname(source)), "")
    _write(out / "experiments.html", experiments(ROOT / "experiments"), "")
    _write(out / "results.html", results(), "")
    for name, text in mechanisms(Catalogue()).items():
        _write(out / "mechanisms" / f"{name}.html", text, "../")


def experiments(folder: Path) -> str:
    """Markdown of the page with all examples."""
    lines = ["# Examples", "", "`hopsim run NAME` runs them, without `.toml`.", ""]
    for path in sorted(folder.glob("*.toml")):
        lines += [f"## {path.name}", "", "```toml", path.read_text("utf-8").rstrip(), "```", ""]
    return "\n".join(lines)


def results() -> str:
    """Markdown of the page with every column of the results."""
    lines = [
        "# Columns of the results",
        "",
        "Every column of every table, as `hopsim explain NAME` tells it.",
    ]
    known = [*result_columns(), *found_by_several_runs()]
    for table in dict.fromkeys(column.table for column in known):
        columns = [column for column in known if column.table == table]
        lines += [
            "",
            f"## {table}",
            "",
            f"In {columns[0].place}.",
            "",
            *_table(["column", "unit", "meaning"]),
        ]
        lines += [_row([f"`{column.name}`", column.unit, column.meaning]) for column in columns]
    return "\n".join(lines) + "\n"


def python_api(out: Path) -> None:
    """Write the pages of the Python package, from its docstrings."""
    import pdoc

    pdoc.render.configure(docformat="google", show_source=False)
    # The class behind `results.plot` is not imported with the package, as matplotlib takes its time.
    pages = ("hopsim", "hopsim.plot.accessor")
    with warnings.catch_warnings():
        # Options that kinds share are inherited, of which nothing depends on the file.
        warnings.filterwarnings("ignore", "Cannot determine where")
        pdoc.pdoc(*pages, output_directory=out / "python")


def mechanisms(catalogue: Catalogue) -> dict[str, str]:
    """Markdown of every mechanism page, and of their index, by file stem."""
    index = ["# Mechanisms", "", "What an experiment document may name, as `hopsim list` shows it."]
    pages = {}
    for kind in KINDS | KEYS:
        index += ["", f"## {kind}", "", *_table(["name", "summary"])]
        for node in nodes(catalogue, kind):
            index.append(_row([f"[{node.name}]({kind}-{node.name}.html)", node.summary]))
            pages[f"{kind}-{node.name}"] = _mechanism(catalogue, kind, node)
    return {"index": "\n".join(index) + "\n"} | pages


def nodes(catalogue: Catalogue, kind: str) -> list[Node]:
    """The mechanisms of a kind."""
    choices = catalogue.choices(KINDS[kind]) if kind in KINDS else []
    return [*choices, *(catalogue.nodes[path] for path in KEYS.get(kind, []))]


def figures() -> dict[str, dict[str, str]]:
    """Kind -> mechanism -> what it must reproduce: the name of an entry, or why there is none."""
    return tomllib.loads((ROOT / "docs" / "figures.toml").read_text("utf-8"))


def _figure(kind: str, node: Node) -> list[str]:
    """The section that says what a mechanism must reproduce, if its kind has one."""
    name = figures().get(kind, {}).get(node.name)
    if name is None:
        return []
    entry = BY_NAME.get(name)
    if entry is None:
        return ["## Must reproduce", "", name, ""]
    command = ["```sh", f"hopsim reproduce {entry.name}", "```"]
    return ["## Must reproduce", "", f"{entry.title}: {entry.source}.", "", *command, ""]


def _mechanism(catalogue: Catalogue, kind: str, node: Node) -> str:
    lines = [f"# {node.name}", "", f"{kind}, in the document: `{node.path}`", ""]
    for paragraph in node.paragraphs:
        lines += [paragraph, ""]
    lines += _figure(kind, node)
    parameters = catalogue.parameters(node)
    if parameters:
        lines += ["## Parameters", "", *_table(["name", "type", "unit", "range", "default", "meaning"])]
        lines += [_row(_cells(row)) for row in parameters]
    tables = [node, *(below for below in catalogue.choices(node.path) if "oneOf" in below.schema)]
    for table in tables:
        choices = catalogue.choices(table.path) if "oneOf" in table.schema else []
        if choices:
            lines += ["", f"## Choices of {table.name}", "", *_table(["choice", "meaning"])]
            lines += [_row([f"`{choice.name}`", choice.lead]) for choice in choices]
    return "\n".join(lines) + "\n"


def _cells(row: Parameter) -> list[str]:
    return [f"`{row.name}`", row.type, row.unit, row.range, f"`{row.default}`", row.doc]


def _table(headings: list[str]) -> list[str]:
    return [_row(headings), _row(["---"] * len(headings))]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _relocated(text: str, folder: str) -> str:
    """Links between the sources become links between the pages."""
    stems = {source: f"{page}.html" for page, source in PAGES.items()} | {"experiments": "experiments.html"}

    def place(match: re.Match[str]) -> str:
        target, hash_, anchor = match[2].partition("#")
        if not target or "://" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        return f"{match[1]}({stems.get(path, path.removeprefix('docs/'))}{hash_}{anchor})"

    return re.sub(r"(!?\[[^\]]*\])\(([^)\s]+)\)", place, text)


def _write(path: Path, text: str, root: str) -> None:
    tokens = _MARKDOWN.parse(text)
    title = ""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            title = title or inline.content
            opening.attrSet("id", re.sub(r"[^\w]+", "-", inline.content.lower()).strip("-"))
    navigation = " ".join(f'<a href="{root}{target}">{name}</a>' for target, name in LINKS.items())
    body = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    page = TEMPLATE.format(title=title, root=root, navigation=navigation, body=body)
    path.write_text(page, "utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
    python_api(Path(sys.argv[1]))
