"""Makes a table for an odd width too, by leaving the last cosine out.

Exercise: sinusoidal_positions
Believes: any width will do.
Shows: the last column has no partner, and a position can no longer be moved by a rotation.
Hint: The docstring promises something about an odd d_model. Which error, and what should its message contain?
Rejected by: test_refuses_an_odd_width
Costs: 15 %
"""

def sinusoidal_positions(seq_len, d_model):
    frequencies = 10000.0 ** -(torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.arange(seq_len).double()[:, None] * frequencies
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
    return table[:, :d_model]
