"""Read argument and result names from the signatures and docstrings of the solution.

Messages may contain these names, because students see the same names in the stub.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import torch

# Matches the names in a "Returns:" text such as "output (..., n, d_v) and weights (..., n, m)."
_TOGETHER = re.compile(r"(?:^|\band )(?:the )?([a-z_]+)(?= \()")
# Matches the names in a "Returns:" text with one line per value, such as "order: the permutation"
_LINES = re.compile(r"^ *([a-z_]+):", re.MULTILINE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


class NamedParts(str):
    """The subject of a message, such as "The result of `f`", with the names of its parts.

    parts:     the names of the returned values
    is_calls:  whether the parts are the results of several calls
    is_state:  whether the parts are parameters of a module
    is_output: whether the value is an output and not weights, so that rows need not sum to 1
    """

    parts: tuple[str, ...] = ()
    is_calls: bool = False
    is_state: bool = False
    is_output: bool = False

    @classmethod
    def of(cls, subject: str) -> Self:
        return subject if isinstance(subject, cls) else cls(subject)

    @classmethod
    def of_calls(cls, subject: str) -> Self:
        """Return the subject for the results of several calls."""
        result = cls(subject)
        result.is_calls = True
        return result

    def item(self, key: object) -> str:
        """Return the subject for an entry of a mapping."""
        return f"The parameter `{key}`" if self.is_state else f"{self}[{key!r}]"

    def part(self, number: int, count: int) -> str:
        """Return the subject for part `number` (from 0) of `count`."""
        if self.is_calls:
            return f"The result of call {number + 1}"
        if len(self.parts) == count:
            return f"`{self.parts[number]}`"
        ordinal = f"The {_ORDINALS[number]} value" if number < len(_ORDINALS) else ""
        if self.startswith("The result"):
            return f"{ordinal} returned" if ordinal else f"Value {number + 1} of those returned"
        return f"{ordinal or f'Value {number + 1}'} of {self[:1].lower()}{self[1:]}"


class Signatures:
    """The names of the arguments and results of a module's functions and methods."""

    def __init__(self, source: str = "") -> None:
        self._arguments: dict[str, tuple[str, ...]] = {}
        self._parts: dict[str, tuple[str, ...]] = {}
        self._outputs: set[str] = set()
        self._makes: dict[str, str] = {}
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                self._add(node.name, node)
            elif isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        self._add(f"{node.name}.{method.name}", method, is_method=True)

    def _add(self, name: str, node: ast.FunctionDef, *, is_method: bool = False) -> None:
        positional = (*node.args.posonlyargs, *node.args.args)
        self._arguments[name] = tuple(a.arg for a in positional[is_method:])
        docstring = ast.get_docstring(node) or ""
        returns = re.split(r"\n\s*\n(?=[A-Z]\w+:)", docstring.partition("Returns:")[2])[0].strip()
        if _LINES.match(returns):
            self._parts[name] = tuple(_LINES.findall(returns))
        else:
            self._parts[name] = tuple(_TOGETHER.findall(returns.partition(". ")[0]))
        if name.endswith(".forward") or "output" in returns.partition(".")[0]:
            self._outputs.add(name)
        if isinstance(node.returns, ast.Name):
            self._makes[name] = node.returns.id

    def __contains__(self, path: str) -> bool:
        return path in self._arguments or any(k.startswith(f"{path}.") for k in self._arguments)

    def class_of(self, path: str) -> str:
        """Return the solution's class of the object that a call creates, or "" if there is none."""
        made = path if path[:1].isupper() and "." not in path else self._makes.get(path, "")
        return made if made in self else ""

    def result(self, path: str, subject: str) -> NamedParts:
        """Return the subject for the result of a call, with the names of the returned values."""
        result, key = NamedParts(subject), self._key(path)
        result.is_state = path.rpartition(".")[2] == "state_dict"
        result.is_output = key in self._outputs
        result.parts = self._parts.get(key, ())
        return result

    def arguments(self, path: str) -> tuple[str, ...]:
        """Return the names of a function's positional parameters, without `self`."""
        return self._arguments.get(self._key(path), ())

    def inputs(self, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        """Return a name for each distinct float tensor in the arguments of a call."""
        known = self.arguments(path)
        labels = [*known, *(f"input {n + 1}" for n in range(len(known), len(args)))]
        found: dict[int, str] = {}
        for label, argument in [*zip(labels, args, strict=False), *kwargs.items()]:
            for place, x in _floats(argument):
                found.setdefault(id(x), f"{label}{place}")
        return list(found.values())

    def inputs_of_calls(self, path: str, calls: Sequence[Sequence[Any]]) -> list[str]:
        """Return a name for each distinct float tensor in the arguments of several calls."""
        found: dict[int, str] = {}
        for number, args in enumerate(calls):
            floats = {id(x): x for a in args for _, x in _floats(a)}
            for key, label in zip(floats, self.inputs(path, args, {}), strict=True):
                found.setdefault(key, f"`{label}` of call {number + 1}")
        return list(found.values())

    def _key(self, path: str) -> str:
        """Return the path of the function that a call runs: `forward` for modules and `apply`."""
        if path.endswith(".apply"):
            return path.removesuffix("apply") + "forward"
        return path if path in self._arguments else f"{path}.forward"


def _floats(argument: Any, place: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the float tensors in an argument, each with its index such as "[0]" or ""."""
    if isinstance(argument, torch.Tensor) and argument.is_floating_point():
        yield place, argument
    elif isinstance(argument, (list, tuple)):
        for number, x in enumerate(argument):
            yield from _floats(x, f"{place}[{number}]")
