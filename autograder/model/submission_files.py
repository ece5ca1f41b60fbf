"""Formats of submissions: reproducible zips, digests for receipts, notes and timestamps.

The digest on a receipt covers lines in the format of `sha256sum`, so anyone can recompute it from
the submitted files.
"""

import datetime as dt
import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from .course.registry import aware

Files = Mapping[str, bytes]  # contents by name
# The files that nbgrader adds to a submission. It derives the name of the feedback from the secret.
TIMESTAMP_FILE, SECRET_FILE = FROM_NBGRADER = ("timestamp.txt", "submission_secret.txt")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def packed(files: Files, modes: Mapping[str, int] | None = None) -> bytes:
    """Pack the files as a zip archive; equal files give identical bytes.

    modes: type and permissions by name; default: 0o644
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = (modes or {}).get(name, 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return stream.getvalue()


def digest_of(files: Files) -> str:
    """Return the SHA-256 digest of the lines `sha256  name`, sorted by name."""
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


Kind = Literal[
    "unreadable", "missing", "renamed", "deleted", "doubled", "edited", "code", "module", "taken",
    "kept", "refused",
]  # fmt: skip
KINDS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[Kind, str])


class Note(msgspec.Struct, frozen=True):
    """A problem in a submission and how it was handled; `text` is shown to the student."""

    kind: Kind
    text: str


def format_timestamp(moment: dt.datetime) -> str:
    """Format a time as nbgrader does; naive times are taken as UTC."""
    return f"{aware(moment, dt.UTC).astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def local_text(stored: str, zone: dt.tzinfo) -> str:
    """Format a stored time in a time zone, to the minute, such as `2026-09-07 14:03 CEST`."""
    moment = parse_timestamp(stored)
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M %Z}" if moment else "an unknown time"


def in_short(moment: dt.datetime) -> str:
    """Format a time like this: `18 January, 14:03`."""
    return f"{moment.day} {moment:%B}, {moment:%H:%M}"


def parse_timestamp(text: str) -> dt.datetime | None:
    """Parse an nbgrader timestamp as an aware datetime, or return None if it is invalid."""
    try:
        return aware(dt.datetime.fromisoformat(text.replace(" UTC", "+00:00")), dt.UTC)
    except ValueError:
        return None
