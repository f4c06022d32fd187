"""Command `fastrnns-rs doctor`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from fastrnns_rs.cli import options, shared
from fastrnns_rs.cli.configuration import note_programs
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.documents.diagnosis import ConfigEntry
from fastrnns_rs.errors import ExitCode
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.doctor.diagnosis import diagnose
from fastrnns_rs.verbs.profile.tools import PROGRAMS
from fastrnns_rs.views import noise
from fastrnns_rs.views.table import aligned

if TYPE_CHECKING:
    from fastrnns_rs.documents.diagnosis import Diagnosis
    from fastrnns_rs.documents.noise_floor import NoiseFloor

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
    format_name = shared.format_of(given)
    shared.check_output(given["output"])
    contexts = [*_contexts(click.get_current_context())]
    profile = next(one for one in contexts if one.info_name == "profile")
    note_programs(profile, *(f"{name}_path" for name in PROGRAMS))
    asked = profile.params
    found = diagnose(
        [entry for one in contexts for entry in _entries(one)],
        programs={name: asked[f"{name}_path"] for name in PROGRAMS},
        captures=asked["output_dir"],
    )
    shared.deliver(found.to_json() if format_name == "json" else _tables(found) + "\n", given["output"])
    shared.tell_warnings(found.warnings)
    return ExitCode.FAILED if given["strict"] and not found.ok else ExitCode.DONE


def _contexts(ctx: click.Context) -> Iterator[click.Context]:
    """Yields a context per verb, with the option values that apply without flags.

    The context of `doctor` is `ctx` itself.
    """
    from fastrnns_rs.cli import root

    parent = ctx.find_root()
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


def _entries(ctx: click.Context) -> Iterator[ConfigEntry]:
    for param in ctx.command.params:
        if isinstance(param, click.Option) and param.name is not None and not param.hidden:
            # The longest spelling is the one with dashes.
            flag = max(param.opts, key=len).lstrip("-")
            yield ConfigEntry(
                key=f"{ctx.info_name}.{flag}",
                value=_text(ctx.params.get(param.name)),
                source=_SOURCES.get(ctx.get_parameter_source(param.name), "default"),
            )


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _tables(found: Diagnosis) -> str:
    parts = [_checks(found)]
    if found.profilers:
        parts.append(_profilers(found))
    parts.append(_noise(found.noise_floor))
    given = [entry for entry in found.config if entry.source != "default"]
    if given:
        rows = [(entry.key, entry.source, "-" if entry.value is None else entry.value) for entry in given]
        parts.append("\n".join(aligned([("option", "source", "value"), *rows])))
    return "\n\n".join(parts)


def _checks(found: Diagnosis) -> str:
    quantities = (" ".join(str(part) for part in (one.value, one.unit) if part is not None) for one in found.checks)
    rows = [(one.status, one.id, quantity, one.message) for one, quantity in zip(found.checks, quantities, strict=True)]
    header, *lines = aligned([("status", "check", "value", "message"), *rows])
    hints = [f"\n  hint: {visible(one.hint)}" if one.hint else "" for one in found.checks]
    return "\n".join([header, *(line + hint for line, hint in zip(lines, hints, strict=True))])


def _profilers(found: Diagnosis) -> str:
    rows = [
        (one.name, one.status, one.version or "-", one.path or "-", one.reason or " ".join(one.capabilities))
        for one in found.profilers
    ]
    return "\n".join(aligned([("profiler", "status", "version", "path", "what it can do"), *rows]))


def _noise(floor: NoiseFloor | None) -> str:
    if floor is None:
        return "noise floor: not measured\n  hint: fastrnns-rs ab --same RUNNER measures it"
    rows = [
        ("device", f"{floor.device}, {floor.device_name or 'unknown'}"),
        ("measured", f"{floor.measured_utc}, torch {floor.torch_version}"),
        ("processes", f"{floor.n_processes} of {floor.runner}, {floor.phase}"),
        ("found with 80 % power", noise.detectable(floor)),
        ("false alarms", noise.false_alarms(floor)),
    ]
    return "\n".join(aligned([("noise floor", ""), *rows]))
