"""What a worker needs of a course to grade one week, as bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from ...model.course.loader import REGISTRY, Course, Week, parse
from ..fingerprint import versions


class Parcel(msgspec.Struct, frozen=True):
    """One week of a course. `files`: paths below the course's root, and their content."""

    week: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    fingerprint: bytes
    versions: dict[str, str]
    files: dict[str, bytes]


def pack(
    course: Course,
    week: Week,
    devices: tuple[str, ...],
    secret: bytes,
    sandbox: str,
    fingerprint: bytes,
) -> bytes:
    """The parcel of a week: registry, hidden graders, solutions and bank."""
    paths = [course.root / REGISTRY]
    for folder in (course.graders(week), course.solution_folder(week)):
        paths += sorted(folder.rglob("*.py"))
    files = {path.relative_to(course.root).as_posix(): path.read_bytes() for path in paths}
    parcel = Parcel(week.name, devices, secret, sandbox, fingerprint, versions(), files)
    return msgspec.msgpack.encode(parcel)


def key_of(parcel: bytes) -> str:
    return hashlib.blake2b(parcel, digest_size=16).hexdigest()


def unpack(parcel: Parcel, folder: Path) -> Course:
    """Lay the parcel's files into a private folder; the course that they make."""
    for name, content in parcel.files.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
    return Course(folder, parse((folder / REGISTRY).read_text(encoding="utf-8")))
