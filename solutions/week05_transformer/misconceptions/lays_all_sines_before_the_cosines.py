"""Puts all sines into the left half of the table and all cosines into the right half.

Exercise: sinusoidal_positions
Believes: the order of the columns makes no difference.
Shows: the row of position 0 reads 0, 0, …, 1, 1; a model learns as well with it, but other people's
    tables do not fit.
Hint: Which places of a row does the formula give to the sine: the first half, or every other one?
Rejected by: test_first_row
Costs: 30 %
"""

def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    frequencies = 10000.0 ** -(torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.arange(seq_len).double()[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1).float()
