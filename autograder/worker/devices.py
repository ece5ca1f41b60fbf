"""Where tensors live: the CPU, CUDA, or a GPU that is only claimed.

`fake-gpu` finds device mistakes on a machine without a GPU: under torch's FakeTensorMode tensors
have shapes, dtypes and devices but no data, and mixing two devices raises torch's own error. The
claimed device is registered from Python, because fake `cuda` tensors can be neither sliced nor
assigned to without a CUDA build.

The one private call into torch of the whole project is here:
`torch.utils.backend_registration._setup_privateuseone_for_python_backend`.
"""

from __future__ import annotations

import dis
import logging
from contextlib import nullcontext
from functools import cache
from typing import Any

import torch
from torch import nn

from .values import FAKE_DEVICE

FAKE = "fake-gpu"


@cache
def claim_device() -> None:
    """Register the claimed device. Before the first backward: autograd counts devices only once."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend(FAKE_DEVICE)
    # torch logs what it raises there; the exception is all that is wanted.
    logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)


@cache
def fake_mode() -> Any:
    """The process-wide FakeTensorMode, with the claimed device registered and warmed up."""
    claim_device()
    from torch._subclasses.fake_tensor import FakeTensorMode

    class OnlyMode(FakeTensorMode):
        def __deepcopy__(self, memo: object) -> OnlyMode:
            """A copied tensor stays in this mode.

            torch would copy the mode with it, down to its weak references into memory: each is
            then given back twice, and the process dies over whatever comes next.
            """
            return self

    mode = OnlyMode(allow_non_fake_inputs=True)
    with mode:  # the first use imports a great deal
        _use_operators(torch.empty(2, 2, device=FAKE_DEVICE))
    return mode


def _use_operators(x: torch.Tensor) -> None:
    """What every submission would otherwise look up for itself: how common operators are faked."""
    row = x.sum(-1, keepdim=True)
    seen = torch.isfinite(x) & (x > 0) | (x == row) | ~(x < 1) | (x != x) | (x >= 0) | (x <= 0)
    for y in (x - x.amax(-1, keepdim=True), x + row, x * row, x / row, -x, x @ x.T, x.double()):
        torch.where(seen, y, x).masked_fill(seen, -torch.inf)
    for f in ("exp", "log", "sqrt", "abs", "tanh", "sigmoid", "relu", "square", "isnan", "isinf"):
        getattr(torch, f)(x)
    torch.maximum(x, row).clamp(min=0.0).max(-1), x.min(-1), x.argmax(-1), x.sort(-1), x.cumsum(-1)
    (
        x.softmax(-1),
        x.log_softmax(-1),
        torch.logsumexp(x, -1),
        x.mean(-1),
        x.var(-1),
        x.pow(2),
        x**0.5,
    )
    (
        torch.cat([x, x]),
        torch.stack([x, x]),
        x[0],
        x[:, :1],
        x[None],
        x[seen.long()],
        x.T.contiguous(),
    )
    x.reshape(4).view(2, 2).expand(3, 2, 2).transpose(-2, -1).unsqueeze(0).squeeze(
        0
    ).flatten().clone()
    torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 0.5), torch.empty_like(x)
    seen = torch.arange(2, device=x.device)[:, None] >= torch.arange(2, device=x.device)
    torch.einsum("ij,kj->ik", x, x), torch.bmm(x[None], x[None]), x.tril(), x.triu(), seen.any(-1)
    (
        x.half().float().to(torch.bfloat16),
        x.detach(),
        seen.all(),
        x.new_zeros(2),
        x.split(1),
        x.chunk(2),
    )
    # what a backward pass computes; the pass itself would start a thread
    x.expand(2, 2, 2).sum(0), x.mul(x).neg().add(x), x.eq(row).sum(-1, keepdim=True), x.div(2.0)


def mode_for(device: str) -> Any:
    """The context in which calls on this device run."""
    return fake_mode() if device == FAKE else nullcontext()


def torch_device(device: str) -> torch.device:
    return torch.device(FAKE_DEVICE if device == FAKE else device)


def place(x: torch.Tensor, device: str) -> torch.Tensor:
    """A CPU tensor's copy on the device; strides are kept."""
    if device == "cpu":
        return x
    if device == FAKE:
        from torch._subclasses.fake_tensor import FakeTensor

        form = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
        return FakeTensor(fake_mode(), form, torch_device(device))
    moved = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
    if all(s or n < 2 for n, s in zip(x.shape, x.stride(), strict=True)):
        return moved.copy_(x)
    return x.to(device)  # expanded inputs cannot be written to


def start_gpu(most_bytes: int) -> None:
    """Start every CUDA device and bound what torch keeps on each: submissions share them.

    Honest code keeps to it. Code that lifts the bound is still held by the device's own size.
    """
    for number in range(torch.cuda.device_count()):
        total = torch.cuda.get_device_properties(number).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, most_bytes / total), number)


def move_module(module: nn.Module, device: str, dtype: torch.dtype | None) -> None:
    """What `module.to(device, dtype)` does; by hand on the fake device, where torch's own fails."""
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
        """Whether a `torch.autograd.Function` written in Python takes part."""
        return any(
            isinstance(node, torch.autograd.function.BackwardCFunction) for node in self._nodes
        )

    def reaches(self, leaf: torch.Tensor) -> bool:
        return id(leaf) in self._leaves


def is_mismatch(error: BaseException) -> bool:
    """Whether the error says that two devices were mixed."""
    name = type(error).__name__
    text = str(error)
    return name == "FakeTensorDeviceMismatchError" or "on the same device" in text


def _raised_by_hand(error: BaseException) -> bool:
    """Whether a `raise` outside of torch made it: then the code decided so, and not the device."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or "torch" in trace.tb_frame.f_globals.get("__name__", "").split(".")[:1]:
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def is_limitation(error: BaseException) -> bool:
    """Whether an error on the fake device may come from the device being fake.

    Fair first: what torch raises there, other than a mix of devices, would have shown on the CPU
    too if it were the student's mistake.
    """
    if is_mismatch(error) or _raised_by_hand(error):
        return False
    text = str(error)
    if isinstance(error, NotImplementedError):
        return any(sign in text for sign in ("aten::", "backend", "PrivateUse1"))
    return isinstance(error, RuntimeError) or "FakeTensor" in text or "tensor subclass" in text
