"""Takes another table of positions: sines in the left half, and a last frequency of 1/10000.

Exercise: sinusoidal_positions
Believes: every library's table is the one of the paper.
Shows: the first column is right; the order of the others and their frequencies are not.
Hint: Which places of a row does the formula give to the sine? And does its 2i/C ever become 1?
Rejected by: test_first_row
Costs: 35 %
"""


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = d_model // 2
    frequencies = 10000.0 ** -(torch.arange(pairs).double() / max(pairs - 1, 1))
    angles = torch.arange(seq_len).double()[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1).float()
