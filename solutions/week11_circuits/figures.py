"""The figures of the week 11 lesson, drawn from the solution, readable in black and white."""

import circuits as week
import torch
from drawings import induction, stream
from matplotlib.figure import Figure

PERIOD = 8


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {"stream": stream(), "induction": induction(), "stripes": stripes()}


def stripes() -> Figure:
    """Attention weights of a perfect previous-token head and of a perfect induction head."""
    length = 2 * PERIOD
    ids = torch.arange(PERIOD).repeat(1, 2)
    previous, matching = torch.zeros(2, 1, 1, length, length)
    previous[..., 0, 0] = 1
    previous[..., range(1, length), range(length - 1)] = 1
    matching[..., :PERIOD, 0] = 1
    matching[..., range(PERIOD, length), range(1, PERIOD + 1)] = 1
    scores = week.previous_token_score(previous), week.induction_score(matching, ids)
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    heads = zip(("previous-token", "induction"), (previous, matching), scores, strict=True)
    for panel, (name, weights, score) in zip(figure.subplots(1, 2), heads, strict=True):
        panel.imshow(weights[0, 0], cmap="Greys", vmin=0, vmax=1)
        panel.axhline(PERIOD - 0.5, color="0.5", linestyle="--", linewidth=1)
        panel.set(title=f"{name} score {score.item():.1f}", xlabel="key", ylabel="query")
        panel.set_xticks(range(0, length, 2))
        panel.set_yticks(range(0, length, 2))
    return figure
