"""The class report's section on modules that are alike: pairs, and their code side by side."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..similarity.compare import Pair, Similarity

SHOWN = 5  # pairs whose code is shown
_CONTEXT = 2  # lines around what is marked


@dataclass(frozen=True)
class Line:
    number: int
    text: str
    marked: bool


@dataclass(frozen=True)
class SideBySide:
    """A pair for the page. Lines that are far from any mark are left out: None stands for them."""

    pair: Pair
    first: str
    second: str
    left: list[Line | None]
    right: list[Line | None]


def side_by_side(found: Similarity, *, names: bool) -> list[SideBySide]:
    """The pairs that stand out, else the first, with their code."""
    called = called_by(found, names=names)
    shown = []
    for pair in (found.standing_out or found.pairs[:1])[:SHOWN]:
        left, right = found.marked(pair)
        shown.append(
            SideBySide(
                pair,
                called[pair.first],
                called[pair.second],
                _near(found.modules[pair.first], left),
                _near(found.modules[pair.second], right),
            )
        )
    return shown


def called_by(found: Similarity, *, names: bool) -> dict[str, str]:
    """What to call each student: by name, or by a letter in the order of the pairs."""
    if names:
        return {name: name for name in found.modules}
    order = dict.fromkeys(n for p in found.pairs for n in (p.first, p.second))
    return {name: f"student {_letters(n)}" for n, name in enumerate(order)}


def _letters(number: int) -> str:
    """A … Z, AA, AB …"""
    found = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        found = chr(ord("A") + rest) + found
    return found


def _near(source: str, marked: AbstractSet[int]) -> list[Line | None]:
    kept = {n + d for n in marked for d in range(-_CONTEXT, _CONTEXT + 1)}
    lines: list[Line | None] = []
    for number, text in enumerate(source.split("\n"), start=1):
        if number in kept:
            lines.append(Line(number, text, number in marked))
        elif not lines or lines[-1] is not None:
            lines.append(None)
    return lines
