"""Command line.

Each verb is a module of this package and a row of `VERBS`. The module is imported when the verb is called.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs import __version__
from fastrnns_rs._core import BUILD_PROFILE
from fastrnns_rs.cli.shared import STDOUT, discard, tell_error, unread
from fastrnns_rs.errors import own_text, type_name
from fastrnns_rs.processes.programs import absolute_folders
from fastrnns_rs.views.output_stream import terminal_width

if TYPE_CHECKING:
    from typing import TextIO

    from fastrnns_rs.processes.launcher import Executor

#: One line of help per verb, by purpose. The list of verbs is printed without importing any verb.
_PURPOSES = {
    "Measure": {
        "bench": "Time runners, forward and backward, in fresh processes.",
        "ab": "Time baseline and candidate interleaved, and compare them.",
        "profile": "Capture runners with nsys, nvprof or torch.profiler.",
        "inductor": "Time modules that torch.compile generated.",
        "verify": "Check outputs and gradients against a reference.",
    },
    "Read": {
        "compare": "Compare two runs or captures.",
        "report": "Show where the time of a capture went.",
        "show": "Show a run or a comparison again.",
        "history": "List, tag and export runs.",
    },
    "Inspect": {
        "list": "List runners and groups.",
        "explain": "Explain a warning code.",
        "doctor": "Check this machine, its profilers and the configuration.",
    },
}
VERBS = {name: text for verbs in _PURPOSES.values() for name, text in verbs.items()}
_START = {
    "fastrnns-rs bench --quick cudnn py": "Time two runners (about 10 s).",
    "fastrnns-rs ab --quick cudnn py": "Find the faster runner (about 20 s).",
    "fastrnns-rs report trace.json.gz": "Show where the time of a capture went.",
}
_EXIT_CODES = """\
Exit codes: 0 done, 1 a runner or a tool failed, or a capture is damaged,
  2 wrong command or file, 3 regression, 4 inconclusive, 5 missing device or
  tool, 124 timed out, 130 interrupted. 3 and 4 only with --fail-on."""

#: Column of the texts of verbs.
_TEXT_AT = 12
_PYTHONS = warnings.formatwarning


class Verbs(click.Group):
    """Group of commands that are modules of this package, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Returns the names of the verbs, by purpose."""
        # `list()` does not work here: after the import of the verb `list`, the name stands for its module.
        return [*VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Returns the command of a verb, or None if the verb is unknown."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"fastrnns_rs.cli.{cmd_name}").command
        return command

    def make_context(self, *given: Any, **settings: Any) -> click.Context:
        """Makes the context, and exits with code 0 if the reader of the help has left."""
        with unread(STDOUT):
            return super().make_context(*given, **settings)
        raise click.exceptions.Exit(0)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a verb as Click does, and ignores that the reader of stdout has left."""
        with unread(STDOUT):
            return super().invoke(ctx)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds a verb; the error for an unknown verb suggests the nearest verb."""
        is_unknown = args and args[0] not in VERBS and not args[0].startswith("-")
        # The shell asks for words that complete an unfinished line: errors would fill the terminal.
        if is_unknown and not ctx.resilient_parsing:
            from fastrnns_rs.cli.options import translated
            from fastrnns_rs.errors import unknown

            with translated(ctx, args):
                raise unknown("unknown command", args[0], VERBS, where="COMMAND", hint="Run: fastrnns-rs --help")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments; without any, prints the overview as an error."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if not args:
            tell_error([_fitted(_overview(sys.stderr), sys.stderr)])
            ctx.exit(2)
        from fastrnns_rs.cli.options import translated

        with translated(ctx, [*args], args):
            return super().parse_args(ctx, args)
        return []

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        """Returns the overview and the exit codes."""
        last = "Help on a command: fastrnns-rs COMMAND --help. Version: --version."
        return _fitted(f"{_overview(sys.stdout)}\n\n{_EXIT_CODES}\n\n{last}", sys.stdout)


def _overview(stream: TextIO | None) -> str:
    lines = ["Time PyTorch RNNs and CNNs, compare runs, and find where GPU time goes.", "", "Start here:"]
    rows = [f"  {command:36} {text}" for command, text in _START.items()]
    if terminal_width(stream) < max(map(len, rows)):
        # A command to copy stays whole.
        rows = [line for command, text in _START.items() for line in (f"  {command}", f"    {text}")]
    lines += rows
    lines.append("")
    for purpose, verbs in _PURPOSES.items():
        lines += [f"{purpose}:", *(f"  {name:9} {text}" for name, text in verbs.items())]
    return "\n".join(lines)


def _fitted(text: str, stream: TextIO | None) -> str:
    """Wraps the lines that are wider than a terminal."""
    limit = terminal_width(stream)
    if max(map(len, text.splitlines())) <= limit:
        return text
    from fastrnns_rs.views.prose import wrapped

    found: list[str] = []
    for line in text.splitlines():
        name = line[:_TEXT_AT]
        if name.strip() in VERBS:
            first, *others = wrapped(line[_TEXT_AT:], limit - _TEXT_AT)
            found += [name + first, *(" " * _TEXT_AT + other.strip() for other in others)]
        else:
            found += wrapped(line, limit)
    return "\n".join(found)


@click.group(
    cls=Verbs,
    context_settings={"auto_envvar_prefix": "FASTRNNS", "help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message=f"fastrnns-rs {__version__} ({BUILD_PROFILE} build)")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Times PyTorch's recurrent and convolutional models on CUDA and CPU."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main(arguments: Sequence[str] | None = None, *, executor: Executor | None = None) -> None:
    """Runs the command and exits with its code.

    An error is printed as one line and a hint, never as a traceback.

    Args:
        arguments: Words of the command line; None for the arguments of this process.
        executor: Function that runs the worker processes of `bench` and `ab`; None for fresh interpreters.
    """
    warnings.formatwarning = _format_warning
    _buffer_stdout()
    if getattr(sys.stdout, "errors", None) == "strict" and isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the encoding of stdout does not support is printed as its number, as Python does on stderr.
        sys.stdout.reconfigure(errors="backslashreplace")
    # Programs that this process starts start others: nsys may be a script, and the completion script needs bash.
    os.environ["PATH"] = absolute_folders()
    try:
        code = root.main(args=arguments, prog_name="fastrnns-rs", standalone_mode=False, obj=executor)
        with unread(STDOUT):
            if sys.stdout is not None:
                sys.stdout.flush()
    except Exception as error:  # noqa: BLE001  # every unexpected error becomes one line
        try:
            code = _tell(error)
        except Exception:  # noqa: BLE001  # a message needs modules, memory and files
            with suppress(OSError):
                click.echo(f"error: {type_name(error)}: {own_text(error)!a}", err=True)
            code = 1
    except KeyboardInterrupt:
        from fastrnns_rs.cli.exit_codes import ExitCode

        code = ExitCode.INTERRUPTED
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        # The message about output that cannot be written has been printed.
        discard(STDOUT)
    sys.exit(code if isinstance(code, int) else 0)


def _buffer_stdout() -> None:
    """Gives stdout a buffer, if `PYTHONUNBUFFERED` or `python -u` took it.

    Without one, Python ignores how much of a text the system has written: on a full disk the rest is lost, without an
    error.
    """
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(stream.buffer), stream.encoding, stream.errors, line_buffering=True
        )


def _format_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> str:
    """Formats a warning; for a warning about a document, omits its place in code."""
    known = category.__name__ == "DocumentWarning"
    return f"warning: {message}\n" if known else _PYTHONS(message, category, *place, **more)


def _tell(error: Exception) -> int:
    """Prints an error for a person, and returns its exit code."""
    from fastrnns_rs.cli.exit_codes import ExitCode
    from fastrnns_rs.escaping import print_traceback, visible
    from fastrnns_rs.hidden_modules import explained

    if os.environ.get("FASTRNNS_DEBUG"):
        print_traceback(error)
    # While a class is made, Python 3.11 raises a RuntimeError because of the interrupt.
    if isinstance(error, click.Abort) or isinstance(error.__cause__, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    if hidden := explained(error):
        # Other modules of the command line may need the hidden module too, so this error is made without them.
        (message, hint), code = hidden, ExitCode.USAGE
    else:
        message, hint, code = _described(error)
    hints = [f"hint: {visible(hint)}"] if hint else []
    tell_error(["error: " + visible(" ".join(message.split())), *hints])
    return code


def _described(error: Exception) -> tuple[str, str, int]:
    """Returns the message, the hint and the exit code of an error."""
    from fastrnns_rs.cli.error_text import CommandError
    from fastrnns_rs.cli.exit_codes import ExitCode, find_exit_code
    from fastrnns_rs.errors import FastrnnsError, make_system_error

    if isinstance(error, OSError):
        error = make_system_error(error)
    if isinstance(error, FastrnnsError):
        return error.message, error.command_hint or error.hint, find_exit_code(error)
    if isinstance(error, CommandError):
        return error.line, error.hint, error.exit_code
    if isinstance(error, click.ClickException):
        return error.format_message(), "", ExitCode.FAILED
    if isinstance(error, MemoryError):
        hint = "Use a smaller file, or raise the limit on memory (ulimit -v)."
        return str(error) or "out of memory", hint, ExitCode.FAILED
    hint = "Set FASTRNNS_DEBUG=1 to see the traceback: this is a fault of fastrnns-rs."
    return f"{type_name(error)}: {own_text(error)}", hint, ExitCode.FAILED
