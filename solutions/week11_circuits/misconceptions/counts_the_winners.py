"""Counts how often the previous token has the largest weight.

Exercise: previous_token_score
Believes: Attention is all or nothing.
Shows: Scores are fractions of whole queries.
Hint: What do you return for a head that gives each key the same weight?
Rejected by: test_values
Costs: 35 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    expected = torch.arange(length - 1, device=weights.device)
    return (weights[:, :, 1:].argmax(-1) == expected).to(weights.dtype).mean(dim=(0, 2))
