"""Pack files into a reproducible zip, and compute the digest on the receipt of a submission.

The digest is that of `sha256sum`-like lines, so anyone can compute it from the files.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping

_EPOCH = (1980, 1, 1, 0, 0, 0)


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return the files as a zip; equal files give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return stream.getvalue()


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 digest of the lines `sha256  name`, sorted by name."""
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
