"""Options of `ab` for one side only, and the requests that they make."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import click

from fastrnns_rs.cli import runner_options, shared
from fastrnns_rs.cli.configuration import Code, Program
from fastrnns_rs.cli.options import F, dashed
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import SideRequest

_BOTH = 2
_OF_ONE_SIDE = ("only_a", "only_b", "a_env", "b_env", "a_python", "b_python")


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


def has_side_options(given: dict[str, Any]) -> bool:
    """Returns True if an option for one side is given."""
    return any(given[name] for name in _OF_ONE_SIDE)


def requests(given: dict[str, Any]) -> tuple[SideRequest, SideRequest]:
    """Returns the requests of baseline and candidate.

    With an option for one side, each named runner is on both sides. Otherwise, the two named runners are the sides.

    Raises:
        UsageError: If more runners are named than the sides can have, the sides are equal without `--same`, or they
            differ with `--same`.
    """
    names = list(given["runners"])
    both = has_side_options(given)
    if not both and len(names) > _BOTH:
        hint = "Name 2 runners, or add an option for one side, such as --b-env NAME=VALUE."
        raise UsageError(f"too many runners: {' '.join(names)!r}", hint, where="runners")
    first, second = (
        _request("a", names if both else names[:1], given),
        _request("b", names if both else names[-1:], given),
    )
    is_equal = first.equals(second)
    if given["same"] and is_equal and len(first.runners) > 1:
        raise UsageError(f"too many runners: {' '.join(names)!r}", "Name 1 runner with --same.", where="runners")
    if given["same"] and not is_equal:
        message = "--same needs equal sides, and baseline and candidate differ"
        raise UsageError(message, "Leave out --same, or name one runner without options of one side.")
    if not given["same"] and is_equal and not names:
        raise UsageError("missing argument: RUNNER", "Run: fastrnns-rs ab --quick cudnn py", where="ab")
    if not given["same"] and is_equal:
        hint = "Name a second runner, or add --b, --b-env, --b-python or --same."
        raise UsageError("baseline and candidate are equal", hint)
    return first, second


def warn_of_changed_meaning(given: dict[str, Any], sides: tuple[SideRequest, SideRequest]) -> None:
    """Warns that two runners and an option for one side have a new meaning.

    Earlier versions compared the two runners with each other.
    """
    runners = sides[0].runners
    if len(runners) == _BOTH and runners == sides[1].runners:
        first, second = map(visible, runners)
        call = ", ".join([repr(first), repr(second), *_arguments_in_python(given)])
        message = f"warning: an option for one side now compares {first} and {second} each with itself"
        hint = f"  hint: In Python, {first} against {second} is fastrnns_rs.ab({visible(call)})."
        shared.tell([message, hint])


def _arguments_in_python(given: dict[str, Any]) -> Iterator[str]:
    """Yields the options for one side as arguments of `fastrnns_rs.ab`."""
    for name, side in (("a", "baseline"), ("b", "candidate")):
        values = {
            "options": _own_options(name, given),
            "env": dict(one.split("=", 1) for one in given[f"{name}_env"]),
            "python": given[f"{name}_python"],
        }
        yield from (f"{side}_{key}={value!r}" for key, value in values.items() if value)


def _request(name: Literal["a", "b"], runners: list[str], given: dict[str, Any]) -> SideRequest:
    from fastrnns_rs.runners import registry
    from fastrnns_rs.runners.plan import Choice, make_options
    from fastrnns_rs.verbs.bench.effort import Effort
    from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import SideRequest, variables
    from fastrnns_rs.verbs.bench.interleaved.side_checks import DEFAULT_RUNNER

    found = [*dict.fromkeys(registry.find(one).name for one in runners or [DEFAULT_RUNNER])]
    all_given = {**given, **_own_options(name, given)}
    return SideRequest(
        name=name,
        runners=tuple(found),
        options=make_options(all_given, Choice(groups=(), names=found)),
        words=_words(name, given),
        affinity=Effort(affinity=all_given["affinity"]).cpus(),
        python=given[f"{name}_python"],
        variables=variables(given[f"{name}_env"]),
    )


def _own_options(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the options inside `--a` or `--b`, by name."""
    return _SideFlags().given(_words(name, given), f"--{name}")


def _words(name: str, given: dict[str, Any]) -> list[str]:
    text = given[f"only_{name}"]
    try:
        return shlex.split(text or "")
    except ValueError as error:
        raise UsageError(
            f"invalid options: {text!r}", "Close the quotes.", where=f"only_{name}", reason=str(error)
        ) from error
