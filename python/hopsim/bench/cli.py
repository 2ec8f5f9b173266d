"""The command `hopsim bench`."""

from __future__ import annotations

import click


@click.command("bench")
def command() -> None:
    """Measure instructions, time and memory per case."""
