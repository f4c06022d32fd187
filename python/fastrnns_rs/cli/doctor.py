"""Command `fastrnns-rs doctor`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Literal

import click
from click.core import ParameterSource

from fastrnns_rs.cli import display, options, output_checks, shared
from fastrnns_rs.cli.configuration import note_sources
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import Verb, VerbContext
from fastrnns_rs.documents.diagnosis import ConfigEntry
from fastrnns_rs.verbs.doctor.diagnosis import STEPS, diagnose
from fastrnns_rs.verbs.profile.tools import PROGRAMS
from fastrnns_rs.views.diagnosis import lines
from fastrnns_rs.views.prose import WIDTH

Source = Literal["default", "pyproject", "environment", "flag"]

_SOURCES: dict[ParameterSource | None, Source] = {
    ParameterSource.DEFAULT_MAP: "pyproject",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.COMMANDLINE: "flag",
}


@click.command(name="doctor", cls=Verb)
@options.formats("doctor", ["table", "json"])
@options.output()
@click.option("--strict", is_flag=True, help="Exit with code 1 if a check fails.")
def command(**given: Any) -> int:
    """Checks this machine, its profilers and the configuration.

    The table shows settings that differ from their defaults. --json has every setting.
    """
    format_name = shared.choose_format(given)
    output_checks.check_output(given["output"])
    contexts = [*_contexts(click.get_current_context())]
    profile = next(one for one in contexts if one.info_name == "profile")
    note_sources(profile, *(f"{name}_path" for name in PROGRAMS))
    asked = profile.params
    with display.step_progress("doctor", "checking machine, profilers and configuration", "steps") as progress:
        progress.plan(STEPS)
        found = diagnose(
            [entry for one in contexts for entry in _entries(one)],
            programs={name: asked[f"{name}_path"] for name in PROGRAMS},
            captures=asked["output_dir"],
            on_step=lambda step: progress.reach(STEPS.index(step), step),
        )
    if format_name == "json":
        shared.deliver(found.to_json(), given["output"])
    else:
        limit = display.terminal_width() if given["output"] is None else WIDTH
        display.show_lines(lines(found, limit), given["output"])
    shared.tell_warnings(found.warnings)
    if format_name != "json" and found.noise_floor is None and found.environment is not None:
        display.tell_next("Measure the noise of this machine", "fastrnns-rs ab --same cudnn")
    return ExitCode.FAILED if given["strict"] and not found.ok else ExitCode.DONE


def _contexts(ctx: click.Context) -> Iterator[click.Context]:
    """Yields a context per verb, with the option values that apply without flags.

    The context of `doctor` is `ctx` itself.
    """
    from fastrnns_rs.cli import root

    parent = ctx.find_root()
    own = dict(ctx.meta)
    for name in root.list_commands(parent):
        verb = root.get_command(parent, name)
        if name == ctx.info_name:
            yield ctx
        elif verb is not None:
            # Arguments are removed, because a verb may require them.
            bare = copy.copy(verb)
            bare.params = [param for param in verb.params if isinstance(param, click.Option)]
            bare.no_args_is_help = False
            yield bare.make_context(name, [], parent=parent)
            # All contexts share it: `quiet` of another verb would silence `doctor`.
            ctx.meta.clear()
            ctx.meta.update(own)


def _entries(ctx: click.Context) -> Iterator[ConfigEntry]:
    for param in ctx.command.params:
        if isinstance(param, click.Option) and param.name is not None and not param.hidden:
            # The longest spelling is the one with dashes.
            flag = max(param.opts, key=len).lstrip("-")
            yield ConfigEntry(
                key=f"{ctx.info_name}.{flag}",
                value=_text(_value(ctx, param)),
                source=_SOURCES.get(ctx.get_parameter_source(param.name), "default"),
            )


def _value(ctx: click.Context, param: click.Option) -> Any:
    if param.expose_value:
        return ctx.params.get(str(param.name))
    # Click does not keep the values of `--quiet` and the other options with a callback.
    words = ctx.words if isinstance(ctx, VerbContext) else ()
    typed, _, _ = ctx.command.make_parser(ctx).parse_args([*words])
    value, _ = param.consume_value(ctx, typed)
    return param.type_cast_value(ctx, value)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
