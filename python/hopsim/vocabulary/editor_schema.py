"""The JSON Schema of the document as a user writes it, by which editors complete and check.

It has the short forms that the simulator replaces before it looks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hopsim import _core

SHORT_NAMES = "x-short-names"


def editor_schema() -> dict[str, Any]:
    """The schema: draft 2020-12, every key with its documentation."""
    root = json.loads(_core.schema())
    definitions = root["$defs"]
    for body in definitions.values():
        _add_short_forms(body, definitions)
    # What a sweep varies need not stand anywhere else.
    root["anyOf"] = [{"required": root.pop("required")}, {"required": ["sweep"]}]
    for name in ("product", "zip"):
        axes = {
            "type": ["array", "object"],
            "description": "Values to vary, or a table of keys below this one.",
        }
        definitions["SweepConfig"]["properties"][name]["additionalProperties"] = axes
    return root


def _add_short_forms(body: dict[str, Any], definitions: Mapping[str, Any]) -> None:
    """Let a choice whose parameters all have defaults be its bare name, a pattern its name in the papers."""
    choices = body.get("oneOf", [])
    bare = [
        {"type": "string", "const": name, "description": choice.get("description", "")}
        for choice in choices
        for name, table in choice.get("properties", {}).items()
        if _may_be_empty(table, definitions)
    ]
    if SHORT_NAMES in body:
        bare.append({"type": "string", "pattern": body.pop(SHORT_NAMES)})
    if bare:
        body["oneOf"] = [*choices, *bare]


def _may_be_empty(table: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    while "$ref" in table:
        table = definitions[table["$ref"].rpartition("/")[2]]
    return table.get("type") == "object" and not table.get("required")
