"""An experiment: a TOML document, the name it goes by, and the values that replace some of its own."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias, cast

from hopsim import _core
from hopsim.errors import ConfigError
from hopsim.files import (
    flows_file,
    forwarding_file,
    graph_file,
    packets_file,
    placement_file,
    program_file,
    reading,
    routes_file,
    toml,
)
from hopsim.kinds import is_sequence, is_table
from hopsim.suggestion import suggestion

DICTIONARY = "<dict>"
STANDARD_INPUT = "<stdin>"
KIND = "a TOML text file"

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Experiment"


@dataclass(frozen=True)
class Point:
    """One simulation of an experiment.

    Attributes:
        index: place in the sweep, from 0.
        config: resolved configuration, JSON text.
        axes: sweep assignments {path: value} that made this point.
        digest: identifies configuration and simulator version.
        labels: names {path: name} that `[sweep.labels]` gives to values of `axes`.
    """

    index: int
    config: str
    axes: dict[str, Any]
    digest: str
    labels: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def cycles(self) -> int | None:
        """Length of the measurement window; of programs, which end it, its greatest [cycles].

        None for a fabric, which has no cycles.
        """
        measure = json.loads(self.config)["measure"]
        return measure.get("cycles", measure.get("max_cycles"))


@dataclass(frozen=True)
class Experiment:
    """A TOML document with overrides.

    Attributes:
        text: the document.
        name: what messages call it: a path, a preset name, or `<text>`.
        overrides: (path, TOML value) pairs, applied in order.
        directory: where the files are that the document names by relative paths.
    """

    text: str
    name: str
    overrides: tuple[tuple[str, str], ...] = ()
    directory: Path = Path()

    @classmethod
    def of(cls, source: Source) -> Experiment:
        """An experiment from a path, the name of a preset, TOML text or a dictionary; or one as it is.

        A string that holds a line break or `=` is TOML text.
        """
        if isinstance(source, Experiment):
            return source
        if isinstance(source, Mapping):
            return cls(toml.document(source), DICTIONARY)
        # A caller may check no types.
        if not isinstance(source, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
            kinds = "a path, the name of a preset, TOML text or a dictionary"
            raise ConfigError(f"{source!r}: an experiment is {kinds}, not {type(source).__name__}")
        if isinstance(source, str) and ("\n" in source or "=" in source) and not _exists(Path(source)):
            return cls(source, "<text>")
        return cls.open(source)

    @classmethod
    def open(cls, source: str | os.PathLike[str]) -> Experiment:
        """An experiment from a file, or from the shipped preset or example of that name."""
        path, name = Path(source), _displayed(source)
        if not _exists(path) and str(source) in preset_names() + example_names():
            return cls(shipped_text(str(source)), str(source), directory=_shipped(str(source)).parent)
        try:
            return cls(reading.text_of(path, KIND), name, directory=path.parent)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
        except (OSError, ValueError) as error:
            raise ConfigError(_cannot_read(source, error)) from None

    @classmethod
    def from_standard_input(cls) -> Experiment:
        """An experiment from standard input; files that it names are looked for in the working directory."""
        if sys.stdin is None:
            raise ConfigError(f"{STANDARD_INPUT}: is closed; valid: {KIND}")
        try:
            return cls(reading.read_text(sys.stdin.buffer, KIND), STANDARD_INPUT)
        except ConfigError as error:
            raise ConfigError(f"{STANDARD_INPUT}: {error}") from None

    def replacing(self, values: Mapping[str, Any]) -> Experiment:
        """The same experiment with {dotted path: value} replaced."""
        for path in values:
            # A caller may check no types.
            if not isinstance(path, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ConfigError(f"{path!r}: is not a dotted path; valid: a text such as 'measure.seed'")
        pairs = tuple((path, toml.value(item)) for path, item in values.items())
        return replace(self, overrides=self.overrides + pairs)

    def setting(self, assignments: Iterable[str]) -> Experiment:
        """The same experiment with `path=value` texts applied, as given to `--set`."""
        pairs = tuple(_assignment(text) for text in assignments)
        return replace(self, overrides=self.overrides + pairs)

    def with_axes(self, product: Mapping[str, Any]) -> Experiment:
        """The same experiment with more sweep axes, after (faster than) those of the document."""
        if not product:
            return self
        axes = {**self._stated("sweep.product", {}), **product}
        return self.replacing({"sweep.product": axes})

    def states(self, path: str) -> bool:
        """Whether the document or an override gives a value to `path`."""
        return self._stated(path, None) is not None

    def points(self) -> list[Point]:
        """Every simulation of the experiment, in order. Raises `ConfigError`."""
        overrides = list(self.overrides)
        try:
            # The points of a sweep mostly name the same file.
            network, flows = functools.cache(self._network), functools.cache(self._flows)
            forwarding, packets = functools.cache(self._forwarding), functools.cache(self._packets)
            routes = functools.cache(self._routes)
            files = (network, forwarding, self._nodes, packets, flows, routes, self._contents, self._ranks)
            configs = _core.points(self.text, self.name, overrides, files)
        except ConfigError as error:
            raise ConfigError(_without_place(str(error))) from None
        except UnicodeEncodeError as error:
            wrong = ascii(error.object[error.start : error.end])
            raise ConfigError(f"{self.name}: {wrong} is no character; valid: Unicode text") from None
        sweep = json.loads(_core.axes(self.text, self.name, overrides))
        axes = _of_one_type([values for values, _ in sweep])
        return [
            Point(index, config, axes[index], _digest(config), sweep[index][1])
            for index, config in enumerate(configs)
        ]

    @property
    def branch_at(self) -> int | None:
        """The cycle up to which all points share one run, None if each is run by itself."""
        return _core.branch_at(self.text, self.name, list(self.overrides))

    @property
    def saturate(self) -> dict[str, Any] | None:
        """How to search for saturation, see `sweep.saturate`; None if the document does not ask for it."""
        wanted = _core.saturate(self.text, self.name, list(self.overrides))
        return None if wanted is None else json.loads(wanted)

    def _network(self, file: str) -> str:
        """The network in a file, as JSON."""
        return json.dumps(graph_file.network(self.directory / file))

    def _forwarding(self, file: str, network: str) -> list[list[int]]:
        """The forwarding tables in a file, for the network in another one."""
        return forwarding_file.tables(self.directory / file, self.directory / network)

    def _nodes(self, file: str) -> list[int]:
        """The nodes in the file of a placement, by rank."""
        return placement_file.nodes(self.directory / file)

    def _packets(self, file: str) -> str:
        """The packets in a file, as JSON."""
        return json.dumps(packets_file.packets(self.directory / file))

    def _flows(self, file: str) -> str:
        """The flows in a file, as JSON."""
        return json.dumps(flows_file.flows(self.directory / file))

    def _routes(self, file: str) -> str:
        """The table of routes in a file, as JSON."""
        return json.dumps(routes_file.routes(self.directory / file))

    def _contents(self, file: str) -> bytes:
        """What is in the file of a program, decompressed."""
        return program_file.contents(self.directory / file)

    def _ranks(self, file: str) -> list[bytes]:
        """What is in the files of all ranks of a Chakra trace, decompressed."""
        return program_file.chakra(self.directory / file)

    def _stated(self, path: str, default: Any) -> Any:
        """What the document with its overrides, in their order, has at a path of bare names."""
        document = _parsed(self.text)
        for assigned, text in self.overrides:
            _assign(document, assigned, text)
        node: Any = document
        for name in path.split("."):
            if not is_table(node) or name not in node:
                return default
            node = node[name]
        return node


def _parsed(text: str) -> dict[str, Any]:
    """A TOML document; empty if it is none, which the core refuses."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _assign(document: dict[str, Any], path: str, text: str) -> None:
    """Put a TOML value at a path; nothing where there is no place for it, which the core refuses."""
    names: list[str] = []
    branch: Any = _parsed(f"{path} = 0")
    while is_table(branch) and branch:
        name, branch = next(iter(branch.items()))
        names.append(name)
    if not names:
        return
    # A bare word is a string.
    value = _parsed(f"value = {text}").get("value", text)
    node: Any = document
    for name in names[:-1]:
        if isinstance(node, dict):
            node = cast(dict[str, Any], node).setdefault(name, {})
        elif is_sequence(node) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            return
    if isinstance(node, dict):
        cast(dict[str, Any], node)[names[-1]] = value


def preset_names() -> list[str]:
    """Names of the presets: networks to start from, shipped with the package."""
    return sorted(file.stem for file in _folder("presets").glob("*.toml"))


def example_names() -> list[str]:
    """Names of the commented examples shipped with the package."""
    return sorted(file.stem for file in _folder("experiments").glob("*.toml"))


def shipped_text(name: str) -> str:
    """The document of a preset or an example."""
    return _shipped(name).read_bytes().decode()


def shipped_summary(name: str) -> str:
    """The first sentence of the comment at the head of the document of a preset or an example."""
    comment = itertools.takewhile(lambda line: line.startswith("#"), shipped_text(name).splitlines())
    text = " ".join(line.removeprefix("#").strip() for line in comment)
    return re.split(r"(?<=[^.\d]\.)\s", text)[0]


def experiment_digest(points: Iterable[Point]) -> str:
    """Identifies a whole experiment: all its points in order."""
    return hashlib.sha256("\n".join(point.digest for point in points).encode()).hexdigest()


def _of_one_type(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sweep assignments in which an axis that has a decimal number anywhere has no integers."""
    decimal = {path for axes in points for path, value in axes.items() if isinstance(value, float)}

    def typed(path: str, value: Any) -> Any:
        return float(value) if path in decimal and type(value) is int else value

    return [{path: typed(path, value) for path, value in axes.items()} for axes in points]


def _without_place(message: str) -> str:
    """The message, without line and column if the text was made from a dictionary."""
    return re.sub(f"^{DICTIONARY}: line \\d+, column \\d+: ", f"{DICTIONARY}: ", message)


def _shipped(name: str) -> Path:
    """The file of a preset or an example."""
    return _folder("presets" if name in preset_names() else "experiments") / f"{name}.toml"


def _folder(name: str) -> Path:
    """A folder of the package, which is never in an archive, as it has a compiled module."""
    return Path(str(resources.files("hopsim"))) / name


def _digest(config: str) -> str:
    return hashlib.sha256(f"{_core.version()}\n{config}".encode()).hexdigest()


def _assignment(text: str) -> tuple[str, str]:
    path, equals, item = text.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"--set {text}: must be path=value, for example --set load=0.4")
    return path.strip(), item.strip()


def _displayed(source: str | os.PathLike[str]) -> str:
    """A path as text, whatever bytes the name of the file has."""
    return os.fsencode(source).decode(errors="replace") or '""'


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _beside(path: Path) -> list[str]:
    """Documents in the folder of a path, written as it is."""
    try:
        return [str(path.with_name(other.name)) for other in sorted(path.parent.glob("*.toml"))]
    except (OSError, ValueError):
        return []


def _cannot_read(source: str | os.PathLike[str], error: OSError | ValueError) -> str:
    close = suggestion(_displayed(source), _beside(Path(source))) or suggestion(
        Path(source).stem, preset_names() + example_names()
    )
    hint = close or f"; presets: {', '.join(preset_names())}"
    reason = getattr(error, "strerror", None) or str(error)
    hint = f"; valid: {KIND}, or the name of a preset" if _exists(Path(source)) else hint
    return f"{_displayed(source)}: cannot read the experiment: {reason}{hint}"
