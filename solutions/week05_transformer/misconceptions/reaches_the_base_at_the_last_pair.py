"""Spreads the frequencies so that the last pair gets exactly 1/10000.

Exercise: sinusoidal_positions
Believes: the frequencies run from 1 to 1/10000, both included.
Shows: the first pair is right; the others turn too slowly, more so in narrow tables.
Hint: Put the last i into the exponent 2i/C. Does it ever become 1? Some libraries divide by C/2 - 1; the paper does not.
Rejected by: test_frequencies_of_wide_tables
Costs: 25 %
"""

def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = d_model // 2
    frequencies = 10000.0 ** -(torch.arange(pairs).double() / max(pairs - 1, 1))
    angles = torch.arange(seq_len).double()[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
