"""Cuts every table from one of a thousand positions.

Exercise: sinusoidal_positions
Believes: no text is longer than that.
Shows: right up to a thousand positions; a longer table comes out too short.
Hint: How many rows does your table have for seq_len = 2000?
Rejected by: test_more_than_a_thousand_positions
Costs: 20 %
Belief: a_thousand_is_enough
"""

def _table(rows, width):
    positions = torch.arange(rows, dtype=torch.float64)
    frequencies = 10000.0 ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = positions[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    return _table(1000, d_model)[:seq_len].clone()
