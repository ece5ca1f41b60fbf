"""Where tensors live: the CPU, CUDA, or a GPU that is only claimed (`claimed.py`)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from . import fake_device

CPU, FAKE = "cpu", "fake-gpu"


def torch_device(device: str) -> torch.device:
    return fake_device.device() if device == FAKE else torch.device(device)


def place(x: torch.Tensor, device: str) -> torch.Tensor:
    """A CPU tensor on the device; strides are kept."""
    if device == "cpu":
        return x
    if device == FAKE:
        return fake_device.ClaimedTensor(x)  # every call decodes its tensors anew
    moved = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
    if all(s or n < 2 for n, s in zip(x.shape, x.stride(), strict=True)):
        return moved.copy_(x)
    return x.to(device)  # expanded inputs cannot be written to


def start_gpu(most_bytes: int) -> None:
    """Start every CUDA device and bound what torch keeps on each: submissions share them.

    Honest code keeps to it. Code that lifts the bound is still held by the device's own size. A
    torch that could use a GPU and finds none is a fault of ours, and no mistake of a submission.
    """
    if torch.version.cuda:
        if not torch.cuda.device_count():
            raise RuntimeError("no GPU answers within the sandbox: is its driver loaded?")
        torch.cuda.init()  # from now on CUDA counts: of a divided GPU it shows one part alone
    for number in range(torch.cuda.device_count()):
        total = torch.cuda.get_device_properties(number).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, most_bytes / total), number)
    if torch.cuda.is_initialized():
        torch.zeros(1, device="cuda")  # its context is made now, and not within a test's time
        finish("cuda")
    compute_exactly()


def compute_exactly() -> None:
    """Sums and products in the precision of their type, whatever a submission asked for before.

    A GPU may take TF32 for float32, and half precision for sums of halves: a right function would
    then be further from the reference than its type excuses.
    """
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def finish(device: str) -> None:
    """Wait until a GPU has done what it was asked for, on whatever stream.

    It is asked, and works later: what fails there belongs to the call that asked for it.
    """
    if device == "cuda":
        torch.cuda.synchronize()


def is_lost(device: str) -> bool:
    """Return whether a GPU answers this process no more, as after an access out of bounds."""
    try:
        finish(device)
    except RuntimeError:
        return True
    return False


def random_states() -> list[torch.Tensor]:
    """The states of the GPUs' own generators, where a GPU is used."""
    return torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []


def move_module(module: nn.Module, device: str, dtype: torch.dtype | None) -> None:
    """What `module.to(device, dtype)` does; on the claimed device torch would part tied weights."""
    if device != FAKE:
        module.to(device=torch_device(device), dtype=dtype)
        return
    moved: dict[int, Any] = {}

    def move(tensor: torch.Tensor) -> torch.Tensor:
        target = dtype if tensor.is_floating_point() else None
        return tensor.detach().to(device=torch_device(device), dtype=target)

    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                key = id(parameter)
                if key not in moved:
                    moved[key] = nn.Parameter(move(parameter), parameter.requires_grad)
                part._parameters[name] = moved[key]
        for name, buffer in part._buffers.items():
            if buffer is not None:
                moved.setdefault(id(buffer), move(buffer))
                part._buffers[name] = moved[id(buffer)]


# `reshape` chooses among these by the device.
_VIEWS = {f"{kind}Backward0" for kind in ("View", "UnsafeView", "ReshapeAlias", "Clone")}


class Graph:
    """The backward pass of some results, looked at and not run."""

    def __init__(self, results: list[torch.Tensor]) -> None:
        self._nodes: set[Any] = set()
        waiting = [y.grad_fn for y in results]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in self._nodes:
                self._nodes.add(node)
                waiting += [earlier for earlier, _ in node.next_functions]
        # an input that comes back as it was is a leaf without a node
        leaves = [*results, *(getattr(node, "variable", None) for node in self._nodes)]
        self._leaves = set(map(id, leaves))

    @property
    def own_formulas(self) -> bool:
        """Return whether a `torch.autograd.Function` written in Python takes part."""
        return any(
            isinstance(node, torch.autograd.function.BackwardCFunction) for node in self._nodes
        )

    @property
    def accumulates(self) -> bool:
        """Return whether a part is computed again by a backward pass of its own.

        torch.utils.checkpoint does so unless told otherwise, and then knows `backward` alone.
        """
        return any(type(node).__name__ == "CheckpointFunctionBackward" for node in self._nodes)

    @property
    def formulas(self) -> tuple[str, ...]:
        """The formulas that take part, as often as they do; which kind of view is left out."""
        names = (type(node).__name__ for node in self._nodes)
        return tuple(sorted(name for name in names if name not in _VIEWS))

    def reaches(self, leaf: torch.Tensor) -> bool:
        return id(leaf) in self._leaves


def accumulated(total: torch.Tensor, wanted: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """The gradients that `total.backward()` leaves, which are taken away again."""
    leaves = {id(x): x for x in (*wanted, *_leaves_of(total))}.values()
    before = [(x, x.grad) for x in leaves]
    try:
        for x, _ in before:
            x.grad = None
        total.backward()
        return [x.grad for x in wanted]
    finally:
        for x, gradient in before:
            x.grad = gradient


def _leaves_of(total: torch.Tensor) -> list[torch.Tensor]:
    waiting, seen, found = [total.grad_fn], set[Any](), list[torch.Tensor]()
    while waiting:
        node: Any = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [earlier for earlier, _ in node.next_functions]
            if (leaf := getattr(node, "variable", None)) is not None:
                found.append(leaf)
    return found
