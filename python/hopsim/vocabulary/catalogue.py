"""What a document may contain, read from the schema of the simulator: the source of `list` and `explain`.

A *node* is a key of the document or one choice of a key (a topology, a routing, an arbiter…). Nothing
here knows a mechanism by name: a new one appears as soon as the simulator has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from hopsim import _core
from hopsim.errors import ConfigError
from hopsim.kinds import is_list, is_table
from hopsim.suggestion import suggestion

Schema = Mapping[str, Any]

# Heading of `hopsim list` -> where in the document its choices stand.
KINDS = {
    "topology": "topology",
    "router": "router",
    "routing": "routing",
    "trigger": "routing.olm.trigger",
    "vcs": "router.cioq.vcs.management",
    "rings": "router.cioq.vcs.rings",
    "flow_control": "router.cioq.flow_control",
    "pattern": "jobs.traffic.pattern",
    "process": "jobs.traffic.process",
    "control": "nic.control",
    "program": "jobs.program",
    "placement": "jobs.placement",
    "arbiter": "router.cioq.allocator.input_arbiter",
    "semantics": "semantics",
    "compat": "compat",
    "stream": "measure.streams",
}

_BRACKET = re.compile(r"\s*\[([^\]]+)\]")
_SHORT = re.compile(r'In short ((?:`"[^"]+"`(?:, )?)+)')
_ABBREVIATION = re.compile(r"\(([A-Z][\w+-]*)[);]")
_DEFAULT = re.compile(r"[;:,] default:? (?:`([^`]+)`|([^,.;`]+))")
_FILLER = ("Parameters", "No parameters", "Rule of", "One class of", "A record stream")


@dataclass(frozen=True)
class Parameter:
    """One row of a parameter table."""

    name: str
    type: str
    unit: str
    range: str
    default: str
    doc: str


@dataclass(frozen=True)
class Node:
    """A key of the document, or a choice of a key.

    Attributes:
        path: dotted, as in the document; lists have no index.
        schema: the JSON Schema of its value, references resolved.
        doc: full documentation.
        identity: the same for the same thing found at several paths.
    """

    path: str
    schema: Schema
    doc: str
    identity: str

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def summary(self) -> str:
        """First sentence of the documentation, without unit, range and default."""
        first = re.split(r"(?<=[^.\d])\.\s|; default", self.lead, maxsplit=1)[0]
        return first.rstrip(".") + "." if first else ""

    @property
    def lead(self) -> str:
        """First paragraph of the documentation on one line, without unit and range."""
        return _lead(self.doc)[0]

    @property
    def aliases(self) -> set[str]:
        """Abbreviations of the papers, such as `ADVc` or `VAL`, in lower case."""
        short = (name for listed in _SHORT.findall(self.doc) for name in re.findall('"([^"]+)"', listed))
        return {name.lower() for name in (*short, *_ABBREVIATION.findall(self.lead))}

    @property
    def abbreviation(self) -> str:
        """The first abbreviation of the papers as they write it; empty if there is none."""
        return next(iter(_ABBREVIATION.findall(self.lead)), "")

    @property
    def paragraphs(self) -> list[str]:
        """The documentation, a line per paragraph."""
        return [" ".join(paragraph.split()) for paragraph in self.doc.split("\n\n")]


class Catalogue:
    """Every node of the document."""

    def __init__(self, schema: Schema | None = None) -> None:
        """`schema`: the JSON Schema of the document; the simulator's own when not given."""
        self._root: Schema = json.loads(_core.schema()) if schema is None else schema
        self.doc = _text(self._root)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Path -> node, in document order."""
        return {node.path: node for node in self._walk(self._root, "", ())}

    def choices(self, path: str) -> list[Node]:
        """The choices of the key at `path`, or the keys below it when it has none."""
        prefix = f"{path}."
        return [
            node
            for node in self.nodes.values()
            if node.path.startswith(prefix) and "." not in node.path[len(prefix) :]
        ]

    def find(self, name: str, others: Iterable[str] = ()) -> list[Node]:
        """Nodes called `name`: a path, the end of one, `<kind>.<choice>`, or an abbreviation of the papers.

        Capitals do not matter.
        Raises `ConfigError` with a suggestion when there is none, perhaps one of `others`.
        """
        wanted = re.sub(r"\.\d+(?=\.|$)", "", name.strip().lower())
        kind, _, rest = wanted.partition(".")
        ends = {wanted, f"{KINDS[kind]}.{rest}"} if kind in KINDS and rest else {wanted}
        found: dict[str, Node] = {}
        for node in self.nodes.values():
            if any(f".{node.path}".endswith(f".{end}") for end in ends):
                found.setdefault(node.identity, node)
        if not found:
            found = {node.identity: node for node in reversed(self.nodes.values()) if wanted in node.aliases}
        if not found:
            raise ConfigError(self._unknown(name, others))
        exact = [node for node in found.values() if node.path in ends]
        return exact or list(found.values())

    def parameters(self, node: Node) -> list[Parameter]:
        """Parameters of a node, nested tables flattened to dotted names."""
        return list(self._parameters(node.schema, "", ""))

    def _parameters(self, schema: Schema, prefix: str, unit: str, above: str = "") -> Iterator[Parameter]:
        """`above`: the default of the table that they are of; empty if it must be there."""
        required = schema.get("required", [])
        for name, field in schema.get("properties", {}).items():
            body = self.resolve(field)
            text, own_unit, limits = _lead(_text(field) or _text(body))
            inherited = own_unit or unit_and_range(_text(body))[1] or unit
            if body.get("properties") and "oneOf" not in body:
                default = "" if name in required else above or _default(field, text)
                yield from self._parameters(body, f"{prefix}{name}.", inherited, default)
                continue
            yield Parameter(
                name=f"{prefix}{name}",
                type=self._type(body),
                unit=inherited,
                range=limits or _limits(body),
                default=_of_table(above, name, prefix) if name in required else _default(field, text),
                doc=text,
            )

    def _walk(self, schema: Schema, prefix: str, above: tuple[str, ...]) -> Iterator[Node]:
        """Keys and choices below a schema; a definition inside itself is not entered again."""
        for name, field in schema.get("properties", {}).items():
            yield from self._node(f"{prefix}{name}", field, _text(field), above)
        for choice in schema.get("oneOf", []):
            if "const" in choice:
                path = f"{prefix}{choice['const']}"
                yield Node(path, {}, _text(choice), _identity(choice))
            elif "properties" in choice:
                ((name, field),) = choice["properties"].items()
                yield from self._node(f"{prefix}{name}", field, _text(choice), above)
            for name in choice.get("enum", []):
                yield Node(f"{prefix}{name}", {}, "", f"{prefix}{name}")
        for part in schema.get("anyOf", []):
            yield from self._walk(self.resolve(part), prefix, above)

    def _node(self, path: str, field: Schema, doc: str, above: tuple[str, ...]) -> Iterator[Node]:
        body = self.resolve(field)
        reference = _identity(body)
        own = _text(body)
        if own and own != doc and not own.startswith(_FILLER):
            doc = f"{doc}\n\n{own}" if doc else own
        yield Node(path, body, doc, f"{doc}{reference}")
        if reference not in above:
            yield from self._walk(body, f"{path}.", (*above, reference))

    def resolve(self, schema: Schema) -> Schema:
        """The schema behind references, `null` alternatives and list items."""
        for alternatives in ("anyOf", "allOf"):
            present = [part for part in schema.get(alternatives, []) if part.get("type") != "null"]
            if len(present) == 1:
                return self.resolve(present[0])
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self.resolve(self._root["$defs"][name])
        if schema.get("type") in ("array", ["array", "null"]) and "items" in schema:
            items = self.resolve(schema["items"])
            if items.get("properties") or items.get("oneOf"):
                examples = {"examples": schema["examples"]} if "examples" in schema else {}
                return {"list": True, **items, **examples}
        return schema

    def _type(self, schema: Schema) -> str:
        names = [_choice_name(choice) for choice in schema.get("oneOf", [])]
        if names:
            return ("list of " if schema.get("list") else "") + " | ".join(names)
        if "anyOf" in schema:
            return " | ".join(self._type(self.resolve(part)) for part in schema["anyOf"])
        kind = schema.get("type", "any")
        if is_list(kind):
            kind = next(item for item in kind if item != "null")
        if kind == "array":
            return f"list of {self._type(self.resolve(schema['items']))}"
        name = {"object": "table", "boolean": "true | false"}.get(str(kind), str(kind))
        return f"list of {name}" if schema.get("list") else name

    def _unknown(self, name: str, others: Iterable[str]) -> str:
        known = {part for path in self.nodes for part in (path, path.rpartition(".")[2])}
        known |= {f"{kind}.{node.name}" for kind, path in KINDS.items() for node in self.choices(path)}
        hint = suggestion(name, known.union(others)) or ";"
        shown = f"{name[:60]}…" if len(name) > 60 else name.strip() or '""'
        return f"{shown}: nothing has this name{hint} `hopsim list` shows all names"


def unit_and_range(doc: str) -> tuple[str, str, str]:
    """Splits `Latency [cycles, 1 … 60000].` into text, unit and range."""
    match = _BRACKET.search(doc)
    if match is None:
        return doc, "", ""
    parts = [part.strip() for part in match[1].split(",")]
    unit = ", ".join(part for part in parts if "…" not in part)
    limits = ", ".join(part for part in parts if "…" in part)
    return doc[: match.start()] + doc[match.end() :], unit, limits


def _lead(doc: str) -> tuple[str, str, str]:
    """First paragraph on one line, with its unit and range."""
    text, unit, limits = unit_and_range(doc.partition("\n\n")[0])
    return " ".join(text.split()), unit, limits


def _text(schema: Schema) -> str:
    return schema.get("description", "").replace("\\[", "[").replace("\\]", "]").strip()


def _identity(schema: Schema) -> str:
    return json.dumps(schema, sort_keys=True)


def _of_table(default: str, name: str, prefix: str) -> str:
    """The default of a key that its table must state: that of the table, where the table may be left out."""
    if not default:
        return "required"
    if default.startswith("{"):
        return json.dumps(json.loads(default).get(name))
    return f"required in {prefix.removesuffix('.')}" if default == "–" else default


def _choice_name(choice: Schema) -> str:
    if "const" in choice:
        return choice["const"]
    if "enum" in choice:
        return " | ".join(choice["enum"])
    return str(next(iter(choice.get("properties", {"…": None}))))


def _limits(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None and high is None:
        return ""
    return f"{'' if low is None else _number(low)} … {'' if high is None else _number(high)}".strip()


def _number(value: float) -> str:
    """All digits of a number, and no more."""
    return format(Decimal(repr(value)), "f").removesuffix(".0") if isinstance(value, float) else str(value)


def _default(field: Schema, text: str) -> str:
    """The default, from the text when it depends on other keys."""
    if "default" not in field:
        stated = _DEFAULT.search(text)
        return stated[1] or stated[2] if stated else "–"
    value = field["default"]
    if is_table(value) and len(value) == 1:
        ((choice, parameters),) = value.items()
        if not parameters or is_table(parameters):
            return str(choice)
    return value if isinstance(value, str) else json.dumps(value)
