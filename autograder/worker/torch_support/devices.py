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
    """Return a GeneratorCheck if a call on the fake GPU has a generator, else a null context."""
    drawn = device == FAKE and any(isinstance(x, torch.Generator) for x in arguments)
    return fake_device.GeneratorCheck() if drawn else nullcontext()


def place(x: torch.Tensor, device: str) -> torch.Tensor:
    """Move a CPU tensor to a device; keep its strides unless it is an expanded tensor."""
    if device == "cpu":
        return x
    if device == FAKE:
        return fake_device.ClaimedTensor(x)  # no copy, because each call decodes its own tensors
    moved = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
    if all(s or n < 2 for n, s in zip(x.shape, x.stride(), strict=True)):
        return moved.copy_(x)
    return x.to(device)  # `copy_` cannot write to an expanded tensor


def start_gpu(max_bytes: int) -> None:
    """Initialise CUDA and limit torch's memory on each GPU to `max_bytes`.

    The limit allows honest submissions to share a GPU; a submission can remove the limit and use
    the whole GPU. Raises RuntimeError if torch supports CUDA but finds no GPU.
    """
    if torch.version.cuda:
        if not torch.cuda.device_count():
            raise RuntimeError("no GPU answers within the sandbox: is its driver loaded?")
        torch.cuda.init()  # then `device_count` asks CUDA, which sees one instance of a MIG GPU
    for number in range(torch.cuda.device_count()):
        total = torch.cuda.get_device_properties(number).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, max_bytes / total), number)
    if torch.cuda.is_initialized():
        torch.zeros(1, device="cuda")  # create the CUDA context now, not within a test's time limit
        finish("cuda")
    compute_exactly()


def compute_exactly() -> None:
    """Make torch compute matrix products in the full precision of their dtype.

    Otherwise a GPU may use TF32 for float32 and accumulate float16 in half precision, and the error
    of a correct result could exceed the tolerance for its dtype.
    """
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def finish(device: str) -> None:
    """Wait until a GPU is idle, so that its errors are raised now; skip other devices."""
    if device == "cuda":
        torch.cuda.synchronize()


def is_lost(device: str) -> bool:
    """Return True if a GPU no longer works in this process, e.g. after an illegal memory access."""
    try:
        finish(device)
    except RuntimeError:
        return True
    return False


def move_module(module: nn.Module, device: str, dtype: torch.dtype | None) -> None:
    """Move and cast a module, and restore tied weights, which `to` separates on the fake GPU."""
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
    """Return the CPU tensor inside a fake GPU tensor; return any other tensor unchanged."""
    return x.elem if isinstance(x, ClaimedTensor) else x
