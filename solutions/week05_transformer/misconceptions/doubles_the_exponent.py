"""Doubles the exponent, so that frequencies fall twice as fast as they should.

Exercise: sinusoidal_positions
Believes: the formula says 2i, so the exponent needs a 2.
Shows: frequencies fall twice as fast: the last pairs hardly move.
Hint: If your counter goes 0, 2, 4, …, is it i or 2i of the formula?
Rejected by: test_frequencies_of_wide_tables
Costs: 30 %
"""


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    frequencies = 10000.0 ** -(2 * torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.arange(seq_len).double()[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
