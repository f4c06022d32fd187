"""Options of `ab` for one side only, and the requests that they make."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Literal

import click

from fastrnns_rs.cli import runner_options
from fastrnns_rs.cli.configuration import Code, Program
from fastrnns_rs.cli.options import F, dashed
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import SideRequest

_BOTH = 2


def options(function: F) -> F:
    """Adds the options for one side only."""
    for name in ("b", "a"):
        upper = name.upper()
        for option in (
            click.option(
                f"--{name}-python",
                cls=Program,
                metavar="PATH",
                help=f"Python interpreter for {upper}, with its own torch.",
            ),
            click.option(
                f"--{name}-env",
                cls=Code,
                metavar="NAME=VALUE",
                multiple=True,
                help=f"Environment variable for {upper}.",
            ),
            click.option(
                f"--{name}",
                f"only_{name}",
                envvar=f"FASTRNNS_AB_{upper}",
                metavar="FLAGS",
                help=f"Options for {upper} only, as one quoted word.",
            ),
        ):
            function = option(function)
    return function


class _SideFlags(click.Command):
    """Parser of the flags inside `--a` and `--b`."""

    def __init__(self) -> None:
        @runner_options.sizes
        @runner_options.modes
        @click.option("--affinity")
        @runner_options.machine
        @runner_options.torchscript
        def nothing(**_given: Any) -> None:
            """Carries the options; is never called."""

        params = list(reversed(nothing.__click_params__))  # type: ignore[attr-defined]
        settings: dict[str, Any] = {
            "token_normalize_func": dashed,
            "auto_envvar_prefix": None,
            "help_option_names": [],
            "allow_extra_args": True,
        }
        super().__init__("side", params=params, context_settings=settings)

    def given(self, words: list[str], flag: str) -> dict[str, Any]:
        """Returns the options that the words set.

        Raises:
            UsageError: If a word is not an option for one side.
        """
        try:
            context = self.make_context(flag, list(words))
        except click.UsageError as error:
            from fastrnns_rs.cli.click_errors import usage_error

            wrong = usage_error(error, None, words)
            is_value = any(param.name == wrong.where for param in self.params)
            hint = (
                wrong.hint if wrong.correction or is_value else "Use options of sizes, modes, machine and TorchScript."
            )
            place = f"{flag}, --{wrong.where.replace('_', '-')}" if is_value else flag
            raise UsageError(wrong.what, hint, where=place, reason=wrong.reason) from error
        if context.args:
            message = f"unexpected argument: {' '.join(map(repr, context.args))}"
            raise UsageError(message, "Leave out the argument.", where=flag)
        source = click.core.ParameterSource.COMMANDLINE
        return {name: value for name, value in context.params.items() if context.get_parameter_source(name) is source}


def requests(given: dict[str, Any]) -> tuple[SideRequest, SideRequest]:
    """Returns the requests of baseline and candidate.

    Raises:
        UsageError: If more than two runners are named, the sides are equal without `--same`, or they differ with
            `--same`.
    """
    names = list(given["runners"])
    if len(names) > _BOTH:
        raise UsageError(f"too many runners: {' '.join(names)!r}", "Name 1 or 2 runners.", where="runners")
    first, second = _request("a", names[:1], given), _request("b", names[-1:], given)
    is_equal = (first.runner, first.options, first.affinity, first.python, first.variables) == (
        *(second.runner, second.options, second.affinity, second.python, second.variables),
    )
    if given["same"] and not is_equal:
        message = "--same needs equal sides, and baseline and candidate differ"
        raise UsageError(message, "Leave out --same, or name one runner without options of one side.")
    if not given["same"] and is_equal and not names:
        raise UsageError("missing argument: RUNNER", "Run: fastrnns-rs ab --quick cudnn py", where="ab")
    if not given["same"] and is_equal:
        hint = "Name a second runner, or add --b, --b-env, --b-python or --same."
        raise UsageError("baseline and candidate are equal", hint)
    return first, second


def _request(name: Literal["a", "b"], runners: list[str], given: dict[str, Any]) -> SideRequest:
    from fastrnns_rs.runners import registry
    from fastrnns_rs.runners.plan import Choice, make_options
    from fastrnns_rs.verbs.bench.effort import Effort
    from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import SideRequest, variables
    from fastrnns_rs.verbs.bench.interleaved.side_checks import DEFAULT_RUNNER

    runner = registry.find(runners[0] if runners else DEFAULT_RUNNER).name
    try:
        words = shlex.split(given[f"only_{name}"] or "")
    except ValueError as error:
        reason, hint = str(error), "Close the quotes."
        raise UsageError(
            f"invalid options: {given[f'only_{name}']!r}", hint, where=f"only_{name}", reason=reason
        ) from error
    all_given = {**given, **_SideFlags().given(words, f"--{name}")}
    return SideRequest(
        name=name,
        runner=runner,
        options=make_options(all_given, Choice(groups=(), names=[runner])),
        words=words,
        affinity=Effort(affinity=all_given["affinity"]).cpus(),
        python=given[f"{name}_python"],
        variables=variables(given[f"{name}_env"]),
    )
