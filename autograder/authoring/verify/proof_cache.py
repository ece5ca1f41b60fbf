"""Remember which parts of a week are verified, until one of their inputs changes.

A result without gaps is stored under .autograder/proofs with a hash of its inputs: the kit's code,
library versions, the week's settings, and the week's files. The hash of an exercise covers only
its own tests, its misconceptions and all correct programs. Results with gaps are not stored.
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
from ...model.course import Course, Week
from ...model.course.bank import Bank
from .hidden_tests import WHOLE
from .results import Verification

PUBLIC, LESSON = "-public", "-lesson"


class _StoredProof(msgspec.Struct, frozen=True):
    inputs: str  # their hash
    result: Verification


class ProofCache:
    """The stored results of one week for given devices, secret and sandbox."""

    def __init__(
        self, course: Course, week: Week, devices: tuple[str, ...], secret: bytes, sandbox: str
    ) -> None:
        self.course, self.week = course, week
        self._environment = (*(d.encode() for d in devices), secret, sandbox.encode())
        self._folder = course.state / "proofs" / week.name

    def get(self, part: str) -> Verification | None:
        """Return the result of a part, or None if it is not stored or no longer valid."""
        try:
            proof = msgspec.json.decode(self._path(part).read_bytes(), type=_StoredProof)
        except (OSError, msgspec.MsgspecError):
            return None
        return proof.result if proof.inputs == self._hash_of(part) else None

    def store(self, part: str, result: Verification) -> None:
        """Store the result of a part if it has no gaps."""
        if not result.gaps:
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                proof = _StoredProof(self._hash_of(part), result)
                replace_file(self._path(part), msgspec.json.encode(proof))

    def _path(self, part: str) -> Path:
        suffix = "" if _is_public(part) else f"-{_hash(self._environment)[:8]}"
        return self._folder / f"{part or 'week'}{suffix}.json"

    def _hash_of(self, part: str) -> str:
        facts = (settings(self.course, self.week), versions(), self.week.questions)
        inputs = [_kit(), *(msgspec.json.encode(f, order="deterministic") for f in facts)]
        if not _is_public(part):
            inputs += self._environment
        return _hash([*inputs, *self._files(part)])

    def _files(self, part: str) -> Iterator[bytes]:
        course, week = self.course, self.week
        solutions, graders = course.solution_folder(week), course.graders(week)
        if part == WHOLE or _is_public(part):
            secret = (solutions, graders)
            if part != WHOLE:  # public checks run on correct programs only
                secret = (course.solution(week), solutions / "alternatives")
            assets = [course.root / "assets" / name for name in (week.name, *week.files)]
            folders = [course.root / "exercises" / name for name in week.folders]
            yield week.title.encode()
            yield from _contents(course.exercise_folder(week), *secret, *assets, *folders)
            return
        bank = Bank(course, week)
        misconceptions = [(m.name, m.source) for m in bank.of_exercise(part)]
        for name, source in [*bank.correct_programs, *misconceptions]:
            yield from (name.encode(), source.encode())
        for path in sorted(graders.rglob("*.py")):
            if path.stem in (f"test_{part}", "conftest") or not path.stem.startswith("test_"):
                yield from (path.name.encode(), path.read_bytes())


def _is_public(part: str) -> bool:
    """Return True for the parts that concern public files, such as `-public-softmax`."""
    return part == LESSON or part.startswith(PUBLIC)


def _contents(*places: Path) -> Iterator[bytes]:
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield from (path.name.encode(), path.read_bytes())


@cache
def _kit() -> bytes:
    """Return a hash of the kit's code that verification runs."""
    root = Path(__file__).parents[2]
    packages = (root / name for name in (*PACKAGES, "authoring", "student", "authors"))
    return _hash(_contents(*(p for top in packages for p in sorted(top.rglob("*.py"))))).encode()


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        feed(digest, part)
    return digest.hexdigest()
