"""A seccomp filter as the kernel takes it."""

from __future__ import annotations

import tempfile
from typing import Any


def exported(filter_: Any) -> bytes:
    """libseccomp's filter as a BPF program."""
    with tempfile.TemporaryFile() as file:
        filter_.export_bpf(file)
        file.seek(0)
        return file.read()
