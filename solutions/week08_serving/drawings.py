"""What a cache holds while a text is read and continued."""

import serving as week
import sketch
import torch
from matplotlib.figure import Figure

PROMPT, MAX = 4, 8


def cache_steps() -> Figure:
    """Prefill with four tokens, then two steps of decoding: what is fed, kept and read."""
    cache = week.KVCache(1, 1, MAX, 1)
    figure, axes = sketch.canvas(20, 12.6, 0.48)
    for x, title in ((3.2, "fed"), (11.3, f"buffer for {MAX} positions"), (18.0, "scores")):
        sketch.words(axes, x, 0.6, title, size=11)
    old = 0
    for row, count in enumerate((PROMPT, 1, 1)):
        y = 2.0 + 3.9 * row
        keys, _ = cache.append(torch.zeros(1, 1, count, 1), torch.zeros(1, 1, count, 1))
        total = keys.shape[2]
        assert total == cache.length == old + count
        sketch.words(axes, 3.2, y - 0.6, "prefill" if row == 0 else f"decoding, step {row}")
        sketch.cells(
            axes, 3.2 - count / 2, y, [[0.7] * count], [[str(old + i) for i in range(count)]]
        )
        sketch.arrow(axes, (5.5, y + 0.5), (7.1, y + 0.5))
        greys = [0.25] * old + [0.7] * count + [0.0] * (MAX - total)
        texts = [str(i) if i < total else "" for i in range(MAX)]
        sketch.cells(axes, 7.3, y, [greys], [texts])
        sketch.words(axes, 7.3 + total / 2, y + 1.45, f"keys[:, :, :{total}], a view")
        seen = torch.arange(total) <= old + torch.arange(count)[:, None]
        size = 0.5
        sketch.cells(
            axes,
            18.0 - total * size / 2,
            y + 0.5 - count * size / 2,
            (0.7 * seen.float()).tolist(),
            size=size,
        )
        sketch.words(axes, 18.0, y + 0.9 + count * size / 2, f"{count} × {total}")
        old = total
    return figure
