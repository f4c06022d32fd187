"""Output of `bench` and `ab`: run file, formatted document and screens."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import display, output_checks, shared
from fastrnns_rs.cli.configuration import TargetFile
from fastrnns_rs.cli.options import F, output, several
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.screen import Line, plain
from fastrnns_rs.views.text import shell_word

if TYPE_CHECKING:
    from fastrnns_rs.cli.results_file import ResultsFile
    from fastrnns_rs.cli.run_saving import RunSaver
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.runners.plan import Options
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.bench.effort import Effort
    from fastrnns_rs.views.bench_terminal import BenchTerminal

options: Callable[[F], F] = several(
    output("Write the document of --format to PATH instead of stdout. Without --format, PATH is the --run-file."),
    click.option(
        "--run-file",
        cls=TargetFile,
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="Write the run file to PATH too, again after each process.",
    ),
)
#: Formats that nobody reads on a terminal. The table then goes to stderr.
_FOR_PROGRAMS = {"json", "csv", "html", "oss", "pep"}
_FEW_PROCESSES = {"one_process", "two_processes"}
_BLANK = Line("")


@dataclass(frozen=True, slots=True)
class RunTarget:
    """Requested places of a run and of its formatted document.

    Attributes:
        run_file: File that keeps the run; None for the history alone.
        output: File for the formatted document; None for stdout.
        format_name: Requested format; None for the table.
    """

    run_file: Path | None
    output: Path | None
    format_name: str | None

    @property
    def document_file(self) -> Path | None:
        """File for the formatted document; None for stdout, a pipe or a device."""
        return None if self.output is None or shared.is_stream(self.output) else self.output

    def write(self, text: str, document: ResultsFile) -> bool:
        """Writes the formatted document.

        Args:
            text: Document.
            document: File at `document_file`.

        Returns:
            False if the reader of stdout or of a pipe has left before the end, or if there is no stdout.
        """
        if self.document_file is None:
            return shared.deliver(text, self.output)
        document.deliver(text)
        return True

    def deliver(
        self, run: Run, results: ResultsFile, document: ResultsFile, *, wide: bool, separator: str | None
    ) -> bool:
        """Formats a run and writes the document.

        Args:
            run: Run to write.
            results: Run file.
            document: File at `document_file`.
            wide: True adds details to the table.
            separator: Text between columns of the format `fastrnns`; None for a space.

        Returns:
            True if the run file's own document is on stdout.
        """
        from fastrnns_rs.views.run import run_screen

        name = self.format_name or "table"
        if name == "table":
            self._show_table(run, results, document, wide=wide)
            return False
        if self.output is None and name in _FOR_PROGRAMS:
            display.tell_lines(run_screen.lines(run, display.terminal_width(sys.stderr), wide=wide))
        if name == "fastrnns":
            from fastrnns_rs.views.run.fastrnns_table import fastrnns_table

            text = fastrnns_table(run, " " if separator is None else separator)
        else:
            text = run.render(name)
        return self.write(text, document) and name == "json" and self.output is None

    def _show_table(self, run: Run, results: ResultsFile, document: ResultsFile, *, wide: bool) -> None:
        from fastrnns_rs.views.prose import WIDTH
        from fastrnns_rs.views.run import run_screen

        lines = run_screen.lines(run, display.terminal_width() if self.output is None else WIDTH, wide=wide)
        if results.failed and self.format_name is None:
            # A run that no file could take goes to stdout alone.
            display.tell_lines(lines)
        elif self.document_file is not None:
            document.deliver(plain(lines))
        else:
            display.show_lines(lines, self.output)


def check(given: dict[str, Any]) -> None:
    """Checks the files that the options name, before the first line of a screen.

    Raises:
        UsageError: If a file cannot be written to, or is read by the command.
    """
    for flag, name in (("--output", "output"), ("--run-file", "run_file")):
        output_checks.check_output(given[name], given["runner_file"], flag)


def choose_target(given: dict[str, Any], format_name: str | None) -> RunTarget:
    """Returns the places that the options request.

    With `--resume`, the run file is the resumed file, unless a flag names another file. A configured file applies to
    new runs only. `--output` without a format and without `--run-file` names the run file, as in earlier versions.

    Raises:
        UsageError: If both are the same file.
    """
    run_file, document = given["run_file"], given["output"]
    resumed = given.get("resume")
    if document is not None and format_name is None and not shared.is_stream(document):
        if resumed is not None and not is_flag("output"):
            document = None
        elif run_file is None:
            _tell_old_meaning(document)
            run_file, document = document, None
    if resumed is not None and not is_flag("run_file") and not (is_flag("output") and run_file == given["output"]):
        run_file = Path(resumed)
    output_checks.check_distinct({**given, "run_file": run_file, "output": document}, "run_file", "output", "plot")
    return RunTarget(run_file, document, format_name)


def _tell_old_meaning(path: Path) -> None:
    shared.tell(
        [
            "warning: --output without --format writes the run file; a later version will write the table",
            f"  hint: Use --run-file {shell_word(str(path))}",
        ]
    )


def terminal(verb: str, *, shown: bool = True) -> BenchTerminal:
    """Returns the progress of a run for stderr.

    Args:
        verb: `bench` or `ab`.
        shown: False for the ranks that do not lead.
    """
    from fastrnns_rs.views.bench_terminal import BenchTerminal

    return BenchTerminal(
        verb,
        shown=shown and shared.shows_progress(),
        width=lambda: display.terminal_width(sys.stderr),
        ascii_only=display.is_ascii(sys.stderr),
    )


def show_expected(terminal: BenchTerminal, asked: Options, effort: Effort) -> None:
    """Shows the expected rows, because the probe of torch takes seconds."""
    from fastrnns_rs.verbs.bench.expected_run import expected_run

    # An invalid option is reported by the real plan.
    with suppress(FastrnnsError):
        terminal.expects(*expected_run(asked, effort))


def tell_what_follows(
    given: dict[str, Any], plan: BenchPlan, run: Run, keeping: RunSaver, terminal: BenchTerminal
) -> None:
    """Writes what a run will replace, and its minimum detectable effect, to stderr.

    Args:
        given: Options of the history, `margin` of `ab`, and `resume` of `bench`: the effect of a run that is resumed is
            known.
        plan: Plan.
        run: Run of the plan.
        keeping: Writer of the run.
        terminal: Progress of the run.
    """
    if shared.is_quiet():
        return
    replaced = keeping.replaced(run)
    if replaced is not None:
        _tell(f"note: {visible(replaced)} is replaced", terminal)
    if given.get("resume") is not None:
        return
    from fastrnns_rs.cli import history_options
    from fastrnns_rs.verbs.history.planned_effect import find_planned_effect
    from fastrnns_rs.views.planned_effect import sentence

    margin = _margin(given.get("margin"), run)
    found = find_planned_effect(plan, run, history_options.find_history(given), margin=margin)
    if found is not None:
        _tell(sentence(found, plan), terminal)


def _tell(line: str, terminal: BenchTerminal) -> None:
    if terminal.progress is not None:
        terminal.progress.write(line)
    else:
        shared.tell([line])


def _margin(given: str | None, run: Run) -> float:
    from fastrnns_rs.machine import noise
    from fastrnns_rs.verbs.compare import margins

    if given != margins.NOISE_FLOOR:
        return margins.resolve_margin(given)[0]
    floor = noise.stored(run.plan.runners[0].problem.device, run.environment)
    return margins.DEFAULT_MARGIN if floor is None else floor.minimum_detectable_change


def end_lines(run: Run, keeping: RunSaver, seconds: float, limit: int) -> list[Line]:
    """Returns warnings, amount, place and next command: the lines after the table.

    Args:
        run: Run.
        keeping: Place of the run.
        seconds: Duration of the command.
        limit: Width of the terminal.
    """
    from fastrnns_rs.views.run import run_screen

    name = keeping.find_name(run)
    # The hint after the table replaces them.
    warnings = [one for one in run.warnings if one.code not in _FEW_PROCESSES]
    more = None if name is None else f"fastrnns-rs show {shared.run_words(name)} --warnings"
    warnings = display.with_run_named(warnings, name)
    lines = [_BLANK, *display.warnings_as_lines(warnings, limit, more)] if warnings else []
    lines += [_BLANK, *run_screen.end(run, seconds, keeping.sentence(run), limit)]
    return [*lines, *(line for pair in keeping.next_commands(run) for line in display.next_lines(*pair, limit))]


def tell_end(run: Run, keeping: RunSaver, begin: float) -> None:
    """Writes the lines after the table to stderr.

    Args:
        run: Run.
        keeping: Place of the run.
        begin: Start of the command, by `time.monotonic`.
    """
    limit = display.terminal_width(sys.stderr)
    display.tell_lines(end_lines(run, keeping, time.monotonic() - begin, limit))
