"""A node of the document as TOML: what one writes to name it, with its parameters."""

from __future__ import annotations

from typing import Any

from hopsim.files import toml
from hopsim.kinds import is_list, is_table
from hopsim.vocabulary.catalogue import Catalogue, Node, Schema, unit_and_range

JOBS = "jobs"
AXES = '[sweep.product]\n"load" = [0.1, 0.2, 0.3]'
SWEEP = {
    "sweep": AXES,
    "sweep.product": AXES,
    "sweep.zip": '[sweep.zip]\n"load" = [0.1, 0.2]',
    "sweep.labels": f'{AXES}\n[sweep.labels]\n"load" = ["low", "middle", "high"]',
}
"""What has keys of one's own, or nothing but such."""


def sample(catalogue: Catalogue, node: Node) -> str:
    """A line of TOML that names the node (below a heading for what stands in a list of tables)."""
    if node.path in SWEEP:
        return SWEEP[node.path]
    path = node.path.split(".")
    value = _standing_at(catalogue, path, 1)
    keys, heading = path[:1], ""
    if path[0] == JOBS:
        (value,), keys, heading = value, [], "[[jobs]]\n"
    # Single keys are joined by dots.
    while is_table(value) and len(value) == 1:
        ((key, value),) = value.items()
        keys.append(key)
    return f"{heading}{'.'.join(keys)} = {toml.value(value)}" if keys else heading.strip()


def _standing_at(catalogue: Catalogue, path: list[str], depth: int) -> Any:
    """The value of the key `path[:depth]` that leads to the end of the path."""
    schema = catalogue.nodes[".".join(path[:depth])].schema
    if depth == len(path) and (examples := schema.get("examples")):
        return examples[0]
    if depth == len(path):
        plain = "anyOf" in schema or schema.get("type") not in (None, "object", "array")
        inner = _of_field(catalogue, schema) if plain else _whole(catalogue, schema, optional=True)
    elif rows := _rows(catalogue, schema, path[depth]):
        inner = [_whole(catalogue, rows) | {path[depth]: _standing_at(catalogue, path, depth + 1)}]
    elif beside := _beside(catalogue, schema, path[depth]):
        inner = beside | {path[depth]: _standing_at(catalogue, path, depth + 1)}
    elif "oneOf" in schema or "anyOf" in schema:
        inner = _choice(path[depth], _standing_at(catalogue, path, depth + 1))
    else:
        inner = _whole(catalogue, schema) | {path[depth]: _standing_at(catalogue, path, depth + 1)}
    return [inner] if schema.get("list") else inner


def _rows(catalogue: Catalogue, schema: Schema, key: str) -> Schema | None:
    """Of several forms of a value the list of tables that have a key."""
    forms = (catalogue.resolve(form) for form in schema.get("anyOf", []))
    return next((form for form in forms if form.get("list") and key in form.get("properties", {})), None)


def _beside(catalogue: Catalogue, schema: Schema, key: str) -> dict[str, Any]:
    """Of several forms of a value, one of which is a table that has a key: what must stand beside the key."""
    forms = (catalogue.resolve(form) for form in schema.get("anyOf", []))
    form = next((form for form in forms if key in form.get("properties", {})), None)
    return {} if form is None else _whole(catalogue, form)


def _choice(name: str, parameters: Any) -> Any:
    """A choice with its parameters, by its bare name if there are none."""
    return {name: parameters} if parameters != {} else name


def _whole(catalogue: Catalogue, schema: Schema, *, optional: bool = False) -> Any:
    """A value of a schema: tables with the keys they must have, or with those that have a default too."""
    if "oneOf" in schema:
        return _first_choice(catalogue, schema)
    if "items" in schema:
        items, count = schema["items"], schema.get("minItems", 1)
        if items.get("type") == "integer":
            return [items.get("minimum", 0) + number for number in range(count)]
        return [_of_field(catalogue, items) for _ in range(count)]
    required = schema.get("required", [])
    fields = schema.get("properties", {})
    shown = [
        name for name in fields if name in required or (optional and fields[name].get("default") is not None)
    ]
    return {name: _of_field(catalogue, fields[name]) for name in shown}


def _first_choice(catalogue: Catalogue, schema: Schema) -> Any:
    first = schema["oneOf"][0]
    if "const" in first:
        return first["const"]
    if "enum" in first:
        return first["enum"][0]
    ((name, table),) = first["properties"].items()
    return _choice(name, _whole(catalogue, catalogue.resolve(table)))


def _of_field(catalogue: Catalogue, field: Schema) -> Any:
    """The default of a field, or some valid value of it."""
    schema = catalogue.resolve(field)
    default = field.get("default")
    if default is not None and default != []:
        return _shortest(default)
    if examples := field.get("examples"):
        return examples[0]
    if "anyOf" in schema:
        return _of_field(catalogue, schema["anyOf"][0])
    kinds = schema.get("type")
    kind = next(kind for kind in kinds if kind != "null") if is_list(kinds) else kinds
    if kind == "string" and "oneOf" not in schema:
        return "name"
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        number = _number(catalogue, schema, unit_and_range(field.get("description", ""))[2])
        return int(number) if kind == "integer" else number
    value = _whole(catalogue, schema)
    return [value] if schema.get("list") else value


def _number(catalogue: Catalogue, schema: Schema, limits: str) -> float:
    """A small number within the limits, of which the lower one may be another key of `measure`."""
    lower = limits.partition(" …")[0]
    measure = catalogue.nodes["measure"].schema["properties"]
    if lower in measure:
        return measure[lower]["default"]
    least = schema.get("minimum", 0)
    if schema.get("maximum") == 1 or limits.startswith("0 …"):
        return 0.5
    return max(1.0, least + 1.0) if least else 1.0


def _shortest(default: Any) -> Any:
    """A default as one would write it: a choice without parameters by its name."""
    if is_table(default) and len(default) == 1 and next(iter(default.values())) == {}:
        return next(iter(default))
    return default
