"""The devices that hidden tests run on: one line of `AXES` each, and how one tells that it is here.

Nothing here imports torch: that takes seconds, and it would initialise CUDA in this process, which
a later fork must not inherit.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .errors import KitError


@dataclass(frozen=True)
class Axis:
    """A device: its name here, torch's name for it, and what it cannot do."""

    name: str
    torch: str
    here: Callable[[], bool]
    what: str  # what is missing where it is not here
    claimed: bool = False  # it is simulated, and its tensors lie on the CPU
    lacks: tuple[str, ...] = ()  # float types that it does not have


def has_cuda() -> bool:
    """Return whether a CUDA device is at hand, and a torch that can use it."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1") or not os.path.exists("/dev/nvidiactl"):
        return False
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return False
    return bool(runpy.run_path(str(Path(torch.origin).with_name("version.py"))).get("cuda"))


def has_mps() -> bool:
    """Return whether this is a Mac with a GPU of its own, which every torch there can use."""
    return platform.system() == "Darwin" and platform.machine() == "arm64"


AXES = {
    axis.name: axis
    for axis in (
        Axis("cpu", "cpu", lambda: True, ""),
        Axis("cuda", "cuda", has_cuda, "no CUDA device"),
        Axis("mps", "mps", has_mps, "no GPU of a Mac", lacks=("float64",)),
        Axis("fake-gpu", "fake_gpu", lambda: True, "", claimed=True),
    )
}
CPU, FAKE_GPU = "cpu", "fake-gpu"
CHOICES = ("auto", *AXES)
CHOICES_IN_WORDS = f"{', '.join(CHOICES[:-1])} or {CHOICES[-1]}"


def axis(choice: str = "auto", *, here: bool = True) -> tuple[str, ...]:
    """The device axis for a choice on the command line: always the CPU first.

    Not `here` but on a cluster, only the workers know which devices there are.
    """
    if choice not in CHOICES:
        raise KitError(f"no device {choice!r}: choose one of {', '.join(CHOICES)}")
    if choice == CPU:
        return (CPU,)
    if choice == "auto":
        real = (a.name for a in AXES.values() if not a.claimed and a.name != CPU)
        return (CPU, next((name for name in real if here and AXES[name].here()), FAKE_GPU))
    if here and not AXES[choice].here():
        raise KitError(
            f"{AXES[choice].what} was found here: use --device auto, {CPU} or {FAKE_GPU}"
        )
    return (CPU, choice)
