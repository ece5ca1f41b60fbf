"""The masks of a batch, drawn as the week's functions make them."""

import sketch
import torch
from masking import causal_mask, combine_masks, padding_mask
from matplotlib.figure import Figure

BATCH = (["I", "would", "like", "tea"], ["tea", "is", "<pad>", "<pad>"], ["<pad>"] * 4)


def batch_of_masks() -> Figure:
    """Causal and padding mask of three sequences, and what is left of each."""
    lengths = torch.tensor([sum(token != "<pad>" for token in tokens) for tokens in BATCH])
    causal, padding = causal_mask(4), padding_mask(lengths, max_len=4)
    both = combine_masks(causal, padding)[:, 0]
    figure, axes = sketch.canvas(18.5, 19, 0.44)
    for x, title in ((5.9, "causal (T, T)"), (11.2, "padding (B, T)"), (16.2, "both (B, 1, T, T)")):
        sketch.words(axes, x, 0.6, title, size=11)
    for number, tokens in enumerate(BATCH):
        top = 1.6 + 6 * number
        sketch.words(axes, 1.2, top + 2, f"sequence {number}\nlength {int(lengths[number])}")
        sketch.cells(axes, 3.9, top, shade(causal))
        sketch.cells(axes, 9.2, top + 1.5, shade(padding[number][None]))
        sketch.cells(axes, 14.2, top, shade(both[number]))
        sketch.words(axes, 8.55, top + 2, "and", size=11)
        sketch.words(axes, 13.6, top + 2, "=", size=13)
        for place, token in enumerate(tokens):
            shown = {"ha": "center", "va": "top", "rotation": 45}
            sketch.words(axes, 9.7 + place, top + 2.6, token, size=9, **shown)
            sketch.words(axes, 14.7 + place, top + 4.1, token, size=9, **shown)
            sketch.words(axes, 3.75, top + place + 0.5, token, size=9, ha="right")
    return figure


def shade(mask: torch.Tensor) -> list[list[float]]:
    """Dark where a query may attend."""
    return (0.7 * mask.float()).tolist()
