"""What ARCHITECTURE.md says of the engine's files holds."""

import re
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "crates" / "hopsim-core" / "src"
ENGINE = SOURCES / "engine"

pytestmark = pytest.mark.skipif(not ENGINE.is_dir(), reason="needs the sources of the core")

_USE = re.compile(r"\b(crate::engine|super(?:::super)*)::(\{[^}]*\}|[\w:]+)")


def _module(file: Path) -> str:
    """The path of a file's module below `engine`, with slashes."""
    path = file.relative_to(ENGINE).with_suffix("")
    return path.parent.as_posix() if path.name == "mod" else path.as_posix()


def _imports(module: str, text: str, modules: set[str]) -> set[str]:
    """The modules of the engine that a file's code, tests apart, names in paths."""
    found: set[str] = set()
    for start, rest in _USE.findall(text.split("#[cfg(test)]\nmod tests")[0]):
        ups = start.count("super")
        base = module.split("/")[:-ups] if ups else []
        names = rest[1:-1].split(",") if rest.startswith("{") else [rest]
        for name in names:
            parts = [*base, *name.strip().split("::")]
            below = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
            found |= set([each for each in below if each in modules][:1])
    return found - {module}


def _engine() -> dict[str, str]:
    """The texts of the engine's files by module, without `engine/mod.rs`, which runs the whole."""
    files = (file for file in ENGINE.rglob("*.rs") if file != ENGINE / "mod.rs")
    return {_module(file): file.read_text("utf-8") for file in files}


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


def test_a_circle_of_imports_is_seen_however_it_is_written() -> None:
    files = {
        "a": "use crate::engine::b::{One, Two};",
        "b": "use super::c::d::Three;",
        "c/d": "let x = super::super::a::f();",
        "e": "use crate::engine::{a, c};\n#[cfg(test)]\nmod tests { use crate::engine::f::G; }",
        "f": "use super::e::H;",
    }
    assert circles(imports(files)) == [["a", "b", "c/d"]]


def test_no_files_of_the_engine_import_each_other_in_a_circle() -> None:
    graph = imports(_engine())
    assert graph.number_of_edges() > 100
    assert circles(graph) == []


def test_kernel_and_node_know_no_router() -> None:
    graph = imports(_engine())
    for module in graph:
        if module.split("/")[0] in ("kernel", "node"):
            assert not [other for other in graph[module] if other.startswith("router/")], module
        if module.startswith("kernel"):
            assert not [other for other in graph[module] if other.startswith("node/")], module


def test_every_file_that_the_architecture_names_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = re.findall(r"`(?:crates/hopsim-core/src/)?((?:[\w-]+/)*[\w-]+(?:\.rs|/))`", text)
    assert len(named) > 20
    places = [ROOT, SOURCES, ENGINE, *ENGINE.rglob("*"), SOURCES / "config", ROOT / "python" / "hopsim"]
    folders = [place for place in places if place.is_dir()]
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


def test_no_example_of_a_property_has_a_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    texts = {path.name: path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")}
    # One of its own would undo what `conftest.py` says for all.
    assert [name for name, text in texts.items() if re.search(r"@settings\([^)]*deadline", text)] == []
