"""The command line. Exit status: 0 done, 1 a simulation failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from hopsim import _core
from hopsim.errors import ConfigError, NotRecordedError, RunError

_COMMANDS = {
    "run": "hopsim.cli.run",
    "check": "hopsim.cli.check",
    "list": "hopsim.cli.list",
    "explain": "hopsim.cli.explain",
    "plot": "hopsim.cli.plot",
    "reproduce": "hopsim.reproduce",
    "bench": "hopsim.bench",
}


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
    try:
        cli.main(
            args=None if arguments is None else list(arguments), prog_name="hopsim", standalone_mode=False
        )
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as usage:
        sys.stderr.write(f"{usage.format_message()}\n")
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
        _fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _fail(f"{error.filename or 'output'}: {error.strerror or error}", 2)
    except BaseException as error:
        if isinstance(error, SystemExit) or "HOPSIM_TRACEBACK" in os.environ:
            raise
        _fail(f"internal error: {error!r}; set HOPSIM_TRACEBACK=1 to see where", 1)
    sys.exit(0)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _help_hint(error: click.UsageError) -> str:
    return "" if error.ctx is None else f" `{error.ctx.command_path} --help` tells more."


def _fail(message: str, status: int) -> NoReturn:
    sys.stderr.write(f"hopsim: {message}\n")
    sys.exit(status)
