"""The figures of the week 6 lesson, drawn from the solution, readable in black and white."""

import math
from collections.abc import Callable
from typing import Any

import beyond
import torch
from matplotlib.figure import Figure
from torch.utils._python_dispatch import TorchDispatchMode

MAPS = {"softmax": torch.softmax, "entmax15": beyond.entmax15, "sparsemax": beyond.sparsemax}
LINES = {"softmax": "-", "entmax15": "--", "sparsemax": ":"}
MARKERS = {"softmax": "o", "entmax15": "s", "sparsemax": "^"}


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {
        "sparse_maps": sparse_maps(),
        "table_rows": table_rows(),
        "turning_pairs": turning_pairs(),
        "feature_error": feature_error(),
        "largest_tensor": largest_tensor(),
    }


def sparse_maps() -> Figure:
    """Softmax, entmax and sparsemax of two entries, and of a row of twelve."""
    figure = Figure(figsize=(10.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    t = torch.linspace(-3.5, 3.5, 281)
    pairs = torch.stack([t, torch.zeros_like(t)], dim=-1)
    for name, function in MAPS.items():
        left.plot(t, function(pairs, -1)[:, 0], f"k{LINES[name]}", label=name)
    left.set(
        title="Two entries: how much the first one gets",
        xlabel="first entry minus second entry",
        ylabel="probability of the first entry",
    )
    left.grid(alpha=0.3)
    left.legend()
    row = 1.2 * torch.randn(12, generator=torch.Generator().manual_seed(1)).sort(descending=True)[0]
    for step, (name, function) in enumerate(MAPS.items()):
        places = torch.arange(1, 13) + 0.22 * (step - 1)
        p = function(row, -1)
        right.vlines(places, 0, p, colors="0.6")
        filled = "full" if name == "softmax" else "none"
        right.plot(places, p, f"k{MARKERS[name]}", fillstyle=filled, markersize=5, label=name)
    right.set(
        title="Twelve entries, largest first",
        xlabel="rank of the entry",
        ylabel="probability",
        xticks=range(1, 13),
    )
    right.legend()
    return figure


def table_rows() -> Figure:
    """Draw the row of the table that each pair of query and key uses."""
    n, m, far = 7, 9, 2
    row = (torch.arange(m) - torch.arange(n).unsqueeze(-1)).clamp(-far, far) + far
    figure = Figure(figsize=(6.2, 4.4), layout="constrained")
    axes = figure.subplots()
    axes.imshow(row.numpy(), cmap="Greys", vmin=-1, vmax=8)
    for i in range(n):
        for j in range(m):
            axes.text(j, i, int(row[i, j]), ha="center", va="center")
    axes.set(
        title="Row of the table for each pair (D = 2: rows 0 to 4)",
        xlabel="key j (place in the sequence)",
        ylabel="query i (place in the sequence)",
        xticks=range(m),
        yticks=range(n),
    )
    return figure


def turning_pairs() -> Figure:
    """A fast and a slow pair of one vector at eight positions, and products of turned vectors."""
    figure = Figure(figsize=(10.5, 3.8), layout="constrained")
    panels = figure.subplots(1, 3)
    x = torch.tensor([1.0, 0.0, 1.0, 0.0]).expand(8, 4)
    turned = beyond.rotary(x, base=36.0)
    for number, axes in enumerate(panels[:2]):
        points = turned[:, 2 * number : 2 * number + 2]
        circle = torch.linspace(0, 2 * math.pi, 100)
        axes.plot(circle.cos(), circle.sin(), color="0.8")
        for position, (a, b) in enumerate(points.tolist()):
            axes.plot([0, a], [0, b], color="0.6", linewidth=0.8)
            axes.plot(a, b, "ko", markersize=4)
            axes.text(1.15 * a, 1.15 * b, str(position), ha="center", va="center")
        axes.set(
            title=f"Entries {2 * number} and {2 * number + 1} at positions 0 to 7",
            xlabel=f"entry {2 * number}",
            ylabel=f"entry {2 * number + 1}",
            aspect="equal",
            xlim=(-1.35, 1.35),
            ylim=(-1.35, 1.35),
        )
    generator = torch.Generator().manual_seed(0)
    same = torch.randn(1, 16, generator=generator).expand(24, 16)
    turned = beyond.rotary(same, base=100.0)
    products = turned @ turned.T / same[0].square().sum()
    image = panels[2].imshow(products.numpy(), cmap="Greys", vmin=-1, vmax=1)
    panels[2].set(
        title="One vector at 24 positions",
        xlabel="position of the key",
        ylabel="position of the query",
    )
    figure.colorbar(image, ax=panels[2], label="cosine of the turned vectors")
    return figure


def feature_error() -> Figure:
    """The error of performer attention over the number of features, for short and long vectors."""
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    generator = torch.Generator().manual_seed(0)
    numbers = [16, 32, 64, 128, 256, 512, 1024, 2048]
    for std, line, marker in ((0.25, ":", "o"), (0.5, "--", "s"), (1.0, "-", "^")):
        q, k, v = (torch.randn(24, 16, generator=generator) for _ in range(3))
        q, k = std * q, std * k
        exact = torch.softmax(q @ k.T / 4, dim=-1) @ v

        def error(guess: torch.Tensor, exact: torch.Tensor = exact) -> float:
            return float((guess - exact).norm() / exact.norm())

        errors = []
        for r in numbers:
            draws = [torch.randn(r, 16, generator=generator) for _ in range(12)]
            each = [error(beyond.performer_attention(q, k, v, draw)) for draw in draws]
            errors.append(sum(each) / len(each))
        axes.loglog(numbers, errors, f"k{line}{marker}", label=f"performer, std {std}")
        axes.axhline(error(v.mean(dim=0).expand_as(exact)), color="0.6", linestyle=line)
    axes.set(
        title="Error against softmax attention (d = 16, 24 keys, mean of 12 draws)",
        xlabel="number of features r",
        ylabel="relative error",
        xticks=numbers,
        xticklabels=[str(r) for r in numbers],
    )
    axes.minorticks_off()
    axes.legend(title="grey: the mean of all values")
    return figure


class Largest(TorchDispatchMode):
    """Notes the number of elements of the largest tensor that is made."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not func.is_view:
            self.elements = max(self.elements, result.numel())
        return result


def largest_tensor() -> Figure:
    """The largest tensor of full and of performer attention over the length."""
    lengths = [2**power for power in range(6, 13)]
    generator = torch.Generator().manual_seed(0)
    projection = torch.randn(32, 16, generator=generator)
    kinds: dict[str, tuple[str, Callable[..., Any]]] = {
        "full attention": ("-o", lambda q, k, v: torch.softmax(q @ k.T / 4, dim=-1) @ v),
        "performer, causal": (
            "--s",
            lambda q, k, v: beyond.performer_attention(q, k, v, projection, causal=True),
        ),
        "performer": (":^", lambda q, k, v: beyond.performer_attention(q, k, v, projection)),
    }
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, (style, attention) in kinds.items():
        sizes = []
        for length in lengths:
            inputs = [torch.randn(length, 16, generator=generator) for _ in range(3)]
            with Largest() as largest:
                attention(*inputs)
            sizes.append(largest.elements)
        axes.loglog(lengths, sizes, f"k{style}", label=name)
    axes.set(
        title="Largest tensor that is made (one head, d = d_v = 16, r = 32)",
        xlabel="sequence length T (tokens)",
        ylabel="elements",
        xticks=lengths,
        xticklabels=[str(length) for length in lengths],
    )
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
