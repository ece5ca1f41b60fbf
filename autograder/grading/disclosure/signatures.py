"""What arguments and returned values are called, read off the stub's signatures and docstrings.

The solution's signatures and docstrings are the stub's, so a message may show these names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

# "output (..., n, d_v) and weights (..., n, m)." in the first sentence, or a line each: "order: …"
_TOGETHER = re.compile(r"(?:^|\band )(?:the )?([a-z_]+)(?= \()")
# "All of a sequence, in order: keys and values, (H_kv, t, d) each.", of what says no more
_LAST = re.compile(r"(?:: |(?<=\w) and )([a-z_]+)(?=(?: and [a-z_]+)?, \(.*\) each\.$)")
# "y (B, T, C), or (y, weights) with weights (B, H, T, T)"
_PAIR = re.compile(r"\bor \(([a-z_]+(?:, [a-z_]+)+)\)")
_LINES = re.compile(r"^ *([a-z_]+):", re.MULTILINE)
# "The loss of every step, before its update"
_EACH = re.compile(r"^\s*(The [a-z]+) of (?:every|each) ([a-z]+)")


class NamedParts(str):
    """What is compared, in words, and what its parts are called."""

    parts: tuple[str, ...] = ()
    each: tuple[str, str] | None = None
    is_state: bool = False
    is_output: bool = False  # of a module or of attention: what it holds are no shares of one

    @classmethod
    def of(cls, said: str) -> NamedParts:
        """These words; their parts have no names unless they already had."""
        return said if isinstance(said, cls) else cls(said)

    @classmethod
    def of_calls(cls, said: str) -> NamedParts:
        """These words for the results of several calls, one after the other."""
        result = cls(said)
        result.each = ("The result", "call")
        return result

    def item(self, key: object) -> str:
        """What an entry of a mapping is called; that of a module's state is a parameter."""
        return f"The parameter `{key}`" if self.is_state else f"{self}[{key!r}]"

    def part(self, number: int, count: int) -> str:
        """What the part of this number is called, counted from 0 among so many."""
        if self.each is not None:
            return f"{self.each[0]} of {self.each[1]} {number + 1}"
        if len(self.parts) == count:
            return f"`{self.parts[number]}`"
        ordinal = f"The {_ORDINALS[number]} value" if number < len(_ORDINALS) else ""
        if self.startswith("The result"):
            return f"{ordinal} returned" if ordinal else f"Value {number + 1} of those returned"
        whole = self[:1].lower() + self[1:]
        return f"{ordinal or f'Value {number + 1}'} of {whole}"


_ORDINALS = ("first", "second", "third", "fourth", "fifth")


class Names:
    """The names in a week's stub: of what can be called, its arguments and what comes back."""

    def __init__(self, source: str = "") -> None:
        self._arguments: dict[str, tuple[str, ...]] = {}
        self._parts: dict[str, tuple[str, ...]] = {}
        self._each: dict[str, tuple[str, str]] = {}
        self._outputs: set[str] = set()
        self._makes: dict[str, str] = {}
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                self._add(node.name, node, 0)
            elif isinstance(node, ast.ClassDef):
                methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
                for method in methods:
                    self._add(f"{node.name}.{method.name}", method, 1)

    def _add(self, name: str, node: ast.FunctionDef, skipped: int) -> None:
        arguments, text = node.args, ast.get_docstring(node) or ""
        named = (*arguments.posonlyargs, *arguments.args)[skipped:]
        self._arguments[name] = tuple(a.arg for a in named)
        section = re.split(r"\n\s*\n(?=[A-Z]\w+:)", text.partition("Returns:")[2])[0].strip()
        if each := _EACH.match(section):
            self._each[name] = (each[1], each[2])
        elif _LINES.match(section):
            self._parts[name] = tuple(_LINES.findall(section))
        else:
            first = section.partition(". ")[0]
            pair = _PAIR.search(first)
            named_parts = pair[1].split(", ") if pair else _TOGETHER.findall(first)
            self._parts[name] = tuple(named_parts or _LAST.findall(text.partition("\n")[0]))
        if name.endswith(".forward") or "output" in section.partition(".")[0]:
            self._outputs.add(name)
        if isinstance(node.returns, ast.Name):
            self._makes[name] = node.returns.id

    def knows(self, path: str) -> bool:
        """Whether the stub has a function or a class of this name."""
        return path in self._arguments or any(k.startswith(f"{path}.") for k in self._arguments)

    def class_of(self, path: str) -> str:
        """The class that is called, or whose object a function returns, if the stub has it."""
        made = path if path[:1].isupper() and "." not in path else self._makes.get(path, "")
        return made if self.knows(made) else ""

    def result(self, path: str, said: str) -> NamedParts:
        """`said`, and what the parts of it are called."""
        result = NamedParts(said)
        key = self._key(path)
        result.is_state = path.rpartition(".")[2] == "state_dict"
        result.is_output = key in self._outputs
        result.parts, result.each = self._parts.get(key, ()), self._each.get(key)
        return result

    def arguments(self, path: str) -> tuple[str, ...]:
        """What the arguments of a call are called, as far as the stub names them."""
        return self._arguments.get(self._key(path), ())

    def inputs(self, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        """What the float tensors among the arguments are called, each once."""
        known = self.arguments(path)
        labels = [*known, *(f"input {n + 1}" for n in range(len(known), len(args)))]
        found: dict[int, str] = {}
        for label, argument in [*zip(labels, args, strict=False), *kwargs.items()]:
            for place, x in _floats(argument):
                found.setdefault(id(x), f"{label}{place}")
        return list(found.values())

    def inputs_of_calls(self, path: str, calls: Sequence[Sequence[Any]]) -> list[str]:
        """The same for several calls, with the number of the call."""
        found: dict[int, str] = {}
        for number, args in enumerate(calls):
            floats = {id(x): x for a in args for _, x in _floats(a)}
            labels = self.inputs(path, args, {})
            for key, label in zip(floats, labels, strict=True):
                found.setdefault(key, f"`{label}` of call {number + 1}")
        return list(found.values())

    def _key(self, path: str) -> str:
        """Where a path's arguments are named: a module's are those of its forward."""
        if path.endswith(".apply"):
            return path.removesuffix("apply") + "forward"
        return path if path in self._arguments else f"{path}.forward"


def _floats(argument: Any, place: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The float tensors in an argument, and where in it they stand."""
    if isinstance(argument, torch.Tensor) and argument.is_floating_point():
        yield place, argument
    elif isinstance(argument, (list, tuple)):
        for number, x in enumerate(argument):
            yield from _floats(x, f"{place}[{number}]")
