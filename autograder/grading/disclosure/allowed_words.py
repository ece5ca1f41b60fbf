"""Decide which names and line numbers from a submission may appear in feedback.

Theory of operation. A submission chooses the names of its exceptions, classes and parameters, and
could spell out hidden inputs with them. A message therefore contains a name only if the name occurs
in the submitted source or in Python, NumPy or PyTorch, and a line number only if that line can
raise an exception (`raising_lines`). The submission can then only choose among names and lines that
were fixed before it saw the inputs, and each choice is charged to the message's budget
(`leak_budget`).
"""

import builtins
import keyword
import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from ...worker.protocol import frames
from .leak_budget import UNKNOWN, MessageBudget, raising_lines

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+){0,8}\Z", re.ASCII)
_LONGEST = 60
_RUNTIME_NAME = "a name made at run time"

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ERRORS, _FREQUENT = frozenset(WORDS["errors"].split()), frozenset(WORDS["names"].split())


class AllowedWords:
    """The words that messages about a submission may contain. `source`: lines of its module."""

    def __init__(self, source: tuple[str, ...]) -> None:
        self.source = source
        self._own = _words_of(source)

    def is_word(self, word: str) -> bool:
        return len(word) <= _LONGEST and (word in self._own or is_public(word))

    def is_dotted(self, name: str) -> bool:
        """Return True if each part of a name such as `layer.0.bias` is a word or a small number."""
        return bool(_DOTTED.match(name)) and all(
            self.is_word(part) or (part.isdecimal() and len(part) <= 3) for part in name.split(".")
        )

    def name(self, word: str, budget: MessageBudget, near: str = "") -> str:
        """Charge a word to the budget and return it; return `?` if it is not allowed or too costly.

        near: a short text whose words cost the fewest bits, such as the line that raised
        """
        nearby = frozenset(_WORD.findall(near))
        groups = ((nearby, 1.5), (_FREQUENT, 1.5), (self._own, 2.5), (_public_names(), 3.5))
        return word if budget.choose(word, groups) else UNKNOWN

    def dotted_name(self, name: str, budget: MessageBudget) -> str:
        """Return a dotted parameter name, or a description if it is not allowed or too costly."""
        if not self.is_dotted(name):
            return _RUNTIME_NAME
        parts = [
            part if part.isdecimal() and budget.afford(1000) else self.name(part, budget)
            for part in name.split(".")
        ]
        return ".".join(parts) if UNKNOWN not in parts else _RUNTIME_NAME

    def error(self, raised: frames.Raised, budget: MessageBudget) -> str:
        """Return the first allowed name among an exception's class and its bases, or `?`."""
        name = next((b for b in (raised.type, *raised.bases) if self.is_word(b)), "")
        groups = ((_ERRORS, 1.0), (self._own, 2.0), (_public_names(), 2.0))
        return name if budget.choose(name, groups) else UNKNOWN

    def line(self, line: int | None, budget: MessageBudget) -> int | None:
        """Return a line number, or None if the line cannot raise or its cost exceeds the budget."""
        lines = raising_lines(self.source)
        return line if line in lines and budget.afford(len(lines)) else None

    def without_type_name(self, value: Any) -> Any:
        """Return an encoded value, with a type name that is not allowed replaced by "strange"."""
        if not isinstance(value, (frames.OpaqueV, frames.HandleV)):
            return value
        if self.dotted_name(value.type, MessageBudget()) == value.type:
            return value
        return msgspec.structs.replace(value, type="strange")


@lru_cache(maxsize=8)
def _words_of(source: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for line in source for word in _WORD.findall(line))


def is_public(word: str) -> bool:
    """Return True if Python, NumPy or PyTorch defines this name."""
    return word in _public_names()


@cache
def _public_names() -> frozenset[str]:
    places: list[Any] = [builtins, torch, torch.Tensor, torch.nn, torch.nn.functional]
    places += [torch.nn.Module, torch.autograd, torch.linalg, torch.special, np, np.ndarray]
    places += [np.linalg, np.random, np.exceptions, torch.Generator]
    operators = torch._C._dispatch_get_all_op_names()
    names = {name for place in places for name in dir(place)}
    names.update(name.split("::")[1].split(".")[0].strip("_") for name in operators)
    return frozenset(names.union(keyword.kwlist, WORDS["unlisted"].split()))
