"""Puts the number of the column where the formula has the number of the pair.

Exercise: sinusoidal_positions
Believes: the i of the exponent 2i/C counts columns.
Shows: sines and cosines have different frequencies, which fall twice as fast as they should.
Hint: The formula speaks of the places 2i and 2i + 1. What is i for the first four columns?
Rejected by: test_values
Costs: 35 %
"""


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    exponents = 2 * torch.arange(d_model).double() / d_model
    angles = torch.arange(seq_len).double()[:, None] / 10000.0**exponents
    table = torch.empty_like(angles)
    table[:, 0::2], table[:, 1::2] = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return table.float()
