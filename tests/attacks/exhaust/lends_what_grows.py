"""Line 41. Fails, so that the solution calls its helper, which returns values that make it loop.

Week: week03_multihead
Variants: rows empty_axis leading expanded wide many
Expected: split_heads=wrong|crashed|bad_reply|limit; MultiHeadAttention=wrong|crashed|limit|timeout
Score at most: split_heads=0.5; MultiHeadAttention=0.3
"""

_split = split_heads


def split_heads(x, num_heads):
    y = _split(x, num_heads)
    size = {
        "rows": (1, 24_000, 1),
        "empty_axis": (0, 200_000, 1),
        "leading": (1 << 18, 1, 1),
        "expanded": (1, 4096, 4096),
        "wide": (1, 1, 1 << 20),
        "many": (500, 500, 1),
    }[VARIANT]
    return torch.zeros(1).expand(size).to(y) if y.numel() else y


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, *arguments, **named):
        split_heads(arguments[0], 1)
        raise ValueError
