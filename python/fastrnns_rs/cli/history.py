"""Command `fastrnns-rs history`."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import display, history_options, options, output_checks, page_output, shared
from fastrnns_rs.cli.configuration import Unconfigured
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import Verb, WordsOption
from fastrnns_rs.counting import counted
from fastrnns_rs.errors import UsageError, exclusive
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.prose import WIDTH

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import History, KeptRun
    from fastrnns_rs.verbs.history.run_history import RunHistory

EPILOG = """\b
Examples:
  fastrnns-rs history
  fastrnns-rs history --last 100
  fastrnns-rs history --format html --open
  fastrnns-rs history --tag baseline
  fastrnns-rs compare @tag:baseline @last
  fastrnns-rs history @tag:baseline --export runs
  fastrnns-rs history --prune --older-than 90d

A run is named @last, @last~1, @tag:NAME, @git:REVISION or @ with the start of its id, wherever a file is: in compare,
show and bench --resume. A tag and a commit may stand for several runs."""

#: Number of listed runs by default. They fit a screen.
_LISTED = 20
_MOST = 10**9


class Folders(WordsOption, Unconfigured):
    """List option of paths, for the command line only."""

    def words(self, value: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the paths unchanged; an empty tuple for the bare flag."""
        return tuple(one for one in value if one)


@click.command(name="history", cls=Verb, epilog=EPILOG)
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option(
    "--last",
    cls=Unconfigured,
    type=click.IntRange(1, _MOST),
    metavar="N",
    help=f"List the N newest runs. [default: {_LISTED}; all in JSON and pages, or if runs are named]",
)
@click.option(
    "--trends",
    cls=Unconfigured,
    is_flag=True,
    help="Add the times of each row over the runs to JSON, as a page has them.",
)
@click.option("--all", cls=Unconfigured, is_flag=True, help="List all runs.")
@click.option("--tag", cls=Unconfigured, metavar="NAME", help="Add a tag to runs. [default: to @last]")
@click.option("--untag", cls=Unconfigured, metavar="NAME", help="Remove a tag from runs. [default: from @last]")
@click.option(
    "--export",
    cls=Unconfigured,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Copy runs to a folder. [default: only @last]",
)
@click.option("--import", cls=Folders, metavar="FOLDER...", help="Copy run files into the history.")
@click.option("--prune", cls=Unconfigured, is_flag=True, help="Delete runs without a tag, by age or size.")
@click.option("--older-than", cls=Unconfigured, metavar="AGE", help="Delete runs older than 90d, 12w, 6m or 1y.")
@click.option("--keep", cls=Unconfigured, metavar="SIZE", help="Delete the oldest runs until 500MiB or 2GiB remain.")
@click.option("--dry-run", cls=Unconfigured, is_flag=True, help="List the runs that would be deleted.")
@options.wide("Show commit, version of torch and size too.")
@history_options.folder("history")
@options.formats("history", ["table", "json", "html"])
@page_output.plot_option("the times of a row over the runs")
@page_output.plot_choice()
@options.output()
def command(**given: Any) -> int:
    """Lists, tags, exports, imports and deletes the runs that bench and ab kept.

    Without an option it lists the newest runs, or those that are named.
    """
    history = history_options.find_history(given)
    assert history is not None  # noqa: S101  # this verb has no --no-history
    format_name = shared.choose_format(given) or "table"
    acts = _acts(given, format_name)
    wants_trends = _wants_trends(given, acts, format_name)
    output_checks.check_output(given["output"])
    if given["output"] is not None and given["output"].resolve().parent == history.runs_folder.resolve():
        hint, reason = "Use another folder.", "the folder has the run files of the history"
        raise UsageError(f"cannot write file: {str(given['output'])!r}", hint, where="output", reason=reason)
    if acts == ["import"]:
        return _import(history, given["import"])
    if given["all"] and given["last"] is not None:
        raise exclusive("all", "last")
    if (acts or given["runs"]) and (given["all"] or given["last"] is not None):
        message = "--all and --last do not work with named runs and actions"
        raise UsageError(message, "Leave out --all and --last.")
    newest = _newest(given, acts, format_name)
    # A run must not be deleted because its tag cannot be read.
    found, count = history.listed(newest, strict_tags=given["prune"])
    shared.tell_warnings(found.warnings)
    if acts == ["prune"]:
        return _prune(history, found, given)
    chosen = _chosen(history, found.runs, given["runs"], last=bool(acts))
    if acts:
        _act(history, acts[0], chosen, given)
        return ExitCode.DONE
    listed = {one.run_id for one in chosen}
    shown = found.with_runs([one for one in found.runs if one.run_id in listed])
    earlier = count - len(shown.runs) if len(shown.runs) == newest and not given["runs"] else 0
    timed = shown
    if wants_trends:
        from fastrnns_rs.verbs.history.trends import with_trends

        # A table lists few runs, and a plot has more.
        is_part = format_name == "table" and not given["runs"] and given["last"] is None
        timed = with_trends(history.document() if is_part else shown)
    # A wrong kind or row is reported before anything is printed.
    page_output.write_plot(timed, given["plot"], kind=given["plot_kind"], row=given["plot_row"])
    if format_name == "table":
        _show(shown, earlier, given)
    else:
        shared.deliver(timed.render(format_name), given["output"])
    return ExitCode.DONE


def _acts(given: dict[str, Any], format_name: str) -> list[str]:
    """Returns a list of the requested action, which may be empty.

    Raises:
        UsageError: If the options contradict each other.
    """
    acts = [name for name in ("tag", "untag", "export", "import") if given[name] is not None]
    acts += ["prune"] if given["prune"] else []
    if len(acts) > 1:
        raise exclusive(*acts)
    if acts and shared.is_flag("output"):
        raise exclusive("output", acts[0])
    if acts and format_name == "json":
        raise exclusive("as_json" if given["as_json"] else "format_name", acts[0])
    if not given["prune"] and (given["older_than"] or given["keep"] or given["dry_run"]):
        raise UsageError("--older-than, --keep and --dry-run need --prune", "Add --prune.")
    return acts


def _wants_trends(given: dict[str, Any], acts: list[str], format_name: str) -> bool:
    """Returns True if the times of rows over runs are requested.

    Raises:
        UsageError: If the options contradict each other.
    """
    page_output.check_choice(given)
    if acts and (format_name == "html" or given["plot"] is not None):
        raise UsageError(
            f"pages and plots exclude --{acts[0]}", f"Use --{acts[0]} alone, then --format html or --plot."
        )
    if given["trends"] and format_name == "table":
        raise UsageError("--trends needs --json or --format html", "Add --json, or leave out --trends.")
    return bool(given["trends"] or format_name == "html" or given["plot"] is not None)


def _show(shown: History, earlier: int, given: dict[str, Any]) -> None:
    from fastrnns_rs.views.history import lines, make_name

    limit = display.terminal_width() if given["output"] is None else WIDTH
    more = f"fastrnns-rs history --all{shared.history_words()}"
    display.show_lines(lines(shown, earlier, limit, wide=given["wide"], more=more), given["output"])
    if shown.runs and not earlier:
        # A tag or a commit may stand for several runs, and `show` takes one.
        name = make_name(shown.runs[-1]) if given["runs"] else "@last"
        display.tell_next("Show the newest", f"fastrnns-rs show {shared.run_words(name)}")
    elif not shown.runs:
        display.tell_next("Time two runners", f"fastrnns-rs bench --quick cudnn py{shared.history_words()}")


def _newest(given: dict[str, Any], acts: list[str], format_name: str) -> int | None:
    """Returns the number of newest runs that the command needs; None for all."""
    if given["prune"]:
        return None
    if given["runs"] or acts:
        from fastrnns_rs.verbs.history.run_names import newest_needed

        return newest_needed(given["runs"] or ("@last",))
    every = given["all"] or (format_name != "table" and given["last"] is None)
    return None if every else given["last"] or _LISTED


def _chosen(history: RunHistory, runs: list[KeptRun], words: tuple[str, ...], *, last: bool) -> list[KeptRun]:
    """Returns the named runs; without names, all runs or the last run."""
    if not words and not last:
        return runs
    from fastrnns_rs.verbs.history.run_names import invalid_name, is_name, named_runs

    for word in words:
        if not is_name(word):
            raise invalid_name(word)
    found = (run for word in words or ("@last",) for run in named_runs(word, history, runs))
    # Two names may be those of one run.
    return [*{run.path: run for run in found}.values()]


def _act(history: RunHistory, act: str, chosen: list[KeptRun], given: dict[str, Any]) -> None:
    from fastrnns_rs.views.history import make_name

    if act == "export":
        from fastrnns_rs.verbs.history.transfer import export_runs

        paths = export_runs(chosen, given["export"])
        files = "1 run file is" if len(paths) == 1 else f"{len(paths):,} run files are"
        shared.tell([f"{files} in {visible(str(given['export']))}"])
    elif act == "tag":
        history.tag(chosen, given["tag"])
        shared.tell([f"{make_name(one)} has the tag {given['tag']}" for one in chosen])
        name = shared.run_words(f"@tag:{given['tag']}")
        display.tell_next("List the runs with this tag", f"fastrnns-rs history {name}")
    else:
        history.untag(chosen, given["untag"])
        shared.tell([f"{make_name(one)} no longer has the tag {given['untag']}" for one in chosen])


def _import(history: RunHistory, sources: tuple[str, ...]) -> int:
    from fastrnns_rs.verbs.history.transfer import import_runs

    if not sources:
        raise UsageError("missing value: --import", "Use a folder of run files.")
    kept, notes = import_runs(history, [Path(one) for one in sources])
    shared.tell(visible(f"note: {one}") for one in notes)
    shared.tell([f"new in the history: {counted(len(kept), 'run')}"])
    if kept:
        display.tell_next("List the runs", f"fastrnns-rs history{shared.history_words()}")
    return ExitCode.DONE


def _prune(history: RunHistory, found: History, given: dict[str, Any]) -> int:
    from fastrnns_rs.verbs.history.pruning import outdated, parse_age, parse_size
    from fastrnns_rs.views.history import make_name

    if given["runs"]:
        message = f"unexpected argument: {' '.join(given['runs'])!r}"
        raise UsageError(message, "Use --prune with --older-than or --keep, without names of runs.", where="RUN")
    if given["older_than"] is None and given["keep"] is None:
        raise UsageError("--prune needs --older-than or --keep", "Add --older-than 90d or --keep 2GiB.")
    old = outdated(
        found.runs,
        now=datetime.now(UTC),
        older_than=None if given["older_than"] is None else parse_age(given["older_than"]),
        keep_bytes=None if given["keep"] is None else parse_size(given["keep"]),
    )
    gone, errors = (old, []) if given["dry_run"] else history.remove(old)
    shared.tell(f"{make_name(one)} of {one.last_started_utc}" for one in gone)
    would = "would be deleted" if given["dry_run"] else "were deleted"
    shared.tell([f"{len(gone):,} of {counted(len(found.runs), 'run')} {would}"])
    if not given["dry_run"] and (n_files := history.remove_abandoned()):
        verb = "was" if n_files == 1 else "were"
        shared.tell([f"{counted(n_files, 'incomplete file')} of killed processes {verb} deleted"])
    if given["dry_run"] and gone:
        limits = (("--older-than", given["older_than"]), ("--keep", given["keep"]))
        words = [word for flag, value in limits if value is not None for word in (flag, value)]
        command = f"{shlex.join(['fastrnns-rs', 'history', '--prune', *words])}{shared.history_words()}"
        display.tell_next("Delete them", command)
    if errors:
        # The others are gone, and named.
        raise errors[0]
    return ExitCode.DONE
