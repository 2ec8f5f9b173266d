"""The command line.

Exit status: 0 done, 1 a simulation failed or output was lost, 2 bad input, 130 interrupted, 143 terminated.
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
from typing import Any, NoReturn, TextIO

import click

from hopsim import _core, starting
from hopsim.cli.encoding import degrade, visible
from hopsim.errors import ConfigError, HopsimWarning, NotRecordedError, RunError
from hopsim.suggestion import suggestion

_COMMANDS = {
    "run": ("hopsim.cli.run", "Simulate FILE, or every point of its sweep."),
    "saturate": ("hopsim.cli.saturate", "Find the load at which each configuration of FILE saturates."),
    "interference": (
        "hopsim.cli.interference",
        "Run programs together, each alone, and without contention.",
    ),
    "check": (
        "hopsim.cli.check",
        "Validate FILE without running it; show its networks and what it would take.",
    ),
    "topology": ("hopsim.cli.topology", "Say what the network of FILE is like, or write its links."),
    "list": ("hopsim.cli.list", "Show every mechanism, preset and example with one line each."),
    "explain": (
        "hopsim.cli.explain",
        "Explain a mechanism, a key of the document or a column of the results.",
    ),
    "schema": ("hopsim.cli.schema", "Print the JSON Schema of a document, for editors."),
    "plot": ("hopsim.cli.plot", "Draw all figures that the results in DIR allow."),
    "why": ("hopsim.cli.why", "Say where packets wait, because of which link, and who suffers."),
    "trace-packet": (
        "hopsim.cli.trace_packet",
        "Follow packets through the network, and say what they waited for.",
    ),
    "report": ("hopsim.cli.report", "Write the results as one HTML file to look at in a browser."),
    "trace": ("hopsim.cli.trace", "Tell what is in the file of a program or a netrace, or convert it."),
    "convert": (
        "hopsim.cli.convert",
        "Make a document or a list of packets of what other simulators read.",
    ),
    "export": ("hopsim.cli.export", "Write an experiment as what another simulator reads."),
    "reproduce": ("hopsim_reproduce", "Run a published table or figure again."),
    "bench": ("hopsim.bench", "Measure time, instructions and memory of the simulator."),
}
"""Sub-command -> module, and the line that the list of sub-commands has of it."""


# Why output is lost that could be begun.
_LOST = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO}


class _Commands(click.Group):
    """Imports a sub-command's module when it is needed: tables, figures and consoles take long to import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the help text."""
        # `list` is the module of that command, once it is imported.
        return [*_COMMANDS]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The sub-command, with a guess where there is none of this name."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"No such command {name!r}{suggestion(name, _COMMANDS)}.", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The object `command` of the sub-command's module."""
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(_COMMANDS[cmd_name][0]).command
        starting.over()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of the help text, for which no sub-command is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_core.version(), prog_name="hopsim")
def cli() -> None:
    """Simulate lossless interconnection networks, cycle by cycle.

    Start with a preset, hopsim run dragonfly1056 --set load=0.3, or with a file of your own, such as
    those in experiments/. `hopsim list` shows what a file may name.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; every error is one message on standard error."""
    signal.signal(signal.SIGTERM, starting.terminate)
    _prepare_streams()
    warnings.simplefilter("always", HopsimWarning)
    warnings.showwarning = _show_warning
    try:
        cli.main(args=None if arguments is None else [*arguments], prog_name="hopsim", standalone_mode=False)
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
        _fail("interrupted", starting.status())
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
        sys.stderr.write(f"{visible(line)}\n")
        sys.stderr.flush()
    except OSError:
        _abandon(sys.stderr)


def _fail(message: str, status: int) -> NoReturn:
    _say(f"hopsim: {message}")
    sys.exit(status)
