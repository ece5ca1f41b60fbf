"""The figures of week 5's lesson, made from the solution; all of them readable without colour."""

import math
from collections.abc import Callable
from pathlib import Path

from drawings import block
import matplotlib.pyplot as plt
import torch
import transformer
from matplotlib.figure import Figure
from torch import nn
from torch.nn import functional as F

VERSES = Path(__file__).parents[2] / "assets" / "verses.txt"
LENGTH, SYMBOLS = 8, 9  # of the copy task; symbol 0 is the blank
WINDOW, BATCH, ROUNDS, STEPS = 24, 96, 300, 2  # of the verses


def figures() -> dict[str, Figure]:
    """File stem -> figure. The global random state is the same afterwards."""
    with torch.random.fork_rng(devices=[]):
        return {
            "block": block(),
            "positions": positions(),
            "residual_stream": residual_stream(),
            **copy_task(),
            **verses(),
        }


def positions() -> Figure:
    """The table as a picture, and the products of its rows."""
    table = transformer.sinusoidal_positions(64, 48)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    image = left.imshow(table.numpy(), cmap="Greys", vmin=-1, vmax=1, aspect="auto")
    left.set(
        title="64 positions, 48 columns",
        xlabel="Column (sines at even, cosines at odd places)",
        ylabel="Position (tokens)",
    )
    figure.colorbar(image, ax=left, label="Entry")
    for start, width, grey in ((8, 9, "0.8"), (24, 5, "0.5"), (40, 1, "0.0")):  # on top of each other
        distances = torch.arange(24)
        products = table[start + distances] @ table[start]
        right.plot(distances, products, color=grey, lw=width, label=f"from position {start}")
    right.set(
        title="Products of rows: only the distance counts",
        xlabel="Distance (tokens)",
        ylabel="Product of the two rows",
    )
    right.legend()
    return figure


def residual_stream() -> Figure:
    """Draw how similar all tokens become in untrained blocks."""
    ways: dict[str, Callable[[nn.Module, torch.Tensor], torch.Tensor]] = {
        "nothing is added": lambda b, x: b.ff(b.ln2(b.attn(b.ln1(x)))),
        "normalised after adding (2017)": lambda b, x: _normalised_after(b, x),
        "normalised before (yours)": lambda b, x: b(x),
    }
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for (name, way), style in zip(ways.items(), (":", "--", "-"), strict=True):
        torch.manual_seed(0)
        blocks = [transformer.TransformerBlock(32, 4, 128) for _ in range(24)]
        x = torch.randn(4, 16, 32)
        alike = [_alikeness(x)]
        with torch.no_grad():
            for block in blocks:
                x = way(block, x)
                alike.append(_alikeness(x))
        ax.plot(alike, style, color="black", label=name)
    ax.set(
        title="Without the sum all tokens become one",
        xlabel="Block",
        ylabel="Mean cosine between two tokens",
    )
    ax.legend()
    return figure


def _normalised_after(block: nn.Module, x: torch.Tensor) -> torch.Tensor:
    x = block.ln1(x + block.attn(x))
    return block.ln2(x + block.ff(x))


def _alikeness(x: torch.Tensor) -> float:
    """Mean cosine between different tokens of a sequence, x (B, T, C)."""
    x = F.normalize(x, dim=-1)
    cosines = x @ x.transpose(1, 2)
    tokens = x.shape[1]
    return float((cosines.sum(dim=(1, 2)) - tokens).mean() / (tokens * tokens - tokens))


def heads_of(model: nn.Module, ids: torch.Tensor) -> list[torch.Tensor]:
    """The weights (H, T, T) of every block on one sequence ids (1, T)."""
    seen: list[torch.Tensor] = []
    hooks = [
        block.attn.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        for block in model.blocks
    ]
    with torch.no_grad():
        model(ids)
        for hook in hooks:
            hook.remove()
        return [
            block.attn(x, return_weights=True)[1][0]
            for block, x in zip(model.blocks, seen, strict=True)
        ]


def copy_task() -> dict[str, Figure]:
    """A model that reads eight symbols and repeats them: its loss and its heads."""

    def task(sequences: int) -> tuple[torch.Tensor, torch.Tensor]:
        symbols = torch.randint(1, SYMBOLS, (sequences, LENGTH))
        blanks = torch.zeros_like(symbols)
        return torch.cat([symbols, blanks], dim=1), torch.cat([blanks, symbols], dim=1)

    torch.manual_seed(0)
    model = transformer.MiniTransformer(SYMBOLS, 32, 2, 1, max_len=2 * LENGTH)
    shown, _ = task(1)
    rows = {"untrained": heads_of(model, shown)[0]}
    losses = transformer.fit(model, *task(64), steps=200)
    rows["trained"] = heads_of(model, shown)[0]

    loss, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    ax.semilogy(losses, color="black", label="loss of each step")
    ax.axhline(losses[0] / 100, color="0.4", ls="--", label="1 % of the start")
    ax.set(
        title="Learning to copy eight symbols",
        xlabel="Step",
        ylabel="Cross-entropy (nats per token)",
    )
    ax.legend()

    labels = [str(int(i)) if i else "·" for i in shown[0]]
    heads, axes = plt.subplots(2, 2, figsize=(8, 7.6), layout="constrained")
    for line, (name, weights) in zip(axes, rows.items(), strict=True):
        for head, ax in enumerate(line):
            image = ax.imshow(weights[head].numpy(), cmap="Greys", vmin=0, vmax=1)
            ax.set_title(f"Head {head + 1}, {name}")
            ax.set(xlabel="Key", ylabel="Query")
            ax.set_xticks(range(2 * LENGTH), labels, fontsize=9)
            ax.set_yticks(range(2 * LENGTH), labels, fontsize=9)
    heads.colorbar(image, ax=axes, label="Weight")
    heads.suptitle("Copying: each blank looks eight places back (· is the blank)")
    return {"copy_loss": loss, "copy_heads": heads}


def verses() -> dict[str, Figure]:
    """The model of characters: its loss beside two simpler models' and its heads on one line."""
    text = VERSES.read_text(encoding="utf-8")
    characters = sorted(set(text))
    ids = torch.tensor([characters.index(c) for c in text])
    windows = ids.unfold(0, WINDOW + 1, 1)

    def trained(layers: int, rounds: int) -> tuple[nn.Module, list[float]]:
        torch.manual_seed(0)
        model = transformer.MiniTransformer(len(characters), 64, 4, layers, max_len=WINDOW)
        losses: list[float] = []
        for number in range(rounds):
            batch = windows[torch.randint(len(windows), (BATCH,))]
            rate = 8e-3 * (1 - number / rounds)
            losses += transformer.fit(model, batch[:, :-1], batch[:, 1:], STEPS, rate)
        return model, losses

    _, blind = trained(layers=0, rounds=ROUNDS // 3)
    model, losses = trained(layers=2, rounds=ROUNDS)

    loss, ax = plt.subplots(figsize=(6.8, 3.8), layout="constrained")
    smooth = torch.tensor(losses).unfold(0, 10, 1).mean(dim=1)
    ax.plot(losses, color="0.75", lw=1, label="loss of each step")
    ax.plot(range(9, len(losses)), smooth, color="black", label="mean of ten steps")
    ax.axhline(math.log(len(characters)), color="0.3", ls=":", label="every character alike")
    ax.axhline(sum(blind[-50:]) / 50, color="0.3", ls="--", label="no blocks: one character back")
    ax.set(
        title="Learning to write verses",
        xlabel="Step",
        ylabel="Cross-entropy (nats per character)",
        ylim=(0, 5),
    )
    ax.legend()

    line = "i found it in the sand.\n"
    shown = torch.tensor([[characters.index(c) for c in line]])
    labels = [{" ": "␣", "\n": "↵"}.get(c, c) for c in line]
    heads, axes = plt.subplots(4, 2, figsize=(8.6, 15.5), layout="constrained")
    for number, (column, weights) in enumerate(zip(axes.T, heads_of(model, shown), strict=True)):
        for head, ax in enumerate(column):
            image = ax.imshow(weights[head].numpy(), cmap="Greys", vmin=0, vmax=1)
            ax.set_title(f"Block {number + 1}, head {head + 1}")
            ax.set(xlabel="Key", ylabel="Query")
            ax.set_xticks(range(len(line)), labels, fontsize=8)
            ax.set_yticks(range(len(line)), labels, fontsize=8)
    heads.colorbar(image, ax=axes, label="Weight", shrink=0.4)
    heads.suptitle("Eight heads on one line of verse (␣ a space, ↵ the end of the line)")
    return {"verses_loss": loss, "verses_heads": heads}
