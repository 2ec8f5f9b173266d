"""What ARCHITECTURE.md says of files and what they import holds."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"
ENGINE = CRATES / "hopsim-cycles" / "src"

pytestmark = pytest.mark.skipif(not ENGINE.is_dir(), reason="needs the sources of the core")

_USE = re.compile(r"\b(crate|super(?:::super)*)::((?:\w+::)*)(\{[^;]*?\}|\w+)")
_COMMENT = re.compile(r"//.*")

MOST = 6
"""Files of a crate that may import each other in a circle: a parent with its children."""
STILL_LARGER = {"hopsim-reference": 12}
"""Crates that are not there yet, and how many files their largest circle has."""


def _imports(module: str, text: str, modules: set[str]) -> set[str]:
    """The modules of a crate that a file's code, tests apart, names in paths."""
    found: set[str] = set()
    for start, way, last in _USE.findall(_COMMENT.sub("", text.split("#[cfg(test)]\nmod tests")[0])):
        ups = start.count("super")
        base = [*(module.split("/")[:-ups] if ups else []), *way.split("::")[:-1]]
        names = last[1:-1].split(",") if last.startswith("{") else [last]
        for name in names:
            parts = [*base, *name.strip().split("::")]
            below = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
            found |= set([each for each in below if each in modules][:1])
    return found - {module}


def _files(crate: Path) -> dict[str, str]:
    """The texts of a crate's files by module, without its root, which has the rest below it."""
    texts: dict[str, str] = {}
    for file in (crate / "src").rglob("*.rs"):
        path = file.relative_to(crate / "src").with_suffix("")
        texts[path.parent.as_posix() if path.name == "mod" else path.as_posix()] = file.read_text("utf-8")
    return {module: text for module, text in texts.items() if module != "lib"}


def imports(files: dict[str, str]) -> "nx.DiGraph[str]":
    """Which module imports which; `files` are texts by module."""
    modules = set(files)
    edges = [(each, other) for each, text in files.items() for other in _imports(each, text, modules)]
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(files)
    graph.add_edges_from(edges)
    return graph


def circles(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """The groups of modules that import each other."""
    return [sorted(each) for each in nx.strongly_connected_components(graph) if len(each) > 1]


def _engine() -> "nx.DiGraph[str]":
    """The modules of the engine of cycles."""
    return imports(_files(CRATES / "hopsim-cycles"))


def test_a_circle_of_imports_is_seen_however_it_is_written() -> None:
    files = {
        "a": "use crate::b::{One, Two};",
        "b": "use super::c::d::Three; // not crate::f",
        "c/d": "let x = super::super::a::f();",
        "e": "use crate::{a, c};\n#[cfg(test)]\nmod tests { use crate::f::G; }",
        "f": "use super::e::H;",
        "c/g": "use crate::c::{h::I, d::Three};",
        "c/h": "use super::g::J;",
    }
    assert sorted(circles(imports(files))) == [["a", "b", "c/d"], ["c/g", "c/h"]]


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.glob("*")))
def test_no_more_files_of_a_crate_import_each_other_than_a_reader_can_hold(crate: str) -> None:
    nobody: list[str] = []
    largest = max(circles(imports(_files(CRATES / crate))), key=len, default=nobody)
    if crate in STILL_LARGER:
        assert len(largest) == STILL_LARGER[crate], largest
    else:
        assert len(largest) <= MOST, largest


def test_no_files_of_the_engine_import_each_other_in_a_circle() -> None:
    graph = _engine()
    assert graph.number_of_edges() > 100
    assert circles(graph) == []


def test_kernel_and_node_know_no_router() -> None:
    graph = _engine()
    for module in graph:
        if module.split("/")[0] in ("kernel", "node"):
            assert not [other for other in graph[module] if other.startswith("router")], module
        if module.startswith("kernel"):
            assert not [other for other in graph[module] if other.startswith("node")], module


def test_every_file_that_the_architecture_names_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = re.findall(r"`((?:[\w-]+/)*[\w-]+(?:\.rs|/))`", text)
    assert len(named) > 20
    places = [ROOT, *CRATES.glob("*/src"), ENGINE, *ENGINE.rglob("*"), ROOT / "python" / "hopsim"]
    folders = [place for place in places if place.is_dir()]
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


def _named(node: ast.stmt, package: str) -> list[str]:
    """The modules that an import may be of, with what it takes from them."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # The package writes no relative imports.
        module = node.module or ""
        return [f"{module}.{alias.name}" for alias in node.names] if module.startswith(package) else []
    return []


def _run(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements that are run, those in functions too; what stands there for types alone is not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.stmt):
            yield node
        yield from _run(node)


def python_imports(texts: dict[str, str], package: str) -> "nx.DiGraph[str]":
    """Which module of a package imports which, wherever in its text; `texts` by module, with dots."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(texts)
    for module, text in texts.items():
        for node in _run(ast.parse(text)):
            for name in _named(node, package):
                known = name if name in texts else name.rpartition(".")[0]
                if known in texts and known not in (module, package):
                    graph.add_edge(module, known)
    return graph


def test_a_circle_of_python_imports_is_seen_in_functions_and_not_among_types() -> None:
    texts = {
        "p.a": "from p.b import f",
        "p.b": "def f():\n    from p import c",
        "p.c": "import p.a",
        "p.d": "from typing import TYPE_CHECKING\nfrom p import a\nif TYPE_CHECKING:\n    from p.e import T",
        "p.e": "from p.d import g",
    }
    assert circles(python_imports(texts, "p")) == [["p.a", "p.b", "p.c"]]


def test_no_python_modules_import_each_other() -> None:
    folder = ROOT / "python" / "hopsim"
    texts: dict[str, str] = {}
    for file in folder.rglob("*.py"):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        texts[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file.read_text("utf-8")
    graph = python_imports(texts, "hopsim")
    assert graph.number_of_edges() > 500
    assert circles(graph) == []


def test_no_example_of_a_property_has_a_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    texts = {path.name: path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")}
    # One of its own would undo what `conftest.py` says for all.
    assert [name for name, text in texts.items() if re.search(r"@settings\([^)]*deadline", text)] == []
