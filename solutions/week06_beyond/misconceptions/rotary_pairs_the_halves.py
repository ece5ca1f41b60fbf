"""Pairs entry i with entry i + d/2.

Exercise: rotary
Believes: there is only one way to make pairs.
Shows: dot products still depend on distances alone, so a model trains; but weights of one kind do not work with the other.
Hint: Several libraries pair the two halves. Which entries make a pair in the docstring?
Rejected by: test_values
Costs: 30 %
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
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.cat(turned, dim=-1).to(x.dtype)
