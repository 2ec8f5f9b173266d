"""`hopsim schema`: the JSON Schema of a document, for editors."""

from __future__ import annotations

import json

import click

from hopsim.vocabulary.editor_schema import editor_schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of a document, by which editors complete and check TOML files.

    Write it to a file, hopsim schema > hopsim.schema.json, and name that in the first line of a
    document: #:schema ./hopsim.schema.json
    """
    click.echo(json.dumps(editor_schema(), indent=1))
