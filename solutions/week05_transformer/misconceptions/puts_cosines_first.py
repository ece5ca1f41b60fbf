"""Puts the cosines at the even places.

Exercise: sinusoidal_positions
Believes: a pair is a pair, in either order.
Shows: the first row is 1, 0, 1, 0, and every pair of columns stands the other way round.
Hint: What is the sine of 0, and where does the docstring put sines?
Rejected by: test_values
Costs: 25 %
"""

def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    positions = torch.arange(seq_len, dtype=torch.float64)
    frequencies = 10000.0 ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = positions[:, None] * frequencies
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1).float()
