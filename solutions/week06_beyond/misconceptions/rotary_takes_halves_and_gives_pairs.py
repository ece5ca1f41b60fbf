"""Pairs the halves, and interleaves the result.

Exercise: rotary
Believes: the positions of a pair's two numbers do not matter.
Shows: every number is rotated, but in the wrong position; even position 0 permutes the vector.
Hint: What should position 0 do to a vector? Compare where you read a pair with where you write it.
Rejected by: test_values
Costs: 40 %
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
    first, second = wide[..., : d // 2], wide[..., d // 2 :]
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
