"""The command line.

Exit status: 0 done, 1 a simulation failed or output was lost, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

import click

from hopsim import _core, starting
from hopsim.cli.encoding import degrade
from hopsim.errors import ConfigError, HopsimWarning, NotRecordedError, RunError

_COMMANDS = {
    "run": "hopsim.cli.run",
    "saturate": "hopsim.cli.saturate",
    "interference": "hopsim.cli.interference",
    "check": "hopsim.cli.check",
    "list": "hopsim.cli.list",
    "explain": "hopsim.cli.explain",
    "schema": "hopsim.cli.schema",
    "plot": "hopsim.cli.plot",
    "why": "hopsim.cli.why",
    "trace-packet": "hopsim.cli.trace_packet",
    "report": "hopsim.cli.report",
    "trace": "hopsim.cli.trace",
    "reproduce": "hopsim.reproduce",
    "bench": "hopsim.bench",
}


# Why output is lost that could be begun.
_LOST = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO}


class _Commands(click.Group):
    """Imports a sub-command's module when it is needed, so that each starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the help text."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The object `command` of the sub-command's module."""
        module = _COMMANDS.get(cmd_name)
        return None if module is None else importlib.import_module(module).command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_core.version(), prog_name="hopsim")
def cli() -> None:
    """Simulate lossless interconnection networks, cycle by cycle.

    Start with a preset, hopsim run dragonfly1056 --set load=0.3, or with a file of your own, such as
    those in experiments/. `hopsim list` shows what a file may name.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; every error is one message on standard error."""
    signal.signal(signal.SIGTERM, _interrupt)
    _prepare_streams()
    warnings.simplefilter("always", HopsimWarning)
    warnings.showwarning = _show_warning
    try:
        starting.over()
        cli.main(
            args=None if arguments is None else list(arguments), prog_name="hopsim", standalone_mode=False
        )
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as usage:
        _say(usage.format_message())
        sys.exit(usage.exit_code)
    except click.UsageError as error:
        _fail(f"{error.format_message()}{_help_hint(error)}", error.exit_code)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except (ConfigError, NotRecordedError) as error:
        _fail(str(error), 2)
    except RunError as error:
        _fail(str(error), 1)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", starting.INTERRUPTED)
    except BrokenPipeError:
        _abandon(sys.stdout)
        sys.exit(1)
    except OSError as error:
        _abandon(sys.stdout)
        lost = error.filename is None or error.errno in _LOST
        _fail(f"{error.filename or 'output'}: {error.strerror or error}", 1 if lost else 2)
    except BaseException as error:
        if isinstance(error, SystemExit) or "HOPSIM_TRACEBACK" in os.environ:
            raise
        _fail(f"internal error: {error!r}; set HOPSIM_TRACEBACK=1 to see where", 1)
    sys.exit(0)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _help_hint(error: click.UsageError) -> str:
    return "" if error.ctx is None else f" `{error.ctx.command_path} --help` tells more."


def _prepare_streams() -> None:
    """Refuse to run without standard output: what would be lost is the result. Messages may be lost."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the end)
    if sys.stdout is None:
        _fail("standard output is closed; valid: a file, a pipe, or >/dev/null for none", 1)
    degrade(sys.stdout, sys.stderr)


def _show_warning(message: Warning | str, category: type[Warning], *_place: Any) -> None:
    _say(f"hopsim: warning: {message}")


def _abandon(stream: TextIO) -> None:
    """Let what is left in the buffer of a stream go, so that Python does not fail over it at the end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say(line: str) -> None:
    """Write to standard error, which may be closed or full: the exit status still tells."""
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:
        _abandon(sys.stderr)


def _fail(message: str, status: int) -> NoReturn:
    _say(f"hopsim: {message}")
    sys.exit(status)
