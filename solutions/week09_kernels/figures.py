"""The figures of the week 9 lesson, readable in black and white."""

from __future__ import annotations

from typing import Any

import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {
        "carried": carried(),
        "grid": grid(),
        "tiles": tiles(),
        "running": running(),
        "flash": flash(),
        "roofline": roofline(),
    }


def carried() -> Figure:
    """How often a softmax moves its matrix, as five operations and as one kernel."""
    figure = Figure(figsize=(8, 2.8), layout="constrained")
    axes = figure.subplots()
    steps = [("max", "r"), ("subtract", "rw"), ("exp", "rw"), ("sum", "r"), ("divide", "rw")]
    for row, parts in ((1.3, steps), (0, [("kernel", "rw")])):
        at = 0
        for name, moves in parts:
            for move in moves:
                hatch = "" if move == "r" else "///"
                axes.barh(row, 1, left=at, color="white", edgecolor="black", hatch=hatch)
                at += 1
            axes.text(at - len(moves) / 2, row + 0.47, name, ha="center", va="bottom", fontsize=9)
    axes.barh(3, 0, color="white", edgecolor="black", label="read")
    axes.barh(3, 0, color="white", edgecolor="black", hatch="///", label="written")
    axes.set_yticks([0, 1.3], ["one kernel", "five operations"])
    axes.set(ylim=(-0.6, 2.3), xlabel="times that the matrix crosses the memory bus")
    axes.legend(loc="lower right")
    return figure


def square(axes: Any, x: float, y: float, shade: str, text: str = "", dashed: bool = False) -> None:
    style = "--" if dashed else "-"
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=shade, edgecolor="black", linestyle=style))
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=9)


def bare(axes: Any, width: float, height: float) -> None:
    axes.set(xlim=(-0.2, width), ylim=(height, -0.4), aspect="equal")
    axes.axis("off")


def grid() -> Figure:
    """Four programs, a row of five for each, in blocks of eight."""
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots()
    for row in range(4):
        shade = ("0.95", "0.75")[row % 2]
        axes.text(-0.3, row + 0.5, f"program {row}", ha="right", va="center", fontsize=9)
        for column in range(8):
            own = column < 5
            text = f"{row},{column}" if own else "mask"
            square(axes, column, row, shade if own else "white", text, dashed=not own)
    bare(axes, 8.2, 4.2)
    axes.set_xlim(-2.2, 8.2)
    return figure


def tiles() -> Figure:
    """A product in tiles of 16: a tile of the result and what it needs."""
    figure = Figure(figsize=(9.5, 3.4), layout="constrained")
    cases = ((40, 50, "a (40, 50)"), (50, 36, "b (50, 36)"), (40, 36, "result (40, 36)"))
    for axes, (height, width, title), kind in zip(figure.subplots(1, 3), cases, "abc", strict=True):
        for top in range(0, height, 16):
            for left in range(0, width, 16):
                needed = (kind != "b" and top == 16) * (kind != "a" and left == 32 or kind == "a")
                needed = needed or (kind == "b" and left == 32)
                shade = ("0.85" if kind != "c" else "0.5") if needed else "white"
                place = (left, top)
                axes.add_patch(
                    Rectangle(place, 16, 16, facecolor=shade, edgecolor="black", linestyle=":")
                )
        axes.add_patch(Rectangle((0, 0), width, height, fill=False, linewidth=2))
        axes.set(xlim=(-2, 66), ylim=(66, -2), aspect="equal", title=title)
        axes.axis("off")
    return figure


def running() -> Figure:
    """The running maximum and the running sum of a row in four blocks."""
    scores = torch.tensor([1.0, 0.4, 1.4, 0.2, 2.6, 2.0, 1.1, 2.2, 1.9, 0.6, 2.4, 1.2, 3.6, 2.8, 3.1, 0.9])
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.bar(range(16), scores.tolist(), color="0.8", edgecolor="black")
    highest, total = -torch.inf, 0.0
    for block in range(4):
        part = scores[4 * block : 4 * block + 4]
        new = max(highest, float(part.max()))
        kept = total * float(torch.exp(torch.tensor(highest - new)))
        added = float(torch.exp(part - new).sum())
        upper.plot([4 * block - 0.5, 4 * block + 3.5], [new, new], "k-", linewidth=2)
        lower.bar(4 * block + 1.5, kept, width=2.5, color="0.5", edgecolor="black")
        lower.bar(4 * block + 1.5, added, 2.5, kept, color="white", edgecolor="black", hatch="//")
        highest, total = new, kept + added
    for axes in (upper, lower):
        for edge in (3.5, 7.5, 11.5):
            axes.axvline(edge, color="black", linestyle=":", linewidth=1)
    lower.bar(0, 0, color="0.5", edgecolor="black", label="from the blocks before, shrunk")
    lower.bar(0, 0, color="white", edgecolor="black", hatch="//", label="from this block")
    lower.legend(loc="upper left", fontsize=9)
    upper.set(ylabel="scores, maximum", title="A row in four blocks")
    lower.set(ylabel="sum after the block", xlabel="column")
    return figure


def flash() -> Figure:
    """The tiles of causal attention with 40 queries and 36 keys, in tiles of 16 by 16."""
    figure = Figure(figsize=(5.4, 5), layout="constrained")
    axes = figure.subplots()
    for top in range(0, 40, 16):
        for left in range(0, 36, 16):
            last, first = min(top + 15, 39), top
            shade = "white" if left > last else "0.6" if left + 15 <= first else "0.85"
            axes.add_patch(Rectangle((left, top), 16, 16, facecolor=shade, edgecolor="black"))
    axes.add_patch(Rectangle((0, 0), 36, 40, fill=False, linewidth=2.5))
    axes.plot([0, 36], [0, 36], "k--", linewidth=1)
    for shade, name in (("0.6", "full"), ("0.85", "masked in part"), ("white", "no visible key")):
        axes.add_patch(Rectangle((0, 0), 0, 0, facecolor=shade, edgecolor="black", label=name))
    axes.set(xlim=(-1, 49), ylim=(49, -1), xlabel="key", ylabel="query", aspect="equal")
    figure.legend(loc="outside lower center", fontsize=9, ncols=3)
    return figure


def roofline() -> Figure:
    """Four ways to compute attention, under the roofs of two GPUs with data-sheet values."""
    n, d, tile = 4096, 128, 128
    moved = (  # numbers of 16 bits that cross the memory bus
        ("score matrix in memory", "o", 4 * n * n + 4 * n * d),
        ("loop over keys outside", "s", 2 * n * d + 3 * n * d * (n // tile)),
        ("loop over queries outside", "^", 2 * n * d + 2 * n * d * (n // tile)),
        ("each number once", "D", 4 * n * d),
    )
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.subplots()
    for name, peak, bandwidth, style in (
        ("H100 SXM: 989 TFLOP/s, 3.35 TB/s", 989, 3.35, "k--"),
        ("A100 80GB SXM: 312 TFLOP/s, 2.04 TB/s", 312, 2.039, "k-"),
    ):
        ends = (16, peak / bandwidth, 4096)
        axes.loglog(ends, [min(peak, bandwidth * x) for x in ends], style, label=name)
        for _, marker, numbers in moved:
            intensity = 4 * n * n * d / (2 * numbers)
            reached = min(peak, bandwidth * intensity)
            axes.plot(intensity, reached, "k" + marker, markersize=8, fillstyle="none")
    for name, marker, _ in moved:
        axes.plot([], [], "k" + marker, markersize=8, fillstyle="none", label=name)
    axes.set(title=f"Attention with n = {n}, d = {d}, 16 bits, tiles of {tile}")
    axes.set(xlabel="arithmetic intensity (FLOPs per byte)", ylabel="TFLOP/s at most")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    return figure
