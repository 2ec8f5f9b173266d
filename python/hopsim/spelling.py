"""What an argument is called in messages: by its name in Python, or as an option of a command."""

from __future__ import annotations

from collections.abc import Callable

Spelling = Callable[..., str]
"""Turns a name, or a name and what was given for it, into text."""


def of_python(name: str, given: object = None) -> str:
    """`save_at`, or `save_at = 100`."""
    return name if given is None else f"{name} = {given}"


def of_command(name: str, given: object = None) -> str:
    """`--save-at`, or `--save-at 100`."""
    option = f"--{name.replace('_', '-')}"
    return option if given is None else f"{option} {given}"
