"""Keyword arguments that several functions share: written down once, and shown by each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Keywords:
    """The keyword arguments of a function that takes them by `Unpack` of a `TypedDict`.

    Type checkers and editors see through that; `help` and we need to be told.

    Args:
        described: Their types.
        defaults: Their defaults.
    """

    def __init__(self, described: type, defaults: Mapping[str, Any]) -> None:
        self.defaults = {name: defaults[name] for name in described.__annotations__}
        self._described = described

    def shown(self, function: F) -> F:
        """Has `help` show each of them too."""
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=self.defaults[name],
                annotation=getattr(kind, "__forward_arg__", kind),
            )
            for name, kind in self._described.__annotations__.items()
        ]
        vars(function)["__signature__"] = signature.replace(parameters=[*own, *added])
        return function

    def of_call(self, function: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """All of them, as a call gives them or by default.

        Raises:
            TypeError: The call gives one that there is not.
        """
        unknown = given.keys() - self.defaults.keys()
        if unknown:
            raise TypeError(f"{function}() got an unexpected keyword argument {min(unknown)!r}")
        return {**self.defaults, **given}
