"""Store reports under a hash of the submission and of everything else that they depend on.

Each file is written under a temporary name and renamed, so a killed process never leaves a partial
report, and processes that grade the same submission write the same file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..files.atomic import replace_file
from ..files.hashing import feed
from ..model.report.schema import SubmissionReport


class ResultStore:
    """Reports of one week under `folder`, keyed by content."""

    def __init__(self, folder: Path, fingerprint: bytes) -> None:
        self.folder, self.fingerprint = folder, fingerprint
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def key(self, files: Mapping[str, bytes]) -> str:
        return content_hash(files, self.fingerprint)

    def get(self, key: str) -> SubmissionReport | None:
        """Return the stored report, or None if it is missing or damaged."""
        try:
            return msgspec.json.decode(self._path(key).read_bytes(), type=SubmissionReport)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def put(self, key: str, report: SubmissionReport) -> None:
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        replace_file(path, msgspec.json.encode(report), lasting=False)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def content_hash(files: Mapping[str, bytes], start: bytes) -> str:
    """Return a hash of a submission's files; `start` is hashed first."""
    digest = hashlib.blake2b(start, digest_size=20)
    for name in sorted(files):
        feed(digest, name.encode("utf-8", "surrogatepass"))
        feed(digest, files[name])
    return digest.hexdigest()
