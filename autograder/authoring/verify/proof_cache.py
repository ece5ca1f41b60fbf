"""What was proven before, as long as nothing that it depends on has changed.

A part of a proof without a gap is kept under .autograder/proofs with a hash of everything that it
read: the kit's code that takes part, libraries, the settings of the week, and the week's own files,
for an exercise only those that say something of it. What is not there, or was proven of something
else, is proven again; a gap is never kept.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from ...batch.fingerprint import PACKAGES, settings, versions
from ...files.atomic import replace_file
from ...files.hashing import feed
from ...model.course.bank import Bank
from ...model.course.loader import Course, Week
from .proof import Verification
from .prover import WHOLE

PUBLIC, LESSON = "-public", "-lesson"


class _Proof(msgspec.Struct, frozen=True):
    holds_for: str
    proven: Verification


class ProofBook:
    """The proofs of one week's parts, for these devices and this draw of the hidden inputs."""

    def __init__(
        self, course: Course, week: Week, devices: tuple[str, ...], secret: bytes, sandbox: str
    ) -> None:
        self.course, self.week = course, week
        self._with = (*(d.encode() for d in devices), secret, sandbox.encode())
        self._folder = course.state / "proofs" / week.name

    def recall(self, part: str) -> Verification | None:
        try:
            proof = msgspec.json.decode(self._path(part).read_bytes(), type=_Proof)
        except (OSError, msgspec.MsgspecError):
            return None
        return proof.proven if proof.holds_for == self._key(part) else None

    def keep(self, part: str, proven: Verification) -> None:
        if not proven.gaps:
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                proof = _Proof(self._key(part), proven)
                replace_file(self._path(part), msgspec.json.encode(proof))

    def _path(self, part: str) -> Path:
        which = "" if _is_seen(part) else f"-{_hash(self._with)[:8]}"
        return self._folder / f"{part or 'week'}{which}.json"

    def _key(self, part: str) -> str:
        facts = (settings(self.course, self.week), versions(), self.week.questions)
        known = [
            _kit(),
            *self._with,
            *(msgspec.json.encode(f, order="deterministic") for f in facts),
        ]
        if _is_seen(part):
            known = [k for k in known if k not in self._with]
        return _hash([*known, *self._files(part)])

    def _files(self, part: str) -> Iterator[bytes]:
        course, week = self.course, self.week
        graders = course.graders(week)
        if part == WHOLE or _is_seen(part):
            yield week.title.encode()
            yield from _contents(course.exercise_folder(week), *self._behind(part))
            assets = [course.root / "assets" / name for name in (week.name, *week.files)]
            yield from _contents(*assets, *(course.root / "exercises" / f for f in week.folders))
            return
        bank = Bank(course, week)
        yield bank.solution.encode()
        named = [(a.name, a.source) for a in bank.alternatives]
        named += [(m.name, m.source) for m in bank.of_exercise(part)]
        for one in named:
            yield from map(str.encode, one)
        for path in sorted(graders.rglob("*.py")):
            if path.stem in (f"test_{part}", "conftest") or not path.stem.startswith("test_"):
                yield from (path.name.encode(), path.read_bytes())

    def _behind(self, part: str) -> tuple[Path, ...]:
        """What of the secret side takes part: in what students get, the right versions alone."""
        course, week = self.course, self.week
        if part == WHOLE:
            return course.solution_folder(week), course.graders(week)
        return course.solution(week), course.solution_folder(week) / "alternatives"


def _is_seen(part: str) -> bool:
    """Return whether a part is of what students get; `-public-softmax` is of one exercise."""
    return part == LESSON or part.startswith(PUBLIC)


def _contents(*places: Path) -> Iterator[bytes]:
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield from (path.name.encode(), path.read_bytes())


@cache
def _kit() -> bytes:
    """The code of the kit that takes part in a proof."""
    root = Path(__file__).parents[2]
    rooms = (root / room for room in (*PACKAGES, "authoring", "student", "authors"))
    return _hash(_contents(*(p for room in rooms for p in sorted(room.rglob("*.py"))))).encode()


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        feed(digest, part)
    return digest.hexdigest()
