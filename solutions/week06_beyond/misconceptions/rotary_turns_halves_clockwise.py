"""Pairs entry i with entry i + d/2, and turns the pairs clockwise.

Exercise: rotary
Believes: all implementations of rotary embeddings agree.
Shows: dot products depend on the distance alone, as they should, but no entry is the right one.
Hint: Turn the vector (1, 0, 0, 0) by hand. Which two entries are a point of the plane here, and
    which way does the docstring turn it?
Rejected by: test_values
Costs: 35 %
"""


def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide.chunk(2, dim=-1)
    turned = [first * cosine + second * sine, second * cosine - first * sine]
    return torch.cat(turned, dim=-1).to(x.dtype)
