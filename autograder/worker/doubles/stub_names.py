"""Translate a call's keyword arguments to the parameter names of the correct exercise."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Translated(NamedTuple):
    """Arguments for a correct exercise. `dropped`: whether one without a parameter was left out."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dropped: bool


@dataclass(frozen=True)
class ParameterNames:
    """The names of an exercise's parameters: in the correct one, and in the submission.

    defaults: the submission's default values
    """

    correct: tuple[str, ...]
    submitted: tuple[str, ...]
    defaults: Mapping[str, Any]

    @classmethod
    def read(cls, function: Any, correct: tuple[str, ...]) -> ParameterNames:
        """Read the submission's names from its function; none if it has no signature."""
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            return cls(correct, (), {})
        return cls(correct, tuple(parameters), {n: p.default for n, p in parameters.items()})

    def translated(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], bound: int = 0
    ) -> Translated:
        """Return the arguments under the correct names, without those that only the submission has.

        bound: number of leading parameters that are already bound, such as `self`
        """
        by_position = len(args)
        if len(self.submitted) > len(self.correct):
            by_position = len(self.correct) - bound
        in_order = self.submitted[: len(self.correct)] == self.correct
        if set(self.correct) <= set(self.submitted) and not in_order:
            by_position = 0
        names = self.submitted[bound + by_position :]
        kwargs = {**dict(zip(names, args[by_position:], strict=False)), **kwargs}
        same = dict(zip(self.submitted, self.correct, strict=False))
        named, dropped = dict[str, Any](), False
        for name, value in kwargs.items():
            if name in self.correct or name not in self.submitted:
                named[name] = value
            elif (right := same.get(name)) is not None and right not in self.submitted:
                named[right] = value
            else:
                dropped |= not self._is_default(name, value)
        return Translated(args[:by_position], named, dropped)

    def _is_default(self, name: str, value: Any) -> bool:
        default = self.defaults.get(name)
        plain = isinstance(value, (bool, int, float, str))
        return value is default or (plain and type(value) is type(default) and value == default)
