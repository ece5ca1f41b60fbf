"""The class report's section on modules that are alike: pairs, and their code side by side."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..similarity.compare import Alike, Similarity, SimilarPair

SHOWN = 5  # pairs whose code is shown
_TELLING = 1.0  # bits from which on an exercise is shown


@dataclass(frozen=True)
class MarkedLine:
    number: int
    text: str
    marked: bool


@dataclass(frozen=True)
class Block:
    """One exercise of both, whatever the order in which each wrote them. None stands for a gap."""

    alike: Alike
    left: list[MarkedLine | None]
    right: list[MarkedLine | None]


@dataclass(frozen=True)
class SideBySide:
    """A pair for the page, the most telling exercise first."""

    pair: SimilarPair
    first: str
    second: str
    blocks: list[Block]


def side_by_side(found: Similarity, *, names: bool) -> list[SideBySide]:
    """The pairs that stand out, else the first, with their code."""
    called = called_by(found, names=names)
    shown = []
    for pair in (found.standing_out or found.pairs[:1])[:SHOWN]:
        marked = found.marked(pair)
        blocks = []
        for alike in pair.exercises:
            if alike.surprise >= _TELLING:
                left, right = (
                    _block(found, name, alike.exercise, lines)
                    for name, lines in zip((pair.first, pair.second), marked, strict=True)
                )
                blocks.append(Block(alike, left, right))
        shown.append(SideBySide(pair, called[pair.first], called[pair.second], blocks))
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


def _block(
    found: Similarity, student: str, exercise: str, marked: AbstractSet[int]
) -> list[MarkedLine | None]:
    text = found.modules[student].split("\n")
    lines: list[MarkedLine | None] = []
    before = 0
    for number in sorted(found.prints[student].regions[exercise]):
        if before and number > before + 1:
            lines.append(None)
        lines.append(MarkedLine(number, text[number - 1], number in marked))
        before = number
    return lines
