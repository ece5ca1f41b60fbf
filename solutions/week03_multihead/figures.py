"""The figures of week 3's lesson, made from the solution; all of them readable without colour."""

from unittest.mock import patch

from drawings import shape_flow
import matplotlib.pyplot as plt
import multihead
import torch
from matplotlib.figure import Figure
from torch import nn

SENTENCE = ["the", "cat", "sat", "on", "the", "mat"]
LAGS = (1, 2, 4)


def figures() -> dict[str, Figure]:
    """File stem -> figure. The global random state is the same afterwards."""
    with torch.random.fork_rng(devices=[]):
        return {
            "shape_flow": shape_flow(),
            "split_or_reshape": split_or_reshape(),
            "untrained_heads": untrained_heads(),
            "mask_on_heads": mask_on_heads(),
            "scrambled_heads": scrambled_heads(),
            "trained_heads": trained_heads(),
        }


def split_or_reshape() -> Figure:
    """Draw the head of each number of a token, with a proper split and with a bare reshape."""
    tokens, width, heads = 4, 6, 3
    x = torch.arange(tokens * width).view(1, tokens, width)
    ways = {
        "split_heads": multihead.split_heads(x, heads),
        "reshape alone": x.reshape(1, heads, tokens, width // heads),
    }
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.2), layout="constrained")
    for ax, (name, split) in zip(axes, ways.items(), strict=True):
        owner = torch.empty(tokens * width, dtype=torch.long)
        for head in range(heads):
            owner[split[0, head].flatten()] = head
        grid = owner.view(tokens, width)
        ax.imshow(grid.numpy(), cmap="Greys", vmin=-1, vmax=heads + 1)
        for row in range(tokens):
            for column in range(width):
                ax.text(column, row, f"{grid[row, column] + 1}", ha="center", va="center")
        ax.set(
            title=name,
            xlabel="Feature (place in the token)",
            ylabel="Token (place in the sequence)",
        )
        ax.set_yticks(range(tokens))
    figure.suptitle("The head that gets each number (T = 4 tokens, C = 6 features, H = 3 heads)")
    return figure


def untrained_heads() -> Figure:
    """Four heads with random weights on one sentence."""
    torch.manual_seed(8)
    attention = multihead.MultiHeadAttention(32, 4)
    with torch.no_grad():
        attention.W_q.weight.mul_(3)
        embedded = torch.randn(1, len(SENTENCE), 32)
        _, weights = attention(embedded)
    figure = multihead.plot_heads(weights[0], SENTENCE)
    figure.suptitle("Four heads, one sentence, random weights")
    return figure


def mask_on_heads() -> Figure:
    """Padding masks of two sequences, meant for the batch, that land on the two heads instead."""
    torch.manual_seed(1)
    lengths = torch.tensor([5, 2])
    mask = (torch.arange(5) < lengths[:, None])[:, None, :].expand(2, 5, 5)  # (B, n, m)
    scores = torch.randn(2, 2, 5, 5)  # (B, H, n, m), B = H
    weights = {
        "as meant: mask[:, None]": multihead._masked_softmax(scores, mask[:, None]),
        "as broadcast: mask": multihead._masked_softmax(scores, mask),
    }
    figure, axes = plt.subplots(2, 4, figsize=(10.5, 5.6), layout="constrained")
    for row, (name, values) in zip(axes, weights.items(), strict=True):
        for place, ax in enumerate(row):
            sequence, head = divmod(place, 2)
            image = multihead._draw_attention(ax, values[sequence, head])
            ax.set_title(f"length {int(lengths[sequence])}, head {head + 1}")
        row[0].set_ylabel(f"{name}\n\nQuery")
    figure.colorbar(image, ax=axes, label="Weight")
    figure.suptitle("A padding mask (B, T, T) where B = H = 2: no error, wrong axis")
    return figure


def scrambled_heads() -> Figure:
    """The loss of a copy task, with heads that are split and with heads that are scrambled."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")

    def reshape(x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.reshape(len(x), heads, x.shape[1], -1)

    def reshape_back(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(len(x), x.shape[2], -1)

    ax.plot(_copy_task(), "-", color="black", label="heads split and merged")
    with patch.multiple(multihead, split_heads=reshape, merge_heads=reshape_back):
        ax.plot(_copy_task(), "--", color="0.45", label="reshape alone, there and back")
    ax.set(
        title="Both learn to copy: a falling loss proves nothing",
        xlabel="Step",
        ylabel="Cross-entropy (nats per token)",
        yscale="log",
    )
    ax.legend()
    return figure


def _copy_task(steps: int = 150) -> list[float]:
    """Losses of a model that is to repeat its input."""
    torch.manual_seed(0)
    embed, read = nn.Embedding(8, 24), nn.Linear(24, 8)
    attention = multihead.MultiHeadAttention(24, 3)
    parameters = [p for part in (embed, attention, read) for p in part.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=1e-2)
    losses = []
    for _ in range(steps):
        ids = torch.randint(8, (32, 6))
        logits = read(attention(embed(ids))[0])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def trained_heads() -> Figure:
    """Heads of a model that recalls tokens 1, 2 and 4 places back, before and after training."""
    torch.manual_seed(0)
    vocabulary, tokens, width = 8, 12, 24
    embed, place = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
    attention = multihead.CausalSelfAttention(width, len(LAGS))
    read = nn.Linear(width, len(LAGS) * vocabulary)
    parameters = [p for part in (embed, place, attention, read) for p in part.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=2e-2)
    shown = torch.randint(vocabulary, (1, tokens))

    def heads() -> torch.Tensor:
        return attention(embed(shown) + place.weight, return_weights=True)[1][0]

    rows = {"untrained": heads()}
    for _ in range(200):
        ids = torch.randint(vocabulary, (64, tokens))
        logits = read(attention(embed(ids) + place.weight)).unflatten(-1, (len(LAGS), vocabulary))
        wanted = torch.stack([ids.roll(lag, dims=1) for lag in LAGS], dim=-1)
        known = slice(max(LAGS), None)  # before that there is nothing to recall
        loss = nn.functional.cross_entropy(
            logits[:, known].flatten(0, 2), wanted[:, known].flatten()
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    rows["trained"] = heads()

    figure, axes = plt.subplots(2, 3, figsize=(9, 6.4), layout="constrained")
    for line, (name, weights) in zip(axes, rows.items(), strict=True):
        for head, ax in enumerate(line):
            image = multihead._draw_attention(ax, weights[head])
            ax.set_title(f"Head {head + 1}, {name}")
    figure.colorbar(image, ax=axes, label="Weight")
    figure.suptitle("Three heads that learn to look 1, 2 and 4 tokens back")
    return figure
