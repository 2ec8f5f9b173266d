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

PACKAGE = ROOT / "python" / "hopsim"
LAYERS = (
    "files",
    "convert",
    "vocabulary",
    "document",
    "export",
    "metrics",
    "insight",
    "plot",
    "report",
    "results",
    "runs",
    "cli",
    "bench",
)
"""Folders of the Python package. Each imports only those before it, and the modules that are in none."""


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
    places = [ROOT, *CRATES.glob("*/src"), *CRATES.glob("*/src/**/"), ROOT / "python", PACKAGE]
    folders = [place for place in places if place.is_dir()]
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


def test_every_step_of_the_three_walks_is_a_file_of_the_crate_or_package_it_is_said_to_be_in() -> None:
    walks = (
        (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Three walks")[2].partition("```text")[2]
    )
    place, steps = ROOT, 0
    for line in walks.partition("```")[0].splitlines():
        if found := re.match(r"  (hopsim-\w+|python) ", line):
            place = PACKAGE if found[1] == "python" else CRATES / found[1] / "src"
        for name in re.findall(r"(?:\w+/)*\w+\.(?:rs|py)\b|\b\w+/(?=[, ])", line):
            assert (place / name).exists(), f"{place}: {name}"
            steps += 1
    assert steps > 15


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


def _python_files() -> dict[str, str]:
    """The texts of the package and of the reproductions beside it, by module, with dots."""
    texts: dict[str, str] = {}
    for folder in (PACKAGE, PACKAGE.with_name("hopsim_reproduce")):
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder.parent).with_suffix("").parts
            texts[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file.read_text("utf-8")
    return texts


def test_no_python_modules_import_each_other() -> None:
    graph = python_imports(_python_files(), "hopsim")
    assert graph.number_of_edges() > 500
    assert circles(graph) == []


def layer(module: str) -> int:
    """The number of the folder that a module of the package is in; -1 of one that is in none."""
    folder = f"{module}.".split(".")[1]
    return LAYERS.index(folder) if folder in LAYERS else -1


def upward(graph: "nx.DiGraph[str]") -> list[tuple[str, str]]:
    """The imports of modules in folders that come later."""
    return [(module, other) for module, other in graph.edges if layer(module) < layer(other)]


def test_an_import_of_a_later_folder_is_seen() -> None:
    texts = {
        "hopsim.errors": "def f():\n    from hopsim.files import one",
        "hopsim.files.one": "from hopsim import errors\nfrom hopsim.files.two import g",
        "hopsim.files.two": "from hopsim import plot",
        "hopsim.plot": "from hopsim.files.two import h",
    }
    found = upward(python_imports(texts, "hopsim"))
    assert found == [("hopsim.errors", "hopsim.files.one"), ("hopsim.files.two", "hopsim.plot")]


def test_no_folder_of_the_python_package_imports_a_later_one() -> None:
    graph = python_imports(_python_files(), "hopsim")
    # It is the command line itself.
    graph.remove_node("hopsim.__main__")
    product = [module for module in graph if module.split(".")[0] == "hopsim"]
    assert upward(graph.subgraph(product)) == []


def test_the_architecture_names_the_folders_of_the_python_package_in_their_order() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## The Python package")[2]
    assert re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE) == list(LAYERS)
    assert {file.parent.relative_to(PACKAGE).parts[0] for file in PACKAGE.glob("*/*.py")} == set(LAYERS)


def test_the_package_names_the_reproductions_beside_it_only_where_their_command_is_called() -> None:
    naming = [module for module, text in _python_files().items() if "hopsim_reproduce" in text]
    assert [module for module in naming if module.split(".")[0] == "hopsim"] == ["hopsim.cli"]


def test_no_example_of_a_property_has_a_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    texts = {path.name: path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py")}
    # One of its own would undo what `conftest.py` says for all.
    assert [name for name, text in texts.items() if re.search(r"@settings\([^)]*deadline", text)] == []
