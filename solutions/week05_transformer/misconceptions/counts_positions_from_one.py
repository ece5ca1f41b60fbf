"""Counts positions from 1.

Exercise: sinusoidal_positions
Believes: the first word is number one.
Shows: the first row is the second one of the right table, and every row is one position ahead.
Hint: What are the sine and the cosine of 0? Which row of your table contains them?
Rejected by: test_first_row
Costs: 20 %
"""

def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    positions = torch.arange(1, seq_len + 1, dtype=torch.float64)
    frequencies = 10000.0 ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = positions[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
