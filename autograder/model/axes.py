"""Which devices the hidden tests run on here."""

from __future__ import annotations

import importlib.util
import os
import runpy
from pathlib import Path

from .errors import KitError

CHOICES = ("auto", "cpu", "cuda", "fake-gpu")


def axis(choice: str = "auto", *, here: bool = True) -> tuple[str, ...]:
    """The device axis for a choice on the command line: always the CPU first.

    Not `here` but on a cluster, only the workers know whether there is CUDA.
    """
    if choice not in CHOICES:
        raise KitError(f"no device {choice!r}: choose one of {', '.join(CHOICES)}")
    if choice == "cpu":
        return ("cpu",)
    if choice == "auto":
        return ("cpu", "cuda" if here and has_cuda() else "fake-gpu")
    if choice == "cuda" and here and not has_cuda():
        raise KitError("no CUDA device was found here: use --device auto, cpu or fake-gpu")
    return ("cpu", choice)


def has_cuda() -> bool:
    """Whether a CUDA device is at hand, and a torch that can use it.

    torch is not asked: importing it takes seconds, and it would initialise CUDA in this process,
    which a later fork must not inherit.
    """
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "" or not os.path.exists("/dev/nvidiactl"):
        return False
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return False
    return bool(runpy.run_path(str(Path(torch.origin).with_name("version.py"))).get("cuda"))
