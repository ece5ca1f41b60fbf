"""Who may have copied: pairs of modules that share what few others in the class share.

In small exercises honest solutions look alike: there are few ways to write a softmax. So a pair is
not ranked by how much it shares but by how surprising that is.

1. A module is written anew without layout, comments and names (canonical.py), and copydetect turns
   each of its functions into fingerprints, the k-grams of its tokens. New names, another layout and
   another order of the functions change nothing. What the stub gave out is taken away.
2. A fingerprint that n of N modules have weighs log2(N / n): a common idiom weighs next to nothing,
   a turn that only these two have the most. How alike a pair is in an exercise is the part of the
   weight, of the one that has less, that the other has too.
3. The surprise is how few pairs of the class are as alike in that exercise: -log2 of their part, at
   most log2 N, so that neither a long exercise nor one odd coincidence decides. A pair's evidence
   is the sum over the exercises: honest pairs agree now and then, a copy agrees everywhere.

No winnowing: modules are small, and it would choose by Python's hashes, which differ from run to
run. Nothing here is a proof, nor says who copied from whom: it says where to look.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model.course.loader import Week
from ..model.errors import KitError
from ..model.extras import installed
from .canonical import SourcePart, parts

K = 25  # characters of a fingerprint, names counting one: copydetect's own choice
_FENCE = 3.0  # interquartile ranges above the upper quartile: Tukey's "far out"
_OTHER = ""  # constants, and functions that no exercise or several exercises use
_NAME = re.compile(r"\w+")
Lines = frozenset[int]


@dataclass(frozen=True)
class Alike:
    """An exercise of a pair."""

    exercise: str  # "" for what stands outside of the exercises
    share: float  # of the shorter one, which the other has too
    typical: float  # the class's median share
    surprise: float  # bits


@dataclass(frozen=True)
class SimilarPair:
    first: str
    second: str
    evidence: float  # bits
    ratio: float  # to the median of all pairs
    share: float  # of the shorter module
    stands_out: bool
    exercises: tuple[Alike, ...]  # the most telling first


@dataclass
class Similarity:
    """All pairs, the most surprising first."""

    pairs: list[SimilarPair] = field(default_factory=list)
    typical: float = 0.0  # bits, the median pair
    modules: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)  # student -> why
    prints: dict[str, Prints] = field(default_factory=dict)

    @property
    def standing_out(self) -> list[SimilarPair]:
        return [p for p in self.pairs if p.stands_out]

    def marked(self, pair: SimilarPair) -> tuple[Lines, Lines]:
        """The lines of both modules with what they share and at most a third of the class has."""
        first, second = self.prints[pair.first], self.prints[pair.second]
        most = max(2.0, len(self.prints) / 3)
        shared = first.lines.keys() & second.lines.keys()
        rare = [f for f in shared if sum(f in p.lines for p in self.prints.values()) <= most]
        return first.lines_of(rare), second.lines_of(rare)


@dataclass(frozen=True)
class Prints:
    """A module's fingerprints: by exercise, and the lines of the source that each stands for."""

    exercises: dict[str, set[int]]
    lines: dict[int, set[int]]
    regions: dict[str, set[int]]  # exercise -> its lines

    def lines_of(self, some: Sequence[int]) -> Lines:
        return frozenset(line for f in some for line in self.lines[f])


def compare(week: Week, stub: str, modules: Mapping[str, str]) -> Similarity:
    """Compare every two modules; raises KitError if the extra is missing."""
    if not installed("similarity"):
        raise KitError(
            "--similarity needs copydetect: install it with   pip install 'autograder[similarity]'"
        )
    given = {f for part in parts(stub) for f, _ in _fingerprints(part.text)}
    found = Similarity(modules=dict(modules))
    for name, source in modules.items():
        prints = _prints(week, source, given)
        if prints.lines:
            found.prints[name] = prints
        else:
            found.left_out[name] = "nothing is written beyond the stub"
    if len(found.prints) > 1:
        found.pairs, found.typical = _ranked(week, found.prints)
    return found


def _prints(week: Week, source: str, given: set[int]) -> Prints:
    exercises: dict[str, set[int]] = {name: set() for name in _units(week)}
    regions: dict[str, set[int]] = {name: set() for name in _units(week)}
    lines: dict[int, set[int]] = {}
    found = parts(source)
    belongs_to = _owners(found, [e.name for e in week.exercises])
    for part in found:
        unit = belongs_to.get(part.name, _OTHER)
        own = exercises[unit]
        if part.spans:
            regions[unit].update(range(part.spans[0][0], part.spans[-1][1] + 1))
        line_ends = [at for at, sign in enumerate(part.text) if sign == "\n"]
        for fingerprint, place in _fingerprints(part.text):
            if fingerprint not in given:
                own.add(fingerprint)
                first, last = (bisect_left(line_ends, offset) for offset in place)
                for start, end in part.spans[first : last + 1]:
                    lines.setdefault(fingerprint, set()).update(range(start, end + 1))
    return Prints(exercises, lines, regions)


def _owners(found: Sequence[SourcePart], exercises: Sequence[str]) -> dict[str, str]:
    """Definition -> the exercise that it belongs to: itself, or the only one that reaches it.

    Who solves an exercise in the same way needs the same helper for it: that is one likeness, not
    two.
    """
    named: dict[str, set[str]] = {}
    for part in found:
        named.setdefault(part.name, set()).update(_NAME.findall(part.text))
    reached_by: dict[str, set[str]] = {}
    for exercise in exercises:
        waiting, seen = [exercise], {*exercises}
        while waiting:
            reached_by.setdefault(here := waiting.pop(), set()).add(exercise)
            more = {name for name in named.get(here, ()) if name in named} - seen
            seen |= more
            waiting += more
    owners = {name: min(by) for name, by in reached_by.items() if len(by) == 1}
    return owners | {name: name for name in exercises}


def _units(week: Week) -> list[str]:
    return [*(e.name for e in week.exercises), _OTHER]


def _fingerprints(text: str) -> list[tuple[int, tuple[int, int]]]:
    """copydetect's fingerprints, each with the piece of the text it stands for."""
    from copydetect.detector import CodeFingerprint

    if len(text) < K:  # making them takes a millisecond, however short the text
        return []
    made = CodeFingerprint("module.py", K, 1, fp=io.StringIO(text))
    if len(made.filtered_code) < K:
        return []
    at = _places(made.offsets, len(made.filtered_code), len(text))
    return [
        (int(fingerprint), (at[i], at[i + K - 1]))
        for fingerprint, starts in made.hash_idx.items()
        for i in starts
    ]


def _places(offsets: Any, length: int, bound: int) -> list[int]:
    """For each character of the filtered code, where it stands in the text.

    copydetect notes what was taken out before a place, but at a class's name not the sum of it.
    """
    taken_out = np.maximum.accumulate(offsets[:, 1])
    here = np.arange(length)
    nearest = np.clip(np.searchsorted(offsets[:, 0], here), 0, len(offsets) - 1)
    found: list[int] = np.minimum(here + taken_out[nearest], bound - 1).tolist()
    return found


def _ranked(week: Week, prints: Mapping[str, Prints]) -> tuple[list[SimilarPair], float]:
    names = sorted(prints)
    column = {f: n for n, f in enumerate(sorted({f for p in prints.values() for f in p.lines}))}
    whole = _table([set(prints[n].lines) for n in names], column)
    weights = np.log2(len(names) / whole.sum(axis=0))
    first, second = np.triu_indices(len(names), 1)
    evidence = np.zeros(len(first))
    exercises = {}
    for exercise in _units(week):
        table = _table([prints[n].exercises[exercise] for n in names], column)
        surprise = _surprise(_share(table, weights)[first, second], len(names))
        share = _share(table)[first, second]
        exercises[exercise] = share, float(np.median(share)), surprise
        evidence += surprise
    typical = float(np.median(evidence))
    lower, upper = np.quantile(evidence, (0.25, 0.75))
    fence = upper + _FENCE * (upper - lower)
    shares = _share(whole)[first, second]
    pairs = []
    for n in np.argsort(-evidence, kind="stable").tolist():
        alike = (
            Alike(name, float(share[n]), median, float(surprise[n]))
            for name, (share, median, surprise) in exercises.items()
        )
        pairs.append(
            SimilarPair(
                names[first[n]],
                names[second[n]],
                float(evidence[n]),
                float(evidence[n]) / max(typical, 1.0),
                float(shares[n]),
                bool(evidence[n] > fence),
                tuple(sorted(alike, key=lambda a: -a.surprise)),
            )
        )
    return pairs, typical


def _surprise(alike: Any, students: int) -> Any:
    """-log2 of the part of all pairs that are as alike; nothing if nothing is shared."""
    rank = len(alike) - np.searchsorted(np.sort(alike), alike - 1e-6)
    bits = np.minimum(-np.log2(rank / len(alike)), np.log2(students))
    return np.where(alike > 1e-6, bits, 0.0)


def _table(held: Sequence[set[int]], column: Mapping[int, int]) -> Any:
    """A row per module, a column per fingerprint: 1 where it is held."""
    table = np.zeros((len(held), len(column)))
    for row, fingerprints in zip(table, held, strict=True):
        row[[column[f] for f in fingerprints]] = 1
    return table


def _share(table: Any, weights: Any = 1.0) -> Any:
    """What two share, as a part of the one that has less."""
    both = (table * weights) @ table.T
    own = np.diagonal(both)
    return both / np.maximum(np.minimum.outer(own, own), 1e-9)
