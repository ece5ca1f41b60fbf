"""The figures of the week 4 lesson, drawn from the solution, readable in black and white."""

import math

import lsh as week
import torch
from drawings import one_round
from matplotlib.axes import Axes
from matplotlib.figure import Figure

MIB = 2**20
MARKERS = "osD^"
LINES = ("-", "--", ":")


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {
        "one_round": one_round(),
        "memory": memory(),
        "circle": circle(),
        "block_diagonal": block_diagonal(),
        "rounds": rounds(),
    }


def memory() -> Figure:
    """The scores of one head, full and LSH, over the length of the sequence."""
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    lengths = [2**power for power in range(7, 18)]
    full = [week.attention_memory(n) / MIB for n in lengths]
    axes.loglog(lengths, full, "k-o", base=2, label="full attention")
    for n_hashes, line in zip((1, 4, 8), LINES, strict=True):
        lsh = [week.attention_memory(n, "lsh", 64, n_hashes) / MIB for n in lengths]
        axes.loglog(lengths, lsh, f"k{line}", base=2, label=f"LSH, hashes: {n_hashes}")
        crossing = 2 * 64 * n_hashes
        height = week.attention_memory(crossing) / MIB
        axes.plot(crossing, height, "ks", fillstyle="none", markersize=10)
    axes.set_yscale("log", base=10)
    axes.set(
        title="Memory of the scores of one head (float32, chunks of 64)",
        xlabel="sequence length (positions)",
        ylabel="memory (MiB)",
    )
    axes.grid(alpha=0.3)
    axes.legend(title="squares: the curves cross")
    return figure


def circle() -> Figure:
    """Forty directions on the circle, hashed by three rotations into four buckets each."""
    generator = torch.Generator().manual_seed(0)
    angles = torch.linspace(0, 2 * math.pi, 41)[:-1]
    points = torch.stack([angles.cos(), angles.sin()], dim=-1)
    pair = torch.tensor([[math.cos(a), math.sin(a)] for a in (1.28, 1.44)])
    rotations = torch.linalg.qr(torch.randn(3, 2, 2, generator=generator)).Q
    figure = Figure(figsize=(10.5, 3.8), layout="constrained")
    for number, axes in enumerate(figure.subplots(1, 3), start=1):
        rotation = rotations[number - 1 : number]
        draw_round(axes, points, week.hash_vectors(points, rotation)[0], rotation[0])
        first, second = week.hash_vectors(pair, rotation)[0].tolist()
        axes.plot(*(0.8 * pair).T.numpy(), "k*", markersize=11)
        together = f"both stars in bucket {first}"
        apart = f"the stars in buckets {first} and {second}"
        axes.set_title(f"round {number}: {together if first == second else apart}", fontsize=10)
    figure.suptitle("Four buckets on the circle: the nearest of the directions R and -R")
    return figure


def draw_round(
    axes: Axes, points: torch.Tensor, buckets: torch.Tensor, rotation: torch.Tensor
) -> None:
    """Points by bucket, and the direction that each bucket stands for."""
    directions = torch.cat([rotation, -rotation], dim=-1).T
    for bucket, direction in enumerate(directions):
        mine = points[buckets == bucket]
        axes.plot(*mine.T.numpy(), f"k{MARKERS[bucket]}", fillstyle="none", markersize=6)
        axes.annotate(
            "", xy=(0.62 * direction).tolist(), xytext=(0, 0), arrowprops={"arrowstyle": "->"}
        )
        axes.text(*(1.28 * direction).tolist(), str(bucket), ha="center", va="center", fontsize=12)
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), xlabel="x₁", ylabel="x₂")
    axes.set_aspect("equal")


def block_diagonal() -> Figure:
    """Which positions share a bucket, in the order of the sequence and in sorted order."""
    bucket_size, length = 8, 48
    generator = torch.Generator().manual_seed(5)
    rotation = torch.randn(1, 16, 3, generator=generator)
    x = torch.randn(length, 16, generator=generator)
    buckets = week.hash_vectors(x, rotation)[0]
    order, _ = week.sort_by_bucket(buckets)
    in_order = buckets[order]
    chunk = torch.arange(length) // bucket_size
    back = chunk.unsqueeze(1) - chunk.unsqueeze(0)
    same = in_order.unsqueeze(1) == in_order.unsqueeze(0)
    panels = {
        "same bucket,\nin the order of the sequence": buckets.unsqueeze(1) == buckets.unsqueeze(0),
        "same bucket,\nsorted by bucket": same,
        "what LSH attention looks at:\nown chunk and the one before": same
        & (back >= 0)
        & (back <= 1),
    }
    figure = Figure(figsize=(10.5, 4), layout="constrained")
    for number, (axes, (title, picture)) in enumerate(
        zip(figure.subplots(1, 3), panels.items(), strict=True)
    ):
        axes.imshow(
            picture.float().numpy(), cmap="Greys", vmin=0, vmax=1.4, interpolation="nearest"
        )
        place = "position in the sequence" if number == 0 else "place in sorted order"
        axes.set_title(title, fontsize=10)
        axes.set(xlabel=f"key: {place}", ylabel=f"query: {place}")
        if number:
            for edge in range(bucket_size, length, bucket_size):
                axes.axhline(edge - 0.5, color="black", linewidth=0.6, linestyle=":")
                axes.axvline(edge - 0.5, color="black", linewidth=0.6, linestyle=":")
    figure.suptitle("48 positions, 6 buckets, chunks of 8 (dotted)")
    return figure


def rounds() -> Figure:
    """How far LSH attention is from full attention, over the number of rounds."""
    counts = [1, 2, 4, 8, 16]
    weighted, averaged = zip(*[errors(seed, counts) for seed in range(24)], strict=True)
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for runs, style, name in (
        (averaged, "k--s", "rounds averaged"),
        (weighted, "k-o", "rounds weighted by logsumexp"),
    ):
        table = torch.tensor(runs)
        axes.errorbar(
            counts,
            table.mean(0).numpy(),
            yerr=table.std(0).numpy(),
            fmt=style,
            capsize=3,
            label=name,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.set(
        title="64 positions, chunks of 8; mean and standard deviation of 24 seeds",
        xlabel="number of hashes (rounds)",
        ylabel="relative error",
        ylim=(0, None),
    )
    axes.grid(alpha=0.3)
    axes.legend()
    figure.suptitle("Distance from full attention")
    return figure


def errors(seed: int, counts: list[int]) -> tuple[list[float], list[float]]:
    """Relative errors against full attention, of weighted and of averaged rounds."""
    generator = torch.Generator().manual_seed(seed)
    qk = 12 * torch.randn(64, 8, generator=generator)
    v = torch.randn(64, 4, generator=generator)
    rotations = torch.randn(max(counts), 8, 4, generator=generator)
    full = full_attention(qk, v)

    def error(output: torch.Tensor) -> float:
        return float((output - full).norm() / full.norm())

    single = torch.stack([week.lsh_attention(qk, v, r.unsqueeze(0), 8) for r in rotations])
    weighted = [error(week.lsh_attention(qk, v, rotations[:n], 8)) for n in counts]
    return weighted, [error(single[:n].mean(0)) for n in counts]


def full_attention(qk: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Shared-QK attention over all pairs: unit keys, and nobody looks at itself."""
    keys = qk / qk.norm(dim=-1, keepdim=True)
    scores = qk @ keys.T / math.sqrt(qk.shape[-1])
    return scores.fill_diagonal_(-1e5).softmax(dim=-1) @ v
