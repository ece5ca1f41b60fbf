"""Returns NaN for a position that met no key in any round.

Exercise: combine_rounds
Believes: A softmax always has something to share out.
Shows: A position whose logsumexp is -inf in every round gets NaN, and so do all gradients.
Hint: What is (-inf) - (-inf)? What does the docstring say about a position that is alone in every
    round?
Rejected by: test_position_without_keys_in_any_round
Costs: 20 %
"""


def combine_rounds(outputs, logsumexps):
    dtype = torch.promote_types(outputs.dtype, torch.float32)
    weights = torch.softmax(logsumexps.to(dtype), dim=-2)
    return (weights.unsqueeze(-1) * outputs.to(dtype)).sum(dim=-3).to(outputs.dtype)
