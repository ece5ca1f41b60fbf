"""Which devices the hidden tests run on here."""

from __future__ import annotations

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
    """Whether a CUDA device is at hand."""
    import os

    # Asking torch would initialise CUDA in this process, which a later fork must not inherit.
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return False
    import torch

    return bool(torch.version.cuda) and os.path.exists("/dev/nvidiactl")
