"""Applies the frequencies the wrong way round.

Exercise: sinusoidal_positions
Believes: what the formula divides by is the frequency.
Shows: the first pair is right; the others turn faster and faster, where they should slow down.
Hint: The formula has pos / 10000^(2i/C). How large is what you divide by for the last pair?
Rejected by: test_values
Costs: 30 %
"""


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd")
    frequencies = 10000.0 ** -(torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.arange(seq_len).double()[:, None] / frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
