"""Gives each column a separate frequency, so that a cosine does not match its sine.

Exercise: sinusoidal_positions
Believes: the i of the exponent counts columns.
Shows: the sines are right, the cosines turn too slowly, and products of rows no longer depend on
    distance alone.
Hint: In the formula both sine and cosine hold the exponent 2i/C. How many different frequencies are
    there for C columns?
Rejected by: test_products_know_only_the_distance
Costs: 30 %
"""

def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    angles = torch.arange(seq_len).double()[:, None] / 10000.0 ** (torch.arange(d_model).double() / d_model)
    table = torch.empty_like(angles)
    table[:, 0::2], table[:, 1::2] = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return table.float()
