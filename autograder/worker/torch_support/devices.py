"""Place tensors and modules on the CPU, a GPU or the fake GPU, and find tensors in values."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn

from . import fake_device
from .fake_device import ClaimedTensor

CPU, FAKE = "cpu", "fake-gpu"


def torch_device(device: str) -> torch.device:
    return fake_device.device() if device == FAKE else torch.device(device)


def generator_check(device: str, arguments: Iterable[Any]) -> AbstractContextManager[Any]:
    """Check the device of generators if one is passed in a call on the fake GPU."""
    drawn = device == FAKE and any(isinstance(x, torch.Generator) for x in arguments)
    return fake_device.GeneratorCheck() if drawn else nullcontext()


def place(x: torch.Tensor, device: str) -> torch.Tensor:
    """Copy a CPU tensor to the device with the same strides."""
    if device == "cpu":
        return x
    if device == FAKE:
        return fake_device.ClaimedTensor(x)  # no copy, because each call decodes its own tensors
    moved = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
    if all(s or n < 2 for n, s in zip(x.shape, x.stride(), strict=True)):
        return moved.copy_(x)
    return x.to(device)  # expanded inputs cannot be written to


def start_gpu(max_bytes: int) -> None:
    """Initialise all CUDA devices and limit torch's memory on each of them to `max_bytes`.

    The limit lets submissions share a device, but code that removes the limit can use the whole
    device. Raises RuntimeError if torch supports CUDA but finds no GPU.
    """
    if torch.version.cuda:
        if not torch.cuda.device_count():
            raise RuntimeError("no GPU answers within the sandbox: is its driver loaded?")
        torch.cuda.init()  # afterwards, CUDA counts the devices and shows one part of a divided GPU
    for number in range(torch.cuda.device_count()):
        total = torch.cuda.get_device_properties(number).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, max_bytes / total), number)
    if torch.cuda.is_initialized():
        torch.zeros(1, device="cuda")  # creates the context outside of the tests' time limits
        finish("cuda")
    compute_exactly()


def compute_exactly() -> None:
    """Make torch compute sums and products in the full precision of their dtype.

    Otherwise a GPU may use TF32 for float32 and accumulate float16 in half precision, so that a
    correct result would exceed the tolerance of its dtype.
    """
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def finish(device: str) -> None:
    """Wait for a GPU's work on all streams, so that its errors are raised in this call."""
    if device == "cuda":
        torch.cuda.synchronize()


def is_lost(device: str) -> bool:
    """Return True if a GPU no longer works in this process, as after an illegal memory access."""
    try:
        finish(device)
    except RuntimeError:
        return True
    return False


def move_module(module: nn.Module, device: str, dtype: torch.dtype | None) -> None:
    """Move and cast a module, and tie weights again that `module.to` separates on the fake GPU."""
    owners: dict[int, list[tuple[nn.Module, str]]] = {}
    for part in module.modules():
        for name, tensor in (*part._parameters.items(), *part._buffers.items()):
            if tensor is not None:
                owners.setdefault(id(tensor), []).append((part, name))
    module.to(device=torch_device(device), dtype=dtype)
    for (first, first_name), *others in owners.values():
        for part, name in others:
            setattr(part, name, getattr(first, first_name))


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested tuples, lists and dicts, from left to right."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors_in(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors_in(v)]
    return []


def bare(x: torch.Tensor) -> torch.Tensor:
    """Return the CPU tensor with a fake GPU tensor's data; return other tensors unchanged."""
    return x.elem if isinstance(x, ClaimedTensor) else x
