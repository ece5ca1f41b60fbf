"""What is handed in as one parcel, the same at both ends: the zip, and the digest on a receipt.

The digest is that of a list like `sha256sum`'s, so that anybody can make it from the files.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping

_EPOCH = (1980, 1, 1, 0, 0, 0)


def packed(files: Mapping[str, bytes]) -> bytes:
    """The files as a zip; the same files give the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return stream.getvalue()


def digest_of(files: Mapping[str, bytes]) -> str:
    """The digest of the lines `sha256  name`, in the order of the names."""
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
