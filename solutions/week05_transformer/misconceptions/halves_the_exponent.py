"""Halves the exponent, so that frequencies fall more slowly than they should.

Exercise: sinusoidal_positions
Believes: i and 2i are both just a counter.
Shows: the slowest pair turns a hundred times as fast as it should.
Hint: If i counts pairs, the exponent runs from 0 to almost 1. How far does yours run?
Rejected by: test_frequencies_of_wide_tables
Costs: 30 %
"""

def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    frequencies = 10000.0 ** -(torch.arange(d_model // 2).double() / d_model)
    angles = torch.arange(seq_len).double()[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
