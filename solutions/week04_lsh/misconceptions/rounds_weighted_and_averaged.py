"""Takes the mean of the weighted outputs over the rounds.

Exercise: combine_rounds
Believes: several rounds are combined by a mean, whatever their weights.
Shows: right for one round; too small by a factor of the number of rounds otherwise.
Hint: What do the weights of the rounds sum to? Combine two rounds with equal outputs.
Rejected by: test_agreement_is_kept
Costs: 25 %
"""


def combine_rounds(outputs, logsumexps):
    dtype = torch.promote_types(outputs.dtype, torch.float32)
    logits = logsumexps.to(dtype)
    nothing = (logits == -torch.inf).all(dim=-2, keepdim=True)
    weights = logits.masked_fill(nothing, 0.0).softmax(dim=-2).masked_fill(nothing, 0.0)
    return (weights.unsqueeze(-1) * outputs.to(dtype)).mean(dim=-3).to(outputs.dtype)
