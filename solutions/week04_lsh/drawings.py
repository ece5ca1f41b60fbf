"""One round of LSH attention, from the hash to the chunks, on twelve positions."""

import lsh as week
import sketch
import torch
from matplotlib.figure import Figure

LENGTH, CHUNK = 12, 4
GREYS = (0.0, 0.3, 0.55, 0.8)


def one_round() -> Figure:
    """Hash, sort by bucket, cut into chunks, and who sees whom in sorted order."""
    generator = torch.Generator().manual_seed(14)
    x = torch.randn(LENGTH, 4, generator=generator)
    buckets = week.hash_vectors(x, torch.randn(1, 4, 2, generator=generator))[0]
    order, inverse = week.sort_by_bucket(buckets)
    figure, axes = sketch.canvas(20, 21.4, 0.42)
    rows = (
        (1.0, "1. hash: each position\ngets a bucket", range(LENGTH)),
        (4.6, "2. sort by bucket,\nthen by position", order.tolist()),
    )
    for y, title, positions in rows:
        sketch.words(axes, 0, y + 0.5, title, ha="left")
        greys = [[GREYS[int(buckets[p])] for p in positions]]
        texts = [[str(int(buckets[p])) for p in positions]]
        sketch.cells(axes, 7.5, y, greys, texts)
        for place, position in enumerate(positions):
            sketch.words(axes, 8 + place, y - 0.4, str(position), size=9)
    for place, position in enumerate(order.tolist()):
        sketch.arrow(axes, (8 + position, 2.05), (8 + place, 3.75), color="0.55", linewidth=0.8)
    sketch.words(
        axes,
        0,
        8.0,
        f"3. cut into chunks of {CHUNK};\na chunk sees itself and\nthe one before it",
        ha="left",
    )
    for number in range(LENGTH // CHUNK):
        start = 7.5 + CHUNK * number
        sketch.frame(axes, start, 4.6, CHUNK, 1)
        sketch.words(axes, start + CHUNK / 2, 6.4, f"chunk {number}")
    sketch.words(axes, 0, 14.3, "4. of these, the keys of\nthe same bucket count", ha="left")
    sorted_buckets = buckets[order].tolist()
    for i in range(LENGTH):
        for j in range(LENGTH):
            back = i // CHUNK - j // CHUNK
            if back in (0, 1):
                same = sorted_buckets[i] == sorted_buckets[j]
                sketch.cells(axes, 7.5 + j, 7.6 + i, [[0.7 if same else 0.08]])
    for number in range(LENGTH // CHUNK):
        first = max(number - 1, 0) * CHUNK
        width = (number + 1) * CHUNK - first
        sketch.frame(axes, 7.5 + first, 7.6 + CHUNK * number, width, CHUNK)
    for place, position in enumerate(order.tolist()):
        sketch.words(axes, 8 + place, 7.2, str(position), size=9)
        sketch.words(axes, 7.0, 8.1 + place, str(position), size=9)
    sketch.words(
        axes, 0, 20.6, "5. sort back: position t takes\nthe result at place inverse[t]", ha="left"
    )
    sketch.cells(axes, 7.5, 20.1, [[0.0] * LENGTH], [[str(p) for p in inverse.tolist()]])
    return figure
