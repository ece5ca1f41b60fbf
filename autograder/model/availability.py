"""Find out which optional libraries and devices this machine has.

`AXES` lists the devices on which hidden tests can run. This module does not import torch, because
that takes seconds, and asking torch for devices can initialise CUDA, which forks cannot inherit.
"""

import importlib.util
import os
import platform
import runpy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from .errors import KitError

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # names of this machine for itself
Library = Literal["torch", "numpy", "matplotlib"]
LIBRARIES: tuple[Library, ...] = get_args(Library)  # what students may import, by default
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"  # pip's index of torch without CUDA
EXTRAS = {
    "cluster": ("distributed",),
    "keras": ("keras",),
    "text": ("transformers", "tokenizers"),
    "triton": ("triton",),
}


def importable(libraries: Iterable[str], extras: Iterable[str]) -> tuple[str, ...]:
    """Return the libraries that students may import, including those of the extras."""
    return (*libraries, *(module for extra in extras for module in EXTRAS.get(extra, ())))


@cache
def installed(extra: str) -> bool:
    """Return True if all libraries of an extra are installed. `extra` may also name a library."""
    modules = EXTRAS.get(extra, (extra,))
    return all(importlib.util.find_spec(m) is not None for m in modules)


def is_missing(extras: Iterable[str | None], error: str, message: str) -> bool:
    """Return True if an import failed because a library of one of these extras is not installed.

    error, message: the type and the message of the exception that the import raised
    """
    missing = (x for x in extras if x is not None and not installed(x))
    names = {name for x in missing for name in EXTRAS.get(x, (x,))}
    return error == "ModuleNotFoundError" and any(f"'{name}'" in message for name in names)


def missing_in_words(extra: str) -> str:
    """Return a message that names a missing extra and the command that installs it."""
    return (
        f"the extra {extra!r}, which is not installed here: "
        f"pip install {' '.join(EXTRAS.get(extra, (extra,)))}"
    )


@dataclass(frozen=True)
class Axis:
    """A device on which hidden tests can run. `torch`: the name of this device type in torch."""

    name: str
    torch: str
    is_available: Callable[[], bool]
    missing: str  # the start of the error message if the device is not available
    claimed: bool = False  # True for a simulated device, whose tensors are on the CPU
    lacks: tuple[str, ...] = ()  # float types that the device does not support


def has_cuda() -> bool:
    """Return True if a CUDA device is visible and the installed torch was built with CUDA."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1") or not os.path.exists("/dev/nvidiactl"):
        return False
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return False
    return bool(runpy.run_path(str(Path(torch.origin).with_name("version.py"))).get("cuda"))


_HAS_MPS = (platform.system(), platform.machine()) == ("Darwin", "arm64")
AXES = {
    axis.name: axis
    for axis in (
        Axis("cpu", "cpu", lambda: True, ""),
        Axis("cuda", "cuda", has_cuda, "no CUDA device"),
        Axis("mps", "mps", lambda: _HAS_MPS, "no Apple GPU", lacks=("float64",)),
        Axis("fake-gpu", "fake_gpu", lambda: True, "", claimed=True),
    )
}
CPU, FAKE_GPU = "cpu", "fake-gpu"
CHOICES = ("auto", *AXES)
CHOICES_IN_WORDS = f"{', '.join(CHOICES[:-1])} or {CHOICES[-1]}"


def axis(choice: str = "auto", *, here: bool = True) -> tuple[str, ...]:
    """Return the devices for a value of `--device`, the CPU first.

    With `auto`, the second device is an available GPU or, if there is none, the simulated GPU.
    here: False if the tests run on a cluster, where only the workers know their devices
    Raise KitError if the device is unknown, or not available on this machine.
    """
    if choice not in CHOICES:
        raise KitError(f"no device {choice!r}: choose one of {', '.join(CHOICES)}")
    if choice == CPU:
        return (CPU,)
    if choice == "auto":
        real = (a.name for a in AXES.values() if not a.claimed and a.name != CPU)
        return (CPU, next((name for name in real if here and AXES[name].is_available()), FAKE_GPU))
    if here and not AXES[choice].is_available():
        raise KitError(
            f"{AXES[choice].missing} was found here: use --device auto, {CPU} or {FAKE_GPU}"
        )
    return (CPU, choice)
