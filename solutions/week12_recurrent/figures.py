"""The figures of the week 12 lesson, drawn from the solution, readable in black and white."""

import math

import recurrent as week
import torch
from drawings import chunks
from matplotlib.figure import Figure
from torch.nn import functional as F


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {"kept": kept(), "decays": decays(), "chunks": chunks(), "recall": recall()}


def kept() -> Figure:
    """Numbers that one head of width 128 keeps: a cache, and a state."""
    d = 128
    tokens = [10**power for power in range(7)]
    figure = Figure(figsize=(6.5, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.loglog(
        tokens, [2 * d * count for count in tokens], "k--", label="cache of keys and values"
    )
    axes.loglog(tokens, [d * d + d] * len(tokens), "k-", label="state")
    axes.set(title="Kept by one head of width 128", xlabel="tokens", ylabel="numbers")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def decays() -> Figure:
    """The matrix D without decay, with a constant one, and with one that depends on the token."""
    size = 12
    reset = torch.ones(size)
    reset[6] = 0.05
    cases = {
        "no decay": torch.ones(size),
        "constant: 0.8": torch.full((size,), 0.8),
        "0.05 at token 6, else 1": reset,
    }
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    unit = torch.eye(size)[None, None]
    one = torch.ones(1, 1, size, 1)
    for axes, (title, decay) in zip(figure.subplots(1, 3), cases.items(), strict=True):
        matrix = week.gated_linear_attention(one, one, unit, decay.log()[None, None])[0, 0]
        axes.imshow(matrix, cmap="Greys", vmin=0, vmax=1.2)
        axes.set(title=title, xlabel="key j", ylabel="query i")
        axes.set_xticks(range(0, size, 3))
        axes.set_yticks(range(0, size, 3))
    return figure


def recall() -> Figure:
    """Correct answers of three memories, for new pairs and for rewritten ones."""
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    names = {"sum": "k:^", "delta rule": "k-o", "softmax": "k--s"}
    for axes, title, sizes in (
        (panels[0], "New pairs", (8, 16, 32, 64, 128)),
        (panels[1], "Rewritten pairs", (4, 8, 16, 32, 64)),
    ):
        again = title == "Rewritten pairs"
        shares = [_shares(pairs, again) for pairs in sizes]
        for name, style in names.items():
            values = [100 * share[name] for share in shares]
            axes.plot(sizes, values, style, label=name, markersize=5, fillstyle="none")
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.set(title=title, xlabel="pairs", ylim=(0, 105))
        axes.grid(alpha=0.3)
    panels[0].set(ylabel="correct answers (%)")
    panels[0].legend()
    return figure


def _shares(pairs: int, again: bool, d: int = 32) -> dict[str, float]:
    """The lesson's experiments: the share of answers whose nearest value is the right one."""
    generator = torch.Generator().manual_seed(0)
    keys = F.normalize(torch.randn(20, 1, pairs, d, generator=generator), dim=-1)
    values = torch.randn(2 if again else 1, 20, 1, pairs, d, generator=generator)
    written = torch.cat([keys] * len(values), dim=2)
    candidates = torch.cat(list(values), dim=2)
    right = candidates.shape[2] - pairs + torch.arange(pairs)
    _, corrected = week.delta_rule(written, written, candidates, torch.ones(written.shape[:3]))
    answers = {
        "sum": keys @ (written.mT @ candidates),
        "delta rule": keys @ corrected,
        "softmax": torch.softmax(30 * keys @ written.mT, dim=-1) @ candidates,
    }
    found = {name: torch.cdist(a, candidates).argmin(-1) == right for name, a in answers.items()}
    assert math.isclose(written.norm(dim=-1).mean().item(), 1, abs_tol=1e-5)
    return {name: hit.float().mean().item() for name, hit in found.items()}
