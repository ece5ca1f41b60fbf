"""The report's section on similar modules: pairs, with their code side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..similarity.compare import ExerciseSimilarity, Lines, Similarity, SimilarPair

_MAX_PAIRS = 5  # pairs whose code is shown
_MIN_SURPRISE = 1.0  # bits; less surprising exercises are not shown
Code = list[tuple[int, str, bool] | None]
"""Number, text, and whether both modules share the line; None stands for a gap."""


@dataclass(frozen=True)
class ExerciseComparison:
    """An exercise in both modules, with the code of each."""

    similarity: ExerciseSimilarity
    left: Code
    right: Code


@dataclass(frozen=True)
class PairComparison:
    """Two similar modules, with the exercises to compare."""

    pair: SimilarPair
    first: str
    second: str
    exercises: list[ExerciseComparison]


def compare_pairs(found: Similarity, *, names: bool) -> list[PairComparison]:
    """Return the outliers with their code, or the most similar pair if there are no outliers."""
    labels = student_labels(found, names=names)
    comparisons = []
    for pair in (found.outliers or found.pairs[:1])[:_MAX_PAIRS]:
        left, right = found.shared_lines(pair)
        exercises = [
            ExerciseComparison(
                similarity,
                _code(found, pair.first, similarity.exercise, left),
                _code(found, pair.second, similarity.exercise, right),
            )
            for similarity in pair.exercises
            if similarity.surprise >= _MIN_SURPRISE
        ]
        first, second = labels[pair.first], labels[pair.second]
        comparisons.append(PairComparison(pair, first, second, exercises))
    return comparisons


def student_labels(found: Similarity, *, names: bool) -> dict[str, str]:
    """Map students to their names, or to numbers in the order of the pairs."""
    if names:
        return {name: name for name in found.modules}
    students = dict.fromkeys(n for p in found.pairs for n in (p.first, p.second))
    return {name: f"student {number}" for number, name in enumerate(students, start=1)}


def _code(found: Similarity, student: str, exercise: str, shared: Lines) -> Code:
    text = found.modules[student].split("\n")
    code: Code = []
    previous = 0
    for number in sorted(found.fingerprints[student].exercise_lines[exercise]):
        if previous and number > previous + 1:
            code.append(None)
        code.append((number, text[number - 1], number in shared))
        previous = number
    return code
