"""The time in which the command line imports what it needs: an interrupt ends it as it would later on.

Imported first of all; it imports nothing that takes long. Where hopsim is a library, or interrupts are
ignored, nothing is changed.
"""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130
"""Exit status."""

TERMINATED = 143
"""Exit status after SIGTERM, as that of a process that heeds it without a word."""

_status = INTERRUPTED


def terminate(_signal: int, _frame: object) -> None:
    """What SIGTERM does: it interrupts, with a status of its own."""
    global _status
    _status = TERMINATED
    raise KeyboardInterrupt


def status() -> int:
    """Exit status of a command that has been interrupted."""
    return _status


def over() -> None:
    """From now on an interrupt is an exception."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_signal: int, _frame: object) -> None:
    # An exception in the middle of an import may come out as another one, or not at all.
    try:
        os.write(2, b"hopsim: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _is_command() -> bool:
    """Whether this process is `hopsim`, or `python -m hopsim`."""
    module = sys.orig_argv[sys.orig_argv.index("-m") + 1 :][:1] if "-m" in sys.orig_argv else []
    return module == ["hopsim"] or sys.argv[0].rpartition(os.sep)[2].removesuffix(".exe") == "hopsim"


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
