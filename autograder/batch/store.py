"""Results by content: what was graded once is not graded again, and nothing is half written.

The key hashes what a result depends on: the submission's files, the week's graders, solutions and
bank, the course's secret, the kit's version, the devices and the sandbox. A file is written beside
its final name and moved there in one step, so a killed process leaves either nothing or all of it,
and two processes that grade the same thing write the same thing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from ..files.atomic import replace_file, sweep_unfinished
from ..model.course import Course, Week
from ..model.report import SubmissionReport
from ..version import __version__


class ResultStore:
    """Reports of one week under `folder`, keyed by content."""

    def __init__(self, folder: Path, fingerprint: bytes) -> None:
        self.folder, self.fingerprint = folder, fingerprint
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        sweep_unfinished(folder)

    def key(self, files: Mapping[str, bytes]) -> str:
        return content_hash(files, self.fingerprint)

    def get(self, key: str) -> SubmissionReport | None:
        """The stored report, or None where there is none or it cannot be read."""
        try:
            return msgspec.json.decode(self._path(key).read_bytes(), type=SubmissionReport)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def put(self, key: str, report: SubmissionReport) -> None:
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        replace_file(path, msgspec.json.encode(report))

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def content_hash(files: Mapping[str, bytes], start: bytes) -> str:
    """A hash of a submission's files, and of what is to be told apart besides."""
    digest = hashlib.blake2b(start, digest_size=20)
    for name in sorted(files):
        _feed(digest, name.encode("utf-8", "surrogatepass"))
        _feed(digest, files[name])
    return digest.hexdigest()


def fingerprint(
    course: Course, week: Week, devices: Iterable[str], secret: bytes, sandbox: str
) -> bytes:
    """A hash of everything beside the submission that a report depends on."""
    digest = hashlib.blake2b(digest_size=20)
    limits = course.limits(week)
    for part in (__version__, *devices, sandbox):
        _feed(digest, part.encode())
    _feed(digest, secret)
    _feed(digest, msgspec.json.encode((week, limits)))
    kit = Path(__file__).parents[1]
    sources = [course.graders(week), course.solution_folder(week)]
    sources += [kit / "grading", kit / "worker", kit / "sandbox"]
    for folder in sources:
        for path in sorted(folder.rglob("*.py")):
            _feed(digest, path.relative_to(folder).as_posix().encode())
            _feed(digest, path.read_bytes())
    return digest.digest()


def _feed(digest: hashlib.blake2b, part: bytes) -> None:
    """Length first, so that no two sequences of parts hash alike."""
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)
