"""The figures of the week 1 lesson, drawn from the solution, readable in black and white."""

import random
from functools import cache

import numpy as np
import softmax as week
import torch
import translation
from drawings import look_up
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

SCORES = np.array([2.1, 0.3, 0.1, 0.8, 0.2])
FIRST = ["The", "cat", "sat", "on", "the", "mat"]
SECOND = ["The", "dog", "sat", "on", "the", "rug"]
D_MODEL, DK, DV = 8, 4, 4


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {
        "bottleneck": bottleneck(),
        "alignment": alignment(),
        "look_up": look_up(),
        "temperature": temperature(),
        "smooth_maximum": smooth_maximum(),
        "why_root_d": why_root_d(),
        "soft_lookup": soft_lookup(),
        "six_tokens": six_tokens(),
        "two_sentences": two_sentences(),
    }


@cache
def translator(attention: bool) -> torch.nn.Module:
    return translation.train(attention)


def bottleneck() -> Figure:
    """Next-word accuracy over the length of the sentence, with attention and without."""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    clauses = (1, 2, 3, 4)
    for attention, name, style in ((False, "one vector", "k:o"), (True, "attention", "k-s")):
        model = translator(attention)
        accuracies = [translation.next_word_accuracy(model, count) for count in clauses]
        axes.plot(clauses, accuracies, style, label=name)
    axes.set(
        title="One vector per sentence, and attention",
        xlabel="clauses in the sentence",
        ylabel="next-word accuracy",
        xticks=clauses,
        ylim=(0.4, 1.03),
    )
    axes.legend()
    return figure


def alignment() -> Figure:
    """Draw the attention of each translated word to the words of the original."""
    source, target = translation.sentences(1, 1, random.Random(3))
    with torch.no_grad():
        _, weights = translator(True)(source, target[:, :-1])
    figure = Figure(figsize=(5.2, 4.4), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights[0].numpy(), cmap="Greys", vmin=0, vmax=1)
    axes.set(
        title="Which word translates which", xlabel="Key (source word)", ylabel="Query (next word)"
    )
    read = [translation.ENGLISH[i] for i in source[0]]
    axes.set_xticks(range(len(read)), read, rotation=45)
    written = [translation.FRENCH[i] for i in target[0, 1:]]
    axes.set_yticks(range(len(written)), written)
    figure.colorbar(image, label="weight")
    return figure


def temperature() -> Figure:
    """The same five scores at three temperatures."""
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, t in zip(panels, (0.25, 1.0, 4.0), strict=True):
        weights = week.softmax_numpy(SCORES / t)
        bars = axes.bar(range(1, 6), weights, color="0.75", edgecolor="black")
        axes.bar_label(bars, fmt="%.2f", fontsize=9)
        axes.set(title=f"temperature {t:g}", xlabel="key", ylim=(0, 1.1))
    panels[0].set_ylabel("weight")
    figure.suptitle("One row of scores, three temperatures")
    return figure


def smooth_maximum() -> Figure:
    """logsumexp hugs the maximum; its slope is a softmax weight."""
    x = torch.linspace(-4, 4, 161, requires_grad=True)
    pairs = torch.stack([x, torch.zeros_like(x)], dim=-1)
    smooth = week.logsumexp(pairs)
    (slope,) = torch.autograd.grad(smooth.sum(), x)
    numbers = x.detach().numpy()
    figure = Figure(figsize=(9, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(numbers, smooth.detach().numpy(), "k-", label="logsumexp(x, 0)")
    left.plot(numbers, np.maximum(numbers, 0), "k--", label="max(x, 0)")
    left.set(
        title="A maximum with its corner rounded off",
        xlabel="x",
        ylabel="value",
    )
    left.legend()
    right.plot(numbers, slope.numpy(), "k-", label="slope of logsumexp(x, 0)")
    weights = week.softmax(pairs.detach())[:, 0]
    right.plot(
        numbers[::10], weights[::10].numpy(), "ko", fillstyle="none", label="softmax weight of x"
    )
    right.set(title="Its slope", xlabel="x", ylabel="slope, weight")
    right.legend()
    return figure


def why_root_d() -> Figure:
    """The spread of q·k grows with d, and the gradient of the softmax dies with it."""
    sizes = [1, 4, 16, 64, 256, 1024]
    generator = torch.Generator().manual_seed(0)
    variances, raw, scaled = [], [], []
    for d in sizes:
        queries = torch.randn(400, 1, d, generator=generator)
        keys = torch.randn(400, 10, d, generator=generator)
        scores = (queries * keys).sum(-1)
        upstream = torch.randn(400, 10, generator=generator)
        variances.append(scores.var().item())
        raw.append(_median_gradient(scores, upstream))
        scaled.append(_median_gradient(scores / d**0.5, upstream))
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.loglog(sizes, variances, "ko", label="measured")
    left.loglog(sizes, sizes, "k--", label="variance = d")
    left.set(
        title="Longer vectors, wilder scores",
        xlabel="head size d",
        ylabel="variance of q·k",
    )
    left.legend()
    right.loglog(sizes, scaled, "k-s", label="scores divided by √d")
    right.loglog(sizes, raw, "k--o", label="scores as they are")
    right.set(
        title="What is left of the gradient",
        xlabel="head size d",
        ylabel="median gradient norm",
    )
    right.legend()
    return figure


def _median_gradient(scores: torch.Tensor, upstream: torch.Tensor) -> float:
    """How much of a gradient passes back through the softmax, for the middle one of many rows."""
    scores = scores.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(week.softmax(scores), scores, upstream)
    return float(gradient.norm(dim=-1).median())


def soft_lookup() -> Figure:
    """A table of temperatures, asked for times of day that are not in it."""
    hours = np.array([0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0])
    degrees = np.array([[8.0], [6.0], [5.0], [11.0], [17.0], [19.0], [15.0], [9.0]])
    asked = np.linspace(0, 24, 289)
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(hours, degrees, "ko", markersize=8, label="the table")
    for sharpness, style in ((1, "k:"), (12, "k-"), (2000, "k--")):
        answers, _ = week.scaled_dot_product_attention_numpy(
            sharpness * clock(asked), clock(hours), degrees
        )
        axes.plot(asked, answers, style, label=f"query length {sharpness}")
    axes.set(
        title="A soft look-up: the longer the query, the harder the choice",
        xlabel="time of day (h)",
        ylabel="temperature (°C)",
        xticks=range(0, 25, 3),
    )
    axes.legend()
    return figure


def clock(hours: np.ndarray) -> np.ndarray:
    """Times of day as points on a circle, (n, 2): close times have a large dot product."""
    angle = 2 * np.pi * hours / 24
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def sentence(tokens: list[str]) -> np.ndarray:
    """The lesson's made-up embeddings: one random vector per word, ignoring case."""
    rng = np.random.default_rng(148)
    table = {
        word: rng.normal(size=D_MODEL) for word in ("the", "cat", "sat", "on", "mat", "dog", "rug")
    }
    return np.stack([table[token.lower()] for token in tokens])


def six_tokens() -> Figure:
    """Draw which tokens of the six-token sentence attend to which."""
    figure = Figure(figsize=(5.2, 4.4), layout="constrained")
    axes = figure.subplots()
    _, weights = week.SelfAttention(D_MODEL, DK, DV).forward(sentence(FIRST))
    image = _heatmap(axes, weights, FIRST)
    axes.set_title("Untrained attention, one head")
    figure.colorbar(image, label="weight")
    return figure


def two_sentences() -> Figure:
    """Two sentences through one SelfAttention."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    panels = figure.subplots(1, 2)
    attention = week.SelfAttention(D_MODEL, DK, DV)
    for axes, tokens in zip(panels, (FIRST, SECOND), strict=True):
        _, weights = attention.forward(sentence(tokens))
        image = _heatmap(axes, weights, tokens)
        axes.set_title(" ".join(tokens))
    figure.colorbar(image, ax=list(panels), label="weight")
    return figure


def _heatmap(axes: Axes, weights: np.ndarray, tokens: list[str]) -> AxesImage:
    """A row per query, a column per key, the numbers written in the cells."""
    image = axes.imshow(weights, cmap="Greys", vmin=0, vmax=1)
    axes.set(xlabel="Key", ylabel="Query", xticks=range(len(tokens)), yticks=range(len(tokens)))
    axes.set_xticklabels(tokens)
    axes.set_yticklabels(tokens)
    for (row, column), weight in np.ndenumerate(weights):
        colour = "white" if weight > 0.5 else "black"
        axes.text(column, row, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=9)
    return image
