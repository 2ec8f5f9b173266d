"""Options of commands that run a sweep on several machines: `--shard`, `--dask`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from hopsim.document.experiment import Point
from hopsim.errors import ConfigError, HopsimWarning
from hopsim.files.reading import text_of
from hopsim.runs.dask_executor import DaskExecutor
from hopsim.runs.workers import Elsewhere

CONNECT_S = 10
"""How long a scheduler may take to answer [s]."""


@dataclass(frozen=True)
class Shard:
    """One of so many parts of a sweep: the points whose number is `number` modulo `count`."""

    number: int
    count: int

    def has(self, point: Point) -> bool:
        """Whether this part has the point."""
        return point.index % self.count == self.number % self.count

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def _shard(_context: click.Context, _option: click.Parameter, value: str | None) -> Shard | None:
    if value is None:
        return None
    match = re.fullmatch("([0-9]{1,9})/([0-9]{1,9})", value)
    if match is None or not 0 <= int(match[1]) <= int(match[2]) > 0:
        valid = "I/N, such as 3/64, with N from 1 and I from 0 to N, where N is the same as 0"
        raise click.BadParameter(f"{value!r} is no part of a sweep; valid: {valid}.")
    return Shard(int(match[1]), int(match[2]))


shard = click.option(
    "--shard",
    metavar="I/N",
    callback=_shard,
    help="Run the points whose number is I modulo N, and leave the tables over all points to the same "
    "command without --shard.",
)
dask = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Run the points on the workers of a Dask scheduler: tcp://host:8786, or its scheduler file.",
)


def refuse_with_shard(shard: Shard, given: dict[str, object]) -> None:
    """Refuse options that concern all points. Raises `ConfigError` for the first that is given."""
    for option, value in given.items():
        if value:
            raise ConfigError(
                f"{option}: concerns all points, and --shard {shard} runs some of them; "
                f"valid: {option} without --shard, before or after the shards"
            )


@contextlib.contextmanager
def dask_workers(address: str, directory: Path) -> Generator[Elsewhere]:
    """The workers of a Dask scheduler. Raises `ConfigError` if there is none."""
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError(f"--dask {address}: needs Dask; pip install 'hopsim[dask]' installs it") from None
    try:
        # A client that cannot connect would write more than it raises.
        scheduler = asyncio.run(_answering(address))
    except Exception as error:  # Whatever the transport of the address makes of it.
        raise ConfigError(
            f"--dask {address}: no scheduler answers ({error}); valid: the address that `dask scheduler` "
            "prints, such as tcp://host:8786, or the file it has written with --scheduler-file"
        ) from None
    # What is lost with a connection is told for every point.
    for name in ("distributed", "distributed.client", "distributed.utils", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with Client(scheduler, timeout=CONNECT_S, set_as_default=False) as client:
        if not client.nthreads():
            warnings.warn(f"--dask {address}: no workers yet; waiting for some", HopsimWarning, stacklevel=2)
        yield Elsewhere(DaskExecutor(client, {}), directory)


async def _answering(address: str) -> str:
    """The address of a scheduler that answers, given that or the file that says it."""
    from distributed import Security
    from distributed.comm import core

    is_file = Path(address).is_file()
    scheduler: str = json.loads(text_of(address, "a scheduler file"))["address"] if is_file else address
    security: Any = Security()
    connect = cast("Any", core.connect)
    connection = await connect(scheduler, timeout=CONNECT_S, **security.get_connection_args("client"))
    await connection.close()
    return scheduler
