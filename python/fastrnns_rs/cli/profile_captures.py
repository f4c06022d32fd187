"""Captures of `profile`: their progress, their screens and their errors."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastrnns_rs.cli import display, shared
from fastrnns_rs.cli.exit_codes import ExitCode, find_decisive
from fastrnns_rs.counting import counted
from fastrnns_rs.documents.document import VERSION
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.screen import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrnns_rs.cli.results_file import ResultsFile
    from fastrnns_rs.documents.capture_manifest import Capture
    from fastrnns_rs.problem.torch_profiler import TorchOptions
    from fastrnns_rs.runners.profile_request import ProfileRequest
    from fastrnns_rs.verbs.profile.capture_plan import Prepared
    from fastrnns_rs.verbs.profile.capture_run import Place
    from fastrnns_rs.views.profile_terminal import ProfileTerminal


def make(request: ProfileRequest, torch: TorchOptions, given: dict[str, Any], results: ResultsFile) -> int:
    """Makes the captures of a request, prints them, and returns the exit code.

    Args:
        request: Request.
        torch: Options of torch.profiler if it is selected automatically.
        given: Values of the options.
        results: Target of the screens.

    Raises:
        FastrnnsError: If the request cannot be carried out, or a capture failed.
    """
    from fastrnns_rs.documents import file_names
    from fastrnns_rs.verbs.profile import capture_plan, capture_run
    from fastrnns_rs.views.profile_terminal import ProfileTerminal

    # Steps of the bar take memory.
    capture_plan.check_processes(given["processes"])
    results.reserve(given["runner_file"])
    folder = given["output_dir"] or file_names.default_folder()
    place = capture_run.Place(folder=folder, baseline=given["unprofiled"], **shared.take(given, "keep", "redact"))
    screens = _Screens(given, results)
    names = [runner.name for runner, _ in request.options.choice.runners()]
    # A dry run takes no time.
    intent = "" if given["dry_run"] else counted(len(names), "runner")
    with screens, display.step_progress("profile", intent, "steps") as progress:
        expected = [[name] for name in names] if given["separate"] else [names]
        terminal = ProfileTerminal(progress, expected * given["processes"], baseline=place.baseline)
        paths = {"nsys": given["nsys_path"], "nvprof": given["nvprof_path"]}
        prepared = capture_plan.prepare(request, paths, torch)
        each = capture_plan.plan_captures(prepared, **shared.take(given, "separate", "processes"))
        screens.as_json = _wants_json(each, given)
        for note in _notes(prepared):
            terminal.note(note)
        if given["dry_run"]:
            screens.add_text(_commands([capture_run.dry_run(one, place) for one in each], as_json=screens.as_json))
            each = []
        terminal.plans([[task.runner.name for task in one.plan.tasks] for one in each])
        for index, one in enumerate(each):
            terminal.capture_begins(index)
            if not screens.capture(one, place, terminal):
                break
    screens.raise_error()
    return ExitCode.FAILED if results.failed else ExitCode.DONE


class _Screens:
    """Screens of the captures, which are printed at the end of the block.

    A screen that is printed earlier would disturb the bar.

    Args:
        given: Values of the options.
        results: Target of the screens.
    """

    def __init__(self, given: dict[str, Any], results: ResultsFile) -> None:
        self._given = given
        self._results = results
        self._made: list[tuple[Capture, Path, str]] = []
        self._errors: list[FastrnnsError] = []
        self._next: str | None = None
        self._text = ""
        self.as_json = False

    def __enter__(self) -> None:
        """Does nothing."""

    def __exit__(self, *_: object) -> None:
        """Prints the captures that were made, also after an error and Ctrl-C."""
        to_file = self._given["output"] is not None
        limit = WIDTH if to_file else display.terminal_width()
        shown: list[Line] = []
        for capture, stem, report in self._made:
            if self.as_json:
                self._text += capture.to_json()
                continue
            from fastrnns_rs.views.capture_screen import lines

            shown += lines(capture, stem, limit)
            shown += [Line(""), *map(Line, report.splitlines())] if report else []
        if not self._text and to_file and shown:
            self._text = "".join(f"{line.text}\n" for line in shown)
        if self._text:
            self._results.deliver(self._text)
        elif shown:
            display.show_lines(shown)
        for made in self._made:
            # A report repeats the warnings of its manifest.
            shared.tell_warnings([one for one in made[0].warnings if f"[{one.code}]" not in made[2]])
        if not self._errors:
            display.tell_next("Next", self._next)

    def add_text(self, text: str) -> None:
        """Adds a text as it is."""
        self._text += text

    def capture(self, prepared: Prepared, place: Place, terminal: ProfileTerminal) -> bool:
        """Makes a capture, and keeps its error for `raise_error`.

        Returns:
            False if other captures would fail for the same reason.
        """
        from fastrnns_rs.verbs.profile import capture_run

        try:
            capture, stem = capture_run.capture(prepared, place, terminal)
        except FastrnnsError as error:
            if isinstance(error, capture_run.CaptureError):
                # Files of a failed capture may still be useful. The error reports the failure.
                self._made.append((error.capture, error.log.with_suffix(""), ""))
            self._errors.append(error)
            return capture_run.concerns_one(error)
        self._made.append((capture, stem, self._report(capture, stem, terminal.note)))
        return True

    def _report(self, capture: Capture, stem: Path, note: Callable[[str], None]) -> str:
        if self.as_json or self._given["no_report"]:
            return ""
        from fastrnns_rs.cli.capture_report import render_report

        to_file = self._given["output"] is not None
        text, self._next = render_report(
            capture,
            stem,
            None if to_file else display.terminal_width(),
            note,
            whole_tables=to_file or not display.is_terminal(sys.stdout),
        )
        return text

    def raise_error(self) -> None:
        """Prints the errors, and raises the one whose exit code comes first.

        Raises:
            FastrnnsError: If a capture failed.
        """
        decisive = find_decisive(self._errors) if self._errors else None
        for error in self._errors:
            if error is not decisive:
                shared.tell_error([f"error: {visible(error.message)}", f"hint: {visible(error.hint)}"])
        if decisive is not None:
            raise decisive
        if self._made and self._given["no_report"] and not self.as_json:
            stem = self._made[-1][1]
            display.tell_next("Show the report", shlex.join(["fastrnns-rs", "report", f"{stem}.json"]))


def _notes(prepared: Prepared) -> list[str]:
    notes = [f"note: {name} is skipped: {why}" for name, why in prepared.skipped.items()]
    if prepared.chosen:
        notes.append(f"note: profiling with {prepared.tool.name}, which records most on this device")
    return notes


def _wants_json(each: Sequence[Prepared], given: dict[str, Any]) -> bool:
    """Returns True if the output is one JSON document.

    Configured JSON gives way to a flag that makes several captures.

    Raises:
        UsageError: If JSON of several captures is requested.
    """
    as_json = bool(given["as_json"] or given["format_name"] == "json")
    if not as_json or len(each) <= 1 or given["dry_run"]:
        return as_json
    several = [name for name in ("separate", "processes") if given[name] > (name == "processes")]
    typed = [name for name in several if shared.is_flag(name)]
    if typed and not shared.is_flag("as_json") and not shared.is_flag("format_name"):
        return False
    name = (typed or several)[0]
    message = f"--json and --{name} exclude each other: --{name} makes several capture manifests"
    raise UsageError(message, "Leave out --json, and read the capture manifests in --output-dir.")


def _commands(lines: list[str], *, as_json: bool) -> str:
    """Returns command lines as text, or as a JSON document.

    In the document each command is an array of words, which needs no shell to split.
    """
    if not as_json:
        return "".join(f"{line}\n" for line in lines)
    commands = [shlex.split(line) for line in lines]
    document = {"schema": "fastrnns-rs/dry-run", "schema_version": VERSION, "commands": commands}
    return json.dumps(document, indent=2) + "\n"
