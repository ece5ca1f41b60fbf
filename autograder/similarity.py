"""Find pairs of modules with similarities that are rare in the class.

In small exercises, independent solutions are similar, because there are few ways to write a
softmax. Pairs are therefore ranked by how surprising their similarity is.

1. Modules are normalised: names that Python does not define become one name, and comments,
   docstrings and imports are left out. The fingerprints of a definition are all its sequences of K
   tokens, so names, comments, layout and the order of functions do not matter. Fingerprints of the
   stub are ignored.
2. A fingerprint that n of N modules contain has the weight log2(N / n), so common idioms count
   little. The similarity of a pair in an exercise is the shared weight as a fraction of the
   smaller of the two weights.
3. The surprise in an exercise is -log2 of the fraction of pairs that are at least as similar, but
   at most log2 N, so that neither a long exercise nor a single coincidence decides. A pair's
   evidence is the sum of its surprises: independent solutions agree in some exercises, copies in
   all exercises.

The result proves nothing and does not show who copied. It tells the instructor where to look.
"""

import ast
import builtins
import keyword
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .model.course import Course, Week
from .model.course.stubs import stub_of
from .model.errors import KitError
from .nbgrader.collect.groups import author_of, groups_of
from .nbgrader.collect.submissions import collected
from .nbgrader.workspace import Workspace

K = 16  # tokens in a fingerprint
_FENCE = 3.0  # interquartile ranges above the upper quartile: Tukey's "far out"
OTHER = ""  # code that belongs to no exercise or to several exercises
Lines = frozenset[int]
_TOKEN = re.compile(r"[^\W\d]\w*|[\d.]+|[^\w\s]")
_KEPT = frozenset(keyword.kwlist) | frozenset(dir(builtins))


@dataclass(frozen=True)
class ExerciseSimilarity:
    """The similarity of a pair in one exercise (OTHER for the rest of the module)."""

    exercise: str
    share: float  # shared fraction of the shorter solution
    typical: float  # median share of all pairs
    surprise: float  # in bits


@dataclass(frozen=True)
class SimilarPair:
    """Two modules, with their exercises sorted by surprise."""

    first: str
    second: str
    evidence: float  # in bits
    ratio: float  # of the evidence to that of the median pair
    share: float  # shared fraction of the shorter module
    is_outlier: bool
    exercises: tuple[ExerciseSimilarity, ...]


@dataclass(frozen=True)
class Fingerprints:
    """A module's fingerprints by exercise, and the lines of each fingerprint and exercise."""

    by_exercise: dict[str, set[str]]
    lines: dict[str, set[int]]
    exercise_lines: dict[str, set[int]]


@dataclass
class Similarity:
    """The compared modules, and all pairs of them by decreasing evidence."""

    pairs: list[SimilarPair] = field(default_factory=list)
    typical: float = 0.0  # evidence of the median pair in bits
    modules: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)  # student -> reason
    fingerprints: dict[str, Fingerprints] = field(default_factory=dict)

    @property
    def outliers(self) -> list[SimilarPair]:
        return [p for p in self.pairs if p.is_outlier]

    @property
    def identical(self) -> list[list[str]]:
        """Return the groups of students whose modules are the same text, largest first."""
        groups: dict[str, list[str]] = defaultdict(list)
        for student in sorted(self.fingerprints):
            groups[self.modules[student]].append(student)
        return sorted((g for g in groups.values() if len(g) > 1), key=lambda g: (-len(g), g))

    def shared_lines(self, pair: SimilarPair) -> tuple[Lines, Lines]:
        """Return each module's lines with shared fingerprints that are rare in the class."""
        first, second = self.fingerprints[pair.first].lines, self.fingerprints[pair.second].lines
        limit = max(2.0, len(self.fingerprints) / 3)
        modules = [f.lines for f in self.fingerprints.values()]
        shared = first.keys() & second.keys()
        rare = [f for f in shared if sum(f in lines for lines in modules) <= limit]
        first_lines = (line for f in rare for line in first[f])
        return frozenset(first_lines), frozenset(line for f in rare for line in second[f])


@dataclass(frozen=True)
class ModulePart:
    """A top-level statement. The name is "" if the statement is not a definition."""

    name: str
    lines: range
    words: frozenset[str]  # all tokens as written
    tokens: tuple[tuple[str, int], ...]  # normalised tokens with their line numbers


def compare_collected(course: Course, week: Week) -> Similarity:
    """Compare the collected modules of a week; raise KitError if there are fewer than two."""
    modules: dict[str, str] = {}
    left_out = _other_group_members(course, week)
    for submission in collected(course, week):
        source = submission.files.get(week.module)
        if submission.name in left_out:
            continue
        if submission.problem or source is None:
            left_out[submission.name] = submission.problem or f"there is no {week.module}"
        else:
            modules[submission.name] = source.decode("utf-8", "replace")
    if len(modules) < 2:
        raise KitError(
            f"{week.name}: nothing to compare: {len(modules)} modules were collected, "
            f"run `autograder collect {week.name}`"
        )
    found = compare(week, stub_of(course, week), modules)
    found.left_out |= left_out
    return found


def _other_group_members(course: Course, week: Week) -> dict[str, str]:
    """Map all but one member of each group to a reason for leaving them out of the comparison."""
    submitted = set(Workspace(course).students("submitted", week))
    left_out: dict[str, str] = {}
    for group in groups_of(course, week):
        members = [member for member in group if member in submitted]
        authors = [m for m in members if author_of(course, week, m) == m] or members[:1]
        left_out |= {m: f"in a group with {authors[0]}" for m in members if m != authors[0]}
    return left_out


def compare(week: Week, stub: str, modules: Mapping[str, str]) -> Similarity:
    """Compare all pairs of modules. `modules`: the source of each student's module."""
    stub_prints = {found for part in module_parts(stub) for found, _ in _fingerprints(part)}
    found = Similarity(modules=dict(modules))
    for name, source in modules.items():
        fingerprints = _module_fingerprints(week, source, stub_prints)
        if fingerprints.lines:
            found.fingerprints[name] = fingerprints
        else:
            found.left_out[name] = "it contains only the stub"
    if len(found.fingerprints) > 1:
        units = [*(e.name for e in week.exercises), OTHER]
        found.pairs, found.typical = _rank(units, found.fingerprints)
    return found


def _module_fingerprints(week: Week, source: str, ignored: set[str]) -> Fingerprints:
    found = Fingerprints(defaultdict(set), defaultdict(set), defaultdict(set))
    parts = module_parts(source)
    owners = _owners(parts, [e.name for e in week.exercises])
    for part in parts:
        unit = owners.get(part.name, OTHER)
        found.exercise_lines[unit].update(part.lines)
        for fingerprint, lines in _fingerprints(part):
            if fingerprint not in ignored:
                found.by_exercise[unit].add(fingerprint)
                found.lines[fingerprint].update(lines)
    return found


def _owners(parts: Sequence[ModulePart], exercises: Sequence[str]) -> dict[str, str]:
    """Map each exercise to itself, and each helper that only one exercise uses to this exercise.

    Two students who solve an exercise in the same way need the same helper, which must not count
    as a second similarity.
    """
    references: dict[str, set[str]] = defaultdict(set)
    for part in parts:
        references[part.name].update(part.words)
    users: dict[str, set[str]] = defaultdict(set)
    for exercise in exercises:
        waiting, seen = [exercise], set(exercises)
        while waiting:
            name = waiting.pop()
            users[name].add(exercise)
            helpers = (references.get(name, set()) & references.keys()) - seen
            seen |= helpers
            waiting += helpers
    owners = {name: min(by) for name, by in users.items() if len(by) == 1}
    return owners | {name: name for name in exercises}


def _fingerprints(part: ModulePart) -> Iterator[tuple[str, set[int]]]:
    """Yield each fingerprint of a part with the source lines that the fingerprint covers."""
    for start in range(len(part.tokens) - K + 1):
        tokens, lines = zip(*part.tokens[start : start + K], strict=True)
        yield " ".join(tokens), set(lines)


def _rank(
    units: Sequence[str], modules: Mapping[str, Fingerprints]
) -> tuple[list[SimilarPair], float]:
    names = sorted(modules)
    known = sorted({f for module in modules.values() for f in module.lines})
    column = {fingerprint: n for n, fingerprint in enumerate(known)}
    whole = _table([set(modules[n].lines) for n in names], column)
    weights = np.log2(len(names) / whole.sum(axis=0))
    first, second = np.triu_indices(len(names), 1)
    evidence = np.zeros(len(first))
    by_unit = {}
    for unit in units:
        table = _table([modules[n].by_exercise[unit] for n in names], column)
        surprise = _surprise(_shares(table, weights)[first, second], len(names))
        share = _shares(table)[first, second]
        by_unit[unit] = share, float(np.median(share)), surprise
        evidence += surprise
    lower, typical, upper = np.quantile(evidence, (0.25, 0.5, 0.75))
    fence = upper + _FENCE * (upper - lower)
    shares = _shares(whole)[first, second]
    pairs = []
    for n in np.argsort(-evidence, kind="stable").tolist():
        exercises = (
            ExerciseSimilarity(unit, float(share[n]), median, float(surprise[n]))
            for unit, (share, median, surprise) in by_unit.items()
        )
        pairs.append(
            SimilarPair(
                names[first[n]],
                names[second[n]],
                evidence=float(evidence[n]),
                ratio=float(evidence[n]) / max(float(typical), 1.0),
                share=float(shares[n]),
                is_outlier=bool(evidence[n] > fence),
                exercises=tuple(sorted(exercises, key=lambda e: -e.surprise)),
            )
        )
    return pairs, float(typical)


def _surprise(similarity: Any, students: int) -> Any:
    """Return -log2 of the fraction of pairs at least as similar, but at most log2(students).

    Return 0 for pairs that share nothing.
    """
    rank = len(similarity) - np.searchsorted(np.sort(similarity), similarity - 1e-6)
    bits = np.minimum(-np.log2(rank / len(similarity)), np.log2(students))
    return np.where(similarity > 1e-6, bits, 0.0)


def _table(modules: Sequence[set[str]], column: Mapping[str, int]) -> Any:
    """Return a 0-1 matrix of shape (modules, fingerprints)."""
    table = np.zeros((len(modules), len(column)))
    for row, fingerprints in zip(table, modules, strict=True):
        row[[column[f] for f in fingerprints]] = 1
    return table


def _shares(table: Any, weights: Any = 1.0) -> Any:
    """Return the shared weight of each pair of modules as a fraction of the smaller weight."""
    both = (table * weights) @ table.T
    own = np.diagonal(both)
    return both / np.maximum(np.minimum.outer(own, own), 1e-9)


def module_parts(source: str) -> list[ModulePart]:
    """Split a module into parts without imports and docstrings; invalid Python is a single part."""
    lines = source.split("\n")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [_part("", range(1, len(lines) + 1), lines, set())]
    ignored: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # docstring
            ignored.update(_line_range(node))
    return [
        _part(getattr(statement, "name", ""), _line_range(statement), lines, ignored)
        for statement in tree.body
        if not isinstance(statement, ast.Import | ast.ImportFrom)
        and statement.lineno not in ignored
    ]


def _line_range(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _part(name: str, numbers: range, lines: list[str], ignored: set[int]) -> ModulePart:
    found = [
        (token, number)
        for number in numbers
        if number not in ignored
        for token in _TOKEN.findall(lines[number - 1].partition("#")[0])
    ]
    words = frozenset(token for token, _ in found)
    names = {word: "name" for word in words if word.isidentifier() and word not in _KEPT}
    tokens = tuple((names.get(token, token), number) for token, number in found)
    return ModulePart(name, numbers, words, tokens)
