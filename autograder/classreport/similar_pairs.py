"""The report's section on similar modules: pairs, with their code side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice, product
from string import ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..similarity.compare import ExerciseSimilarity, Lines, Similarity, SimilarPair

_MAX_PAIRS = 5  # whose code is shown
_MIN_SURPRISE = 1.0  # bits; exercises with less are not shown


@dataclass(frozen=True)
class MarkedLine:
    """A line of a module; `marked` if both modules share it."""

    number: int
    text: str
    marked: bool


@dataclass(frozen=True)
class ExerciseComparison:
    """An exercise of both modules. None stands for a gap between lines."""

    similarity: ExerciseSimilarity
    left: list[MarkedLine | None]
    right: list[MarkedLine | None]


@dataclass(frozen=True)
class PairComparison:
    """A pair with its exercises, the most surprising first."""

    pair: SimilarPair
    first: str
    second: str
    exercises: list[ExerciseComparison]


def compare_pairs(found: Similarity, *, names: bool) -> list[PairComparison]:
    """Return the outliers, or the most similar pair if there are none, with their code."""
    labels = student_labels(found, names=names)
    comparisons = []
    for pair in (found.outliers or found.pairs[:1])[:_MAX_PAIRS]:
        left, right = found.shared_lines(pair)
        exercises = [
            ExerciseComparison(
                similarity,
                _exercise_lines(found, pair.first, similarity.exercise, left),
                _exercise_lines(found, pair.second, similarity.exercise, right),
            )
            for similarity in pair.exercises
            if similarity.surprise >= _MIN_SURPRISE
        ]
        first, second = labels[pair.first], labels[pair.second]
        comparisons.append(PairComparison(pair, first, second, exercises))
    return comparisons


def student_labels(found: Similarity, *, names: bool) -> dict[str, str]:
    """Map students to their names, or to letters in the order of the pairs."""
    if names:
        return {name: name for name in found.modules}
    students = dict.fromkeys(n for p in found.pairs for n in (p.first, p.second))
    return dict(zip(students, islice(_letters(), len(students)), strict=True))


def _letters() -> Iterator[str]:
    """Yield student A, …, student Z, student AA, student AB, …"""
    for length in count(1):
        for letters in product(ascii_uppercase, repeat=length):
            yield f"student {''.join(letters)}"


def _exercise_lines(
    found: Similarity, student: str, exercise: str, marked: Lines
) -> list[MarkedLine | None]:
    text = found.modules[student].split("\n")
    lines: list[MarkedLine | None] = []
    previous = 0
    for number in sorted(found.fingerprints[student].exercise_lines[exercise]):
        if previous and number > previous + 1:
            lines.append(None)
        lines.append(MarkedLine(number, text[number - 1], number in marked))
        previous = number
    return lines
