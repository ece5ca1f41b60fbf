"""Takes 1000 for the base of the frequencies, where it is 10000.

Exercise: sinusoidal_positions
Believes: the base is a large number, and which one does not matter.
Shows: the first pair is right; the others turn faster than they should.
Hint: Compare every number of your formula with the docstring's. Count the zeros.
Rejected by: test_values
Costs: 20 %
"""


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    frequencies = 1000.0 ** -(torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.arange(seq_len).double()[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
