"""Raises a RuntimeError for an odd width.

Exercise: sinusoidal_positions
Believes: what cannot work will fail by itself.
Shows: for an odd width a different error, which does not say what is wrong.
Hint: Try 7 columns. Which error should that be, and what should its message contain?
Rejected by: test_refuses_an_odd_width
Costs: 20 %
"""


def sinusoidal_positions(seq_len, d_model):
    positions = torch.arange(seq_len).float().unsqueeze(1)
    frequencies = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    table = torch.zeros(seq_len, d_model)
    table[:, 0::2] = torch.sin(positions * frequencies)
    table[:, 1::2] = torch.cos(positions * frequencies)
    return table
