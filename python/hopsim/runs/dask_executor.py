"""Dask as an executor whose futures always come to an end.

Those of Dask's own executor never do if the connection to the scheduler is lost while a result is fetched.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, InvalidStateError
from typing import Any, TypeVar

T = TypeVar("T")


class DaskExecutor(Executor):
    """Runs functions on the workers of a client of Dask, with options that its `submit` takes."""

    def __init__(self, client: Any, options: Mapping[str, Any]) -> None:
        self._client = client
        self._options = dict(options)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """A future that has what the function returns, or why there is nothing."""
        theirs = self._client.submit(fn, *args, **{**self._options, **kwargs})
        ours: Future[T] = Future()

        def hand_over(_: object) -> None:
            # Who has cancelled it waits for nothing.
            with contextlib.suppress(InvalidStateError):
                try:
                    ours.set_result(theirs.result())
                except BaseException as error:
                    ours.set_exception(error)

        def take_back(_: object) -> None:
            if ours.cancelled():
                theirs.cancel()

        ours.add_done_callback(take_back)
        theirs.add_done_callback(hand_over)
        return ours


def lasting(executor: Executor) -> Executor:
    """The executor, or one of the same client of Dask, with the same options, if it is Dask's own."""
    if type(executor).__module__ != "distributed.cfexecutor":
        return executor
    own: Any = executor
    return DaskExecutor(own._client, own._kwargs)
