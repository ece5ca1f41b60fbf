"""The figures of the week 7 lesson, drawn from the solution, readable in black and white.

The race is drawn from `timings.csv`, so that the same figure comes out on every machine. Running
this file (`python figures.py`) measures again on the machine at hand, on a CUDA device if there
is one, and writes that file.
"""

import csv
import importlib.util
import math
import platform
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flash as week
import torch
from drawings import tile_walk
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch.nn import functional as F
from torch.utils import benchmark
from torch.utils._python_dispatch import TorchDispatchMode

MIB = 2**20
HERE = Path(__file__).parent
TIMINGS = HERE / "timings.csv"
LSH = HERE.parent / "week04_lsh" / "lsh.py"
STYLES = {"full": "k--o", "LSH, 4 rounds": "k-.D", "tiled": "k-^", "torch's own": "k:s"}



def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {
        "tile_walk": tile_walk(),
        "online": online(),
        "tiles": tiles(),
        "exactness": exactness(),
        "memory": memory(),
        "race": race(),
    }


def online() -> Figure:
    """Maximum and sum while forty blocks of growing numbers come by."""
    generator = torch.Generator().manual_seed(4)
    rising = torch.linspace(0, 3, 40).unsqueeze(-1)
    blocks = list(torch.randn(40, 8, generator=generator).double() + rising)
    history = [week.online_softmax(blocks[:count]) for count in range(1, 41)]
    maxima, sums = (torch.stack(numbers) for numbers in zip(*history, strict=True))
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    axes = figure.subplots()
    seen = range(1, 41)
    axes.step(seen, maxima.numpy(), "k-", where="post", label="running maximum")
    axes.step(seen, sums.numpy(), "k:", where="post", label="running sum")
    axes.plot(seen, (maxima + sums.log()).numpy(), "k.-", label="maximum + log(sum)")
    axes.set(title="Online softmax", xlabel="blocks seen", ylabel="value")
    axes.legend()
    return figure


def tiles() -> Figure:
    """What the queries see of each block of keys, with the causal mask."""
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    sizes = ((12, 12, 4), (12, 7, 4), (6, 12, 4))
    for axes, (n, m, block) in zip(figure.subplots(1, 3), sizes, strict=True):
        draw_tiles(axes, n, m, block)
    figure.suptitle("Causal attention in blocks of keys (grey: visible)")
    return figure


def draw_tiles(axes: Axes, n: int, m: int, block: int) -> None:
    """The visible part of n x m scores, and how many queries see none, some or all of a block."""
    seen = torch.ones(n, m).tril()
    axes.imshow(seen.numpy(), cmap="Greys", vmin=0, vmax=2, origin="upper")
    for start in range(0, m, block):
        axes.axvline(start - 0.5, color="black", linewidth=1.5)
        part = seen[:, start : start + block].bool()
        fully, none = int(part.all(-1).sum()), int((~part.any(-1)).sum())
        text = f"{none} rows:\nnone\n\n{n - fully - none} rows:\nsome\n\n{fully} rows:\nall"
        middle = start + (part.shape[1] - 1) / 2
        axes.text(middle, n + 0.2, text, ha="center", va="top", fontsize=9)
    axes.set(title=f"n = {n}, m = {m}, blocks of {block}", xlabel="key", ylabel="query")
    axes.set_xticks(range(0, m, 2))
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")


def exactness() -> Figure:
    """The largest error in float32, over the block size."""
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(1, length, 64, generator=generator) for length in (64, 1024, 1024))
    truth = full_attention(q.double(), k.double(), v.double())
    sizes = [1, 4, 16, 64, 256, 1024]
    tiled = [float((week.tiled_attention(q, k, v, b)[0] - truth).abs().max()) for b in sizes]
    figure = Figure(figsize=(6.5, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.loglog(sizes, tiled, "k-o", base=2, label="tiled")
    ordinary = float((full_attention(q, k, v) - truth).abs().max())
    axes.axhline(ordinary, color="black", linestyle="--", label="full")
    axes.set_yscale("log", base=10)
    axes.set(
        title="1024 keys, float32 against float64",
        xlabel="block size (keys)",
        ylabel="largest error",
        ylim=(1e-8, 1e-5),
    )
    axes.legend()
    return figure


def memory() -> Figure:
    """The largest tensor, and what is kept for the backward pass, over the length."""
    lengths = [256, 512, 1024, 2048]
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for run, style, name in (
        (full_attention, "k--o", "full"),
        (week.tiled_attention, "k:s", "tiled, by autograd"),
        (lambda *qkv: week.FlashAttention.apply(*qkv, 64, False), "k-^", "FlashAttention"),
    ):
        largest = [largest_mebibytes(run, *random_qkv(n, "cpu", True)) for n in lengths]
        kept = [kept_mebibytes(run, *random_qkv(n, "cpu", True)) for n in lengths]
        left.loglog(lengths, largest, style, base=2, label=name, fillstyle="none")
        right.loglog(lengths, kept, style, base=2, label=name, fillstyle="none")
    left.set(title="Largest tensor, forward and backward", ylabel="memory (MiB)")
    right.set(title="Kept for the backward pass", ylabel="memory (MiB)")
    for axes in (left, right):
        axes.set_xlabel("length n (positions)")
        axes.grid(alpha=0.3)
    right.legend()
    figure.suptitle("One head of size 64, float32")
    return figure


class LargestTensor(TorchDispatchMode):
    """Remembers how many elements the largest tensor had that was made inside the `with`."""

    elements = 0

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, torch.Tensor) and not operation.is_view:
                self.elements = max(self.elements, tensor.numel())
        return result


def largest_mebibytes(run: Callable[..., Any], *inputs: torch.Tensor) -> float:
    """Size of the largest tensor made in a forward and a backward pass, in float32."""
    with LargestTensor() as mode:
        output = run(*inputs)
        output = output[0] if isinstance(output, tuple) else output
        output.sum().backward()
    return mode.elements * 4 / MIB


def kept_mebibytes(run: Callable[..., Any], *inputs: torch.Tensor) -> float:
    """Memory that autograd holds between the forward and the backward pass."""
    storages: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        output = run(*inputs)
    del output
    return sum(storages.values()) / MIB


def race() -> Figure:
    """Time over length, as it was measured into timings.csv."""
    with TIMINGS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    curves: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for row in rows:
        curves[row["passes"], row["kind"]].append((int(row["length"]), float(row["milliseconds"])))
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    panels = ("forward", "forward and backward")
    for axes, passes in zip(figure.subplots(1, 2, sharey=True), panels, strict=True):
        for kind, style in STYLES.items():
            if points := curves.get((passes, kind)):
                lengths, times = zip(*points, strict=True)
                axes.loglog(lengths, times, style, base=2, label=kind, fillstyle="none")
        axes.set_yscale("log", base=10)
        axes.set(title=passes, xlabel="length n (positions)")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("time (ms)")
    figure.axes[0].legend()
    figure.suptitle(f"One head of size 64, {rows[0]['device']}")
    return figure


def measure() -> None:
    """Time every kind of attention on the machine at hand and write timings.csv."""
    cuda = torch.cuda.is_available()
    device = "cuda" if cuda else "cpu"
    lengths = [512 * 2**power for power in range(6 if cuda else 5)]
    shown = torch.cuda.get_device_name() if cuda else f"one thread of {platform.processor() or 'a CPU'}"
    with TIMINGS.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["device", "passes", "kind", "length", "milliseconds"])
        for kind, forward, differentiated in competitors():
            for n in lengths:
                with torch.no_grad():
                    there = milliseconds(forward, *random_qkv(n, device, False))
                back = milliseconds(there_and_back(differentiated), *random_qkv(n, device, True))
                out.writerow([shown, "forward", kind, n, f"{there:.4g}"])
                out.writerow([shown, "forward and backward", kind, n, f"{back:.4g}"])


def competitors() -> list[tuple[str, Callable[..., Any], Callable[..., Any]]]:
    """Name, the function to time forward, and the one to time with its backward pass."""
    torchs_own = F.scaled_dot_product_attention
    runners = [
        ("full", full_attention, full_attention),
        (
            "tiled",
            lambda *qkv: week.tiled_attention(*qkv, 128)[0],
            lambda *qkv: week.FlashAttention.apply(*qkv, 128, False),
        ),
        ("torch's own", torchs_own, torchs_own),
    ]
    if LSH.is_file():
        hashed = lsh_attention()
        runners.insert(1, ("LSH, 4 rounds", hashed, hashed))
    return runners


def lsh_attention() -> Callable[..., torch.Tensor]:
    """Week 4's attention with four rounds of hashing and chunks of 64."""
    spec = importlib.util.spec_from_file_location("lsh_of_week_4", LSH)
    assert spec is not None
    assert spec.loader is not None
    lsh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lsh)

    def hashed(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        generator = torch.Generator().manual_seed(0)
        rotations = torch.randn(4, q.shape[-1], q.shape[-2] // 128, generator=generator)
        return lsh.lsh_attention(q, v, rotations.to(q.device), 64)

    return hashed


def there_and_back(run: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """The run with its gradients (LSH attention has no keys of its own)."""
    return lambda *qkv: torch.autograd.grad(run(*qkv).sum(), qkv, allow_unused=True)


def milliseconds(run: Callable[..., Any], *inputs: torch.Tensor) -> float:
    """The fastest of several runs in one thread.

    On a CPU processor time is taken, in which other programs have no part; on a GPU the clock,
    once the work has ended.
    """
    clock = benchmark.timer if inputs[0].is_cuda else time.process_time
    timer = benchmark.Timer("run(*inputs)", globals={"run": run, "inputs": inputs}, timer=clock)
    return 1e3 * min(timer.blocked_autorange(min_run_time=1.0).times)


def random_qkv(n: int, device: str, requires_grad: bool) -> list[torch.Tensor]:
    """Queries, keys and values of one head, (1, 1, n, 64)."""
    generator = torch.Generator().manual_seed(n)
    drawn = [torch.randn(1, 1, n, 64, generator=generator).to(device) for _ in range(3)]
    return [x.requires_grad_(requires_grad) for x in drawn]


def full_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Softmax of all scores, times the values."""
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


if __name__ == "__main__":
    measure()
